"""N-gram models: counts by hand, Kneser–Ney written down once more from the formula, and what no model may do."""

from collections import Counter
from math import exp, inf
from random import Random

import pytest
import torch

from plmlab.decode import exact_search, greedy, sample
from plmlab.example import Batch
from plmlab.models.ngram import AddK, KneserNey, ModifiedKneserNey, NGram
from plmlab.objectives import causal
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(49)
A, CAT, SAT, RAN, THE = range(39, 44)
THREE = [[A, CAT, SAT], [A, CAT, RAN], [THE, CAT, SAT]]
START, END = VOCAB.need("start"), VOCAB.need("end")


MANY = Vocabulary(339)


def babble(seed: int, sentences: int = 60, words: int = 10) -> list[list[int]]:
    rng = Random(seed)
    return [[39 + int(words * rng.random() ** 3) for _ in range(int(8 * rng.random()))] for _ in range(sentences)]


def test_raw_counts_by_hand():
    model = NGram(THREE, 2, VOCAB)
    assert model.probabilities([CAT])[SAT] == pytest.approx(2 / 3)
    assert model.probabilities([START, THE])[CAT] == 1
    assert model.probabilities([])[A] == pytest.approx(2 / 3)
    assert model.probabilities([SAT])[END] == 1
    assert model.losses([A, CAT, SAT]).exp().tolist() == pytest.approx([1.5, 1, 1.5, 1])
    assert model.losses([THE, SAT]).tolist()[1] == inf


def test_the_longest_context_counts_and_no_more():
    model = NGram([[A, CAT, SAT], [THE, CAT, RAN]], 3, VOCAB)
    assert model.probabilities([THE, CAT])[RAN] == 1
    assert torch.equal(model.probabilities([SAT, SAT, THE, CAT]), model.probabilities([THE, CAT]))
    assert model.probabilities([START])[THE] == 0.5


def test_k_added_by_hand():
    model = AddK(THREE, 2, VOCAB, 0.5)
    sayable = len(VOCAB.words) + 2
    assert model.probabilities([CAT])[SAT] == pytest.approx((2 + 0.5) / (3 + 0.5 * sayable))
    assert model.probabilities([RAN, SAT])[A] == pytest.approx(0.5 / (2 + 0.5 * sayable))
    assert model.probabilities([48])[A] == pytest.approx(1 / sayable)


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("kind", [KneserNey, ModifiedKneserNey, AddK])
def test_probabilities_add_up_to_one_after_any_context(kind, order):
    model = kind(babble(1), order, VOCAB, *([0.1] if kind is AddK else []))
    for before in ([], [START], [39], [48, 48], [44, 39, 40, 48], [39, 39, 39, 39, 39]):
        found = model.probabilities(before)
        assert found.sum() == pytest.approx(1, abs=1e-12)
        assert (found[torch.from_numpy(model.sayable)] > 0).all()
        assert found[START] == found[VOCAB.need("pad")] == found[VOCAB.need("mask")] == 0


def by_formula(sentences: list[list[int]], order: int, three: bool):
    """Chen and Goodman (1998), §4.1, straight from lists of n-grams; a function (context, token) → probability."""
    padded = [(*[START] * (order - 1), *ids, END) for ids in sentences]
    grams = [Counter(text[i - n + 1:i + 1] for text in padded for i in range(order - 1, len(text)))
             for n in range(1, order + 1)]
    used = [Counter(gram[1:] for gram in grams[n]) if n < order else grams[n - 1] for n in range(1, order + 1)]
    cuts = []
    for level in used:
        n1, n2, n3, n4 = (sum(count == k for count in level.values()) for k in (1, 2, 3, 4))
        y = n1 / (n1 + 2 * n2)
        cuts.append((1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3) if three else (y, y, y))

    def p(context: tuple[int, ...], token: int) -> float:
        n = len(context) + 1
        lower = p(context[1:], token) if context else 1 / (len(MANY.words) + 2)
        after = {gram[-1]: count for gram, count in used[n - 1].items() if gram[:-1] == context}
        if not after:
            return lower
        total, cut = sum(after.values()), lambda count: cuts[n - 1][min(count, 3) - 1]
        kept = after[token] - cut(after[token]) if token in after else 0
        return (kept + sum(map(cut, after.values())) * lower) / total

    return p


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("kind", [KneserNey, ModifiedKneserNey])
def test_kneser_ney_is_the_formula(kind, order):
    read = babble(3, 600, 300)
    model, p = kind(read, order, MANY), by_formula(read, order, kind is ModifiedKneserNey)
    assert model.discounts[0] not in ((0.5, 0.5, 0.5), (0.5, 1.0, 1.5))
    for ids in [*babble(4, 5, 300), [338, 338, 39], []]:
        text = [START] * (order - 1) + ids + [END]
        expected = [p(tuple(text[i - order + 1:i]), text[i]) for i in range(order - 1, len(text))]
        assert (-model.losses(ids)).exp().tolist() == pytest.approx(expected, rel=1e-10)


def test_a_word_that_follows_one_word_only_is_a_bad_guess_elsewhere():
    francisco = [[THE, CAT]] * 2 + [[A, CAT], [SAT, CAT]] + [[RAN, 45]] * 9
    model = KneserNey(francisco, 2, VOCAB)
    assert model.probabilities([48])[CAT] > 2 * model.probabilities([48])[45]
    assert NGram(francisco, 1, VOCAB).probabilities([])[45] > NGram(francisco, 1, VOCAB).probabilities([])[CAT]


def test_counts_too_few_for_an_estimate_have_usual_discounts():
    assert KneserNey([[A]], 1, VOCAB).discounts == [(0.5, 0.5, 0.5)]
    assert ModifiedKneserNey([[A]], 1, VOCAB).discounts == [(0.5, 1.0, 1.5)]


def test_a_batch_is_told_what_its_sentences_are_told():
    model, rows = KneserNey(babble(5), 3, VOCAB), [[39, 40, 41], [42]]
    batch = Batch.of([causal(ids, vocab=VOCAB, rng=Random(0)) for ids in rows], pad=VOCAB.need("pad"))
    said = model(batch)
    for row, ids in enumerate(rows):
        for place, token in enumerate([*ids, END]):
            assert said[row, place, token].item() == pytest.approx(-model.losses(ids)[place].item())


def test_decoding_writes_with_it():
    model, prompt = NGram(THREE, 2, VOCAB), torch.tensor([[START]])
    assert greedy(model, prompt, VOCAB, length=9)[0].tokens == (A, CAT, SAT, END)
    [best] = exact_search(model, prompt, VOCAB, length=9).best
    assert exp(best.logprob) == pytest.approx(4 / 9)
    texts = sample(model, prompt.repeat(400, 1), VOCAB, length=9, generator=torch.Generator().manual_seed(0))
    share = sum(text.tokens[0] == THE for text in texts) / 400
    assert share == pytest.approx(1 / 3, abs=4 * (2 / 9 / 400) ** 0.5)
    with pytest.raises(ValueError, match="does not occur in the training text"):
        greedy(model, torch.tensor([[START, 48]]), VOCAB, length=2)


def test_what_makes_no_sense_is_told():
    with pytest.raises(ValueError, match="must be at least 1"):
        NGram(THREE, 0, VOCAB)
    with pytest.raises(ValueError, match="no sentences were given"):
        KneserNey([], 2, VOCAB)
    with pytest.raises(ValueError, match="above 0"):
        AddK(THREE, 2, VOCAB, 0.0)
    with pytest.raises(ValueError, match="give 2 triples"):
        KneserNey(THREE, 2, VOCAB, discounts=[(0.5, 0.5, 0.5)])
    with pytest.raises(ValueError, match="between 0 and the count"):
        KneserNey(THREE, 2, VOCAB, discounts=[(0.5, 0.5, 0.5), (1.5, 0.5, 0.5)])
    with pytest.raises(ValueError, match="START"):
        NGram(THREE, 2, Vocabulary(49, start=None))
