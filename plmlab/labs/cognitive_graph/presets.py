"""Questions to try in the Cognitive Graph Lab, and what is right about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from plmlab.objectives.cognitive_graphs import Kind


@dataclass(frozen=True)
class Gold:
    """The graph that a question should give: its ``nodes`` by name, and each edge, (source, target), with the number
    from 0 of the sentence of the source's page in which the target is found. ValueError for an edge of another node."""

    nodes: tuple[str, ...] = ()
    edges: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for edge in self.edges:
            if not set(edge) <= set(self.nodes):
                raise ValueError(f"an edge goes {' → '.join(edge)}, and the nodes are {', '.join(self.nodes)}; give "
                                 "both of its ends as nodes")


@dataclass(frozen=True)
class CognitiveGraphPreset:
    """A question to try: what it is called, its ``kind``, its ``gold`` graph and right ``answer`` where they are known,
    and a ``note``, such as why it fails, that is shown once all is read."""

    title: str
    question: str
    kind: Kind = "special"
    gold: Gold | None = None
    answer: str | None = None
    note: str = ""
