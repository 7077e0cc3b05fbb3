"""The WordPiece texts of chapter 09 and its counts of split words and entities, against texts counted by hand."""

from random import Random

import pytest

from plmlab.chapters.ch09.masking import (
    evaluation_texts,
    exposure,
    input_tokens,
    selected,
    several_tokens,
    several_words,
    target_tokens,
    world_wordpieces,
)
from plmlab.example import Example
from plmlab.objectives import always_mask, masked, whole_words
from plmlab.text import Text

SENTENCE = "Nora Holt opened the Blue Station Café in Ostrava ."


@pytest.fixture(autouse=True, scope="module")
def tokenizer() -> None:
    """Train the tokenizer once, outside of the time of any test."""
    world_wordpieces()


def test_the_sentence_of_the_chapter() -> None:
    tokenizer = world_wordpieces()
    text = tokenizer.text(SENTENCE)
    assert tokenizer.tokens(text)[:6] == ["Nora", "H", "##ol", "##t", "open", "##ed"] and tokenizer.vocab.size == 1000
    assert several_tokens(text) == ((1, 4), (4, 6)), "Holt and opened"
    assert text.entities == ((0, 4), (7, 10), (11, 12)) and several_words(text) == ((0, 4), (7, 10))
    example = whole_words(text, vocab=tokenizer.vocab, rng=Random(0), select=[1], corrupt=always_mask)
    assert selected(example) == {1, 2, 3} and target_tokens(example, tokenizer) == "H ##ol ##t"
    assert input_tokens(example, tokenizer).startswith("[CLS] Nora [MASK] [MASK] [MASK] open ##ed the")
    assert input_tokens(example, tokenizer).endswith(". [SEP]")


@pytest.mark.parametrize(("positions", "words", "entities"), [
    ([1], (0, 0), (1, 1)),              # Nora: a word of one token, a part of a name
    ([3], (1, 1), (1, 1)),              # ##ol
    ([2, 3, 4], (1, 0), (1, 1)),        # Holt
    ([1, 2, 3, 4], (1, 0), (1, 0)),     # the whole name
    ([2, 3, 4, 5, 9], (2, 1), (2, 2)),  # Holt, open, Station
    ([7, 13], (0, 0), (0, 0)),          # the, and the full stop
])
def test_split_units_of_one_text(positions: list[int], words: tuple[int, int], entities: tuple[int, int]) -> None:
    text = world_wordpieces().text(SENTENCE)

    def by_hand(tokens: Text, **given: object) -> Example:
        return masked(tokens, vocab=world_wordpieces().vocab, rng=Random(0), select=positions)

    expected = dict(zip(("tokens", "selected", "touched words", "split words", "touched entities", "split entities"),
                        (13, len(positions), *words, *entities), strict=True))
    assert exposure(by_hand, [text]) == expected
    assert exposure(by_hand, [text, text]) == {name: 2 * count for name, count in expected.items()}


def test_the_texts_are_sentences_of_the_test_set() -> None:
    texts = evaluation_texts(texts=3, sentences=4)
    assert len(texts) == 3 and all(len(text.sentences) >= 4 for text in texts)
    assert all(world_wordpieces().vocab.unk not in text for text in texts)
    assert texts == evaluation_texts(texts=3, sentences=4) and any(several_words(text) for text in texts)
