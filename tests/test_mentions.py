"""Mentions and BIO tags: by hand, there and back, and the Viterbi algorithm against all sequences."""

from itertools import product

import pytest
import torch
from torch import Tensor

from plmlab.example import IGNORE
from plmlab.mentions import BEGIN, INSIDE, OUTSIDE, Mentions, bio_tags, most_likely_tags

LETTERS = {"O": OUTSIDE, "B": BEGIN, "I": INSIDE, "-": IGNORE}


def tags(*rows: str) -> Tensor:
    return torch.tensor([[LETTERS[letter] for letter in row] for row in rows])


def found(rows: Tensor) -> list[tuple[int, int, int]]:
    mentions = Mentions.of(rows)
    return [*zip(mentions.rows.tolist(), mentions.first.tolist(), mentions.last.tolist(), strict=True)]


@pytest.mark.parametrize(("row", "expected"), [
    ("OOOO", []), ("OBOO", [(1, 1)]), ("OBIO", [(1, 2)]), ("OBBIO", [(1, 1), (2, 3)]), ("BIIII", [(0, 4)]),
    ("OOB", [(2, 2)]), ("B", [(0, 0)]), ("O", []), ("OIIO", [(1, 2)]), ("I", [(0, 0)]), ("BOI", [(0, 0), (2, 2)]),
    ("--OBI--", [(3, 4)]), ("-I", [(1, 1)]), ("BI-I", [(0, 1), (3, 3)]),
])
def test_mentions_by_hand(row: str, expected: list[tuple[int, int]]) -> None:
    """The last rows have padding on the left and on the right."""
    assert found(tags(row)) == [(0, *span) for span in expected]
    spans = [(first, last + 1) for first, last in expected]
    assert found(bio_tags(spans, len(row))[None]) == [(0, *span) for span in expected], "there and back"


def test_mentions_of_several_texts_do_not_run_on() -> None:
    """A text that ends with a mention, one without mentions, and one that begins with an I."""
    rows = tags("OBBI", "OOO-", "IIOB")
    assert found(rows) == [(0, 1, 1), (0, 2, 3), (2, 0, 1), (2, 3, 3)]
    mentions = Mentions.of(rows)
    assert len(mentions) == 4 and mentions[mentions.rows == 2].last.tolist() == [1, 3]
    hidden = torch.arange(24.).view(3, 4, 2)
    assert mentions.ends(hidden)[1].tolist() == [*hidden[0, 2], *hidden[0, 3]]
    assert mentions.at_first(hidden)[2].tolist() == hidden[2, 0].tolist()



def consistent(row: tuple[int, ...]) -> bool:
    return all(not (after == INSIDE and before == OUTSIDE) for before, after in zip((OUTSIDE, *row), row, strict=False))


@pytest.mark.parametrize("time", [1, 2, 5, 6])
def test_the_most_likely_tags_among_all_sequences(time: int) -> None:
    logits = torch.randn(40, time, 3, generator=torch.Generator().manual_seed(time))
    every = [row for row in product(range(3), repeat=time) if consistent(row)]
    best = [max(every, key=lambda row: sum(float(one[t, tag]) for t, tag in enumerate(row))) for one in logits]
    assert most_likely_tags(logits, torch.ones(40, time, dtype=torch.bool)).tolist() == [*map(list, best)]
    alone = [tuple(row) for row in logits.argmax(2).tolist()]
    assert any(not consistent(row) for row in alone)
    assert all(one == row for one, row in zip(alone, best, strict=True) if consistent(one))
