"""The Memory Recall Lab without a browser: its state against direct calls of MemRecall and of the model, the cost
against a count of pairs, and inputs that cannot be read."""

import json
from itertools import product
from typing import Any

import pytest
from memory_recall_models import FILE, PRESETS, QUESTION, SENTENCES, TEXT, Counts, cases, lab, model, words
from standin import HOSTILE

from plmlab.labs import MemoryRecallLab, MemoryRecallPreset
from plmlab.models.cogltx import CogLTX
from plmlab.models.memory_recall import MemoryBlock, Round, pinned, recall

CLS, SEP = words().vocab.need("cls"), words().vocab.need("sep")
QUERY = (CLS, *words().encode(QUESTION), SEP)
EDIT = "Ada saw Oslo twice ."


def blocks(**edits: str) -> list[MemoryBlock]:
    """The blocks of the text; ``b3="…"`` replaces the one at position 3."""
    return [MemoryBlock(place, (*words().encode(edits.get(f"b{place}", text)), SEP))
            for place, text in enumerate(SENTENCES)]


def same(made: MemoryRecallLab, rounds: tuple[Round, ...], text: list[MemoryBlock]) -> None:
    """Whether a lab shows these rounds."""
    own = made.model
    steps = made.state["steps"]
    assert [step["kind"] for step in steps] == [*["competition", "rehearsal"] * len(rounds), "answer"]
    for one, first, second in zip(rounds, steps[:-1:2], steps[1:-1:2], strict=True):
        assert {place: score for place, score in enumerate(first["scores"]) if score is not None} == \
            pytest.approx(dict(one.competition), rel=1e-5)
        assert (first["windows"], first["entered"]) == (len(one.windows), [block.position for block in one.entered])
        assert (first["memory"], first["size"]) == ([b.position for b in one.rehearsed.blocks], len(one.rehearsed))
        scored = dict(zip(first["memory"], own.scores([one.rehearsed])[0], strict=True))
        assert {place: score for place, score in enumerate(second["scores"]) if score is not None} == \
            pytest.approx(scored, rel=1e-5)
        assert second["memory"] == [block.position for block in one.kept.blocks]
        assert sorted(second["dropped"]) == [block.position for block in one.dropped]
    position, start, end = own.answer(rounds[-1].kept)
    assert made.state["answer"] == {"position": position, "start": start, "end": end,
                                    "text": words().decode(text[position].ids[start:end])}
    assert steps[-1]["memory"] == steps[-2]["memory"]


@pytest.mark.parametrize("kind", [Counts, CogLTX])
def test_the_first_state_is_that_of_the_model(kind: type[CogLTX]) -> None:
    made = lab(kind)
    same(made, model(kind).recall(QUERY, blocks()), blocks())
    assert [block["text"] for block in made.state["blocks"]] == [*SENTENCES]
    assert [n for n, block in enumerate(made.state["blocks"]) if block["needed"]] == [0, 2]
    assert (made.step, made.message, made.state["before"], made.state["correct"]) == (0, "", None, "Oslo")


@pytest.mark.parametrize(("kind", "held", "out", "edits"), [
    (Counts, [7], [], {}), (Counts, [], [2, 5], {}), (Counts, [], [], {"3": EDIT}), (CogLTX, [0], [5], {"3": EDIT}),
])
def test_held_excluded_and_rewritten_blocks(kind: type[CogLTX], held: list[int], out: list[int], edits: dict[str, str],
                                            ) -> None:
    made, own = lab(kind, step=2), model(kind)
    first = made.state["answer"]
    made.set_state({"held": held, "excluded": out, "edits": edits})
    text = blocks(b3=EDIT) if edits else blocks()
    left = [block for block in text if block.position not in out]
    same(made, recall(QUERY, left, pinned(own.scores, held), held=held, keep=own.config.keep,
                      capacity=own.config.capacity), text)
    assert all({*held} <= {*step["memory"]} for step in made.state["steps"])
    assert all(step["scores"][place] is None for step in made.state["steps"] for place in out)
    assert (made.state["before"], made.step, made.message) == (first, 2, "")
    made.set_state({"held": [], "excluded": [], "edits": {"3": SENTENCES[3]}})
    assert made.state["before"] is None and made.state["edits"] == {}, "the same text is no change"


def test_the_next_block_is_the_first_that_did_not_fit() -> None:
    first = lab().state["steps"][0]
    best = sorted(range(8), key=lambda n: -first["scores"][n])
    assert [*first["entered"], first["ended"]] == best[:len(first["entered"]) + 1]
    assert first["size"] + len(blocks()[first["ended"]]) > 40


def test_the_cost_is_the_number_of_pairs() -> None:
    made = lab(excluded=[1])
    rounds = model(Counts).recall(QUERY, [block for block in blocks() if block.position != 1])

    def pairs(*lengths: int) -> int:
        return sum(1 for length in lengths for _ in product(range(length), repeat=2))

    windows = [len(window.ids) for one in rounds for window in (*one.windows, one.rehearsed)]
    whole = 1 + len(words().encode(QUESTION)) + 1 + len(words().encode(TEXT)) + 1
    assert made.state["cost"] == {"tokens": whole, "full": pairs(whole), "windows": len(windows),
                                  "judge": pairs(*windows), "reasoner": pairs(len(rounds[-1].kept.ids))}


def test_another_text_begins_at_its_first_step_without_changes() -> None:
    made = lab(step=4, held=[0], excluded=[5], edits={"3": EDIT})
    made.document = 1
    assert (made.text, made.step, made.held, made.excluded, made.edits) == (PRESETS[1].question, 0, [], [], {})
    assert made.state["before"] is None and made.state["document"] == 1
    made.set_state({"document": 0, "text": "who saw it ?", "held": [3]})
    assert (made.text, made.held, made.state["correct"]) == ("who saw it ?", [3], "")
    assert made.state["blocks"][0]["needed"] is None


@pytest.mark.parametrize(("traits", "told"), [
    ({"text": ""}, "The question is empty"), ({"text": " \n"}, "The question is empty"),
    ({"edits": {"3": "the " * 10}}, "The new text of block 4 has 10 tokens, but a block holds 1 to 9"),
    ({"edits": {"3": "the " * 50_000}}, "has 50,000 tokens"), ({"edits": {"3": "  "}}, "has 0 tokens"),
    ({"edits": {"zzz": "the"}}, "no block at position 'zzz'"), ({"held": [8]}, "the positions are 0 to 7"),
    ({"excluded": [[0]]}, "no block at position"), ({"held": [2], "excluded": [2]}, "Block 3 is both"),
    ({"excluded": [*range(8)]}, "All blocks are excluded"), ({"document": 7}, "give a number from 0 to 1"),
    ({"held": [0, 2, 5, 6]}, "have 42 tokens, but the memory holds 40"),
])
def test_what_is_refused_leaves_what_was_drawn(traits: dict[str, Any], told: str) -> None:
    made = lab()
    before = made.state
    made.set_state(traits)
    assert told in made.message and made.stale and made.state == before
    made.set_state({"text": QUESTION, "document": 0, "held": [], "excluded": [], "edits": {}})
    assert not made.stale and made.message == "" and made.state == before
    with pytest.raises(ValueError, match=r"(?i)question|block|document"):
        lab(**traits)


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_a_block_or_a_question(name: str) -> None:
    made = lab()
    typed = f"saw {HOSTILE[name]}"[:24]
    while len(words().encode(typed, plain=True)) > 9:
        typed = typed[:-1]
    made.edits = {"3": typed}
    assert not made.stale and made.state["edits"] == {"3": typed} == made.edits
    assert made.state["blocks"][3]["text"] == typed and made.state["blocks"][3]["tokens"][0] == "saw"
    assert ("[UNK]" in made.message) == ("[UNK]" in made.state["blocks"][3]["tokens"])
    assert made.html().count("</script>") == 2
    made.text = HOSTILE[name]
    assert not made.stale and made.text == HOSTILE[name]


def test_special_tokens_are_ordinary_text_and_a_long_question_is_cut() -> None:
    made = lab(edits={"3": "[SEP] [MASK] saw"}, text=f"{QUESTION} {'the ' * 40}")
    assert made.state["blocks"][3]["tokens"] == [*["[UNK]"] * 6, "saw"]
    assert "“[”, “SEP”, “]” and others" in made.message and "longer than the 28 tokens" in made.message
    assert len(made.state["question"]) == 40 - 9 - 3 and made.text.endswith("the "), "the longest block still fits"


def test_a_capital_at_the_beginning_is_no_unknown_word() -> None:
    made = lab()
    before = made.state["steps"]
    made.text = f"W{QUESTION[1:]}"
    assert made.message == "" and made.state["steps"] == before


def test_arguments_that_are_none_and_the_mode_of_the_model() -> None:
    own = Counts(model().config).train()
    MemoryRecallLab(own, words(), PRESETS)
    assert all(part.training for part in own.modules())
    with pytest.raises(ValueError, match="at least one preset"):
        MemoryRecallLab(model(), words(), [])
    with pytest.raises(ValueError, match="the text is empty"):
        MemoryRecallLab(model(), words(), [MemoryRecallPreset("nothing", QUESTION, "")])
    assert lab(step=99).step == 4 and lab(step=-3).step == 0
    assert repr(lab()) == f"<MemoryRecallLab: {QUESTION} → Bern>"


def test_what_is_drawn_is_json_and_javascript_s_fixtures_are_of_today() -> None:
    assert json.loads(FILE.read_text(encoding="utf-8")) == json.loads(json.dumps(cases()))
