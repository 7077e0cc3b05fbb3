"""One sentence with one masked word, encoded for each of UniLM's four masks."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from torch import nn

from plmlab.example import Batch, Example
from plmlab.interpret.readable import inference, readable
from plmlab.labs.shared.tokens import checked_vocabulary
from plmlab.objectives.masked import always_mask
from plmlab.objectives.prefix import MASKS, prefix
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.datasets.bayes_optimal import Distribution

Place: TypeAlias = int | str
"""A place that is the same under every mask: the index of a word, or one of these special tokens."""
BEGIN, CUT, END = "begin", "cut", "end"


@dataclass(frozen=True)
class Reading:
    """The input under one mask: the Example, the place of each of its positions in the sentence, and the masked
    position."""

    example: Example
    places: tuple[Place, ...]
    position: int


def readings(ids: Sequence[int], gap: int, cut: int, vocab: Vocabulary) -> dict[str, Reading]:
    """Map the name of each mask to the input under it, with the word at index ``gap`` masked. In the
    sequence-to-sequence input, the first ``cut`` words are the source."""
    inputs = {}
    for name, make in MASKS.items():
        source, target = (ids[:cut], ids[cut:]) if make is prefix else (ids, ())
        words = list[Place](range(len(ids)))
        places = (BEGIN, *words[:cut], CUT, *words[cut:], END) if make is prefix else (BEGIN, *words, END)
        position = places.index(gap)
        example = make(source, pair=target, vocab=vocab, rng=Random(0), select=[position], corrupt=always_mask)
        inputs[name] = Reading(example, places, position)
    return inputs


def said(model: nn.Module, inputs: Sequence[Reading], pad: int) -> list[Distribution]:
    """The model's prediction for the masked word in each input, in one forward pass."""
    batch = Batch.of([reading.example for reading in inputs], pad=pad).to(next(model.parameters()).device)
    with inference(model):
        logits = readable(model).logits(batch)
        return [logits[row, reading.position].double().softmax(-1).cpu() for row, reading in enumerate(inputs)]


def checked_size(model: nn.Module, tokenizer: Tokenizer) -> int:
    """The model's vocabulary size. Raises ValueError if the model was not pretrained under the four masks or has no
    masked-language-model head, or if the tokenizer belongs to another model."""
    reads, kind = readable(model), type(model).__name__
    if not set(MASKS) <= set(reads.masks):
        raise ValueError(f"a {kind} is not pretrained under the masks {', '.join(MASKS)}; give a UniLMPretraining")
    if not reads.names_tokens or reads.vocab is None:
        raise ValueError(f"a {kind} has no masked-language-model head; give a UniLMPretraining")
    return checked_vocabulary(tokenizer, reads.vocab)
