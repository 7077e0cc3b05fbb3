"""Presets of the Cognitive Graph Lab: questions with their gold graphs and answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from plmlab.objectives.cognitive_graphs import Kind


@dataclass(frozen=True)
class Gold:
    """The gold graph of a question: its ``nodes`` by name, and its ``edges``, which map (source, target) to the index
    of the sentence on the source's page that mentions the target. Raises ValueError if an end of an edge is not a
    node."""

    nodes: tuple[str, ...] = ()
    edges: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for edge in self.edges:
            if not set(edge) <= set(self.nodes):
                raise ValueError(f"there is an edge {' → '.join(edge)}, and the nodes are {', '.join(self.nodes)}; "
                                 "give both of its ends as nodes")


@dataclass(frozen=True)
class CognitiveGraphPreset:
    """A preset: a title, a question, its ``kind``, its ``gold`` graph and correct ``answer`` if known, and a ``note``
    (such as the reason for a failure) that is shown once the frontier is empty."""

    title: str
    question: str
    kind: Kind = "special"
    gold: Gold | None = None
    answer: str | None = None
    note: str = ""
