"""The Gate Lab: the gates and the cell state of an LSTM, unit by unit, and the effect of clamping units."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import traitlets
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.interpret.gates import POINTS, Clamp, GatedPass, cells_of, gate_activations
from plmlab.interpret.logit_lens import language_model
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.gates.gold import GatePreset, Gold, default_presets, gold
from plmlab.labs.gates.guess import TITLES, forgetting, overwriting, question
from plmlab.labs.gates.next_words import NextWords
from plmlab.labs.gates.state import Guess, Read, State
from plmlab.labs.gates.tracked_units import LABELS, TrackedUnits, tracking
from plmlab.labs.shared.notes import empty, joined, left_out, unknown
from plmlab.labs.shared.probabilities import spelled
from plmlab.labs.shared.tokens import labels, names_of
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor

ROWS = 14
"""Number of units drawn."""
SORTS = (*LABELS, "moving")
CHOICES = {"sort": SORTS, "drawn": POINTS, "asked": ("end", "step")}
ALL = -1
"""Value of ``layer`` that selects the units of all layers."""


class GateLab(Lab):
    """A trained LSTM on the reader's sentence, unit by unit: cell states and gates, with the units sorted by the label
    they track.

    Each unit has a score for how well it encodes a label of the world, measured on held-out sentences. For comparison,
    the lab shows the best unit of an untrained LSTM, the best unit with shuffled labels, and the strongest baseline
    without a network. Gates can be clamped closed or open and cell states can be set, several at once; the next-word
    distribution is shown before and after. The model itself is never changed.

    Args:
        model: an LSTM language model, such as the checkpoint ``lstm-world``.
        tokenizer: the model's tokenizer, with one token per word of the world.
        text: the initial text; by default, that of the first preset.
        world: the Small World that the model was trained on.
        split: the split of the world used for next words and labels.
        tracked: the units' scores (`plmlab.labs.gates.tracked_units.tracking`); if None, they are computed in a few
            seconds.
        presets: texts to try; by default, sentences of the world.
        holds: the initial clamps.
        traits: what the reader can set: ``sort`` ("number", "inside", "left", "moving"), ``layer`` (−1 for all),
            ``drawn`` (one of `POINTS`), ``asked`` (where the next-word distribution is shown: "end", the end of the
            text, or "step", the selected position), ``max_tokens``.

    Raises:
        ValueError: if the model is not an LSTM language model, or if its tokens are not the words of the world.
    """

    title = "Gate Lab"
    module = "gates/lab.js"
    styles = ("gates/lab.css",)
    inputs: ClassVar = ("text", "max_tokens", "holds")

    holds: traitlets.List = traitlets.List().tag(sync=True)
    unit: traitlets.List = traitlets.List().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    sort = traitlets.Unicode("number").tag(sync=True)
    layer = traitlets.Int(ALL).tag(sync=True)
    drawn = traitlets.Unicode("memory").tag(sync=True)
    asked = traitlets.Unicode("end").tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, model: nn.Module, tokenizer: Tokenizer, text: str | None = None, *, world: World,
                 split: str = "train", tracked: Mapping[str, TrackedUnits] | None = None,
                 presets: Sequence[GatePreset] | None = None, holds: Sequence[Clamp] = (), **traits: Any) -> None:
        self.model, self.tokenizer = language_model(model, tokenizer)
        self.layers = len(cells_of(model))
        self.world, self.split = world, split
        self.best = BayesOptimalPredictor(world, split, self.tokenizer, self.model.config.vocab)
        self.following = NextWords(self.best, self.tokenizer)
        self.tracked = dict(tracking(self.model, self.tokenizer, world) if tracked is None else tracked)
        self.read: GatedPass | None = None
        self.held: GatedPass | None = None
        self.known: Gold | None = None
        self._tokens: list[str] = []
        self._guess: Guess | None = None
        choices = default_presets(world, split) if presets is None else list(presets)
        first_text = choices[0].text if choices and text is None else text or ""
        super().__init__(text=first_text, holds=[asdict(hold) for hold in holds], menu={
            "presets": [{"title": preset.title} | preset.traits() for preset in choices], "layers": self.layers,
            "units": self.tracked["number"].width, "labels": self._figures()}, **traits)

    @traitlets.validate(*CHOICES)
    def _check_choice(self, proposal: Any) -> Any:
        """Raise TraitError if the value is not one of `CHOICES`."""
        name, value = proposal["trait"].name, proposal["value"]
        if value not in CHOICES[name]:
            raise traitlets.TraitError(f"{name} is one of {', '.join(CHOICES[name])}; {value!r:.60} was given")
        return value

    @traitlets.validate("layer")
    def _check_layer(self, proposal: Any) -> int:
        """Raise TraitError if the layer does not exist."""
        if not ALL <= proposal["value"] < self.layers:
            raise traitlets.TraitError(f"layer is {ALL} (all layers) or 0 … {self.layers - 1}; {proposal['value']} was "
                                       "given")
        return proposal["value"]

    def summary(self) -> str:
        """The text, the unit that best encodes the subject's number, and its score."""
        if not self.state:
            return self.message
        layer, unit = self.tracked["number"].order[0]
        return (f"{self._drawn['text']!r}; layer {layer}, unit {unit} encodes the number of the subject with "
                f"{self.tracked['number'].measure} {self.tracked['number'].of(layer, unit)[0]:.2f}, "
                f"{len(self._drawn['holds'])} clamped")

    def compute(self, change: Change) -> Computed:
        """Run the model on the text with the current clamps; describe its units and next-word distributions."""
        words, ids, note = self._words()
        holds = [_hold(given, self.layers, self.tracked["number"].width) for given in self.holds]
        attributes: dict[str, Any] = {}
        read, known, guess, tokens = self.read, self.known, self._guess, self._tokens
        if read is None or {"text", "max_tokens"} & change.drawn:
            read, known = gate_activations(self.model, ids), gold(self.world, words, self.split)
            tokens = labels(self.tokenizer, ids)
            guess = self._asked(read, known, ids, names_of(tokens))
            attributes = {"read": read, "known": known, "_guess": guess, "_tokens": tokens}
        held = gate_activations(self.model, ids, holds) if holds else read
        orders = self._orders(read)
        state: State = {**self._describe(read, held, tokens, words, known, orders, holds), "guess": guess}
        traits: dict[str, Any] = {"message": note, "state": state}
        if "text" in change.drawn:
            traits["step"] = guess["hold"]["start"] if guess else len(ids) - 1
        if not self.unit:
            traits["unit"] = list(orders[self.sort][self.layer][0])
        return Computed(traits, attributes | {"held": held})

    def _words(self) -> tuple[list[str], list[int], str]:
        """The words in the world's spelling, their ids with the start token, and a note about them. Raises ValueError
        if the text has no words."""
        if self.max_tokens < 2:
            raise ValueError(f"max_tokens is {self.max_tokens}; give 2 or more (the start token and a word)")
        typed = spelled(self.text, self.best.world)
        if not typed:
            raise empty("text")
        own, start = self.tokenizer.encode(typed), self.tokenizer.vocab.need("start")
        room = self.max_tokens - 1
        unknown_words = [word for word, id in zip(typed.split(), own, strict=False) if id == self.tokenizer.vocab.unk]
        return typed.split()[:room], [start, *own[:room]], joined(
            unknown(len(unknown_words)), left_out(len(own) - room, room, "word"))

    def _asked(self, read: GatedPass, known: Gold | None, ids: Sequence[int], names: Sequence[str],
               ) -> Guess | None:
        """The "Guess first" question, if the text ends between a subject and its verb."""
        layer, unit = self.tracked["number"].order[0]
        forget = forgetting(known, len(ids), layer, unit)
        if forget is None or known is None:
            return None
        write = overwriting(known, len(ids), layer, unit, self.tracked["number"].of(layer, unit)[1])
        logits = [read.logits, *(gate_activations(self.model, ids, [hold]).logits for hold in (forget, write))]
        number = known.tracks.number[len(ids) - 1]
        return question(forget, write, known, names, [self.following.verbs(scores[-1], TITLES[number or "sg"])
                                                      for scores in logits])

    def _orders(self, read: GatedPass) -> dict[str, dict[int, list[tuple[int, int]]]]:
        """Map each sort criterion, and each layer or `ALL`, to the units drawn, as (layer, unit) from top to bottom."""
        memory = read.values["memory"]
        ranges = (memory.amax(1) - memory.amin(1)).flatten()
        moving = [divmod(index, memory.shape[-1]) for index in ranges.argsort(descending=True, stable=True).tolist()]
        orders = {name: tracked.order for name, tracked in self.tracked.items()} | {"moving": moving}
        return {name: {layer: [unit for unit in order if layer in (ALL, unit[0])][:ROWS]
                       for layer in range(ALL, self.layers)} for name, order in orders.items()}

    def _describe(self, read: GatedPass, held: GatedPass, tokens: list[str], words: Sequence[str], known: Gold | None,
                  orders: Mapping[str, Mapping[int, Sequence[tuple[int, int]]]], holds: Sequence[Clamp],
                  ) -> Read:
        sent = sorted({unit for by in orders.values() for order in by.values() for unit in order}
                      | {(hold.layer, hold.unit) for hold in holds})
        row = {unit: i for i, unit in enumerate(sent)}
        count = len(tokens)
        return {
            "tokens": tokens, "names": names_of(tokens),
            "units": [{"layer": layer, "unit": unit, "scores": self._scores(layer, unit)} for layer, unit in sent],
            "orders": {name: {str(layer): [row[unit] for unit in order] for layer, order in by.items()}
                       for name, by in orders.items()},
            "values": {point: _sent(held.values[point], sent) for point in POINTS},
            "before": _sent(read.values["memory"], sent) if holds else None,
            "gold": None if known is None else {
                "number": known.tracks.number[:count], "inside": known.tracks.inside[:count],
                "left": known.tracks.left[:count] if known.finished else None, "said": " ".join(known.tracks.words)},
            "next": self.following.describe(read.logits, held.logits, words),
            "held": bool(holds),
        }

    def _scores(self, layer: int, unit: int) -> dict[str, list[Any]]:
        return {name: [round(score, 4), rises] for name, tracked in self.tracked.items()
                for score, rises in [tracked.of(layer, unit)]}

    def _figures(self) -> dict[str, dict[str, Any]]:
        """For each label, the figures shown above the map."""
        return {name: {"measure": tracked.measure, "best": round(tracked.units.best, 4),
                       "untrained": round(tracked.untrained, 4), "shuffled": round(tracked.shuffled, 4),
                       "baseline": round(tracked.strongest[1], 4), "by": tracked.strongest[0]}
                for name, tracked in self.tracked.items()}


def _hold(given: Any, layers: int, width: int) -> Clamp:
    """Parse a clamp. Raises ValueError if it is not valid for this model."""
    names = {"point": str, "layer": int, "unit": int, "value": float, "start": int}
    if not isinstance(given, Mapping) or set(given) != set(names):
        raise ValueError(f"a clamp needs the keys {', '.join(names)}; {given!r:.60} was given")
    try:
        fields = {name: kind(given[name]) for name, kind in names.items()}
    except (TypeError, ValueError):
        raise ValueError(f"a clamp's layer, unit, value and start must be numbers; {given!r:.60} was given") from None
    hold = Clamp(**fields)
    if hold.layer >= layers or hold.unit >= width:
        raise ValueError(f"there is no layer {hold.layer}, unit {hold.unit}; this model has layers 0 … {layers - 1} "
                         f"and units 0 … {width - 1}")
    return hold


def _sent(values: Float[Tensor, "layer time width"], units: Sequence[tuple[int, int]]) -> bytes:
    """The values of these units, one row per unit, ``[unit time]``, as bytes for JavaScript."""
    layers, indices = zip(*units, strict=True)
    return values[list(layers), :, list(indices)].numpy().astype("<f4").tobytes()
