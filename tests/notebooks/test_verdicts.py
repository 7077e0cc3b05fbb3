"""Every number in a verdict's paragraph stands where `verdicts` looks for it; and what it refuses."""

import json
import re
from pathlib import Path

import pytest
from verdicts import Paper, figures, missing, papers, recorded_of, sections

from plmlab.course import CHAPTERS
from plmlab.paths import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
VERDICTS = {"01": 5, "02": 8, "03": 10, "04": 5, "05": 4, "06": 2, "07": 7, "08": 9, "09": 3, "10": 8, "11": 9, "12a": 3, "12b": 6, "13": 3, "14": 5, "15": 5,
            "16": 6, "17": 3, "18a": 1, "18b": 4}
"""Key of a chapter or part → how many paragraphs are known as verdicts at least, so that none escapes when its words change."""


@each
def test_the_numbers_of_verdicts_stand_somewhere(path: Path) -> None:
    key = path.name.partition("_")[0]
    cited = [paper for paper in papers() if paper.chapter == key]
    wrong = list(missing(json.loads(path.read_text(encoding="utf-8")), key, recorded_of(key), cited))
    assert not wrong, "\n" + "\n".join(wrong)


@each
def test_no_verdict_escapes(path: Path) -> None:
    parts = sections(json.loads(path.read_text(encoding="utf-8")))
    assert sum(len(part.verdicts) for part in parts) >= VERDICTS.get(path.name.partition("_")[0], 0)


@each
def test_a_chapter_with_recorded_numbers_has_a_verdict(path: Path) -> None:
    parts = sections(json.loads(path.read_text(encoding="utf-8")))
    assert not recorded_of(path.name.partition("_")[0]) or any(part.verdicts for part in parts), "no paragraph begins like a verdict"


def test_the_papers_are_sorted_whole_and_used() -> None:
    rows = papers()
    assert [row.chapter for row in rows] == sorted(row.chapter for row in rows)
    assert len(set(rows)) == len(rows)
    for row in rows:
        [chapter] = [chapter for chapter in CHAPTERS if chapter.key == row.chapter]
        assert row.what and re.search(r"\b(19|20)\d\d, (table|figure|section|appendix|abstract|§)", row.source), row
        notebook = json.loads((ROOT / "notebooks" / chapter.file).read_text(encoding="utf-8"))
        verdicts = " ".join(text for part in sections(notebook) for _, text in part.verdicts)
        assert row.figure in {figure.text for figure in figures(verdicts)}, f"no verdict says it: {row}"


def markdown(text: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": [text]}


def code(printed: str, source: str = "print(scores)", tags: tuple[str, ...] = ()) -> dict:
    return {"cell_type": "code", "metadata": {"tags": list(tags)}, "source": [source],
            "outputs": [{"output_type": "stream", "name": "stdout", "text": [printed]}]}


RECORDED = {"labels": [16, 64], "steps": 300, "tuned": {"seeds": [0, 1, 7], "mean": 0.983, "values": [0.972, 1]}}
CITED = [Paper("99", "74.7", "average with the words' loss", "Radford et al. 2018, table 5")]


def complaints(prose: str, *printed: str) -> list[str]:
    """What is missing in a chapter with one section of outputs and one verdict, after a section of another matter."""
    cells = [markdown("## 1 · Before"), code("half 55; all 123,456 letters; loss 1.234"), markdown("## 2 · The claim"),
             *map(code, printed), markdown(prose)]
    return list(missing({"cells": cells}, "99", RECORDED, CITED))


@pytest.mark.parametrize(("prose", "printed"), [
    ("It is right 98 times in 100.", "pretrained  97 (96–98)"),
    ("It is right 98 or 99 times in 100.", "98.4 and 98.6"),
    ("It is right in 98 %.", "98% are right"),
    ("It is right in 98 %.", "right, of 100: 98.3"),
    ("It is right in 98 to 99 %.", "0.98, then 0.9912"),
    ("87 of 100 subjects.", "position 2: 0.87"),
    ("It has read 384,000 sentences.", "384,000 sentences"),
    ("It has read 384,000 sentences.", "384213 sentences"),
    ("The loss is 0.18 to 0.22 nats, 1.5 at first.", "0.18 0.2216 1.50"),
    ("From 9–12 words on.", "9–12 words between"),
    ("It falls by −0.3 nats.", "-0.30 nats"),
    ("It is 0.05 nats worse.", "-0.05 nats"),
    ("The rate is 1e-4.", "lr 0.0001"),
    ("After 80/10/10 it is good.", "80/10/10: good"),
    ("With 64 labels, 300 steps and 3 seeds.", ""),
    ("It knows 123,456 letters, at 1.234 nats.", ""),
    ("The paper has 74.7 on average.", ""),
    ("Radford et al. 2018 have 74.7 on average (2018, table 5).", ""),
    ("See chapter 08, §5, §§ 3.1 and 4, eqs. 3–5, figure 2 and table 6.", ""),
    ("As GPT-2, GPT-3 and T5 do on CoNLL-2003 (Devlin et al. 2019; Michel 2019), in 2018.", ""),
    ("See tables 5 and 6 of it, and (Hewitt and Liang 2019).", ""),
    ("Of $n^2$ steps, $2n^{10}d$, and `plmlab recipe 06`.", ""),
    ("In each of three seeds, in nine of ten.", ""),
])
def test_what_stands_somewhere_passes(prose: str, printed: str) -> None:
    assert not complaints(f"**Verdict: holds.** {prose}", printed)


@pytest.mark.parametrize(("prose", "printed", "number"), [
    ("It is right 98 times in 100.", "99 (99–99)", "98"),
    ("It is right 98 or 99 times in 100.", "99 (99–99)", "98"),
    ("It is right 98 times in 100.", "197 or 980", "98"),
    ("It is right 98.3 times in 100.", "98", "98.3"),
    ("It has read 500,000 sentences.", "384,000 sentences", "500,000"),
    ("It has read 385,000 sentences.", "384,213 sentences", "385,000"),
    ("It has read 1,000 sentences.", "1,024 sentences", "1,000"),
    ("Its loss is 6 % above.", "layer 6", "6"),
    ("Its loss is 6 % above.", "5.6 %", "6"),
    ("Its loss is 0.2 nats.", "0.22 nats", "0.2"),
    ("It falls by −0.3 nats.", "0.30 nats", "−0.3"),
    ("It has 98 layers.", "share 0.98", "98"),
    ("After 80/20/20 it is good.", "80/10/10, 20", "80/20/20"),
    ("It is right in 64 %.", "", "64"),
    ("It is right 64 times in 100.", "", "64"),
    ("On average it is at 98.3.", "", "98.3"),
    ("Two seeds of 7.", "", "7"),
    ("It knows 55 letters.", "", "55"),
    ("It is at 1.23 nats.", "", "1.23"),
    ("Ours has 74.7 on average.", "", "74.7"),
    ("The paper has 74.8 on average.", "", "74.8"),
    ("After 2000 steps.", "", "2000"),
    ("After 2000, it knows all.", "", "2000"),
    ("See table 5 and 98 of 100.", "", "98"),
    ("The paper (table 5, 74.8) has more.", "", "74.8"),
    ("Mean figures 98 to 99.", "99", "98"),
    ("After $n^2$ steps right in 64 %.", "64 layers", "64"),
    ("It has seen 100 sentences.", "", "100"),
    ("At $98$ of them.", "", "98"),
    ("With 384k sentences.", "", "384"),
])
def test_what_stands_nowhere_is_refused(prose: str, printed: str, number: str) -> None:
    [told] = complaints(f"**Verdict: holds.** Good. {prose}", printed)
    assert told.startswith(f"chapter 99, cell 4: {number} stands in no output") and told.endswith(f"“{prose}”")


@pytest.mark.parametrize("beginning", [
    "**Verdict: does not show at this size.** At", "So much for that. **Verdict: fails.** At",
    "**The claim** (2018, §5):", "- **Holds, for the cue.** At", "**The next sentence? No gain shows.** At",
    "**Not shown.** At", "**Verdict: a claim – supported.** At", "**Order matters – not supported:** At",
    "- **Masks: no effect at this size.** At", "Other words.\n\n**It holds in part.**\nAt",
])
def test_a_verdict_is_known_by_its_beginning(beginning: str) -> None:
    assert len(complaints(f"{beginning} 98 of 100.")) == 1
    assert not complaints(f"{beginning} most.\n\nIn another paragraph 98 of 100.")


@pytest.mark.parametrize("cell", [
    code("98", tags=("nbval-ignore-output",)), code("08.1: 98", source='check("08.1", f)'),
    {**code(""), "outputs": [{"output_type": "stream", "name": "stderr", "text": ["98"]}]},
])
def test_what_is_no_evidence(cell: dict) -> None:
    assert list(missing({"cells": [cell, markdown("**Holds** 98 times.")]}, "99", {}, []))


def test_what_depends_on_the_machine_is_evidence_if_an_assertion_keeps_it() -> None:
    verdict, tags = markdown("**Holds** 98 times."), ("nbval-ignore-output",)
    for source in ("print(score)\nassert abs(score - 98) < 2", "for score in scores:\n    assert score > 96",
                   "torch.testing.assert_close(score, 98, atol=2, rtol=0)"):
        assert not list(missing({"cells": [code("98", source, tags), verdict]}, "99", {}, []))
    for source in ("print(score)", "# no assertion\nprint(score)", 'print("assert")'):
        assert list(missing({"cells": [code("98", source, tags), verdict]}, "99", {}, []))


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown"])
def test_a_table_is_evidence(kind: str) -> None:
    cell = {**code(""), "outputs": [{"output_type": "display_data", "data": {kind: ["| a |\n", "| 98 |"]}}]}
    assert not list(missing({"cells": [markdown("**Holds** 98 times."), cell]}, "99", {}, []))


def test_a_section_ends_at_the_next_heading() -> None:
    live, verdict = [markdown("### Live"), code("98")], markdown("**Holds** 98 times.")
    assert not list(missing({"cells": [*live, markdown("### The verdict"), verdict]}, "99", {}, []))
    assert list(missing({"cells": [*live, markdown("### The verdict"), verdict, code("97")]}, "99", {}, []))
    assert list(missing({"cells": [*live, markdown("## The verdict"), verdict]}, "99", {}, []))
