"""Meet the Small World: a universe that writes about itself, and knows the exact probability of all it says."""

from collections.abc import Callable
from typing import Any, ClassVar

import traitlets

from plmlab import world
from plmlab.labs.base import Lab
from plmlab.labs.shared.probabilities import presets, probability_state, words_of
from plmlab.labs.world.questions import bridge_questions, question_state
from plmlab.labs.world.sentences import directory, entity_state, sentences_state
from plmlab.world import World
from plmlab.world.questions.bank import Question

SIZES: dict[str, Callable[[], World]] = {"small": world.small, "full": world.full}
VIEWS = {"sentences": ("drawn",), "probability": ("text", "max_tokens"), "entity": ("entity",), "question": ("asked",)}
"""Each view, and the traits that it is computed from (and the size of the world)."""


class WorldLab(Lab):
    """Four views of the Small World, behind tabs.

    It writes sentences, with their gold labels on demand; tells the exact probability of any sentence that is typed,
    or where it leaves the grammar, and what the best reader believes of a hidden word; shows an entity's article and
    facts; and follows a bridge question hop by hop.

    Args:
        text: the sentence to begin with; one of the world's own if not given.
        size: "small", or "full", which takes some seconds to compile.
        view: the tab to begin with.
    """

    title = "Meet the Small World"
    scripts = ("shared/probabilities.js", "world/sentences.js", "world/probability.js", "world/entity.js",
               "world/question.js", "world/lab.js")
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
            raise ValueError(f"there is no view {view!r}; there are {', '.join(VIEWS)}")
        find_world(size)
        self._asked: dict[str, tuple[object, ...]] = {}
        self._entered = ""
        self._questions: list[Question] = []
        super().__init__(size=size, view=view, max_tokens=max_tokens)
        self._enter(self.world)
        if text is not None:
            self.text = text
        self.observe(lambda _: self.recompute(), self.inputs)
        self.recompute()

    @property
    def world(self) -> World:
        """The Small World that is shown, of the chosen size."""
        return find_world(self.size)

    def summary(self) -> str:
        """The world's size, and what it says of the typed sentence: its log p in nats, or where it goes wrong."""
        shown = self.state.get("probability")
        if shown is None:
            return self.message
        said = " ".join(column["word"] for column in shown["words"])
        verdict = f"log p = −{shown['nats']:.3f} nats" if shown["valid"] else shown["said"]
        return f"the {self.state['world']['name']} world, {self.state['world']['words']:,} words; '{said}': {verdict}"

    def _enter(self, entered: World) -> None:
        """Begin in another world: its sentences to try, its list of entities, its questions."""
        self._entered, self._questions = self.size, bridge_questions(entered)
        entities, tried = directory(entered), presets(entered)
        films = [entity["key"] for entity in entities if entity["kind"] == "film"]
        with self.hold_trait_notifications():
            self.menu = {"sizes": list(SIZES), "entities": entities, "presets": tried}
            self.text, self.entity, self.asked = tried[0]["text"], films[0], 0

    def recompute(self) -> None:
        """Compute anew the views that what changed belongs to; what cannot be shown leaves its view as it was."""
        with self.reporting_errors(), self.hold_sync():
            shown = find_world(self.size)
            if self._entered != self.size:
                self._enter(shown)
            asked = {view: (self.size, *(getattr(self, name) for name in names)) for view, names in VIEWS.items()}
            changed = [view for view, now in asked.items() if self._asked.get(view) != now or view not in self.state]
            if not changed:
                return
            self._asked = asked
            state = self.state | {view: self._make(view, shown) for view in changed}
            state["world"] = {"name": shown.name, "words": len(shown.vocabulary),
                              "entities": len(self.menu["entities"]), "arcs": shown.automaton().size}
            self.state, self.message, self.stale = state, self._note() if "probability" in changed else "", False

    def _make(self, view: str, shown: World) -> Any:
        """One view's part of the state."""
        if view == "sentences":
            return sentences_state(shown, self.drawn)
        if view == "entity":
            return entity_state(shown, self.entity)
        if view == "question":
            return question_state(shown, self._questions, self.asked)
        words = words_of(self.text, shown)[:self.max_tokens]
        if not words:
            raise ValueError("The sentence is empty. Type one; what is drawn is from before.")
        return probability_state(shown, words)

    def _note(self) -> str:
        left_out = len(words_of(self.text, self.world)) - self.max_tokens
        if left_out <= 0:
            return ""
        last = "word is" if left_out == 1 else f"{left_out:,} words are"
        return (f"The sentence is longer than the {self.max_tokens} words that are drawn: its last {last} left out of "
                "the picture; the text keeps them.")


def find_world(size: str) -> World:
    """The world of that size; a ValueError lists those that are there."""
    if size not in SIZES:
        raise ValueError(f"there is no world {size!r}; there are {', '.join(SIZES)}")
    return SIZES[size]()
