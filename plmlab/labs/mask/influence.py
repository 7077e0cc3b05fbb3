"""Information flow in recurrent networks: step by step through the state, or directly through attention.

A recurrent network has no attention mask: past inputs influence it only through its state. Here a pair (query, key) is
allowed if a change of the input at the key can change the network's state at the query; the reason gives the path
length in state updates (Hochreiter et al. 2001; Vaswani et al. 2017, table 1). Attention from a decoder to an encoder
is a path of one step at any distance.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from plmlab.visibility import Rule, Visibility


def one_direction(time: int) -> Visibility:
    """Information flow from left to right: a time step depends on all inputs up to and including its own."""
    every, place = torch.ones(time, dtype=torch.bool), torch.arange(time)
    return Visibility((Rule(
        "through the recurrent state",
        "the state carries information from {key} to {query}; state updates in between: {steps}.",
        every, every, place, place, unless="{key} is read later, so the state at {query} cannot depend on it."),))


def both_directions(time: int) -> Visibility:
    """Information flow in a bidirectional network: every time step depends on every input."""
    every, place = torch.ones(time, dtype=torch.bool), torch.arange(time)
    forward = replace(one_direction(time).rules[0], name="through the forward state",
                      why="the forward state carries information from {key} to {query}; updates in between: "
                      "{steps}.")
    backward = Rule(
        "through the backward state",
        "the backward state carries information from {key} to {query}; updates in between: {steps}.",
        every, every, -place, -place)
    return Visibility((forward, backward))


def one_vector(target: int, source: int) -> Visibility:
    """The source reaches the decoder only through the encoder's last state (Sutskever et al. 2014)."""
    return Visibility.full(target, source, name="through the encoder's last state",
                           why="{key} reaches {query} only through the encoder's last state: one vector, however "
                           "long the source is.")


def one_look(target: int, source: int) -> Visibility:
    """Every step of the decoder attends to the encoder's states at all source positions (Bahdanau et al. 2015)."""
    return Visibility.full(target, source, name="through attention",
                           why="{query} attends to the encoder's state at {key}: one attention step, with no state "
                           "updates in between, however long the two texts are.")


def apart(positions: int) -> tuple[Rule, ...]:
    """No connections between two directions that share no state."""
    return ()


def joined(positions: int) -> tuple[Rule, ...]:
    """Connections between two directions whose states are concatenated below the top layer: the next layer takes both
    as input, so that every time step depends on every word in either direction."""
    return Visibility.full(positions, name="directions concatenated",
                           why="the states of both directions are concatenated below the top layer, and one of them "
                           "has read {key}, so {query} depends on it.").rules


@dataclass(frozen=True)
class LayerStates:
    """Information flow in one recurrent architecture: ``within(positions)`` a text, ``across(target, source)`` from the
    encoder to the decoder, and ``between(positions)`` the two directions."""

    within: Callable[[int], Visibility]
    across: Callable[[int, int], Visibility]
    between: Callable[[int], tuple[Rule, ...]]
