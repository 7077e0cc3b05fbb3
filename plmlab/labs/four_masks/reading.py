"""One sentence with one hidden word, read by one network under each of UniLM's four masks."""

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
"""What stands in a position, the same under every mask: a word of the sentence, counted from 0, or one of these."""
BEGIN, CUT, END = "begin", "cut", "end"


@dataclass(frozen=True)
class Reading:
    """What is read under one mask: the Example, what stands in each of its positions, and the position of the gap."""

    example: Example
    places: tuple[Place, ...]
    position: int


def readings(ids: Sequence[int], gap: int, cut: int, vocab: Vocabulary) -> dict[str, Reading]:
    """The name of each mask → what is read under it, with [MASK] in place of the word ``gap``. The first ``cut`` words
    are the source where a mask knows such a thing."""
    found = {}
    for name, make in MASKS.items():
        source, target = (ids[:cut], ids[cut:]) if make is prefix else (ids, ())
        words = list[Place](range(len(ids)))
        places = (BEGIN, *words[:cut], CUT, *words[cut:], END) if make is prefix else (BEGIN, *words, END)
        position = places.index(gap)
        example = make(source, pair=target, vocab=vocab, rng=Random(0), select=[position], corrupt=always_mask)
        found[name] = Reading(example, places, position)
    return found


def said(model: nn.Module, asked: Sequence[Reading], pad: int) -> list[Distribution]:
    """What a model believes of the gap in each reading, in one forward pass."""
    batch = Batch.of([reading.example for reading in asked], pad=pad).to(next(model.parameters()).device)
    with inference(model):
        logits = readable(model).logits(batch)
        return [logits[row, reading.position].double().softmax(-1).cpu() for row, reading in enumerate(asked)]


def checked_size(model: nn.Module, tokenizer: Tokenizer) -> int:
    """How many tokens the model chooses among; a ValueError where it does not read under the four masks, has no head
    that names tokens, or the tokenizer is another's."""
    reads, kind = readable(model), type(model).__name__
    if not set(MASKS) <= set(reads.masks):
        raise ValueError(f"a {kind} does not read under the four masks ({', '.join(MASKS)}); give a UniLMPretraining")
    if not reads.names_tokens or reads.vocab is None:
        raise ValueError(f"a {kind} has no head that names a hidden word; give a UniLMPretraining")
    return checked_vocabulary(tokenizer, reads.vocab)
