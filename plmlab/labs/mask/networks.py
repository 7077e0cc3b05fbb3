"""The architectures of the Mask Lab: what is drawn for an example, the question to predict, and warnings."""

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
from plmlab.labs.mask.kinds import Bidirectional, Drawn, OneText, Pair, Streams
from plmlab.labs.mask.marks import says_next
from plmlab.visibility import Visibility

Kind: TypeAlias = type[Drawn[Any]]
Asked: TypeAlias = tuple[str, str]
"""A question to predict the answer of, and the answer."""


@dataclass(frozen=True)
class Network:
    """An architecture: its title, what is drawn for an example, and the wording of the drawing.

    ``verbs`` describe an allowed and a blocked pair; ``by_hand`` is True if cells can be set by hand, which is possible
    only for a mask. ``asks`` overrides the objective's question and ``notes`` holds warnings, by kind of example.
    """

    title: str
    streams: Callable[[Drawn[Any]], Streams]
    verbs: tuple[str, str]
    axes: str
    by_hand: bool
    asks: Mapping[Kind, Asked] = field(default_factory=dict)
    notes: Mapping[Kind, str] = field(default_factory=dict)

    def warning(self, made: Drawn[Any]) -> str:
        """The warning for this example under this architecture; "" if there is none."""
        return made.leak if leaks(made, self.streams(made)[0][1]) else self.notes.get(type(made), "")


def leaks(made: Drawn[Any], visible: Visibility) -> bool:
    """Return whether there is target leakage: a position that predicts the next token can access that token."""
    ahead = visible.dense().diagonal(1)
    return any(says_next(part) and bool(ahead[start:start + len(part.tokens) - 1].any())
               for start, part in zip((0, made.split), made.parts, strict=False))


def influence(carried: LayerStates) -> Callable[[Drawn[Any]], Streams]:
    """A function that draws information flow instead of a mask."""
    return lambda made: [("influence", made.influence(carried))]


QUESTION = "How many state updates lie between the first word and the last position? How many steps does attention " \
           "need?"
ANSWER = "One update per word, and each may lose information; attention needs one step, at any distance (Vaswani et " \
         "al. 2017, table 1)."
STEPS: dict[Kind, Asked] = {OneText: (QUESTION, ANSWER), Pair: (QUESTION, ANSWER)}
LOOKS: dict[Kind, Asked] = STEPS | {Pair: (
    "How does information from the source's first word reach the decoder's last position? And from the decoder's own "
    "first word?",
    "From the source's first word, it takes one attention step, because the decoder attends directly to the encoder "
    "state at that word. From the decoder's own first word, it passes through the recurrent state, with one update per "
    "word. Attention was first used between two texts (Bahdanau et al. 2015); self-attention within one text came "
    "later.")}
COPIES: dict[Kind, Asked] = STEPS | {Bidirectional: (
    "In the forward direction, each position predicts the next word. Which direction has already read that word, and "
    "how can this information reach the position?",
    "The backward one. If the two are concatenated below the top layer, the next layer takes both as input, and with "
    "them the target. ELMo keeps the two directions separate up to the top (Peters et al. 2018, §3.1).")}
ALONE = "This attention connects a decoder to an encoder. Here there is only one text, so information flows only " \
        "through the recurrent state."
CARRIED = ("can be influenced by", "cannot be influenced by")

NETWORKS = {
    "transformer": Network("a Transformer", lambda made: made.streams(), ("can attend to", "cannot attend to"),
                           "attends to", True),
    "recurrent": Network("a recurrent network", influence(LayerStates(one_direction, one_vector, apart)), CARRIED,
                         "is influenced by", False, STEPS),
    "bidirectional": Network("a bidirectional recurrent network",
                             influence(LayerStates(both_directions, one_vector, joined)), CARRIED, "is influenced by",
                             False, COPIES),
    "attention": Network("a recurrent network with attention", influence(LayerStates(one_direction, one_look, apart)),
                         CARRIED, "is influenced by", False, LOOKS, {OneText: ALONE, Bidirectional: ALONE}),
}
"""The architectures offered by the Mask Lab, by name."""
