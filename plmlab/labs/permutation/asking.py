"""What is to be guessed before one looks, and the proof that a leak is no knowledge."""

from collections.abc import Sequence

import torch
from torch import nn

from plmlab.example import Batch
from plmlab.labs.permutation.orders import Step
from plmlab.labs.permutation.reading import example, surprisals
from plmlab.text.vocabulary import Vocabulary

QUESTION = "The last word of the order: how many words does its query stream see, and on which side?"
TRIED = 20
"""So many words are put in turn where the first word of the order stands."""


def answer(last: Step, words: Sequence[str], leaking: bool) -> str:
    """The answer to `QUESTION`: ``last`` is the last step, ``words`` are what stands at each place."""
    count = len(last.left) + len(last.right)
    name = f"“{words[last.place]}”"
    sees = f"{name} is the only word, and its query stream sees none" if not count else \
        f"All {count} others, each at its own place: {len(last.left)} on the left of {name} and {len(last.right)} on " \
        "its right" if count > 1 else f"The one other, on the {'left' if last.left else 'right'} of {name}"
    itself = "Here, with the switch on, it sees its own word too: that is the leak." if leaking else \
        "It does not see its own word, which its content stream does; it does know its own place."
    return f"{sees}; besides, [SEP] and [CLS]. {itself}"


def some(words: Sequence[int]) -> list[int]:
    """20 of some words at most, evenly from all of them."""
    return list(words[::max(1, -(-len(words) // TRIED))])


def own_chances(model: nn.Module, ids: Sequence[int], order: Sequence[int], words: Sequence[int], vocab: Vocabulary, *,
                leaking: bool) -> list[float]:
    """Each of the ``words`` put where the first word of the order stands: its probability there.

    Who does not see it believes the same whichever stands there: then they add up to 1 at most.
    """
    place = order[0]
    made = [example([*ids[:place], word, *ids[place + 1:]], order, vocab, leak=leaking) for word in words]
    paid = surprisals(model, Batch.of(made, pad=vocab.need("pad")))[:, place]
    return torch.exp(-paid.double()).tolist()
