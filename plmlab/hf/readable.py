"""A model of ``transformers`` as `plmlab.interpret` meets one: how it reads a text, its size, one pass."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch, Example, PairBatch, PairExample
from plmlab.models.architectures import ExampleOfText, needed, only_one
from plmlab.objectives import causal, masked
from plmlab.objectives.layouts import mlm_input
from plmlab.text.tokenizers import Tokenizer
from plmlab.visibility import Visibility

DECODERS = ("gpt2", "openai-gpt")
"""Decoders whose configuration does not say so."""
PADDING: dict[str, Callable[[Any], int]] = {"roberta": lambda config: config.pad_token_id, "mpnet": lambda config: 1}
"""Of a model type that takes a token for padding wherever it stands, and counts positions past it, from the one behind
its id: that id, by the configuration."""


class HFModel:
    """A model of ``transformers``, called with our batches; its attributes are those of
    ``plmlab.interpret.readable.OurModel``."""

    def __init__(self, model: Any) -> None:
        self.model, config = model, model.config
        self.kind: str = config.model_type
        self.two_segments = getattr(config, "type_vocab_size", 1) > 1
        self.start: int | None = getattr(config, "decoder_start_token_id", None)
        positions = getattr(config, "max_position_embeddings", None)
        self.first_position = PADDING[self.kind](config) + 1 if self.kind in PADDING else None
        self.max_positions = None if positions is None else positions - (self.first_position or 0)
        self.vocab: int | None = getattr(config, "vocab_size", None)
        self.scaled = self.kind != "t5"
        self.masks: dict[str, ExampleOfText] = {}
        self.architecture = "encoder"
        if getattr(config, "is_encoder_decoder", False):
            self.architecture = "encoder-decoder"
        elif getattr(config, "is_decoder", False) or self.kind in DECODERS:
            self.architecture = "decoder"
        name = type(model).__name__
        self.names_tokens = "MaskedLM" in name or "LMHead" in name or name == "BertForPreTraining"

    def example(self, tokenizer: Any, text: str, second: str | None = None) -> Example | PairExample:
        """What the model reads of a text, by its own tokenizer or by one of ours."""
        if self.architecture == "decoder":
            only_one(second)
            return _decoded(tokenizer, text)
        if self.architecture == "encoder":
            return _encoded(tokenizer, text, second)
        source, target = _source(tokenizer, text), _decoded(tokenizer, needed(second), self.start)
        return PairExample(source, target, Visibility.full(len(target.tokens), len(source.tokens)))

    def gaps(self, *given: Any) -> tuple[Example, list[int]]:
        """What an encoder reads of a text with gaps, [MASK] in each, and the positions in which they are said.
        ValueError for an XLNet, which knows no [MASK]."""
        if self.kind == "xlnet":
            raise ValueError(f"a {type(self.model).__name__} is asked for hidden words by its query stream, not by "
                             "[MASK]; give plmlab's, from_hf(model)[0]")
        return mlm_input(*given)

    def __call__(self, batch: Batch | PairBatch) -> Any:
        """The model's output, as ``transformers`` gives it, for one of our batches."""
        if isinstance(batch, PairBatch):
            return self.model(input_ids=batch.source.tokens, decoder_input_ids=batch.target.tokens)
        real = batch.visible.keys
        asked = {"input_ids": batch.tokens}
        if real is not None:
            asked["attention_mask"] = real.long()
        if self.two_segments:
            asked["token_type_ids"] = batch.segments
        if self.first_position is not None:
            asked["position_ids"] = batch.position_ids[:, 0].expand(batch.size) + self.first_position
        return self.model(**asked)

    def logits(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """The logits of each position, of a model whose output begins with these."""
        return self(batch)[0]


def _encoded(tokenizer: Any, text: str, second: str | None) -> Example:
    """An encoder's input, one sentence or two."""
    if isinstance(tokenizer, Tokenizer):
        pair = tokenizer.encode(second) if second else ()
        return masked(tokenizer.encode(text), vocab=tokenizer.vocab, rng=Random(0), pair=pair, select=())
    read = tokenizer(text, second)
    ids, sides = read["input_ids"], read.sequence_ids(0)
    first = sides.index(1) if 1 in sides else len(ids)
    return _plain(ids, Visibility.full(len(ids)), first)


def _source(tokenizer: Any, text: str) -> Example:
    """What the encoder of an encoder-decoder reads."""
    if not isinstance(tokenizer, Tokenizer):
        return _encoded(tokenizer, text, None)
    ids = tokenizer.encode(text)
    return _plain(ids, Visibility.full(len(ids)))


def _decoded(tokenizer: Any, text: str, start: int | None = None) -> Example:
    """A decoder's input, behind its start token where it has one."""
    if isinstance(tokenizer, Tokenizer) and start is None:
        return causal(tokenizer.encode(text), vocab=tokenizer.vocab, rng=Random(0))
    ids = tokenizer.encode(text) if isinstance(tokenizer, Tokenizer) \
        else tokenizer(text, add_special_tokens=False)["input_ids"]
    read = [*([] if start is None else [start]), *ids]
    return _plain(read, Visibility.causal(len(read)))


def _plain(ids: Sequence[int], visible: Visibility, second: int | None = None) -> Example:
    """Tokens with nothing to predict; sentence B begins at position ``second``."""
    tokens = torch.tensor(ids, dtype=torch.long)
    place = torch.arange(len(ids))
    segments = torch.zeros_like(tokens) if second is None else (place >= second).long()
    return Example(tokens, place[None], segments, visible, torch.full_like(tokens, IGNORE))


def is_theirs(model: nn.Module) -> bool:
    """Whether a model is one of ``transformers``: its configuration names a ``model_type``."""
    return hasattr(getattr(model, "config", None), "model_type")
