"""Every number in a verdict's paragraph stands in an output of its chapter, in its recipe's settings, or in a paper.

A verdict's paragraph has "**Verdict" in it, or begins in bold with what became of a claim ("**Supported.**").
Its numbers are looked up, as strictly as true verdicts bear:

- in the printed outputs of the verdict's own section (from one heading to the next, ``##`` or ``###``; where a ``###``
  prints no number, those of the section before), as they are or rounded from there;
- with three significant digits or more also in the outputs of other sections, but unrounded;
- in ``data/results/NN.json``, but only integers that are settings (labels, steps, how many seeds), never as a score.
  Measured values there do not count: of hundreds between 0 and 1, one lies near any percentage that one may write;
- in ``data/papers.tsv``, in a sentence that names the paper, or its first author.

Exercises are no evidence. A cell whose outputs depend on the machine (``nbval-ignore-output``) is evidence if it has an
assertion: nbval does not compare what it prints, so only the assertion keeps the number true. Numbers in words are not
looked up: most count what one sees ("two sentences") or belong to an idiom ("one step apart", "a coin's").
"""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from plmlab.paths import DATA

VERDICT = re.compile(
    r"\*\*Verdict|^[\s>-]*\*\*[^*]*\b(?:verdict|the claim|supported|no effect|hold|holds|held|fails?|failed|shows?|shown)\b",
    re.IGNORECASE)
SENTENCE = re.compile(r".+?(?:[.!?][*)\"”]*(?=\s+[A-Z(*\[“\"])|$)")
NUMBER = re.compile(
    r"(?<![\w.])[−+-]?(?:[0-9]+(?:/[0-9]+)+|(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)(?![0-9])")
ANOTHER = r"(?:\s*(?:or|to|and|against|–|-)\s*[0-9][0-9.,]*)?"
PERCENT = re.compile(ANOTHER + r"\s?(?:%|per ?cent\b)")
SHARE = re.compile(ANOTHER + r"(?:\s?(?:%|per ?cent\b|points?\b)|(?:\s\w+)?\s(?:out\sof|of|in)\s100\b)")
IN_PERCENT = re.compile(r"%|per ?cent\b|\b(?:of|in) 100\b")
ONE = r"\s?[0-9]+(?:\.[0-9]+)*(?:–[0-9]+)?"
SEVERAL = ONE + r"(?: and " + ONE + ")?"
YEAR = r"(?:19|20)[0-9]{2}"
NAMES = re.compile("|".join((
    r"`[^`]*[A-Za-z][^`]*`",                                                        # code
    r"\]\([^)]*\)",                                                                 # the address of a link
    r"(?:§§|\b(?:[Cc]hapters|[Ss]ections|[Tt]ables|[Ee]quations|[Ee]qs\.|pp\.))" + SEVERAL,
    r"(?:§|\b(?:[Cc]hapter|[Ss]ection|[Tt]able|[Ff]igure|[Ff]ig\.|[Ee]quation|[Ee]q\.|[Aa]ppendix|p\.))" + ONE,
    r"\b[A-Z]\w*-[0-9]+(?:\.[0-9]+)?\b",                                            # GPT-2, CoNLL-2003
    rf"\bet al\.,? \(?{YEAR}\b",
    rf"(?:\(|(?:(?<=[a-z,;] )|(?<=\())[A-Z]\w+,? |\b[Ii]n ){YEAR}(?=[,;:.)])",      # (2018, and Liang 2019)
    r"(?<=[0-9])(?: \w+)?(?: out)? (?:of|in) 100\b",                                # 98 of 100, 98 times in 100
)))
POWERS = re.compile(r"[_^](?:\{[^}]*\}|\w)|[0-9]+(?=[A-Za-z\\])")
ASSERTION = re.compile(r"^\s*(?:assert|torch\.testing\.assert_close)\b", re.MULTILINE)
NO_EVIDENCE = re.compile(r"^(?:check|hint|solution|stub)\(", re.MULTILINE)


def named(text: str) -> str:
    """The text with blanks for the digits that are names: sections, years, models, exponents, "of 100"."""
    text = re.sub(r"\$[^$]*\$", lambda formula: POWERS.sub(blank, formula[0]), text)
    return NAMES.sub(blank, text)


def blank(found: re.Match) -> str:
    """As many spaces, so that what follows stays in its place."""
    return " " * len(found[0])


@dataclass(frozen=True)
class Figure:
    """A number as it is written, in prose or in an output."""

    text: str
    share: bool = False
    """Whether it is said of 100, in percent or in points."""
    percent: bool = False

    @cached_property
    def value(self) -> Decimal | None:
        """None where it is several with strokes between (80/10/10), which must be found as they are."""
        return None if "/" in self.text else Decimal(self.text.replace(",", "").replace("−", "-"))

    @cached_property
    def digits(self) -> int:
        """Its significant digits; the zeros at the end of a thousand or more may come from rounding."""
        digits = re.sub(r"e.*|[^0-9]", "", self.text).lstrip("0")
        round_thousands = "." not in self.text and len(digits) > 3
        return len(digits.rstrip("0") if round_thousands else digits)

    @cached_property
    def unit(self) -> Decimal:
        """What its last significant digit counts: 0.1 in 98.3, 1,000 in 384,000."""
        assert self.value is not None
        whole = len(str(abs(int(self.value))))
        thousands = "." not in self.text and whole > 3 and "e" not in self.text
        return Decimal(1).scaleb(whole - self.digits if thousands else int(self.value.as_tuple().exponent))

    def is_rounded_from(self, printed: Decimal) -> bool:
        """Whether the printed number, at this one's precision, is this one; alone, one digit must be it exactly."""
        assert self.value is not None
        if self.text[0] not in "+-−":
            printed = abs(printed)
        if self.digits < 2:
            return self.value == printed
        return int(printed.as_tuple().exponent) <= int(self.value.as_tuple().exponent) and \
            abs(self.value - printed) <= self.unit / 2


def figures(sentence: str) -> list[Figure]:
    """The numbers of a sentence that are not part of a name."""
    return [Figure(found[0], share=bool(SHARE.match(sentence, found.end())),
                   percent=bool(PERCENT.match(sentence, found.end()))) for found in NUMBER.finditer(named(sentence))]


@dataclass(frozen=True)
class Output:
    """What a cell printed."""

    text: str

    @cached_property
    def figures(self) -> list[Figure]:
        """Its numbers."""
        return figures(self.text)

    def tells(self, figure: Figure) -> bool:
        """Whether a number is printed here, in the same form, with more digits, or as a share between 0 and 1."""
        if figure.value is None:
            return figure.text in {printed.text for printed in self.figures}
        printed = [other.value for other in self.figures if other.value is not None]
        shares = [value.scaleb(2) for value in printed if 0 <= value <= 1 and int(value.as_tuple().exponent) < -1]
        whole = not figure.percent or IN_PERCENT.search(self.text)
        return any(map(figure.is_rounded_from, (printed if whole else []) + (shares if figure.share else [])))

    def tells_exactly(self, figure: Figure) -> bool:
        """Whether a number is printed here, unrounded."""
        return any(figure.value is not None and other.value == figure.value for other in self.figures)


@dataclass(frozen=True)
class Paper:
    """A number of a paper's: a row of data/papers.tsv."""

    chapter: str
    figure: str
    what: str
    source: str

    def tells(self, figure: Figure, sentence: str) -> bool:
        """Whether a sentence that names the paper says this number."""
        named_here = re.search(r"\bpapers?\b|\b" + re.escape(self.source.split()[0]) + r"\b", sentence)
        return bool(named_here) and figure.text == self.figure


@dataclass
class Section:
    """A part of a chapter, from one heading to the next: its verdicts, each with its cell's number, and its outputs."""

    level: int = 2
    verdicts: list[tuple[int, str]] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)

    def sentences(self) -> Iterator[tuple[int, str]]:
        """Those of the verdicts, each with its cell's number."""
        for cell, verdict in self.verdicts:
            yield from ((cell, sentence.strip()) for sentence in SENTENCE.findall(verdict))


def sections(notebook: dict) -> list[Section]:
    """A notebook in parts; the first is what stands above all headings."""
    parts = [Section()]
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            parts[-1].outputs += outputs(cell)
            continue
        for paragraph in re.split(r"\n\s*\n", source):
            if heading := re.match(r"\s*(#{2,}) ", paragraph):
                parts.append(Section(level=len(heading[1])))
            if VERDICT.search(paragraph):
                parts[-1].verdicts.append((number, " ".join(paragraph.split())))
    for before, part in pairwise(parts):
        if part.level > 2 and not any(output.figures for output in part.outputs):
            part.outputs = before.outputs
    return parts


def outputs(cell: dict) -> list[Output]:
    """What a cell prints or shows as text, if something keeps it as it is: nbval, or an assertion of its own."""
    source = "".join(cell["source"])
    unchecked = "nbval-ignore-output" in cell["metadata"].get("tags", []) and not ASSERTION.search(source)
    if unchecked or NO_EVIDENCE.search(source):
        return []
    told = [output["text"] if output["output_type"] == "stream" and output["name"] == "stdout" else
            [*output.get("data", {}).get("text/plain", []), "\n", *output.get("data", {}).get("text/markdown", [])]
            for output in cell["outputs"]]
    return [Output("".join(text)) for text in told]


def settings(numbers: object) -> set[Decimal]:
    """The integers among recorded numbers that are no measured values, and how many seeds there were."""
    if isinstance(numbers, dict):
        seeds = {Decimal(len(numbers["seeds"]))} if "seeds" in numbers else set()
        measured = {"seeds", "values"} | ({"mean", "low", "high", "deviation"} if "mean" in numbers else set())
        return seeds.union(*(settings(told) for name, told in numbers.items() if name not in measured))
    if isinstance(numbers, list):
        return set().union(*map(settings, numbers))
    return {Decimal(numbers)} if isinstance(numbers, int) and not isinstance(numbers, bool) else set()


def papers() -> list[Paper]:
    """The rows of data/papers.tsv."""
    with (DATA / "papers.tsv").open(encoding="utf-8", newline="") as file:
        return [Paper(**row) for row in csv.DictReader((line for line in file if line[0] != "#"), delimiter="\t")]


def missing(notebook: dict, chapter: str, recorded: object, cited: list[Paper]) -> Iterator[str]:
    """The numbers of verdicts that stand nowhere, each with its chapter, its cell (from 0) and its sentence."""
    parts, known = sections(notebook), settings(recorded)
    everywhere = [output for part in parts for output in part.outputs]
    for part in parts:
        for cell, sentence in part.sentences():
            for figure in figures(sentence):
                if not (any(output.tells(figure) for output in part.outputs)
                        or (figure.digits > 2 and any(output.tells_exactly(figure) for output in everywhere))
                        or (figure.value in known and not figure.share)
                        or any(paper.tells(figure, sentence) for paper in cited)):
                    yield (f"chapter {chapter}, cell {cell}: {figure.text} stands in no output of its section, in no "
                           f"setting of data/results/{chapter[:2]}.json, and not in data/papers.tsv: “{sentence}”")


def recorded_of(chapter: str) -> object:
    """What the recipe of a chapter, or of the chapter of a part ("12a"), recorded; nothing where it has none."""
    file = DATA / "results" / f"{chapter[:2]}.json"
    return json.loads(file.read_text(encoding="utf-8"))["numbers"] if file.exists() else {}
