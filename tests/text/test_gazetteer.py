"""Names in running text: against regular expressions over its words, in tokens of words and of pieces."""

import re

import pytest

from plmlab.hf import minilm
from plmlab.labs import MaskLab
from plmlab.text import Tokenizer
from plmlab.text.gazetteer import Gazetteer

NAMES = {"Bell": "a person", "Anna Bell": "another", "Anna Bell Street": "a street", "Street Music": "a song",
         "Old Bell and Sons": "a company", "naïve": "a word"}
TEXTS = ["Anna Bell met Bell in Anna Bell Street", "Old Bell and Bell", "Anna Bell Street Music", "nobody", "",
         "Bellfast has no bell , and Isabell none either", "Bell Bell Bell", "Belling is not a Bell , no naïvety",
         "Old Anna Bell and Sons", "the naïve Anna"]


def by_words(text: str) -> list[str]:
    """At each word the longest name that ends at a word's end."""
    longest_first = "|".join(sorted(map(re.escape, NAMES), key=len, reverse=True))
    meant = {name.lower(): what for name, what in NAMES.items()}
    return [meant[found.lower()] for found in re.findall(rf"\b(?:{longest_first})\b", text, re.IGNORECASE)]


@pytest.fixture(scope="module")
def pieces() -> Tokenizer:
    return minilm()[1]


@pytest.mark.parametrize("text", TEXTS)
def test_names_in_pieces(text: str, pieces: Tokenizer) -> None:
    found = Gazetteer(NAMES, pieces).named(pieces.encode(text))
    assert found == by_words(text)


@pytest.mark.parametrize("text", TEXTS)
def test_names_in_words(text: str) -> None:
    words = Tokenizer.words([text.lower() for text in [*TEXTS, *NAMES]], 200)
    lower = Gazetteer({name.lower(): what for name, what in NAMES.items()}, words)
    assert lower.named(words.encode(text.lower())) == by_words(text)


def test_a_name_is_all_of_it(pieces: Tokenizer) -> None:
    names = Gazetteer(NAMES, pieces)
    assert {names.find(pieces.encode(name)) for name in NAMES} == set(NAMES.values())
    assert names.find(pieces.encode("Anna")) is None and names.find([]) is None
    assert any(token.startswith("##") for token in pieces.tokens(pieces.encode("Bellfast")))


def test_names_are_the_entities_of_a_text(pieces: Tokenizer) -> None:
    names = Gazetteer(NAMES, pieces)
    for text in TEXTS:
        known, plain = names.text(text), pieces.text(text)
        assert known == plain and (known.words, known.sentences) == (plain.words, plain.sentences)
        assert [names.find(known[start:end]) for start, end in known.entities] == by_words(text)


def test_the_mask_lab_finds_the_names_of_a_typed_text(pieces: Tokenizer) -> None:
    lab = MaskLab(Gazetteer({"J. K. Rowling": "an author"}, pieces), "a novel by J. K. Rowling", "entities_masked",
                  choices={"rate": 0.6})
    seen = set[bool]()
    for draw in range(12):
        lab.draws = draw
        assert lab.message == ""
        name = {target is not None for target in lab.state["targets"][4:-1]}
        assert len(name) == 1, "a name is masked as a whole, or not at all"
        seen |= name
    assert seen == {True, False}
    lab.text = "J. K. Rowling wrote it"
    assert lab.message == "" and lab.state["tokens"][0] == "[CLS]"
    unknown = MaskLab(pieces, "a novel by J. K. Rowling", "entities_masked")
    assert "needs the entities of a text" in unknown.message and "Gazetteer" in unknown.message


def test_no_names_name_nothing(pieces: Tokenizer) -> None:
    assert Gazetteer({}, pieces).named(pieces.encode("Anna Bell")) == []
