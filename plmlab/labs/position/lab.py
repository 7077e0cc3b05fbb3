"""The Position Lab: how a Transformer encodes positions, and how it behaves without position information."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, cast

import torch
import traitlets
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.example import AnyExample, Example
from plmlab.interpret.attention_maps import attention_maps, attention_model
from plmlab.interpret.readable import as_ours, readable
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.position.comparison import Comparison
from plmlab.labs.position.encodings import RandomHead
from plmlab.labs.position.state import Finder, State, Variant
from plmlab.labs.shared.notes import empty, left_out
from plmlab.labs.shared.tokens import names_of
from plmlab.layers.positions import LearnedPositions
from plmlab.models.registry import architecture_of
from plmlab.text.tokenizers import Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

KINDS = ("sinusoidal", "learned", "relative", "sentence", "compared")
SENTENCE = "The old baker told the ferryman a long story about the bear."
LONGEST = 512
"""Maximum number of positions and of dimensions drawn."""
FARTHEST = 50
"""Maximum shift of the sentence, in positions."""

Weights = Float[Tensor, "layer head query key"]


@dataclass(frozen=True)
class PositionVariant:
    """One variant of a sentence: its position ids (on the first axis if there are several), and the model's attention
    weights with them."""

    title: str
    position_ids: Int[Tensor, "time"]
    weights: Weights


def previous_share(weights: Float[Tensor, "*maps query key"], position_ids: Int[Tensor, "time"],
                   ) -> Float[Tensor, "*maps"]:
    """The attention weight on the token whose position id is one lower, averaged over all queries for which such a
    token exists; NaN if there are none."""
    before = position_ids[None, :] == position_ids[:, None] - 1
    return (weights * before).sum(-1)[..., before.any(-1)].mean(-1)


def total_variation(a: Float[Tensor, "*maps query key"], b: Float[Tensor, "*maps query key"],
                    ) -> Float[Tensor, "*maps"]:
    """Total variation distance of attention rows, ½ Σ_k |a_k − b_k|, averaged over the rows."""
    return (a - b).abs().sum(-1).mean(-1) / 2


def shuffled(position_ids: Int[Tensor, "time"], positions: Sequence[int], rng: Random) -> Int[Tensor, "time"]:
    """Permute the position ids of the given ``positions``, never by the identity if there are at least two."""
    permuted = list(positions)
    while len(positions) > 1 and permuted == list(positions):
        permuted = [position for _, position in sorted((rng.random(), position) for position in positions)]
    moved = position_ids.clone()
    moved[list(positions)] = position_ids[permuted]
    return moved


def learned_tables(model: nn.Module) -> dict[str, Float[Tensor, "_ model"]]:
    """The learned position embeddings of a model, one table per position axis, by module name; empty if the model has
    none."""
    return {name.rpartition(".")[2].replace("_", " "): module.weight.detach().float().cpu()
            for name, module in model.named_modules() if isinstance(module, LearnedPositions)}


def quantised(table: Float[Tensor, "time model"]) -> tuple[bytes, dict[str, list[float]]]:
    """Quantise a table to one byte per value, position by position: size_p · (low_i + step_i · byte). ``size`` is the
    largest absolute value at a position, so that one outlier does not reduce the precision at the other positions."""
    size = table.abs().amax(1, keepdim=True).clamp(min=1e-12)
    low, high = (table / size).aminmax(dim=0)
    step = ((high - low) / 255).clamp(min=1e-12)
    numbers = ((table / size - low) / step).round().to(torch.uint8)
    scales = {"size": size.flatten().tolist(), "low": low.tolist(), "step": step.tolist()}
    return numbers.numpy().tobytes(), scales


class PositionLab(Lab):
    """Explore sinusoidal, learned and relative positional encodings, a model without position information, and a
    comparison of all encodings.

    If a model has several position axes, each axis has its own table, and the position ids of the first axis are
    shuffled.

    Args:
        model: the model that processes the sentence and whose learned positions are drawn: a BERT or a GPT of plmlab or
            of ``transformers``; MiniLM by default.
        tokenizer: the model's tokenizer.
        text: the initial sentence.
        seed: the seed for shuffling; "shuffle again" uses the next one.
        traits: initial values of other traits: ``kind`` (sinusoidal, learned, relative, sentence, or compared),
            ``width`` (dimensions, even), ``length`` (positions), ``base``, ``window``, ``axis`` (the learned table
            drawn, if the model has several position axes), ``dimension`` and ``position`` (the crosshair), ``back``
            (the distance of the clocks' second hand), ``shuffles``, ``layer`` (None: the layer and the head with the
            largest attention on the previous token) and ``head`` (None: the mean over the heads); in the comparison,
            ``moved`` (the shift in positions) and the pair ``query`` and ``key`` (indices in the sentence; a later key
            is replaced by the query).
    """

    title = "Position Lab"
    module = "position/lab.js"
    styles = ("position/lab.css",)
    inputs: ClassVar = ("text", "shuffles", "layer", "head", "max_tokens", "moved")

    kind = traitlets.Enum(KINDS, "sinusoidal").tag(sync=True)
    width = traitlets.Int(64).tag(sync=True)
    length = traitlets.Int(64).tag(sync=True)
    base = traitlets.Float(10_000.0).tag(sync=True)
    window = traitlets.Int(8).tag(sync=True)
    axis = traitlets.Int(0).tag(sync=True)
    dimension = traitlets.Int(12).tag(sync=True)
    position = traitlets.Int(7).tag(sync=True)
    back = traitlets.Int(3).tag(sync=True)
    shuffles = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(None, allow_none=True).tag(sync=True)
    head = traitlets.Int(None, allow_none=True).tag(sync=True)
    moved = traitlets.Int(10).tag(sync=True)
    query = traitlets.Int(9).tag(sync=True)
    key = traitlets.Int(8).tag(sync=True)
    comparison = traitlets.Dict().tag(sync=True)
    scores = traitlets.Bytes().tag(sync=True)
    learned = traitlets.Dict().tag(sync=True)
    table = traitlets.Bytes().tag(sync=True)

    def __init__(self, model: "nn.Module | PreTrainedModel | None" = None,
                 tokenizer: "Tokenizer | PreTrainedTokenizerBase | None" = None, text: str = SENTENCE, *,
                 seed: int = 0, **traits: Any) -> None:
        self.model, self.tokenizer = _ours(model, tokenizer)
        self.seed = seed
        self.variants: tuple[PositionVariant, ...] = ()
        self.random_head = RandomHead()
        self._note = ""
        self._read: dict[tuple[object, ...], tuple[Weights, list[str]]] = {}
        packed = {title: quantised(table[:LONGEST]) for title, table in learned_tables(self.model).items()}
        if packed:
            axes = [{"title": title, "positions": len(scales["size"]), **scales}
                    for title, (_, scales) in packed.items()]
            traits |= {"learned": {"name": _name(model), "axes": axes},
                       "table": b"".join(numbers for numbers, _ in packed.values())}
        super().__init__(text=text, **traits)

    @traitlets.validate("width", "length", "base", "window", "axis", "dimension", "position", "back", "moved", "query",
                        "key")
    def _check(self, proposal: Any) -> Any:
        """Validate a number. Raises TraitError if it is out of range."""
        name, value = proposal["trait"].name, proposal["value"]
        low, high = {"width": (2, LONGEST), "length": (2, LONGEST), "base": (1.5, 1e9), "window": (1, 64),
                     "axis": (0, max(len(self.learned.get("axes", ())) - 1, 0)), "back": (1, LONGEST - 1),
                     "moved": (0, FARTHEST)}.get(name, (0, LONGEST - 1))
        if not low <= value <= high:
            raise traitlets.TraitError(f"{name} must be between {low:,} and {high:,}; {value:,} was given")
        if name == "width" and value % 2:
            raise traitlets.TraitError(f"sines and cosines come in pairs: width must be even, {value} was given")
        return value

    def weights(self, variant: int = 0) -> Float[Tensor, "query key"]:
        """The attention map of the selected layer and head for ``variant`` 0 (original positions), 1 (shuffled
        positions) or 2 (all positions 0). Raises ValueError if no sentence has been processed yet."""
        if not self.variants:
            raise ValueError(f"no sentence has been processed yet: {self.message}")
        maps = self.variants[variant].weights[self.state["layer"]]
        return maps.mean(0) if self.state["head"] is None else maps[self.state["head"]]

    def summary(self) -> str:
        """The kind and size of the encoding drawn, or the finding about the sentence."""
        if self.kind == "sentence":
            return self.state.get("finding", self.message)
        if self.kind == "compared":
            return self.comparison.get("finding", self.message)
        size, axes = f"{self.length} positions", self.learned.get("axes", ())
        axis = f"{axes[self.axis]['title']}, " if len(axes) > 1 else ""
        return {
            "sinusoidal": f"sinusoidal positions, {size} of {self.width} dimensions, base {self.base:,.0f}",
            "learned": f"learned positions of {self.learned.get('name', 'no model')}, {axis}{size}",
            "relative": f"relative positions, {size}, window {self.window}",
        }[self.kind]

    def compute(self, change: Change) -> Computed:
        """Run the model on all variants of the sentence, describe the selected layer and head, and compare all
        encodings. If only the shift has changed, the model is not run again."""
        variants, state, note = self.variants, cast("State", self.state), self._note
        if change.drawn - {"moved"}:
            variants, tokens, note = self._variants()
            state = self._describe(variants, tokens)
        example, words, _ = self._example()
        compared = Comparison.of(self.random_head, example.tokens[words].tolist(),
                                 [state["tokens"][position] for position in words], self.moved,
                                 self.tokenizer.vocab.unk)
        return Computed({"state": state, "message": note, "comparison": compared.state, "scores": compared.scores},
                        {"variants": variants, "_note": note})

    def _variants(self) -> tuple[tuple[PositionVariant, ...], list[str], str]:
        """The three variants of the sentence, its tokens, and a note if the sentence was truncated."""
        example, words, note = self._example()
        own, *others = example.position_ids
        mixed = shuffled(own, words, Random(self.seed + self.shuffles))
        given = {"original positions": example.position_ids,
                 "shuffled positions": torch.stack([mixed, *others]),
                 "all at position 0": torch.zeros_like(example.position_ids)}
        variants = tuple(PositionVariant(title, position_ids[0], self._weights(example, position_ids)[0])
                         for title, position_ids in given.items())
        if len(words) < 2:
            note = "A single token cannot be shuffled: type another one."
        return variants, self._weights(example, example.position_ids)[1], note

    def _example(self) -> tuple[Example, list[int], str]:
        """The sentence, truncated to what the page and the model support; the positions of its tokens, excluding the
        surrounding special tokens; and a note if it was truncated. Raises ValueError if the sentence is empty or the
        model has no attention."""
        ids = self.tokenizer.encode(self.text)
        if not ids:
            raise empty()
        room = min(self.max_tokens, attention_model(self.model).max_positions or self.max_tokens)
        read = architecture_of(self.model).example
        added = len(_single(read(ids[:1], None, self.tokenizer.vocab)).tokens) - 1
        used = min(len(ids), room - added)
        if used < 1:
            raise ValueError(f"max_tokens is {self.max_tokens}: too small to draw anything, give at least 8")
        example = _single(read(ids[:used], None, self.tokenizer.vocab))
        words = [position for position, token in enumerate(example.tokens.tolist()) if token in ids[:used]]
        return example, words, left_out(len(ids) - used, room)

    def _weights(self, example: Example, position_ids: Int[Tensor, "axis time"]) -> tuple[Weights, list[str]]:
        """The model's attention weights with these positions, and the tokens; the last few results are cached."""
        key = (tuple(example.tokens.tolist()), tuple(position_ids.flatten().tolist()))
        if key not in self._read:
            variant = replace(example, position_ids=position_ids)
            maps = attention_maps(self.model, self.tokenizer, variant, max_tokens=len(example.tokens))[0]
            if len(self._read) >= 8:
                self._read.pop(next(iter(self._read)))
            self._read[key] = torch.stack(maps.weights).float().cpu(), maps.queries
        return self._read[key]

    def _describe(self, variants: tuple[PositionVariant, ...], tokens: list[str]) -> State:
        """The state: three attention maps of the selected layer and head, with their measures."""
        own = variants[0]
        layers, heads = own.weights.shape[:2]
        back = previous_share(own.weights, own.position_ids)
        ahead = previous_share(own.weights, -own.position_ids)
        moved = total_variation(own.weights, variants[2].weights)
        finders = [_place("attends to the previous token", back.nan_to_num().argmax(), heads),
                   _place("attends to the next token", ahead.nan_to_num().argmax(), heads),
                   _place("depends least on positions", moved.argmin(), heads)]
        layer, head = (self.layer, self.head) if self.layer is not None else (finders[0]["layer"], finders[0]["head"])
        for name, value, count in (("layer", layer, layers), ("head", head, heads)):
            if value is not None and not 0 <= value < count:
                raise ValueError(f"the model has {count} {name}s, numbered from 0; {name} {value} was requested")

        def selected(maps: Weights) -> Float[Tensor, "query key"]:
            return maps[layer].mean(0) if head is None else maps[layer, head]

        maps = [selected(variant.weights) for variant in variants]
        drawn: list[Variant] = [{
            "title": variant.title,
            "position_ids": variant.position_ids.tolist(),
            "weights": [round(weight, 4) for weight in map.flatten().tolist()],
            "previous": _number(previous_share(map, own.position_ids)),
            "next": _number(previous_share(map, -own.position_ids)),
            "placed": _number(previous_share(map, variant.position_ids)),
            "moved": _number(total_variation(maps[0], map)),
        } for variant, map in zip(variants, maps, strict=True)]
        return {"axes": max(len(self.learned.get("axes", ())), 1), "layers": layers, "heads": heads, "layer": layer,
                "head": head, "tokens": tokens, "names": names_of(tokens), "variants": drawn, "finders": finders,
                "finding": _finding(layer, head, drawn)}


def _ours(model: Any, tokenizer: Any) -> tuple[nn.Module, Tokenizer]:
    """Convert a model and its tokenizer to plmlab's classes; MiniLM if both are None."""
    from plmlab.hf import convert, minilm
    from plmlab.hf.readable import is_theirs

    if model is None and tokenizer is None:
        return minilm()
    if model is None or tokenizer is None:
        raise ValueError("give both a model and its tokenizer, or neither for MiniLM")
    if is_theirs(model):
        model = convert(model)
    if readable(model).architecture == "encoder-decoder":
        raise ValueError(f"{type(model).__name__} is an encoder–decoder, which takes two texts; this lab has one: give "
                         "a BERT or a GPT")
    return model, as_ours(tokenizer)


def _single(example: AnyExample) -> Example:
    assert isinstance(example, Example)
    return example


def _name(model: object) -> str:
    return "MiniLM" if model is None else type(model).__name__


def _number(value: Tensor) -> float | None:
    """A value rounded for the page; None for NaN, which JSON does not support."""
    return None if value.isnan() else round(value.item(), 4)


def _place(title: str, index: Tensor, heads: int) -> Finder:
    layer, head = divmod(int(index), heads)
    return {"title": title, "layer": layer, "head": head}


def _finding(layer: int, head: int | None, drawn: Sequence[Mapping[str, Any]]) -> str:
    """The title above the three maps: how the selected head behaves, and how that changes without position
    information."""
    who = f"Layer {layer}, " + ("the mean of its heads" if head is None else f"head {head}")
    own, mixed, same = drawn
    for name in ("previous", "next"):
        if own[name] is not None and own[name] >= 0.3:
            return (f"{who}, attends to the {name} token with weight {own[name]:.2f}; "
                    f"{mixed[name]:.2f} with shuffled positions, {same[name]:.2f} without positions")
    return (f"{who}: {mixed['moved']:.0%} of the attention weight shifts to other tokens with shuffled positions, "
            f"{same['moved']:.0%} without positions")

