"""The rows of translation and summarization: what is learned from, chosen by and tested on; and their scores."""

from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest
from toy_size import changed

from plmlab import transfer, world
from plmlab.world.datasets import generation_tasks as rows
from plmlab.world.datasets.documents import documents
from plmlab.world.datasets.tokenizer import bilingual_tokenizer

UNKNOWN = bilingual_tokenizer().vocab.unk


@pytest.fixture(autouse=True, scope="module")
def two_wordings() -> Iterator[None]:
    """Each article has two wordings."""
    with changed((rows, "WORDINGS", 2), forget=[rows.summarization]):
        yield


def test_no_test_row_is_a_training_or_development_row() -> None:
    for make in (rows.translation, rows.summarization):
        task = make()
        sources = [{source for source, _ in some} for some in (task.train, task.development, task.test_set)]
        assert sum(map(len, sources)) == len(set().union(*sources)), "not even its source"
        assert not any(UNKNOWN in (*source, *target) for source, target in (*task.train[:200], *task.test_set))


def test_test_sentences_occur_in_no_training_text_and_are_translated() -> None:
    task, spelling, full = rows.translation(), bilingual_tokenizer(), world.full()
    assert (len(task.train), len(task.development), len(task.test_set), task.read) == (8192, 100, 300, 0)
    read = {tuple(words) for words in islice(full.text("train", 17), 20_000)}
    known = {pair.english: pair.chinese for pair in islice(full.translations("test", 77), 2000)}
    for source, target in task.test_set:
        words = tuple(spelling.tokens(source))
        assert words not in read and known[words] == tuple(spelling.tokens(target))


def test_summaries_are_of_articles_of_the_training_text_first_and_then_of_others() -> None:
    task, spelling = rows.summarization(), bilingual_tokenizer()
    told = {article.words: article for article in world.full().corpora.articles("train").values()}
    for place, (source, target) in enumerate(task.test_set):
        words = tuple(spelling.tokens(source))
        assert (words in told) == (place < task.read)
        if place < task.read:
            said = [word for i in told[words].gist for word in told[words].sentences[i].words]
            assert spelling.tokens(target) == said


def test_training_articles_have_several_wordings_and_are_about_other_entities() -> None:
    task, spelling, full = rows.summarization(), bilingual_tokenizer(), world.full()
    told = full.corpora.articles("train")
    of = {article.words: entity for entity, article in told.items()}
    others = {of[tuple(spelling.tokens(source))] for source, _ in (*task.development, *task.test_set[:task.read])}
    learned = len(told) - len(others)
    assert len(task.train) == rows.WORDINGS * learned and len(set(task.train)) > 0.9 * len(task.train)
    assert {of[tuple(spelling.tokens(source))] for source, _ in task.train[:learned]} == set(told) - others


def test_scores_by_hand() -> None:
    two = [((1,), (40, 41, 42)), ((2,), (43, 44, 45, 46))]
    scores = rows.scores_of([(40, 41, 42), (43, 44, 45, 47)], two)
    assert scores["exact"] == 0.5 and 0 < scores["bleu"] < 100
    assert scores["rouge-l"] == pytest.approx(100 * (1 + 0.75) / 2)


def test_no_document_of_the_training_text_contains_a_test_sentence() -> None:
    """Of translation and of acceptability. Articles have no test split, so that documents of "test" repeat them."""
    full, rng = world.full(), Random("0:0")
    texts = list(islice(documents(full, "train", rng, 64), 3000))
    read = {one.words for text in texts for one in text}
    test_set = {tuple(bilingual_tokenizer().tokens(source)) for source, _ in rows.translation().test_set}
    acceptable = {tuple(row.words) for row in transfer.test_set("acceptability")}
    assert len(read) > 2000 and not read & test_set and not read & acceptable
    assert all(sum(len(one.words) for one in text) <= 64 or len(text) == 1 for text in texts)
