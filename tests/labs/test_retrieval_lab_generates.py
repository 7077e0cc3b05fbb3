"""The Retrieval Lab with a RAG: per-token mixtures by products of the stub's own probabilities, edits, bad input."""

import math
from typing import Any

import pytest
import torch
from rag_models import PRESETS, TEXT, TOLD, Copying, lab, lookup
from realm_small import WORDS, ids
from standin import HOSTILE

from plmlab.labs import RetrievalLab
from plmlab.models.dpr import DPR
from plmlab.models.rag import RAGConfig, RAGToken, RetrieveAndGenerate
from plmlab.retrieval.blocks import Block

START, END = WORDS.vocab.need("start"), WORDS.vocab.need("end")


def chances(title: str, text: str, question: str, answer: str) -> list[float]:
    """p(y_i|x,z,y_<i) of an answer's tokens and [END], by the stub's rule."""
    inputs, tokens = [*ids(f"{question} {title} {text}")], [START, *ids(answer), END]
    stub = Copying()
    return [float(stub.logits(inputs, tokens[:i]).softmax(0)[tokens[i]]) for i in range(1, len(tokens))]


@pytest.mark.parametrize("traits", [{"k": 3}, {"k": 1}, {"k": 8, "temperature": 0.5, "also": "rome and oslo and bo"},
                                    {"k": 2, "excluded": [1]}, {"k": 3, "replaced": {"0": ["ada", "ada saw paris"]}}])
def test_each_token_is_the_mixture_written_out(traits: dict[str, Any]) -> None:
    made = lab(**traits)
    state, told = made.state, dict(enumerate(TOLD.items())) | {0: made.replaced.get("0", next(iter(TOLD.items())))}
    priors = [one["prior"] for one in state["documents"]]
    scores = torch.tensor([one["score"] for one in state["documents"]]) / made.temperature
    assert priors == pytest.approx(scores.softmax(0).tolist(), rel=1e-5)
    assert len(priors) == min(made.k, 5 - len(made.excluded))
    for place, (answer, generated) in enumerate(zip(state["answers"], state["generated"], strict=True)):
        each = [chances(*told[one["number"]], TEXT, answer["text"]) for one in state["documents"]]
        assert [one["text"] for one in generated["tokens"]] == [*answer["text"].split(), "[END]"]
        weights, token = priors, 1.0
        for i, one in enumerate(generated["tokens"]):
            now = [some[i] for some in each]
            assert one["predictions"] == pytest.approx(now, rel=1e-4)
            assert one["weights"] == pytest.approx(weights, rel=1e-4)
            joint = [weight * p for weight, p in zip(weights, now, strict=True)]
            weights = [part / math.fsum(joint) for part in joint]
            token *= math.fsum(p * q for p, q in zip(priors, now, strict=True))
        whole = [math.prod(some) for some in each]
        marginal = math.fsum(p * q for p, q in zip(priors, whole, strict=True))
        assert (answer["p"], generated["p"]) == pytest.approx((marginal, token), rel=1e-4)
        assert [one["likelihoods"][place] for one in state["documents"]] == pytest.approx(whole, rel=1e-4)
        assert [one["pulls"][place] for one in state["documents"]] == pytest.approx(
            [p * (q / marginal - 1) for p, q in zip(priors, whole, strict=True)], abs=1e-5)
    assert (state["gaps"], made.message) == (0, "")


def test_the_best_answer_of_both_forms_is_shown_and_they_differ() -> None:
    state = lab(k=3).state
    texts = [one["text"] for one in state["answers"]]
    by_token = max(range(len(texts)), key=lambda place: state["generated"][place]["p"])
    assert texts[0] == "oslo" and texts[by_token] == "oslo and rome"
    everything = lookup().read([TEXT], 3)[0]
    assert [WORDS.decode(one) for one in everything.best] == ["oslo", "oslo and rome"]
    assert [one["text"] for one in state["answers"] if one["right"]] == ["oslo and rome"]


def test_answers_follow_an_edit_and_come_back() -> None:
    made = lab(k=3, also="rome")
    state = made.state
    made.replaced = {"0": ["ada", "ada was born in paris"]}
    now = {one["text"]: one for one in made.state["answers"]}
    assert made.state["before"] and now["paris"]["p"] > 2 * now["paris"]["before"]
    assert now["rome"]["p"] < now["rome"]["before"] / 2
    old = dict(zip([one["text"] for one in state["answers"]], state["generated"], strict=True))
    for answer, generated in zip(made.state["answers"], made.state["generated"], strict=True):
        if answer["text"] in old:
            assert generated["before"] == pytest.approx(old[answer["text"]]["p"], rel=1e-5)
    assert len(made.state["answers"]) <= 7, "as many as there are colours"
    made.replaced = {}
    assert made.state == state
    for edit in ({"removed": [1]}, {"excluded": [1]}, {"added": [["ada", "ada saw sea and was born in rome"]]}):
        made.set_state(edit)
        assert made.state["before"] and made.state != state and not made.stale
        made.set_state({"removed": [], "added": [], "excluded": []})
    assert lab(text=PRESETS[2].text, replaced=PRESETS[2].traits()["replaced"]).state["before"] is not None


@pytest.mark.parametrize(("traits", "said"), [
    ({"text": " "}, "The question is empty"),
    ({"text": "ada was born in [MASK]"}, r"The question contains \[MASK\]: type words only"),
    ({"text": "ada [END]"}, r"The question contains \[END\]"),
    ({"text": "ada " * 30}, "The question has 30 tokens, but there is room for 22: shorten it"),
    ({"text": "ada " * 9, "max_tokens": 8}, "there is room for 8"),
    ({"added": [["ada", "bo " * 40]]}, "The document “ada” is too long: 41 tokens, but there is room for 23"),
    ({"replaced": {"0": ["ada", ""]}}, "The document “ada” is empty"),
    ({"removed": [*range(5)]}, "No document is left, but the generator needs one: restore a document"),
    ({"excluded": [*range(5)]}, "No document is left")])
def test_what_cannot_be_answered_is_told_and_what_stood_stands(traits: dict[str, Any], said: str) -> None:
    made = lab()
    state = made.state
    made.set_state(traits)
    assert made.stale and made.state == state
    with pytest.raises(ValueError, match=said):
        RetrievalLab(lookup(), **{"text": TEXT, **traits})


def test_what_is_only_strange_is_noted() -> None:
    assert "1 of the tokens is not in this tokenizer's vocabulary" in lab(text="wombat was born").message
    assert lab(replaced={"0": ["wombat", "ada"]}).message.startswith("In the documents that you edited, 1 of")
    made = lab(also="oslo " * 13)
    assert "Your answer has 13 tokens; answers of at most 12" in made.message and not made.stale
    for text in HOSTILE.values():
        made = lab(text=f"ada {text[:8]}", added=[[text[:4], text[:8]]], also=text[:8])
        assert not made.stale, made.message


def test_an_answer_without_tokens_has_a_name() -> None:
    """Its only token is [END]; no document contains it."""
    given = lookup()
    [read] = given.read([TEXT], 2, also=[[()]])
    assert () in read.answers
    made = RetrievalLab(given, text=TEXT)
    made.queries.always_shown = lambda *_: (((),), "")  # type: ignore[method-assign]
    made.k = 2
    place = [one["text"] for one in made.state["answers"]].index("(empty)")
    assert [one["text"] for one in made.state["generated"][place]["tokens"]] == ["[END]"]
    assert all(answer != place for one in made.state["documents"] for _, answer in one["pieces"])


def test_a_trained_form_opens_the_lab_too() -> None:
    """A RAG-Token with BART and DPR; the lab leaves it as it was."""
    torch.manual_seed(0)
    config = RAGConfig.tiny(len(WORDS), 40)
    model = RAGToken(config)
    whole = RetrieveAndGenerate.of(model, DPR(config.question.config).document_encoder, WORDS,
                                   [Block(title, 0, (text,)) for title, text in TOLD.items()])
    made = RetrievalLab(whole, PRESETS, k=2, replaced={"2": ["bo", "bo saw oslo"]})
    assert made.state["generated"] and not made.stale and str(whole.corpus.documents[2]) != "bo saw oslo"
    assert repr(made).startswith(f"<RetrievalLab: {TEXT} → ")
    assert whole.corpus.documents[2].text == TOLD["bo"]
