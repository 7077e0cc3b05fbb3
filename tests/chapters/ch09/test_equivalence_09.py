"""The checks of chapter 09 accept plmlab's masking and refuse wrong versions of it."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from plmlab.chapters.ch09 import equivalence
from plmlab.chapters.ch09.equivalence import ENTITIES, SENTENCE, WORDS
from plmlab.chapters.ch09.masking import world_wordpieces
from plmlab.chapters.ch09.picture import HEADER, picture
from plmlab.draws import shuffled
from plmlab.example import IGNORE, Example
from plmlab.layers.relative import FunctionalRelativeAttention
from plmlab.objectives import bert_80_10_10, entities_masked, masked, spans_masked, whole_words
from plmlab.objectives.entities_masked import knowledge_units
from plmlab.text import Text

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True, scope="module")
def tokenizer() -> None:
    """Train the tokenizer once, outside of the time of any test."""
    world_wordpieces()


def holds(checks: dict[str, bool]) -> bool:
    return all(checks.values())


def selecting(choose: Callable[[list[list[int]], int], list[int]]) -> Callable[..., Example]:
    """Whole-word masking that selects positions by ``choose``, given the words in random order and the budget."""
    def objective(text: Text, *, vocab: Any, rng: Random, rate: float = 0.15) -> Example:
        order = [[*range(1 + start, 1 + end)] for start, end in shuffled(rng, text.words)]
        return masked(text, vocab=vocab, rng=rng, select=choose(order, round(rate * (len(text) + 2))))
    return objective


def until(order: list[list[int]], budget: int, over: bool) -> list[int]:
    """Positions of words until the budget is spent or, unless ``over``, would be exceeded."""
    chosen = list[int]()
    for word in order:
        if len(chosen) >= budget or (not over and len(chosen) + len(word) > budget):
            break
        chosen += word
    return chosen or order[0]


def per_unit(objective: Callable[..., Example], units: Callable[[Text], Any]) -> Callable[..., Example]:
    """80/10/10 once per unit."""
    def wrong(text: Text, *, vocab: Any, rng: Random, rate: float = 0.15) -> Example:
        example = objective(text, vocab=vocab, rng=rng, rate=rate)
        tokens = torch.tensor([vocab.cls, *text, vocab.sep])
        for start, end in units(text):
            if example.targets[1 + start] != IGNORE and rng.random() < 0.8:
                tokens[1 + start:1 + end] = vocab.mask
        return replace(example, tokens=tokens)
    return wrong


def with_cls(text: Text, **given: Any) -> Example:
    example = whole_words(text, **given)
    return replace(example, targets=example.targets.where(torch.arange(len(text) + 2) > 0, 2))


def kept_targets(text: Text, **given: Any) -> Example:
    example = whole_words(text, **given)
    return replace(example, targets=example.tokens.where(example.targets != IGNORE, IGNORE))


WRONG_WORDS = {
    "tokens by themselves": masked,
    "a word cut at the budget": selecting(lambda order, budget: [i for word in order for i in word][:budget]),
    "a last word beyond the budget": selecting(lambda order, budget: until(order, budget, over=True)),
    "no word after one that does not fit": selecting(lambda order, budget: until(order, budget, over=False)),
    "80/10/10 per word": per_unit(whole_words, lambda text: text.words),
    "entities": entities_masked,
    "[CLS] is a target": with_cls,
    "the input as target": kept_targets,
}


@pytest.mark.parametrize(("objective", "units"), [(whole_words, WORDS), (entities_masked, ENTITIES)])
def test_plmlab_s_units_are_accepted(objective: Callable[..., Example], units: tuple[set[int], ...]) -> None:
    assert holds(equivalence.whole_units(objective, units, budget=objective is whole_words, samples=800))


def test_plmlab_s_spans_are_accepted() -> None:
    assert holds(equivalence.spans(spans_masked))


@pytest.mark.parametrize("name", WRONG_WORDS)
def test_wrong_whole_words_are_refused(name: str) -> None:
    assert not holds(equivalence.whole_units(WRONG_WORDS[name], WORDS, budget=True, samples=600))


@pytest.mark.parametrize("wrong", [whole_words, masked, per_unit(entities_masked, knowledge_units)])
def test_wrong_entities_are_refused(wrong: Callable[..., Example]) -> None:
    assert not holds(equivalence.whole_units(wrong, ENTITIES, budget=False, samples=600))


def edited(text: Text, change: Callable[[Tensor, Tensor], None], **given: Any) -> Example:
    example = spans_masked(text, **given)
    boundaries, segments = example.labels["boundaries"].clone(), example.segments.clone()
    change(boundaries, segments)
    return replace(example, segments=segments, labels={"boundaries": boundaries})


def inner(boundaries: Tensor, segments: Tensor) -> None:
    boundaries[boundaries[:, 0] != IGNORE] += torch.tensor([1, -1])


def two_segments(boundaries: Tensor, segments: Tensor) -> None:
    segments[len(segments) // 2:] = 1


def cls_as_boundary(boundaries: Tensor, segments: Tensor) -> None:
    boundaries[1] = torch.tensor([0, 2])


WRONG_SPANS = {
    "spans of tokens": lambda text, **given: spans_masked(
        Text(text, words=[(i, i + 1) for i in range(len(text))]), **given),
    "80/10/10 per token": lambda text, **given: spans_masked(
        text, corrupt=lambda span, vocab, rng: [bert_80_10_10(token, vocab, rng) for token in span], **given),
    "boundaries in the span": lambda text, **given: edited(text, inner, **given),
    "[CLS] as boundary": lambda text, **given: edited(text, cls_as_boundary, **given),
    "two segments": lambda text, **given: edited(text, two_segments, **given),
}


@pytest.mark.parametrize("name", WRONG_SPANS)
def test_wrong_spans_are_refused(name: str) -> None:
    assert not holds(equivalence.spans(WRONG_SPANS[name], samples=100))


class Head(nn.Module):
    """The code of the chapter, with what may be wrong in it as options."""

    def __init__(self, model: int, width: int, places: int, *, first_norm: bool = False, **options: Any) -> None:
        super().__init__()
        self.options = options
        self.place = nn.Embedding(places, width)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(size, model), nn.GELU(), nn.LayerNorm(model, 1e-12))
                                    for size in (2 * model + width, model))
        self.first_norm = first_norm

    def forward(self, x: Tensor, boundaries: Tensor, embeddings: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        target = (boundaries[:, 0] != IGNORE).nonzero()[:, 0]
        left, right = boundaries[target].T
        place = self.options.get("place", lambda target, left: target - left - 1)(target, left)
        left, right = self.options.get("around", lambda target, left, right: (left, right))(target, left, right)
        y = torch.cat([x[left], x[right], self.place(place)], dim=1)
        for linear, gelu, norm in self.layers:
            y = gelu(norm(linear(y))) if self.first_norm else norm(gelu(linear(y)))
        return target, y @ (torch.ones_like(embeddings) if self.options.get("untied") else embeddings).T + bias


WRONG_HEADS = {
    "the ends of the span": {"around": lambda target, left, right: (left + 1, right - 1)},
    "each token's neighbours": {"around": lambda target, left, right: (target - 1, target + 1)},
    "exchanged": {"around": lambda target, left, right: (right, left)},
    "places from 1": {"place": lambda target, left: target - left},
    "places in the text": {"place": lambda target, left: target % 12},
    "LayerNorm before GELU": {"first_norm": True},
    "untied": {"untied": True},
}


def test_the_chapter_s_head_is_accepted() -> None:
    checks = equivalence.span_boundary(Head)
    assert holds(checks) and len(checks) == 5 and [*checks][-1].endswith("predicted from boundaries: none")


@pytest.mark.parametrize("name", WRONG_HEADS)
def test_wrong_heads_are_refused(name: str) -> None:
    assert not holds(equivalence.span_boundary(lambda *size: Head(*size, **WRONG_HEADS[name])))


def test_wrong_relative_positions_are_refused() -> None:
    torch.manual_seed(0)
    right = FunctionalRelativeAttention(8, 1)
    assert holds(equivalence.functional_positions(right))
    for wrong in (FunctionalRelativeAttention(8, 1, window=16), FunctionalRelativeAttention(8, 1)):
        wrong.load_state_dict(right.state_dict())
        if wrong.window == 64:
            wrong.table = wrong.table.flip(0)  # i − j
        assert not holds(equivalence.functional_positions(wrong))


def test_the_rows_of_the_picture() -> None:
    rows = picture(world_wordpieces().text(SENTENCE))
    assert {len(row) + 1 for row in rows.values()} == {len(HEADER)}
    assert rows["ERNIE 1.0"][1].count("[MASK]") == 4 and rows["BERT, whole words"][1] == rows["NEZHA"][1]
    assert rows["ELECTRA, discriminator"][1:3] == (
        "[CLS] Nora H ##ar ##t open ##ed the Blue Station Café in Ostrava . [SEP]",
        "original or replaced, at all 15 positions; replaced: ##ar")
    assert rows["SpanBERT"][2] == "the Blue Station; again from the outputs at ##ed and Café"
