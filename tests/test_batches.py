"""Where batches come from: like lengths together, nothing lost, the same for a step whenever it is asked."""

from collections import Counter
from itertools import pairwise
from random import Random

import pytest
import torch

from plmlab.batches import ExampleBatches, bucketed
from plmlab.draws import randint
from plmlab.example import Batch, Example
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.objectives import masked
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.visibility import Visibility

VOCAB = Vocabulary(60)


def text(size: int) -> Example:
    return Example(tokens=torch.full((size,), size), position_ids=torch.arange(size)[None],
                   segments=torch.zeros(size).long(), visible=Visibility.full(size), targets=torch.full((size,), -100))


def source(batch: int, seed: int = 0) -> ExampleBatches:
    return ExampleBatches(lambda rng: [text(3 + randint(rng, 60) ** 2 // 30) for _ in range(batch)], seed, 0)


def lengths(batch) -> list[int]:
    return (batch.tokens > 0).sum(1).tolist()


@pytest.mark.parametrize(("batch", "buckets"), [(40, 8), (1, 16), (3, 5)])
def test_bucketed_holds_the_same_texts_each_once(batch: int, buckets: int) -> None:
    batches = bucketed(source(batch), buckets)
    for turn in range(2):
        drawn = Counter(len(made.tokens) for i in range(buckets) for made in source(batch).examples(turn * buckets + i))
        told = [lengths(batches(turn * buckets + i)) for i in range(buckets)]
        assert Counter(size for sizes in told for size in sizes) == drawn and all(told)
        told.sort()
        assert all(max(one) <= min(other) for one, other in pairwise(told))


def test_bucketed_batches_are_alike_in_positions_and_waste_little() -> None:
    plain, batches = ([each(i) for i in range(24)] for each in (source(32), bucketed(source(32), 8)))
    positions = [sum(lengths(batch)) for batch in batches]
    mean = sum(positions) / len(positions)
    assert max(positions) < 1.4 * mean and min(positions) > 0.6 * mean
    padded, wasted = (sum(batch.tokens.numel() for batch in each) / sum(positions) for each in (batches, plain))
    assert padded < 1.3 and wasted > 2


def test_a_step_is_the_same_whenever_it_is_asked_and_other_with_another_seed() -> None:
    batches, again, other = bucketed(source(16), 4), bucketed(source(16), 4), bucketed(source(16, 1), 4)
    backwards = [again(i).tokens for i in reversed(range(12))][::-1]
    assert all(torch.equal(batches(i).tokens, tokens) for i, tokens in enumerate(backwards))
    assert not all(torch.equal(batches(i).tokens, other(i).tokens) for i in range(4))


def test_one_bucket_is_the_source_itself_sorted() -> None:
    one, plain = bucketed(source(16), 1)(5), source(16)(5)
    assert sorted(lengths(one)) == sorted(lengths(plain)) == lengths(one)


def test_the_update_of_all_buckets_is_that_of_the_whole() -> None:
    """With padding or without, the gradient of the mean over all targets is one."""
    def asking(rng: Random) -> list[Example]:
        return [masked([39 + randint(rng, 20) for _ in range(1 + randint(rng, 30))], vocab=VOCAB, rng=rng)
                for _ in range(12)]

    texts = ExampleBatches(asking, 0, 0)
    whole = Batch.of([made for i in range(3) for made in texts.examples(i)], pad=0)
    runs = []
    for batches, accumulate in ((lambda step: whole, 1), (bucketed(texts, 3), 3)):
        torch.manual_seed(0)
        model = BERTPretraining(BERTConfig(VOCAB.size, time=64, layers=2, model=16, heads=2, inner=32, dropout=0.0,
                                           attention_dropout=0.0))
        runs.append(fit(model, batches, steps=1, lr=1e-3, accumulate=accumulate, show=False))
    assert runs[0].losses == pytest.approx(runs[1].losses, rel=1e-5)
    assert runs[0].norms == pytest.approx(runs[1].norms, rel=1e-4)
