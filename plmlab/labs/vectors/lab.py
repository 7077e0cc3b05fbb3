"""The Vector Lab: words as points, their neighbours in the space itself, analogies, and both along training."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import traitlets

from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.vectors.checks import (
    Snapshots,
    analogy_of,
    axes_of,
    counts_of,
    groups_of,
    known,
    snapshots,
    twins_of,
)
from plmlab.labs.vectors.numbers import nearest, packed, principal
from plmlab.labs.vectors.own_text import LIMIT, Train, trained
from plmlab.labs.vectors.state import Beside, State
from plmlab.vectors import WordVectors

MEASURES = ("cosine", "dot")
PRESET = ("word", "analogy", "axes", "spotlight", "update", "measure")


class VectorLab(Lab):
    """A cloud of words. One is chosen: which ten lie nearest to it in the space itself, not in its picture? Three are
    an analogy: which word is nearest to b − a + c, with and without the question's own words? Both are followed along
    training. JavaScript computes all of it, so that the lab's page does too.

    Vectors are sent as int16 with a step for each word: cosines in the page are off by less than 0.0003.

    Args:
        vectors: one set of vectors, or update of training → vectors, all of the same words. Snapshots of one run share
            their space, so that nothing is aligned.
        word: the word to begin with; the analogy's third, a group's first, or the first word of all if None.
        analogy: ``(a, b, c)``, or ``(a, b, c, d)`` with the true answer, whose rank is then followed.
        axes: two pairs of words, ``((from, to), (from, to))``: a word stands at the cosine of its vector with the
            difference of the two, each taken at length 1. None: the two principal axes of the last snapshot's
            vectors at length 1, for all snapshots.
        groups: name → words, seven at most; each gets a colour and a mark.
        counts: how often each word was read, in the order of the vectors; points are then sized by it.
        twins: vectors of the same words from other seeds; each neighbour then says in how many of the seeds it is one.
        presets: title → what to try: any of ``word``, ``analogy``, ``axes``, ``spotlight``, ``update``, ``measure``.
        train: the reader's text → vectors by update; None: no text can be given.
        traits: what the reader can set: ``update`` (the snapshot that is shown; the last if not given), ``measure``
            (``"cosine"`` or ``"dot"``, for neighbours), ``spotlight`` (words that stand out, spaces or commas between).

    Raises:
        TypeError, ValueError, TraitError: for what cannot be drawn, in the reader's words.
    """

    title = "Vector Lab"
    module = "vectors/lab.js"
    styles = ("vectors/lab.css",)
    inputs: ClassVar = ("request",)

    word = traitlets.Unicode().tag(sync=True)
    analogy = traitlets.List(traitlets.Unicode()).tag(sync=True)
    axes = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True)
    update = traitlets.Int().tag(sync=True)
    measure = traitlets.Unicode("cosine").tag(sync=True)
    spotlight = traitlets.Unicode().tag(sync=True)
    hidden = traitlets.List(traitlets.Unicode()).tag(sync=True)
    request = traitlets.Dict().tag(sync=True, echo_update=False)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, vectors: WordVectors | Mapping[int, WordVectors], *, word: str | None = None,
                 analogy: Sequence[str] | None = None, axes: Sequence[Sequence[str]] | None = None,
                 groups: Mapping[str, Sequence[str]] | None = None, counts: Sequence[int] | None = None,
                 twins: Sequence[WordVectors] = (), presets: Mapping[str, Mapping[str, Any]] | None = None,
                 train: Train | None = None, **traits: Any) -> None:
        self.snapshots = self.first = snapshots(vectors)
        if train is not None and not callable(train):
            raise TypeError(f"train is a function from a text to vectors by update; {train!r:.60} was given")
        self.train = train
        last = self.vectors
        rows = groups_of(groups or {}, last)
        self._beside: Beside = {
            "groups": [{"name": name, "rows": found} for name, found in rows.items()],
            "counts": counts_of(counts, last),
            "twins": [nearest(twin, last.words) for twin in twins_of(twins, last)],
        }
        asked = analogy_of(analogy or (), last)
        if word is None:
            word = asked[2] if asked else next((last.words[found[0]] for found in rows.values() if found),
                                               last.words[0])
        tried = [{"title": title, **self._preset(title, preset)} for title, preset in (presets or {}).items()]
        super().__init__(word=word, analogy=asked, axes=axes_of(axes or (), last),
                         menu={"presets": tried, "train": train is not None, "limit": LIMIT},
                         **{"update": max(self.snapshots)} | traits)

    @property
    def vectors(self) -> WordVectors:
        """The vectors of the last snapshot."""
        return self.snapshots[max(self.snapshots)]

    @property
    def shown(self) -> WordVectors:
        """The vectors of the snapshot that is shown."""
        return self.snapshots[self.update]

    def _preset(self, title: str, preset: Mapping[str, Any]) -> dict[str, Any]:
        if unknown := sorted(preset.keys() - set(PRESET)):
            raise ValueError(f"the preset {title!r:.60} sets {', '.join(unknown)}; it can set {', '.join(PRESET)}")
        try:
            return {name: self._checked(name, value) for name, value in preset.items()}
        except ValueError as error:
            raise ValueError(f"the preset {title!r:.60}: {error}") from None

    def _checked(self, name: str, value: Any) -> Any:
        """What a trait, or a preset, is set to; a ValueError for what cannot be shown."""
        if name == "word":
            return known([value], self.vectors, "word")[0]
        if name == "analogy":
            return analogy_of(value or (), self.vectors)
        if name == "axes":
            return axes_of(value or (), self.vectors)
        if name == "update" and value not in self.snapshots:
            raise ValueError(f"there is no snapshot of update {value}; there are "
                             f"{', '.join(f'{update:,}' for update in self.snapshots)}")
        if name == "measure" and value not in MEASURES:
            raise ValueError(f"measure is one of {', '.join(MEASURES)}; {value!r:.60} was given")
        return value

    @traitlets.validate("word", "analogy", "axes", "update", "measure")
    def _check(self, proposal: Any) -> Any:
        """A TraitError, in the reader's words, for what cannot be shown."""
        try:
            return self._checked(proposal["trait"].name, proposal["value"])
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None

    def compute(self, change: Change) -> Computed:
        """The state of the first vectors, or of those that came of the reader's text; where none came, the message says
        why, and what stood stands. A request is heard once, and its text not kept."""
        kind = self.request.get("do")
        if kind in (None, "back"):
            return self._showing(self.first, self._beside, note="")
        name = str(self.request.get("name") or "your text")
        try:
            found = self._trained(kind, name)
        except ValueError as error:
            return Computed({"request": {}, "stale": True,
                             "message": f"{str(error).rstrip('.')}. What is drawn is from before."})
        except Exception as error:
            return Computed({"request": {}, "stale": True, "message": f"Training on “{name}” went wrong "
                             f"({type(error).__name__}: {error}). What is drawn is from before."})
        last = next(reversed(found.values()))
        note = (f"These are the vectors of “{name}”: {len(last):,} words × {last.matrix.shape[1]} numbers"
                + (f", {len(found)} snapshots." if len(found) > 1 else "."))
        return self._showing(found, {"groups": [], "counts": None, "twins": []}, note=note)

    def _trained(self, kind: str, name: str) -> Snapshots:
        if kind != "train":
            raise ValueError(f"{kind!r:.60} is asked for; this lab can train and go back.")
        if self.train is None:
            raise ValueError("This lab was made without train, a function from a text to vectors: it cannot read "
                             "yours.")
        return trained(self.train, str(self.request.get("text", "")), name)

    def _showing(self, found: Snapshots, beside: Beside, *, note: str) -> Computed:
        """What follows from vectors: what they have of the word, the analogy and the axes that stood, stays."""
        last = next(reversed(found.values()))
        fitted = principal(last.unit.detach())
        state: State = {
            "words": list(last.words), "width": last.matrix.shape[1], "updates": list(found),
            **packed([one.matrix.detach() for one in found.values()]), **beside, "own": bool(note),
            "principal": {"mean": fitted.mean.tolist(), "axes": fitted.axes.tolist(), "shares": fitted.shares},
        }
        traits: dict[str, Any] = {"state": state, "message": note, "request": {}}
        if found is not self.snapshots:
            traits |= {
                "word": self.word if self.word in last.row else next(
                    (word for word in last.words if len(word) > 3), last.words[0]),
                "analogy": self.analogy if all(word in last.row for word in self.analogy) else [],
                "axes": self.axes if all(word in last.row for pair in self.axes for word in pair) else [],
                "update": max(found), "hidden": [],
            }
        return Computed(traits, {"snapshots": found})

    def summary(self) -> str:
        """How many words, and what lies nearest to the chosen one."""
        near = ", ".join(one.word for one in self.shown.neighbours(self.word, 3, dot=self.measure == "dot"))
        asked = f"; {' : '.join(self.analogy[:2])} :: {self.analogy[2]} : ?" if self.analogy else ""
        return (f"{len(self.vectors):,} words × {self.vectors.matrix.shape[1]} numbers, update {self.update:,}; "
                f"nearest to '{self.word}': {near}{asked}")
