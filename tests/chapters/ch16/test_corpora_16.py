"""Statements about the worlds of chapter 16 can be filled in from the blocks that are named."""

from plmlab.chapters.ch16.corpora import corpus
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.datasets.tokenizer import ids, world_tokenizer


def test_statements_are_filled_in_from_elsewhere() -> None:
    told, vocab = corpus(TEST_WORLDS[0]), world_tokenizer().vocab
    assert {one.cloze.split for one in told.statements} == {"train", "test"}
    assert len(told.quoted) > 40 and all(one.source not in one.tell for one in told.quoted)
    for one in told.statements:
        assert one.tell and one.answer == tuple(ids(one.cloze.answer)) and vocab.need("unk") not in one.tokens
        if one.source is not None:
            assert " ".join(one.cloze.words) in told.blocks[one.source].text
            assert one.query().excluded == (one.source,) and one.query(exclude=False).excluded == ()
