"""A common interface to our models and those of ``transformers``: input format, sizes, forward pass."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from plmlab.example import AnyBatch, AnyExample, Batch, Example
from plmlab.hf.readable import HFModel, is_theirs
from plmlab.layers.positions import LearnedPositions
from plmlab.models.architectures import ExampleOfText
from plmlab.models.registry import architecture_of
from plmlab.text.tokenizers import Tokenizer
from plmlab.visibility import AttentionMask

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

AnyTokenizer: TypeAlias = "Tokenizer | PreTrainedTokenizerBase"
Words: TypeAlias = "AnyTokenizer | Sequence[str] | Sequence[Sequence[str]]"
"""A model's tokenizer, or the tokens themselves, one list per side (encoder and decoder)."""


class OurModel:
    """Wraps a plmlab model. Methods that need the model's input format raise ValueError if its class is not registered.

    Attributes:
        max_positions: maximum input length; None if unlimited, as in a model without learned positions.
        vocab: vocabulary size; None if unknown.
        names_tokens: whether the model returns logits over the vocabulary for each position.
        scaled: whether its attention divides scores by √d_k.
    """

    scaled = True

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        config = getattr(model, "config", None)
        is_limited = any(isinstance(module, LearnedPositions) for module in model.modules())
        self.max_positions = getattr(config, "time", None) if is_limited else None
        self.vocab = getattr(config, "vocab", None)
        self.names_tokens = hasattr(model, "token_logits")

    @property
    def architecture(self) -> str:
        """The registered architecture, such as "encoder", "decoder" or "encoder-decoder"."""
        return architecture_of(self.model).name

    @property
    def masks(self) -> Mapping[str, ExampleOfText]:
        """Attention mask name → input format, for a model pretrained under several masks."""
        return architecture_of(self.model).masks

    def example(self, tokenizer: AnyTokenizer, text: str, second: str | None = None) -> AnyExample:
        """Build the model's unmasked input for one or two texts. Raises ValueError if the model takes another number of
        texts."""
        words = as_ours(tokenizer)
        return architecture_of(self.model).example(
            words.encode(text), None if second is None else words.encode(second), words.vocab)

    def cloze_input(self, *args: Any) -> tuple[Example, list[int]]:
        """Build an encoder's input with masked tokens, and the positions of the predictions; see
        ``plmlab.objectives.layouts.ClozeInput``. Raises ValueError if the model does not predict masked tokens."""
        layout = architecture_of(self.model).cloze_input
        if layout is None:
            raise ValueError(f"a {type(self.model).__name__} cannot predict masked tokens; give an encoder")
        return layout(*args)

    def __call__(self, batch: AnyBatch) -> Any:
        """Run the model on a batch, which must be on its device; returns the model's own output."""
        return self.model(batch)

    def logits(self, batch: Batch) -> Tensor:
        """Logits, [batch time vocab], of a model with ``names_tokens``."""
        return self.model(batch)


ReadableModel: TypeAlias = OurModel | HFModel


def readable(model: nn.Module) -> ReadableModel:
    """Wrap a model of plmlab or of ``transformers`` in the common interface."""
    return HFModel(model) if is_theirs(model) else OurModel(model)


def as_ours(tokenizer: Any) -> Tokenizer:
    """Convert a tokenizer of ``transformers`` to ours; one of ours is returned unchanged."""
    return tokenizer if isinstance(tokenizer, Tokenizer) else Tokenizer.from_hf(tokenizer)


Given = TypeVar("Given", Example, Batch)


def in_one_pass(model: nn.Module, given: Given) -> Given:
    """Convert a causal text so that a segment-level recurrent model processes it in one forward pass.

    A model that processes segments one by one (it has a ``visibility``) gets the equivalent attention mask, which
    leaves all results unchanged. For other models, and for texts with another mask, nothing changes.
    """
    visibility = getattr(model, "visibility", None)
    is_causal = given.visible.pattern == "causal" if isinstance(given, Example) else given.visible.only_causal
    if visibility is None or not is_causal:
        return given
    visible = visibility(given.tokens.shape[-1])
    return replace(given, visible=visible if isinstance(given, Example) else AttentionMask.of([visible]))


@contextmanager
def inference(model: nn.Module) -> Iterator[None]:
    """Context manager for evaluation mode without gradients; the model's mode is restored on exit."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)
