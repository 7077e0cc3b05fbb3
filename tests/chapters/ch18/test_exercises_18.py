"""The exercises of chapter 18: solutions against EaE, KnowBERT and FaE of plmlab, other answers, and mistakes."""

from functools import partial
from math import fsum, inf

import pytest
import torch
from realm_small import same
from torch import Tensor, ones_like
from torch.nn import functional as F

from plmlab.candidates import Candidates
from plmlab.chapters.ch18 import exercises as right
from plmlab.chapters.ch18 import exercises_knowbert as knowbert
from plmlab.exercises import case, check
from plmlab.interpret.watching import intervene
from plmlab.layers.entity_memory import EntityMemory
from plmlab.layers.fact_memory import read_facts
from plmlab.layers.kar import MarginEntityLinker
from plmlab.layers.shape import LayerShape
from plmlab.mentions import Mentions
from plmlab.retrieval.facts import Fact, FactTable
from plmlab.retrieval.retrieved import Retrieved

SEEDS = pytest.mark.parametrize("seed", range(4))


def drawn(seed: int, *size: int) -> Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@SEEDS
@torch.no_grad()
def test_the_entity_memory_is_that_of_plmlab(seed: int) -> None:
    """Seven entities, of which six are three pairs with equal vectors, no bias, and four mentions in three texts."""
    memory, hidden, queries = EntityMemory(7, 3, 4, 1e-5).double(), drawn(seed, 3, 6, 4), drawn(seed, 5, 3)
    weights = [part.weight.copy_(drawn(10 * seed + i, *part.weight.shape))
               for i, part in enumerate((memory.entities, memory.query, memory.output))]
    weights[0][4:] = weights[0][:3]
    texts, starts, ends = mentions = torch.tensor([[0, 0, 1, 2], [0, 3, 2, 5], [2, 4, 6, 6]])
    same(right.access_memory(hidden, mentions.T, *weights), memory(hidden, Mentions(texts, starts, ends - 1)).hidden)
    for k in (1, 3, 7, 50):
        same(right.read_top_k(queries, weights[0], k), memory.read(memory.retrieve(queries, k)))


def linked(seed: int) -> tuple[Tensor, Candidates]:
    """Scores of the candidates of six mentions, of which the third has none, and the last no label."""
    spans = torch.tensor([[[0, 1], [0, 2], [0, 0], [1, 2], [1, 3], [2, 3]]])
    mask = torch.arange(4) < torch.tensor([[[4], [2], [0], [1], [3], [3]]])
    ids = drawn(seed + 60, 1, 6, 9).argsort(-1)[..., :4].masked_fill(~mask, 0)
    gold = torch.cat([ids[:, :2, 0], torch.tensor([[3, 9, 0, -100]])], 1)
    return drawn(seed + 100, 6, 4) - 0.3, Candidates(spans, ids, torch.zeros(1, 6, 4), mask, gold)


def linker(seed: int, threshold: float, margin: float = 0.2) -> MarginEntityLinker:
    made = MarginEntityLinker(4, 9, LayerShape(4, 2, 8, "gelu", 0.0, 0.0, 1e-5)).double().eval()
    made.vectors.copy_(drawn(seed, 9, 4))
    made.entity_norm = made.entity_span_norm = torch.nn.Identity()
    made.threshold, made.margin = threshold, margin
    return made


@SEEDS
@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.5])
@torch.no_grad()
def test_the_entity_vector_is_that_of_the_linker(seed: int, threshold: float) -> None:
    """The linker adds it to the span; its scores are replaced, and its norms left out."""
    (scores, mentions), made, projected = linked(seed), linker(seed, threshold), drawn(seed + 50, 1, 3, 4)
    pooled = made.pool(projected, mentions)
    with intervene(made, {"scores": lambda _: scores[None]}):
        found = made(projected, mentions)[0] - made.span_layer(pooled, pooled, mentions.mask)
    ours = knowbert.link_mentions(scores, mentions.entities[0], mentions.candidate_mask[0], made.vectors, threshold)
    same(ours, found[0])


@SEEDS
@pytest.mark.parametrize("margin", [0.0, 0.2, 1.5])
def test_the_margin_loss_is_that_of_the_linker(seed: int, margin: float) -> None:
    scores, mentions = linked(seed)
    given, gold = (scores, mentions.entities[0], mentions.candidate_mask[0]), mentions.gold[0]
    same(knowbert.margin_loss(*given, gold, margin), linker(seed, 0.0, margin).loss(scores[None], mentions))
    assert float(knowbert.margin_loss(*given, torch.full_like(gold, -100), margin)) == 0


@SEEDS
def test_reading_facts_is_that_of_plmlab(seed: int) -> None:
    """Of five facts, each mention has retrieved some."""
    table = FactTable.of([Fact(0, i, some) for i, some in enumerate([(1, 4), (0,), (4, 6, 1), (6,), (2, 0)])])
    scores, null, logits = drawn(seed, 3, 5), drawn(seed + 20, 3), drawn(seed + 40, 3, 7)
    scores = scores.masked_fill(torch.tensor([[1, 0, 0, 0, 1], [0, 0, 1, 1, 1], [1, 1, 0, 1, 0]]).bool(), -inf)
    found = Retrieved(torch.arange(5).expand(3, -1).masked_fill(scores.isneginf(), -1), scores).with_null()
    scored = Retrieved(found.numbers, torch.cat([null[:, None], scores], 1))
    for ours, expected in zip(right.read_facts(scores, null, table.objects, logits),
                              read_facts(scored, table, logits), strict=True):
        same(ours, expected)


def test_reading_facts_by_hand() -> None:
    """λ = 1 ∕ (1 + 4); the rest is divided as 3 to 1."""
    null, entities = right.read_facts(*case("18.5", 1))
    assert (float(null), *entities[0].tolist()) == pytest.approx((0.2, 0.2, 0.0, 0.6))


# Other correct answers, and mistakes, as people write them

def in_loops(hidden, mentions, entities, w_f, w_b, ends=lambda x, y: torch.cat([x, y]), at=lambda start, end: [start],
             score=lambda scores: scores.softmax(0), norm=lambda x: F.layer_norm(x, x.shape[-1:]), old=1):
    made = hidden.clone()
    for text, start, end in mentions.tolist():
        query = w_f @ ends(hidden[text, start], hidden[text, end - 1])
        for t in at(start, end):
            made[text, t] = old * made[text, t] + w_b @ (score(entities @ query) @ entities)
    return norm(made)


def as_in_the_notes(hidden, mentions, *weights):
    """X² has the vector at the first token and x elsewhere; X³ = LayerNorm(X² + X¹), where LN(2x) = LN(x)."""
    replaced = in_loops(hidden, mentions, *weights, norm=lambda x: x, old=0)
    return F.layer_norm(replaced + hidden, hidden.shape[-1:])


def renormalized(queries, entities, k, rank=lambda scores: scores, scale=1.0, more=0):
    scores = scale * queries @ entities.T
    best = rank(scores).argsort(1, descending=True)[:, :k + more]
    probs = torch.zeros_like(scores).scatter(1, best, scores.softmax(1).gather(1, best))
    return probs / probs.sum(1, keepdim=True) @ entities


def with_null(scores, ids, mask, vectors, threshold, compare=Tensor.ge, always=False, fill=-inf):
    """NULL as one more candidate, whose score is −∞ where there is another."""
    kept = mask & compare(scores, threshold)
    null = torch.zeros(len(ids), 1).masked_fill(kept.any(1, keepdim=True) & (not always), -inf)
    probs = torch.cat([scores.masked_fill(~kept, fill), null], 1).softmax(1)
    return (probs[:, :, None] * vectors[F.pad(ids, (0, 1))]).sum(1)


def hinge_by_hinge(scores, ids, mask, gold, margin=0.2, wrong=lambda score, margin: margin + score, labels=(-100,)):
    hinges = [max(0.0, margin - score if one == g else wrong(score, margin))
              for row, ones, real, g in zip(scores.tolist(), ids.tolist(), mask.tolist(), gold.tolist(), strict=True)
              if g not in labels for score, one, there in zip(row, ones, real, strict=True) if there]
    return torch.tensor(fsum(hinges) / max(1, len(hinges)))


def fact_by_fact(scores, null, objects, logits, add=lambda old, new: old + new, share=lambda own: own.softmax(1),
                 real=lambda objects: objects[objects >= 0]):
    null, *facts = torch.cat([null[:, None], scores], 1).softmax(1).T
    found = torch.zeros_like(logits)
    for prob, row in zip(facts, objects, strict=True):
        for entity, part in zip(real(row), share(logits[:, real(row)]).T, strict=True):
            found[:, entity] = add(found[:, entity], prob * part)
    return null, found


@pytest.mark.parametrize(("number", "answer"), [
    ("18.3", in_loops), ("18.3", as_in_the_notes), ("18.4", renormalized), ("18.1", with_null),
    ("18.2", hinge_by_hinge), ("18.5", fact_by_fact)])
def test_another_correct_answer_is_accepted(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


@pytest.mark.parametrize(("number", "answer", "named"), [
    ("18.3", partial(in_loops, old=0), "replaces"), ("18.3", partial(in_loops, at=range), "every token"),
    ("18.3", partial(in_loops, at=lambda start, end: [end - 1]), "last token of the mention"),
    ("18.3", partial(in_loops, score=lambda scores: F.one_hot(scores.argmax(), len(scores)).float()), "only the best"),
    ("18.4", lambda queries, entities, k: renormalized(queries, entities, len(entities)), "as in training"),
    ("18.1", lambda scores, ids, mask, *rest: with_null(scores, ids, ones_like(mask), *rest), "padding counts"),
    ("18.2", partial(hinge_by_hinge, labels=()), "without a label"),
    ("18.5", partial(fact_by_fact, real=lambda row: row), "last entity"),
    ("18.5", partial(fact_by_fact, share=ones_like), "whole probability"),
    ("18.5", partial(fact_by_fact, share=lambda own: torch.full_like(own, 1 / own.shape[1])), "equal shares"),
])
def test_a_mistake_is_named(number: str, answer, named: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and named in feedback.mistake, feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("18.3", partial(in_loops, norm=lambda x: F.layer_norm(x, x.shape[1:]))), ("18.3", partial(in_loops, old=2)),
    ("18.3", partial(in_loops, norm=lambda x: (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True))),
    ("18.3", partial(in_loops, ends=lambda x, y: torch.cat([y, x]))),
    ("18.4", partial(renormalized, rank=torch.abs)), ("18.4", partial(renormalized, scale=0.5)),
    ("18.4", partial(renormalized, more=1)), ("18.4", partial(renormalized, more=-1)),
    ("18.1", partial(with_null, compare=Tensor.gt)), ("18.1", partial(with_null, always=True)),
    ("18.1", partial(with_null, fill=-100.0)), ("18.1", lambda *given: with_null(*given[:4], 0.0)),
    ("18.2", lambda *given: hinge_by_hinge(*given[:4])), ("18.2", partial(hinge_by_hinge, labels=(-100, 0))),
    ("18.2", partial(hinge_by_hinge, wrong=lambda score, margin: score)),
    ("18.5", partial(fact_by_fact, add=torch.maximum)), ("18.5", partial(fact_by_fact, real=lambda row: row[row > 0])),
])
def test_no_wrong_answer_passes(number: str, answer) -> None:
    """Other norms, ends exchanged, ranks by |score|, k ± 1, > δ, NULL always, a finite mask, δ = 0, γ = 0.2, NULL as no
    label, no margin, the largest share, entity 0 as padding."""
    assert not check(number, answer).ok


def test_what_must_hold_is_checked_for_an_answer_that_no_list_foresees() -> None:
    feedback = check("18.5", lambda *given: (right.read_facts(*given)[0] / 2, right.read_facts(*given)[1]))
    assert not feedback.mistake and "do not sum to 1" in repr(feedback)
