"""The Alignment Lab without a browser: what is held against the model itself, gold against the world, and any text."""

import json
import statistics
import time
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import alignment_fixtures
import numpy as np
import pytest
import torch
import traitlets
from alignment_models import (
    FIXED,
    KINDS,
    SINGING,
    SMALL,
    SURE,
    TURNED,
    WORDS,
    Pointer,
    dictionary,
    pointing,
    random_model,
)
from standin import HOSTILE

from plmlab.interpret.alignments import translate
from plmlab.labs import AlignmentLab, AlignmentPreset
from plmlab.labs.alignment import interventions
from plmlab.labs.alignment import lab as alignment_lab
from plmlab.labs.alignment import tally as tallying
from plmlab.labs.alignment.comparison import beside_reference, on_aligned, side_by_side
from plmlab.labs.alignment.presets import LONG, default_presets
from plmlab.labs.alignment.reading import read, sentences_of
from plmlab.labs.alignment.tally import Predictions, predictions
from plmlab.world.datasets.passages import passages
from plmlab.world.probability.posterior import NotInGrammar

VOCAB = WORDS.vocab
SHORT = 16
"""So many tokens are written at most: models of random weights come to no end."""

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (interventions, alignment_lab):
        monkeypatch.setattr(module, "LONGEST", SHORT)


@pytest.fixture
def lab() -> AlignmentLab:
    return pointing()


def weights_of(lab: AlignmentLab, which: str = "now") -> np.ndarray:
    """The weights that are sent, [step, position]."""
    told = lab.state[which]
    return np.frombuffer(told["weights"], dtype="<f4").reshape(len(told["tokens"]), len(lab.state["source"]))


def test_the_fixtures_are_those_of_now() -> None:
    """alignment_lab.test.mjs reads the file; ``python tests/labs/alignment_fixtures.py`` writes it anew."""
    stored = json.loads(alignment_fixtures.FILE.read_text(encoding="utf-8"))
    assert rounded(stored) == rounded(json.loads(alignment_fixtures.stored()))
    for case in stored:
        assert case["state"]["now"]["hits"] in (case["written"], None)


def rounded(value: object) -> object:
    """The same with numbers of six digits."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 6) if isinstance(value, float) else value


def test_the_first_state_teaches() -> None:
    lab = AlignmentLab({"pointer": Pointer(0, 0, 4, 0, 5, 0, 0, 0, 0, 1, 0, 7, 8, 9)}, WORDS, world=SMALL)
    assert lab.text == "the key behind the blue chair is new ." and not lab.message
    assert [one["title"] for one in lab.menu["presets"]] == [
        "reversed word order", "a short sentence", "a long passage", "mask a word"]
    assert repr(lab).startswith("<AlignmentLab: 'the key behind the blue chair is new .' → '")
    assert lab.state["gold"] == list(SMALL.parse(lab.text.split()).chinese)
    assert "Mask “key”, so that" in lab.state["quiz"]["question"]


def test_every_preset_is_a_text_of_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interventions, "LONGEST", 90)
    for preset in default_presets(SMALL, "train"):
        lab = pointing(**preset.traits())
        assert lab.state["gold"] and not lab.message, preset
        assert [lab.state["source"][position] for position in lab.masked] == list(preset.masked)
    long = default_presets(SMALL, "train")[2].text
    assert len(long.split()) in LONG and long.count(" .") > 3


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_drawn_is_what_the_model_does(kind: Any) -> None:
    model = random_model(kind)
    lab = AlignmentLab({"fixed": FIXED, "drawn": model}, WORDS, TURNED, world=SMALL)
    ids = WORDS.encode(TURNED)
    free, plain = translate(model, ids, VOCAB, length=SHORT), translate(FIXED, ids, VOCAB, length=SHORT)
    now = lab.state["now"]
    assert lab.drawn == "drawn" and lab.menu["looking"] == ["drawn"]
    assert now["tokens"] == WORDS.tokens(free.tokens) and lab.state["before"] == now
    assert now["p"] == pytest.approx(np.exp(free.logprobs))
    assert weights_of(lab) == pytest.approx(free.weights.numpy(), abs=1e-7)
    other, = lab.state["others"]
    assert other["tokens"] == WORDS.tokens(plain.tokens) and other["weights"] is None and other["name"] == "fixed"
    lab.moved = [{"step": 3, "position": 2}]
    moved = translate(model, ids, VOCAB, length=SHORT,
                      fixed_weights={3: [float(position == 2) for position in range(len(ids) + 1)]})
    assert lab.state["now"]["tokens"] == WORDS.tokens(moved.tokens)
    assert weights_of(lab)[3].tolist() == [0, 0, 1, *[0] * (len(ids) - 2)]
    assert lab.state["now"]["tokens"][:3] == now["tokens"][:3] and lab.state["before"] == now
    lab.moved, lab.masked = [], [1, 4]
    masked = translate(model, ids, VOCAB, length=SHORT, masked=[1, 4])
    assert lab.state["now"]["tokens"] == WORDS.tokens(masked.tokens) and not weights_of(lab)[:, [1, 4]].any()
    lab.masked = []
    assert lab.state["now"] == now


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_share_leaves_the_rest_where_the_model_puts_it(kind: Any) -> None:
    """Of two steps the second is asked what it would do once the first is held."""
    model = random_model(kind)
    lab = AlignmentLab({"drawn": model}, WORDS, TURNED, world=SMALL, moved=[
        {"step": 1, "position": 4, "share": 0.25}, {"step": 2, "position": 0, "share": 0.5}])
    ids = WORDS.encode(TURNED)
    own = translate(model, ids, VOCAB, length=SHORT).weights[1].double()
    one = 0.75 * own
    one[4] += 0.25
    assert weights_of(lab)[1] == pytest.approx(one.numpy(), abs=1e-6)
    then = translate(model, ids, VOCAB, length=SHORT, fixed_weights={1: one.tolist()}).weights[2].double()
    two = 0.5 * then
    two[0] += 0.5
    assert weights_of(lab)[2] == pytest.approx(two.numpy(), abs=1e-6)


def test_a_look_that_is_moved_changes_the_word(lab: AlignmentLab) -> None:
    """By construction: a pointer writes the translation of what it looks at."""
    said = {WORDS.tokens([one])[0]: WORDS.tokens([other])[0] for one, other in dictionary().items()}
    assert lab.state["now"]["tokens"] == [said[word] for word in (*SINGING.split(), "[END]")]
    assert lab.state["now"]["p"] == pytest.approx([SURE] * 5, abs=1e-6)
    lab.moved = [{"step": 1, "position": 2}]
    assert lab.state["now"]["tokens"] == ["那些", "唱歌", "唱歌", "。", "[END]"]
    assert lab.moved == lab.state["moved"] == [{"step": 1, "position": 2, "share": 1.0}]
    assert lab.state["changes"] == [[i, i] for i in range(5)] and lab.state["before"]["tokens"][1] == "女孩"
    assert (lab.state["before"]["right"], lab.state["now"]["right"]) == (4, 3)
    lab.moved = [{"step": 1, "position": 1}]
    assert lab.state["now"]["tokens"] == lab.state["before"]["tokens"]
    assert lab.state["now"]["p"][1] == pytest.approx(1)


def test_what_cannot_be_held_is_told(lab: AlignmentLab) -> None:
    drawn = lab.state
    for moved, masked, said in (
            ([{"step": 0, "position": 5}], [], "a source word from 0 to 4"),
            ([{"step": 16, "position": 0}], [], "a step from 0 to 15"),
            ([{"step": 0, "position": 0, "share": 1.5}], [], "share from 0 to 1"),
            ([{"position": 0}], [], "a dict with `step`, `position` and optionally `share`"),
            ([], [7], "cannot mask source word 7"), ([], [0, 1, 2, 3, 4], "there is nothing to attend to"),
            ([{"step": 0, "position": 1}], [1], "source word 1 is masked, but step 0 is set to attend to it")):
        with lab.hold_trait_notifications():
            lab.moved, lab.masked = moved, masked
        assert lab.stale and said in lab.message and lab.state == drawn, said
    lab.moved, lab.masked = [], []
    assert not lab.stale and lab.state == drawn


def test_another_text_releases_what_was_held(lab: AlignmentLab) -> None:
    with lab.hold_trait_notifications():
        lab.moved, lab.masked = [{"step": 0, "position": 2}], [1]
    lab.text = TURNED
    assert (lab.moved, lab.masked) == ([], []) and lab.state["now"] == lab.state["before"]
    with lab.hold_trait_notifications():
        lab.text, lab.masked = SINGING, [1]
    assert lab.masked == [1] and not weights_of(lab)[:, 1].any()
    lab.text = ""
    assert lab.stale and "The sentence is empty" in lab.message and lab.state["text"] == SINGING
    lab.count += 1
    assert lab.counted["texts"] == 100 and lab.stale, "a tally does not hide that the text is empty"


def test_the_gold_of_a_passage_is_that_of_its_sentences() -> None:
    """Sentences are parsed one by one; a question and its answer are one sentence of the world."""
    for told in islice(passages(SMALL, "test", Random(1)), 40):
        source = read(" ".join(told.english), WORDS, SMALL, "train", 64)
        assert source.gold == told and source.note == ""
    words = ["where", "was", "Lucy", "Kessler", "born", "?", "in", "Westbury", ".", *SINGING.split()]
    assert [one.text for one in sentences_of(words, SMALL, "train")] == [" ".join(words[:9]), SINGING]
    with pytest.raises(NotInGrammar, match=r"^Sentence 2, word 2: 'sing' cannot occur here"):
        sentences_of([*SINGING.split(), "the", "sing", "."], SMALL, "train")
    with pytest.raises(NotInGrammar, match=r"no sentence ends after 'who directed The Long Garden \?'"):
        sentences_of(["who", "directed", "The", "Long", "Garden", "?"], SMALL, "train")


def test_partners_stand_where_their_words_are_written() -> None:
    lab = pointing(0, 4, 4, 2, 0, 1, 5, 6, 7, 8, text=TURNED)
    sentence = SMALL.parse(TURNED.split())
    now = lab.state["now"]
    for step, position in now["partners"]:
        word = sentence.chinese[partner_position(sentence, position)]
        assert now["tokens"][step] == word or now["positions"][step] is None
    found = weights_of(lab).argmax(-1)
    assert now["hits"] == sum(found[step] == position for step, position in now["partners"]) == 3
    assert now["right"] == sum(position is not None and sentence.chinese[position] == token
                               for position, token in zip(now["positions"], now["tokens"], strict=False))
    assert lab.summary().endswith("3 of 3 gold links recovered")


def partner_position(sentence: Any, english: int) -> int:
    from plmlab.world.documents.pairs import partners
    return next(position for position, other in partners(sentence, SMALL.lexicon) if other == english)


@cache
def least(one: str, other: str) -> int:
    """The fewest changes that make the one of the other."""
    if not one or not other:
        return len(one) + len(other)
    return min(least(one[1:], other[1:]) + (one[0] != other[0]), least(one[1:], other) + 1, least(one, other[1:]) + 1)


def test_texts_are_paired_with_the_fewest_changes() -> None:
    rng = Random(0)
    for _ in range(400):
        one, other = ("".join(rng.choices("abc", k=rng.randint(0, 6))) for _ in range(2))
        pairs = side_by_side(one, other)
        assert [i for i, _ in pairs if i is not None] == list(range(len(one)))
        assert [j for _, j in pairs if j is not None] == list(range(len(other)))
        assert sum(i is None or j is None or one[i] != other[j] for i, j in pairs) == least(one, other), (one, other)


def test_pairs_by_hand() -> None:
    assert side_by_side("abcd", "axcd") == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert side_by_side("abd", "abcd") == [(0, 0), (1, 1), (None, 2), (2, 3)]
    assert side_by_side("accd", "abxcd") == [(0, 0), (1, 1), (None, 2), (2, 3), (3, 4)]
    assert beside_reference("axcd", "abcd", [(1, 7), (3, 5)]) == ([0, None, 2, 3], [(1, 7), (3, 5)])
    assert beside_reference("ab", "abcd", [(1, 7), (3, 5)]) == ([0, 1], [(1, 7)])
    rows = torch.tensor([[0.2, 0.8], [0.5, 0.5]])
    assert on_aligned(rows, [(0, 1), (1, 0), (1, 1)]) == 2


def test_a_typed_text_is_read_kindly(lab: AlignmentLab) -> None:
    for typed in ("The Girls sing.", "THE GIRLS SING .", "the girls sing", " the  girls sing . "):
        lab.text = typed
        assert lab.state["text"] == SINGING and lab.state["gold"] and lab.text == typed, typed
    assert lab.message == ""
    lab.text = "the girls sing"
    assert lab.message == "“.” was added at the end."
    lab.text = "The girls sing. The cat is hungry"
    assert lab.state["text"] == "the girls sing . the cat is hungry ." and lab.state["gold"]
    lab.text = "who directed The Long Garden? Victor Brandt."
    assert lab.state["text"] == "who directed The Long Garden ? Victor Brandt ." and lab.state["gold"]
    lab.text = "the gorls sing ."
    assert "“gorls” is not a word of this world; similar words: “girls”" in lab.message
    assert "input there is [UNK]" in lab.message and lab.state["unknown"] == [1]
    assert lab.state["source"][1] == "gorls" and lab.state["gold"] is None
    assert "its gold alignment is unknown. Word 2: the Small World does not know the word 'gorls'" in lab.message
    lab.text = "the girls the"
    assert lab.state["gold"] is None and "'the' cannot occur here" in lab.message and lab.state["unknown"] == []


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_answered(lab: AlignmentLab, name: str) -> None:
    lab.text = HOSTILE[name]
    assert not lab.stale and lab.text == HOSTILE[name] and lab.state["now"]["tokens"]
    assert "its gold alignment is unknown" in lab.message and len(lab.state["source"]) <= 65
    if name == "long":
        assert "longer than the 64 words that are drawn: its last 2,436 words are left out" in lab.message
    elif name != "Chinese":
        assert "is not a word of this world" in lab.message


def test_a_special_token_that_is_typed_is_a_word_like_any_other(lab: AlignmentLab) -> None:
    lab.text = "the [END] [PAD] ."
    assert lab.state["unknown"] == [1, 2] and lab.source.ids[1] == lab.source.ids[2] == VOCAB.unk


def test_it_works_without_a_world() -> None:
    lab = AlignmentLab({"pointer": Pointer()}, WORDS, "the girls 🦊", max_tokens=64)
    assert lab.state["gold"] is None and lab.state["unknown"] == [2] and lab.message == ""
    assert lab.menu["presets"] == [] and not lab.menu["tallies"]
    assert lab.summary() == "'the girls [UNK]' → '那些女孩'" or lab.summary().startswith("'the girls [UNK]' → ")
    lab.count += 1
    assert lab.stale and "the statistics need texts" in lab.message
    lab.max_tokens = 2
    assert lab.state["source"] == ["the", "girls", "[END]"] and "its last token is left out" in lab.message


def test_the_question_is_answered_by_what_happens() -> None:
    for text in (SINGING, TURNED, "the girls the"):
        lab = AlignmentLab({"drawn": random_model(KINDS[1])}, WORDS, text, world=SMALL)
        asked_ = lab.state["quiz"]
        lab.masked = [asked_["position"]]
        before, now = lab.state["before"]["tokens"], lab.state["now"]["tokens"]
        changed = sum(i is None or j is None or before[i] != now[j] for i, j in lab.state["changes"])
        assert asked_["answer"].startswith({0: "No word changes", 1: "1 word changes"}.get(
            changed, f"{changed} words change"))
        assert lab.state["quiz"] == asked_


def test_several_models_with_attention_can_be_drawn() -> None:
    models = {"one": Pointer(), "two": random_model(KINDS[0]), "fixed": FIXED}
    lab = AlignmentLab(models, WORDS, SINGING, world=SMALL)
    assert lab.menu["looking"] == ["one", "two"] and [one["name"] for one in lab.state["others"]] == ["two", "fixed"]
    first = lab.state["now"]
    lab.drawn = "two"
    assert [one["name"] for one in lab.state["others"]] == ["one", "fixed"]
    assert lab.state["others"][0]["tokens"] == first["tokens"]
    for name, value in (("drawn", "fixed"), ("labelled", "both")):
        with pytest.raises(traitlets.TraitError, match=f"{name} must be one of"):
            setattr(lab, name, value)


def test_what_cannot_be_drawn_is_told() -> None:
    with pytest.raises(ValueError, match="needs a model with attention"):
        AlignmentLab({"fixed": FIXED}, WORDS, SINGING)
    with pytest.raises(ValueError, match="the vocabulary of 'small' has 9"):
        AlignmentLab({"small": random_model(KINDS[0], 9)}, WORDS, SINGING)
    with pytest.raises(ValueError, match="no initial text"):
        AlignmentLab({"pointer": Pointer()}, WORDS)


def test_a_text_without_end_is_cut_and_told() -> None:
    class Endless(Pointer):
        def step(self, tokens: torch.Tensor, state: Any) -> torch.Tensor:
            return super().step(tokens, state).index_fill(-1, torch.tensor([VOCAB.end]), -1e9)

    lab = AlignmentLab({"endless": Endless()}, WORDS, SINGING, world=SMALL)
    assert len(lab.state["now"]["tokens"]) == SHORT and "not generated [END] after 16 words" in lab.message


def test_models_are_read_without_dropout_and_left_as_they_were() -> None:
    model = random_model(KINDS[2])
    still = AlignmentLab({"drawn": model}, WORDS, TURNED, world=SMALL, masked=[1]).state
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    model.train()
    assert AlignmentLab({"drawn": model}, WORDS, TURNED, world=SMALL, masked=[1]).state == still
    assert model.training and all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_asked_together_is_what_is_asked_alone(kind: Any) -> None:
    """Each text beside longer ones, with a look of its own held, against the same text translated alone."""
    model = random_model(kind)
    texts = [WORDS.encode(text) for text in (SINGING, TURNED, "the cat is hungry .")]
    looks = [(2, 1), (4, 0), (0, 3)]
    alone = [translate(model, ids, VOCAB, length=12,
                       fixed_weights={step: [float(i == position) for i in range(len(ids) + 1)]})
             for ids, (step, position) in zip(texts, looks, strict=True)]
    pairs = [(ids, [id for id in said.tokens if id != VOCAB.end]) for ids, said in zip(texts, alone, strict=True)]
    assert all(len(target) > step for (_, target), (step, _) in zip(pairs, looks, strict=True))
    together: Predictions = predictions(model, pairs, VOCAB, looks)
    for row, ((_, target), said) in enumerate(zip(pairs, alone, strict=True)):
        for step in range(len(target)):
            assert float(together.right[row, step]) == pytest.approx(said.logprobs[step], abs=1e-4)
            most = said.weights[step][together.attended[row, step]]
            assert float(most) == pytest.approx(float(said.weights[step].max()), abs=1e-4)


def test_a_tally_counts_what_the_pointer_does_by_construction() -> None:
    """A pointer looks at position t for word t: right where the word there means it, and a look at the partner mends
    it."""
    found = tallying.tally(Pointer(), WORDS, SMALL, texts=40)
    said = dictionary()
    told = list(islice(passages(SMALL, "test", Random(tallying.SEED), tallying.LENGTHS), 40))
    words = right = missed = 0
    for one in told:
        source = [*WORDS.encode(" ".join(one.english)), VOCAB.end]
        for step, position in one.partners:
            looked = min(step, len(source) - 1)
            hit = said.get(source[looked]) == WORDS.id(one.chinese[step])
            words, right, missed = words + 1, right + hit, missed + (not hit and looked != position)
    mended = found["missed"]
    assert (found["texts"], found["words"], found["wrong"]) == (40, words, words - right)
    assert (mended["count"], found["right"]["count"]) == (min(missed, tallying.MOST), right)
    assert 0 < mended["fixed"] <= mended["count"] == mended["fixed"] + mended["closer"] + mended["worse"]
    assert mended["fixed"] > 0.9 * mended["count"] and mended["other"] < 0.1 * mended["count"]
    assert found["right"]["stay"] == 0
    assert tallying.tally(Pointer(), WORDS, SMALL, texts=40) == found


def test_a_tally_is_counted_when_asked_and_once() -> None:
    given_ = {"texts": 3, "words": 9, "wrong": 2, "right": {"count": 7, "stay": 3},
              "missed": {"count": 2, "fixed": 1, "closer": 1, "worse": 0, "other": 0}}
    calls: list[int] = []
    lab = pointing(tally=lambda: calls.append(1) or given_)
    state = lab.state
    assert lab.counted == {} and not calls
    lab.count += 1
    assert lab.counted == given_ and lab.state is state and not lab.stale
    lab.count += 1
    lab.text = TURNED
    assert calls == [1] and lab.counted == given_
    assert pointing(tally=given_).counted == given_


def test_the_page_holds_all(lab: AlignmentLab) -> None:
    lab.moved = [{"step": 1, "position": 2}]
    assert {"moved", "masked", "state", "labelled", "steps", "counted"} <= set(lab.traits_for_page())
    assert len(lab.html()) < 200_000


def test_a_preset_sets_traits() -> None:
    assert AlignmentPreset("a", TURNED, ("key",)).traits() == {"text": TURNED, "moved": [], "masked": [1],
                                                               "steps": None}


@pytest.mark.timing
def test_a_look_is_moved_in_time() -> None:
    """Where the longest translation is written anew that there is; shapes are checked here, which takes twice as
    long. ``benchmarks/alignment_lab.py`` measures without."""
    long = default_presets(SMALL, "train")[2].text
    lab = AlignmentLab({"drawn": random_model(KINDS[1]), "fixed": FIXED}, WORDS, long, world=SMALL)
    spent = []
    for turn in range(20):
        start = time.perf_counter()
        lab.moved = [{"step": 3, "position": turn % 9}]
        spent.append(time.perf_counter() - start)
    print(f"{len(lab.state['now']['tokens'])} words: median {1e3 * statistics.median(spent):.0f} ms")
    assert statistics.quantiles(spent)[0] <= 0.6
