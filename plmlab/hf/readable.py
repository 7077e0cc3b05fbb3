"""Adapter that gives `plmlab.interpret` access to a model of ``transformers``: input format, size and forward pass."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch, Example, PairBatch, PairExample
from plmlab.models.architectures import ExampleOfText, require_second, require_single
from plmlab.objectives import causal, masked
from plmlab.objectives.layouts import mlm_input
from plmlab.text.tokenizers import Tokenizer
from plmlab.visibility import Visibility

DECODERS = ("gpt2", "openai-gpt")
"""Decoder-only types whose configuration has no ``is_decoder``."""
PADDING: dict[str, Callable[[Any], int]] = {"roberta": lambda config: config.pad_token_id, "mpnet": lambda config: 1}
"""Model types that skip padding tokens when they count positions, and start at the id of that token plus 1: type → a
function from the configuration to the id."""

PRETRAINING = ("BertForPreTraining", "AlbertForPreTraining")
"""Classes with several heads whose first output holds the masked-LM logits."""


class HFModel:
    """Wraps a model of ``transformers`` so that it can be called with our batches; it has the attributes of
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
        self.names_tokens = "MaskedLM" in name or "LMHead" in name or name in PRETRAINING

    def example(self, tokenizer: Any, text: str, second: str | None = None) -> Example | PairExample:
        """Build the model's input for a text, with the model's own tokenizer or one of ours."""
        if self.architecture == "decoder":
            require_single(second)
            return _decoded(tokenizer, text)
        if self.architecture == "encoder":
            return _encoded(tokenizer, text, second)
        source, target = _source(tokenizer, text), _decoded(tokenizer, require_second(second), self.start)
        return PairExample(source, target, Visibility.full(len(target.tokens), len(source.tokens)))

    def cloze_input(self, *given: Any) -> tuple[Example, list[int]]:
        """Build an encoder's input with [MASK] at the masked positions. Returns the input and the positions of the
        predictions. Raises ValueError for an XLNet, which was not trained with [MASK]."""
        if self.kind == "xlnet":
            raise ValueError(f"{type(self.model).__name__} predicts masked tokens with its query stream, not with "
                             "[MASK]; give our model, from_hf(model)[0]")
        return mlm_input(*given)

    def __call__(self, batch: Batch | PairBatch) -> Any:
        """Run the model on one of our batches. Returns the output of ``transformers``."""
        if isinstance(batch, PairBatch):
            return self.model(input_ids=batch.source.tokens, decoder_input_ids=batch.target.tokens)
        real = batch.visible.keys
        inputs = {"input_ids": batch.tokens}
        if real is not None:
            inputs["attention_mask"] = real.long()
        if self.two_segments:
            inputs["token_type_ids"] = batch.segments
        if self.first_position is not None:
            inputs["position_ids"] = batch.position_ids[:, 0].expand(batch.size) + self.first_position
        return self.model(**inputs)

    def logits(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """Logits at every position; they must be the model's first output."""
        return self(batch)[0]


def _encoded(tokenizer: Any, text: str, second: str | None) -> Example:
    """Build an encoder's input for one sentence or two."""
    if isinstance(tokenizer, Tokenizer):
        pair = tokenizer.encode(second) if second else ()
        return masked(tokenizer.encode(text), vocab=tokenizer.vocab, rng=Random(0), pair=pair, select=())
    encoding = tokenizer(text, second)
    ids, sequence_ids = encoding["input_ids"], encoding.sequence_ids(0)
    first = sequence_ids.index(1) if 1 in sequence_ids else len(ids)
    return _plain(ids, Visibility.full(len(ids)), first)


def _source(tokenizer: Any, text: str) -> Example:
    """Build the input of the encoder of an encoder–decoder."""
    if not isinstance(tokenizer, Tokenizer):
        return _encoded(tokenizer, text, None)
    ids = tokenizer.encode(text)
    return _plain(ids, Visibility.full(len(ids)))


def _decoded(tokenizer: Any, text: str, start: int | None = None) -> Example:
    """Build a decoder's input, which begins with the ``start`` token if there is one."""
    if isinstance(tokenizer, Tokenizer) and start is None:
        return causal(tokenizer.encode(text), vocab=tokenizer.vocab, rng=Random(0))
    ids = tokenizer.encode(text) if isinstance(tokenizer, Tokenizer) \
        else tokenizer(text, add_special_tokens=False)["input_ids"]
    inputs = [*([] if start is None else [start]), *ids]
    return _plain(inputs, Visibility.causal(len(inputs)))


def _plain(ids: Sequence[int], visible: Visibility, second: int | None = None) -> Example:
    """Build an Example without targets; sentence B begins at index ``second``."""
    tokens = torch.tensor(ids, dtype=torch.long)
    index = torch.arange(len(ids))
    segments = torch.zeros_like(tokens) if second is None else (index >= second).long()
    return Example(tokens, index[None], segments, visible, torch.full_like(tokens, IGNORE))


def is_theirs(model: nn.Module) -> bool:
    """Whether a model belongs to ``transformers``, i.e. its configuration has a ``model_type``."""
    return hasattr(getattr(model, "config", None), "model_type")
