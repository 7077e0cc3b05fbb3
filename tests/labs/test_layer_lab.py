"""The Layer Lab without a browser: its numbers against loops by hand, its filters against sums by hand, any text."""

import json
import statistics
import time
from collections import Counter
from typing import Any

import layer_fixtures
import numpy as np
import pytest
import torch
import traitlets
from layer_fixtures import MIXES, cosine, of_mix, read
from layer_models import SECOND, TEXT, WORDS, elmo, lab, sentences
from standin import HOSTILE
from torch import nn

from plmlab.labs import LayerLab
from plmlab.labs.layer.presets import OFFERED, LayerPreset
from plmlab.labs.layer.reading import Reader, spelled_words, words_of
from plmlab.labs.layer.scalar_mix import lattice, mixed, questions, scores
from plmlab.labs.layer.spelling import SHOWN, characters, marked, sign
from plmlab.labs.layer.store import Sentences, packed
from plmlab.models.elmo import ELMo, ELMoConfig
from plmlab.text.characters import word_codes
from plmlab.text.vocabulary import SENTINELS, SPECIALS
from plmlab.text.words import word_tokenizer
from plmlab.world import full
from plmlab.world.datasets.occurrences import Occurrence

SMALL = {"model": 4, "hidden": 6, "clip": None, "embedding": 5, "filters": ((1, 4), (2, 6)), "highways": 1}


pytestmark = pytest.mark.usefixtures("one_thread")


def vectors_of(told: dict[str, Any]) -> np.ndarray:
    """The vectors of a sentence as they are sent, [word, numbers]."""
    return np.frombuffer(told["vectors"], dtype="<f4").reshape(len(told["words"]), -1)


def test_the_fixtures_are_those_of_now() -> None:
    """layer_lab.test.mjs reads the file; ``python tests/labs/layer_fixtures.py`` writes it anew."""
    stored = json.loads(layer_fixtures.FILE.read_text(encoding="utf-8"))
    assert alike(stored, json.loads(layer_fixtures.stored()))


def alike(one: Any, other: Any) -> bool:
    """The same, but for what machines round otherwise; vectors are texts in base64."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            close(one[name], other[name]) if name == "vectors" else alike(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return abs(one - other) < 1e-4 if isinstance(one, float) else one == other


def close(one: str, other: str) -> bool:
    from base64 import b64decode
    return np.allclose(*(np.frombuffer(b64decode(text), dtype="<f4") for text in (one, other)), atol=1e-4)


def test_the_cosines_are_those_of_the_model_s_own_vectors() -> None:
    made = lab()
    assert made.places == [1, 8] and made.message == ""
    two = [read(Occurrence(tuple(text.split()), place, "", "", "")) for text, place in
           zip((TEXT, SECOND), made.places, strict=True)]
    for layer, row in enumerate(made.cosines().tolist()):
        a, b = two[0][layer], two[1][layer]
        assert row == pytest.approx([cosine(a[:4], b[:4]), cosine(a[4:], b[4:]), cosine(a, b)], abs=1e-5)
    assert made.cosines()[0].tolist() == pytest.approx([1, 1, 1])
    said = ", ".join(f"layer {i} {cosine(two[0][i], two[1][i]):.2f}" for i in range(3))
    assert made.summary() == f"'bank' and 'bank': cosine at {said}"


def test_a_mix_s_four_shares_are_those_of_loops() -> None:
    store = lab().stored
    asked = questions(store)
    known, others = ([read(row) for row in part] for part in (sentences().known, sentences().asked))
    for shares in MIXES:
        expected = of_mix(known, others, store.lengths.tolist(), shares)
        assert scores(store, asked, shares) == pytest.approx(expected["scores"], abs=1e-9)
        assert {name: int(one.counted.sum()) for name, one in asked.items()} == expected["counted"]
    assert lab().store["points"][0].keys() == {"shares", *expected["scores"]}


def test_chance_is_counted_by_hand() -> None:
    """Stored: bank.money 8, bank.river 4, bat.animal 4, bat.club 2, star 2; asked: the same, of which star has one
    sense. Elsewhere a bat.club has no other pattern, so that 16 count."""
    senses = Counter(row.sense for row in sentences().known)
    assert senses == {"bank.money": 8, "bank.river": 4, "bat.animal": 4, "bat.club": 2, "star.sky": 2}
    told = lab().store
    assert told["counted"] == {"sense": 18, "sense elsewhere": 16, "form": 20, "form elsewhere": 18}
    assert told["chance"]["sense"] == pytest.approx(12 / 18)
    assert told["chance"]["sense elsewhere"] == pytest.approx(12 / 16)
    assert told["chance"]["form"] == pytest.approx((12 * 12 + 6 * 6 + 2 * 2) / 20 / 20)


def test_each_layer_is_divided_by_its_mean_length() -> None:
    store = lab().stored
    assert store.known.norm(dim=-1).mean(0).tolist() == pytest.approx([1, 1, 1], abs=1e-5)
    sent = np.frombuffer(packed(store.known), dtype="<f4").reshape(len(store.known), 5, 4)
    assert np.array_equal(sent[:, [0, 0, 1, 2, 3, 4]], store.known.reshape(-1, 6, 4).numpy())
    one = mixed(store.known, (0.2, 0.5, 0.3))[3]
    assert one.tolist() == pytest.approx(sum(share * store.known[3, layer].double() for layer, share in
                                             enumerate((0.2, 0.5, 0.3))).tolist())


def test_the_lattice_holds_corners_and_middle() -> None:
    points = lattice()
    assert len(points) == len(set(points)) == 28 and {(1, 0, 0), (0, 1, 0), (0, 0, 1)} <= set(points)
    assert all(sum(point) == pytest.approx(1) for point in points)
    assert any(max(point) - min(point) < 1e-9 for point in points)


def test_strangers_are_all_pairs_of_different_words() -> None:
    known = [read(row) for row in sentences().known]
    pairs = [(a, b) for a, one in zip(known, sentences().known, strict=True)
             for b, other in zip(known, sentences().known, strict=True) if one.word != other.word]
    for layer in range(3):
        expected = [statistics.mean(cosine(a[layer][part], b[layer][part]) for a, b in pairs)
                    for part in (slice(0, 4), slice(4, 8), slice(0, 8))]
        assert lab().store["strangers"][layer] == pytest.approx(expected, abs=1e-5)


def test_the_word_that_is_asked_about() -> None:
    made = lab(word="the")
    assert made.places == [0, 0]
    made.second = "a nurse saw the bat ."
    assert made.places == [0, 3], "the word asked for is found again"
    made.text = "nurse saw a bat ."
    assert made.places == [3, 4], "an ambiguous word that both have"
    made.places = [1, 2]
    assert made.state["sentences"][1]["words"][2] == "saw" and not made.stale
    made.second = "night ."
    assert made.places == [4, 1], "a mark is a word that both have"
    made.second = "night at night"
    assert made.places == [3, 0], "no word in common"
    drawn = made.state
    made.places = [3, 9]
    assert made.stale and "places [3, 9]" in made.message and "have 5 and 3 words" in made.message
    assert made.state == drawn
    with made.hold_trait_notifications():
        made.text, made.second, made.places = TEXT, SECOND, [0, 3]
    assert made.places == [0, 3] and not made.stale
    with pytest.raises(ValueError, match="'ferry' does not occur in"):
        lab(word="ferry")


def test_a_typed_text_is_read_kindly() -> None:
    known = frozenset(WORDS.tokens(list(range(len(WORDS)))))
    for typed in ("The bank lent the nurse some money.", "the  bank lent the nurse some money .", TEXT):
        assert words_of(typed, known, 64, "sentence") == (TEXT.split(), 0)
    assert words_of("Zürich ... !", known, 2, "sentence") == (["Zürich", "."], 3)
    made = lab(text="The bank of Zürich, 猫 and wombat", max_tokens=6)
    assert made.state["sentences"][0]["words"] == ["the", "bank", "of", "Zürich", ",", "猫"]
    assert made.state["sentences"][0]["unknown"] == [4]
    assert "longer than the 6 words that are drawn: its last 2 words are left out" in made.message
    for name, what in (("text", "first"), ("second", "second")):
        drawn = made.state
        setattr(made, name, "  ")
        assert made.stale and f"The {what} sentence is empty" in made.message and made.state == drawn
        made.spelled = f"{name}x"
        assert made.stale and made.spelling["word"] == f"{name}x", "a word is read while a sentence is missing"
        setattr(made, name, TEXT)
        assert not made.stale


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_answered(name: str) -> None:
    made = lab(text=HOSTILE[name], second=HOSTILE[name], spelled=HOSTILE[name])
    assert not made.stale and made.state["sentences"][0]["words"][0] == HOSTILE[name].split()[0]
    assert np.isfinite(vectors_of(made.state["sentences"][0])).all()
    assert made.spelling["word"] == HOSTILE[name].split()[0] and len(made.spelling["near"]) == 8
    assert "<img" not in made.html().partition('id="traits">')[2].partition("</script>")[0]


def test_senses_of_known_sentences_are_told() -> None:
    made = lab()
    assert [told["senses"][place] for told, place in zip(made.state["sentences"], made.places, strict=True)] == [
        "bank.money", "bank.river"]
    made.text = "the bank ."
    assert made.state["sentences"][0]["senses"] == [None] * 3


def test_what_can_t_be_a_lab_is_told() -> None:
    with pytest.raises(ValueError, match="needs an ELMo; a Linear was given"):
        LayerLab(nn.Linear(2, 2))
    bare = ELMo(ELMoConfig(vocab=len(WORDS), longest=12, layers=2, **SMALL))
    with pytest.raises(ValueError, match=r"call elmo\.set_spelling"):
        LayerLab(bare, WORDS, sentences=sentences())
    with pytest.raises(ValueError, match=r"give the tokenizer that was passed to elmo\.set_spelling"):
        LayerLab(elmo(), word_tokenizer(["a", "b"]), sentences=sentences())
    low = ELMo(ELMoConfig(vocab=len(WORDS), longest=12, layers=1, **SMALL))
    low.set_spelling(WORDS)
    with pytest.raises(ValueError, match=r"mixes 3 layers.*this ELMo has 2"):
        LayerLab(low, WORDS, sentences=sentences())
    with pytest.raises(ValueError, match="0 stored occurrences and 20 queries"):
        lab(sentences=Sentences((), sentences().asked))
    for shares in ((0.5, 0.5), (0.5, 0.5, 0.5), (1.5, -0.5, 0.0), (float("nan"), 0.0, 1.0)):
        with pytest.raises(ValueError, match="the task 'names' has the weights"):
            lab(task_shares={"names": shares})
        with pytest.raises(traitlets.TraitError, match="the scalar mix has the weights"):
            lab().shares = list(shares)


def test_shares_of_tasks_are_marked() -> None:
    made = lab(task_shares={"names": (0.2, 0.5, 0.3), "7": [0.1, 0.1, 0.8]})
    assert [task["name"] for task in made.menu["tasks"]] == ["names", "7"]
    assert made.menu["tasks"][1]["shares"] == pytest.approx([0.1, 0.1, 0.8])


def test_names_are_read_off_the_spelling() -> None:
    ours = spelled_words(elmo().codes)
    words = WORDS.tokens(list(range(len(WORDS))))
    assert [(a, b) for a, b in zip(words, ours, strict=True) if a != b] == [("[START]", ""), ("[END]", "")]
    found, told = Reader.of(elmo()), Reader.of(elmo(), WORDS)
    assert found.words == told.words and "猫" in found.words and "Zürich" in found.words
    assert not {*SPECIALS, *SENTINELS} & set(found.words)


def test_filters_are_sums_by_hand() -> None:
    made = lab(spelled="bankful")
    token, told = elmo().bilm.token, made.spelling
    widths = [1] * 4 + [2] * 6 + [3] * 6
    assert told["all"] == 16 and not told["known"]

    def found(word: str, number: int) -> tuple[float, int]:
        width = widths[number]
        kernel, of = token.convolutions[width - 1], number - {1: 0, 2: 4, 3: 10}[width]
        letters = token.characters.weight[word_codes(word, 12)]
        at = [(kernel.bias[of] + (kernel.weight[of].T * letters[p:p + width]).sum()).item() for p in range(13 - width)]
        return max(0.0, max(at)), at.index(max(at))

    words = made.reader.words
    all_found = {number: [found(word, number) for word in words] for number in range(16)}
    means = {number: statistics.mean(value for value, _ in values) for number, values in all_found.items()}
    own = {number: found("bankful", number) for number in range(16)}
    expected = sorted((n for n in own if own[n][0] > 0), key=lambda n: means[n] - own[n][0])[:SHOWN]
    assert [one["number"] for one in told["filters"]] == expected
    for one in told["filters"]:
        value, start = own[one["number"]]
        assert (one["start"], one["width"]) == (start, widths[one["number"]])
        assert (one["found"], one["mean"]) == pytest.approx((value, means[one["number"]]), abs=1e-4)
        best = sorted((value for value, _ in all_found[one["number"]]), reverse=True)[:4]
        assert [like["found"] for like in one["like"]] == pytest.approx(best, abs=1e-4)
        for like in one["like"]:
            _, place = all_found[one["number"]][words.index(like["word"])]
            assert like["parts"] == marked(like["word"], place, one["width"])


def test_a_word_lands_where_its_vector_is() -> None:
    made = lab(spelled="bank")
    words, told = made.reader.words, made.spelling
    with torch.no_grad():
        vectors = {word: layers[0].tolist() for word in words
                   for layers in [elmo().layers([[word]])[0][0, 1:2, :4]]}
    scores_ = {word: cosine(vectors["bank"], vector) for word, vector in vectors.items() if word != "bank"}
    assert told["known"] and [score for _, score in told["near"]] == pytest.approx(
        sorted(scores_.values(), reverse=True)[:8], abs=1e-5)
    assert all(score == pytest.approx(scores_[word], abs=1e-5) for word, score in told["near"])
    every = [cosine(a, b) for one, a in vectors.items() for other, b in vectors.items() if one != other]
    assert told["chance"] == pytest.approx(statistics.mean(every), abs=1e-5)


def test_characters_are_told_with_their_codes() -> None:
    assert characters("a猫é🦊", 12) == ([("a", 1), ("猫", 3), ("é", 2), ("🦊", 4)], 0)
    assert characters("🦊🦊", 6) == ([("🦊", 4), ("🦊", 2)], 2)
    assert characters("ab", 1) == ([("a", 1)], 1)
    assert (sign("\u200d"), sign("\u0301"), sign("x")) == ("⟨U+200D⟩", "◌\u0301", "x")
    made = lab(spelled="unbelievable words")
    assert made.spelling["said"] == ("A word is limited to 10 bytes here: the last 2 of this word are cut off. "
                                     "Only one word is analysed: 1 more is left out.")
    before = made.spelling
    made.spelled = " "
    assert made.spelling == before | {
        "said": "The word field is empty. Type a word; the figure still shows the previous one."}
    assert not made.stale and made.message == ""


@pytest.mark.parametrize(("word", "start", "width", "parts"), [
    ("bank", 0, 2, ("", "‹b", "ank")), ("bank", 1, 3, ("", "ban", "k")), ("bank", 3, 3, ("ba", "nk›", "")),
    ("bank", 4, 4, ("ban", "k›··", "")), ("bank", 5, 2, ("bank", "›·", "")), ("bank", 6, 3, ("bank", "···", "")),
    ("b猫k", 3, 1, ("b", "猫", "k")), ("b猫k", 1, 2, ("", "b猫", "k")), ("a", 0, 4, ("", "‹a›·", "")),
])
def test_the_part_that_a_filter_reads(word: str, start: int, width: int, parts: tuple[str, str, str]) -> None:
    assert marked(word, start, width) == parts


def test_the_model_is_left_as_it_was() -> None:
    model = elmo()
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    model.train()
    try:
        made = lab()
        assert model.training and made.state == lab().state
        assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())
    finally:
        model.eval()


def test_presets_set_traits() -> None:
    one = LayerPreset("a", TEXT, SECOND, "bank")
    assert one.traits() == {"text": TEXT, "second": SECOND, "places": [1, 8]}
    made = lab(presets=[one], text="nurse", second="nurse")
    with made.hold_trait_notifications():
        for name, value in one.traits().items():
            setattr(made, name, value)
    assert made.places == [1, 8] and not made.stale
    assert made.menu["presets"] == [{"title": "a", **one.traits()}]


def test_the_sentences_that_are_offered_are_the_world_s_and_not_stored() -> None:
    found = Sentences.of_the_world()
    stored = {row.words for row in found.known}
    assert not stored & {row.words for row in found.asked}
    for preset in OFFERED:
        senses = []
        for text in (preset.text, preset.second):
            words = text.split()
            assert tuple(words) not in stored, text
            parsed = full().parse(words)
            assert (list(parsed.senses), parsed.pattern) == found.parsed(words)
            senses.append(found.parsed(words)[0][words.index(preset.word)])
        assert None not in senses and (senses[0] == senses[1]) == (preset.title == "one sense")
    assert found.parsed(["a", "wombat"]) == ([None, None], None)
    assert 200 <= len(found.asked) <= 400
    assert 4 * 5 * 96 * (len(found.known) + len(found.asked)) < 2_500_000, "bytes that are sent, of 96 numbers a state"


def test_the_page_holds_all() -> None:
    made = lab(shares=[0.2, 0.5, 0.3], chosen=1, score="form")
    assert {"state", "places", "shares", "chosen", "score", "spelling", "store", "menu"} <= set(made.traits_for_page())
    assert len(made.html()) < 200_000


@pytest.mark.timing
def test_sentences_and_words_are_read_in_time() -> None:
    made = lab(text=" ".join([TEXT] * 5))
    spent: dict[str, list[float]] = {"text": [], "spelled": []}
    for turn in range(20):
        for name in spent:
            start = time.perf_counter()
            setattr(made, name, f"{'bank ' * (turn + 1)}nurse{turn}" if name == "text" else f"nurse{turn}")
            spent[name].append(time.perf_counter() - start)
    print({name: f"median {1e3 * statistics.median(seconds):.0f} ms" for name, seconds in spent.items()})
    assert all(statistics.median(seconds) <= 0.1 for seconds in spent.values())
