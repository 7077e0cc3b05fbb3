"""The glossary: the terms that the chapters explain under "What you need", in English and Chinese."""

import csv
from dataclasses import dataclass

from plmlab.paths import DATA


@dataclass(frozen=True)
class Term:
    """A term, its standard Chinese translations (separated by commas), its meaning in one line, and the two-digit
    number of the first chapter that explains it."""

    english: str
    chinese: str
    meaning: str
    chapter: str


def glossary() -> list[Term]:
    """The terms of ``data/glossary.tsv`` in alphabetical order."""
    with (DATA / "glossary.tsv").open(encoding="utf-8", newline="") as file:
        return sorted((Term(**row) for row in csv.DictReader(file, delimiter="\t")),
                      key=lambda term: term.english.lower())
