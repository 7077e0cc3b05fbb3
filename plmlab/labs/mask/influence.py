"""Who can influence whom in a recurrent network, which looks at nobody: what it has read lives on in its state.

There is no mask here. A pair is open where a change of the key can change what the network has at the query's slot; the
sentence says how many steps the key has to survive (Hochreiter et al. 2001; Vaswani et al. 2017, table 1).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from plmlab.example import Example, PairExample
from plmlab.visibility import Rule, Visibility


def one_direction(time: int) -> Visibility:
    """From left to right: a slot has what was read up to it."""
    everyone, place = torch.ones(time, dtype=torch.bool), torch.arange(time)
    return Visibility((Rule(
        "carried along by the state",
        "{key} was read; steps of the state that it must survive to reach {query}: {steps}.",
        everyone, everyone, place, place, unless="{key} is read later: no state that {query} has knows of it."),))


def both_directions(time: int) -> Visibility:
    """Two networks, the second from right to left: every slot has something of every other."""
    everyone, place = torch.ones(time, dtype=torch.bool), torch.arange(time)
    forward = replace(one_direction(time).rules[0], name="carried along from the left",
                      why="{key} comes from the left; steps of the forward state that it must survive: {steps}.")
    backward = Rule(
        "carried along from the right",
        "{key} comes from the right; steps of the backward state that it must survive: {steps}.",
        everyone, everyone, -place, -place)
    return Visibility((forward, backward))


def through_one_vector(pair: PairExample) -> PairExample:
    """A recurrent encoder-decoder: one direction on both sides, and between them one vector only (Sutskever et al.
    2014)."""
    source, target = len(pair.source.tokens), len(pair.target.tokens)
    bridge = Visibility.full(target, source, name="through the encoder's last state",
                             why="{key} reaches {query} only through the encoder's last state: one vector, however "
                                 "long the source is.")
    return replace(pair, source=replace(pair.source, visible=one_direction(source)),
                   target=replace(pair.target, visible=one_direction(target)), cross=bridge)


def recurrent(example: Example | PairExample) -> Example | PairExample:
    """The example as a network of one direction has it."""
    if isinstance(example, PairExample):
        return through_one_vector(example)
    return replace(example, visible=one_direction(len(example.tokens)))


def bidirectional(example: Example | PairExample) -> Example | PairExample:
    """The example as a network of both directions has it; in a pair the encoder alone has both, since the decoder
    cannot read what it has not written."""
    if isinstance(example, PairExample):
        pair = through_one_vector(example)
        return replace(pair, source=replace(pair.source, visible=both_directions(len(pair.source.tokens))))
    return replace(example, visible=both_directions(len(example.tokens)))


@dataclass(frozen=True)
class Network:
    """Who reads an Example: its title, who reaches whom there, the verbs for a pair that is open or closed, and what to
    guess, where that is not the objective's own question."""

    title: str
    reads: Callable[[Example | PairExample], Example | PairExample]
    verbs: tuple[str, str] = ("can be influenced by", "cannot be influenced by")
    axes: str = "is influenced by"
    question: str = "How many steps of the state lie between the first word and the last one's slot? How many does " \
                    "attention need?"
    answer: str = "One a word, and each may lose something; attention needs one step, however far apart two words " \
                  "stand (Vaswani et al. 2017, table 1)."


NETWORKS = {
    "attention": Network("attention", lambda example: example, ("may look at", "may not look at"), "looks at", "", ""),
    "recurrent": Network("a recurrent network", recurrent),
    "bidirectional": Network("a recurrent network, both ways", bidirectional),
}
"""Those that the Mask Lab offers, by name."""
