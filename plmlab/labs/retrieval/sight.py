"""A reading of a statement as JavaScript draws it: answers, what each document had to do with them, now and before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plmlab.labs.retrieval.looking import Looking
from plmlab.labs.retrieval.state import Column, Document, Sights
from plmlab.objectives.retrieval_batches import Ids
from plmlab.retrieval.reading import Reading
from plmlab.retrieval.retrieved import NULL
from plmlab.text.tokenizers import Tokenizer

MOST_ANSWERS = 5
"""So many answers are shown, the likeliest, beside those that were asked for."""


@dataclass(frozen=True)
class Sight:
    """What is in sight for a statement in the documents of a lookup."""

    lookup: Looking
    reading: Reading

    def column(self, number: int, answers: Sequence[Ids]) -> Column:
        """A document: its score, p(z|x), and of each answer p(y|z,x) and the pull r(z)."""
        place = self.reading.numbers.index(number)
        rows = [self.reading.answers.index(answer) for answer in answers]
        return {"number": number, "title": self.title(number), "score": float(self.reading.scores[place]),
                "prior": float(self.reading.priors[place]),
                "likelihoods": [float(self.reading.likelihoods[place, row]) for row in rows],
                "pulls": [float(self.reading.score_gradient(row)[place]) for row in rows]}

    def title(self, number: int) -> str:
        """What a document is called."""
        return "nothing" if number == NULL else self.lookup.corpus.documents[number].title

    def chance(self, answer: Ids) -> float:
        """p(y|x)."""
        return float(self.reading.marginals[self.reading.answers.index(answer)])


def shown(now: Reading, before: Reading | None, asked: Sequence[Ids]) -> list[Ids]:
    """The answers that are shown: those that the reader thinks of with some document in sight, or thought of before, as
    far as there is room; always the best of then, and what is ``asked`` for. The likeliest come first, before anything
    was edited, so that an edit leaves each its place and colour."""
    always = {*asked, *(before.answers[:1] if before else ())}
    known = [answer for answer in now.answers if before is None or answer in before.answers]
    kept = [answer for place, answer in enumerate(known) if place < MOST_ANSWERS or answer in always]
    return kept if before is None else sorted(kept, key=before.answers.index)


def marked(tokenizer: Tokenizer, text: str, answers: Sequence[Ids]) -> list[list[Any]]:
    """A text in pieces, [piece, the number of the answer that it is], −1 where it is none; the longest answer first."""
    return [[piece, answer] for piece, answer in _pieces(tokenizer, text, answers) if piece]


def _pieces(tokenizer: Tokenizer, text: str, answers: Sequence[Ids]) -> Iterator[tuple[str, int]]:
    ids, ends = tokenizer.encode(text, plain=True), tokenizer.offsets(text, plain=True)
    longest = sorted(range(len(answers)), key=lambda one: -len(answers[one]))
    told, at = 0, 0
    while at < len(ids):
        found = next((one for one in longest if tuple(ids[at:at + len(answers[one])]) == tuple(answers[one])), None)
        size = 1 if found is None else len(answers[found])
        if found is not None:
            start, end = ends[at][0], ends[at + size - 1][1]
            yield text[told:start], -1
            yield text[start:end], found
            told = end
        at += size
    yield text[told:], -1


def drawing(now: Sight, before: Sight | None, asked: Sequence[Ids], right: Ids) -> Sights:
    """The columns now and, where something was edited, before; ``asked`` are answers that are shown in any case, the
    ``right`` one among them where it is known."""
    answers = shown(now.reading, before.reading if before else None, asked)
    columns: list[Document] = [{**now.column(number, answers), "pieces": _told(now, number, answers)}
                               for number in now.reading.numbers]
    old = None if before is None else [before.column(number, answers) for number in before.reading.numbers]
    return {"answers": [{"text": now.lookup.tokenizer.decode(answer), "p": now.chance(answer), "right": answer == right,
                         "before": None if before is None else before.chance(answer)} for answer in answers],
            "documents": columns, "before": old, "letters": letters(columns, old or [])}


def _told(sight: Sight, number: int, answers: Sequence[Ids]) -> list[list[Any]]:
    if number == NULL:
        return []
    return marked(sight.lookup.tokenizer, sight.lookup.corpus.documents[number].text, answers)


def letters(*columns: Sequence[Column]) -> dict[str, str]:
    """A letter for each document that is in sight, now or before; ∅ for the null document."""
    numbers = dict.fromkeys(column["number"] for some in columns for column in some if column["number"] != NULL)
    return {str(NULL): "∅"} | {str(number): chr(ord("A") + place) for place, number in enumerate(numbers)}
