"""The Vector Lab: word vectors as points, nearest neighbours in the full space, and analogies, tracked during
training."""

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
    """Word vectors as a cloud of points, with the ten nearest neighbours of a selected word in the full space (not in
    the projection), and an analogy: the word nearest to b − a + c, with and without the question's own words among the
    candidates. Neighbours and analogy are tracked during training. All computations run in JavaScript, so an exported
    page is fully interactive.

    Vectors are sent as int16 values with one scale per word; the resulting error of a cosine is below 0.0003.

    Args:
        vectors: one set of vectors, or a mapping from training updates to sets of vectors for the same words. Snapshots
            of one run share a space, so they are not aligned.
        word: the initial word; by default, the third word of the analogy, the first word of a group, or the first word
            of all.
        analogy: ``(a, b, c)``, or ``(a, b, c, d)`` with the correct answer, whose rank is then tracked.
        axes: two pairs of words, ``((from, to), (from, to))``: the coordinates of a word are the cosines of its vector
            with the differences of the two unit vectors. By default, the two principal axes of the last snapshot's unit
            vectors are used in all snapshots.
        groups: at most seven groups, as name → words; each group has its own colour and mark.
        counts: word frequencies in the training text, in the order of the vectors; they determine the size of the
            points.
        twins: vectors of the same words from other seeds; the number of seeds that agree is shown with each neighbour.
        presets: title → values for any of ``word``, ``analogy``, ``axes``, ``spotlight``, ``update``, ``measure``.
        train: trains vectors on the user's text and returns them by update; if None, no text can be uploaded.
        traits: initial values of other traits: ``update`` (the snapshot shown; by default the last), ``measure``
            (``"cosine"`` or ``"dot"``, for neighbours), ``spotlight`` (words to highlight, separated by spaces or
            commas).

    Raises:
        TypeError, ValueError, TraitError: if the input is invalid, with a message for the user.
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
            raise TypeError(f"train must be a function from a text to vectors by update; {train!r:.60} was given")
        self.train = train
        last = self.vectors
        rows = groups_of(groups or {}, last)
        self._beside: Beside = {
            "groups": [{"name": name, "rows": members} for name, members in rows.items()],
            "counts": counts_of(counts, last),
            "twins": [nearest(twin, last.words) for twin in twins_of(twins, last)],
        }
        question = analogy_of(analogy or (), last)
        if word is None:
            word = question[2] if question else next(
                (last.words[members[0]] for members in rows.values() if members), last.words[0])
        checked = [{"title": title, **self._preset(title, preset)} for title, preset in (presets or {}).items()]
        super().__init__(word=word, analogy=question, axes=axes_of(axes or (), last),
                         menu={"presets": checked, "train": train is not None, "limit": LIMIT},
                         **{"update": max(self.snapshots)} | traits)

    @property
    def vectors(self) -> WordVectors:
        """The vectors of the last snapshot."""
        return self.snapshots[max(self.snapshots)]

    @property
    def shown(self) -> WordVectors:
        """The vectors of the current snapshot."""
        return self.snapshots[self.update]

    def _preset(self, title: str, preset: Mapping[str, Any]) -> dict[str, Any]:
        if unknown := sorted(preset.keys() - set(PRESET)):
            raise ValueError(f"the preset {title!r:.60} sets {', '.join(unknown)}; it can set {', '.join(PRESET)}")
        try:
            return {name: self._checked(name, value) for name, value in preset.items()}
        except ValueError as error:
            raise ValueError(f"the preset {title!r:.60}: {error}") from None

    def _checked(self, name: str, value: Any) -> Any:
        """Validate the value of a trait or preset. Raises ValueError if it cannot be shown."""
        if name == "word":
            return known([value], self.vectors, "word")[0]
        if name == "analogy":
            return analogy_of(value or (), self.vectors)
        if name == "axes":
            return axes_of(value or (), self.vectors)
        if name == "update" and value not in self.snapshots:
            raise ValueError(f"there is no snapshot of update {value}; there are snapshots of "
                             f"{', '.join(f'{update:,}' for update in self.snapshots)}")
        if name == "measure" and value not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(MEASURES)}; {value!r:.60} was given")
        return value

    @traitlets.validate("word", "analogy", "axes", "update", "measure")
    def _check(self, proposal: Any) -> Any:
        """Validate a trait. Raises TraitError, with a message for the user, if the value cannot be shown."""
        try:
            return self._checked(proposal["trait"].name, proposal["value"])
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None

    def compute(self, change: Change) -> Computed:
        """Compute the state of the original vectors, or of vectors trained on the user's text; if training fails, the
        message gives the reason and the previous state stays. A request is handled only once, and its text is not
        stored."""
        kind = self.request.get("do")
        if kind in (None, "back"):
            return self._showing(self.first, self._beside, note="")
        name = str(self.request.get("name") or "your text")
        try:
            result = self._trained(kind, name)
        except ValueError as error:
            return Computed({"request": {}, "stale": True,
                             "message": f"{str(error).rstrip('.')}. The previous vectors are still shown."})
        except Exception as error:
            return Computed({"request": {}, "stale": True, "message": f"Training on “{name}” failed "
                             f"({type(error).__name__}: {error}). The previous vectors are still shown."})
        last = next(reversed(result.values()))
        note = (f"These are the vectors trained on “{name}”: {len(last):,} words × {last.matrix.shape[1]} dimensions"
                + (f", {len(result)} snapshots." if len(result) > 1 else "."))
        return self._showing(result, {"groups": [], "counts": None, "twins": []}, note=note)

    def _trained(self, kind: str, name: str) -> Snapshots:
        if kind != "train":
            raise ValueError(f"unknown request {kind!r:.60}; this lab supports train and back.")
        if self.train is None:
            raise ValueError("This lab was created without train, a function from a text to vectors, so it cannot "
                             "train on your text.")
        return trained(self.train, str(self.request.get("text", "")), name)

    def _showing(self, found: Snapshots, beside: Beside, *, note: str) -> Computed:
        """Compute the state for a set of vectors; the current word, analogy and axes are kept if their words have
        vectors."""
        last = next(reversed(found.values()))
        fitted = principal(last.unit.detach())
        state: State = {
            "words": list(last.words), "width": last.matrix.shape[1], "updates": list(found),
            **packed([vectors.matrix.detach() for vectors in found.values()]), **beside, "own": bool(note),
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
        """The number and dimension of the vectors, and the nearest neighbours of the selected word."""
        near = ", ".join(found.word for found in self.shown.neighbours(self.word, 3, dot=self.measure == "dot"))
        question = f"; {' : '.join(self.analogy[:2])} :: {self.analogy[2]} : ?" if self.analogy else ""
        return (f"{len(self.vectors):,} words × {self.vectors.matrix.shape[1]} dimensions, update {self.update:,}; "
                f"nearest to '{self.word}': {near}{question}")
