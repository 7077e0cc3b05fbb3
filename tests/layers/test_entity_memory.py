"""The entity memory: by loops over mentions and entities, where it changes a text, top-k, and gradients."""

import math

import pytest
import torch
from realm_small import same, scattered, softmax
from torch import Tensor, nn

from plmlab.layers.entity_memory import EntityMemory
from plmlab.mentions import Mentions

ENTITIES, WIDTH, MODEL = 7, 3, 4
TAGS = torch.tensor([[0, 1, 2, 2, 1], [0, 0, 0, -100, -100], [1, 0, 0, 0, -100]])
"""Two mentions, of three tokens and of one; none; one at the beginning."""


@pytest.fixture
def memory() -> EntityMemory:
    return scattered(EntityMemory(ENTITIES, WIDTH, MODEL, 1e-12))


@pytest.fixture
def hidden() -> Tensor:
    return torch.randn(3, 5, MODEL, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


def by_hand(memory: EntityMemory, hidden: Tensor, spans: dict[tuple[int, int], int], top_k: int) -> Tensor:
    """The authors' ``EntityAttentionLayer`` with a bounded search, number by number: spans are (row, first) → last."""
    def linear(layer: nn.Linear, x: list[float]) -> list[float]:
        return [math.fsum(w * value for w, value in zip(row, x, strict=True)) + b
                for row, b in zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)]
    vectors, made = memory.entities.weight.tolist(), hidden.tolist()
    for (row, first), last in spans.items():
        query = linear(memory.query, [*hidden[row, first].tolist(), *hidden[row, last].tolist()])
        scores = {e: math.fsum(map(math.prod, zip(query, one, strict=True))) for e, one in enumerate(vectors)}
        best = sorted(scores, key=lambda e: -scores[e])[:top_k]
        weights = softmax([scores[e] for e in best])
        entity = [math.fsum(w * vectors[e][i] for w, e in zip(weights, best, strict=True)) for i in range(WIDTH)]
        for i, value in enumerate(linear(memory.output, entity)):
            made[row][first][i] += value
    return memory.norm(torch.tensor(made, dtype=torch.float64))


SPANS = {(0, 1): 3, (0, 4): 4, (2, 0): 0}


@pytest.mark.parametrize("top_k", [1, 2, 6, ENTITIES])
def test_the_memory_by_loops(top_k: int, memory: EntityMemory, hidden: Tensor) -> None:
    access = memory(hidden, Mentions.of(TAGS), top_k)
    same(access.hidden, by_hand(memory, hidden, SPANS, top_k))
    retrieved = memory.retrieve(access.queries, top_k)
    assert retrieved.numbers.shape == (3, top_k) and access.queries.shape == (3, WIDTH)
    assert torch.equal(retrieved.scores, memory.scores(access.queries).gather(1, retrieved.numbers))
    (access.hidden * hidden).sum().backward()
    reached = memory.entities.weight.grad.abs().sum(1).nonzero().flatten()
    assert torch.equal(reached, retrieved.documents), "the entities that some mention retrieved"


def test_all_entities_are_the_softmax_of_training(memory: EntityMemory, hidden: Tensor) -> None:
    mentions = Mentions.of(TAGS)
    everything = memory(hidden, mentions)
    same(everything.hidden, by_hand(memory, hidden, SPANS, ENTITIES))
    for top_k in (ENTITIES, ENTITIES + 1, 100):
        same(memory(hidden, mentions, top_k).hidden, everything.hidden)
    assert not torch.allclose(memory(hidden, mentions, 2).hidden, everything.hidden)
    best = memory.retrieve(everything.queries, 1)
    same(memory.read(best), memory.entities.weight[best.numbers[:, 0]])


def test_only_the_first_token_of_a_mention_changes_before_the_norm(memory: EntityMemory, hidden: Tensor) -> None:
    made, plain = memory(hidden, Mentions.of(TAGS)).hidden, memory.norm(hidden)
    changed = (made - plain).abs().amax(2) > 1e-6
    assert changed.nonzero().tolist() == [[row, first] for row, first in SPANS]
    same(made[~changed], plain[~changed], 0)


def test_the_vector_is_added_and_replaces_nothing(memory: EntityMemory, hidden: Tensor) -> None:
    """The notes replace the first token's vector by W_b E and keep the others, then add the input: x + x elsewhere. The
    norm undoes the doubling, so that both agree but for ε; without the addition, they do not."""
    mentions = Mentions.of(TAGS)
    access, replaced = memory(hidden, mentions), hidden.clone()
    replaced[mentions.rows, mentions.first] = memory.output(memory.attend(access.queries))
    same(memory.norm(replaced + hidden), access.hidden)
    memory.norm.eps = 0.5
    starts = tuple(zip(*SPANS, strict=True))
    changed, kept = memory.norm(replaced + hidden), memory(hidden, mentions).hidden
    assert torch.equal(changed[starts], kept[starts]) and not torch.allclose(changed, kept)
    assert not torch.allclose(memory.norm(replaced)[starts], kept[starts])


def test_a_text_without_mentions_is_normalized(memory: EntityMemory, hidden: Tensor) -> None:
    access = memory(hidden, Mentions.of(torch.zeros_like(TAGS)))
    assert torch.equal(access.hidden, memory.norm(hidden)) and access.queries.shape == (0, WIDTH)
    access.hidden.square().sum().backward()
    assert not memory.entities.weight.grad.any()


@pytest.mark.parametrize("top_k", [None, 2])
def test_gradients_against_finite_differences(top_k: int | None, memory: EntityMemory, hidden: Tensor) -> None:
    def run(states: Tensor, vectors: Tensor) -> Tensor:
        given = (states, Mentions.of(TAGS), top_k)
        return torch.func.functional_call(memory, {"entities.weight": vectors}, given).hidden
    vectors = memory.entities.weight.detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(run, (hidden.requires_grad_(), vectors))
