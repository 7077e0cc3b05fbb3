"""The Retrieval Lab for memories of entities and facts: its numbers are the models' own, and edits act at once."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from entity_lab_models import FACTS, NAMES, OTHER, RELATIONS, TEXT, WORDS, entities, fact_reader, facts, model
from standin import HOSTILE

from plmlab.example import Batch
from plmlab.labs import RetrievalLab
from plmlab.mentions import INSIDE, bio_tags, most_likely_tags
from plmlab.models.architectures import ENCODER
from plmlab.models.fae import fact_memory
from plmlab.models.memory_readers import EntityReader, FactReader
from plmlab.objectives.retrieval_batches import Query
from plmlab.retrieval import NULL

MASKED = {TEXT: (6, 7), OTHER: (1, 3)}
"""Where the masked mention is."""
QUERY = Query(tuple(WORDS.encode(TEXT)), (5,))


def of(lab: RetrievalLab, when: str = "p") -> dict[str, float]:
    return {one["text"]: one[when] for one in lab.state["answers"]}


def agree(lab: RetrievalLab, logits: torch.Tensor, numbers: torch.Tensor, weights: torch.Tensor) -> None:
    """Answers and documents of the lab are those of the model."""
    probs = dict(zip(NAMES, logits.softmax(0).tolist(), strict=True))
    assert of(lab) == pytest.approx({name: probs[name] for name in of(lab)}, rel=1e-4)
    assert {*sorted(probs, key=lambda name: -probs[name])[:4]} <= {*of(lab)}
    assert [one["number"] for one in lab.state["documents"]] == numbers.tolist()
    assert [one["prior"] for one in lab.state["documents"]] == pytest.approx(weights.tolist(), rel=1e-4)


@pytest.mark.parametrize("text", [TEXT, OTHER])
@torch.no_grad()
def test_without_edits_the_predictions_are_the_models_own(text: str) -> None:
    """With as many entities and facts as the model itself retrieves, and the mentions that it detects beside the masked
    one."""
    batch, (first, end) = Batch.of([ENCODER.example(WORDS.encode(text), None, WORDS.vocab)], pad=0), MASKED[text]
    tags = most_likely_tags(model().encoder.reading(batch).tag_logits, batch.padding_mask)[0]
    tags[first:end] = bio_tags([(0, end - first)], end - first)
    assert tags[end] != INSIDE, "no detected mention goes on after the masked one"
    batch = replace(batch, labels={"mentions": tags[None]})
    reading, answers = model().encoder.reading(batch), model().answers(batch, fact_memory(model(), FACTS))
    row = int((reading.mentions.first == first).nonzero())
    found = model().encoder.memory.retrieve(reading.queries, 3)
    agree(entities(text=text, k=3, null=False), model().entity_logits(reading.hidden, reading.mentions)[row],
          found.numbers[row], found.probs()[row])
    agree(facts(text=text, k=2), answers.logits[row], answers.facts.numbers[row], answers.facts.probs()[row])


def test_what_a_document_predicts_alone_is_what_the_model_predicts_if_nothing_else_is_left() -> None:
    made = EntityReader.of(model(), WORDS, NAMES)
    [reading] = made.read([QUERY], 3)
    for place, number in enumerate(reading.numbers):  # NULL: every entity is excluded
        rest = frozenset(range(len(NAMES))) - {number}
        [alone] = made.read([QUERY._replace(excluded=rest)], 3, also=[reading.answers])
        rows = [alone.answers.index(answer) for answer in reading.answers]
        torch.testing.assert_close(reading.likelihoods[place], alone.marginals[rows])
    lab = facts(removed=list(range(len(FACTS))))
    assert "only what is stored in its weights" in lab.message and not lab.stale
    [null], before = lab.state["documents"], lab.state["before"][0]
    assert (null["number"], null["prior"]) == (before["number"], 1.0) == (NULL, 1)
    assert null["likelihoods"] == pytest.approx([*of(lab).values()])
    assert null["likelihoods"] == pytest.approx(before["likelihoods"])


def test_the_arrow_is_the_slope_of_log_p() -> None:
    """Against a key that is moved along the query: the score changes, the objects do not."""
    def moved(step: float) -> FactReader:
        reader = fact_reader()
        [vector], [key] = reader.corpus.retriever.queries([QUERY]), reader.corpus.index.vectors([3])
        reader.corpus.index.replace([3], [""], (key + step * vector / vector.square().sum())[None])
        return reader

    [reading] = fact_reader().read([QUERY], 3)
    [high], [low] = (moved(step).read([QUERY], 3, also=[reading.answers]) for step in (0.02, -0.02))
    for place, answer in enumerate(reading.answers):
        slope = math.log(high.marginals[high.answers.index(answer)] / low.marginals[low.answers.index(answer)]) / 0.04
        assert float(reading.score_gradient(place)[reading.numbers.index(3)]) == pytest.approx(slope, abs=5e-4)
        assert abs(slope) > 2e-3


def test_a_fact_that_is_edited_acts_at_once_and_its_key_stays() -> None:
    lab = facts(k=3)
    state = lab.state
    lab.replaced = {"1": ["Peter Quinn born in", "Dusk;  Norvik"]}
    told = [FACTS[0], FACTS[1]._replace(objects=(6, 4)), *FACTS[2:]]
    [wanted] = FactReader.of(model(), WORDS, NAMES, RELATIONS, told).read([QUERY], 3)
    for answer, p in zip(wanted.answers, wanted.marginals.tolist(), strict=True):
        assert of(lab).get(WORDS.decode(answer), p) == pytest.approx(p, rel=1e-4)
    assert of(lab)["Alder"] < 0.8 * of(lab, "before")["Alder"]
    assert [one["prior"] for one in lab.state["documents"]] == [one["prior"] for one in lab.state["before"]]
    lab.set_state({"replaced": {}, "added": [["Flora Farrow · works at", "Drake Radio"]]})
    assert len(FACTS) in lab.state["plane"]["ranked"]
    lab.added = []
    assert lab.state == state


@pytest.mark.parametrize(("traits", "said"), [
    ({"replaced": {"0": ["Flora · born in", "Alder"]}}, "“Flora” is not the name of one of the 9 entities"),
    ({"replaced": {"0": ["Flora Farrow · dies in", "Alder"]}}, "give a subject and one of born in, lives in, knows"),
    ({"replaced": {"0": ["Flora Farrow · born in", ";"]}}, "has no object: give one"),
    ({"replaced": {"0": ["Flora Farrow · knows", "Alder"]}}, "two facts have the key “Flora Farrow · knows”"),
    ({"text": "[MASK] knows [MASK] ."}, "several masked spans"), ({"text": "Flora knows Dusk ."}, r"has no \[MASK\]")])
def test_what_cannot_be_a_fact_is_told_and_what_stood_stands(traits: dict[str, Any], said: str) -> None:
    lab = facts()
    state = lab.state
    lab.set_state(traits)
    assert lab.stale and lab.state == state
    with pytest.raises(ValueError, match=said):
        facts(**traits)


def test_what_is_only_strange_is_noted() -> None:
    assert "“dog” is not an entity of the model" in facts(also="dog").message
    assert "Red Anchor" in of(facts(also="Red Anchor"))
    lab = entities(text="a wombat [MASK] .")
    assert "replaced by [UNK]" in lab.message
    for text in HOSTILE.values():
        lab.text = f"[MASK] {text[:30]}"
        assert not lab.stale
