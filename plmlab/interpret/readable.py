"""A model as interpretation meets it, ours or one of ``transformers``: how it reads a text, its size, one pass."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from plmlab.example import AnyBatch, AnyExample, Batch, Example
from plmlab.hf.readable import HFModel, is_theirs
from plmlab.models.architectures import ExampleOfText
from plmlab.models.registry import architecture_of
from plmlab.text.tokenizers import Tokenizer
from plmlab.visibility import AttentionMask

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

AnyTokenizer: TypeAlias = "Tokenizer | PreTrainedTokenizerBase"
Words: TypeAlias = "AnyTokenizer | Sequence[str] | Sequence[Sequence[str]]"
"""A model's tokenizer, or the tokens themselves, one list a side."""


class OurModel:
    """A model of plmlab. A ValueError where it is asked how it reads a text, and its class is not registered.

    Attributes:
        positions: how many positions it can read; None where nothing limits it.
        vocab: how many tokens it knows; None where that is not told.
        names_tokens: whether it gives logits over the vocabulary, for each position of what it reads.
        scaled: whether its attention divides scores by √d_k.
    """

    scaled = True

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        config = getattr(model, "config", None)
        self.max_positions, self.vocab = getattr(config, "time", None), getattr(config, "vocab", None)
        self.names_tokens = hasattr(model, "token_logits")

    @property
    def architecture(self) -> str:
        """"encoder", "decoder" or "encoder-decoder", as the model's file registers it."""
        return architecture_of(self.model).name

    @property
    def masks(self) -> Mapping[str, ExampleOfText]:
        """Of a model that was pretrained under several masks, the name of each → what is read of a text under it."""
        return architecture_of(self.model).masks

    def example(self, tokenizer: AnyTokenizer, text: str, second: str | None = None) -> AnyExample:
        """What the model reads of a text, or of two, with nothing hidden, as its file registers it; ValueError where it
        reads another number."""
        words = as_ours(tokenizer)
        return architecture_of(self.model).example(
            words.encode(text), None if second is None else words.encode(second), words.vocab)

    def gaps(self, *given: Any) -> tuple[Example, list[int]]:
        """What an encoder reads of a text with gaps, and the positions in which they are said: as
        ``plmlab.objectives.layouts.ClozeInput``. ValueError for a model that can't be asked."""
        made = architecture_of(self.model).gaps
        if made is None:
            raise ValueError(f"a {type(self.model).__name__} can't be asked for hidden words; give an encoder")
        return made(*given)

    def __call__(self, batch: AnyBatch) -> Any:
        """One pass over a batch on the model's device: the model's own output."""
        return self.model(batch)

    def logits(self, batch: Batch) -> Tensor:
        """[batch time vocab], of a model that ``names_tokens``."""
        return self.model(batch)


ReadableModel: TypeAlias = OurModel | HFModel


def readable(model: nn.Module) -> ReadableModel:
    """A model of plmlab or of ``transformers`` as interpretation meets it."""
    return HFModel(model) if is_theirs(model) else OurModel(model)


def as_ours(tokenizer: Any) -> Tokenizer:
    """A tokenizer of ours, made of one of ``transformers`` where need be."""
    return tokenizer if isinstance(tokenizer, Tokenizer) else Tokenizer.from_hf(tokenizer)


Given = TypeVar("Given", Example, Batch)


def in_one_pass(model: nn.Module, given: Given) -> Given:
    """A text as a model must be given it so that one pass shows all of it. One that reads segment by segment (it has a
    ``visibility``) gets the mask that this comes to, which leaves all numbers as they are. Of other models, and of a
    text with a mask of its own, nothing changes."""
    visibility = getattr(model, "visibility", None)
    plain = given.visible.pattern == "causal" if isinstance(given, Example) else given.visible.only_causal
    if visibility is None or not plain:
        return given
    visible = visibility(given.tokens.shape[-1])
    return replace(given, visible=visible if isinstance(given, Example) else AttentionMask.of([visible]))


@contextmanager
def inference(model: nn.Module) -> Iterator[None]:
    """No dropout and no gradients; afterwards the model is in the mode it was in."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)
