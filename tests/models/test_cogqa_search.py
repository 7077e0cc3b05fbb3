"""How the graph grows: runs of the loop played by hand on a few pages, with a System 1 that points where it is told."""

import pytest
import torch
from cognitive_pages import PAGES, QUESTION, WORDS, FewPages, Points, Scripted, by_hand, compared, growth
from torch import Tensor

from plmlab.example import Batch
from plmlab.models.cogqa_search import Clue, CogQASearch, edges_of
from plmlab.objectives.cognitive_graphs import adjacency


def test_a_run_by_hand() -> None:
    asked = growth(by_hand)
    states = [*asked.states()]
    assert [state.frontier for state in states] == [("Roma",), ("Dusk", "Eva"), ("Adam", "Dusk"), ("1974",), ()]
    clue = {edge: told["clue"] for edge in states[-1].graph.edges for told in [states[-1].graph.edges[edge]]}
    assert clue == {("Roma", "Dusk"): ("Roma", 1), ("Roma", "Eva"): ("Roma", 2), ("Dusk", "Adam"): ("Dusk", 1),
                    ("Eva", "Dusk"): ("Eva", 1), ("Dusk", "1974"): ("Dusk", 2)}
    assert [sorted(state.graph.edges) for state in states[:3]] == [
        [], [("Roma", "Dusk"), ("Roma", "Eva")],
        [("Dusk", "Adam"), ("Eva", "Dusk"), ("Roma", "Dusk"), ("Roma", "Eva")]], "no state was changed later"
    assert states[-1].clues("Dusk") == (Clue("Roma", 1), Clue("Eva", 1))
    assert states[-1].answers == ("Adam", "1974")
    question, sep = "[CLS] who directed the film made at Roma [SEP]", " [SEP] "
    dusk, roma = " ".join(PAGES["Dusk"]), " ".join(PAGES["Roma"])
    assert asked.model.seen == [  # type: ignore[attr-defined]
        [f"{question} {roma} [SEP]"],
        [f"{question} Dusk was made there{sep}{dusk} [SEP]",
         f"{question} Eva owns it{sep}{' '.join(PAGES['Eva'])} [SEP]"],
        [f"{question} Adam directed it{sep}{PAGES['Adam'][0]} [SEP]",
         f"{question} Dusk was made there{sep}she plays in Dusk{sep}{dusk} [SEP]"],
        [f"{question} it came out in 1974 [SEP]"]]


def test_an_answer_is_read_and_not_gone_on_from() -> None:
    def on(title: str, clues: int) -> Points:
        return {"Roma": ([], ["Eva"]), "Eva": (["Dusk"], ["Milton"])}.get(title, ([], []))
    last = growth(on).finished()
    assert sorted(last.graph) == ["Eva", "Roma"] and set(last.visits) == {"Eva", "Roma"}
    assert last.graph.nodes["Eva"] == {"hop": False, "answer": True}


def test_an_answer_that_becomes_a_hop_is_gone_on_from() -> None:
    def on(title: str, clues: int) -> Points:
        return {"Roma": (["Dusk"], ["Eva"]), "Dusk": (["Adam"], []), "Adam": ([], []), "Eva": (["Milton"], []),
                "Milton": ([], ["town"])}.get(title, ([], []))
    first = growth(on)
    PAGES["Adam"] = ["Adam was born in 1931", "Eva is his wife"]
    try:
        second = growth(lambda title, clues: (["Eva"], []) if title == "Adam" else on(title, clues))
        assert not first.finished().graph.nodes["Eva"]["hop"]
        last = second.finished()
        assert last.graph.nodes["Eva"] == {"hop": True, "answer": True} and "Milton" in last.graph
    finally:
        PAGES["Adam"] = ["Adam was born in 1931"]


def test_what_is_forbidden_does_not_come_in() -> None:
    assert "Eva" not in growth(by_hand, forbidden=frozenset({"Eva"})).finished().graph
    last = growth(by_hand, forbidden=frozenset({("Roma", "Dusk")})).finished()
    assert ("Roma", "Dusk") not in last.graph.edges and ("Eva", "Dusk") in last.graph.edges
    assert not growth(by_hand, forbidden=frozenset({"Roma"})).start().frontier


def test_a_circle_comes_to_an_end() -> None:
    last = growth(lambda title, clues: {"Roma": (["Dusk"], []), "Dusk": (["Adam"], [])}.get(title, ([], []))).finished()
    assert not last.frontier

    def circle(title: str, clues: int) -> Points:
        return {"Roma": (["Eva"], []), "Eva": (["Dusk"], ["Milton"]), "Dusk": (["Dusk", "Adam"], []),
                }.get(title, ([], []))
    last = growth(circle).finished()
    assert ("Dusk", "Dusk") not in last.graph.edges and not last.frontier


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_more_nodes_than_are_allowed(most: int) -> None:
    assert len(growth(by_hand, max_nodes=most).finished().graph) == most


def test_no_more_hops_than_are_allowed() -> None:
    assert "Eva" not in growth(by_hand, max_hops=1).step(growth(by_hand).start()).graph


def test_without_clues_none_goes_along() -> None:
    asked = growth(by_hand, clues=False)
    last = asked.finished()
    assert all(row.count("[SEP]") <= 2 for rows in asked.model.seen for row in rows)  # type: ignore[attr-defined]
    assert last.clues("Dusk"), "but it is told where a node was found"


def test_where_nothing_is_sure_the_likeliest_answer_is_taken() -> None:
    class Unsure(Scripted):
        def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
            logits, semantics = super().read(batch)
            logits[..., 2:] = logits[..., 2:].clamp(max=4)          # below [CLS], whose is 4 too
            logits[:, 0, 2] = torch.tensor([6.0, 4.5, 7.0])[:len(logits)] if len(logits) == 2 else 6.0
            return logits, semantics
    pages = FewPages()
    model = Unsure(lambda title, clues: {"Roma": (["Dusk", "Eva"], ["cafe"]), "Dusk": ([], ["Adam"]),
                                         "Eva": ([], ["Milton"])}.get(title, ([], [])))
    asked = CogQASearch(model, pages, WORDS.vocab, pages.ids(QUESTION), "special")
    states = [*asked.states()]
    assert [state.frontier for state in states] == [("Roma",), ("Dusk", "Eva"), ("Milton",), ()], \
        "a half below the threshold at Eva, two at Roma and Dusk"
    assert states[-1].answers == ("Milton",) and asked.answer(states[-1]) == "Milton"


def test_a_question_that_names_nothing() -> None:
    asked = growth(by_hand, "who directed the film")
    last = asked.finished()
    assert not last.graph and asked.answer(last) is None and asked.scores(last) == {}
    assert growth(by_hand, "who is older", "either-or").answer(last) is None


def test_system_two_chooses_among_answers() -> None:
    asked = growth(by_hand)
    last = asked.finished()
    nodes = [*last.graph]
    x = torch.stack([last.visits[node].semantics for node in nodes])
    edges = adjacency([(nodes.index(a), nodes.index(b)) for a, b in last.graph.edges], len(nodes))
    assert torch.equal(edges_of(last.graph, nodes), edges)
    expected = dict(zip(nodes, asked.model.reasoner(x, edges).tolist(), strict=True))
    assert asked.scores(last) == pytest.approx(expected)
    assert asked.answer(last) == max(("Adam", "1974"), key=expected.__getitem__)


@pytest.mark.parametrize(("surer", "answer"), [(2.0, "1974"), (0.5, "Adam")])
def test_system_one_alone_takes_the_surest_span(surer: float, answer: str) -> None:
    class Surer(Scripted):
        def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
            logits, semantics = super().read(batch)
            for row, tokens in enumerate(batch.tokens.tolist()):
                if "1974" in WORDS.tokens(tokens) and tokens.count(WORDS.vocab.need("sep")) == 4:
                    logits[row, :, 2] *= surer                          # the film, read again with two clues
            return logits, semantics
    asked = CogQASearch(Surer(by_hand), FewPages(), WORDS.vocab, FewPages().ids(QUESTION), "special")
    last = asked.finished()
    assert set(last.answers) == {"Adam", "1974"} and asked.likeliest(last) == answer
    assert growth(by_hand, "who directed the film").likeliest(growth(by_hand, "who directed the film").start()) is None


@pytest.mark.parametrize(("kind", "answers"), [("either-or", ("Old Town", "Dusk")), ("yes-no", ("no", "yes"))])
def test_two_are_compared_where_their_values_stand(kind: str, answers: tuple[str, str]) -> None:
    asked = growth(compared, "who is older Old Town or Dusk", kind)
    last = asked.finished()
    assert asked.comparison_pair(last) == ("Old Town", "Adam")
    one, other = (last.visits[node].semantics for node in ("Old Town", "Adam"))
    predictor = asked.model.reasoner.either_or if kind == "either-or" else asked.model.reasoner.yes_no
    chance = predictor((one - other)[None]).sigmoid().item()
    assert asked.probability(last) == pytest.approx(chance) and asked.answer(last) == answers[chance > 0.5]
    turned = growth(compared, "who is older Dusk or Old Town", kind)
    assert turned.comparison_pair(turned.finished()) == ("Adam", "Old Town")
