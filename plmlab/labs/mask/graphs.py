"""The Mask Lab for a cognitive graph, with nodes instead of words, and a graph neural network as the architecture."""

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
"""The separator between two nodes in the lab's text."""
QUESTION = "A node is named only in the question and was found on no page. Which nodes send it messages?"
NOBODY = "None. Its column of A is empty, so its degree in D is 0, and AD⁻¹, as written in the paper, divides by 0."
ITSELF = "Only itself: with 2I + A no column is empty. The authors' code does this."
NETWORKS = {"graph": Network("System 2", lambda example: example.streams(),
                             ("receives messages from", "receives no messages from"), "receives messages from", True)}


class NodeNames:
    """The nodes of a graph as a vocabulary with one token per node; the name of a node may consist of several words."""

    def __init__(self, names: Sequence[str]) -> None:
        self.vocab = Vocabulary(len(Vocabulary(0).special) + len(names))
        self.ids = dict(zip(names, self.vocab.words, strict=True))
        self._names = dict(zip(self.vocab.words, names, strict=True))

    def text(self, text: str) -> Text:
        """The nodes listed in ``text``, in order of first occurrence and without repetitions. Raises ValueError for a
        name that is not a node."""
        listed = [name for part in text.split(BETWEEN.strip()) if (name := part.strip())]
        for name in listed:
            if name not in self.ids:
                raise ValueError(f"{name!r} is not a node of this graph. Its nodes are {BETWEEN.join(self.ids)}; list "
                                 "some or all of them, in any order.")
        return Text(dict.fromkeys(self.ids[name] for name in listed))

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The names of the nodes."""
        return [self._names[token] for token in ids]


class GraphMaskLab(MaskLab):
    """Message passing in System 2, with the adjacency matrix A of the paper or 2I + A of the authors' code.

    Args:
        graph: a cognitive graph, such as that of a ``SearchState``; an edge goes from a page to an entity found on it.
        objective: the initial adjacency matrix: "in_neighbours" (A) or "in_neighbours_and_self" (2I + A).
    """

    networks: ClassVar = NETWORKS
    network = traitlets.Enum(tuple(NETWORKS), "graph").tag(sync=True)

    def __init__(self, graph: "networkx.DiGraph", objective: str = "in_neighbours") -> None:
        names = NodeNames(list(graph))
        edges = [(names.ids[source], names.ids[target]) for source, target in graph.edges]
        self.objectives = {name: Objective(name, title, "邻接矩阵", "Ding et al. 2019, §3.3",
                                           partial(make, edges=edges), question=QUESTION, answer=answer)
                           for name, title, make, answer in (
                               ("in_neighbours", "System 2, the paper's A", in_neighbours, NOBODY),
                               ("in_neighbours_and_self", "System 2, 2I + A of the authors' code",
                                in_neighbours_and_self,
                                ITSELF))}
        super().__init__(names, BETWEEN.join(graph), objective, network="graph", presets=())
