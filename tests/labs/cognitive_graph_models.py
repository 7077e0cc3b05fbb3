"""Questions for the tests of the Cognitive Graph Lab, on a few pages with a System 1 that points where it is told; and
what Python says of them, for JavaScript to agree with: ``python tests/labs/cognitive_graph_models.py`` with the tests'
folder on the path."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from cognitive_pages import QUESTION, WORDS, FewPages, Points, Scripted, by_hand, compared

from plmlab.labs import CognitiveGraphLab, CognitiveGraphPreset
from plmlab.labs.cognitive_graph.presets import Gold
from plmlab.models.cogqa_search import CogQASearch

FILE = Path(__file__).with_name("cognitive_graph_fixtures.json")
WHICH = "who is older Old Town or Dusk"
FILM = Gold(("Roma", "Dusk", "Adam"), {("Roma", "Dusk"): 1, ("Dusk", "Adam"): 1})
OWNER = Gold(("Roma", "Eva", "Milton"), {("Roma", "Eva"): 2, ("Eva", "Milton"): 0})
BOTH = Gold(("Old Town", "old", "Dusk", "Adam", "1931"),
            {("Old Town", "old"): 0, ("Dusk", "Adam"): 1, ("Adam", "1931"): 0})
PRESETS = [CognitiveGraphPreset("a film", QUESTION, gold=FILM, answer="Adam", note="the film was read twice"),
           CognitiveGraphPreset("its owner", "who directed the film at Roma", gold=OWNER, answer="Milton"),
           CognitiveGraphPreset("which of two", WHICH, "either-or", BOTH, "Dusk"),
           CognitiveGraphPreset("yes or no", "is Dusk older than Old Town", "yes-no", BOTH, "yes")]


def both(title: str, clues: int) -> Points:
    """What leads to the answer of each preset; Dusk is a film that is found, or that the question names."""
    if title == "Old Town":
        return [], ["old"]
    return compared(title, clues) if title == "Adam" or (title == "Dusk" and not clues) else by_hand(title, clues)


def grow(points: Any = both, **choices: Any) -> partial[CogQASearch]:
    return partial(CogQASearch, Scripted(points), FewPages(), WORDS.vocab, **choices)


def lab(preset: int = 0, **traits: Any) -> CognitiveGraphLab:
    """The lab at a preset."""
    one = PRESETS[preset]
    return CognitiveGraphLab(grow(), WORDS, PRESETS, one.question, one.kind, **traits)


def counts(made: CognitiveGraphLab, step: int) -> dict[str, Any]:
    """What the graph of a step has of the gold one, by sets."""
    gold = made.presets[made.state["preset"]].gold
    growing = made.grow(made.tokenizer.encode(made.text, plain=True), made.kind)
    graph = [*growing.states()][step].graph
    assert gold is not None
    return {"nodes": [len({*graph} & {*gold.nodes}), len(gold.nodes), sorted({*graph} - {*gold.nodes})],
            "edges": [len({*graph.edges} & {*gold.edges}), len(gold.edges)],
            "missed": sorted({*gold.nodes} - {*growing.finished().graph})}


def cases() -> list[dict[str, Any]]:
    """Each preset from start to end, and one with an edge cut."""
    found = [{"state": made.state, "counts": [counts(made, step) for step in range(len(made.state["steps"]))]}
             for made in map(lab, range(len(PRESETS)))]
    cut = lab(forbidden=[["Roma", "Dusk"]])
    return [*found, {"state": cut.state, "counts": None}]


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), ensure_ascii=False) + "\n", encoding="utf-8")
