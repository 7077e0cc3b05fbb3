"""Hand-written questions about the Wikipedia sample that ships with gensim, each with its supporting sentences
(`data/wikipedia_questions.tsv`)."""

from dataclasses import dataclass
from functools import cache

from plmlab.paths import DATA
from plmlab.world.tables import Row, clash, read_table

TABLE = "wikipedia_questions.tsv"
COLUMNS = ("form", "question", "answer", "steps", "sentences")


@dataclass(frozen=True)
class Step:
    """One hop: what is ``found`` on a page (the title of another page, or words), and an excerpt of the supporting
    ``sentence``."""

    page: str
    found: str
    sentence: str


@dataclass(frozen=True)
class RealQuestion:
    """A question of a given ``form`` (one-hop, bridge, either-or, yes-no), its answer (a title; for a comparison also
    yes or no), and the reasoning steps."""

    form: str
    text: str
    answer: str
    steps: tuple[Step, ...]


@cache
def questions() -> tuple[RealQuestion, ...]:
    """The questions, in table order. Raises TableError for an incomplete row."""
    return tuple(RealQuestion(row["form"], row["question"], row["answer"], _steps(row))
                 for row in read_table(TABLE, required=COLUMNS, folder=DATA))


def _steps(row: Row) -> tuple[Step, ...]:
    ways = [tuple(way.split(" => ")) for way in row["steps"].split(" | ")]
    sentences = row["sentences"].split(" | ")
    if len(ways) != len(sentences) or any(len(way) != 2 for way in ways):
        raise clash("each step must have the form page => what is found there, and a part of a sentence", row)
    return tuple(Step(page, found, sentence) for (page, found), sentence in zip(ways, sentences, strict=True))
