"""Questions about the Wikipedia sample that gensim ships, written by hand, each with the sentences that answer it: what
is looked up in real text (`data/wikipedia_questions.tsv`)."""

from dataclasses import dataclass
from functools import cache

from plmlab.paths import DATA
from plmlab.world.tables import Row, clash, read_table

TABLE = "wikipedia_questions.tsv"
COLUMNS = ("form", "question", "answer", "steps", "sentences")


@dataclass(frozen=True)
class Step:
    """What is ``found`` on a page: another page by its title, or words; and a piece of the ``sentence`` that says so.
    """

    page: str
    found: str
    sentence: str


@dataclass(frozen=True)
class RealQuestion:
    """A question of a ``form`` (one-hop, bridge, either-or, yes-no), its answer (of a comparison a title, yes or no),
    and the way to it."""

    form: str
    text: str
    answer: str
    steps: tuple[Step, ...]


@cache
def questions() -> tuple[RealQuestion, ...]:
    """The questions, in the order of their table. TableError where a row is not whole."""
    return tuple(RealQuestion(row["form"], row["question"], row["answer"], _steps(row))
                 for row in read_table(TABLE, required=COLUMNS, folder=DATA))


def _steps(row: Row) -> tuple[Step, ...]:
    ways = [tuple(way.split(" => ")) for way in row["steps"].split(" | ")]
    sentences = row["sentences"].split(" | ")
    if len(ways) != len(sentences) or any(len(way) != 2 for way in ways):
        raise clash("each step is written as page => what is found there, and has a piece of a sentence", row)
    return tuple(Step(page, found, sentence) for (page, found), sentence in zip(ways, sentences, strict=True))
