"""The Attention Lab: all heads of a real model on the reader's sentence, down to the arithmetic of one cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any, ClassVar

import torch
import traitlets
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.interpret.ablation import Ablation
from plmlab.interpret.distances import distance, divergence
from plmlab.interpret.forward_pass import ForwardPass, forward_pass
from plmlab.interpret.readable import Words, readable
from plmlab.labs.attention.state import Effect, State
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.shared.masks import mask_state
from plmlab.labs.shared.notes import unknown
from plmlab.labs.shared.tokens import labels, names_of
from plmlab.text.tokenizers import Tokenizer

TITLES = {"self": "self-attention", "encoder": "encoder", "decoder": "decoder", "cross": "decoder → encoder"}
TOP = 8


@dataclass(frozen=True)
class AttentionPreset:
    """Something to try in the Attention Lab: a sentence, a head, a cell given by its words, and
    a question to guess first.

    ``off`` are heads to be switched off, (layer, head); ``closed`` are cells to be closed, (query, key), as positions.
    """

    title: str
    text: str
    layer: int
    head: int
    query: str
    key: str
    question: str = ""
    answer: str = ""
    off: tuple[tuple[int, int], ...] = ()
    closed: tuple[tuple[int, int], ...] = ()

    def traits(self) -> dict[str, Any]:
        """The lab's traits that a click on this preset sets, with their values."""
        return {"text": self.text, "layer": self.layer, "head": self.head, "shown": 0,
                "off": [["self", *head] for head in self.off], "closed": [["self", *cell] for cell in self.closed]}

    def cell(self, queries: Sequence[str], keys: Sequence[str]) -> list[int] | None:
        """The cell as [query, key]: the last position of its query, the first of its key; None where a word is
        missing."""
        if self.query not in queries or self.key not in keys:
            return None
        return [len(queries) - 1 - list(reversed(queries)).index(self.query), list(keys).index(self.key)]


ANIMAL = "The animal did not cross the street because it was too tired."
BANKS = "The bank of the river was muddy, so the bank of the town was closed."
PRESETS = (
    AttentionPreset("what “it” means", ANIMAL, 3, 1, "it", "animal",
         "Here “it” looks at “animal”. Write “wide” for “tired”, and a reader thinks of the street. Will this head now "
         "look from “it” at “street”?",
         "No. “animal” falls from 0.69 to 0.32 and is still first; “street” rises to 0.15 only. The head leans to the "
         "subject of the sentence more than to the meaning of its last word."),
    AttentionPreset("the word before", ANIMAL, 0, 2, "street", "the",
         "Head 2 of layer 0 draws one line. What does each word look at? And what must it know of the words for that?",
         "Each word looks at the one before it, with more than 0.99 of its weight. In layer 0 a vector still says "
         "where its token stands, and that is enough: this head matches positions, not words."),
    AttentionPreset("the same word again", BANKS, 2, 9, "bank", "bank",
         "“bank” stands here twice, and means two things. Whom does the second “bank” look at?",
         "At the first one, with 0.95 of its weight; and the first looks at the second, with 0.84. The head matches "
         "the word, whatever it means here."),
    AttentionPreset("a head less", ANIMAL, 5, 11, "it", "animal",
         "Head 11 of layer 5 is switched off, one of 72. Which token's vector changes most, and does the sentence's?",
         "Those of “it” and “[SEP]”, by 0.11, and the sentence's by 0.08. No other head does as much: half of the 72 "
         "move the sentence by less than 0.002. Try another.", off=((5, 11),)),
    AttentionPreset("a cell less", ANIMAL, 3, 1, "it", "animal",
         "“it” may no longer look at “animal”, in any head of any layer. Which tokens change?",
         "“it” moves by 0.18; no other token moves by even 0.001. What they need of the animal they look up "
         "themselves.", closed=((9, 2),)),
)


@cache
def default_model() -> tuple[nn.Module, Tokenizer]:
    """MiniLM and its tokenizer, loaded once; the labs never change it."""
    from plmlab.hf import minilm

    return minilm()


class AttentionLab(Lab):
    """Layers × heads of a model on the reader's sentence; one head at large; the arithmetic of one cell.

    Heads can be switched off and cells closed, and what becomes of the output is shown. The model itself is never
    changed: the ablation is an ``intervene`` at its hook points.

    Args:
        model: ours, or one of ``transformers``; MiniLM if none is given.
        words: the model's tokenizer.
        text: the sentence to begin with.
        second: what an encoder-decoder's decoder reads, or sentence B of an encoder.
        layer, head: what is shown at large, counted from 0 as in ``watch``.
        mask: of a model that was pretrained under several masks, the one under which it reads; "": as it reads a text.
        name: what the model is called; the name of its class if none is given.
        presets: buttons of things to look at; those for MiniLM only where it is the model.

    Raises:
        ValueError: a model was given without a tokenizer, or a tokenizer without a model.
    """

    title = "Attention Lab"
    module = "attention/lab.js"
    styles = ("attention/lab.css",)
    inputs: ClassVar = ("text", "second", "mask", "max_tokens", "off", "closed", "shown", "preset", "layer", "head")

    second = traitlets.Unicode().tag(sync=True)
    mask = traitlets.Unicode().tag(sync=True)
    shown = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    off: traitlets.List = traitlets.List().tag(sync=True)
    closed: traitlets.List = traitlets.List().tag(sync=True)
    preset = traitlets.Int(-1).tag(sync=True)
    detail = traitlets.Dict().tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, model: nn.Module | None = None, words: "Words | None" = None, text: str | None = None,
                 second: str | None = None, *, layer: int | None = None, head: int | None = None, mask: str = "",
                 name: str = "", presets: Sequence[AttentionPreset] | None = None, max_tokens: int = 64) -> None:
        if (model is None) != (words is None):
            raise ValueError("a model and its tokenizer belong together: give both, or neither for MiniLM")
        if model is None or words is None:
            model, words = default_model()
            name, presets = name or "MiniLM", PRESETS if presets is None else presets
        self.model, self.words = model, words
        self.name, self.presets = name or type(model).__name__, tuple(presets or ())
        self._runs: dict[tuple[object, ...], ForwardPass] = {}
        begin = {"text": text, "layer": layer, "head": head}
        if self.presets and all(value is None for value in begin.values()):
            begin = self.presets[0].traits() | {"preset": 0}
        reads = readable(model)
        menu = {"name": self.name, "two": reads.architecture == "encoder-decoder", "masks": list(reads.masks),
                "presets": [{"title": preset.title, **preset.traits()} for preset in self.presets]}
        super().__init__(second=second or "", mask=mask or next(iter(reads.masks), ""), menu=menu,
                         max_tokens=max_tokens,
                         **{name: value for name, value in begin.items() if value is not None})

    def summary(self) -> str:
        """The model's name, its layers and heads, and the tokens that it read."""
        if not self.state:
            return self.message
        layers, heads = (f"{count} {one}{'s' * (count > 1)}"
                         for count, one in zip(self.state["size"], ("layer", "head"), strict=True))
        return f"{self.name}, {layers} × {heads}: {' '.join(self.state['queries'])}"

    def compute(self, change: Change) -> Computed:
        """All heads with and without what is taken away, and the numbers of the head in sight; where only another
        head was chosen, the rest stands."""
        before = self._read(Ablation())
        another = change.drawn & {"text", "second", "mask"} and "closed" not in change.drawn
        closed = [] if another else self.closed
        after = self._read(self._ablation(closed))
        name = self._map(before)
        detail = detail_of(after, name, self.layer, self.head)
        state = self.state if change.drawn <= {"layer", "head"} else self._describe(before, after, name, closed)
        runs = {key: run for key, run in self._runs.items() if run in (before, after)}
        return Computed({"closed": closed, "detail": detail, "state": state, "message": self._note(before)},
                        {"_runs": runs})

    def _read(self, ablation: Ablation) -> ForwardPass:
        """What the model makes of the text; the same question is asked of it once."""
        key = (self.text, self.second, self.mask, self.max_tokens, ablation)
        if key not in self._runs:
            self._runs[key] = forward_pass(self.model, self.words, self.text, self.second or None, ablation=ablation,
                                           mask=self.mask, max_tokens=self.max_tokens)
        return self._runs[key]

    def _ablation(self, closed: Sequence[Any]) -> Ablation:
        """What the reader has taken away, in an order that does not depend on that of the clicks."""
        def in_order(rows: Sequence[Any]) -> tuple[tuple[str, int, int], ...]:
            try:
                return tuple(sorted({(str(name), int(a), int(b)) for name, a, b in rows}))
            except (TypeError, ValueError):
                raise ValueError("a head that is off is [map, layer, head], a closed cell [map, query, key], such as "
                                 f"['self', 0, 2]; {rows!r:.60} was given") from None

        return Ablation(in_order(self.off), in_order(closed))

    def _map(self, run: ForwardPass) -> str:
        if self.shown not in range(len(run.maps)):
            raise ValueError(f"map {self.shown} is to be shown; this model has {len(run.maps)}, counted from 0")
        return run.maps[self.shown].name

    def _describe(self, before: ForwardPass, after: ForwardPass, name: str, closed: Sequence[Any],
                  ) -> State:
        found, visible = after.map(name), before.visible(name)
        for at, q, k in closed:
            visible = visible.edited(q, k, False) if at == name else visible
        preset = self._chosen_preset()
        guess = (preset.question, preset.answer) if preset and preset.question else who_receives(before, name)
        return {
            "map": name,
            "maps": [{"title": TITLES[m.name], "name": m.name, "size": [len(m.weights), len(m.weights[0])]}
                     for m in before.maps],
            "size": [len(found.weights), len(found.weights[0])],
            "queries": found.queries, "keys": found.keys,
            "query_names": names_of(found.queries), "key_names": names_of(found.keys),
            "weights": packed(torch.stack(found.weights)),
            "mask": mask_state(TITLES[name], visible),
            "start": preset.cell(found.queries, found.keys) if preset else None,
            "change": None if after is before else change_of(before, after, self.words),
            "question": guess[0], "answer": guess[1],
        }

    def _chosen_preset(self) -> AttentionPreset | None:
        """The preset that was chosen, while the sentence is still much the same."""
        if self.preset not in range(len(self.presets)):
            return None
        preset = self.presets[self.preset]
        alike = SequenceMatcher(a=preset.text.split(), b=self.text.split(), autojunk=False).ratio() >= 0.6
        return preset if alike else None

    def _note(self, run: ForwardPass) -> str:
        last = run.maps[-1]
        sides = [last.keys, last.queries] if last.name == "cross" else [last.queries]
        return unknown(sum(label in ("[UNK]", "<unk>") for side in sides for label in side))


def packed(weights: Float[Tensor, "layer head query key"]) -> bytes:
    """Weights as 16-bit whole numbers, 65,535 for 1: small enough to send all heads at once, exact to 0.00001."""
    return (weights.clamp(0, 1) * 65_535).round().to(torch.int32).numpy().astype("<u2").tobytes()


def detail_of(run: ForwardPass, name: str, layer: int, head: int) -> dict[str, Any]:
    """What the arithmetic of one head's cells needs, as a dict for JavaScript.

    ``numbers`` are q, k, v, scores, weights and the head's output as 32-bit floats, one after the other; ``width`` is
    that of a head, ``count`` is [queries, keys], and ``scale`` is what q·k is multiplied with, None where the score
    is no inner product but the ``formula``.
    """
    found = run.head(name, layer, head)
    parts = (found.q, found.k, found.v, found.scores, found.weights, found.mixed)
    numbers = torch.cat([part.float().flatten() for part in parts]).numpy().astype("<f4").tobytes()
    return {"map": name, "layer": layer, "head": head, "width": found.q.shape[-1], "scale": found.scale,
            "formula": found.formula, "count": list(found.scores.shape), "numbers": numbers}


def change_of(before: ForwardPass, after: ForwardPass, words: Words) -> Effect:
    """What an ablation does to the output, as a dict for JavaScript: ``positions``, how far each moves, and ``whole``.

    Of an encoder, 1 − cosine between the vectors of each token, and between their means. Of a model with logits,
    KL(before ‖ after) in nats at each position, and at the last; ``next`` has the likeliest tokens there, before and
    after.
    """
    names = before.maps[1 if len(before.maps) > 1 else 0].queries
    if before.logits is None or after.logits is None:
        apart = distance(before.vectors, after.vectors)
        whole = distance(before.vectors.mean(0), after.vectors.mean(0))
        return {"kind": "vectors", "tokens": names, "positions": apart.tolist(), "whole": float(whole)}
    apart = divergence(before.logits, after.logits)
    p, q = before.logits[-1].double().softmax(-1), after.logits[-1].double().softmax(-1)
    highest = torch.maximum(p, q).topk(min(TOP, len(p))).indices
    top = highest[p[highest].argsort(descending=True, stable=True)].tolist()
    return {"kind": "next", "tokens": names, "positions": apart.tolist(), "whole": float(apart[-1]),
            "next": [{"token": token, "before": float(p[i]), "after": float(q[i])}
                     for token, i in zip(labels(words, top), top, strict=True)]}


def who_receives(run: ForwardPass, name: str) -> tuple[str, str]:
    """A question for every model, and its answer: which token receives the most weight, over all heads and queries?"""
    found = run.map(name)
    share = torch.stack(found.weights).mean((0, 1, 2))
    most = int(share.argmax())
    key = names_of(found.keys)[most]
    answer = f"“{key}”, with {share[most]:.2f} of it all; shared out evenly, each would have {1 / len(share):.2f}. "
    return ("Over all heads and all queries: which token receives the most weight?",
            answer + "A row sums to 1, so that a head which finds nothing to look for must still look somewhere.")
