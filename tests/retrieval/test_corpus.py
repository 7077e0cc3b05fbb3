"""A corpus of vectors without texts, an entity memory: found by an index of any kind, against brute force; and learned
through what was found."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn

from plmlab.retrieval import Corpus, DocumentIndex, FlatIndex, HNSWIndex, IVFIndex, Retrieved

WIDTH, ENTITIES = 6, 40
KINDS: list[Callable[[int], DocumentIndex]] = [FlatIndex, lambda width: IVFIndex(width, probes=99), HNSWIndex]


class EntityMemory(nn.Module):
    """A table of entities, each a document by its number, and a projection of hidden states, which are the queries."""

    width = WIDTH

    def __init__(self) -> None:
        super().__init__()
        self.table, self.projection = nn.Embedding(ENTITIES, WIDTH), nn.Linear(9, WIDTH)

    @torch.no_grad()
    def queries(self, queries: Sequence[Tensor]) -> Tensor:
        return self.projection(torch.stack([*queries]))

    @torch.no_grad()
    def documents(self, documents: Sequence[int]) -> Tensor:
        return self.table.weight[[*documents]]


@pytest.fixture
def memory() -> EntityMemory:
    torch.manual_seed(0)
    return EntityMemory()


HIDDEN = torch.randn(7, 9, generator=torch.Generator().manual_seed(1))


@torch.no_grad()
def by_hand(memory: EntityMemory, number: int, excluded: set[int], entities: Sequence[int]) -> list[int]:
    """All entities that may be found for a hidden state, the best first."""
    scores = memory.table.weight @ memory.projection(HIDDEN[number])
    return sorted({*entities} - excluded, key=lambda one: -float(scores[one]))


@pytest.mark.parametrize("kind", KINDS, ids=["flat", "ivf", "hnsw"])
def test_entities_are_found_for_hidden_states(memory: EntityMemory, kind: Callable[[int], DocumentIndex]) -> None:
    corpus = Corpus(memory, range(ENTITIES), kind(WIDTH))
    found = corpus.search([*HIDDEN], 5)
    assert isinstance(found, Retrieved) and found.scores.dtype == torch.float32
    assert found.lists() == [tuple(by_hand(memory, row, set(), range(ENTITIES))[:5]) for row in range(7)]
    best = [row[0] for row in found.lists()]
    excluded = [{one, 17} if row % 2 else set[int]() for row, one in enumerate(best)]
    for top_k in (1, 5, ENTITIES):
        assert corpus.search([*HIDDEN], top_k, excluded).lists() == [
            tuple(by_hand(memory, row, out, range(ENTITIES))[:top_k]) for row, out in enumerate(excluded)]
    assert corpus.search([*HIDDEN], 5, excluded).numbers.shape == (7, 5), "always as many columns"


def test_entities_come_and_go_and_a_copy_goes_its_own_way(memory: EntityMemory) -> None:
    corpus = Corpus(memory, range(30))
    made = corpus.copied()
    made.remove(3)
    made.replace(4, 35)
    assert made.add([36, 37]) == [30, 31] and made.documents[4] == 35 and made.documents[31] == 37
    assert {*made.documents} == {*made.index.texts} == {*range(32)} - {3}
    left = [*made.documents.values()]
    for row, numbers in enumerate(made.search([*HIDDEN], 4).lists()):
        assert [made.documents[number] for number in numbers] == by_hand(memory, row, set(), left)[:4]
    assert corpus.documents == {number: number for number in range(30)}
    assert corpus.search([*HIDDEN], 4).lists() == [tuple(by_hand(memory, row, set(), range(30))[:4])
                                                   for row in range(7)]


def test_table_and_projection_learn_through_what_was_found(memory: EntityMemory) -> None:
    """The row that is pulled up comes nearer; once the vectors are made again, the index knows."""
    corpus = Corpus(memory, range(ENTITIES))
    found = corpus.search([*HIDDEN], 5)
    right = sorted({row[3] for row in found.lists()})

    def chances() -> Tensor:
        return found.scored(memory.projection(HIDDEN), memory.table.weight[found.numbers]).logprobs()[:, 3]

    before, stale = chances().detach(), corpus.index.vectors(right)
    optimizer = torch.optim.SGD(memory.parameters(), 0.5)
    for _ in range(20):
        optimizer.zero_grad()
        (-chances().sum()).backward()
        optimizer.step()
    assert bool((chances() > before).all()) and memory.projection.weight.grad.any()
    untouched = [number for number in range(ENTITIES) if number not in found.documents.tolist()]
    assert not memory.table.weight.grad[untouched].any()
    assert torch.equal(corpus.index.vectors(right), stale)
    corpus.refresh()
    assert torch.equal(corpus.index.vectors(right), memory.table.weight[right].detach())
    assert [row[0] for row in corpus.search([*HIDDEN], 1).lists()] == [
        by_hand(memory, row, set(), range(ENTITIES))[0] for row in range(7)]
