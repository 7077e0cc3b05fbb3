"""The tables of smoothed n-gram models, on a few sentences."""

from collections.abc import Iterator
from math import log

import pytest

from plmlab import world
from plmlab.chapters.ch03 import amounts, smoothing, writing
from plmlab.models.ngram import NGram
from plmlab.world.datasets.tokenizer import world_tokenizer


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in (("READ", 60), ("TEST_SIZE", 20)):
        monkeypatch.setattr(smoothing, name, value)
    for cached in (smoothing.sentences, smoothing.token_ids):
        cached.cache_clear()
    yield
    for cached in (smoothing.sentences, smoothing.token_ids):
        cached.cache_clear()


def test_no_test_sentence_occurs_in_the_training_text() -> None:
    training, test_set = smoothing.sentences()
    assert (len(training), len(test_set)) == (60, 20) and not set(training) & set(test_set)
    decoded = [tuple(world_tokenizer().tokens(ids)) for ids in smoothing.token_ids()[1]]
    assert decoded == test_set


def test_the_floor_is_the_mean_over_tokens_and_no_model_beats_it(capsys: pytest.CaptureFixture[str]) -> None:
    test_set = smoothing.sentences()[1]
    nats, floor = [-world.full().logprob(words) for words in test_set], amounts.floor(test_set)
    assert floor == pytest.approx(sum(nats) / sum(len(words) + 1 for words in test_set))
    smoothing.show_losses((1, 2))
    for row in capsys.readouterr().out.splitlines()[1:]:
        _, raw, zero, *smoothed = row.split()
        assert raw == "∞" and 0 < float(zero.rstrip("%")) < 100
        assert all(floor < float(loss) < log(len(world_tokenizer())) for loss in smoothed)


def test_a_model_of_whole_sentences_copies_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smoothing, "sampled_texts", lambda model: writing.sampled_texts(model, count=10))
    model = NGram(smoothing.token_ids()[0], 30, world_tokenizer().vocab)
    assert smoothing.sampling_quality(model) == ("∞", "100%", "100%", "0%")
