"""How a BERT fills blanks, told their lengths or guessing: against brute force over lengths, with a toy that says what
its text makes it say."""

from itertools import product
from math import log
from random import Random

import pytest
import torch
from torch import Tensor

from plmlab.example import Batch
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.objectives import always_mask, masked
from plmlab.text.vocabulary import Vocabulary
from studies.ch12 import guessing

MASK, WORDS = 4, 12
TEXTS = [[7, MASK, 9], [MASK], [MASK, 8, 9, MASK], [5, 6, 7]]
LONGEST = 5


def says(texts: Tensor) -> Tensor:
    """Log-probabilities of twelve words at each place, drawn by a seed that hangs on every word of the text."""
    found = []
    for text in texts.tolist():
        seed = sum(token * 13 ** place for place, token in enumerate(text))
        table = 3 * torch.randn(len(text), WORDS, generator=torch.Generator().manual_seed(seed))
        found.append(table.index_fill(-1, torch.tensor([MASK]), float("-inf")).log_softmax(-1))
    return torch.stack(found)


def alone(text: list[int]) -> Tensor:
    return says(torch.tensor([text]))[0]


def by_hand(text: list[int], way: str) -> tuple[list[int], float]:
    """One text, its masks filled."""
    text, total = list(text), 0.0
    while MASK in text:
        table = alone(text)
        positions = [position for position in range(len(text)) if text[position] == MASK]
        if way != "all at once":
            positions = [max(positions, key=lambda position: float(table[position].max()))]
        for position in positions:
            text[position] = int(table[position].argmax())
            total += float(table[position].max())
    return text, total


def test_every_choice_of_lengths_that_fits_is_tried() -> None:
    for text in TEXTS:
        blanks = text.count(MASK)
        fits = [lengths for lengths in product(range(1, LONGEST + 1), repeat=blanks)
                if sum(lengths) + len(text) - blanks <= LONGEST]
        assert sorted(guessing.lengths_tried(text, MASK, LONGEST)) == fits
    assert guessing.lengths_tried([MASK, 8, 9, MASK], MASK, LONGEST) == [(1, 1), (1, 2), (2, 1)]
    assert guessing.with_masks([MASK, 8, 9, MASK], (1, 2), MASK) == [MASK, 8, 9, MASK, MASK]
    assert guessing.cut([MASK, 8, 9, MASK], [5, 8, 9, 6, 7], (1, 2), MASK) == ((5,), (6, 7))


@pytest.mark.parametrize("way", guessing.FILLS)
def test_masks_are_filled_as_one_text_alone(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guessing, "TOGETHER", 2)
    texts = [[7, MASK, MASK, 9], [MASK, MASK, MASK], [MASK, 8, 9, MASK], [5, 6, 7]]
    for (words, total), text in zip(guessing.filled(says, texts, MASK, way), texts, strict=True):
        expected, nats = by_hand(text, way)
        assert words == expected and total == pytest.approx(nats, abs=1e-5)
    assert by_hand(texts[1], guessing.FILLS[0]) != by_hand(texts[1], guessing.FILLS[1]), "the toy tells them apart"


@pytest.mark.parametrize("way", guessing.FILLS)
def test_a_guess_is_the_best_of_all_lengths_by_brute_force(way: str) -> None:
    prior = guessing.length_prior([1, 2, 1], LONGEST)
    for text, tried in zip(TEXTS[:3], guessing.guesses(says, TEXTS[:3], MASK, LONGEST, way), strict=True):
        found = {}
        for guess in tried:
            shown = guessing.with_masks(text, guess.lengths, MASK)
            words, total = by_hand(shown, way)
            hidden = [position for position, token in enumerate(shown) if token == MASK]
            pseudo = [float(alone([*words[:position], MASK, *words[position + 1:]])[position, words[position]])
                      for position in range(len(words))]
            blanks = [pseudo[position] for position in hidden]
            found[guess.lengths] = (guessing.cut(text, words, guess.lengths, MASK), {
                "as filled, sum": total, "as filled, mean": total / len(hidden),
                "blanks, sum": sum(blanks), "blanks, mean": sum(blanks) / len(blanks),
                "text, sum": sum(pseudo), "text, mean": sum(pseudo) / len(pseudo)})
        assert set(found) == set(guessing.lengths_tried(text, MASK, LONGEST))
        for measure in guessing.MEASURES:
            best = max(found, key=lambda lengths: found[lengths][1][measure])
            assert guessing.best(tried, measure).fillings == found[best][0]
            weighed = max(found, key=lambda of: found[of][1][measure] + sum(prior[n] for n in of))
            assert guessing.best(tried, measure, prior).lengths == weighed


def test_told_the_lengths() -> None:
    [[first]] = guessing.told(says, [[7, MASK, 9]], [[2]], MASK, "all at once")
    words, _ = by_hand([7, MASK, MASK, 9], "all at once")
    assert list(first) == words[1:3]


def test_the_prior_counts_each_length_once_more() -> None:
    assert guessing.length_prior([1, 2, 1], 3) == pytest.approx({1: log(3 / 6), 2: log(2 / 6), 3: log(1 / 6)})
    assert guessing.length_prior([], 2, 0.5) == pytest.approx({1: log(1 / 2) / 2, 2: log(1 / 2) / 2})


@torch.no_grad()
def test_a_bert_is_asked_as_it_was_trained() -> None:
    torch.manual_seed(0)
    vocab = Vocabulary(60)
    model = BERTPretraining(BERTConfig(60, 16, 1, 16, 2, 32, dropout=0.0, attention_dropout=0.0)).eval()
    found = guessing.bert_says(model, vocab)(torch.tensor([[40, MASK, 42], [MASK, MASK, 50]]))
    for text, table in zip(([40, 41, 42], [41, 41, 50]), found, strict=True):
        positions = [position + 1 for position, token in enumerate(text) if token == 41]
        example = masked(text, vocab=vocab, rng=Random(0), select=positions, corrupt=always_mask)
        logits = model(Batch.of([example], pad=0))[0, 1:-1, sorted(vocab.words)]
        torch.testing.assert_close(table[:, sorted(vocab.words)], logits.log_softmax(-1), rtol=0, atol=1e-5)
        assert bool((table[:, sorted(vocab.special)] == float("-inf")).all())
