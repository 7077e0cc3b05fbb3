"""What a model reads and writes, and how a plain text becomes what it reads, with nothing hidden from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeVar

from plmlab.example import Example, PairExample
from plmlab.objectives import causal, masked, sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary

T = TypeVar("T")

ExampleOfText = Callable[[Sequence[int], Sequence[int] | None, Vocabulary], Example | PairExample]


@dataclass(frozen=True)
class Architecture:
    """A kind of model. ``example(tokens, second, vocab)`` is what it reads of a text, or of two; a ValueError where it
    reads another number of texts."""

    name: Literal["encoder", "decoder", "encoder-decoder", "recurrent"]
    example: ExampleOfText


def _encoder(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    return masked(tokens, pair=second or (), vocab=vocab, rng=Random(0), select=())


def only_one(second: object) -> None:
    """A ValueError where a decoder is given two texts."""
    if second is not None:
        raise ValueError("this model reads one text from left to right, and two were given; leave the second away")


def needed(second: T | None) -> T:
    """The second of two texts; a ValueError where an encoder-decoder is given one."""
    if second is None:
        raise ValueError("an encoder-decoder reads two texts: give the second, which its decoder reads")
    return second


def _decoder(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    only_one(second)
    return causal(tokens, vocab=vocab, rng=Random(0))


def _encoder_decoder(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> PairExample:
    return sequence_to_sequence(tokens, needed(second), vocab=vocab)


ENCODER = Architecture("encoder", _encoder)
"""[CLS] A [SEP], or [CLS] A [SEP] B [SEP]; everyone sees everyone (BERT)."""
DECODER = Architecture("decoder", _decoder)
"""[START] A, from left to right, by attention (GPT)."""
RECURRENT = Architecture("recurrent", _decoder)
"""[START] A, from left to right, by a state that is carried along (a recurrent language model)."""
ENCODER_DECODER = Architecture("encoder-decoder", _encoder_decoder)
"""A [END] to the encoder, [START] B to the decoder (the Transformer)."""
