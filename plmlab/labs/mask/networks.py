"""Who reads an example, and who reaches whom there: by attention, under its masks, or carried along by a state.

A recurrent network looks at nobody, and has no mask: what it has read lives on in its state. There a pair is open where
a change of the key can change what the network has at the query's slot; the sentence says how many steps the key has to
survive (Hochreiter et al. 2001; Vaswani et al. 2017, table 1). Where a decoder looks at the encoder's states, that is
one look, whatever stands between.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from plmlab.example import Example, PairExample
from plmlab.labs.mask.marks import says_next
from plmlab.labs.mask.square import blocks, side_by_side
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


Made = Example | PairExample
Streams = list[tuple[str, Visibility]]
"""What can be drawn, by title: one square, or one for each stream of attention."""


def masks(made: Made) -> Streams:
    """Who may look at whom: the masks of the example itself."""
    drawn = side_by_side(made) if isinstance(made, PairExample) else made
    second = [] if drawn.query_visible is None else [("query stream", drawn.query_visible)]
    return [("content stream", drawn.visible), *second]


def one_vector(target: int, source: int) -> Visibility:
    """Every slot of the source reaches the decoder by the encoder's last state alone (Sutskever et al. 2014)."""
    return Visibility.full(target, source, name="through the encoder's last state",
                           why="{key} reaches {query} only through the encoder's last state: one vector, however "
                               "long the source is.")


def one_look(target: int, source: int) -> Visibility:
    """Every slot of the decoder looks at what the encoder has at each slot of the source (Bahdanau et al. 2015)."""
    return Visibility.full(target, source, name="by one look of attention",
                           why="{query} looks at the state that the encoder had when it had just read {key}: one look, "
                               "and no step of a state in between, however long the two texts are.")


def influence(made: Made, reads: Callable[[int], Visibility],
              across: Callable[[int, int], Visibility] = one_vector) -> Streams:
    """Who can influence whom where a recurrent network reads, which has each text as ``reads(slots)`` says.

    Of a pair that is the encoder. The decoder goes from left to right, since it cannot read what it has not written;
    what it has of the source is ``across(its slots, the source's)``. ValueError: an example with a second stream of
    attention.
    """
    if isinstance(made, Example):
        if made.query_visible is not None:
            raise ValueError("this objective asks with a second stream of attention, which a recurrent network does "
                             "not have: let a Transformer read it")
        return [("influence", reads(len(made.tokens)))]
    source, target = len(made.source.tokens), len(made.target.tokens)
    return [("influence", blocks(reads(source), across(target, source), one_direction(target)))]


def warning(made: Made) -> str:
    """What to know where a network of both directions must say what it has read; "" where it need not."""
    if isinstance(made, PairExample) or not says_next(made):
        return ""
    return "Read from the right too, each slot has seen the word that it must say, the next one: such a model learns " \
           "to copy, and nothing else."


def alone(made: Made) -> str:
    """What to know where a network whose attention goes from one text to another reads one; "" where it reads two."""
    if isinstance(made, PairExample):
        return ""
    return "This attention looks from a text that is written at a text that was read. Here is one text: the network " \
           "reads it by its state alone."


QUESTION = "How many steps of the state lie between the first word and the last one's slot? How many does attention " \
           "need?"
ANSWER = "One a word, and each may lose something; attention needs one step, however far apart two words stand " \
         "(Vaswani et al. 2017, table 1)."
PAIR_QUESTION = "How does the source's first word reach the decoder's last slot, and what must it survive on the " \
                "way? And the decoder's own first word?"
PAIR_ANSWER = "The source's by one look, and no step: that slot looks at the state which the encoder had right after " \
              "it. The decoder's own words are carried along by its state, a step a word: attention was put between " \
              "the two texts (Bahdanau et al. 2015), within one text it came later."

Asked = tuple[str, str]
"""A question to be guessed first, and its answer; both "" for the objective's own."""


def steps(made: Made) -> Asked:
    """How far apart two words stand."""
    return QUESTION, ANSWER


def looks(made: Made) -> Asked:
    """The same of two texts, where the way from one to the other is a look."""
    return (PAIR_QUESTION, PAIR_ANSWER) if isinstance(made, PairExample) else steps(made)


@dataclass(frozen=True)
class Network:
    """Who reads an example: its title, what is drawn of it, and the words for that.

    ``verbs`` are for a pair that is open, and for one that is closed; ``by_hand`` says whether cells can be set, which
    only a mask's can; ``asks`` gives what is to be guessed first, and the answer.
    """

    title: str
    streams: Callable[[Made], Streams]
    verbs: tuple[str, str]
    axes: str
    by_hand: bool
    warning: Callable[[Made], str]
    asks: Callable[[Made], Asked]


CARRIED = ("can be influenced by", "cannot be influenced by")

NETWORKS = {
    "transformer": Network("a Transformer", masks, ("may look at", "may not look at"), "looks at", True, lambda _: "",
                           lambda _: ("", "")),
    "recurrent": Network("a recurrent network", lambda made: influence(made, one_direction), CARRIED,
                         "is influenced by", False, lambda _: "", steps),
    "bidirectional": Network("a recurrent network, both ways", lambda made: influence(made, both_directions), CARRIED,
                             "is influenced by", False, warning, steps),
    "attention": Network("a recurrent network with attention", lambda made: influence(made, one_direction, one_look),
                         CARRIED, "is influenced by", False, alone, looks),
}
"""Those that the Mask Lab offers, by name."""
