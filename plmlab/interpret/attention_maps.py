"""Attention maps of our models and those of Hugging Face, including encoder–decoders, on a given text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.batches import collate
from plmlab.candidates import LinkedBatch
from plmlab.example import Batch, Example, PairBatch, PairExample
from plmlab.interpret.ablation import TO_SPANS, attentions_of
from plmlab.interpret.entity_spans import span_names, with_candidates
from plmlab.interpret.readable import ReadableModel, Words, as_ours, in_one_pass, inference, readable
from plmlab.interpret.watching import ActivationRecord, watch
from plmlab.layers.hooks import hook_points
from plmlab.text.knowledge import KnowledgeBase
from plmlab.text.printable import printable
from plmlab.visibility import Visibility

Text: TypeAlias = "str | Example | PairExample | Batch | PairBatch"
INSTEAD = {"recurrent": "it carries a hidden state from word to word",
           "two-way recurrent": "it carries hidden states from word to word, forward and backward",
           "recurrent pair": "its decoder receives only the encoder's last state",
           "window": "it has one vector for each word, regardless of context"}
"""Architecture → what it has instead of attention."""
LINKED = "*linker.weights"
"""Hook points of the weights of each mention's candidate entities."""


@dataclass(frozen=True)
class Map:
    """Attention weights of every layer and head, and the attention mask ``visible``. ``second`` is the position at
    which sentence B starts."""

    name: str
    queries: list[str]
    keys: list[str]
    weights: list[Float[Tensor, "head query key"]]
    visible: Visibility
    second: int | None = None


def attention_maps(model: nn.Module, words: Words, text: Text, second: str | None = None, *, mask: str = "",
                   max_tokens: int = 64, knowledge: Sequence[KnowledgeBase] = ()) -> list[Map]:
    """Run a model on a text and return its attention: the map "self", or "encoder", "decoder" and "cross"; for a model
    with knowledge bases, "self" and for each of them the attention of the words to its entity-spans, "spans 1", ….

    Args:
        model: a model with attention; an encoder–decoder may lack some of the three maps.
        words: the model's tokenizer (ours or of ``transformers``), or the tokens if ``text`` is an Example or Batch.
        text: a text, an Example, or a Batch of one text.
        second: sentence B of an encoder, or the decoder's input of an encoder–decoder.
        mask: name of the attention mask, if the model was pretrained under several.
        max_tokens: the maximum text length in tokens.
        knowledge: the model's knowledge bases, in its order, which find the candidate mentions of a plain text and give
            their entities' names. Without them, no mention is found, and there is no map of entity-spans.

    Raises ValueError for an empty text, a text too long for the model or for ``max_tokens``, a tokenizer that does not
    belong to the model, a mask that the model does not have, or knowledge bases for a model without any.
    """
    reads = attention_model(model)
    given = _example(reads, words, text, second, mask) if isinstance(text, str) else text
    if knowledge and isinstance(text, str) and isinstance(given, Example):
        given = with_candidates(given, as_ours(words), text, second, knowledge)
    if isinstance(given, Example):
        given = in_one_pass(model, given)
    batch, visible = _batch(given), _visible(given)
    sides = [batch] if isinstance(batch, Batch) else [batch.source, batch.target]
    for side in sides:
        _fits(reads, side, max_tokens)
    if knowledge and not any(name.endswith(TO_SPANS) for name in hook_points(model)):
        raise ValueError(f"a {type(model).__name__} has no attention to entity-spans: omit the knowledge bases")
    patterns = "*attention.weights", *([f"*{TO_SPANS}", LINKED] if knowledge else [])
    with inference(model), watch(model, *patterns) as seen:
        reads(batch.to(next(model.parameters()).device))
    names = [_names(words, side, i) for i, side in enumerate(sides)]

    weights = {name: [collect_calls(seen, f"{stem}.weights")[0] for stem in stems]
               for name, stems in attentions_of(seen).items()}
    if isinstance(batch, Batch):
        later = batch.segments[0].nonzero()
        own = Map("self", names[0], names[0], weights["self"], visible[0], int(later[0]) if len(later) else None)
        linked = batch.mentions if isinstance(batch, LinkedBatch) and knowledge else ()
        return [own, *(_span_map(f"spans {number}", names[0], span_names(names[0], *each), weights)
                       for number, each in enumerate(zip(linked, seen.matching(LINKED), knowledge, strict=False), 1))]
    source, target = names
    maps = [Map("encoder", source, source, weights["encoder"], visible[0]),
            Map("decoder", target, target, weights["decoder"], visible[1]),
            Map("cross", target, source, weights["cross"], visible[2])]
    return [attention for attention in maps if attention.weights]


def _span_map(name: str, words: list[str], spans: list[str], weights: Mapping[str, list[Tensor]]) -> Map:
    """The attention of the words to the entity-spans of one knowledge base; it has no keys if there is no mention."""
    visible = Visibility.full(len(words), len(spans), name="words over entity-spans",
                              why="every word attends to every candidate mention of the text.")
    return Map(name, words, spans, [layer[..., :len(spans)] for layer in weights[name]], visible)


def collect_calls(seen: ActivationRecord, name: str) -> Float[Tensor, "batch head query _"]:
    """Concatenate all calls of an attention hook point along the queries; a decoder may process one position per
    call."""
    return torch.cat(seen.calls(name), 2)


def attention_model(model: nn.Module) -> ReadableModel:
    """Wrap a model with `readable`. Raises ValueError if the model has no attention; the message says what it has
    instead."""
    reads = readable(model)
    if reads.architecture in INSTEAD:
        raise ValueError(f"a {type(model).__name__} has no attention to show: {INSTEAD[reads.architecture]}")
    return reads


def _batch(given: Example | PairExample | Batch | PairBatch) -> Batch | PairBatch:
    if isinstance(given, Example | PairExample):
        return collate([given], 0)  # type: ignore[return-value, arg-type]
    if given.size[0] != 1:
        raise ValueError(f"the batch holds {given.size[0]} examples, but only one can be shown; give a batch of one")
    return given


def _visible(given: Example | PairExample | Batch | PairBatch) -> list[Visibility]:
    """The attention mask of each map. A batch does not store the reasons of a mask, so its mask is shown as causal or
    full."""
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
    """Build the model's unmasked input for a plain text."""
    for sentence in (text, second):
        if sentence is not None and not sentence.strip():
            raise ValueError("the text is empty: type a sentence")
    if isinstance(words, Sequence):
        raise ValueError("a plain text needs the model's tokenizer, not a list of tokens")
    if mask and mask not in reads.masks:
        available = f"its masks are {', '.join(reads.masks)}" if reads.masks else "it has only one"
        raise ValueError(f"this model was not pretrained under a mask {mask!r}; {available}")
    if mask:
        ours = as_ours(words)
        example = reads.masks[mask](ours.encode(text), None if second is None else ours.encode(second), ours.vocab)
    else:
        example = reads.example(words, text, second)
    assert isinstance(example, Example | PairExample)
    return example


def _fits(reads: ReadableModel, batch: Batch, max_tokens: int) -> None:
    """Raise ValueError if the text is too long for the model or for ``max_tokens``, or has unknown token ids."""
    time, highest = batch.size[1], int(batch.tokens.max())
    if reads.max_positions is not None and time > reads.max_positions:
        raise ValueError(f"the text is {time} tokens long, and this model has {reads.max_positions} positions; shorten "
                         f"it")
    if time > max_tokens:
        raise ValueError(f"the text is {time} tokens long, and a view shows at most {max_tokens}, because its size is "
                         f"quadratic; shorten the text, or give max_tokens={time}")
    if reads.vocab is not None and highest >= reads.vocab:
        raise ValueError(f"the text has token id {highest}, but the model has only {reads.vocab:,} tokens: does "
                         "the tokenizer belong to another model?")


def _names(words: Words, batch: Batch, side: int) -> list[str]:
    """A label for each token."""
    ids = batch.tokens[0].tolist()
    if isinstance(words, Sequence):
        names = [str(name) for name in (words if not words or isinstance(words[0], str) else words[side])]
    else:
        names = as_ours(words).tokens(ids)
    if len(names) != len(ids):
        raise ValueError(f"got {len(names)} token names for a text of {len(ids)} tokens; give one per token")
    return [printable(name) for name in names]
