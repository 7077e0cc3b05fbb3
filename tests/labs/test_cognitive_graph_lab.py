"""The Cognitive Graph Lab without a browser: a run by hand, the growth itself, brute force over edges and distances."""

import json
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import networkx
import pytest
import torch
from cognitive_graph_models import FILE, FILM, OWNER, PRESETS, WHICH, both, cases, grow, lab
from cognitive_pages import PAGES, QUESTION, WORDS, FewPages, Scripted
from standin import HOSTILE
from torch import Tensor

from plmlab.example import Batch
from plmlab.labs import CognitiveGraphLab, CognitiveGraphPreset
from plmlab.labs.cognitive_graph.columns import distances, places
from plmlab.labs.cognitive_graph.presets import Gold
from plmlab.labs.cognitive_graph.protocol import Run
from plmlab.labs.cognitive_graph.steps import Drawing
from plmlab.models.cogqa_search import CogQASearch, edges_of


def growth(made: CognitiveGraphLab, **choices: Any) -> CogQASearch:
    """The question of a lab, grown anew."""
    found = made.grow(WORDS.encode(made.text, plain=True), made.kind, **choices)
    assert isinstance(found, CogQASearch)
    return found


def called(made: CognitiveGraphLab, numbers: Any) -> list[str]:
    return [made.state["nodes"][int(n)]["name"] for n in numbers]


def lines(made: CognitiveGraphLab) -> dict[tuple[str, str], dict[str, Any]]:
    """The edges by the names of their ends."""
    return {(*called(made, (edge["source"], edge["target"])),): edge for edge in made.state["edges"]}


def span_words(made: CognitiveGraphLab, name: str, span: dict[str, Any]) -> str:
    words = next(node["sentences"] for node in made.state["nodes"] if node["name"] == name)[span["sentence"]]
    return " ".join(words[span["start"]:span["end"]])


def test_a_run_by_hand() -> None:
    made = lab()
    assert (made.text, made.kind, made.step, made.message, made.stale) == (QUESTION, "special", 1, "", False)
    assert repr(made) == f"<CognitiveGraphLab: {QUESTION} 1974 (4 steps)>"
    placed = [(node["name"], node["column"], node["row"], node["since"]) for node in made.state["nodes"]]
    assert placed == [("Roma", 0, 0, 0), ("Dusk", 1, 0, 1), ("Eva", 1, 1, 1), ("Adam", 2, 0, 2), ("1974", 2, 1, 3)]
    steps = made.state["steps"]
    frontiers = [called(made, step["frontier"]) for step in steps]
    assert frontiers == [["Roma"], ["Dusk", "Eva"], ["Adam", "Dusk"], ["1974"], []]
    assert [called(made, step["answers"]) for step in steps] == [[], [], ["Adam"], ["Adam", "1974"], ["Adam", "1974"]]
    assert called(made, steps[-1]["hops"]) == ["Roma", "Dusk", "Eva"]
    assert {ends: (edge["since"], edge["sentence"], span_words(made, ends[0], edge["span"]))
            for ends, edge in lines(made).items()} == {
        ("Roma", "Dusk"): (1, 1, "Dusk"), ("Roma", "Eva"): (1, 2, "Eva"), ("Dusk", "Adam"): (2, 1, "Adam"),
        ("Eva", "Dusk"): (2, 1, "Dusk"), ("Dusk", "1974"): (3, 2, "1974")}
    assert lines(made)["Roma", "Dusk"]["span"]["margin"] == 4, "a logit of 9, and [CLS] has 5"


def test_what_was_read_is_there_and_read_again_it_is_another_visit() -> None:
    made = lab()
    steps, visits = made.state["steps"], made.state["visits"]
    assert [sorted(called(made, step["visits"])) for step in steps] == [
        [], ["Roma"], ["Dusk", "Eva", "Roma"], ["Adam", "Dusk", "Eva", "Roma"], ["1974", "Adam", "Dusk", "Eva", "Roma"]]
    dusk = called(made, range(5)).index("Dusk")
    once, again = (visits[step["visits"][dusk]] for step in steps[2:4])
    assert steps[4]["visits"][dusk] == steps[3]["visits"][dusk] and len(visits) == 6
    assert [[*called(made, [clue[0]]), *clue[1:]] for clue in once["clues"]] == [["Roma", 1, True]]
    assert [[*called(made, [clue[0]]), *clue[1:]] for clue in again["clues"]] == [["Roma", 1, True], ["Eva", 1, True]]
    assert [(span["as"], span_words(made, "Dusk", span)) for span in once["spans"]] == [("answer", "Adam")]
    assert [(span["as"], span_words(made, "Dusk", span)) for span in again["spans"]] == [("answer", "1974")]
    for node in made.state["nodes"]:
        assert [" ".join(words) for words in node["sentences"]] == PAGES.get(node["name"], [])


@pytest.mark.parametrize(("position_ids", "sentences", "kept"), [(18, 2, False), (24, 3, False), (64, 3, True)])
def test_what_finds_no_room_is_told(position_ids: int, sentences: int, kept: bool) -> None:
    """The question has 7 words and Roma's page 4, 4 and 3; a clue of 4 must leave half of the positions."""
    class Short(Scripted):
        def __init__(self, points: Any) -> None:
            super().__init__(points)
            self.encoder.config = replace(self.encoder.config, time=position_ids)
    points = Short(lambda title, _: (["Dusk"] if title == "Roma" else [], []))
    made = CognitiveGraphLab(partial(CogQASearch, points, FewPages(), WORDS.vocab), WORDS, text=QUESTION)
    roma, dusk = made.state["visits"][:2]
    assert roma["read"] == sentences and len(made.state["nodes"][0]["sentences"]) == len(PAGES["Roma"])
    assert dusk["clues"] == [[0, 1, kept]]


@pytest.mark.parametrize("preset", range(len(PRESETS)))
def test_each_step_is_the_growth_s(preset: int) -> None:
    made = lab(preset)
    asked = growth(made)
    for state, step in zip(asked.states(), made.state["steps"], strict=True):
        assert called(made, step["frontier"]) == [*state.frontier]
        assert (step["answer"], step["likeliest"]) == (asked.answer(state), asked.likeliest(state))
        assert step["chance"] == asked.probability(state)
        assert called(made, step["compared"]) == [*asked.comparison_pair(state)]
        assert {*called(made, step["visits"])} == set(state.visits)
        there = {ends for ends, edge in lines(made).items() if edge["since"] is not None
                 and edge["since"] <= made.state["steps"].index(step)}
        assert there == set(state.graph.edges)


def test_what_system_two_gives_with_edges_without_and_with_one_less() -> None:
    made = lab()
    asked = growth(made)
    for state, step in zip(asked.states(), made.state["steps"], strict=True):
        nodes = [node for node in state.graph if node in state.visits]
        assert called(made, step["chances"]) == nodes
        if not nodes:
            continue
        x, edges = torch.stack([state.visits[node].semantics for node in nodes]), edges_of(state.graph, nodes)
        with torch.no_grad():
            logits = asked.model.reasoner(x, edges)
            alone = torch.stack([asked.model.reasoner(row[None], torch.zeros(1, 1, dtype=torch.bool))[0] for row in x])
            for pair, *p in zip(step["chances"].values(), alone.softmax(0), logits.softmax(0), strict=True):
                assert pair == pytest.approx([float(one) for one in p], rel=1e-3)
            assert len(step["effects"]) == int(edges.sum())
            for effect in step["effects"]:
                source, target = (nodes.index(*called(made, [effect[end]])) for end in ("source", "target"))
                fewer = edges.clone()
                fewer[source, target] = False
                moved = logits - asked.model.reasoner(x, fewer)
                assert effect["on_target"] == pytest.approx(float(moved[target]), abs=1e-3)
                if step["answer"] is None:
                    assert effect["on_answer"] is None
                else:
                    assert effect["on_answer"] == pytest.approx(float(moved[nodes.index(step["answer"])]), abs=1e-3)


def test_the_graph_takes_no_part_in_a_comparison() -> None:
    made = lab(2)
    assert called(made, made.state["steps"][-1]["compared"]) == ["Old Town", "Adam"]
    assert all(step["chances"] == {} and step["effects"] == [] for step in made.state["steps"])
    assert made.state["named"] == ["Old Town", "Dusk"] and made.message == ""
    made.set_state({"text": "who is older Dusk"})
    assert "needs two titles" in made.message and made.state["steps"][-1]["answer"] is None and not made.stale


def test_gold_what_is_missed_and_what_is_extra() -> None:
    made = lab(1)
    nodes = {node["name"]: node for node in made.state["nodes"]}
    assert {name for name, node in nodes.items() if node["gold"]} == {*OWNER.nodes}
    assert [name for name, node in nodes.items() if node["missed"]] == ["Milton"]
    assert (nodes["Milton"]["column"], nodes["Milton"]["row"], nodes["Milton"]["since"]) == (2, 2, None)
    missed = {ends: edge for ends, edge in lines(made).items() if edge["since"] is None}
    assert [*missed] == [("Eva", "Milton")] and missed["Eva", "Milton"]["gold"]
    assert [ends for ends, edge in lines(made).items() if edge["gold"]] == [("Roma", "Eva"), ("Eva", "Milton")]
    made.text = "who directed Dusk"
    assert not made.state["gold"] and not any(node["gold"] or node["missed"] for node in made.state["nodes"])
    assert (made.state["preset"], made.state["right"], made.state["note"]) == (None, None, "")


def test_what_is_cut_makes_the_graph_grow_anew() -> None:
    made = lab(step=2)
    before = made.state
    made.forbidden = [["Dusk", "Adam"]]
    last = growth(made, forbidden=frozenset({("Dusk", "Adam")})).finished()
    assert {ends for ends, edge in lines(made).items() if edge["since"] is not None} == set(last.graph.edges)
    assert made.step == 2 and not made.stale
    assert made.state["changed"] == "Without Dusk → Adam: Adam is no longer found. The answer is still 1974."
    made.forbidden = [["Dusk", "Adam"], "1974"]
    assert made.state["changed"] == "Without Dusk → Adam and 1974: Adam is no longer found. The answer was 1974; " \
        "now there is none."
    made.forbidden = ["Eva"]
    assert made.state["changed"] == "Without Eva: 1974 is no longer found. The answer was 1974; now it is Adam."
    made.forbidden = [["Eva", "Dusk"]]
    assert made.state["changed"].startswith("Without Eva → Dusk: 1974 is no longer found.")
    made.forbidden = []
    assert made.state == before and made.step == 2


def test_what_comes_in_for_what_was_cut_is_told() -> None:
    made = CognitiveGraphLab(grow(both, max_nodes=4), WORDS, text=QUESTION)
    assert called(made, range(4)) == ["Roma", "Dusk", "Eva", "Adam"]
    made.forbidden = ["Adam"]
    assert made.state["changed"] == "Without Adam: every other node is still found, and 1974 is also found. " \
        "The answer was Adam; now it is 1974."


def test_where_all_that_is_named_is_forbidden_nothing_grows() -> None:
    made = lab(forbidden=["Roma"])
    assert [step["frontier"] for step in made.state["steps"]] == [[]] and made.step == 0 and not made.stale
    assert made.state["changed"].startswith("Without Roma: Dusk, Eva, Adam and 1974 are no longer found.")
    assert all(node["missed"] for node in made.state["nodes"]) and len(made.state["nodes"]) == 3
    bare = CognitiveGraphLab(grow(), WORDS, text=QUESTION, forbidden=["Roma"])
    assert bare.state["nodes"] == bare.state["edges"] == [] and bare.html()


def test_another_question_begins_anew() -> None:
    made = lab(forbidden=["Eva"], step=3)
    made.set_state({"text": WHICH, "kind": "either-or"})
    assert (made.forbidden, made.step, made.state["preset"]) == ([], 1, 2)
    made.kind = "special"
    assert made.state["preset"] is None and made.step == 1 and made.state["steps"][1]["chances"]


def test_the_likeliest_answer_below_the_threshold_is_told_as_such() -> None:
    class Unsure(Scripted):
        def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
            logits, semantics = super().read(batch)
            logits[..., 2:] = logits[..., 2:].clamp(max=4)
            logits[:, 0, 2] = 6.0
            return logits, semantics
    made = CognitiveGraphLab(partial(CogQASearch, Unsure(both), FewPages(), WORDS.vocab), WORDS, text=QUESTION)
    span = lines(made)["Dusk", "1974"]["span"]
    assert (span["as"], span["margin"]) == ("below", -2) and span_words(made, "Dusk", span) == "1974"
    told = [span for visit in made.state["visits"] for span in visit["spans"] if span["as"] == "below"]
    assert told == [span], "and no other that was not taken"


@pytest.mark.parametrize("traits, told", [
    ({"text": ""}, "The question is empty"), ({"text": "  "}, "The question is empty"),
    ({"text": "who directed the film"}, f"as in “{QUESTION}”"), ({"text": "who is old roma"}, "with its capitals"),
    ({"kind": "how"}, "give one of special, either-or, yes-no"), ({"forbidden": [["Roma"]]}, "[source, target]"),
    ({"text": f"{'who ' * 62} Roma"}, "the question has 63 tokens, the model 64 positions"),
])
def test_what_cannot_be_asked_leaves_what_stood(traits: dict[str, Any], told: str) -> None:
    made = lab()
    before = made.state
    made.set_state(traits)
    assert told in made.message and made.stale and made.state == before
    made.set_state({"text": QUESTION, "kind": "special", "forbidden": []})
    assert not made.stale and made.message == "" and made.state == before


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_answered(name: str) -> None:
    made = lab()
    made.text = f"Roma {HOSTILE[name]}"[:200]
    assert not made.stale and made.state["named"] == ["Roma"] and "[UNK]" in made.message
    assert made.html().count("</script>") == 2 and made.text.startswith("Roma")
    made.text = HOSTILE[name]
    assert "contains no page title" in made.message


def test_a_long_question_is_cut_and_kept() -> None:
    made = lab(max_tokens=7)
    assert made.message == "" and len(QUESTION.split()) == 7
    made.text = f"{QUESTION} who who"
    assert "longer than the 7 words" in made.message and "its last 2 words" in made.message
    assert made.text.endswith("who who") and called(made, range(5)) == ["Roma", "Dusk", "Eva", "Adam", "1974"]


def test_a_capital_at_the_beginning_is_no_unknown_word() -> None:
    made = lab()
    before = made.state["steps"]
    made.text = QUESTION.replace("who", "Who")
    assert made.message == "" and made.state["steps"] == before
    made.text = "Roma who"
    assert made.state["named"] == ["Roma"]


def test_beginnings_that_are_none() -> None:
    with pytest.raises(ValueError, match="give presets, or a text"):
        CognitiveGraphLab(grow(), WORDS)
    with pytest.raises(ValueError, match="no start node"):
        CognitiveGraphLab(grow(), WORDS, text="who directed it")
    with pytest.raises(ValueError, match="Dusk → Adam, and the nodes are Dusk"):
        Gold(("Dusk",), {("Dusk", "Adam"): 0})
    assert CognitiveGraphLab(grow(), WORDS, [CognitiveGraphPreset("a film", QUESTION)]).text == QUESTION
    assert lab(step=99).step == 4 and lab(step=-3).step == 0


@pytest.mark.parametrize("seed", range(6))
def test_columns_are_distances_and_nothing_moves_for_gold(seed: int) -> None:
    rng = Random(seed)
    graph = networkx.DiGraph()
    graph.add_nodes_from("ab")
    for new in "cdefghij":
        graph.add_edge(rng.choice([*graph]), new)
    graph.add_edges_from((rng.choice([*graph]), rng.choice([*graph])) for _ in range(6))
    far = networkx.floyd_warshall(graph)
    wanted = {node: min(far["a"][node], far["b"][node]) for node in graph}
    assert distances(graph, "ab") == wanted
    found = places(graph, "ab", None)
    assert {place.name: place.column for place in found} == wanted
    assert len({place[1:3] for place in found}) == len(found)
    gold = Gold(("a", "c", "x", "y"), {("a", "c"): 0, ("c", "x"): 1, ("x", "y"): 0})
    more = places(graph, "ab", gold)
    assert more[:len(found)] == found
    assert [(place.name, place.column, place.missed) for place in more[len(found):]] == [("x", 2, True), ("y", 3, True)]
    assert len({place[1:3] for place in more}) == len(more)


def test_what_is_drawn_is_json_and_javascript_s_fixtures_are_of_today() -> None:
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    now = json.loads(json.dumps(cases()))
    assert [one["counts"] for one in kept] == [one["counts"] for one in now]
    for old, new in zip(kept, now, strict=True):
        assert old["state"].keys() == new["state"].keys()
        for part in ("text", "kind", "named", "nodes", "changed", "without", "gold", "right", "note"):
            assert old["state"][part] == new["state"][part]
        for one, other in zip(old["state"]["steps"], new["state"]["steps"], strict=True):
            assert one.keys() == other.keys()
            assert (one["frontier"], one["answer"]) == (other["frontier"], other["answer"])


def test_the_gold_graph_of_a_run_alone() -> None:
    """A drawing of the same run, with and without its gold graph."""
    asked = growth(lab())
    run = Run(asked, tuple(asked.states()))
    plain, golden = (Drawing(run, gold, special=True).state() for gold in (None, FILM))
    assert [edge["since"] for edge in plain["edges"]] == [edge["since"] for edge in golden["edges"]]
    assert run.answer == "1974" and run.since["Roma", "Eva"] == 1 and run.since["1974"] == 3
