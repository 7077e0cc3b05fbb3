"""What chapter 12 has pretrained: what each arm reads of a text, as much of it, and at which rate."""

from dataclasses import replace
from math import inf
from random import Random

import pytest

from plmlab.chapters.ch12.pretrained import PRETRAINED
from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.recipes import Parts
from plmlab.recipes.study import Run
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from studies.ch12 import pretrained

VOCAB = Vocabulary(60)
A, B = [40, 41, 42], [50, 51]


def test_gpt_reads_on_into_what_follows_and_not_into_a_stranger() -> None:
    follows, stranger = (pretrained.continued(A, B, know, vocab=VOCAB, rng=Random(0)) for know in (True, False))
    assert follows.targets.tolist() == [*A, *B, VOCAB.end] and stranger.targets.tolist() == [*A, VOCAB.end]


def test_the_encoder_decoder_writes_what_follows() -> None:
    follows = pretrained.answered_by(A, B, True, vocab=VOCAB, rng=Random(0))
    assert follows.source.tokens.tolist() == [*A, VOCAB.end] and follows.target.targets.tolist() == [*B, VOCAB.end]
    cuts = set()
    for seed in range(60):
        stranger = pretrained.answered_by(A, B, False, vocab=VOCAB, rng=Random(seed))
        read, written = stranger.source.tokens.tolist()[:-1], stranger.target.targets.tolist()[:-1]
        assert read + written == A and written
        cuts.add(len(read))
    assert cuts == {0, 1, 2}


def test_all_read_as_many_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "EVERY", 400)
    read = {name: pretrained.tokens(name) for name in pretrained.ARMS}
    assert all(count == pytest.approx(6.1, rel=0.06) for count in read.values()), read


def test_tokens_are_counted_without_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    """One update of the encoder-decoder: both sides."""
    monkeypatch.setattr(pretrained, "ARMS", {"it": pretrained.ARMS["encoder-decoder"]._replace(updates=1)})
    batches = [pretrained.texts("it", 0)(step) for step in range(4)]
    pad = bilingual_tokenizer().vocab.need("pad")
    assert all(isinstance(batch, PairBatch) for batch in batches)
    count = sum(int((side.tokens != pad).sum()) for batch in batches
                for side in (batch.source, batch.target))  # type: ignore[union-attr]
    assert pretrained.tokens("it") == pytest.approx(count / 1e6)


def test_the_specialist_reads_under_one_mask() -> None:
    for step in range(4):
        batch = pretrained.texts("sequence to sequence", 0)(step)
        assert isinstance(batch, Batch)
        assert set(batch.segments[batch.tokens != 0].tolist()) == {4, 5}
        assert "next_sentence" in batch.labels and set(batch.labels["next_sentence"].tolist()) == {IGNORE}


def best_at_1e_2(run: Run) -> float:
    return -abs(run.lr - 1e-2)


def test_what_is_recorded_and_kept(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tuple(pretrained.ARMS) == PRETRAINED
    monkeypatch.setattr(pretrained, "ARMS", {"GPT": pretrained.ARMS["GPT"]._replace(updates=1)})
    for name, value in (("BATCH", 4), ("ACCUMULATE", 1), ("JUDGED", 1)):
        monkeypatch.setattr(pretrained, name, value)
    toy = replace(pretrained.STUDY, arms={("GPT",): pretrained.RATES}, updates=(1,), pilot_updates=1,
                  development=best_at_1e_2, nothing=-inf)
    told = pretrained.measure(parts, toy)["GPT"]
    assert told["lr"] == 1e-2 and [rate for rate, _ in told["rates"]] == [1e-3, 3e-3, 1e-2, 3e-2]
    assert told["rates"][0][1] == pytest.approx(9e-3) and told["updates"] == 1
    found = pretrained.pretrained(parts.folder, "GPT")
    assert not found.training and 6 < told["loss"] < 9 and pretrained.loss("GPT", found) == pytest.approx(told["loss"])
    assert told["parameters"] == sum(weight.numel() for weight in found.parameters())
