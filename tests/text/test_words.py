"""Sentences of words, and a token for each word of a list, on texts worked by hand."""

import pytest

from plmlab.text import SENTINELS, SPECIALS, paragraphs
from plmlab.text.words import LONGEST, word_sentences, word_tokenizer


@pytest.mark.parametrize(("text", "sentences"), [
    ("The cat sat. The DOG ran!", ["the cat sat", "the dog ran"]),
    ("It cost 2,000 or 3.5 in 1990-91.", ["it cost 2,000 or 3.5 in 1990-91"]),
    ("red,green; 2,3-butane,it", ["red green 2,3-butane it"]),
    ("Is 3.5 enough? No… Yes!", ["is 3.5 enough", "no", "yes"]),
    ("Don't re-enter at ten o’clock, state-of-the-art!", ["don't re-enter at ten o’clock state-of-the-art"]),
    ("- dash -, 'quoted' and (in brackets); “more”: [less]", ["dash quoted and in brackets more less"]),
    ("He said “Go!” Then he went (far away.) It rained.", ["he said go", "then he went far away", "it rained"]),
    ("A title\n\nA line\nthat goes on\n\n\nThe end", ["a title", "a line that goes on", "the end"]),
    ("snake_case and __init__", ["snake case and init"]),
    ("我喜欢苹果。你呢？好！", ["我 喜 欢 苹 果", "你 呢", "好"]),
    ("他用iPhone在2,000米", ["他 用 iphone 在 2,000 米"]),
    ("a 🦊 and 👩‍👩‍👧 sat 🇨🇳.", ["a and sat"]),
    ("Straße, naïve, Ёлка", ["straße naïve ёлка"]),
    ("שלום מרחבא", ["שלום מרחבא"]),
])
def test_a_text_as_sentences(text: str, sentences: list[str]) -> None:
    assert [" ".join(words) for words in word_sentences([text])] == sentences


@pytest.mark.parametrize("text", ["", " \n\n ", "...", "— !? …", "🦊", "_"])
def test_a_text_without_a_word_has_no_sentence(text: str) -> None:
    assert list(word_sentences([text, "one word", text])) == [["one", "word"]]


def test_a_long_sentence_is_cut_and_loses_nothing() -> None:
    words = [f"w{i}" for i in range(2 * LONGEST + 5)]
    parts = list(word_sentences([" ".join(words) + ". The end."]))
    assert [len(part) for part in parts] == [LONGEST, LONGEST, 5, 2]
    assert [word for part in parts for word in part] == [*words, "the", "end"]
    assert [len(part) for part in word_sentences([" ".join(words[:LONGEST])])] == [LONGEST]


def test_each_text_ends_its_sentence_and_they_are_read_as_they_come() -> None:
    def texts():
        yield "the cat"
        yield "sat. down"
        raise AssertionError("read too far")
    found = word_sentences(texts())
    assert [next(found) for _ in range(3)] == [["the", "cat"], ["sat"], ["down"]]


def test_every_letter_and_digit_of_wikipedia_stays_in_its_order() -> None:
    some = [text for _, text in zip(range(150), paragraphs(), strict=False)]
    for text in some:
        told = "".join(character for words in word_sentences([text]) for word in words for character in word)
        assert [c for c in told if c.isalnum()] == [c for c in text.lower() if c.isalnum()]
    words = [word for sentence in word_sentences(some) for word in sentence]
    assert len(words) > 5000
    assert all(word == word.lower() and word[0].isalnum() and word[-1].isalnum() for word in words)


def test_a_token_for_each_word_in_the_order_of_the_list() -> None:
    made = word_tokenizer(["zebra", "cat", "2,000", "don't", "我", "cat"])
    special = [*SPECIALS, *SENTINELS]
    assert len(made) == len(special) + 5
    assert made.tokens(range(len(made))) == [*special, "zebra", "cat", "2,000", "don't", "我"]
    first = len(special)
    assert made.encode("cat 我 wolf zebra don't 2,000") == [first + 1, first + 4, 1, first, first + 3, first + 2]
    assert list(made.vocab.words) == list(range(first, first + 5))
    assert made.encode("") == [] and made.encode("Cat") == [1], "as it is written"
    assert made.decode([first + 1, first]) == "cat zebra"


def test_no_word_takes_the_place_of_a_special_token() -> None:
    made = word_tokenizer(["[MASK]", "cat", "[X3]"])
    assert len(made) == len([*SPECIALS, *SENTINELS]) + 1 and made.id("[MASK]") == 4
    assert made.encode("cat [MASK]") == [39, 4]


def test_an_accent_is_one_however_it_is_typed() -> None:
    assert word_tokenizer(["café"]).encode("caf\u00e9 cafe\u0301") == [39, 39]


def test_no_word_at_all_leaves_the_special_tokens() -> None:
    made = word_tokenizer([])
    assert len(made) == 39 and made.encode("cat") == [1]
