"""The attention maps of a model on a reader's text: ours, one of Hugging Face's, or an encoder-decoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch, Example, PairBatch, PairExample
from plmlab.interpret.ablation import attentions_of
from plmlab.interpret.readable import ReadableModel, Words, as_ours, in_one_pass, inference, readable
from plmlab.interpret.watching import ActivationRecord, watch
from plmlab.text.printable import printable
from plmlab.visibility import Visibility

Text: TypeAlias = "str | Example | PairExample | Batch | PairBatch"
INSTEAD = {"recurrent": "it carries a state from word to word",
           "two-way recurrent": "it carries a state from word to word, one from each end of the text",
           "recurrent pair": "all that its decoder has of the source is the encoder's last state",
           "window": "it has one vector for each word, whatever stands beside it"}
"""Architecture → what it has in attention's place."""


@dataclass(frozen=True)
class Map:
    """Who looks at whom, in every layer and head; ``visible`` is who may. ``second`` is where sentence B begins."""

    name: str
    queries: list[str]
    keys: list[str]
    weights: list[Float[Tensor, "head query key"]]
    visible: Visibility
    second: int | None = None


def attention_maps(model: nn.Module, words: Words, text: Text, second: str | None = None, *, mask: str = "",
                   max_tokens: int = 64) -> list[Map]:
    """Read a text and give the model's attention: one map, "self"; or those of an encoder-decoder that it has, of
    "encoder", "decoder" and "cross".

    ``words`` is the model's tokenizer (ours or of ``transformers``), or the tokens themselves where ``text`` is
    an Example or a Batch of one. ``second`` is sentence B of an encoder, or what an encoder-decoder's decoder
    reads. ``mask`` names one of the masks of a model that was pretrained under several: a text is read under it.
    ValueError: an empty text, one too long for the model or for ``max_tokens``, a tokenizer of another model, a mask
    that the model does not have.
    """
    reads = attention_model(model)
    given = _example(reads, words, text, second, mask) if isinstance(text, str) else text
    if isinstance(given, Example):
        given = in_one_pass(model, given)
    batch, visible = _batch(given), _visible(given)
    sides = [batch] if isinstance(batch, Batch) else [batch.source, batch.target]
    for side in sides:
        _fits(reads, side, max_tokens)
    with inference(model), watch(model, "*attention.weights") as seen:
        reads(batch.to(next(model.parameters()).device))
    names = [_names(words, side, place) for place, side in enumerate(sides)]

    weights = {name: [collect_calls(seen, f"{stem}.weights")[0] for stem in stems]
               for name, stems in attentions_of(seen).items()}
    if isinstance(batch, Batch):
        later = batch.segments[0].nonzero()
        return [Map("self", names[0], names[0], weights["self"], visible[0], int(later[0]) if len(later) else None)]
    source, target = names
    maps = [Map("encoder", source, source, weights["encoder"], visible[0]),
            Map("decoder", target, target, weights["decoder"], visible[1]),
            Map("cross", target, source, weights["cross"], visible[2])]
    return [one for one in maps if one.weights]


def collect_calls(seen: ActivationRecord, name: str) -> Float[Tensor, "batch head query _"]:
    """What passed a point of attention that has a row a query: of the whole text, where a decoder looks position by
    position."""
    return torch.cat(seen.calls(name), 2)


def attention_model(model: nn.Module) -> ReadableModel:
    """A model that has attention, as interpretation meets it; a ValueError says what another has instead."""
    reads = readable(model)
    if reads.architecture in INSTEAD:
        raise ValueError(f"a {type(model).__name__} has no attention to draw: {INSTEAD[reads.architecture]}")
    return reads


def _batch(given: Example | PairExample | Batch | PairBatch) -> Batch | PairBatch:
    if isinstance(given, Example):
        return Batch.of([given], pad=0)
    if isinstance(given, PairExample):
        return PairBatch.of([given], pad=0)
    if given.size[0] != 1:
        raise ValueError(f"a view draws one example, and the batch holds {given.size[0]}; give one of them")
    return given


def _visible(given: Example | PairExample | Batch | PairBatch) -> list[Visibility]:
    """Who may look at whom in each map. A batch has kept no reasons: it is causal, or all may look."""
    if isinstance(given, Example):
        return [given.visible]
    if isinstance(given, PairExample):
        return [given.source.visible, given.target.visible, given.cross]
    if isinstance(given, Batch):
        time = given.size[1]
        return [Visibility.causal(time) if given.visible.causal else Visibility.full(time)]
    source, target = given.source.size[1], given.target.size[1]
    return [*_visible(given.source), *_visible(given.target), Visibility.full(target, source)]


def _example(reads: ReadableModel, words: Words, text: str, second: str | None, mask: str) -> Example | PairExample:
    """What the model reads of a plain text, with nothing hidden from it."""
    for sentence in (text, second):
        if sentence is not None and not sentence.strip():
            raise ValueError("the text is empty: type a sentence")
    if isinstance(words, Sequence):
        raise ValueError("a text needs a tokenizer, and a list of tokens was given; give the model's tokenizer")
    if mask and mask not in reads.masks:
        there = f"its masks are {', '.join(reads.masks)}" if reads.masks else "it reads under one mask, its own"
        raise ValueError(f"this model was not pretrained under a mask {mask!r}; {there}")
    if mask:
        ours = as_ours(words)
        read = reads.masks[mask](ours.encode(text), None if second is None else ours.encode(second), ours.vocab)
    else:
        read = reads.example(words, text, second)
    assert isinstance(read, Example | PairExample)
    return read


def _fits(reads: ReadableModel, batch: Batch, max_tokens: int) -> None:
    """A ValueError where the model, or a page, cannot hold the text."""
    time, highest = batch.size[1], int(batch.tokens.max())
    if reads.max_positions is not None and time > reads.max_positions:
        raise ValueError(f"the text is {time} tokens long, and this model has {reads.max_positions} positions; shorten "
                         f"it")
    if time > max_tokens:
        raise ValueError(f"the text is {time} tokens long, and a view draws at most {max_tokens}, because it grows "
                         f"with the square; shorten the text, or give max_tokens={time}")
    if reads.vocab is not None and highest >= reads.vocab:
        raise ValueError(f"the text holds token {highest}, and this model knows {reads.vocab:,}: is the tokenizer that "
                         "of another model?")


def _names(words: Words, batch: Batch, place: int) -> list[str]:
    """A label for each token."""
    ids = batch.tokens[0].tolist()
    if isinstance(words, Sequence):
        names = [str(name) for name in (words if not words or isinstance(words[0], str) else words[place])]
    else:
        names = as_ours(words).tokens(ids)
    if len(names) != len(ids):
        raise ValueError(f"{len(names)} tokens were given for a text of {len(ids)}; they must agree")
    return [printable(name) for name in names]
