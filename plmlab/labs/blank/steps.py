"""A path through the blanks of a text: at each step both distributions, the chosen token, and whether the model or the
reader chose it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from plmlab.interpret.readable import inference
from plmlab.labs.blank.filling import (
    MOST,
    ExactFilling,
    InfillingProgress,
    ModelFilling,
    Words,
    likeliest_word,
    longest,
    part_b_tokens,
    progress_of,
)
from plmlab.labs.blank.state import NLL, Length, Step
from plmlab.labs.shared.beliefs import Row
from plmlab.labs.shared.tokens import labels
from plmlab.models.architectures import InfillingDecoder
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.bayes_optimal import Distribution
from plmlab.world.probability.automaton import END
from plmlab.world.probability.infilling import Belief

TOP = 5
"""The number of most likely words shown for each distribution."""
READER, MODEL, EXACT = "you", "the model", "the exact posterior"
NOBODY = "No world was given, so the exact probabilities are unknown."

Drawn: TypeAlias = Callable[[tuple[int, ...]], dict[int, float]]
"""The filler's input up to [START] of a blank → the model's distribution of the number of words of the blank."""


@dataclass(frozen=True)
class Names:
    """Display names of a tokenizer's tokens, and the tokens that can fill a blank: words and END."""

    tokenizer: Tokenizer

    @cached_property
    def all(self) -> list[str]:
        """The name of each token, by its id."""
        names = labels(self.tokenizer, range(len(self.tokenizer)))
        names[self.tokenizer.vocab.need("end")] = END
        return names

    @cached_property
    def ids(self) -> dict[str, int]:
        """Name → id of the tokens that can fill a blank."""
        vocab = self.tokenizer.vocab
        return {name: id for id, name in reversed(list(enumerate(self.all)))
                if id == vocab.end or id not in vocab.special}

    def check(self, words: Sequence[str]) -> None:
        """Raise ValueError for the first word that cannot fill a blank."""
        for word in words:
            if word not in self.ids:
                raise ValueError(f"“{word}” is not a token that can fill a blank; type a word of the vocabulary, or "
                                 f"{END}. The drawing is unchanged")


@dataclass(frozen=True)
class Walk:
    """The blanks of one text, filled in ``order``, with the model and the exact posterior; either may be missing.
    ``hidden`` maps the number of each blank to its original words."""

    names: Names
    order: Sequence[int]
    hidden: Mapping[int, Words]
    infiller: InfillingDecoder | None = None
    drawn: Drawn | None = None
    exact: ExactFilling | None = None

    def steps(self, chosen: Sequence[str]) -> list[Step]:
        """The path that starts with the reader's choices and continues greedily with the model, or with the exact
        posterior if there is no model. Returns one step for each word and END, for JavaScript; in the last step,
        ``said`` is None if the path cannot be continued."""
        model = None if self.infiller is None else ModelFilling(self.infiller)
        path, steps = list[str](), list[Step]()
        while (progress := progress_of(path, self.order)).blank is not None:
            distribution = None if model is None else model.belief()
            belief, why = ({}, NOBODY) if self.exact is None else self.exact.belief(progress)
            token, by = self._next_token(progress, distribution, belief, chosen[len(path):])
            steps.append({
                "blank": progress.blank, "written": progress.written, "said": token, "by": by, "why": why,
                "rows": self._rows(distribution, belief, self._original(progress)),
                "model": model is not None, "exact": bool(belief)})
            if token is None:
                break
            path.append(token)
            if model is not None:
                model.append_token(self.names.ids[token])
        return steps

    def lengths(self, steps: Sequence[Step]) -> list[Length]:
        """For each blank on the path, given the earlier blanks: the distributions of its length, as [[words, p], …],
        and its true length."""
        path = [step["said"] for step in steps if step["said"] is not None]
        lengths = list[Length]()
        for turn, blank in enumerate(dict.fromkeys(step["blank"] for step in steps)):
            progress = InfillingProgress(progress_of(path, self.order[:turn]).finished, blank, ())
            exact = {} if self.exact is None else self.exact.lengths(progress)
            drawn = {} if self.drawn is None else self.drawn(self._before(progress))
            lengths.append({"blank": blank, "true": len(self.hidden[blank]), "exact": list(exact.items()),
                            "model": list(drawn.items())})
        return lengths

    @property
    def exact_lengths(self) -> dict[int, float]:
        """The exact posterior of the length of the blank that is filled last, given the original words of the other
        blanks, as number of words → probability; {} if there is none."""
        *before, last = self.order
        progress = InfillingProgress({blank: self.hidden[blank] for blank in before}, last, ())
        return {} if self.exact is None else self.exact.lengths(progress)

    def nll(self) -> NLL:
        """−log p of the original words in nats, under the model and under the exact posterior; None if a value is
        missing or infinite."""
        model = None
        if self.infiller is not None:
            with inference(self.infiller.model):
                model = -float(self.infiller.logprobs([[[self.names.ids.get(word,
                                                                            self.names.tokenizer.vocab.need("unk"))
                                                         for word in self.hidden[blank]]
                                                        for blank in sorted(self.hidden)]])[0])
        return {"model": model, "exact": None if self.exact is None else self.exact.surprisal(dict(self.hidden))}

    def _before(self, progress: InfillingProgress) -> tuple[int, ...]:
        """The filler's input in this state."""
        start = self.names.tokenizer.vocab.need("start")
        return tuple(start if word is None else self.names.ids[word] for word in part_b_tokens(progress, self.order))

    def _next_token(self, progress: InfillingProgress, distribution: Distribution | None, belief: Belief,
                    chosen: Sequence[str]) -> tuple[str | None, str]:
        """The next token, and whether the model or the reader chose it. The token is None if there is no continuation,
        or if the blank is too long."""
        full = len(progress.written) >= (MOST if self.infiller is None else longest(self.infiller))
        if chosen and not (full and chosen[0] != END):
            return chosen[0], READER
        if not full and distribution is not None:
            return self.names.all[likeliest_word(distribution, self.names.tokenizer.vocab)], MODEL
        return (next(iter(belief)), EXACT) if belief and not full else (None, "")

    def _original(self, progress: InfillingProgress) -> str | None:
        """The original next word, if all words so far are the original ones; otherwise None."""
        assert progress.blank is not None
        words = (*self.hidden[progress.blank], END)
        return words[len(progress.written)] if words[:len(progress.written)] == progress.written else None

    def _rows(self, distribution: Distribution | None, belief: Belief, true: str | None) -> list[Row]:
        """END, the most likely words of both distributions, and the original word, sorted by probability."""
        p: dict[str, float] = {}
        if distribution is not None:
            by_name = {name: float(distribution[id]) for name, id in self.names.ids.items() if id < len(distribution)}
            p = dict(sorted(by_name.items(), key=lambda item: -item[1]))
        words = dict.fromkeys((END, *list(p)[:TOP], *list(belief)[:TOP], *([] if true is None else [true])))
        rows: list[Row] = [{"word": word, "p": p.get(word, 0.0) if p else None,
                            "best": belief.get(word, 0.0) if belief else None, "own": word == true} for word in words]
        return sorted(rows, key=lambda row: (row["word"] != END, -(row["p"] or 0.0), -(row["best"] or 0.0)))
