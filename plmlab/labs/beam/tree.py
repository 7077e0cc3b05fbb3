"""The tree of a beam search for JavaScript: one column per step, with the probabilities and the fate of every
branch."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from plmlab.decode import Hypothesis, length_penalty
from plmlab.decode.trace import Step, beam_search_trace
from plmlab.labs.beam.adapters import Adapter, prompt_of
from plmlab.labs.beam.exact import PrefixProbabilities
from plmlab.labs.beam.state import Branch, Grown, Lane, Whole


@dataclass(frozen=True)
class Search:
    """The parameters of a beam search: the model (``writer``), the prompt's ids and the prompt in the world
    (``started``, None without a world), the maximum length, the beam width and the exponent of the length penalty."""

    writer: Adapter
    ids: tuple[int, ...]
    started: PrefixProbabilities | None
    length: int
    width: int
    alpha: float

    def steps(self) -> list[Step]:
        """The beam search, step by step."""
        with self.writer.at_rest():
            return list(beam_search_trace(self.writer.model, prompt_of(self.ids), self.writer.vocab,
                                          length=self.length, beam=self.width, alpha=self.alpha))

    def best(self) -> Hypothesis | None:
        """The best hypothesis of the beam; None if no hypothesis finished."""
        finished = self.steps()[-1].finished
        return finished[0] if finished else None

    def score(self, text: Hypothesis) -> float:
        """The score that ranks finished hypotheses: log-probability in nats, divided by the length penalty."""
        return text.logprob / length_penalty(len(text.tokens), self.alpha)


def greedily(writer: Adapter, ids: Sequence[int], length: int) -> list[Hypothesis]:
    """Greedy decoding, token by token, implemented as a beam of width 1."""
    return [step.weighed[0][1] for step in Search(writer, tuple(ids), None, length, 1, 0.0).steps()]


def columns(search: Search, steps: Sequence[Step], greedy: Hypothesis) -> list[list[Branch]]:
    """One list of branches per step, grouped by parent, the most likely branch first.

    A branch has its ``token``, the token's probability under the model (``p``) and under the world (``world``, None
    outside the grammar), the log-probability (``total``) and the ``score`` of the hypothesis in nats, its ``rank`` in
    the step (from 1), the index of its ``parent`` in the previous column (−1 for the prompt), its ``fate`` (open,
    finished or pruned) with the ``reason``, and flags for the greedy path (``greedy``) and for the path to the best
    text (``best``). ``whole`` describes a finished hypothesis.
    """
    best = steps[-1].finished[0].tokens if steps[-1].finished else ()
    columns: list[list[Branch]] = []
    places: dict[tuple[int, ...], int] = {(): -1}
    before = [Hypothesis()]
    for step in steps:
        ranked = sorted(enumerate(step.weighed), key=lambda item: (places[item[1][1].tokens[:-1]], item[0]))
        column = list[Branch]()
        for rank, (row, text) in ranked:
            fate, reason = fate_of(search, step, rank, text)
            column.append({
                "parent": places[text.tokens[:-1]], "token": search.writer.labels(text.tokens[-1:])[0],
                "p": exp(text.logprob - before[row].logprob), "world": chance(search, text),
                "total": text.logprob, "score": search.score(text), "rank": rank + 1, "fate": fate, "reason": reason,
                "greedy": greedy.tokens[:len(text.tokens)] == text.tokens,
                "best": best[:len(text.tokens)] == text.tokens,
                "whole": told(search, text) if fate == "finished" else None,
            })
        places = {text.tokens: place for place, (_, (_, text)) in enumerate(ranked)}
        columns.append(column)
        before = step.open
    return columns


def branch(steps: Sequence[Step], step: int, place: int) -> Hypothesis:
    """The hypothesis that ends in a branch, given by its step and its index in that column. Raises ValueError if there
    is no such branch."""
    orders: dict[tuple[int, ...], int] = {(): -1}
    for each in steps[:step + 1]:
        texts = [text for _, text in sorted(enumerate(text for _, text in each.weighed),
                                            key=lambda item: (orders[item[1].tokens[:-1]], item[0]))]
        orders = {text.tokens: at for at, text in enumerate(texts)}
    if not 0 <= step < len(steps) or not 0 <= place < len(texts):
        raise ValueError(f"the tree has no branch {place} in step {step + 1}: it may have changed meanwhile")
    return texts[place]


def fate_of(search: Search, step: Step, rank: int, text: Hypothesis) -> tuple[str, str]:
    """The fate of the branch with the given rank (from 0), and the reason for it."""
    ended = text.tokens[-1] == search.writer.vocab.end
    if ended or len(text.tokens) == search.length:
        return ("finished", "end" if ended else "length") if rank < search.width else ("pruned", "late")
    if text in step.open:
        return "open", ""
    return "pruned", "rank" if step.open else "hope"


def chance(search: Search, text: Hypothesis) -> float | None:
    """The exact probability, under the world, of the last token given the preceding tokens; None if it is undefined."""
    return search.started.chance(text.tokens) if search.started else None


def told(search: Search, text: Hypothesis) -> Whole:
    """A complete text with its number of tokens and log-probabilities; the one under the world is None outside the
    grammar."""
    writer = search.writer
    return {
        "text": writer.written(text.tokens), "count": len(text.tokens), "total": text.logprob,
        "score": search.score(text), "cut": text.tokens[-1] != writer.vocab.end,
        "world": search.started.total(text.tokens) if search.started else None,
    }


def lane(search: Search, path: Sequence[Hypothesis], before: Hypothesis) -> Lane:
    """A path outside the beam, token by token from ``before`` on, which is drawn below the tree."""
    whole = path[-1] if path else before
    tokens, last = list[Grown](), before
    for text in path:
        tokens.append({"token": search.writer.labels(text.tokens[-1:])[0], "p": exp(text.logprob - last.logprob),
                       "world": chance(search, text), "total": text.logprob, "score": search.score(text)})
        last = text
    return {"from": len(before.tokens), "tokens": tokens, **told(search, whole)}
