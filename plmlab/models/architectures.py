"""What a model reads and writes, and how a plain text becomes what it reads, with nothing hidden from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, Protocol, TypeVar

from torch import Tensor

from plmlab.example import AnyExample, BidirectionalExample, Example, PairExample
from plmlab.objectives import bidirectional_lm, causal, sequence_to_sequence, window
from plmlab.objectives.layouts import ClozeInput, cls_first, cls_last, mlm_input, plm_input
from plmlab.text.vocabulary import Vocabulary

T = TypeVar("T")

REACH = 5
"""How far a model of a window looks in a plain text."""

ExampleOfText = Callable[[Sequence[int], Sequence[int] | None, Vocabulary], AnyExample]


class InfillingDecoder(Protocol):
    """Who fills the blanks of some texts, one after the other: an `AutoregressiveModel` of what stands in them."""

    @property
    def model(self) -> Any:
        """The model."""

    @property
    def vocab(self) -> Vocabulary:
        """Its vocabulary."""

    @property
    def prompt(self) -> Tensor:
        """[START] of the first blank of each text, [batch 1]."""

    def start(self) -> Any:
        """The texts read, no blank begun."""

    def step(self, tokens: Tensor, state: Any) -> Tensor:
        """Read ``tokens`` [batch time] after what ``state`` holds, and give the logits of the next, [batch vocab+1].

        While blanks are left, [END] of one is named [START] of the next; what [START] has itself is the last column.
        """

    def logprobs(self, fillings: Sequence[Sequence[Sequence[int]]]) -> Tensor:
        """For each text log p(fillings, in its order), in nats, [batch]."""


@dataclass(frozen=True)
class Architecture:
    """A kind of model. ``example(tokens, second, vocab)`` is what it reads of a text, or of two; a ValueError where it
    reads another number of texts. ``gaps`` is how it is asked for hidden words; None where it can't be. ``masks``: of a
    model that was pretrained under several, the name of each → what is read of a text under it. ``filler(model, texts,
    vocab, orders)`` fills the blanks of texts word by word; None where a model cannot say how long a blank is."""

    name: Literal["encoder", "decoder", "encoder-decoder", "recurrent", "two-way recurrent", "recurrent pair", "window"]
    example: ExampleOfText
    gaps: ClozeInput | None = None
    masks: Mapping[str, ExampleOfText] = field(default_factory=dict)
    filler: Callable[..., InfillingDecoder] | None = None


def only_one(second: object, way: str = "from left to right") -> None:
    """A ValueError where a model that reads one text is given two; ``way`` is how it reads it."""
    if second is not None:
        raise ValueError(f"this model reads one text {way}, and two were given; leave the second away")


def needed(second: T | None) -> T:
    """The second of two texts; a ValueError where an encoder-decoder is given one."""
    if second is None:
        raise ValueError("an encoder-decoder reads two texts: give the second, which its decoder reads")
    return second


def _decoder(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    only_one(second)
    return causal(tokens, vocab=vocab, rng=Random(0))


def _two_way(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> BidirectionalExample:
    only_one(second, "from both ends")
    return bidirectional_lm(tokens, vocab=vocab, rng=Random(0))


def _window(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    only_one(second, "word by word")
    return window(tokens, vocab=vocab, rng=Random(0), reach=[REACH] * len(tokens))


def _encoder_decoder(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> PairExample:
    return sequence_to_sequence(tokens, needed(second), vocab=vocab)


ENCODER = Architecture("encoder", cls_first, mlm_input)
"""[CLS] A [SEP], or [CLS] A [SEP] B [SEP]; everyone sees everyone (BERT)."""
XLNET_ENCODER = Architecture("encoder", cls_last, plm_input)
"""A [SEP] [CLS], or A [SEP] B [SEP] [CLS]; everyone sees everyone (XLNet)."""
DECODER = Architecture("decoder", _decoder)
"""[START] A, from left to right, by attention (GPT)."""
RECURRENT = Architecture("recurrent", _decoder)
"""[START] A, from left to right, by a state that is carried along (a recurrent language model)."""
BIDIRECTIONAL_RECURRENT = Architecture("two-way recurrent", _two_way)
"""[START] A, from left to right, and A [END], from right to left, by a state each (ELMo)."""
WINDOW = Architecture("window", _window)
"""A, each position with its neighbours, in no order (word2vec)."""
ENCODER_DECODER = Architecture("encoder-decoder", _encoder_decoder)
"""A [END] to the encoder, [START] B to the decoder, which looks at the encoder's positions (the Transformer)."""
RECURRENT_SEQ2SEQ = Architecture("recurrent pair", _encoder_decoder)
"""The same two texts, and nothing but a state between them (seq2seq without attention)."""
