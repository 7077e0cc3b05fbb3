"""The Next-token Lab without a browser: its bars against the model and the world, and any input."""

import json
import math
import statistics
import time
from base64 import b64encode

import next_token_fixtures
import numpy as np
import pytest
import torch
import traitlets
from next_token_models import SMALL, TEXT, WORDS, ask, logits_of, seeded, sent
from standin import HOSTILE

from plmlab.decode import distribution
from plmlab.labs import NextTokenLab
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.gpt import GPT, GPT2, GPTConfig
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.probability.automaton import END


@pytest.fixture(scope="module")
def model() -> GPT:
    return seeded(GPT2)


@pytest.fixture
def lab(model: GPT) -> NextTokenLab:
    return NextTokenLab(model, WORDS, TEXT, world=SMALL)

def test_what_python_and_javascript_both_compute_is_stored() -> None:
    """next_token_lab.test.mjs reads the file; ``python tests/labs/next_token_fixtures.py`` writes it anew."""
    stored = json.loads(next_token_fixtures.FILE.read_text(encoding="utf-8"))
    made = json.loads(json.dumps(next_token_fixtures.cases()))
    for one, other in zip(stored, made, strict=True):
        assert one["logits"] == pytest.approx(other["logits"], abs=1e-4)
        assert one["chances"] == pytest.approx(other["chances"], abs=1e-5)


def test_the_bars_are_the_softmax_of_the_models_logits(lab: NextTokenLab, model: GPT) -> None:
    wanted = logits_of(model, [5, *WORDS.encode(TEXT)])[-1].softmax(-1)
    torch.testing.assert_close(lab.distribution(), wanted, rtol=1e-5, atol=1e-8)
    logits = sent(lab)
    assert len(logits) == len(WORDS) and (np.diff(logits) <= 0).all()
    chances = np.exp(logits) / np.exp(logits).sum()
    for row in lab.state["rows"]:
        assert chances[row["place"]] == pytest.approx(wanted[row["id"]].item(), rel=1e-5)
        assert row["token"] == WORDS.tokens([row["id"]])[0]
    assert [row["place"] for row in lab.state["rows"][:12]] == list(range(12))


def test_temperature_and_cuts_are_those_of_decoding(lab: NextTokenLab, model: GPT) -> None:
    logits = logits_of(model, [5, *WORDS.encode(TEXT)])[-1]
    before = lab.state
    lab.temperature, lab.top_k, lab.top_p = 1.8, 20, 0.7
    torch.testing.assert_close(lab.distribution(), distribution(logits, 1.8, 20, 0.7), rtol=1e-5, atol=1e-8)
    assert lab.state is before, "no setting asks the model anew"
    for name, value in (("temperature", 0.0), ("top_k", 0), ("top_p", 0.0), ("top_p", 1.5)):
        with pytest.raises(traitlets.TraitError, match=f"{name}={value}"):
            setattr(lab, name, value)


def test_the_worlds_chances_stand_beside_the_models(lab: NextTokenLab) -> None:
    for text in ("", "the", "Henry Quinn is older than", TEXT):
        lab.text = text
        exact = SMALL.next_words(text.split())
        beside, order = lab.state["world"], torch.from_numpy(sent(lab)).softmax(-1)
        assert beside["p"] == list(exact.values()) and beside["said"] == ""
        assert beside["entropy"] == pytest.approx(-sum(p * math.log(p) for p in exact.values()))
        shown = {row["token"]: row["world"] for row in lab.state["rows"]}
        assert all(p == exact.get(word, 0.0) for word, p in shown.items() if word != "[END]")
        likeliest = [word for word in exact if word != END][:4]
        assert set(likeliest) <= set(shown), "the world's likeliest words have a bar, whatever the model thinks"
        chances = dict(zip(WORDS.tokens(range(len(WORDS))), lab.distribution().tolist(), strict=True))
        apart = sum(p * math.log(p / chances["[END]" if word == END else word]) for word, p in exact.items())
        assert lab.divergence() == pytest.approx(apart)
        assert apart == pytest.approx(sum(p * math.log(p / order[place].item()) for p, place in zip(
            beside["p"], beside["places"], strict=True)))
    lab.top_k = 1
    assert lab.divergence() == math.inf or len(beside["p"]) == 1


def test_leaving_the_grammar_is_told(lab: NextTokenLab) -> None:
    lab.text = "the cups near the chair is"
    assert lab.state["world"]["p"] == [] and lab.divergence() is None
    assert lab.state["world"]["said"].startswith("Word 6: 'is' cannot occur here")
    lab.text = "the wombat sleeps"
    assert "does not know the word 'wombat'" in lab.state["world"]["said"]
    assert lab.message == "Not in the model's vocabulary of 706 tokens, replaced by [UNK]: “wombat”."
    assert not lab.stale
    lab.text = "The girl sleeps."
    assert lab.state["lens"]["tokens"] == ["[START]", "the", "girl", "sleeps", "."]
    assert [row["world"] for row in lab.state["rows"] if row["token"] == "[END]"] == [1.0]
    lab.text = "the girl sleeps . [END]"
    assert lab.state["ended"] and "over" in lab.state["world"]["said"]
    assert NextTokenLab(lab.model, WORDS, TEXT).state["world"] is None


def test_presets_do_what_their_titles_say() -> None:
    lab = NextTokenLab(seeded(GPT2), WORDS, world=SMALL)
    tried = dict(lab.menu["presets"])
    exact = {title: SMALL.next_words(text.split()) for title, text in tried.items()}
    assert lab.text == tried["a real choice"] and 3 <= len(exact["a real choice"]) <= 30
    assert len(exact["only one continuation"]) == 1 and len(tried["only one continuation"].split()) >= 4
    assert len(exact["an ambiguous beginning"]) > 20
    assert exact["ungrammatical"] == {} and tried["empty text"] == ""
    noun, verb = tried["a verb far from its noun"], exact["a verb far from its noun"]
    assert verb and tried["ungrammatical"].startswith(" ".join(noun.split()[:2]))
    assert NextTokenLab(seeded(GPT2), WORDS).menu["presets"] == []
    given = NextTokenLab(seeded(GPT2), WORDS, presets={"one": "the girl"})
    assert given.text == "the girl" and given.menu["presets"] == [["one", "the girl"]]


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_read(lab: NextTokenLab, name: str) -> None:
    lab.text = HOSTILE[name]
    assert not lab.stale and lab.text == HOSTILE[name]
    ask(lab, "sample", count=2)
    assert not lab.stale and lab.text.startswith(HOSTILE[name].rstrip())
    json.dumps(lab.state, default=lambda raw: b64encode(raw).decode())


def test_a_text_longer_than_the_model_can_read_is_read_at_its_end(lab: NextTokenLab, model: GPT) -> None:
    lab.text = "the girl " * 20
    assert "41 tokens and the model 24 positions" in lab.message and len(lab.state["lens"]["tokens"]) == 24
    wanted = logits_of(model, WORDS.encode(lab.text)[-24:])[-1].softmax(-1)
    torch.testing.assert_close(lab.distribution(), wanted, rtol=1e-5, atol=1e-8)
    lab.max_tokens = 10
    assert "the last 10 positions" in lab.message and len(lab.state["lens"]["columns"]) == 10
    ask(lab, "sample", count=3)
    assert len(lab.state["written"]) in (1, 2, 3) and not lab.stale


def test_an_empty_text_begins_at_the_start_token_or_says_that_there_is_none(lab: NextTokenLab) -> None:
    lab.text = ""
    assert lab.state["lens"]["tokens"] == ["[START]"] and lab.message == ""
    without = Tokenizer.of(Tokenizer.words([TEXT], 60).backend)
    without.vocab = type(without.vocab)(len(without), None, None, None, None, None, None, None, ())
    bare = NextTokenLab(seeded(GPT2, len(without)), without, "the")
    before = bare.state
    bare.text = ""
    assert bare.stale and "no start token" in bare.message and bare.state == before
    bare.text = "cups"
    assert not bare.stale and bare.state["lens"]["tokens"] == ["cups"]


def test_what_cannot_be_asked_for_is_told(lab: NextTokenLab, model: GPT) -> None:
    for request, said in (({"do": "dance"}, "give take, greedy, sample or undo"),
                          ({"do": "take", "token": 10**6}, "this model has tokens 0 … 705")):
        lab.request = request
        assert lab.stale and said in lab.message and lab.text == TEXT
    lab.max_tokens = 0
    assert lab.stale and "give 1 or more positions" in lab.message
    bert = BERT(BERTConfig(len(WORDS), time=20, layers=1, model=8, heads=2, inner=8))
    with pytest.raises(ValueError, match=r"a GPT .*got a BERT"):
        NextTokenLab(bert, WORDS)
    with pytest.raises(ValueError, match="706 tokens, but the model has 60"):
        NextTokenLab(GPT2(GPTConfig(60, layers=1, model=8, heads=2)), WORDS)
    pieces = Tokenizer.bpe([TEXT], 310)
    with pytest.raises(ValueError, match="are not a single token"):
        NextTokenLab(seeded(GPT2, len(pieces)), pieces, world=SMALL)


def test_the_model_stays_as_it_was(model: GPT) -> None:
    busy = seeded(GPT2).train()
    lab = NextTokenLab(busy, WORDS, TEXT)
    assert busy.training and lab.state == NextTokenLab(model, WORDS, TEXT).state, "read without dropout"
    assert all(parameter.grad is None for parameter in busy.parameters())


def test_a_lab_is_told_by_what_comes_next(lab: NextTokenLab, model: GPT) -> None:
    assert repr(lab) == repr(NextTokenLab(model, WORDS, TEXT, world=SMALL))
    assert repr(lab).startswith("<NextTokenLab: GPT2 after 'the cups near the chair': '")


@pytest.mark.timing
def test_typing_is_answered_within_100_ms(lab: NextTokenLab) -> None:
    """The lower quartile, since other tests may run beside this one; shapes are checked here, and ten tokens take
    ten readings."""
    words = (TEXT + " are lost . the girl").split()
    spent: dict[str, list[float]] = {"typing": [], "sampling ten": []}
    for turn in range(12):
        start = time.perf_counter()
        lab.text = " ".join(words[:turn % len(words) + 1])
        spent["typing"].append(time.perf_counter() - start)
    for _ in range(5):
        start = time.perf_counter()
        ask(lab, "sample", count=10)
        spent["sampling ten"].append(time.perf_counter() - start)
        ask(lab, "undo")
    assert statistics.quantiles(spent["typing"])[0] <= 0.1
    assert statistics.quantiles(spent["sampling ten"])[0] <= 0.6
