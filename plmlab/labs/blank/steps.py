"""A way through the blanks of a text: what either reader believes at each step, what is said, and by whom."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from plmlab.interpret.readable import inference
from plmlab.labs.blank.filling import (
    MOST,
    ExactFilling,
    ModelFilling,
    Stand,
    Words,
    likeliest_word,
    longest,
    positions_read,
    stand_of,
)
from plmlab.labs.blank.state import Length, Paid, Step
from plmlab.labs.shared.beliefs import Row
from plmlab.labs.shared.tokens import labels
from plmlab.models.architectures import InfillingDecoder
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.bayes_optimal import Distribution
from plmlab.world.probability.automaton import END
from plmlab.world.probability.infilling import Belief

TOP = 5
"""So many of the likeliest words of either reader are shown."""
READER, MODEL, EXACT = "you", "the model", "the exact reader"
NOBODY = "No world was given, so nobody knows the exact probabilities."

Drawn: TypeAlias = Callable[[tuple[int, ...]], dict[int, float]]
"""What a filler has read, up to [START] of a blank → number of words → how often the model's blank has so many."""


@dataclass(frozen=True)
class Names:
    """What the tokens of a tokenizer are called, and which may be said in a blank: words, and END."""

    tokenizer: Tokenizer

    @cached_property
    def all(self) -> list[str]:
        """The name of each token, by its id."""
        names = labels(self.tokenizer, range(len(self.tokenizer)))
        names[self.tokenizer.vocab.need("end")] = END
        return names

    @cached_property
    def ids(self) -> dict[str, int]:
        """Name → id of what may be said."""
        vocab = self.tokenizer.vocab
        return {name: id for id, name in reversed(list(enumerate(self.all)))
                if id == vocab.end or id not in vocab.special}

    def check(self, said: Sequence[str]) -> None:
        """A ValueError names the first that may not be said."""
        for word in said:
            if word not in self.ids:
                raise ValueError(f"“{word}” is no token that can fill a blank here; say a word of the vocabulary, or "
                                 f"{END}. What is drawn is from before.")


@dataclass(frozen=True)
class Walk:
    """One text's blanks, filled in ``order`` by two readers, either of which may be missing. ``hidden`` is what stood
    in each, by its number."""

    names: Names
    order: Sequence[int]
    hidden: Mapping[int, Words]
    filler: InfillingDecoder | None = None
    drawn: Drawn | None = None
    exact: ExactFilling | None = None

    def steps(self, chosen: Sequence[str]) -> list[Step]:
        """The way that begins with what the reader chose and goes on with what the model, or else the exact reader,
        thinks likeliest: a step for each word and END, for JavaScript. The last step has nothing ``said`` where nobody
        knows how to go on."""
        model = None if self.filler is None else ModelFilling(self.filler)
        path, found = list[str](), list[Step]()
        while (stand := stand_of(path, self.order)).blank is not None:
            distribution = None if model is None else model.belief()
            belief, why = ({}, NOBODY) if self.exact is None else self.exact.belief(stand)
            said, by = self._said(stand, distribution, belief, chosen[len(path):])
            found.append({
                "blank": stand.blank, "written": stand.written, "said": said, "by": by, "why": why,
                "rows": self._rows(distribution, belief, self._true(stand)),
                "model": model is not None, "exact": bool(belief)})
            if said is None:
                break
            path.append(said)
            if model is not None:
                model.say(self.names.ids[said])
        return found

    def lengths(self, steps: Sequence[Step]) -> list[Length]:
        """For each blank on the way, given what is said there in those before: how long it may be to either reader,
        [[words, p], …], and how many words stood there."""
        path = [step["said"] for step in steps if step["said"] is not None]
        found = list[Length]()
        for turn, blank in enumerate(dict.fromkeys(step["blank"] for step in steps)):
            stand = Stand(stand_of(path, self.order[:turn]).finished, blank, ())
            exact = {} if self.exact is None else self.exact.lengths(stand)
            drawn = {} if self.drawn is None else self.drawn(self._before(stand))
            found.append({"blank": blank, "true": len(self.hidden[blank]), "exact": list(exact.items()),
                          "model": list(drawn.items())})
        return found

    @property
    def told_by_the_text(self) -> dict[int, float]:
        """How long the blank that is filled last may be to the exact reader, if what stood in the others is filled in:
        number of words → probability; {} where there is no such reader."""
        *before, last = self.order
        stand = Stand({blank: self.hidden[blank] for blank in before}, last, ())
        return {} if self.exact is None else self.exact.lengths(stand)

    def paid(self) -> Paid:
        """−log p of what stood there, in nats, by the model and by the exact reader; None where there is none, or where
        it can't be."""
        model = None
        if self.filler is not None:
            with inference(self.filler.model):
                model = -float(self.filler.logprobs([[[self.names.ids.get(word, self.names.tokenizer.vocab.need("unk"))
                                                       for word in self.hidden[blank]]
                                                      for blank in sorted(self.hidden)]])[0])
        return {"model": model, "exact": None if self.exact is None else self.exact.surprisal(dict(self.hidden))}

    def _before(self, stand: Stand) -> tuple[int, ...]:
        """What a filler has read once one stands there."""
        start = self.names.tokenizer.vocab.need("start")
        return tuple(start if word is None else self.names.ids[word] for word in positions_read(stand, self.order))

    def _said(self, stand: Stand, distribution: Distribution | None, belief: Belief, chosen: Sequence[str],
              ) -> tuple[str | None, str]:
        """What is said next, and by whom; None where nobody says anything, or where a blank has grown too long."""
        full = len(stand.written) >= (MOST if self.filler is None else longest(self.filler))
        if chosen and not (full and chosen[0] != END):
            return chosen[0], READER
        if not full and distribution is not None:
            return self.names.all[likeliest_word(distribution, self.names.tokenizer.vocab)], MODEL
        return (next(iter(belief)), EXACT) if belief and not full else (None, "")

    def _true(self, stand: Stand) -> str | None:
        """What stood there next, while what is written is what stood there."""
        assert stand.blank is not None
        words = (*self.hidden[stand.blank], END)
        return words[len(stand.written)] if words[:len(stand.written)] == stand.written else None

    def _rows(self, distribution: Distribution | None, belief: Belief, true: str | None) -> list[Row]:
        """END, the likeliest words of either reader, and what stood there: the likeliest for the model first."""
        p: dict[str, float] = {}
        if distribution is not None:
            by_name = {name: float(distribution[id]) for name, id in self.names.ids.items() if id < len(distribution)}
            p = dict(sorted(by_name.items(), key=lambda item: -item[1]))
        words = dict.fromkeys((END, *list(p)[:TOP], *list(belief)[:TOP], *([] if true is None else [true])))
        rows: list[Row] = [{"word": word, "p": p.get(word, 0.0) if p else None,
                            "best": belief.get(word, 0.0) if belief else None, "own": word == true} for word in words]
        return sorted(rows, key=lambda row: (row["word"] != END, -(row["p"] or 0.0), -(row["best"] or 0.0)))
