"""What recipe 07 measures with: its text, its floor, its exam, and its prompts."""

import math

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch07 import recipe
from plmlab.example import Batch
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.objectives import causal


def test_no_text_holds_a_sentence_of_the_exam() -> None:
    assert len(recipe.kept()) == recipe.EXAM
    assert not recipe.kept() & set(recipe.sentences(0.3, 5000))
    whole = list(map(tuple, (words for words, _ in zip(world.small().text("train", 3), range(5000), strict=False))))
    assert recipe.kept() & set(whole)


def test_the_floor_is_what_the_best_reader_pays_on_average() -> None:
    assert recipe.best_reader(recipe.sentences(0.3, 20_000)) == pytest.approx(recipe.floor(), abs=3e-3)
    assert recipe.floor() < world.small().floor(causal).mean - 5e-3


def test_labels_are_right() -> None:
    rows = recipe.labelled(100, seed=0)
    assert [right for _, right in rows] == [1, 0] * 50 and not {words for words, _ in rows} & recipe.kept()
    assert len({recipe.spoilt(words) if not right else words for words, right in rows}) == 100
    for words, right in rows:
        assert (world.small().logprob(words) > -math.inf) == bool(right)


def test_the_exam_asks_each_sentence_twice() -> None:
    assert recipe.exam().labels["class"].tolist() == [1, 0] * recipe.EXAM
    rows = [[id for id in row.tolist() if id] for row in recipe.exam().tokens]
    for whole, other in zip(rows[::2], rows[1::2], strict=True):
        assert sum(a != b for a, b in zip(whole, other, strict=True)) == 1


class Knowing(GPT2):
    """Says the right name of the last sentence, which begins behind the last name; or always the same."""

    def __init__(self, knows: bool) -> None:
        super().__init__(GPTConfig(len(recipe.spelling()), layers=1))
        self.knows = knows

    def forward(self, batch: Batch, caches: None = None) -> torch.Tensor:
        words = recipe.spelling().tokens(batch.tokens[0].tolist())
        sentence = tuple(words[max(i for i, word in enumerate(words[:-1]) if word in (".", "[START]")) + 1:])
        sentence = sentence[1:] if sentence[0] in recipe.NAMES.values() else sentence
        name = recipe.NAMES[recipe.agreeing()[sentence]] if self.knows else "red"
        logits = torch.zeros(1, len(words), len(recipe.spelling()))
        logits[0, -1, recipe.spelling().id(name)] = 1
        return logits


@pytest.mark.parametrize("shots", [0, 4])
def test_who_knows_the_names_is_always_right_and_who_guesses_half_the_time(shots: int) -> None:
    assert recipe.few_shot(Knowing(True), shots, seed=0, count=40) == 1
    assert recipe.few_shot(Knowing(False), shots, seed=0, count=40) == 0.5
