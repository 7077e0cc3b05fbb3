"""Model architectures: the input format of each kind of model, and how a plain text is converted to an unmasked
input."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Literal, Protocol, TypeVar

from torch import Tensor

from plmlab.example import AnyExample, Batch, BidirectionalExample, Example, PairBatch, PairExample
from plmlab.objectives import bidirectional_lm, causal, sequence_to_sequence, window
from plmlab.objectives.layouts import ClozeInput, cls_first, cls_last, mlm_input, plm_input
from plmlab.text.vocabulary import Vocabulary

T = TypeVar("T")

REACH = 5
"""Radius of the context window (word2vec) when the input is a plain text."""

ExampleOfText = Callable[[Sequence[int], Sequence[int] | None, Vocabulary], AnyExample]
PairFormat = Callable[..., PairExample]
"""``pair(source, target, vocab=vocab)`` puts two texts into the format of an encoder–decoder."""


class InfillingDecoder(Protocol):
    """Interface for blank infilling: an `AutoregressiveModel` that generates the blanks of each text one after
    another."""

    @property
    def model(self) -> Any:
        """The model that generates the blanks."""

    @property
    def vocab(self) -> Vocabulary:
        """The vocabulary of the model."""

    @property
    def prompt(self) -> Tensor:
        """The [START] token of each text's first blank, [batch 1]."""

    def start(self) -> Any:
        """Encode the texts and return the initial decoding state, in which no blank has been started."""

    def step(self, tokens: Tensor, state: Any) -> Tensor:
        """Append ``tokens`` [batch time] to ``state`` and return the logits of the next token, [batch vocab+1].

        While blanks remain, the column of [START] holds the model's logit of [END], because the end of one blank starts
        the next. The model's own logit of [START] is in the last column.
        """

    def logprobs(self, fillings: Sequence[Sequence[Sequence[int]]]) -> Tensor:
        """Log-probability of each text's fillings, generated in its filling order, in nats, [batch]."""


@dataclass(frozen=True)
class Architecture:
    """The input format of a kind of model.

    Attributes:
        name: the kind of model.
        example: ``example(tokens, second, vocab)`` makes the Example of one text, or of two. Raises ValueError if the
            model takes a different number of texts.
        cloze_input: makes the input for predicting masked tokens; None if the model cannot predict them.
        masks: the name of each attention mask → ``example`` under that mask, if the model was pretrained with several.
        infiller: ``infiller(model, texts, vocab, orders)`` generates the blanks of texts token by token. None if the
            model cannot predict the length of a blank.
    """

    name: Literal["encoder", "decoder", "encoder-decoder", "recurrent", "two-way recurrent", "recurrent pair", "window"]
    example: ExampleOfText
    cloze_input: ClozeInput | None = None
    masks: Mapping[str, ExampleOfText] = field(default_factory=dict)
    infiller: Callable[..., InfillingDecoder] | None = None

    def source(self, texts: Iterable[Sequence[int]], vocab: Vocabulary) -> Batch:
        """The encoder's input of some texts, for a `ConditionedDecoder`; only for an encoder–decoder."""
        pairs: list[Any] = [self.example(text, (), vocab) for text in texts]
        return PairBatch.of(pairs, pad=vocab.need("pad")).source


def require_single(second: object, way: str = "from left to right") -> None:
    """Raise ValueError if a ``second`` text is given to a model that takes only one. ``way`` names the model's reading
    direction in the message."""
    if second is not None:
        raise ValueError(f"this model takes one text, read {way}, but two were given; omit the second text")


def require_second(second: T | None) -> T:
    """Return the second text of an encoder–decoder's input. Raises ValueError if there is none."""
    if second is None:
        raise ValueError("an encoder-decoder takes two texts, but one was given; give the decoder's text as the second")
    return second


def _decoder(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    require_single(second)
    return causal(tokens, vocab=vocab, rng=Random(0))


def _two_way(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> BidirectionalExample:
    require_single(second, "in both directions")
    return bidirectional_lm(tokens, vocab=vocab, rng=Random(0))


def _window(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    require_single(second, "word by word")
    return window(tokens, vocab=vocab, rng=Random(0), reach=[REACH] * len(tokens))


def encoder_decoder(pair: PairFormat, name: Literal["encoder-decoder", "recurrent pair"] = "encoder-decoder",
                    ) -> Architecture:
    """The architecture of an encoder–decoder with this format. Its ``example`` raises ValueError for a single text."""
    return Architecture(name, partial(_pair, pair))


def _pair(pair: PairFormat, tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> PairExample:
    return pair(tokens, require_second(second), vocab=vocab)


ENCODER = Architecture("encoder", cls_first, mlm_input)
"""[CLS] A [SEP], or [CLS] A [SEP] B [SEP], with full bidirectional attention (BERT)."""
XLNET_ENCODER = Architecture("encoder", cls_last, plm_input)
"""A [SEP] [CLS], or A [SEP] B [SEP] [CLS], with full bidirectional attention (XLNet)."""
DECODER = Architecture("decoder", _decoder)
"""[START] A, left to right, with causal attention (GPT)."""
RECURRENT = Architecture("recurrent", _decoder)
"""[START] A, left to right, with a recurrent state (a recurrent language model)."""
BIDIRECTIONAL_RECURRENT = Architecture("two-way recurrent", _two_way)
"""[START] A, left to right, and A [END], right to left, with one recurrent state per direction (ELMo)."""
WINDOW = Architecture("window", _window)
"""A, each token with the tokens in its context window, as a bag of words (word2vec)."""
ENCODER_DECODER = encoder_decoder(sequence_to_sequence)
"""A [END] for the encoder, [START] B for the decoder, which attends to the encoder's states (the Transformer)."""
RECURRENT_SEQ2SEQ = encoder_decoder(sequence_to_sequence, "recurrent pair")
"""A [END] and [START] B, connected only by the encoder's final state (seq2seq without attention)."""
