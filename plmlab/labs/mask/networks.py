"""Who reads an example in the Mask Lab: what is drawn of it, what is asked, and what to know beforehand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plmlab.labs.mask.influence import (
    LayerStates,
    apart,
    both_directions,
    joined,
    one_direction,
    one_look,
    one_vector,
)
from plmlab.labs.mask.kinds import Drawn, OneText, Pair, Streams, TwoWay
from plmlab.labs.mask.marks import says_next
from plmlab.visibility import Visibility

Kind: TypeAlias = type[Drawn[Any]]
Asked: TypeAlias = tuple[str, str]
"""A question to be guessed first, and its answer."""


@dataclass(frozen=True)
class Network:
    """Who reads an example: its title, what is drawn of it, and the words for that.

    ``verbs`` are for a pair that is open, and for one that is closed; ``by_hand`` says whether cells can be set, which
    only a mask's can. By kind of example, ``asks`` has what is to be guessed first, where it is not the objective's own
    question, and ``notes`` what to know.
    """

    title: str
    streams: Callable[[Drawn[Any]], Streams]
    verbs: tuple[str, str]
    axes: str
    by_hand: bool
    asks: Mapping[Kind, Asked] = field(default_factory=dict)
    notes: Mapping[Kind, str] = field(default_factory=dict)

    def warning(self, made: Drawn[Any]) -> str:
        """What to know of this example in this network's hands; "" where there is nothing."""
        return made.leak if leaks(made, self.streams(made)[0][1]) else self.notes.get(type(made), "")


def leaks(made: Drawn[Any], visible: Visibility) -> bool:
    """Whether a position that must say the next one's token has it already."""
    ahead = visible.dense().diagonal(1)
    return any(says_next(part) and bool(ahead[start:start + len(part.tokens) - 1].any())
               for start, part in zip((0, made.split), made.parts, strict=False))


def influence(carried: LayerStates) -> Callable[[Drawn[Any]], Streams]:
    """What is drawn of a recurrent network: who can influence whom."""
    return lambda made: [("influence", made.influence(carried))]


QUESTION = "How many steps of the state lie between the first word and the last one's position? How many does attention " \
           "need?"
ANSWER = "One a word, and each may lose something; attention needs one step, however far apart two words stand " \
         "(Vaswani et al. 2017, table 1)."
STEPS: dict[Kind, Asked] = {OneText: (QUESTION, ANSWER), Pair: (QUESTION, ANSWER)}
LOOKS: dict[Kind, Asked] = STEPS | {Pair: (
    "How does the source's first word reach the decoder's last position, and what must it survive on the way? And the "
    "decoder's own first word?",
    "The source's by one look, and no step: that position looks at the state which the encoder had right after it. The "
    "decoder's own words are carried along by its state, a step a word: attention was put between the two texts "
    "(Bahdanau et al. 2015), within one text it came later.")}
COPIES: dict[Kind, Asked] = STEPS | {TwoWay: (
    "A position from the left must say the next word. Which direction has read that word already, and how does the "
    "position "
    "come to know of it?",
    "The one from the right. Where the two are joined below the top, the layer above reads what both have read, and "
    "the word to be said is among it. ELMo keeps the two apart up to the top (Peters et al. 2018, §3.1).")}
ALONE = "This attention looks from a text that is written at a text that was read. Here is one text: the network " \
        "reads it by its state alone."
CARRIED = ("can be influenced by", "cannot be influenced by")

NETWORKS = {
    "transformer": Network("a Transformer", lambda made: made.streams(), ("may look at", "may not look at"),
                           "looks at", True),
    "recurrent": Network("a recurrent network", influence(LayerStates(one_direction, one_vector, apart)), CARRIED,
                         "is influenced by", False, STEPS),
    "bidirectional": Network("a recurrent network, both ways",
                             influence(LayerStates(both_directions, one_vector, joined)),
                             CARRIED, "is influenced by", False, COPIES),
    "attention": Network("a recurrent network with attention", influence(LayerStates(one_direction, one_look, apart)),
                         CARRIED, "is influenced by", False, LOOKS, {OneText: ALONE, TwoWay: ALONE}),
}
"""Those that the Mask Lab offers, by name."""
