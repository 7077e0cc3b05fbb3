"""The Blank Lab without a browser: against the paper's figure, torch, the objective and the exact posterior."""

import math
from itertools import combinations
from random import Random
from typing import Any

import pytest
import torch
from blank_models import ORDER, SMALL, SPANS, TEXT, WORDS, lab, random_model
from small_models import WORDS as OTHERS
from small_models import bert

from plmlab.example import Batch
from plmlab.labs import BlankLab
from plmlab.labs.blank.comparison import three_inputs
from plmlab.labs.blank.filling import drawn_lengths, progress_of
from plmlab.labs.blank.presets import default_presets
from plmlab.labs.blank.rows import Layout, exercise, part_a_mistakes
from plmlab.models.glm import GLM, GLMConfig
from plmlab.models.infilling import BlankInfiller
from plmlab.objectives import always_mask, masked
from plmlab.objectives.blanks import blank_infilling
from plmlab.world.probability.automaton import END
from plmlab.world.probability.infilling import infilling

MASK, START, STOP = (WORDS.vocab.need(name) for name in ("mask", "start", "end"))
FIGURE = Layout(["x1", "x2", "x3", "x4", "x5", "x6"], [[2, 3], [4, 6]], [1, 0])
"""Figure 2 of Du et al. 2022."""


def rows(made: Layout) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in exercise(made)}


def test_the_paper_s_figure() -> None:
    found = rows(FIGURE)
    assert FIGURE.part_a == ["x1", "x2", "[MASK]", "x4", "[MASK]"]
    assert found["position 1"]["right"] == [1, 2, 3, 4, 5, 5, 5, 5, 3, 3]
    assert found["position 2"]["right"] == [0, 0, 0, 0, 0, 1, 2, 3, 1, 2]
    assert found["target"]["right"] == [None] * 5 + ["x5", "x6", "[END]", "x3", "[END]"]


def slip(name: str, part: str, word: str) -> list[Any]:
    """The values of the one slip of the figure that is told with these words."""
    found = [one["values"] for one in rows(FIGURE)[name]["mistakes"] if one["part"] == part and word in one["said"]]
    assert len(found) == 1, (name, part, word)
    return found[0]


def test_slips_that_people_make_bear_their_names() -> None:
    assert slip("position 1", "B", "continue in Part B") == [6, 7, 8, 9, 10]
    assert slip("position 1", "A", "counts from 0") == [0, 1, 2, 3, 4]
    assert slip("position 1", "B", "another's [MASK]") == [3, 3, 3, 5, 5]
    assert slip("position 1", "B", "in the original text") == [5, 5, 6, 3, 3]
    assert slip("position 2", "B", "starts at 0") == [0, 1, 2, 0, 1]
    assert slip("position 2", "B", "from blank to blank") == [1, 2, 3, 4, 5]
    assert slip("position 2", "A", "is counted here too") == [1, 2, 3, 4, 5]
    assert slip("target", "B", "not shifted") == ["[START]", "x5", "x6", "[START]", "x3"]
    assert slip("target", "B", "shifted twice") == ["x6", "[END]", None, "[END]", None]
    assert slip("target", "B", "[START] of the next one") == ["x5", "x6", "[START]", "x3", "[END]"]
    assert slip("target", "A", "BERT") == [None, None, "x3", None, "x5"]
    wide = Layout(["a", "b", "c", "d"], [[1, 3]], [0])
    assert [one["values"] for one in rows(wide)["position 1"]["mistakes"] if "would reveal its length" in one["said"]] \
        == [[1, 2, 4]]
    assert {one["text"] for one in part_a_mistakes(wide)} == {"a [MASK] [MASK] d", "a d", "a [X0] d", "a b c d"}


@pytest.mark.parametrize("seed", range(8))
def test_what_is_right_is_the_objective_s_and_no_slip_is(seed: int) -> None:
    rng, words = Random(seed), [f"w{i}" for i in range(9)]
    cuts = sorted(rng.sample(range(10), 2 * rng.randint(1, 3)))
    spans = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
    order = rng.sample(range(len(spans)), len(spans))
    ids = list(range(50, 59))
    made = Layout(words, spans, order)
    example = blank_infilling(ids, vocab=WORDS.vocab, rng=rng, spans=spans, order=order)
    named = dict(zip(ids, words, strict=True)) | {MASK: "[MASK]", START: "[START]", STOP: "[END]", -100: None}
    found = rows(made)
    assert [found[f"position {axis}"]["right"] for axis in (1, 2)] == example.position_ids.tolist()
    assert found["target"]["right"] == [named[id] for id in example.targets.tolist()]
    assert made.part_a == [named[id] for id in example.tokens.tolist()[:made.read]]
    assert len(set(made.names([named[id] for id in example.tokens.tolist()]))) == len(example.tokens)
    for row in exercise(made):
        parts = {"A": row["right"][:made.read], "B": row["right"][made.read:]}
        for one, other in combinations(row["mistakes"], 2):
            assert (one["part"], one["values"]) != (other["part"], other["values"])
        for one in row["mistakes"]:
            assert one["values"] != parts[one["part"]] and len(one["values"]) == len(parts[one["part"]])


def test_the_first_state_is_the_example() -> None:
    made = BlankLab()
    assert (made.text, made.spans, made.order, made.message) == (TEXT, SPANS, ORDER, "")
    state = made.state
    assert state["inputs"] == ["the", "[MASK]", "near", "the", "[MASK]", "lost", ".", "[START]", "chair", "are",
                               "[START]", "cups"]
    assert state["position_ids"] == [[1, 2, 3, 4, 5, 6, 7, 5, 5, 5, 2, 2], [0] * 7 + [1, 2, 3, 1, 2]]
    assert state["targets"] == [None] * 7 + ["chair", "are", END, "cups", END]
    assert (state["names"][3], state["names"][10]) == ("the (position 4)", "[START] (Part B, 2nd)")
    count = len(state["inputs"])
    seen = [[cause > 0 for cause in state["mask"]["rule_ids"][q * count:(q + 1) * count]] for q in range(count)]
    assert all(row == [True] * 7 + [False] * 5 for row in seen[:7])
    assert [row[7:] for row in seen[7:]] == [[k <= q for k in range(5)] for q in range(5)]
    assert repr(made) == "<BlankLab: the [MASK] near the [MASK] lost . | chair are [END] cups [END]>"


def test_step_by_step_it_is_what_the_network_says_of_the_whole_example() -> None:
    """Filled with what stood there, in one pass, without a cache."""
    said = ["chair", "are", END, "cups", END]
    made = lab(chosen=said)
    example = blank_infilling(WORDS.encode(TEXT), vocab=WORDS.vocab, rng=Random(0), spans=[(1, 2), (4, 6)], order=ORDER)
    with torch.no_grad():
        chances = random_model()(Batch.of([example], pad=0))[0].softmax(-1)[7:]
    exact = infilling(SMALL.automaton(), TEXT.split(), [(1, 2), (4, 6)], ORDER)
    assert [step["said"] for step in made.state["steps"]] == said
    for step, p, belief in zip(made.state["steps"], chances, exact, strict=True):
        assert step["by"] == "you" and step["rows"][0]["word"] == END
        for row in step["rows"]:
            assert row["p"] == pytest.approx(float(p[STOP if row["word"] == END else WORDS.id(row["word"])]), abs=1e-9)
            assert row["best"] == pytest.approx(belief.get(row["word"], 0.0))
        assert [row["word"] for row in step["rows"] if row["own"]] == [step["said"]]
    ids = [WORDS.id(word) if word != END else STOP for word in said]
    nats = [-math.log(float(p[id])) for p, id in zip(chances, ids, strict=True)]
    assert made.state["nll"]["model"] == pytest.approx(sum(nats))
    assert made.state["nll"]["exact"] == pytest.approx(
        -sum(math.log(belief[word]) for belief, word in zip(exact, said, strict=True)))


def test_how_long_a_blank_is_to_the_model_is_counted_right() -> None:
    """No words: p([END]); one: the sum over all words; against so many draws."""
    text = [MASK if word == "cups" else WORDS.id(word) for word in TEXT.split()]
    model, filler = random_model(), BlankInfiller(random_model(), [text], WORDS.vocab)

    def chances(said: list[list[int]]) -> torch.Tensor:
        state = filler.start()
        state.select(torch.zeros(len(said), dtype=torch.long))
        with torch.no_grad():
            named = filler.step(torch.tensor([[START, *words] for words in said]), state).softmax(-1)
        return named[:, :model.config.vocab]

    first = chances([[]])[0]
    words = [id for id in range(len(first)) if id not in (START, STOP)]
    ended = chances([[id] for id in words])[:, STOP]
    draws = 5_000
    found = drawn_lengths(filler, [START], draws)
    assert sum(found.values()) == draws
    for length, p in ((0, float(first[STOP])), (1, float((first[words] * ended).sum()))):
        assert abs(found.get(length, 0) / draws - p) < 4 * math.sqrt(p * (1 - p) / draws) + 0.002, length


def test_the_reader_s_word_stands_and_the_model_goes_on() -> None:
    made = lab()
    made.set_state({"chosen": ["chair", "is", END], "step": 3})
    steps = made.state["steps"]
    assert [(step["said"], step["by"]) for step in steps[:3]] == [("chair", "you"), ("is", "you"), (END, "you")]
    assert steps[3]["blank"] == 0 and {row["word"] for row in steps[3]["rows"] if row["best"]} >= {"cup", "key"}
    assert all(step["by"] == "the model" for step in steps[3:]) and made.step == 3
    assert steps[3]["said"] == max((row for row in steps[3]["rows"]), key=lambda row: row["p"])["word"]
    made.order = [0, 1]
    assert made.chosen == [] and made.state["steps"][0]["blank"] == 0


def test_without_a_model_the_exact_reader_fills() -> None:
    made = BlankLab()
    assert {step["by"] for step in made.state["steps"]} == {"the exact posterior"}
    assert all(row["p"] is None for step in made.state["steps"] for row in step["rows"])
    made.chosen = ["chair", "is"]
    assert [step["said"] for step in made.state["steps"]][3] in ("cup", "key")
    made.set_state({"order": [0, 1], "chosen": []})
    assert dict(made.state["lengths"][0]["exact"]) == pytest.approx({1: 0.6, 4: 0.4})


def test_why_there_is_no_exact_column() -> None:
    made = lab()
    made.chosen = [END]
    assert made.state["steps"][0]["why"] == "" and "left empty" in made.state["steps"][1]["why"]
    made.chosen = ["sings"]
    assert "begins with “sings”" in made.state["steps"][1]["why"] and made.state["steps"][1]["rows"][0]["p"] > 0
    made.set_state({"chosen": ["chair", "lost", END]})
    assert "continues so" in made.state["steps"][3]["why"]
    made.text = "cups cups the are the are are cups"
    assert "has these words" in made.state["steps"][0]["why"] and made.state["nll"]["exact"] is None
    assert made.state["lengths"][0]["exact"] == [] and not made.stale
    alone = BlankLab(text="cups cups the are the are are cups")
    assert alone.state["steps"][0]["said"] is None and alone.state["answer"].endswith("however many there are.")
    assert "No world" in BlankLab(random_model(), WORDS, TEXT).state["steps"][0]["why"]


def test_spans_stay_with_their_words() -> None:
    made = lab()
    made.text = "the old cups near the chair are lost ."
    assert (made.spans, made.order, made.stale) == ([[2, 3], [5, 7]], [1, 0], False)
    made.text = "the old cups near the door are lost ."
    assert (made.spans, made.order) == ([[2, 3]], [0])
    made.spans = [[1]]
    made.text = "the cups are lost ."
    assert (made.spans, made.stale) == ([[1, 2]], False), "the spans that were drawn go along"
    made.text = "sing"
    assert (made.spans, made.state["inputs"]) == ([[0, 1]], ["[MASK]", "[START]", "sing"])
    made.set_state({"spans": [], "order": []})
    assert (made.state["steps"], made.state["sizes"], made.message) == ([], [], "")
    made.text = "the boys sing ."
    assert made.spans == [] and made.state["inputs"] == made.state["tokens"]


@pytest.mark.parametrize("traits, told", [
    ({"text": "the [MASK] lost"}, r"the text contains [MASK]"),
    ({"spans": [[1, 3], [2, 4]], "order": [0, 1]}, "not overlapping"),
    ({"spans": [[7, 9]], "order": [0]}, "a text of 8 words"),
    ({"spans": [[1]], "order": [0]}, "give (begin, end)"), ({"order": [0, 0]}, "exactly once"),
    ({"chosen": ["zebra"]}, "“zebra” is not a token"), ({"chosen": ["[PAD]"]}, "“[PAD]” is not a token"),
])
def test_what_cannot_be_read_leaves_what_stood(traits: dict[str, Any], told: str) -> None:
    made = lab()
    before = made.state
    made.set_state(traits)
    assert told in made.message and made.stale and made.state == before
    made.set_state({"text": TEXT, "spans": SPANS, "order": ORDER, "chosen": []})
    assert not made.stale and made.state == before


def test_a_long_text_is_cut_and_kept() -> None:
    made = lab(max_tokens=5, spans=[[1, 2]], order=[0])
    assert len(made.state["tokens"]) == 5 and "longer than the 5 words" in made.message and made.text == TEXT


def test_who_never_ends_is_stopped_and_may_be_told_to_end() -> None:
    model = random_model(time=4)
    words = ["the", "cups", "near"]
    made = BlankLab(model, WORDS, "cups", spans=[[0, 1]], order=[0], chosen=words, draws=50)
    assert [step["said"] for step in made.state["steps"]] == [*words, None]
    made.chosen = [*words, END]
    assert made.state["steps"][-1]["said"] == END
    assert max(length for length, _ in made.state["lengths"][0]["model"]) <= 3


def test_presets_are_what_their_titles_say() -> None:
    tries = {one.title: one for one in default_presets(SMALL, "train")}
    verb, subject = tries["verb first"], tries["subject first"]
    words = verb.text.split()
    assert [words[slice(*span)] for span in verb.spans] == [["cups"], ["chair", "are"]]
    assert (verb.spans, verb.order, subject.order) == (subject.spans, [1, 0], [0, 1])
    one, two = tries["adjacent blanks"].spans
    assert one[1] == two[0] and tries["everything blank"].spans == [[0, len(words)]]
    made = lab()
    for preset in made.menu["presets"]:
        made.set_state({name: value for name, value in preset.items() if name != "title"})
        assert made.message == "" and made.spans == [list(span) for span in preset["spans"]]


def test_three_inputs() -> None:
    words = TEXT.split()
    bert_way, t5, glm = three_inputs(Layout(words, SPANS, ORDER))
    example = masked(WORDS.encode(TEXT), vocab=WORDS.vocab, rng=Random(0), select=[2, 5, 6],
                     corrupt=always_mask)
    assert bert_way["reads"].split() == WORDS.tokens(example.tokens.tolist())[1:-1]
    assert (t5["reads"], t5["says"]) == ("the [X0] near the [X1] lost .", "[X0] cups [X1] chair are [X2]")
    state = lab().state
    assert glm["reads"].split() == state["inputs"]
    assert glm["says"].split() == [word for word in state["targets"] if word is not None]


def test_where_one_stands() -> None:
    assert progress_of([], [1, 0]).blank == 1
    stand = progress_of(["a", END, "b"], [1, 0])
    assert (stand.finished, stand.blank, stand.written) == ({1: ("a",)}, 0, ("b",))
    assert progress_of([END, END], [1, 0]).blank is None


@pytest.mark.parametrize("model, words, told", [
    (bert(), OTHERS, "cannot fill blanks word by word"),
    (GLM(GLMConfig(len(WORDS), 8, 1, 8, 2, 8)), WORDS, "give a GLMPretraining"),
    (random_model(), None, "without a tokenizer"),
])
def test_models_that_cannot_be_asked(model: Any, words: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        BlankLab(model, words)


def test_beginnings_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="in a text of 8 words"):
        lab(spans=[[7, 9]], order=[0])


def test_another_order_is_looked_at_from_its_beginning() -> None:
    lab = BlankLab(draws=0)
    lab.step = 3
    lab.order = lab.order[::-1]
    assert lab.step == 0 and not lab.stale
    lab.step = 2
    lab.spans = [[0, 1], [4, 5]]
    assert lab.step == 0
    lab.step = 2
    lab.chosen = []
    assert lab.step == 2
