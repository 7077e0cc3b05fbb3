"""Documents are edited where they tell the fact, and nowhere else."""

from random import Random

import pytest
import torch
from torch import Tensor, nn

from plmlab.chapters.ch16.corpora import EXAM, Statement, corpus
from plmlab.chapters.ch16.edited import KINDS, edits, followed, shares
from plmlab.chapters.ch16.editing import edit
from plmlab.example import Batch
from plmlab.models.embedder import EmbedderConfig
from plmlab.models.realm import REALM
from plmlab.world.datasets.tokenizer import ids, spelling

TOLD = corpus(EXAM[0])


def born(name: str) -> Statement:
    return next(one for one in TOLD.statements if one.cloze.fact.relation == "born_in" and one.cloze.words[:2] ==
                tuple(name.split()) and len(one.cloze.answer) == 1 and "born" in one.cloze.words)


def test_only_the_telling_words_change() -> None:
    checked = 0
    for statement in TOLD.statements[:150]:
        made = edit(TOLD, statement, Random(0))
        if made is None:
            continue
        fact = TOLD.plain(statement.cloze.fact)
        assert set(made.blocks) == TOLD.tellers[fact] and made.answer != statement.answer
        assert len(made.answer) == len(statement.answer)
        for number, block in made.blocks.items():
            was = TOLD.blocks[number]
            assert (block.title, block.first, len(block.sentences)) == (was.title, was.first, len(was.sentences))
            for sentence, old, new in zip(TOLD.sentences(number), was.sentences, block.sentences, strict=True):
                states = fact in map(TOLD.plain, sentence.facts)
                differing = [(a, b) for a, b in zip(ids(old.split()), ids(new.split()), strict=True) if a != b]
                assert bool(differing) == states and len(differing) <= len(statement.answer)
                assert {a for a, _ in differing} <= {*statement.answer} and {b for _, b in differing} <= {*made.answer}
        checked += 1
    assert checked > 20


def test_where_the_text_does_not_say_it_nothing_can_be_edited() -> None:
    """"She was born in …" does not spell the name."""
    hidden = [one for one in TOLD.statements if one.cloze.entity == one.cloze.fact.subject]
    assert any(edit(TOLD, one, Random(0)) is None for one in hidden)


def test_one_of_several() -> None:
    some = edits(EXAM[0], tuple(TOLD.statements[:300]), everywhere=False)
    assert len(some) > 20
    for statement, made in some:
        assert len(statement.tell) > 1 and len(made.blocks) == 1 and set(made.blocks) <= statement.tell


class Copies(nn.Module):
    """A reader's encoder that knows one thing: after "in" the document says the answer. Its logits stand for states."""

    def forward(self, batch: Batch) -> Tensor:
        (marker,) = ids(["in"])
        logits = torch.full((*batch.size, len(spelling())), -50.0)
        for row, (tokens, segments) in enumerate(zip(batch.tokens.tolist(), batch.segments.tolist(), strict=True)):
            body = [token for token, segment in zip(tokens, segments, strict=True) if segment]
            logits[row, :, body[body.index(marker) + 1] if marker in body else 0] = 0.0
        return logits


def test_every_answer_that_was_right_has_one_fate(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    model = REALM(EmbedderConfig(len(spelling()), time=96, layers=1, model=8, heads=1, inner=8, width=4)).eval()
    model.reader.bert = Copies()  # type: ignore[assignment]
    monkeypatch.setattr(model.reader, "token_logits", lambda states: states)
    some = tuple(TOLD.statements)
    told = followed(model, EXAM[0], some, everywhere=True)
    assert told["asked"] == len(edits(EXAM[0], some, True)) > told["right"] > 3
    assert sum(told[kind] for kind in KINDS) == told["right"] and told["follows"] > 0
    assert sum(shares(told)[kind] for kind in KINDS) == pytest.approx(1)
