"""The presets of chapter 17's lab: what each of them shows."""

import pytest

from plmlab.chapters.ch17 import live
from plmlab.chapters.ch17.presets import EDITED, TRIED, WORLD, lab_presets, question
from plmlab.chapters.ch17.questions import documents
from plmlab.labs.retrieval.edits import Edits
from plmlab.models.rag import TOP_K


@pytest.fixture(scope="module")
def whole():
    documents(WORLD)
    lab_presets()
    return live.with_bundled(WORLD)


def best(whole, preset) -> tuple[str, str]:
    """The most probable answers under RAG-Sequence and RAG-Token."""
    reading, = Edits.of((), preset.traits()["replaced"], ()).applied(whole).read([preset.text], TOP_K)
    sequence, token = (" ".join(whole.tokenizer.tokens([*answer])) for answer in reading.best)
    return sequence, token


def test_each_preset_shows_what_its_title_says(whole) -> None:
    both, none, one, changed, asked = lab_presets()
    assert [each.title for each in (both, none, one, changed, asked)] == [title for title, _, _ in TRIED]
    assert len(question(both.text).gold) >= 2 and best(whole, both)[1] == both.answer != best(whole, both)[0]
    texts = " ".join(f"{block.title} {block.text}" for block in documents(WORLD).blocks)
    assert best(whole, none)[1] == none.chosen and none.chosen not in texts
    assert len(question(one.text).gold) == 1 and best(whole, one) == (one.answer, one.answer)
    assert changed.text == EDITED and best(whole, changed)[1] == changed.answer
    assert changed.answer != " ".join(question(EDITED).answer)
    assert best(whole, asked)[0] not in texts and best(whole, asked)[0].split()[0] in asked.text
