"""Batches of windows against the objective, one text at a time, and against gensim's thinning out."""

from collections import Counter
from random import Random

import pytest
import torch
from gensim.models import Word2Vec
from torch import Tensor

from plmlab.example import IGNORE, Batch
from plmlab.objectives import window
from plmlab.text.vocabulary import Vocabulary
from plmlab.vectors.windows import WindowBatches, keep_probability

VOCAB = Vocabulary(400)
LENGTHS = (3, 12, 1, 7, 2, 5, 9, 4, 6, 11)
ROWS = [[40 + 20 * i + j for j in range(length)] for i, length in enumerate(LENGTHS)]
"""Sentences of different words, so that a word tells its sentence."""


def rows_of(batch: Batch) -> list[list[int]]:
    """The words of each text, padding left out."""
    return [[id for id, target in zip(*pair, strict=True) if target != IGNORE]
            for pair in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True)]


def looks_of(batch: Batch) -> Tensor:
    looks = batch.visible.dense(batch.size[1], batch.size[1])
    assert looks is not None
    return looks[:, 0]


def reach_of(looks: Tensor) -> list[int]:
    """How far each position of a text looks."""
    return [max((abs(q - k) for k, look in enumerate(row) if look), default=0) for q, row in enumerate(looks.tolist())]


def same(one: Batch, other: Batch) -> bool:
    return all(torch.equal(getattr(one, part), getattr(other, part))
               for part in ("tokens", "targets", "position_ids")) \
        and torch.equal(looks_of(one), looks_of(other))


@pytest.mark.parametrize("sample", [0.0, 0.01])
@pytest.mark.parametrize(("size", "seed"), [(1, 0), (3, 1), (5, 2)])
def test_they_are_the_objectives_examples(size: int, seed: int, sample: float) -> None:
    """Whatever reach was drawn: put into the objective, text by text, it makes the very batch."""
    batches = WindowBatches(ROWS, 400, batch=4, window=size, seed=seed, sample=sample)
    for step in range(9):
        batch = batches(step)
        told = rows_of(batch)
        texts = [(row, reach_of(looks[:len(row), :len(row)])) for row, looks in zip(told, looks_of(batch), strict=True)]
        assert all(min(reach) >= 0 and max(reach) <= size for _, reach in texts if reach)
        real = Batch.of([window(row, vocab=VOCAB, rng=Random(0), reach=reach) for row, reach in texts if row], pad=0)
        kept, time = [i for i, row in enumerate(told) if row], real.size[1]
        assert torch.equal(batch.targets[kept][:, :time], real.targets) and (batch.targets[:, time:] == IGNORE).all()
        assert torch.equal(looks_of(batch)[kept][:, :time, :time], looks_of(real))
        assert int(looks_of(batch).sum()) == int(looks_of(real).sum()), "padding neither looks nor is seen"
        assert torch.equal(batch.tokens[batch.targets != IGNORE], batch.targets[batch.targets != IGNORE])
        assert torch.equal(batch.position_ids[0, 0], torch.arange(batch.size[1])) and not batch.segments.any()


def test_every_sentence_comes_once_a_round_in_an_order_of_its_own() -> None:
    batches, orders = WindowBatches(ROWS, 400, batch=4, seed=5), []
    assert batches.batches_per_epoch == 3
    for turn in range(6):
        drawn = [row for place in range(3) for row in rows_of(batches(3 * turn + place))]
        assert sorted(drawn) == sorted(ROWS)
        assert [len(rows_of(batches(3 * turn + place))) for place in range(3)] == [4, 4, 2]
        orders.append(str(drawn))
    assert len(set(orders)) == 6


def test_a_batch_hangs_on_the_seed_and_the_step_alone() -> None:
    asked = (7, 0, 31, 7, 2)
    first, again = (WindowBatches(ROWS, 400, batch=4, seed=1, sample=0.003) for _ in range(2))
    straight = {step: again(step) for step in range(32)}
    assert all(same(first(step), straight[step]) for step in asked)
    assert all(torch.equal(first(step).tokens, straight[step].tokens) for step in reversed(asked))


@pytest.mark.parametrize("other", [1, 2**32, 2**40, -1])
def test_another_seed_draws_another_order_and_other_reaches(other: int) -> None:
    """torch's generator knows 32 bits of a seed: the seed must not be lost beyond them."""
    rows = [[40 + i] * 12 for i in range(50)]
    one, two = (WindowBatches(rows, 400, batch=50, seed=seed)(0) for seed in (0, other))
    assert not torch.equal(one.tokens, two.tokens) and not torch.equal(looks_of(one), looks_of(two))


def test_every_step_draws_reaches_of_its_own() -> None:
    """Of one round and of several."""
    batches = WindowBatches([[40] * 12] * 8, 400, batch=4)
    assert batches.batches_per_epoch == 2
    assert len({str(reach_of(looks)) for step in range(20) for looks in looks_of(batches(step))}) == 80


def test_every_reach_is_as_likely() -> None:
    """Of positions far from both ends, within four standard errors."""
    size, batches, found = 5, WindowBatches([[40] * 30] * 60, 400, batch=60, window=5, seed=3), Counter[int]()
    for step in range(5):
        for looks in looks_of(batches(step)):
            found.update(reach_of(looks)[size:-size])
    whole = sum(found.values())
    assert sorted(found) == [1, 2, 3, 4, 5] and whole == 5 * 60 * 20
    for count in found.values():
        assert count / whole == pytest.approx(0.2, abs=4 * (0.16 / whole) ** 0.5)


def test_the_counts_are_those_of_the_sentences() -> None:
    rows = [[40, 41, 40], [42], [40, 42]]
    counts = WindowBatches(rows, 50).counts
    assert counts.shape == (50,) and {i: int(n) for i, n in enumerate(counts) if n} == {40: 3, 41: 1, 42: 2}


@pytest.mark.parametrize("rows", [[], [[40, 41], []]])
def test_no_sentence_or_an_empty_one_is_refused(rows: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="has no sentences, or one of them is empty"):
        WindowBatches(rows, 50)


# Thinning out

TEXT = [["the"] * 6 + ["cat", "sat"], ["the", "dog", "the", "sat", "on", "a", "mat"], ["a", "the", "cat"]] * 10


def test_a_share_worked_by_hand() -> None:
    """Of 1,000 words one stands 400 times: with t = 0.001, t/f = 1/400, and √(1/400) + 1/400 = 0.0525 is kept."""
    counts = torch.tensor([400.0, 1.0, 0.0, 599.0])
    assert keep_probability(counts, 0.001).tolist() == pytest.approx([0.0525, 1, 1, (1 / 599) ** 0.5 + 1 / 599])
    assert keep_probability(counts, 0.0).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("sample", [0.1, 0.03, 0.001])
def test_the_shares_are_gensims(sample: float) -> None:
    """gensim keeps them as whole numbers, up to 2³² − 1."""
    gensim = Word2Vec(TEXT, vector_size=2, min_count=1, sample=sample, workers=1)
    words = gensim.wv.index_to_key
    counts = torch.tensor([float(gensim.wv.get_vecattr(word, "count")) for word in words])
    theirs = [float(gensim.wv.get_vecattr(word, "sample_int")) / (2 ** 32 - 1) for word in words]
    assert keep_probability(counts, sample).tolist() == pytest.approx(theirs, rel=1e-5)
    assert min(theirs) < 1


def test_words_are_kept_as_often_as_their_share() -> None:
    """Within four standard errors; what is left of a text keeps its order."""
    ids = {word: 40 + i for i, word in enumerate(["the", "a", "cat", "sat", "dog", "on", "mat"])}
    rows = [[ids[word] for word in text] for text in TEXT]
    batches = WindowBatches(rows, 60, batch=30, sample=0.03, seed=2)
    kept, rounds = torch.zeros(60), 150
    for step in range(rounds):
        told = rows_of(batches(step))
        kept += torch.bincount(torch.tensor([id for row in told for id in row]), minlength=60)
        assert all(any(is_part(row, whole) for whole in rows[:3]) for row in told)
    for id in ids.values():
        whole, share = rounds * float(batches.counts[id]), float(keep_probability(batches.counts, 0.03)[id])
        assert float(kept[id]) / whole == pytest.approx(share, abs=4 * (share * (1 - share) / whole) ** 0.5)
    assert kept[40] < 0.5 * rounds * batches.counts[40]


def is_part(row: list[int], whole: list[int]) -> bool:
    """Whether a row is what is left of the whole, in its order."""
    left = iter(whole)
    return all(id in left for id in row)


def test_windows_are_laid_after_thinning_out() -> None:
    """Words that a frequent one held apart become neighbours, as in word2vec's code."""
    rare, often = [40 + i for i in range(200)], 399
    rows = [[rare[2 * i], *[often] * 60, rare[2 * i + 1]] for i in range(100)]
    batch = WindowBatches(rows, 400, batch=100, window=1, sample=7e-5)(0)
    left = rows_of(batch)
    met = sum(bool(looks[0, 1] and looks[1, 0]) for row, looks in zip(left, looks_of(batch), strict=True)
              if len(row) == 2 and row[1] == row[0] + 1)
    assert met > 40, "60 words stood between them"
    assert sum(id == often for row in left for id in row) < 0.02 * 6000


def test_a_text_of_which_nothing_is_left_looks_nowhere() -> None:
    batch = WindowBatches([[40] * 9, [40] * 5], 50, sample=1e-9)(0)
    assert (batch.targets == IGNORE).all() and not looks_of(batch).any()
