"""The Attention Lab: all attention heads of a real model on one sentence, down to the computation of a single
weight."""

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
from plmlab.text.knowledge import KnowledgeBase
from plmlab.text.tokenizers import Tokenizer

TITLES = {"self": "self-attention", "encoder": "encoder", "decoder": "decoder", "cross": "cross-attention"}
SPANS = "spans "
"""Beginning of the names of the maps of the words over entity-spans; the number of the knowledge base follows."""
TOP = 8


@dataclass(frozen=True)
class AttentionPreset:
    """A preset of the Attention Lab: a sentence, a head, an attention weight given by its query and key tokens, and an
    optional question to answer before the result is shown.

    ``off`` lists the heads to ablate, as (layer, head); ``closed`` lists the pairs of positions to block, as (query,
    key); both are of self-attention. ``shown`` is the index of the map shown.
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
    shown: int = 0

    def traits(self) -> dict[str, Any]:
        """The trait values that clicking this preset sets."""
        return {"text": self.text, "layer": self.layer, "head": self.head, "shown": self.shown,
                "off": [["self", *head] for head in self.off], "closed": [["self", *cell] for cell in self.closed]}

    def cell(self, queries: Sequence[str], keys: Sequence[str]) -> list[int] | None:
        """The (query, key) pair as [query, key]: the last occurrence of the query token and the first of the key token;
        None if either is missing."""
        if self.query not in queries or self.key not in keys:
            return None
        return [len(queries) - 1 - list(reversed(queries)).index(self.query), list(keys).index(self.key)]


ANIMAL = "The animal did not cross the street because it was too tired."
BANKS = "The bank of the river was muddy, so the bank of the town was closed."
PRESETS = (
    AttentionPreset("what “it” refers to", ANIMAL, 3, 1, "it", "animal",
         "Here “it” attends mostly to “animal”. If “tired” is replaced by “wide”, a human reader takes “it” to mean "
                    "the street. Will this head then attend from “it” to “street”?",
         "No. The weight on “animal” falls from 0.69 to 0.32 but is still the largest; that on “street” rises only to "
                    "0.15. The head follows the subject of the sentence more than the meaning of its last word."),
    AttentionPreset("the previous token", ANIMAL, 0, 2, "street", "the",
         "Head 2 of layer 0 shows a single diagonal. What does each token attend to, and what does the head have to "
                    "know about the tokens?",
         "Each token attends to the previous one, with a weight above 0.99. In layer 0 a vector still encodes the "
                    "position of its token, and that is enough: this head matches positions, not words."),
    AttentionPreset("a repeated word", BANKS, 2, 9, "bank", "bank",
                    "“bank” occurs twice here, with two meanings. Which token does the second “bank” attend to?",
         "The first “bank”, with a weight of 0.95; and the first attends to the second, with a weight of 0.84. The "
                    "head matches the word form, whatever it means here."),
    AttentionPreset("ablate a head", ANIMAL, 5, 11, "it", "animal",
         "Head 11 of layer 5, one of 72, is switched off. Which token's vector changes most, and does the sentence "
                    "vector change?",
         "The vectors of “it” and “[SEP]”, by 0.11; the sentence vector changes by 0.08. No other head has so large an "
         "effect: half of the 72 change the sentence vector by less than 0.002. Try another.", off=((5, 11),)),
    AttentionPreset("block a pair", ANIMAL, 3, 1, "it", "animal",
                    "“it” can no longer attend to “animal”, in any head of any layer. Which tokens change?",
         "“it” changes by 0.18; no other token changes by even 0.001. The other tokens get what they need about "
                    "the animal by attending to “animal” directly.", closed=((9, 2),)),
)


@cache
def default_model() -> tuple[nn.Module, Tokenizer]:
    """MiniLM and its tokenizer, loaded once; no lab modifies it."""
    from plmlab.hf import minilm

    return minilm()


class AttentionLab(Lab):
    """All layers and heads of a model on one sentence; one head enlarged; and the computation of one attention weight.

    Heads can be ablated and (query, key) pairs blocked; the lab shows the effect on the output. The model itself is
    never modified: ablations use ``intervene`` at its hook points.

    Args:
        model: a model of plmlab or of ``transformers``; MiniLM by default.
        words: the model's tokenizer.
        text: the initial sentence.
        second: the decoder input of an encoder–decoder, or sentence B of an encoder.
        layer, head: the head shown enlarged, counted from 0 as in ``watch``.
        mask: the name of the attention mask, for a model pretrained with several masks; "" for the model's default.
        name: the name to display; the model's class name by default.
        presets: the preset buttons; by default, MiniLM's presets if MiniLM is the model, otherwise none.
        knowledge: the knowledge bases of a model that has some, in its order: the attention of the words to the
            entity-spans of each is another map.

    Raises:
        ValueError: if a model is given without a tokenizer, or a tokenizer without a model.
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
                 name: str = "", presets: Sequence[AttentionPreset] | None = None, max_tokens: int = 64,
                 knowledge: Sequence[KnowledgeBase] = ()) -> None:
        if (model is None) != (words is None):
            raise ValueError("a model and its tokenizer belong together: give both, or neither for MiniLM")
        if model is None or words is None:
            model, words = default_model()
            name, presets = name or "MiniLM", PRESETS if presets is None else presets
        self.model, self.words, self.knowledge = model, words, tuple(knowledge)
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
        """The model's name, its layers and heads, and the input tokens."""
        if not self.state:
            return self.message
        layers, heads = (f"{count} {unit}{'s' * (count > 1)}"
                         for count, unit in zip(self.state["size"], ("layer", "head"), strict=True))
        return f"{self.name}, {layers} × {heads}: {' '.join(self.state['queries'])}"

    def compute(self, change: Change) -> Computed:
        """All heads before and after the ablation, and the vectors of the selected head. If only the selected head
        changed, the other results are reused."""
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
        """Run the model on the text (cached)."""
        key = (self.text, self.second, self.mask, self.max_tokens, ablation)
        if key not in self._runs:
            self._runs[key] = forward_pass(self.model, self.words, self.text, self.second or None, ablation=ablation,
                                           mask=self.mask, max_tokens=self.max_tokens, knowledge=self.knowledge)
        return self._runs[key]

    def _ablation(self, closed: Sequence[Any]) -> Ablation:
        """The reader's ablation, sorted so that the order of the clicks has no effect."""
        def in_order(rows: Sequence[Any]) -> tuple[tuple[str, int, int], ...]:
            try:
                return tuple(sorted({(str(name), int(a), int(b)) for name, a, b in rows}))
            except (TypeError, ValueError):
                raise ValueError("give an ablated head as [map, layer, head] and a blocked pair as [map, query, key], "
                                 f"such as ['self', 0, 2]; {rows!r:.60} was given") from None

        return Ablation(in_order(self.off), in_order(closed))

    def _map(self, run: ForwardPass) -> str:
        if self.shown not in range(len(run.maps)):
            raise ValueError(f"there is no map {self.shown}: this model has {len(run.maps)}, counted from 0")
        found = run.maps[self.shown]
        if not found.keys:
            raise ValueError("The text has no name from this knowledge base, so it has no entity-span to attend to: "
                             "type a name. The previous result is still shown.")
        return found.name

    def _describe(self, before: ForwardPass, after: ForwardPass, name: str, closed: Sequence[Any],
                  ) -> State:
        found, visible = after.map(name), before.visible(name)
        for at, q, k in closed:
            visible = visible.edited(q, k, False) if at == name else visible
        preset = self._chosen_preset()
        guess = (preset.question, preset.answer) if preset and preset.question else who_receives(before, name)
        start = preset.cell(found.queries, found.keys) if preset else None
        if start is None and name.startswith(SPANS):
            start = largest(found.weights[0][0])
        return {
            "map": name,
            "maps": [{"title": title_of(m.name), "name": m.name, "size": [len(m.weights), len(m.weights[0])]}
                     for m in before.maps],
            "size": [len(found.weights), len(found.weights[0])],
            "queries": found.queries, "keys": found.keys,
            "query_names": names_of(found.queries), "key_names": names_of(found.keys),
            "weights": packed(torch.stack(found.weights)),
            "mask": mask_state(title_of(name), visible),
            "start": start,
            "change": None if after is before else change_of(before, after, self.words),
            "question": guess[0], "answer": guess[1],
        }

    def _chosen_preset(self) -> AttentionPreset | None:
        """The selected preset, while the sentence is still similar to the preset's."""
        if self.preset not in range(len(self.presets)):
            return None
        preset = self.presets[self.preset]
        alike = SequenceMatcher(a=preset.text.split(), b=self.text.split(), autojunk=False).ratio() >= 0.6
        return preset if alike else None

    def _note(self, run: ForwardPass) -> str:
        last = run.maps[-1]
        sides = [last.keys, last.queries] if last.name == "cross" else [last.queries]
        return unknown(sum(label in ("[UNK]", "<unk>") for side in sides for label in side))


def title_of(name: str) -> str:
    """The title of a map."""
    return TITLES.get(name) or f"words over entity-spans, knowledge base {name.removeprefix(SPANS)}"


def largest(weights: Float[Tensor, "query key"]) -> list[int]:
    """The (query, key) pair with the largest weight, without the first and the last query, which are special tokens."""
    query, key = divmod(int(weights[1:-1].argmax()), weights.shape[1])
    return [1 + query, key]


def packed(weights: Float[Tensor, "layer head query key"]) -> bytes:
    """Encode weights as 16-bit integers, where 65,535 stands for 1: small enough to send all heads at once, and
    accurate to 0.00001."""
    return (weights.clamp(0, 1) * 65_535).round().to(torch.int32).numpy().astype("<u2").tobytes()


def detail_of(run: ForwardPass, name: str, layer: int, head: int) -> dict[str, Any]:
    """The vectors from which one head's attention weights are computed, as a dict for JavaScript.

    ``numbers`` holds q, k, v, scores, weights and the head's output as concatenated 32-bit floats; ``width`` is the
    head's dimension, ``count`` is [queries, keys], and ``scale`` is the factor of q·k (None if the score is computed by
    ``formula`` instead of an inner product).
    """
    found = run.head(name, layer, head)
    parts = (found.q, found.k, found.v, found.scores, found.weights, found.mixed)
    numbers = torch.cat([part.float().flatten() for part in parts]).numpy().astype("<f4").tobytes()
    return {"map": name, "layer": layer, "head": head, "width": found.q.shape[-1], "scale": found.scale,
            "formula": found.formula, "count": list(found.scores.shape), "numbers": numbers}


def change_of(before: ForwardPass, after: ForwardPass, words: Words) -> Effect:
    """The effect of an ablation on the output, as a dict for JavaScript: the change at each position (``positions``)
    and of the whole output (``whole``).

    For an encoder, these are 1 − cosine between each token's vectors before and after, and between the mean vectors.
    For a model with logits, they are KL(before ‖ after) in nats at each position, and at the last position; ``next``
    lists the most probable next tokens at the last position, before and after.
    """
    names = before.maps[1 if len(before.maps) > 1 else 0].queries
    if before.logits is None or after.logits is None:
        moved = distance(before.vectors, after.vectors)
        whole = distance(before.vectors.mean(0), after.vectors.mean(0))
        return {"kind": "vectors", "tokens": names, "positions": moved.tolist(), "whole": float(whole)}
    moved = divergence(before.logits, after.logits)
    p, q = before.logits[-1].double().softmax(-1), after.logits[-1].double().softmax(-1)
    highest = torch.maximum(p, q).topk(min(TOP, len(p))).indices
    top = highest[p[highest].argsort(descending=True, stable=True)].tolist()
    return {"kind": "next", "tokens": names, "positions": moved.tolist(), "whole": float(moved[-1]),
            "next": [{"token": token, "before": float(p[i]), "after": float(q[i])}
                     for token, i in zip(labels(words, top), top, strict=True)]}


def who_receives(run: ForwardPass, name: str) -> tuple[str, str]:
    """A question that fits any model, and its answer: which token, or entity-span, receives the most attention, summed
    over all heads and queries?"""
    found = run.map(name)
    share = torch.stack(found.weights).mean((0, 1, 2))
    largest = int(share.argmax())
    key = names_of(found.keys)[largest]
    answer = f"“{key}”, with {share[largest]:.2f} of the total; uniform attention gives each {1 / len(share):.2f}. "
    kind = "entity-span" if name.startswith(SPANS) else "token"
    return (f"Over all heads and all queries: which {kind} receives the most attention?",
            answer + "The weights of a row sum to 1, so a head that finds nothing relevant still attends to something.")
