"""The Small World Lab: a synthetic universe that generates text about itself, with exact probabilities."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

import traitlets

from plmlab import world
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.shared.notes import empty, left_out
from plmlab.labs.shared.probabilities import presets, probability_state, words_of
from plmlab.labs.world.questions import bridge_questions, question_state
from plmlab.labs.world.sentences import directory, entity_state, sentences_state
from plmlab.labs.world.state import State
from plmlab.world import World
from plmlab.world.questions.bank import Question

SIZES: dict[str, Callable[[], World]] = {"small": world.small, "full": world.full}
VIEWS = {"sentences": ("drawn",), "probability": ("text", "max_tokens"), "entity": ("entity",), "question": ("asked",)}
"""The views, each with the traits that it depends on (in addition to the size of the world)."""


class WorldLab(Lab):
    """Four views of the Small World, in tabs.

    The views show sampled sentences with their gold labels; the exact probability of any typed sentence, or the point
    where it leaves the grammar, with the Bayes-optimal predictions for each word; the article and the facts of an
    entity; and a bridge question, hop by hop.

    Args:
        text: the initial sentence; by default, a sentence of the world.
        size: "small", or "full", which takes a few seconds to compile.
        view: the initial tab.
    """

    title = "Meet the Small World"
    module = "world/lab.js"
    styles = ("world/lab.css",)
    inputs: ClassVar = ("size", "drawn", "text", "entity", "asked", "max_tokens")

    size = traitlets.Unicode("small").tag(sync=True)
    view = traitlets.Unicode("sentences").tag(sync=True)
    drawn = traitlets.Int(0).tag(sync=True)
    entity = traitlets.Unicode().tag(sync=True)
    asked = traitlets.Int(0).tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, text: str | None = None, *, size: str = "small", view: str = "sentences",
                 max_tokens: int = 64) -> None:
        if view not in VIEWS:
            raise ValueError(f"there is no view {view!r:.60}; the views are {', '.join(VIEWS)}")
        self._size = size
        self._questions, begin = entered(find_world(size))
        if text is not None:
            begin["text"] = text
        super().__init__(size=size, view=view, max_tokens=max_tokens, **begin)

    @property
    def world(self) -> World:
        """The Small World of the selected size."""
        return find_world(self.size)

    def summary(self) -> str:
        """The world's size, and the typed sentence with its log p in nats, or the reason why it is not grammatical."""
        shown = self.state.get("probability")
        if shown is None:
            return self.message
        sentence = " ".join(column["word"] for column in shown["words"])
        verdict = f"log p = −{shown['nats']:.3f} nats" if shown["valid"] else shown["said"]
        return (f"the {self.state['world']['name']} world, {self.state['world']['words']:,} words; "
                f"'{sentence}': {verdict}")

    def compute(self, change: Change) -> Computed:
        """Update the views that depend on the changed inputs; a new world also resets the sentence, the entity and the
        question. A view with an invalid input keeps its previous state."""
        shown = find_world(self.size)
        same = self.size == self._size
        questions, begin = (self._questions, {}) if same else entered(shown)
        given = {name: getattr(self, name) for name in self.inputs} | begin
        state, message, stale = cast("State", dict(self.state)), "", False
        for view in [view for view, names in VIEWS.items() if {"size", *names} & (change.drawn | begin.keys())]:
            try:
                state.update(self._made(view, shown, given, questions))
                message = message or (self._note(given["text"]) if view == "probability" else "")
            except ValueError as error:
                if view not in state:
                    raise
                message, stale = str(error), True
        state["world"] = {"name": shown.name, "words": len(shown.vocabulary),
                          "entities": len((begin or {"menu": self.menu})["menu"]["entities"]),
                          "arcs": shown.automaton().size}
        return Computed(begin | {"state": state, "message": message, "stale": stale},
                        {"_size": self.size, "_questions": questions})

    def _made(self, view: str, shown: World, given: Mapping[str, Any],
              questions: Sequence[Question]) -> State:
        """Compute the part of the state for one view."""
        if view == "sentences":
            return {"sentences": sentences_state(shown, given["drawn"])}
        if view == "entity":
            return {"entity": entity_state(shown, given["entity"])}
        if view == "question":
            return {"question": question_state(shown, questions, given["asked"])}
        words = words_of(given["text"], shown)[:self.max_tokens]
        if not words:
            raise empty()
        return {"probability": probability_state(shown, words)}

    def _note(self, text: str) -> str:
        return left_out(len(words_of(text, self.world)) - self.max_tokens, self.max_tokens, "word")


def entered(shown: World) -> tuple[list[Question], dict[str, Any]]:
    """The bridge questions of a world, and the initial traits: the presets and entities of the world, a film, and the
    first question."""
    entities, examples = directory(shown), presets(shown)
    films = [entity["key"] for entity in entities if entity["kind"] == "film"]
    return bridge_questions(shown), {"menu": {"sizes": list(SIZES), "entities": entities, "presets": examples},
                                     "text": examples[0]["text"], "entity": films[0], "asked": 0}


def find_world(size: str) -> World:
    """The world of the given size. Raises ValueError for an unknown size."""
    if size not in SIZES:
        raise ValueError(f"there is no world {size!r:.60}; the sizes are {', '.join(SIZES)}")
    return SIZES[size]()
