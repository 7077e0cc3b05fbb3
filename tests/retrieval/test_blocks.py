"""Blocks against the pages that they were cut from: nothing lost, nothing too long, no block that could hold more."""

import re
from itertools import pairwise

import pytest

from plmlab.hf import minilm
from plmlab.retrieval import Block, blocks
from plmlab.text import Tokenizer, articles
from plmlab.text.pages import TitledPages
from plmlab.text.words import word_tokenizer
from plmlab.world.datasets.pages import ArticlePages

WIKIPEDIA = ("Alberta", "Anarchism", "Animalia (book)", "Apollo 11")


def tokens(tokenizer: Tokenizer, title: str, text: str) -> int:
    """As a reader lays it out."""
    return len(tokenizer.encode(f"[CLS] {title} [SEP] {text} [SEP]"))


def pages_of(texts: dict[str, list[str]], tokenizer: Tokenizer) -> TitledPages:
    return TitledPages(texts, {}, tokenizer)


@pytest.fixture(scope="module")
def wikipedia() -> TitledPages:
    return pages_of({one.title: re.split(r"(?<=[.!?]) ", " ".join(one.paragraphs))[:150] for one in articles()
                     if one.title in WIKIPEDIA}, minilm()[1])


def sound(pages: TitledPages, longest: int) -> list[Block]:
    """What holds of any blocks, with or without a sentence that was cut."""
    made = blocks(pages, longest)
    assert [*dict.fromkeys(block.page for block in made)] == [title for title, some in pages.texts.items() if some]
    for title, some in pages.texts.items():
        mine = [block for block in made if block.title == title]
        assert "".join("".join(block.text.split()) for block in mine) == "".join("".join(some).split())
        for block in mine:
            assert tokens(pages.tokenizer, title, block.text) <= longest
            start = some[block.first]
            assert block.sentences[0] in start
            assert block.sentences[1:len(block.sentences) - 1] == tuple(
                some[block.first + 1:block.first + len(block.sentences) - 1])
        for one, other in pairwise(mine):
            goes_on = other.first < one.first + len(one.sentences)
            more = other.text.split()[0] if goes_on else some[other.first]
            assert tokens(pages.tokenizer, title, f"{one.text} {more}") > longest
    return made


@pytest.mark.parametrize("longest", [24, 40, 64, 1000])
def test_the_worlds_articles(small, longest: int) -> None:
    """Every sentence once and whole, in order."""
    pages = ArticlePages(small, "train", word_tokenizer(small.vocabulary))
    made = sound(pages, longest)
    for title, some in pages.texts.items():
        mine = [block for block in made if block.page == title]
        assert [one for block in mine for one in block.sentences] == some
        assert [number for block in mine for number in range(block.first, block.first + len(block.sentences))] == [
            *range(len(some))]
    assert (longest < 64) == (len(made) > len(pages.texts))


@pytest.mark.parametrize("longest", [16, 64, 288])
def test_pages_of_wikipedia(wikipedia: TitledPages, longest: int) -> None:
    made = sound(wikipedia, longest)
    if longest == 288:
        assert [one for block in made for one in block.sentences] == [
            one for some in wikipedia.texts.values() for one in some]


@pytest.mark.parametrize("longest", [12, 30])
def test_bytes_that_stand_together(wikipedia: TitledPages, longest: int) -> None:
    """A byte-level tokenizer reads a space as a part of the word behind it, and may count a word otherwise at the
    beginning of a text."""
    texts = {title: some[:40] for title, some in wikipedia.texts.items()}
    tokenizer = Tokenizer.bpe([line for some in texts.values() for line in some], 600)
    for block in (made := blocks(pages_of(texts, tokenizer), longest + 10)):
        around = len(tokenizer.encode(block.title)) + 3
        assert around + len(tokenizer.encode(block.text)) <= longest + 10
    assert "".join("".join(block.text.split()) for block in made) == "".join(
        "".join(line.split()) for some in texts.values() for line in some)


def test_a_long_sentence_shares_its_last_block() -> None:
    """Worked by hand: six words of text fit behind a title of one."""
    tokenizer = word_tokenizer([*"abcdefghijklmnop", "T"])
    pages = pages_of({"T": ["a b", "c d e f g h i j", "k l m", "n o"]}, tokenizer)
    assert blocks(pages, 10) == [Block("T", 0, ("a b",)), Block("T", 1, ("c d e f g h",)),
                                 Block("T", 1, ("i j", "k l m")), Block("T", 3, ("n o",))]
    assert blocks(pages, 10)[2].text == "i j k l m"


def test_a_word_that_is_too_long_is_cut_inside() -> None:
    tokenizer = Tokenizer.wordpiece(["ad bb cc da"] * 4, 60)
    pages = pages_of({"da": ["cc abcdabcdabcd bb", "cc"], "bb": []}, tokenizer)
    made = sound(pages, 8)
    assert {block.page for block in made} == {"da"} and len(made) > 3
    assert made[0].text == "cc" and " " not in made[1].text


def test_no_room() -> None:
    tokenizer = word_tokenizer(["one", "two", "three"])
    pages = pages_of({"one two three": ["one"]}, tokenizer)
    assert blocks(pages, 7) == [Block("one two three", 0, ("one",))]
    with pytest.raises(ValueError, match=r"no room for a text: the title 'one two three' .* take 6; .*=7"):
        blocks(pages, 6)


def test_a_character_that_is_larger_than_the_room() -> None:
    tokenizer = Tokenizer.bpe(["a"], 300)
    assert [block.text for block in blocks(pages_of({"a": ["a🦊"]}, tokenizer), 8)] == ["a", "🦊"]
    with pytest.raises(ValueError, match="character '🦊' needs more than the 3 tokens"):
        blocks(pages_of({"a": ["🦊"]}, tokenizer), 7)
