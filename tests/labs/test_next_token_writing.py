"""What the Next-token Lab writes: against decoding itself, and back again."""

import math

import numpy as np
import pytest
import torch
from next_token_models import SMALL, TEXT, WORDS, ask, seeded

from plmlab.decode import greedy
from plmlab.labs import NextTokenLab
from plmlab.models.gpt import GPT, GPT2
from plmlab.text.tokenizers import Tokenizer


@pytest.fixture(scope="module")
def model() -> GPT:
    return seeded(GPT2, layers=1)


@pytest.fixture
def lab(model: GPT) -> NextTokenLab:
    return NextTokenLab(model, WORDS, TEXT, world=SMALL)

def test_greedy_writes_what_decoding_writes(lab: NextTokenLab, model: GPT) -> None:
    wanted = greedy(model, torch.tensor([[5, *WORDS.encode(TEXT)]]), WORDS.vocab, length=5, banned=())[0]
    ask(lab, "greedy", count=2)
    for _ in range(3):
        ask(lab, "greedy")
    written = lab.state["written"]
    assert [token for token, _ in written] == WORDS.tokens(wanted.tokens)
    assert sum(math.log(p) for _, p in written) == pytest.approx(wanted.logprob, abs=1e-4)
    assert lab.text.startswith(TEXT)
    assert lab.state["lens"]["tokens"][-5:] == WORDS.tokens(wanted.tokens)


def test_undo_goes_back_act_by_act(lab: NextTokenLab) -> None:
    before = lab.state
    assert not before["undo"]
    ask(lab, "take", token=WORDS.id("are"))
    assert lab.text == f"{TEXT} are"
    taken, probability = lab.state["written"][0]
    row = next((row for row in before["rows"] if row["token"] == "are"), None)
    softmax = torch.from_numpy(np.frombuffer(before["logits"], dtype="<f4").astype(np.float64)).softmax(-1)
    assert (taken, probability) == ("are", pytest.approx(softmax[row["place"]].item()))
    ask(lab, "sample", count=4)
    assert len(lab.state["written"]) == 5
    ask(lab, "undo")
    assert lab.text == f"{TEXT} are"
    ask(lab, "undo")
    ask(lab, "undo")
    assert (lab.text, lab.state) == (TEXT, before)
    ask(lab, "take", token=WORDS.id("are"))
    lab.text += " lost"
    assert lab.state["written"] == [] and not lab.state["undo"], "what is typed begins a new history"


def test_a_token_is_drawn_from_what_the_bars_show(lab: NextTokenLab) -> None:
    lab.top_k = 4
    assert lab.distribution().max() < 0.45
    lab.temperature = 0.1
    chances = lab.distribution()
    assert chances.max() > 0.8
    drawn: dict[str, int] = {}
    for _ in range(80):
        ask(lab, "sample")
        token, p = lab.state["written"][0]
        drawn[token] = drawn.get(token, 0) + 1
        ask(lab, "undo")
    wanted = {WORDS.tokens([i])[0]: chances[i].item() for i in chances.nonzero().flatten().tolist()}
    assert set(drawn) <= set(wanted) and len(wanted) == 4
    for token, p in wanted.items():
        assert drawn.get(token, 0) / 80 == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 80) + 1.5 / 80)


def test_the_end_ends_the_writing(lab: NextTokenLab) -> None:
    ask(lab, "take", token=WORDS.vocab.end)
    assert lab.text == f"{TEXT} [END]" and lab.state["ended"] and "ends here" in lab.message
    before = lab.state["written"]
    ask(lab, "sample", count=10)
    assert lab.state["written"] == before
    ask(lab, "undo")
    assert lab.text == TEXT and not lab.state["ended"] and lab.message == ""


def test_what_was_written_keeps_its_pieces_and_what_was_typed_its_letters() -> None:
    pieces = Tokenizer.bpe([TEXT * 3, "a banana"], 320)
    lab = NextTokenLab(seeded(GPT2, len(pieces)), pieces, "the")
    spelled = [pieces.id("b"), pieces.id("a"), *pieces.encode("é", plain=True)]
    for token in spelled:
        ask(lab, "take", token=token)
    assert lab.text == "thebaé"
    assert lab.state["lens"]["tokens"][-4:] == pieces.tokens(spelled), "not encoded anew"
    lab.text = "the "
    assert "ends in a space" in lab.message and lab.text == "the "
    ask(lab, "take", token=pieces.id("␣the"))
    assert lab.text == "the  the"

    lab = NextTokenLab(seeded(GPT2), WORDS, "Zanzibar near ")
    ask(lab, "take", token=WORDS.id("the"))
    ask(lab, "take", token=WORDS.id("."))
    assert lab.text.startswith("Zanzibar near the") and lab.text.split() == ["Zanzibar", "near", "the", "."]
