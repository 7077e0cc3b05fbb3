"""Chapter 15's questions about real text: their texts, and a hand-made judge that needs the second round."""

from itertools import accumulate, groupby

import pytest
import torch

from plmlab.chapters.ch15 import wikipedia
from plmlab.chapters.ch15.long_texts import bm25_scores
from plmlab.chapters.ch15.wikipedia import LONGEST, PAGES, WORDS, judge_by, page_blocks, real_text, supports_read
from plmlab.hf.minilm_vectors import pieces
from plmlab.models.memory_recall import recall, single_blocks
from plmlab.retrieval.wikipedia_questions import questions
from plmlab.text import articles


def subwords(text: str) -> str:
    return "".join(pieces().tokens(pieces().encode(text)))


def test_the_blocks_are_the_beginnings_of_the_pages_in_order() -> None:
    texts = {article.title: " ".join(article.text.split()[:WORDS]) for article in articles()}
    assert {*page_blocks()} == {step.page for one in questions() for step in one.steps}
    for title, blocks in page_blocks().items():
        assert all(len(block) <= LONGEST + 1 for block in blocks)
        found = [subwords(f"{title},"), *("".join(pieces().tokens(block)).removesuffix("[SEP]") for block in blocks)]
        assert "".join(one[len(found[0]):] for one in found if one.startswith(found[0])) == subwords(texts[title])


def test_a_text_has_whole_pages_with_each_excerpt() -> None:
    page_of = {block: title for title, blocks in page_blocks().items() for block in blocks}
    for question in questions():
        text, supports = real_text(question)
        titles = [title for title, _ in groupby(page_of[block.ids] for block in text.blocks)]
        assert [*enumerate(block for title in titles for block in page_blocks()[title])] == [
            (block.position, block.ids) for block in text.blocks]
        assert len({*titles}) == len(titles) == PAGES
        assert (text, supports) == real_text(question) != real_text(question, 1)
        for place, step in zip(supports, question.steps, strict=True):
            assert page_of[text.blocks[place].ids] == step.page
            assert subwords(step.sentence) in "".join(pieces().tokens(text.blocks[place].ids))


def test_a_judge_that_knows_the_second_step_finds_it_in_two_rounds_but_not_in_one() -> None:
    text, (first, second) = real_text(next(one for one in questions() if one.form == "bridge"))
    similarity = torch.full((len(text.blocks) + 1, len(text.blocks)), -1.)
    similarity[0], similarity[0, first], similarity[0, second], similarity[1 + first, second] = 0.1, 1, 0, 2
    judge, both = judge_by(similarity), text.with_blocks(text.blocks[place] for place in (first, second))
    assert dict(zip((block.position for block in both.blocks), *judge([both]), strict=True)) == {first: 1, second: 2}
    for keep, found in ((wikipedia.ONE, [True, False]), (wikipedia.TWO, [True, True])):
        final = recall(text.query, text.blocks, judge, grouping=single_blocks, keep=keep)[-1].kept
        assert [text.blocks[place] in final.blocks for place in (first, second)] == found


def test_selections_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    for question in questions()[9::3]:
        text, supports = real_text(question)
        rows = torch.eye(places := len(text.blocks))
        query = rows[supports[0]] - 3 * rows[supports[-1]]
        rows[supports[-1], supports[0]] = 2  # similar to the first support, but not to the question
        found = dict(zip([text.query[1:-1], *(block.ids[:-1] for block in text.blocks)], [query, *rows], strict=True))
        monkeypatch.setattr(wikipedia, "vectors", lambda found=found: found)
        scores, read = bm25_scores(text.query, text.blocks), supports_read(question)
        assert all(read["gold blocks"]) and [read[f"MiniLM, {rounds}"][::len(supports) - 1]
                                               for rounds in ("one step", "two rounds")] == [[True, False], [True] * 2]
        for name, order in (("first 512 tokens", range(places)),
                            ("BM25, one step", sorted(range(places), key=lambda place: -scores[place]))):
            ends = accumulate(len(text.blocks[place]) for place in order)
            chosen = [place for place, end in zip(order, ends, strict=True) if len(text.query) + end <= 512]
            assert read[name] == [place in chosen for place in supports]
