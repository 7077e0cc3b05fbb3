"""The question of the Permutation Lab with its answer, and the probabilities that reveal target leakage."""

from collections.abc import Sequence

import torch
from torch import nn

from plmlab.example import Batch
from plmlab.labs.permutation.orders import Step
from plmlab.labs.permutation.reading import example, surprisals
from plmlab.text.vocabulary import Vocabulary

QUESTION = "How many words can the query stream of the last word of the order attend to, and on which side are they?"
TRIED = 20
"""Number of words substituted for the first word of the order."""


def answer(last: Step, words: Sequence[str], leaking: bool) -> str:
    """The answer to `QUESTION`, given the ``last`` step and the words of the sentence."""
    count = len(last.left) + len(last.right)
    name = f"“{words[last.place]}”"
    sees = f"{name} is the only word, and its query stream sees none" if not count else \
        f"All {count} others, each at its own position: {len(last.left)} on the left of {name} and " \
        f"{len(last.right)} on its right" if count > 1 else \
        f"The only other word, on the {'left' if last.left else 'right'} of {name}"
    itself = "With the switch on, it also sees its own word: that is the leak." if leaking else \
        "Unlike the content stream, it does not see its own word; but it does know its own position."
    return f"{sees}; in addition, [SEP] and [CLS]. {itself}"


def some(words: Sequence[int]) -> list[int]:
    """At most 20 of the words, evenly spaced."""
    return list(words[::max(1, -(-len(words) // TRIED))])


def own_chances(model: nn.Module, ids: Sequence[int], order: Sequence[int], words: Sequence[int], vocab: Vocabulary, *,
                leaking: bool) -> list[float]:
    """Substitute each of the ``words`` for the word that is first in the order; return the probability that the model
    assigns to it there.

    A model without target leakage makes the same prediction every time, so these probabilities add up to at most 1.
    """
    place = order[0]
    examples = [example([*ids[:place], word, *ids[place + 1:]], order, vocab, leak=leaking) for word in words]
    nats = surprisals(model, Batch.of(examples, pad=vocab.need("pad")))[:, place]
    return torch.exp(-nats.double()).tolist()
