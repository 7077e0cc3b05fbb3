"""MASS's objective: the figure x₁ … x₈ in the authors' form and the paper's, and its two limits."""

from collections import Counter
from random import Random

import pytest
import torch

from plmlab.example import IGNORE, PairBatch
from plmlab.objectives import always_mask, causal, masked, masked_span
from plmlab.objectives.masked_span import all_positions, delimited_pair, masked_elsewhere
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)
M, START, END = (VOCAB.need(name) for name in ("mask", "start", "end"))
X = [0, 41, 42, 43, 44, 45, 46, 47, 48]
"""x₁ is X[1]."""
TEXT = X[1:]


def made(count: int = 8, seed: int = 0, **choices):
    return masked_span(TEXT[:count], vocab=VOCAB, rng=Random(seed), **{"corrupt": always_mask} | choices)


def test_the_figure_as_the_authors_code_reads_it() -> None:
    """x₃ … x₆ are masked; the decoder reads x₂ … x₅ at their own positions."""
    example = made(span=(3, 7))
    assert example.source.tokens.tolist() == [START, *X[1:3], M, M, M, M, *X[7:], END]
    assert example.source.position_ids.tolist() == [list(range(10))]
    assert example.target.tokens.tolist() == X[2:6]
    assert example.target.targets.tolist() == X[3:7]
    assert example.target.position_ids.tolist() == [[2, 3, 4, 5]]
    assert example.source.targets.eq(IGNORE).all()
    assert torch.equal(example.target.visible.dense(), torch.ones(4, 4).tril().bool())
    sees = example.cross.dense()
    assert sees.tolist() == [[token != M for token in example.source.tokens.tolist()]] * 4
    assert "not [MASK]" in example.cross.reason(0, 0) and "does not attend to masked" in example.cross.reason(0, 4)


def test_the_figure_as_the_paper_draws_it() -> None:
    """The decoder has all eight positions: x₃, x₄ and x₅ at the positions 4 to 6, [MASK] at the others."""
    example = made(span=(3, 7), decoder=masked_elsewhere, memory=all_positions)
    assert example.target.tokens.tolist() == [M, M, M, *X[3:6], M, M]
    assert example.target.targets.tolist() == [IGNORE, IGNORE, *X[3:7], IGNORE, IGNORE]
    assert example.target.position_ids.tolist() == [list(range(1, 9))]
    assert example.cross.dense().all() and example.cross.pattern == "full"


def test_one_masked_token_is_as_in_bert() -> None:
    """K = 1: the encoder reads what BERT reads; the decoder predicts the same single token."""
    example, berts = made(span=(3, 4)), masked(TEXT, vocab=VOCAB, rng=Random(0), select=[3], corrupt=always_mask)
    assert example.source.tokens[1:-1].tolist() == berts.tokens[1:-1].tolist()
    assert example.target.targets.tolist() == berts.targets[berts.targets != IGNORE].tolist() == [X[3]]
    assert made(span=(3, 4), decoder=masked_elsewhere).target.tokens.tolist() == [M] * 8


def test_all_tokens_masked_is_as_in_gpt() -> None:
    """K = m: the decoder reads and predicts what GPT does, up to the last token; the encoder shows nothing."""
    example, gpts = made(span=(1, 9)), causal(TEXT, vocab=VOCAB, rng=Random(0))
    assert example.source.tokens.tolist() == [START, *[M] * 8, END]
    assert example.target.tokens.tolist() == gpts.tokens[:-1].tolist()
    assert example.target.targets.tolist() == gpts.targets[:-1].tolist() == TEXT
    assert torch.equal(example.target.position_ids, gpts.position_ids[:, :-1])
    assert example.cross.dense().sum(1).tolist() == [2] * 8


def test_the_decoder_predicts_the_next_token_wherever_the_span_is() -> None:
    for begin in range(1, 9):
        for end in range(begin + 1, 10):
            example, paper = made(span=(begin, end)), made(span=(begin, end), decoder=masked_elsewhere)
            whole = [START, *TEXT]
            for token, target, place in zip(example.target.tokens.tolist(), example.target.targets.tolist(),
                                            example.target.position_ids[0].tolist(), strict=True):
                assert (token, target) == (whole[place], whole[place + 1])
            asked = paper.target.targets != IGNORE
            assert paper.target.targets[asked].tolist() == example.target.targets.tolist() == whole[begin:end]
            assert (paper.target.position_ids[0][asked] - 1).tolist() == example.target.position_ids[0].tolist()


@pytest.mark.parametrize(("count", "rate", "length"), [(8, 0.5, 4), (7, 0.5, 4), (5, 0.5, 2), (1, 0.5, 1), (8, 1.0, 8),
                                                      (8, 0.05, 1)])
def test_the_span_has_a_fixed_length_and_any_place(count: int, rate: float, length: int) -> None:
    starts = Counter()
    for seed in range(400):
        example = made(count, seed, rate=rate)
        assert example.source.tokens.tolist().count(M) == length == len(example.target.tokens)
        starts[example.source.tokens.tolist().index(M)] += 1
    places = count - length + 1
    assert starts.keys() == set(range(1, places + 1))
    assert all(0.6 * 400 / places < number < 1.5 * 400 / places for number in starts.values())


def test_masked_tokens_may_be_kept_or_replaced() -> None:
    """By default 80/10/10: the decoder attends to those that are not [MASK]."""
    share, changed, kept = Counter(), 0, 0
    for seed in range(600):
        example = masked_span(TEXT, vocab=VOCAB, rng=Random(seed), span=(3, 7))
        tokens = example.source.tokens.tolist()[3:7]
        share["mask"] += tokens.count(M)
        kept += sum(one == other for one, other in zip(tokens, X[3:7], strict=True))
        assert example.cross.dense()[0, 3:7].tolist() == [token != M for token in tokens]
        changed += len(tokens)
    assert abs(share["mask"] / changed - 0.8) < 0.03 and abs(kept / changed - 0.1) < 0.03


def test_a_batch_keeps_each_text_s_positions_and_masks() -> None:
    examples = [made(span=(3, 7)), made(5, span=(2, 3))]
    batch = PairBatch.of(examples, pad=0)
    assert batch.target.position_ids[:, 0].tolist() == [[2, 3, 4, 5], [1, 0, 0, 0]]
    dense = batch.cross.dense(4, 10)
    assert torch.equal(dense[0, 0], examples[0].cross.dense())
    assert dense[1, 0, 0].tolist() == [True, True, False, True, True, True, True] + [False] * 3
    assert not dense[1, 0, 1:].any(), "padding attends to nothing"


def test_the_plain_pair() -> None:
    example = delimited_pair([41, 42], [43], VOCAB)
    assert example.source.tokens.tolist() == [START, 41, 42, END]
    assert (example.target.tokens.tolist(), example.target.targets.tolist()) == ([START, 43], [43, END])


@pytest.mark.parametrize(("choices", "message"), [
    ({"rate": 0}, "rate=0"), ({"span": (0, 3)}, "in text order"), ({"span": (5, 5)}, "not empty"),
    ({"span": (6, 10)}, "in a text of 8 words"), ({"count": 0}, "empty"),
])
def test_what_is_refused(choices: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**choices)
