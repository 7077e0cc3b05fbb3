"""Who reaches whom where a recurrent network reads: carried along by a state, step by step, or by one look.

A recurrent network looks at nobody, and has no mask: what it has read lives on in its state. There a pair is open where
a change of the key can change what the network has at the query's position; the sentence says how many steps the key
has to survive (Hochreiter et al. 2001; Vaswani et al. 2017, table 1). Where a decoder looks at the encoder's states,
that is one look, whatever stands between.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from plmlab.visibility import Rule, Visibility


def one_direction(time: int) -> Visibility:
    """In the order of the positions: a position has what was read up to it."""
    everyone, place = torch.ones(time, dtype=torch.bool), torch.arange(time)
    return Visibility((Rule(
        "carried along by the state",
        "{key} was read; steps of the state that it must survive to reach {query}: {steps}.",
        everyone, everyone, place, place, unless="{key} is read later: no state that {query} has knows of it."),))


def both_directions(time: int) -> Visibility:
    """Two networks, the second from right to left: every position has something of every other."""
    everyone, place = torch.ones(time, dtype=torch.bool), torch.arange(time)
    forward = replace(one_direction(time).rules[0], name="carried along from the left",
                      why="{key} comes from the left; steps of the forward state that it must survive: {steps}.")
    backward = Rule(
        "carried along from the right",
        "{key} comes from the right; steps of the backward state that it must survive: {steps}.",
        everyone, everyone, -place, -place)
    return Visibility((forward, backward))


def one_vector(target: int, source: int) -> Visibility:
    """Every position of the source reaches the decoder by the encoder's last state alone (Sutskever et al. 2014)."""
    return Visibility.full(target, source, name="through the encoder's last state",
                           why="{key} reaches {query} only through the encoder's last state: one vector, however "
                               "long the source is.")


def one_look(target: int, source: int) -> Visibility:
    """Every position of the decoder looks at what the encoder has at each position of the source (Bahdanau et al.
    2015)."""
    return Visibility.full(target, source, name="by one look of attention",
                           why="{query} looks at the state that the encoder had when it had just read {key}: one look, "
                               "and no step of a state in between, however long the two texts are.")


def apart(positions: int) -> tuple[Rule, ...]:
    """Of two directions that share no state, nothing passes from one to the other."""
    return ()


def joined(positions: int) -> tuple[Rule, ...]:
    """Two directions whose states are put side by side below the top: the layer above reads both, so that each position
    has something of every word, whichever direction has read it."""
    return Visibility.full(positions, name="joined below the top",
                           why="below the top the two directions are joined, and one of them has read that word: "
                               "{query} has something of {key}.").rules


@dataclass(frozen=True)
class LayerStates:
    """What a recurrent network carries to a position: ``within(positions)`` of one text, ``across(target, source)`` of
    the text that an encoder has read, ``between(positions)`` of what another direction has read."""

    within: Callable[[int], Visibility]
    across: Callable[[int, int], Visibility]
    between: Callable[[int], tuple[Rule, ...]]
