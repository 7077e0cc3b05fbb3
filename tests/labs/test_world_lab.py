"""The Small World's lab without a browser: what it computes against the world itself, and what it says of bad input."""

import json
import math
import statistics
import time

import pytest
from standin import HOSTILE

from plmlab import world
from plmlab.labs import WorldLab
from plmlab.labs.shared.probabilities import words_of
from plmlab.labs.world.questions import bridge_questions
from plmlab.world import World


@pytest.fixture
def lab() -> WorldLab:
    return WorldLab()


def test_the_default_state_has_something_in_every_view(lab: WorldLab) -> None:
    assert set(lab.state) == {"world", "sentences", "probability", "entity", "question"}
    assert (lab.message, lab.stale) == ("", False)
    json.dumps(lab.state)
    said = lab.state["sentences"]
    assert any(s["facts"] for s in said) and any(any(s["senses"]) for s in said)
    assert any(link["attractors"] for s in said for link in s["agreement"])
    assert lab.state["probability"]["valid"]
    assert "the small world, 148 words" in repr(lab) and repr(lab) == repr(WorldLab())


def test_sentences_carry_the_world_s_own_labels(lab: WorldLab, small: World) -> None:
    for _ in range(3):
        for shown in lab.state["sentences"]:
            gold = small.parse(shown["words"])
            assert shown["tags"] == list(gold.tags)
            assert [(m["start"], m["end"], m["key"]) for m in shown["mentions"]] == [tuple(m) for m in gold.mentions]
            assert [(a["subject"], a["verb"], a["distance"]) for a in shown["agreement"]] == [
                (a.subject, a.verb, a.distance) for a in gold.agreement]
            assert [(f["subject"]["key"], f["object"]["key"]) for f in shown["facts"]] == [
                (f.subject, f.object) for f in gold.facts]
            assert shown["chinese"] == "".join(gold.chinese)
            assert shown["nats"] == pytest.approx(-small.logprob(shown["words"]))
        before = lab.state["sentences"]
        lab.drawn += 1
        assert lab.state["sentences"] != before
    lab.drawn -= 1
    assert lab.state["sentences"] == before


def test_the_bars_add_up_to_the_sentence(lab: WorldLab, small: World) -> None:
    shown = lab.state["probability"]
    words = [column["word"] for column in shown["words"]]
    assert sum(c["nats"] for c in shown["words"]) + shown["end"]["nats"] == pytest.approx(-small.logprob(words))
    assert shown["nats"] == pytest.approx(-small.logprob(words))
    assert shown["perplexity"] == pytest.approx(math.exp(shown["nats"] / (len(words) + 1)))


def test_the_readers_are_the_exact_ones(lab: WorldLab, small: World) -> None:
    shown = lab.state["probability"]
    words = [column["word"] for column in shown["words"]]
    for place, column in enumerate(shown["words"]):
        left, both = small.next_words(words[:place]), small.posterior(words, [place])[0]
        assert column["left"]["own"] == left[words[place]] and column["both"]["own"] == both[words[place]]
        assert column["left"]["choices"] == len(left)
        assert dict(map(tuple, column["both"]["likeliest"])).items() <= both.items()
        assert column["left"]["likeliest"][0][1] == max(left.values())
    gains = [math.log(c["both"]["own"] / c["left"]["own"]) for c in shown["words"]]
    assert shown["gain"]["position"] == gains.index(max(gains)) and shown["gain"]["nats"] == max(gains) > 1


def test_a_sentence_outside_the_grammar_is_told_where_and_what_else(lab: WorldLab, small: World) -> None:
    lab.text = "the cups near the chair is lost ."
    shown = lab.state["probability"]
    assert not shown["valid"] and shown["prefix"] == 5 and not lab.stale
    assert shown["said"].startswith("Word 6: 'is' cannot occur here")
    assert dict(map(tuple, shown["expected"])) == small.next_words(["the", "cups", "near", "the", "chair"])
    wrong = shown["words"][5]
    assert wrong["nats"] is None and wrong["left"]["own"] == 0
    assert wrong["both"]["own"] == 0 and wrong["both"]["likeliest"] == [["are", 1.0]], "both sides know what it must be"
    assert shown["words"][6]["left"] is None
    lab.text = "the wombat sleeps ."
    assert "does not know the word 'wombat'" in lab.state["probability"]["said"]
    lab.text = "the girl"
    assert "no sentence ends after 'the girl'" in lab.state["probability"]["said"]


@pytest.mark.parametrize("title, prefix", [
    ("break the agreement", "cannot occur here"), ("state something false", "cannot occur"),
                                           ("an unknown word", "does not know the word")])
@pytest.mark.parametrize("size", ["small", "full"])
def test_each_preset_does_what_its_title_says(size: str, title: str, prefix: str) -> None:
    lab = WorldLab(size=size)
    tried = {preset["title"]: preset["text"] for preset in lab.menu["presets"]}
    assert lab.text == tried["an ambiguous word"] and any(lab.world.parse(lab.text.split()).senses)
    lab.text = tried[title]
    assert not lab.state["probability"]["valid"] and prefix in lab.state["probability"]["said"]


@pytest.mark.parametrize("typed, read", [
    ("The girl sleeps.", "the girl sleeps ."), ("Martha Quinn likes pears .", "Martha Quinn likes pears ."),
    ("The Long Garden was shot", "The Long Garden was shot"), ("The wombat sleeps?!", "The wombat sleeps ? !"),
    ("Where was Henry Quinn born? In Westbury.", "where was Henry Quinn born ? In Westbury ."),
    ("  ", ""), (" . ", "."),
])
def test_text_is_read_as_a_person_types_it(small: World, typed: str, read: str) -> None:
    assert words_of(typed, small) == read.split()


def test_a_number_keeps_its_comma() -> None:
    assert words_of("Windmere has 12,000, the people", world.full())[2:4] == ["12,000", ","]


def test_an_entity_is_shown_with_all_that_is_known(lab: WorldLab, small: World) -> None:
    keys = {entry["key"] for entry in lab.menu["entities"]}
    assert keys == {entity.key for entity in small.facts.entities.values() if entity.named}
    for key in sorted(keys):
        lab.entity = key
        shown, article = lab.state["entity"], small.article(key)
        assert [tuple(s["words"]) for s in shown["sentences"]] == [s.words for s in article.sentences]
        assert shown["gist"] == list(article.gist)
        ends = [(f["subject"]["key"], f["object"]["key"]) for f in shown["facts"]]
        assert ends == [(t.subject, t.object) for t in small.facts.triples if key in (t.subject, t.object)]
        links = {m["key"] for s in shown["sentences"] for m in s["mentions"]}
        assert links <= keys and lab.message == ""


def test_a_question_is_followed_along_its_graph(lab: WorldLab, small: World) -> None:
    questions = bridge_questions(small)
    assert lab.state["question"]["count"] == len(questions) > 1
    for number, gold in enumerate(questions):
        lab.asked = number
        shown = lab.state["question"]
        assert shown["words"] == list(gold.words) and shown["answer"] == " ".join(gold.answer)
        stops = [shown["start"]["key"], *(hop["target"] for hop in shown["hops"])]
        assert stops == [node.key for node in gold.graph.nodes] and stops[-1] == gold.answer_entity
        for hop, fact in zip(shown["hops"], gold.facts, strict=True):
            stated = {(f["subject"]["key"], f["object"]["key"]) for f in hop["sentence"]["facts"]}
            assert (fact.subject, fact.object) in stated, "the sentence that is shown states the hop"
            assert {hop["source"], hop["target"]} == {fact.subject, fact.object}
            assert hop["backward"] == (hop["target"] == fact.subject)
        assert shown["answer"] in shown["guesses"] and len(set(shown["guesses"])) == len(shown["guesses"]) > 1
        assert len(shown["articles"]) == len(gold.context)
    lab.asked = len(questions)
    assert lab.state["question"]["words"] == list(questions[0].words), "after the last comes the first"


def test_another_world_brings_its_own_sentences_and_names(lab: WorldLab) -> None:
    lab.size = "full"
    assert lab.state["world"] == {"name": "full", "words": 1344, "entities": 478,
                                  "arcs": world.full().automaton().size}
    assert lab.text == lab.menu["presets"][0]["text"]
    assert lab.state["probability"]["valid"] and lab.state["entity"]["key"] == lab.entity
    assert len(lab.menu["entities"]) == 478 and lab.asked == 0
    lab.size = "small"
    assert lab.state == WorldLab().state


def test_what_cannot_be_shown_is_said_and_the_rest_goes_on(lab: WorldLab) -> None:
    before = lab.state
    lab.text = "  "
    assert lab.stale and "empty" in lab.message and lab.state == before
    lab.drawn += 1
    assert lab.state["sentences"] != before["sentences"] and lab.message == ""
    lab.text = "the girl sleeps ."
    assert lab.state["probability"]["valid"] and not lab.stale
    lab.entity = "person:Nobody"
    assert "person:Nobody" in lab.message and lab.stale
    lab.size = "huge"
    assert "the sizes are small, full" in lab.message
    lab.size = "small"
    lab.text = "the girl laughs ."
    assert [c["word"] for c in lab.state["probability"]["words"]] == ["the", "girl", "laughs", "."]


def test_a_lab_may_begin_empty() -> None:
    lab = WorldLab("")
    assert "empty" in lab.message and "empty" in repr(lab)
    lab.text = "the girl sleeps ."
    assert set(lab.state) == {"world", "sentences", "probability", "entity", "question"}


@pytest.mark.parametrize("name", HOSTILE)
def test_any_sentence_is_looked_at(lab: WorldLab, name: str) -> None:
    lab.text = HOSTILE[name]
    shown = lab.state["probability"]
    assert not lab.stale and not shown["valid"] and 0 < len(shown["words"]) <= 64
    assert ("longer than the 64 words" in lab.message) == (name == "long")
    json.dumps(lab.state)


@pytest.mark.parametrize("ask", [{"size": "huge"}, {"view": "nowhere"}])
def test_what_is_not_there_is_refused_at_once(ask: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"the (views|sizes) are s"):
        WorldLab(**ask)


@pytest.mark.timing
@pytest.mark.parametrize("size", ["small", "full"])
def test_python_answers_within_100_ms(size: str) -> None:
    lab = WorldLab(size=size)
    stream = lab.world.text("test", seed=1)
    spent = []
    for _ in range(15):
        text = " ".join(next(stream))
        start = time.perf_counter()
        lab.text = text
        spent.append(time.perf_counter() - start)
        assert lab.state["probability"]["valid"]
    assert statistics.median(spent) < 0.1
