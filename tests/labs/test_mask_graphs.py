"""The Mask Lab on a cognitive graph: against the graph itself, by both readings, and what a reader may type."""

import json

import networkx
import pytest
import torch

from plmlab.example import Example
from plmlab.labs import MaskLab
from plmlab.labs.mask.graphs import GraphMaskLab

EDGES = [("Old Roma", "Dusk"), ("Eva Bell", "Dusk"), ("Dusk", "Adam"), ("Dusk", "1974")]
BAD = "<img src=x onerror=alert(1)>"


@pytest.fixture
def graph() -> networkx.DiGraph:
    graph = networkx.DiGraph()
    graph.add_nodes_from(["Old Roma", "Eva Bell"])
    graph.add_edges_from(EDGES)
    return graph


def heard(lab: MaskLab) -> set[tuple[str, str]]:
    """(who is heard, who hears), from what JavaScript is given."""
    names, rule_ids = lab.state["tokens"], lab.state["masks"][0]["rule_ids"]
    return {(names[i % len(names)], names[i // len(names)]) for i, cause in enumerate(rule_ids) if cause > 0}


def test_a_node_hears_what_it_was_found_from(graph: networkx.DiGraph) -> None:
    lab = GraphMaskLab(graph)
    assert lab.state["tokens"] == list(graph) and heard(lab) == set(EDGES) and not lab.message
    lab.objective = "in_neighbours_and_self"
    assert heard(lab) == set(EDGES) | {(node, node) for node in graph}
    assert lab.state["masks"][0]["rules"] == ["in-neighbours", "self-loop"]
    assert "divides by 0" not in lab.state["answer"] and "divides by 0" in GraphMaskLab(graph).state["answer"]


def test_it_says_that_nodes_hear(graph: networkx.DiGraph) -> None:
    lab = GraphMaskLab(graph, "in_neighbours_and_self")
    assert lab.state["verbs"] == ("receives messages from", "receives no messages from")
    assert lab.state["axes"] == "receives messages from"
    assert [one["name"] for one in lab.menu["objectives"]] == ["in_neighbours", "in_neighbours_and_self"]
    assert [one["title"] for one in lab.menu["networks"]] == ["System 2"]
    assert repr(lab) == "<GraphMaskLab: System 2, 2I + A of the authors' code: Old Roma Eva Bell Dusk Adam 1974>"
    assert lab.state["targets"] == [None] * 5 and lab.state["marks"] == ["word"] * 5


def test_some_of_the_nodes_in_another_order(graph: networkx.DiGraph) -> None:
    lab = GraphMaskLab(graph)
    lab.text = " 1974|Dusk | Old Roma | Dusk |"
    assert lab.state["tokens"] == ["1974", "Dusk", "Old Roma"]
    assert heard(lab) == {("Old Roma", "Dusk"), ("Dusk", "1974")}


@pytest.mark.parametrize("text", ["Old Roma | Nobody", BAD, "Old"])
def test_what_is_no_node(graph: networkx.DiGraph, text: str) -> None:
    lab = GraphMaskLab(graph)
    lab.text = text
    assert lab.stale and "is not a node of this graph. Its nodes are Old Roma | Eva Bell | Dusk" in lab.message
    assert heard(lab) == set(EDGES)
    lab.text = " | "
    assert lab.stale and "empty" in lab.message


def test_a_cell_set_by_hand(graph: networkx.DiGraph) -> None:
    lab = GraphMaskLab(graph)
    lab.edits = [[0, 0, 1, True]]
    assert isinstance(lab.example, Example)
    assert lab.example.visible.dense()[0, 1] and int(lab.example.visible.dense().sum()) == len(EDGES) + 1
    assert torch.equal(lab.example.position_ids, torch.arange(5)[None])


def test_a_name_is_text_in_the_page() -> None:
    page = GraphMaskLab(networkx.DiGraph([("Old Roma", BAD)])).html()
    assert BAD not in page and json.dumps("Old Roma") in page


def test_the_mask_lab_has_its_own_objectives_as_before(graph: networkx.DiGraph) -> None:
    GraphMaskLab(graph)
    assert "in_neighbours" not in MaskLab.objectives and "graph" not in MaskLab.networks
    with pytest.raises(ValueError, match="there is no objective 'causal'; choose one of in_neighbours, in"):
        GraphMaskLab(graph, "causal")
