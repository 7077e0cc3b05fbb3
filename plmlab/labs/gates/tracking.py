"""What the units of a trained LSTM track of the world, beside what chance, luck and simpler means would reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import nan
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.interpret.gates import memories
from plmlab.interpret.logit_lens import LanguageModel
from plmlab.interpret.units import AUC, SPEARMAN, Measure, Sample, UnitScores, unit_scores, word_means
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World
from plmlab.world.datasets.numbers import NUMBERS
from plmlab.world.datasets.tracks import Tracks, tracks

LABELS = {"number": AUC, "inside": AUC, "left": SPEARMAN}
"""What is looked for in the units, and how it is measured."""
SENTENCES = 400
SEED = 17


@dataclass(frozen=True, eq=False)
class Tracking:
    """How well units tell one label.

    Attributes:
        measure: what the figures are.
        units: of every unit, layer after layer.
        width: units in a layer.
        untrained: what the best unit of an untrained network of the same kind and size reaches.
        shuffled: what the best unit of this network reaches on the labels of other sentences.
        baselines: what is reached without a network, by name.
    """

    measure: str
    units: UnitScores
    width: int
    untrained: float
    shuffled: float
    baselines: dict[str, float]

    @property
    def strongest(self) -> tuple[str, float]:
        """The best of the baselines, and what it reaches."""
        return max(self.baselines.items(), key=lambda item: item[1])

    @property
    def order(self) -> list[tuple[int, int]]:
        """The units as (layer, unit), the best first, as the half says that they are chosen on."""
        return [divmod(place, self.width) for place in self.units.order]

    def of(self, layer: int, unit: int) -> tuple[float, bool]:
        """What a unit reaches on the half that it was not chosen on, and whether it is higher where the label is."""
        place = layer * self.width + unit
        return float(self.units.told[place]), bool(self.units.rises[place])


def tracking(model: LanguageModel, tokenizer: Tokenizer, world: World, split: str = "test", *,
             sentences: int = SENTENCES, seed: int = SEED) -> dict[str, Tracking]:
    """Score the memory of every unit for every one of `LABELS`, on as many sentences of the world that have it: units
    are chosen on every second sentence, and the others say how good they are. A unit is what it is after a step of
    `Tracks`."""
    blank = untrained(model)
    found = {}
    for name, measure in LABELS.items():
        having = (one for one in tracks(world, split, seed) if any(label is not None for label in getattr(one, name)))
        found[name] = _tracked(model, blank, tokenizer, list(islice(having, sentences)), name, measure, seed)
    return found


def untrained(model: LanguageModel, seed: int = 0) -> LanguageModel:
    """A network of the same kind and size whose weights are as they were drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return cast(LanguageModel, cast(Any, type(model))(model.config)).eval()  # type: ignore[attr-defined]


def _tracked(model: LanguageModel, blank: LanguageModel, tokenizer: Tokenizer, told: Sequence[Tracks], name: str,
             measure: Measure, seed: int) -> Tracking:
    start = tokenizer.vocab.need("start")
    rows = tokenizer.encode_all([" ".join(one.words) for one in told], plain=True)
    tokens, labels = _padded([[start, *row] for row in rows], 0), _labels(told, name)
    values, nothing = memories(model, tokens), memories(blank, tokens)

    def half(numbers: Tensor, wanted: Tensor, first: int) -> Sample:
        known = ~wanted[first::2].isnan()
        return Sample(numbers[first::2][known].flatten(1), wanted[first::2][known])

    def scored(numbers: Tensor, wanted: Tensor) -> UnitScores:
        return unit_scores(half(numbers, wanted, 0), half(numbers, wanted, 1), measure)

    first, second = labels[::2], labels[1::2]
    seen, asked = ~first.isnan(), ~second.isnan()
    of_words = word_means(tokens[::2][seen], first[seen], tokens[1::2][asked])
    steps = torch.arange(labels.shape[1], dtype=torch.float).expand_as(labels)[..., None]
    return Tracking(measure.title, scored(values, labels), values.shape[-1], scored(nothing, labels).best,
                    scored(values, _shuffled(labels, seed)).best,
                    {"the number of the last noun": scored(_nouns(told)[..., None], labels).best,
                     "the number of words read": scored(steps, labels).best,
                     "the word read last": float(measure.of(of_words[:, None], second[asked])[0])})


def _shuffled(labels: Float[Tensor, "batch time"], seed: int) -> Float[Tensor, "batch time"]:
    """To each sentence that has labels those of another one, step for step, as far as both have some."""
    some = (~labels.isnan()).any(1).nonzero()[:, 0]
    turned = some[torch.randperm(len(some), generator=torch.Generator().manual_seed(seed))]
    other = labels.clone()
    other[some] = labels[turned]
    return other.where(~labels.isnan(), nan)


def _labels(told: Sequence[Tracks], name: str) -> Float[Tensor, "batch time"]:
    """A label as numbers, plural above singular; not a number where there is none, as at padding."""
    found = {"number": lambda one: [nan if n is None else float(NUMBERS.index(n)) for n in one.number],
             "inside": lambda one: list(map(float, one.inside)), "left": lambda one: list(map(float, one.left))}[name]
    return _padded([found(one) for one in told], nan)


def _nouns(told: Sequence[Tracks]) -> Float[Tensor, "batch time"]:
    """The number of the last noun; half way between the two before the first."""
    return _padded([[0.5 if n is None else float(NUMBERS.index(n)) for n in one.noun] for one in told], 0.5)


def _padded(rows: Sequence[Sequence[int | float]], fill: int | float) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])
