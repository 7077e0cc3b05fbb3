"""The Mask Lab on a cognitive graph: its nodes stand in the place of words, and a graph network reads them."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import traitlets

from plmlab.labs.mask.lab import MaskLab
from plmlab.labs.mask.networks import Network
from plmlab.objectives.message_masks import in_neighbours, in_neighbours_and_self
from plmlab.objectives.registry import Objective
from plmlab.text.text import Text
from plmlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import networkx

BETWEEN = " | "
"""What stands between two nodes in the lab's text."""
QUESTION = "Whom does a node hear that only the question names, one that was found on no page?"
NOBODY = "Nobody. Its column of A is empty, so D is 0 there, and AD⁻¹, as the paper writes it, divides by 0."
ITSELF = "Itself alone: with 2I + A no column is empty. This is how the authors' code has it."
NETWORKS = {"graph": Network("System 2", lambda made: made.streams(), ("hears", "does not hear"), "hears", True)}


class NodeNames:
    """The nodes of a graph as a vocabulary: a token each, whose name may be of several words."""

    def __init__(self, names: Sequence[str]) -> None:
        self.vocab = Vocabulary(len(Vocabulary(0).special) + len(names))
        self.ids = dict(zip(names, self.vocab.words, strict=True))
        self._names = dict(zip(self.vocab.words, names, strict=True))

    def text(self, text: str) -> Text:
        """The nodes that a text lists, each once, where it stands first; a ValueError for what is none."""
        listed = [name for part in text.split(BETWEEN.strip()) if (name := part.strip())]
        for name in listed:
            if name not in self.ids:
                raise ValueError(f"{name!r} is no node of this graph. Its nodes are {BETWEEN.join(self.ids)}: leave "
                                 "some out, or change their order.")
        return Text(dict.fromkeys(self.ids[name] for name in listed))

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Their names."""
        return [self._names[token] for token in ids]


class GraphMaskLab(MaskLab):
    """Who hears whom in System 2: by the paper's A, and by the 2I + A of the authors' code.

    Args:
        graph: a cognitive graph, such as a ``SearchState`` has; its edges go from a page to what was found there.
        objective: the reading to begin with, "found_from" (A) or "found_from_or_itself" (2I + A).
    """

    networks: ClassVar = NETWORKS
    network = traitlets.Enum(tuple(NETWORKS), "graph").tag(sync=True)

    def __init__(self, graph: "networkx.DiGraph", objective: str = "in_neighbours") -> None:
        names = NodeNames(list(graph))
        edges = [(names.ids[source], names.ids[target]) for source, target in graph.edges]
        self.objectives = {name: Objective(name, title, "邻接矩阵", "Ding et al. 2019, §3.3",
                                           partial(make, edges=edges), question=QUESTION, answer=answer)
                           for name, title, make, answer in (
                               ("in_neighbours", "System 2, by the paper's A", in_neighbours, NOBODY),
                               ("in_neighbours_and_self", "System 2, by the authors' 2I + A", in_neighbours_and_self,
                                ITSELF))}
        super().__init__(names, BETWEEN.join(graph), objective, network="graph", presets=())
