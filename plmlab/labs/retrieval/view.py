"""Prepare the predictions for a query for JavaScript: the answers, and the contribution of each document, now and
before the edits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plmlab.labs.retrieval.protocol import Retriever
from plmlab.labs.retrieval.state import Column, Document, Generated, Sights
from plmlab.labs.shared.tokens import labels as token_labels
from plmlab.objectives.retrieval_batches import Ids
from plmlab.retrieval.reading import GeneratedAnswers, Reading
from plmlab.retrieval.retrieved import NULL
from plmlab.text.tokenizers import Tokenizer

MOST_ANSWERS = 5
"""Number of most probable answers shown, in addition to those that are always shown."""
EMPTY = "(empty)"
"""The display name of an answer without tokens."""
COLOURS = 7
"""Maximum number of answers shown."""


@dataclass(frozen=True)
class PredictionView:
    """The documents retrieved for a query, with their predictions."""

    lookup: Retriever
    reading: Reading

    def column(self, number: int, answers: Sequence[Ids]) -> Column:
        """One document: its score, p(z|x), and for each answer p(y|z,x) and the gradient r(z) with respect to the
        score."""
        place = self.reading.numbers.index(number)
        rows = [self.reading.answers.index(answer) for answer in answers]
        return {"number": number, "title": self.title(number), "score": float(self.reading.scores[place]),
                "prior": float(self.reading.priors[place]),
                "likelihoods": [float(self.reading.likelihoods[place, row]) for row in rows],
                "pulls": [float(self.reading.score_gradient(row)[place]) for row in rows]}

    def title(self, number: int) -> str:
        """The title of a document."""
        return "null document" if number == NULL else self.lookup.corpus.documents[number].title

    def chance(self, answer: Ids) -> float:
        """The probability p(y|x) of an answer."""
        return float(self.reading.marginals[self.reading.answers.index(answer)])


def shown(now: Reading, before: Reading | None, asked: Sequence[Ids]) -> list[Ids]:
    """Select the answers to show: the most probable answers, the best answers of each form, also those before the
    edits, and the answers in ``asked``. They are sorted by their probability before the edits, so that an edit does
    not change their order and colours."""
    always = {*asked, *now.best, *(before.best if before else ())}
    known = [answer for answer in now.answers if before is None or answer in before.answers]
    most = next((n for n in range(MOST_ANSWERS, 0, -1) if len({*known[:n], *always}) <= COLOURS), 0)
    selected = [answer for rank, answer in enumerate(known) if rank < most or answer in always]
    return selected if before is None else sorted(selected, key=before.answers.index)


def generated(now: PredictionView, before: PredictionView | None, answers: Sequence[Ids]) -> list[Generated]:
    """How each answer is generated; empty if the answers are predictions of masked tokens."""
    reading, old = now.reading, before.reading if before else None
    if not isinstance(reading, GeneratedAnswers):
        return []
    found, end = list[Generated](), now.lookup.tokenizer.vocab.need("end")
    for answer in answers:
        row = reading.answers.index(answer)
        columns = zip(token_labels(now.lookup.tokenizer, [*answer, end]), reading.predictions[row].T.tolist(),
                      reading.posteriors[row].T.tolist(), strict=False)
        was = float(old.token_marginals[old.answers.index(answer)]) if isinstance(old, GeneratedAnswers) else None
        found.append({"p": float(reading.token_marginals[row]), "before": was,
                      "tokens": [{"text": text, "predictions": predictions, "weights": weights}
                                 for text, predictions, weights in columns]})
    return found


def marked(tokenizer: Tokenizer, text: str, answers: Sequence[Ids]) -> list[list[Any]]:
    """Split a text into parts [text, index of the matching answer, or −1]; longer answers take precedence."""
    return [[part, answer] for part, answer in _parts(tokenizer, text, answers) if part]


def _parts(tokenizer: Tokenizer, text: str, answers: Sequence[Ids]) -> Iterator[tuple[str, int]]:
    ids, ends = tokenizer.encode(text, plain=True), tokenizer.offsets(text, plain=True)
    longest = sorted(range(len(answers)), key=lambda index: -len(answers[index]))
    done, at = 0, 0
    while at < len(ids):
        match = next((index for index in longest if tuple(ids[at:at + len(answers[index])]) == tuple(answers[index])
                      and answers[index]), None)
        size = 1 if match is None else len(answers[match])
        if match is not None:
            start, end = ends[at][0], ends[at + size - 1][1]
            yield text[done:start], -1
            yield text[start:end], match
            done = end
        at += size
    yield text[done:], -1


def drawing(now: PredictionView, before: PredictionView | None, asked: Sequence[Ids], right: Ids) -> Sights:
    """The columns now and, if documents were edited, before the edits; ``asked`` holds the answers that are always
    shown, including ``right``, the correct answer, if it is known."""
    answers = shown(now.reading, before.reading if before else None, asked)
    columns: list[Document] = [{**now.column(number, answers), "pieces": _marked_text(now, number, answers)}
                               for number in now.reading.numbers]
    old = None if before is None else [before.column(number, answers) for number in before.reading.numbers]
    return {"answers": [{"text": now.lookup.tokenizer.decode(answer) or EMPTY, "p": now.chance(answer),
                         "right": answer == right, "before": None if before is None else before.chance(answer)}
                        for answer in answers],
            "generated": generated(now, before, answers), "documents": columns, "before": old,
            "letters": letters(columns, old or [])}


def _marked_text(sight: PredictionView, number: int, answers: Sequence[Ids]) -> list[list[Any]]:
    if number == NULL:
        return []
    return marked(sight.lookup.tokenizer, sight.lookup.corpus.documents[number].text, answers)


def letters(*columns: Sequence[Column]) -> dict[str, str]:
    """A letter for each document retrieved now or before the edits; ∅ for the null document."""
    numbers = dict.fromkeys(column["number"] for group in columns for column in group if column["number"] != NULL)
    return {str(NULL): "∅"} | {str(number): chr(ord("A") + place) for place, number in enumerate(numbers)}
