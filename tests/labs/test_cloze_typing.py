"""The Cloze Lab under a reader's hands: edits, typed masks and separators, and what cannot be read."""

import json
import math
import statistics
import time

import pytest
import torch
from cloze_models import (
    AGREEMENT,
    CLS,
    MASK,
    SEP,
    SMALL,
    WORDS,
    agrees,
    bert,
    best,
    crossed,
    gpt,
    ids,
)
from standin import HOSTILE
from transformers import BertConfig, BertModel

from plmlab.example import Batch
from plmlab.labs import ClozeLab
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.tokenizer import build_world_tokenizer


@pytest.fixture
def lab() -> ClozeLab:
    return crossed()


def test_gaps_go_along_when_the_text_is_edited(lab: ClozeLab) -> None:
    lab.text = "the old cups near the chair are lost ."
    assert lab.hidden == lab.state["hidden"] == [3, 7]
    lab.text = "the cups are lost ."
    assert lab.hidden == [2, 3]
    lab.text = "the cup is lost ."
    assert lab.hidden == [] and "Click a word" in lab.message
    preset = lab.menu["presets"][2]
    lab.hidden = preset["hidden"][:1]
    with lab.hold_trait_notifications():
        lab.text, lab.hidden, lab.tried = preset["text"], preset["hidden"], lab.tried + 1
    assert lab.hidden == preset["hidden"]


def test_a_typed_mask_is_a_gap_that_nobody_knows(lab: ClozeLab) -> None:
    lab.text = "the [MASK] near the chair [MASK] lost ."
    one, other = lab.state["gaps"]
    assert (one["position"], one["word"], one["both"]["own"]) == (2, None, None)
    assert one["left"] is not None and other["left"] is None, "nobody knows what stands before the second"
    assert best(one["both"])["cups"] == pytest.approx(0.25)
    assert lab.state["pair"]["information"] == pytest.approx(math.log(2))
    assert lab.state["kinds"][2] == "typed"
    lab.hidden = []
    assert lab.state["hidden"] == [2, 6], "what was typed stays hidden"


def test_a_typed_separator_begins_a_second_sentence() -> None:
    lab = ClozeLab(bert(), WORDS, "the dog is tired . [SEP] the girl sleeps .", SMALL, hide=["dog", "girl"])
    assert lab.state["second"] == 7 and lab.state["tokens"][6] == lab.state["tokens"][-1] == "[SEP]"
    assert lab.state["kinds"][6] == "special"
    first, second = lab.state["gaps"]
    assert first["left"] and second["left"] is None and first["both"]["kl"] is None
    assert "one sentence at a time" in lab.message and lab.state["pair"]["kind"] == "chained"
    read = [CLS, *ids("the"), MASK, *ids("is tired ."), SEP, *ids("the"), MASK, *ids("sleeps ."), SEP]
    apart = Batch.causal(torch.tensor([[*read, 0]]))
    segments = torch.tensor([[0] * 7 + [1] * (len(read) - 7)])
    with torch.no_grad():
        p = lab.model(Batch(apart.tokens, apart.position_ids, segments, type(apart.visible)(), apart.targets))[0]
    agrees(second["both"], p[8].double().softmax(-1), "girl")


def test_what_fits_no_sentence_is_said_and_the_model_goes_on(lab: ClozeLab) -> None:
    lab.text = "the wombat near the chair are lost ."
    assert "1 of the tokens is not in this tokenizer's vocabulary" in lab.message
    assert "no Bayes-optimal prediction from both sides" in lab.message
    assert "no sentence of 8 words matches 'the [UNK] near" in lab.message
    verb, = lab.state["gaps"]
    assert verb["word"] == "are" and verb["both"]["kl"] is None and verb["left"]["kl"] is None and not lab.stale
    lab.hidden = [2, 6]
    assert lab.state["gaps"][0]["word"] == "[UNK]" and lab.state["gaps"][0]["both"]["own"]["best"] == 0
    assert lab.state["kinds"][2] == "unknown" and lab.state["pair"]["kind"] == "world"


def test_nothing_hidden_and_everything_hidden_are_told(lab: ClozeLab) -> None:
    lab.hidden = []
    assert "Click a word to mask it" in lab.message and not lab.stale and lab.state["gaps"] == []
    lab.text, lab.hidden = "the girl sleeps .", [1, 2, 3, 4]
    assert lab.message.startswith("Everything is masked") and len(lab.state["gaps"]) == 4 and not lab.stale
    assert lab.state["gaps"][0]["both"]["kl"] is not None


@pytest.mark.parametrize("hidden, told", [([0], "position 0"), ([99], "position 99"), (["x"], "position 'x'"),
                                          ([1, 2, 3, 4, 5], "5 words were selected, but at most 4")])
def test_gaps_that_cannot_be_leave_what_stood(lab: ClozeLab, hidden: list, told: str) -> None:
    before = lab.state
    lab.hidden = hidden
    assert lab.stale and told in lab.message and lab.state == before
    lab.text = "the old cups near the chair are lost ."
    assert not lab.stale and lab.hidden == [3, 7], "the gaps that were drawn go along"


def test_what_is_hidden_stands_after_an_empty_text(lab: ClozeLab) -> None:
    lab.text = "  "
    lab.text = AGREEMENT
    assert not lab.stale and lab.hidden == [2, 6]
    assert "empty" in repr(ClozeLab(bert(), WORDS, ""))


@pytest.mark.parametrize("name", HOSTILE)
def test_any_sentence_is_read(lab: ClozeLab, name: str) -> None:
    lab.text = HOSTILE[name]
    lab.hidden = [lab.state["kinds"].index("unknown") if name != "long" else 1]
    assert not lab.stale and len(lab.state["gaps"]) == 1 and len(lab.state["tokens"]) <= 48
    json.dumps(lab.state, allow_nan=False)


def test_too_long_is_the_shortest_of_page_model_and_left_reader() -> None:
    text = " ".join(AGREEMENT.split() * 20)
    for room, given in ((20, {"max_tokens": 20}), (48, {}), (12, {"left_only": gpt(12)})):
        lab = ClozeLab(bert(), WORDS, text, **given)
        assert len(lab.state["tokens"]) == room and f"its last {160 - room + 2} tokens" in lab.message
        lab.hidden = [room - 2]
        assert not lab.stale and lab.state["gaps"][0]["left"] is not None
    assert "too small" in ClozeLab(bert(), WORDS, text, max_tokens=2).message


def test_what_cannot_be_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="no masked-language-model head"):
        ClozeLab(BertModel(BertConfig(hidden_size=12, num_hidden_layers=1)), WORDS)
    with pytest.raises(ValueError, match="does the tokenizer belong to another model"):
        ClozeLab(bert(), build_world_tokenizer(SMALL))
    with pytest.raises(ValueError, match="same tokenizer"):
        ClozeLab(bert(), WORDS, left_only=type(gpt())(type(gpt().config)(50)))
    with pytest.raises(ValueError, match="'wolf' cannot be masked"):
        ClozeLab(bert(), WORDS, AGREEMENT, hide=["wolf"])
    pieces = Tokenizer.wordpiece([AGREEMENT], 60)
    with pytest.raises(ValueError, match="are not a single token"):
        ClozeLab(bert(), pieces, AGREEMENT, SMALL)


@pytest.mark.timing
def test_python_answers_within_100_ms() -> None:
    lab, spent = crossed(left_only=gpt()), []
    sentences = SMALL.text("test", seed=1)
    for _ in range(12):
        words = next(sentences)
        for gaps in ([2], [2, len(words) - 1]):
            start = time.perf_counter()
            with lab.hold_trait_notifications():
                lab.text, lab.hidden, lab.tried = " ".join(words), gaps, lab.tried + 1
            spent.append(time.perf_counter() - start)
            assert lab.state["hidden"] == gaps
    assert statistics.median(spent) < 0.1
