"""Scores of LSTM units for labels of the world, with control experiments and baselines without a network."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import nan
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.interpret.gates import cell_states
from plmlab.interpret.logit_lens import LanguageModel
from plmlab.interpret.units import AUC, SPEARMAN, Measure, Sample, UnitScores, unit_scores, word_means
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World
from plmlab.world.datasets.numbers import NUMBERS
from plmlab.world.datasets.tracks import Tracks, tracks

LABELS = {"number": AUC, "inside": AUC, "left": SPEARMAN}
"""Labels that units are scored for, and the measure for each."""
SENTENCES = 400
SEED = 17


@dataclass(frozen=True, eq=False)
class TrackedUnits:
    """Scores that measure how well units encode one label.

    Attributes:
        measure: name of the measure.
        units: the scores of all units, layer by layer.
        width: the number of units per layer.
        untrained: the score of the best unit of an untrained network with the same architecture and size.
        shuffled: the score of this network's best unit if the sentences are given the labels of other sentences.
        baselines: the scores of baselines without a network, by name.
    """

    measure: str
    units: UnitScores
    width: int
    untrained: float
    shuffled: float
    baselines: dict[str, float]

    @property
    def strongest(self) -> tuple[str, float]:
        """The best baseline and its score."""
        return max(self.baselines.items(), key=lambda item: item[1])

    @property
    def order(self) -> list[tuple[int, int]]:
        """The units as (layer, unit), best first, ranked on the sentences used for selection."""
        return [divmod(place, self.width) for place in self.units.order]

    def of(self, layer: int, unit: int) -> tuple[float, bool]:
        """A unit's score on the held-out sentences, and whether its value rises with the label."""
        index = layer * self.width + unit
        return float(self.units.evaluated[index]), bool(self.units.rises[index])


def tracking(model: LanguageModel, tokenizer: Tokenizer, world: World, split: str = "test", *,
             sentences: int = SENTENCES, seed: int = SEED) -> dict[str, TrackedUnits]:
    """Score the cell state of every unit for each of the `LABELS`, on ``sentences`` sentences of the world that have
    the label. Units are selected on every second sentence and scored on the remaining sentences. A unit's value at a
    position of `Tracks` is its cell state after that position."""
    control = untrained(model)
    results = {}
    for name, measure in LABELS.items():
        labelled = (item for item in tracks(world, split, seed)
                    if any(label is not None for label in getattr(item, name)))
        results[name] = _tracked(model, control, tokenizer, list(islice(labelled, sentences)), name, measure, seed)
    return results


def untrained(model: LanguageModel, seed: int = 0) -> LanguageModel:
    """A network with the same architecture and size, and random initial weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return cast(LanguageModel, cast(Any, type(model))(model.config)).eval()  # type: ignore[attr-defined]


def _tracked(model: LanguageModel, control: LanguageModel, tokenizer: Tokenizer, sentences: Sequence[Tracks],
             name: str, measure: Measure, seed: int) -> TrackedUnits:
    start = tokenizer.vocab.need("start")
    rows = tokenizer.encode_all([" ".join(item.words) for item in sentences], plain=True)
    tokens, labels = _padded([[start, *row] for row in rows], 0), _labels(sentences, name)
    values, random_values = cell_states(model, tokens), cell_states(control, tokens)

    def half(features: Tensor, targets: Tensor, first: int) -> Sample:
        known = ~targets[first::2].isnan()
        return Sample(features[first::2][known].flatten(1), targets[first::2][known])

    def scored(features: Tensor, targets: Tensor) -> UnitScores:
        return unit_scores(half(features, targets, 0), half(features, targets, 1), measure)

    first, second = labels[::2], labels[1::2]
    fit_mask, test_mask = ~first.isnan(), ~second.isnan()
    of_words = word_means(tokens[::2][fit_mask], first[fit_mask], tokens[1::2][test_mask])
    indices = torch.arange(labels.shape[1], dtype=torch.float).expand_as(labels)[..., None]
    return TrackedUnits(measure.title, scored(values, labels), values.shape[-1], scored(random_values, labels).best,
                        scored(values, _shuffled(labels, seed)).best,
                        {"the number of the last noun": scored(_nouns(sentences)[..., None], labels).best,
                         "the position in the text": scored(indices, labels).best,
                         "the last word": float(measure.of(of_words[:, None], second[test_mask])[0])})


def _shuffled(labels: Float[Tensor, "batch time"], seed: int) -> Float[Tensor, "batch time"]:
    """Give each labelled sentence the labels of another sentence, at all positions where both have labels."""
    labelled = (~labels.isnan()).any(1).nonzero()[:, 0]
    permuted = labelled[torch.randperm(len(labelled), generator=torch.Generator().manual_seed(seed))]
    shuffled = labels.clone()
    shuffled[labelled] = labels[permuted]
    return shuffled.where(~labels.isnan(), nan)


def _labels(sentences: Sequence[Tracks], name: str) -> Float[Tensor, "batch time"]:
    """Convert a label to floats (plural is greater than singular), with NaN at padding and at positions without a
    label."""
    values = {"number": lambda item: [nan if n is None else float(NUMBERS.index(n)) for n in item.number],
              "inside": lambda item: list(map(float, item.inside)),
              "left": lambda item: list(map(float, item.left))}[name]
    return _padded([values(item) for item in sentences], nan)


def _nouns(sentences: Sequence[Tracks]) -> Float[Tensor, "batch time"]:
    """Grammatical number of the last noun: 0 singular, 1 plural, 0.5 before the first noun."""
    return _padded([[0.5 if n is None else float(NUMBERS.index(n)) for n in item.noun] for item in sentences], 0.5)


def _padded(rows: Sequence[Sequence[int | float]], fill: int | float) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])
