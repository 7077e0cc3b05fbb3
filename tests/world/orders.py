"""XLNet's two streams over a text with its end: where [SEP] stands in the order, and whether it is asked."""

from collections.abc import Sequence

import torch

from plmlab.draws import shuffled
from plmlab.example import IGNORE, Example
from plmlab.visibility import Rule, Visibility


def ordered(tokens: Sequence[int], order: Sequence[int], asked: Sequence[int]) -> Example:
    """Each position that is asked says itself from those before it in the order."""
    rank = torch.zeros(len(tokens), dtype=torch.long)
    rank[[*order]] = torch.arange(len(tokens))
    everyone = torch.ones(len(tokens), dtype=torch.bool)
    content = Visibility((Rule("before", "", everyone, everyone, rank, rank),))
    query = Visibility((Rule("before", "", everyone, everyone, rank - 1, rank),))
    read, targets = torch.tensor(tokens), torch.full((len(tokens),), IGNORE)
    targets[[*asked]] = read[[*asked]]
    return Example(read, torch.arange(len(tokens))[None], torch.zeros_like(read), content, targets,
                   query_stream_mask=query)


def in_an_order(tokens, *, vocab, rng) -> Example:
    """The words in a random order; [SEP] comes before all, in sight of everybody."""
    words = range(len(tokens))
    return ordered([*tokens, vocab.sep], [len(tokens), *shuffled(rng, words)], words)


def end_out_of_sight(tokens, *, vocab, rng) -> Example:
    """The words in a random order; [SEP] comes last, and nobody sees it."""
    words = range(len(tokens))
    return ordered([*tokens, vocab.sep], [*shuffled(rng, words), len(tokens)], words)


def end_asked(tokens, *, vocab, rng) -> Example:
    """The words in a random order, and at last, from all of them, the end."""
    order = [*shuffled(rng, range(len(tokens))), len(tokens)]
    return ordered([*tokens, vocab.sep], order, order)


def end_asked_left_to_right(tokens, *, vocab, rng) -> Example:
    """The words as they stand, and then the end."""
    order = range(len(tokens) + 1)
    return ordered([*tokens, vocab.sep], order, order)
