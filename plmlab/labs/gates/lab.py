"""The Gate Lab: the gates and the memory of an LSTM, unit by unit, and what changes where one is held."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import traitlets
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.interpret.gates import POINTS, Clamp, GatedPass, cells_of, gated_pass
from plmlab.interpret.logit_lens import language_model
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.gates.following import Following
from plmlab.labs.gates.gold import GatePreset, Gold, gold, texts_to_try
from plmlab.labs.gates.guess import TITLES, forgetting, overwriting, question
from plmlab.labs.gates.state import Guess, Read, State
from plmlab.labs.gates.tracking import LABELS, Tracking, tracking
from plmlab.labs.shared.notes import empty, joined, left_out, unknown
from plmlab.labs.shared.probabilities import spelled
from plmlab.labs.shared.tokens import labels, names_of
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor

ROWS = 14
"""So many units are drawn."""
SORTS = (*LABELS, "moving")
CHOICES = {"sort": SORTS, "drawn": POINTS, "asked": ("end", "step")}
ALL = -1
"""``layer`` for the units of all layers."""


class GateLab(Lab):
    """A trained LSTM on the reader's sentence, unit by unit: its memory and its gates, sorted by what they track.

    Beside each unit stands how well it tells a label of the world, measured on sentences that it was not chosen on;
    above them the best unit of an untrained LSTM, the best on the labels of other sentences, and the strongest means
    without a network. A gate can be held shut or open and a memory written, several at once; what the model says next
    is shown before and after. The model itself is never changed.

    Args:
        model: an LSTM language model, such as the checkpoint ``lstm-world``.
        tokenizer: its own, one token a word of the world.
        text: the text to begin with; the first preset if None.
        world: the Small World that the model has read.
        split: which of the world's distributions its next words and labels are taken from.
        tracked: the units' scores (`plmlab.labs.gates.tracking.tracking`); found here if None, in a few seconds.
        presets: texts to try; some of the world's if None.
        holds: what is held from the beginning.
        traits: what the reader can set: ``sort`` ("number", "inside", "left", "moving"), ``layer`` (−1 for all),
            ``drawn`` (a point of `POINTS`), ``asked`` ("end" or "step": after which step the next word is shown),
            ``max_tokens``.

    Raises:
        ValueError: the model is not an LSTM that says what comes next, or its tokens are not the words of the world.
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
                 split: str = "train", tracked: Mapping[str, Tracking] | None = None,
                 presets: Sequence[GatePreset] | None = None, holds: Sequence[Clamp] = (), **traits: Any) -> None:
        self.model, self.tokenizer = language_model(model, tokenizer)
        self.layers = len(cells_of(model))
        self.world, self.split = world, split
        self.best = BayesOptimalPredictor(world, split, self.tokenizer, self.model.config.vocab)
        self.following = Following(self.best, self.tokenizer)
        self.tracked = dict(tracking(self.model, self.tokenizer, world) if tracked is None else tracked)
        self.read: GatedPass | None = None
        self.held: GatedPass | None = None
        self.known: Gold | None = None
        self._tokens: list[str] = []
        self._guess: Guess | None = None
        tried = texts_to_try(world, split) if presets is None else list(presets)
        begin = tried[0].text if tried and text is None else text or ""
        super().__init__(text=begin, holds=[asdict(hold) for hold in holds], menu={
            "presets": [{"title": one.title} | one.traits() for one in tried], "layers": self.layers,
            "units": self.tracked["number"].width, "labels": self._figures()}, **traits)

    @traitlets.validate(*CHOICES)
    def _check_choice(self, proposal: Any) -> Any:
        """A TraitError for what no control chooses."""
        name, value = proposal["trait"].name, proposal["value"]
        if value not in CHOICES[name]:
            raise traitlets.TraitError(f"{name} is one of {', '.join(CHOICES[name])}; {value!r:.60} was given")
        return value

    @traitlets.validate("layer")
    def _check_layer(self, proposal: Any) -> int:
        """A TraitError for a layer that there is not."""
        if not ALL <= proposal["value"] < self.layers:
            raise traitlets.TraitError(f"layer is {ALL} for all, or 0 … {self.layers - 1}; {proposal['value']} was "
                                       "given")
        return proposal["value"]

    def summary(self) -> str:
        """The text, the unit that tells the subject's number best, and how well."""
        if not self.state:
            return self.message
        layer, unit = self.tracked["number"].order[0]
        return (f"{self._drawn['text']!r}; layer {layer}, unit {unit} tells the number of the subject with "
                f"{self.tracked['number'].measure} {self.tracked['number'].of(layer, unit)[0]:.2f}, "
                f"{len(self._drawn['holds'])} held")

    def compute(self, change: Change) -> Computed:
        """The units of the text, with what is held, and the words that come next."""
        words, ids, note = self._words()
        holds = [_hold(told, self.layers, self.tracked["number"].width) for told in self.holds]
        kept: dict[str, Any] = {}
        read, known, guess, tokens = self.read, self.known, self._guess, self._tokens
        if read is None or {"text", "max_tokens"} & change.drawn:
            read, known = gated_pass(self.model, ids), gold(self.world, words, self.split)
            tokens = labels(self.tokenizer, ids)
            guess = self._asked(read, known, ids, names_of(tokens))
            kept = {"read": read, "known": known, "_guess": guess, "_tokens": tokens}
        held = gated_pass(self.model, ids, holds) if holds else read
        orders = self._orders(read)
        state: State = {**self._describe(read, held, tokens, words, known, orders, holds), "guess": guess}
        traits: dict[str, Any] = {"message": note, "state": state}
        if "text" in change.drawn:
            traits["step"] = guess["hold"]["start"] if guess else len(ids) - 1
        if not self.unit:
            traits["unit"] = list(orders[self.sort][self.layer][0])
        return Computed(traits, kept | {"held": held})

    def _words(self) -> tuple[list[str], list[int], str]:
        """The words that are read, as the world spells them, their ids behind the start token, and what is to be said
        of them; a ValueError for a text without any."""
        if self.max_tokens < 2:
            raise ValueError(f"max_tokens is {self.max_tokens}: the start token and a word need 2 steps")
        typed = spelled(self.text, self.best.world)
        if not typed:
            raise empty("text")
        own, start = self.tokenizer.encode(typed), self.tokenizer.vocab.need("start")
        room = self.max_tokens - 1
        foreign = [word for word, id in zip(typed.split(), own, strict=False) if id == self.tokenizer.vocab.unk]
        return typed.split()[:room], [start, *own[:room]], joined(
            unknown(len(foreign)), left_out(len(own) - room, room, "word"))

    def _asked(self, read: GatedPass, known: Gold | None, ids: Sequence[int], names: Sequence[str],
               ) -> Guess | None:
        """The question of this text, where a verb waits for its subject."""
        layer, unit = self.tracked["number"].order[0]
        forget = forgetting(known, len(ids), layer, unit)
        if forget is None or known is None:
            return None
        write = overwriting(known, len(ids), layer, unit, self.tracked["number"].of(layer, unit)[1])
        logits = [read.logits, *(gated_pass(self.model, ids, [hold]).logits for hold in (forget, write))]
        number = known.tracks.number[len(ids) - 1]
        return question(forget, write, known, names, [self.following.verbs(one[-1], TITLES[number or "sg"])
                                                      for one in logits])

    def _orders(self, read: GatedPass) -> dict[str, dict[int, list[tuple[int, int]]]]:
        """Sort → layer or `ALL` → the units that are drawn, (layer, unit), the first on top."""
        memory = read.values["memory"]
        apart = (memory.amax(1) - memory.amin(1)).flatten()
        moving = [divmod(place, memory.shape[-1]) for place in apart.argsort(descending=True, stable=True).tolist()]
        found = {name: one.order for name, one in self.tracked.items()} | {"moving": moving}
        return {name: {layer: [one for one in order if layer in (ALL, one[0])][:ROWS]
                       for layer in range(ALL, self.layers)} for name, order in found.items()}

    def _describe(self, read: GatedPass, held: GatedPass, tokens: list[str], words: Sequence[str], known: Gold | None,
                  orders: Mapping[str, Mapping[int, Sequence[tuple[int, int]]]], holds: Sequence[Clamp],
                  ) -> Read:
        sent = sorted({unit for by in orders.values() for order in by.values() for unit in order}
                      | {(hold.layer, hold.unit) for hold in holds})
        place = {unit: i for i, unit in enumerate(sent)}
        count = len(tokens)
        return {
            "tokens": tokens, "names": names_of(tokens),
            "units": [{"layer": layer, "unit": unit, "scores": self._scores(layer, unit)} for layer, unit in sent],
            "orders": {name: {str(layer): [place[unit] for unit in order] for layer, order in by.items()}
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
        return {name: [round(score, 4), rises] for name, one in self.tracked.items()
                for score, rises in [one.of(layer, unit)]}

    def _figures(self) -> dict[str, dict[str, Any]]:
        """What stands above the scores of each label."""
        return {name: {"measure": one.measure, "best": round(one.units.best, 4), "untrained": round(one.untrained, 4),
                       "shuffled": round(one.shuffled, 4), "baseline": round(one.strongest[1], 4),
                       "by": one.strongest[0]} for name, one in self.tracked.items()}


def _hold(told: Any, layers: int, width: int) -> Clamp:
    """What is held, as the browser or the reader tells it; a ValueError for what is no hold of this model."""
    names = {"point": str, "layer": int, "unit": int, "value": float, "start": int}
    if not isinstance(told, Mapping) or set(told) != set(names):
        raise ValueError(f"a hold is told with {', '.join(names)}; {told!r:.60} was given")
    try:
        given = {name: kind(told[name]) for name, kind in names.items()}
    except (TypeError, ValueError):
        raise ValueError(f"a hold's layer, unit, value and start are numbers; {told!r:.60} was given") from None
    hold = Clamp(**given)
    if hold.layer >= layers or hold.unit >= width:
        raise ValueError(f"layer {hold.layer}, unit {hold.unit} is to be held; this model has layers 0 … {layers - 1} "
                         f"and units 0 … {width - 1}")
    return hold


def _sent(values: Float[Tensor, "layer time width"], units: Sequence[tuple[int, int]]) -> bytes:
    """Rows of the units, step after step, as bytes for JavaScript."""
    layers, places = zip(*units, strict=True)
    return values[list(layers), :, list(places)].numpy().astype("<f4").tobytes()
