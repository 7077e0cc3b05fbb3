"""FaE: its losses and answers by loops, and a memory that is edited without training."""

import math
from dataclasses import replace

import pytest
import torch
from entity_small import ENTITIES, SIZE, TEXTS, examples, fae, unlabelled
from fake_gpu import fake_gpu
from realm_small import same, softmax
from torch import Tensor

from plmlab.example import Batch
from plmlab.models.eae import EaEPretraining
from plmlab.models.fae import FaE, FaEConfig, fact_memory
from plmlab.objectives.fact_batches import FactBatch
from plmlab.retrieval.facts import Fact
from plmlab.train import fit
from plmlab.weights import fingerprint

FACTS = [Fact(3, 0, (6,)), Fact(1, 2, (4, 6)), Fact(6, 0, (6,)), Fact(2, 1, (6, 2, 7)), Fact(3, 1, (2, 5)),
         Fact(3, 2, (5,)), Fact(0, 3, (8,))]
BATCH = FactBatch.of(examples(), FACTS, pad=0)
pytestmark = pytest.mark.usefixtures("one_thread")


def dot(a: Tensor, b: Tensor) -> float:
    return math.fsum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))


def by_hand(model: FaE, hidden: Tensor, span: tuple[int, int], facts: list[Fact], top_k: int,
            ) -> tuple[list[float], list[float], list[Fact | None], list[float]]:
    """p(fact) with the null fact first, p(entity) by the facts, the facts themselves, and the logits of all entities,
    of one mention, fact by fact and object by object."""
    vectors, memory = model.encoder.memory.entities.weight, model.fact_memory
    both = torch.cat([hidden[1 + span[0]], hidden[span[1]]])
    query, context = model.fact_query(both), model.entity_query(both)
    scores = {fact: dot(query, memory.key.weight @ torch.cat([vectors[fact.subject],
                                                              memory.relations.weight[fact.relation]]))
              for fact in facts}
    best = [None, *sorted(scores, key=lambda fact: -scores[fact])[:top_k]]
    probs = softmax([dot(query, memory.null) if fact is None else scores[fact] for fact in best])
    entities, mixed = [0.0] * ENTITIES, probs[0] * context
    for fact, p in zip(best, probs, strict=True):
        shares = softmax([dot(vectors[each], context) for each in fact.objects]) if fact else []
        for each, share in zip(fact.objects if fact else (), shares, strict=True):
            entities[each] += p * share
            mixed = mixed + p * share * vectors[each]
    return probs, entities, best, [dot(vector, mixed) for vector in vectors]


@torch.no_grad()
def test_the_losses_by_loops() -> None:
    model, facts, answers = fae().train(), [], []
    for row, (text, links, select) in enumerate(TEXTS):
        hidden = model.encoder(Batch.of(examples()[row:row + 1], pad=0))[0]
        for i in (i for i in select if i < len(links)):
            probs, _, best, logits = by_hand(model, hidden, text.entities[i], FACTS, len(FACTS))
            visible = {entity for j, entity in enumerate(links) if j not in select}
            correct = [p for p, fact in zip(probs, best, strict=True)
                       if fact and fact.subject in visible and links[i] in fact.objects]
            facts.append(-math.log(math.fsum(correct or probs[:1])))
            answers.append(-math.log(softmax(logits)[links[i]]))
    losses, before = model.losses(BATCH), EaEPretraining.losses(model, BATCH.inputs)
    assert len(facts) == 4 and [*losses] == [*before, "facts", "answers"]
    assert float(losses["facts"]) == pytest.approx(sum(facts) / 4, abs=1e-9)
    assert float(losses["answers"]) == pytest.approx(sum(answers) / 4, abs=1e-9)
    assert all(losses[name] == loss for name, loss in before.items())
    assert float(model.loss(BATCH)) == pytest.approx(math.fsum(map(float, losses.values())), abs=1e-9)


@pytest.mark.parametrize("top_k", [1, 2, 7, 20])
def test_answers_by_loops(top_k: int) -> None:
    """All mentions, also those that are not masked; the index searches in float32."""
    model = fae()
    model.config = replace(SIZE, top_k_facts=top_k)
    made, number = model.answers(BATCH.inputs, fact_memory(model, FACTS)), 0
    same(made.by_facts.sum(1) + made.facts.probs()[:, 0], torch.ones(8, dtype=torch.double))
    for row, (text, *_) in enumerate(TEXTS):
        hidden = model.encoder(Batch.of(examples()[row:row + 1], pad=0))[0]
        for span in text.entities:
            probs, entities, best, logits = by_hand(model, hidden, span, FACTS, top_k)
            assert made.facts.numbers[number].tolist() == [-1, *(FACTS.index(fact) for fact in best[1:])]
            for ours, theirs in ((made.facts.probs(), probs), (made.by_facts, entities), (made.logits, logits)):
                same(ours[number], torch.tensor(theirs, dtype=torch.double), 1e-9)
            number += 1
    if top_k >= len(FACTS):
        reading = model.encoder.reading(BATCH.inputs)
        whole = model.answer(reading, reading.mentions, BATCH.everything(reading.mentions), BATCH.facts)
        same(whole.logits, made.logits)


def test_an_edit_changes_what_depends_on_it_and_nothing_else() -> None:
    """With one fact per mention. A changed fact keeps its key; a removed one is replaced by the next best."""
    model = fae()
    model.config = replace(SIZE, top_k_facts=1)
    memory, weights = fact_memory(model, FACTS), fingerprint(model)
    before = model.answers(BATCH.inputs, memory)
    retrieved = before.facts.numbers[:, 1]
    assert len(retrieved.unique()) > 1
    number = int(retrieved.mode().values)
    fact, using = FACTS[number], retrieved == number

    edited = memory.copied()
    edited[fact.key] = ((fact.objects[0] + 1) % ENTITIES,)
    changed = model.answers(BATCH.inputs, edited)
    assert torch.equal((changed.logits - before.logits).abs().amax(1) > 1e-9, using)
    assert torch.equal(changed.facts.scores, before.facts.scores)
    assert (changed.by_facts[using].argmax(1) == edited[fact.key][0]).all()

    del edited[fact.key]
    removed = model.answers(BATCH.inputs, edited)
    assert number not in removed.facts.numbers and torch.equal(removed.logits[~using], before.logits[~using])
    edited[fact.key] = fact.objects
    same(model.answers(BATCH.inputs, edited).logits, before.logits, 0)
    assert fingerprint(model) == weights and memory[fact.key] == fact.objects


def built() -> FaE:
    """A FaE built by hand: each mention asks for the fact of subject 3 and relation 0, whatever the text; entity
    vectors are almost one-hot, and the context has no opinion."""
    model = FaE(replace(SIZE, entity_width=ENTITIES, top_k_facts=3)).eval()
    with torch.no_grad():
        for layer in (model.fact_query, model.entity_query):
            layer.weight.zero_()
            layer.bias.zero_()
        model.entities.copy_(10 * torch.eye(ENTITIES))
        model.fact_memory.relations.weight.copy_(torch.eye(4, ENTITIES))
        model.fact_memory.key.weight.copy_(torch.cat([torch.eye(ENTITIES), 10 * torch.eye(ENTITIES)], 1))
        model.fact_memory.null.zero_()
        model.fact_query.bias.copy_(10 * torch.eye(ENTITIES)[3] + 10 * torch.eye(ENTITIES)[0] - 9)
    return model


def test_a_new_fact_is_answered_a_changed_one_too_and_without_facts_the_context_decides() -> None:
    model = built()
    facts = fact_memory(model, [Fact(1, 2, (4,)), Fact(5, 3, (7,))])

    def answer() -> tuple[set[int], bool]:
        made = model.answers(BATCH.inputs, facts)
        return {*made.logits.argmax(1).tolist()}, bool((made.facts.probs()[:, 0] > 0.99).all())
    assert answer()[1], "no fact fits: null"
    facts[3, 0] = [8]
    assert answer() == ({8}, False)
    facts[3, 0] = [6]
    assert answer() == ({6}, False)
    del facts[3, 0]
    assert answer()[1]





def test_without_facts_or_mentions() -> None:
    """An empty memory leaves the prediction to EntityPred; a text without mentions has no answers."""
    model = fae()
    made, reading = model.answers(BATCH.inputs, fact_memory(model)), model.encoder.reading(BATCH.inputs)
    same(made.logits, model.entity_logits(reading.hidden, reading.mentions))
    assert not made.by_facts.any() and made.facts.numbers.tolist() == [[-1]] * 8
    none = FactBatch.of(examples()[2:3], FACTS, pad=0)
    assert model.losses(none)["facts"] == model.losses(none)["answers"] == 0
    assert model.answers(none.inputs, fact_memory(model, FACTS)).logits.shape == (0, ENTITIES)
    for batch in (none, FactBatch.of(examples(), [], pad=0)):
        assert model.losses(batch)["facts"] == 0 and model.loss(batch).isfinite()


def test_gradients_and_two_updates() -> None:
    model = fae().train()
    sum(model.losses(BATCH)[name] for name in ("facts", "answers")).backward()
    for part in (model.fact_memory.relations, model.fact_memory.key, model.fact_query, model.entity_query):
        assert part.weight.grad.abs().sum() > 0
    assert model.fact_memory.null.grad.all() and model.entities.grad.abs().sum(1).all()
    assert model.fact_memory.relations.weight.grad.abs().sum(1).all()
    model = FaE(FaEConfig.tiny(90, 24))
    batch = FactBatch.of(examples(), FACTS, pad=0)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = model.loss(batch)
    assert float(rounded.detach()) == pytest.approx(float(model.loss(batch).detach()), rel=0.05)
    history = fit(model, lambda step: FactBatch.of(examples(), FACTS[step:], pad=0), steps=2, lr=1e-3, show=False)
    assert all(map(math.isfinite, history.losses)) and len(history.losses) == 2



def test_no_tensor_is_left_on_another_device() -> None:
    expected = fae().answers(BATCH.inputs, fact_memory(fae(), FACTS)).logits
    with fake_gpu():
        model, batch = fae().to("cuda"), BATCH.to("cuda")
        model.loss(batch).backward()
        made = model.answers(batch.inputs, fact_memory(model, FACTS))
        assert model(unlabelled(batch.inputs)).device.type == "cuda", "with detected mentions"
        assert model.answers(batch.inputs, fact_memory(model)).logits.device.type == "cuda"
    same(made.logits.cpu(), expected)


def test_entity_std_is_that_of_entities_and_relations_only() -> None:
    model = FaE(replace(SIZE, entities=500, relations=400, entity_std=0.5))
    assert [float(one.weight.detach().std()) for one in (model.encoder.memory.entities, model.fact_memory.relations)
            ] == pytest.approx([0.5, 0.5], rel=0.1)
    assert float(model.encoder.memory.query.weight.detach().std()) == pytest.approx(0.02, rel=0.25)
