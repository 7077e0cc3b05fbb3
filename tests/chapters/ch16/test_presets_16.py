"""What chapter 16's lab tries is of the world, and the model makes of it what the chapter says."""

import pytest

from plmlab.chapters.ch16 import presets
from plmlab.chapters.ch16.corpora import corpus
from plmlab.checkpoints import load
from plmlab.models.retrieve_and_read import RetrieveAndRead
from plmlab.retrieval import NULL, Block
from plmlab.retrieval.reading import Reading


@pytest.fixture(scope="module")
def lookup() -> RetrieveAndRead:
    return RetrieveAndRead.of(*load("realm-world"), corpus(presets.WORLD).blocks)


def read(lookup: RetrieveAndRead, number: int) -> tuple[str, Reading]:
    """What the model says of a statement, its documents changed as the lab begins with."""
    _, words, _ = presets.TRIED[number]
    changed, statement = lookup.corpus.copied(), presets.statement(words)
    for place, (title, text) in presets.lab_presets()[number].replaced.items():
        changed.replace(place, Block(title, 0, (text,)))
    reading = lookup.with_corpus(changed).read([statement.query()], also=[[statement.answer]])[0]
    return " ".join(lookup.tokenizer.tokens(reading.answers[0])), reading


def test_what_the_model_says(lookup: RetrieveAndRead) -> None:
    assert [read(lookup, number)[0] for number in range(6)] == [
        "Arvania", "Leo Harlow", "Leo Kessler", "Alder", "Vera Farrow", "George Weber"]


def test_what_the_titles_say(lookup: RetrieveAndRead) -> None:
    first, changed, sister, outvoted, misread, nameless = (read(lookup, number)[1] for number in range(6))
    top = first.priors.topk(2)
    assert top.values.diff().abs() < 0.05 and first.likelihoods[top.indices, 0].sort().values.tolist() == pytest.approx(
        [0.2, 1], abs=0.05)
    assert set(presets.lab_presets()[1].replaced) == corpus(presets.WORLD).tellers[
        corpus(presets.WORLD).plain(presets.statement(presets.FOUNDER).cloze.fact)]
    assert "Leo Harlow" in presets.lab_presets()[2].replaced[2][1] and sister.numbers[int(sister.priors.argmax())] == 2
    likeliest = int(outvoted.priors.argmax())
    assert outvoted.likelihoods[likeliest, 0] < 0.1 and outvoted.marginals[0] > 0.4
    assert misread.numbers[int(misread.priors.argmax())] in presets.statement(presets.TRIED[4][1]).tell
    assert nameless.numbers[int(nameless.priors.argmax())] == NULL and changed.marginals[0] > 0.9


def test_no_document_that_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="no other answer can be inserted"):
        presets.preset("", "Helen Kessler and William Kessler grew up in one family .", None)
