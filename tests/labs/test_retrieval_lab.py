"""The Retrieval Lab without a browser: a lookup that was made anew from the edited texts, sums by hand, an autograd."""

from typing import Any

import numpy as np
import pytest
import torch
from retrieval_models import PRESETS, TEXT, TOLD, TWO, lab, lookup, model, words
from standin import HOSTILE

from plmlab.labs import RetrievalLab, RetrievalPreset
from plmlab.labs.retrieval.edits import Edits
from plmlab.labs.retrieval.plane import Plane
from plmlab.labs.retrieval.view import marked
from plmlab.models.retrieve_and_read import Query, RetrieveAndRead
from plmlab.retrieval import NULL, Block, HNSWIndex, IVFIndex
from plmlab.retrieval.reading import Reading

ALDER = ["Flora Farrow", "Flora Farrow was born in Alder ."]


def query(text: str, excluded: tuple[int, ...] = ()) -> Query:
    ids = words().encode(text)
    return Query(tuple(ids), tuple(place for place, id in enumerate(ids) if id == words().vocab.mask), excluded)


def ids(text: str) -> tuple[int, ...]:
    return tuple(words().encode(text, plain=True))


def agree(columns: list[dict[str, Any]], texts: list[str], reading: Reading,
          numbers: dict[int, int] | None = None) -> None:
    """The columns say what a reading says; ``numbers`` are those of the lookup that it is of → the lab's."""
    assert [one["number"] for one in columns] == [(numbers or {}).get(n, n) for n in reading.numbers]
    rows = [reading.answers.index(ids(text)) for text in texts]
    for name, wanted in (("score", reading.scores), ("prior", reading.priors),
                         ("likelihoods", reading.likelihoods[:, rows])):
        torch.testing.assert_close(torch.tensor([one[name] for one in columns]), wanted, rtol=1e-4, atol=1e-6)


def texts_of(made: RetrievalLab) -> list[str]:
    return [one["text"] for one in made.state["answers"]]


@pytest.mark.parametrize("traits", [{}, {"k": 1}, {"k": 8, "temperature": 4.0}, {"null": False, "k": 3},
                                    {"excluded": [2, 4]}, {"text": TWO}])
def test_the_state_is_what_the_lookup_reads(traits: dict[str, Any]) -> None:
    made = lab(**traits)
    right = "Flora Farrow" if made.text == TWO else "Vernon"
    wanted = lookup().read([query(made.text, tuple(made.excluded))], made.k, null=made.null,
                           temperature=made.temperature, also=[[ids(right)]])[0]
    agree(made.state["documents"], texts_of(made), wanted)
    assert made.message == "" and not made.stale
    for one in made.state["answers"]:
        assert one["p"] == pytest.approx(float(wanted.marginals[wanted.answers.index(ids(one["text"]))]), rel=1e-4)
        assert one["right"] == (one["text"] == right)


def test_shares_add_up_and_the_pull_is_the_gradient_of_the_score() -> None:
    made = lab(k=5, also="dog")
    columns = made.state["documents"]
    assert sum(one["prior"] for one in columns) == pytest.approx(1)
    scores = torch.tensor([one["score"] for one in columns], dtype=torch.float64, requires_grad=True)
    for place, answer in enumerate(made.state["answers"]):
        heights = torch.tensor([one["likelihoods"][place] for one in columns], dtype=torch.float64)
        marginal = scores.softmax(0) @ heights
        assert answer["p"] == pytest.approx(marginal.item(), rel=1e-4)
        (wanted,) = torch.autograd.grad(marginal.log(), scores)
        assert [one["pulls"][place] for one in columns] == pytest.approx(wanted.tolist(), abs=1e-5)
    assert all(sum(one["likelihoods"]) <= 1 for one in columns)
    assert "dog" in texts_of(made)


def test_edits_are_those_of_a_lookup_made_anew_and_the_callers_stays_as_it_is() -> None:
    """The lab's numbers: 0 replaced, 3 removed, 7 added; in the lookup made anew the documents are counted through."""
    given = lookup()
    texts, vectors = dict(given.corpus.documents), given.corpus.index.vectors(range(7))
    made = RetrievalLab(given, PRESETS, k=8, replaced={"0": ALDER}, removed=[3], added=[["Dusk", "Dusk is a film ."]])
    told = [Block(title, 0, (text,)) for title, text in TOLD.items()]
    told[0] = Block(ALDER[0], 0, (ALDER[1],))
    anew = RetrieveAndRead.of(model(), words(), [*told[:3], *told[4:], Block("Dusk", 0, ("Dusk is a film .",))])
    numbers = dict(zip(range(7), (0, 1, 2, 4, 5, 6, 7), strict=True)) | {NULL: NULL}
    wanted = anew.read([query(TEXT)], 8, also=[[ids(text) for text in texts_of(made)]])[0]
    agree(made.state["documents"], texts_of(made), wanted, numbers)
    agree(made.state["before"], texts_of(made),
          lookup().read([query(TEXT)], 8, also=[[ids(text) for text in texts_of(made)]])[0])
    assert given.corpus.documents == texts and len(given.corpus.index) == 7
    assert torch.equal(given.corpus.index.vectors(range(7)), vectors)
    given.corpus.remove(1)
    made.k = 7
    assert 1 in [one["number"] for one in made.state["documents"]], "nor does the lab see what the caller does"


def test_what_is_restored_is_the_very_state() -> None:
    made = lab(k=6)
    state = made.state
    edits: list[dict[str, Any]] = [{"replaced": {"1": ["Vernon", "Vernon is a dog ."]}}, {"removed": [0, 2]},
                                   {"added": [["", "a dog"]]}, {"excluded": [4]}]
    for edit in edits:
        made.set_state(edit)
        assert made.state != state and made.state["before"] is not None, edit
        made.set_state({"replaced": {}, "removed": [], "added": [], "excluded": []})
        assert made.state == state and made.state["before"] is None


def test_before_and_now_know_the_same_answers_and_each_keeps_its_place() -> None:
    made = lab(k=2)
    first = texts_of(made)
    made.set_state({"replaced": {"2": ["Peter Quinn", "she keeps a dog there ."], "1": ["", "by the river"]},
                    "removed": [4]})
    answers = made.state["answers"]
    assert texts_of(made)[0] == first[0], "the likeliest before"
    assert [one["before"] for one in answers] == sorted((one["before"] for one in answers), reverse=True)
    columns = [*made.state["before"], *made.state["documents"]]
    assert all(len(one["likelihoods"]) == len(answers) for one in columns)
    assert made.state["letters"].keys() == {str(one["number"]) for one in columns}


def test_where_a_preset_comes_from_is_left_out_before_too() -> None:
    made = lab(text=TWO, excluded=[0])
    assert made.state["before"] is None and all(one["number"] for one in made.state["documents"])
    assert (made.state["preset"], made.state["gaps"]) == (1, 2)
    made.excluded = []
    assert made.state["before"] is not None
    assert RetrievalLab(lookup(), PRESETS[2:]).state["before"] is not None, "an edit to begin with"


def test_the_text_is_whole_in_its_pieces_and_answers_are_found_in_it() -> None:
    for one in lab(k=8).state["documents"]:
        if one["number"] != NULL:
            assert "".join(piece for piece, _ in one["pieces"]) == [*TOLD.values()][one["number"]]
    text = "🦊 Flora Farrow , Flora Vernon ."
    assert marked(words(), text, [ids("Flora"), ids("Flora Farrow"), ids("Vernon")]) == [
        ["🦊 ", -1], ["Flora Farrow", 1], [" , ", -1], ["Flora", 0], [" ", -1], ["Vernon", 2], [" .", -1]]


def test_the_plane_is_numpy_s_and_no_edit_moves_it() -> None:
    made = lab()
    vectors = lookup().corpus.index.vectors(range(7)).numpy().astype(np.float64)
    values, directions = np.linalg.eigh(np.cov(vectors.T))
    assert made.menu["share"] == pytest.approx(values[-2:].sum() / values.sum(), rel=1e-4)
    wanted = (vectors - vectors.mean(0)) @ directions[:, :-3:-1]
    found = np.array([one["at"] for one in made.menu["documents"]])
    np.testing.assert_allclose(abs(found), abs(wanted), atol=1e-4)
    menu = made.menu
    made.replaced = {"0": ALDER}
    assert made.menu == menu
    moved = Edits.of([], {"0": ALDER}, []).applied(lookup()).corpus.index.vectors([0])
    assert made.state["plane"]["written"]["0"] == pytest.approx(made.plane.at(moved)[0])
    assert Plane.fitted(torch.ones(1, 4), torch.zeros(0, 4)).share == 1


def test_a_distant_query_does_not_shrink_the_documents_to_a_point() -> None:
    square = torch.tensor([[0.0, 0], [4, 0], [0, 2], [4, 2]])
    for query, box in (([3.0, 2], (-2, 2, -1, 1)), ([5.0, 0], (-2, 3, -1, 1)), ([900.0, -900], (-2, 4, -3, 1))):
        assert Plane.fitted(square, torch.tensor([query])).box == pytest.approx(box, abs=1e-5)


def test_documents_are_ranked_by_their_inner_products() -> None:
    made = lab(k=8)
    assert made.state["plane"]["ranked"] == [one["number"] for one in made.state["documents"][1:]]


@pytest.mark.parametrize("kind", [IVFIndex, HNSWIndex])
def test_a_copy_keeps_the_kind_of_index(kind: Any) -> None:
    given = lookup().corpus
    vectors = given.index.vectors(range(7))
    given.index = kind(8)
    given.index.add(["" for _ in range(7)], vectors)
    made = given.copied()
    made.remove(3)
    made.replace(2, Block("", 0, ("a dog",)))
    assert type(made.index) is kind and len(made.index) == 6 and len(given.index) == 7
    assert torch.equal(given.index.vectors(range(7)), vectors) and 3 in given.documents


@pytest.mark.parametrize(("traits", "said"), [
    ({"text": "Flora Farrow was born ."}, r"The query has no \[MASK\]"),
    ({"text": " "}, "The query is empty"),
    ({"text": "[CLS] was [MASK]"}, r"The query contains \[CLS\]"),
    ({"text": "dog " * 50 + "[MASK]"}, r"its \[MASK\] comes after them"),
    ({"replaced": {"0": ["Flora", " "]}}, "The document “Flora” is empty"),
    ({"added": [["", "dog " * 60]]}, "is too long: 60 tokens, but there is room for 38"),
    ({"replaced": {"9": ALDER}}, "no document has the number 9"),
    ({"removed": list(range(7)), "null": False}, "No document is left, and the null document is switched off"),
    ({"k": 9}, "from 1 to 8"), ({"temperature": 0.1}, "from 0.25 to 4")])
def test_what_cannot_be_read_is_told_and_what_stood_stands(traits: dict[str, Any], said: str) -> None:
    made = lab()
    state = made.state
    made.set_state(traits)
    assert made.stale and made.state == state
    with pytest.raises(ValueError, match=said):
        RetrievalLab(lookup(), **{"text": TEXT, **traits})


def test_what_is_only_strange_is_noted() -> None:
    made = lab(removed=list(range(7)))
    assert "only what is stored in its weights" in made.message and not made.stale
    assert [one["number"] for one in made.state["documents"]] == [NULL]
    assert "1 of the tokens is not in this tokenizer's vocabulary" in lab(text="a wombat was [MASK]").message
    assert lab(replaced={"0": ["", "a wombat"]}).message.startswith("In the documents that you edited, 1 of")
    assert "“Flora Farrow” has 2 tokens, but the masked span has 1" in lab(also="Flora Farrow").message
    assert "its last" in lab(text="[MASK] " + "dog " * 40).message
    for text in HOSTILE.values():
        assert not lab(text=f"[MASK] {text[:30]}", added=[[text[:30], text[:40]]]).stale


def test_what_a_lab_needs() -> None:
    with pytest.raises(ValueError, match="the corpus has no documents"):
        RetrievalLab(RetrieveAndRead.of(model(), words()), PRESETS)
    with pytest.raises(ValueError, match="no initial query"):
        RetrievalLab(lookup())
    made = RetrievalLab(lookup(), [RetrievalPreset("dog", "[MASK] dog")])
    assert repr(made).startswith("<RetrievalLab: [MASK] dog → ")
