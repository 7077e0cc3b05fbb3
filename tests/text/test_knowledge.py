"""Candidate mentions by hand: overlaps, priors, NULL, gold entities, the ends of words."""

import pytest
from standin import SENTENCES

from plmlab.candidates import NULL, SPECIAL_ENTITIES, CandidateMention
from plmlab.example import IGNORE
from plmlab.text import Text, Tokenizer
from plmlab.text.knowledge import KnowledgeBase
from plmlab.text.words import word_tokenizer

WORDS = word_tokenizer(["prince", "sang", "purple", "rain", "in", "the", "red"])
SONGS = ["prince:singer", "prince:title", "song", "colour", "weather"]
LINES = list(SENTENCES.values())
NAMES = {"prince": {"prince:title": 1, "prince:singer": 3}, "purple rain": {"song": 2}, "purple": {"colour": 1},
         "rain": {"weather": 3, "song": 1, None: 4}, "prince charming": {"prince:title": 1}}
SINGER, TITLE, SONG, COLOUR, WEATHER = range(SPECIAL_ENTITIES, SPECIAL_ENTITIES + 5)


@pytest.fixture
def base() -> KnowledgeBase:
    return KnowledgeBase(SONGS, NAMES, WORDS)


def ids(text: str) -> list[int]:
    return WORDS.encode(text, plain=True)


def test_the_example_of_the_paper(base: KnowledgeBase) -> None:
    """"Prince sang Purple Rain": mentions overlap. Priors are shares of the weights, in descending order, and NULL is
    the last candidate."""
    assert base.mentions(ids("prince sang purple rain")) == (
        CandidateMention(0, 1, (SINGER, TITLE, NULL), (0.75, 0.25, 0.0)),
        CandidateMention(2, 3, (COLOUR, NULL), (1.0, 0.0)),
        CandidateMention(2, 4, (SONG, NULL), (1.0, 0.0)),
        CandidateMention(3, 4, (WEATHER, SONG, NULL), (3 / 8, 1 / 8, 4 / 8)))
    assert base.mentions(ids("in the red")) == () == base.mentions(())
    assert [mention[:2] for mention in base.mentions(ids("prince harming"))] == [(0, 1)], "[UNK] is not 'charming'"
    many = KnowledgeBase([*map(str, range(40))], {"rain": {str(i): i for i in range(40)}}, WORDS)
    assert many.mentions(ids("rain"))[0].entities == (*range(41, 11, -1), NULL), "the best thirty"
    assert len(base) == 7 and [base.key(id) for id in (NULL, 1, SINGER, WEATHER)] == [None, None, SONGS[0], SONGS[4]]


def test_gold_entities(base: KnowledgeBase) -> None:
    tokens = ids("prince sang purple rain")
    links = {(0, 1): "prince:singer", (2, 4): "song"}
    assert [mention.gold for mention in base.mentions(tokens, links)] == [SINGER, IGNORE, SONG, IGNORE]
    assert [mention.gold for mention in base.mentions(tokens, links, NULL)] == [SINGER, NULL, SONG, NULL]
    with pytest.raises(ValueError, match=r"links has the entity 'queen'"):
        base.mentions(tokens, {(0, 1): "queen"})


def test_a_known_entity_may_end_within_a_word() -> None:
    pieces = Tokenizer.wordpiece(LINES, 300)
    name, rest = pieces.encode("the", plain=True), next(
        id for id, token in enumerate(pieces.tokens(range(len(pieces)))) if token.startswith("##"))
    made, text = KnowledgeBase(["article"], {"the": {"article": 1}}, pieces), [*name, rest]
    assert made.mentions(text) == () and made.mentions(Text(text, entities=())) == ()
    assert [mention[:2] for mention in made.mentions(Text(text, entities=[(0, len(name))]))] == [(0, len(name))]
    assert made.mentions(Text([rest], entities=[(0, 1)])) == (), "an entity that is not in the dictionary"


@pytest.mark.parametrize(("entities", "names", "message"), [
    (["a", "b", "a"], {}, "'a' occurs twice"),
    (["a"], {"rain": {"b": 1}}, "the name 'rain' has the entity 'b'"),
    (["a"], {"rain": {None: 1}}, "at least one entity"),
    (["a"], {"rain": {"a": 0}}, "a positive sum"),
    (["a", "b"], {"rain": {"a": 2, "b": -1}}, "not negative"),
])
def test_what_it_refuses(entities: list[str], names: dict[str, dict[str | None, float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KnowledgeBase(entities, names, WORDS)
