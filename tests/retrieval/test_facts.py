"""Symbolic facts: grouped from triples, as tensors, and a corpus that is edited by subject and relation."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from plmlab.retrieval.facts import Fact, FactCorpus, FactTable, facts_of


class OneHot:
    """Encodes a fact as its subject and relation, whatever its objects."""

    width = 6

    def queries(self, queries: Sequence[Tensor]) -> Tensor:
        return torch.stack([*queries])

    def documents(self, documents: Sequence[Fact]) -> Tensor:
        vectors = torch.zeros(len(documents), 6)
        for row, fact in enumerate(documents):
            vectors[row, fact.subject] += 1
            vectors[row, 4 + fact.relation] += 1
        return vectors


FACTS = [Fact(0, 1, (2, 3)), Fact(1, 0, (2,)), Fact(0, 0, (1,))]


def query(subject: int, relation: int) -> Tensor:
    return torch.eye(6)[subject] + torch.eye(6)[4 + relation]


def test_triples_become_facts() -> None:
    triples = [(0, 1, 2), (1, 0, 2), (0, 1, 3), (0, 0, 1), (0, 1, 2)]
    assert facts_of(triples) == FACTS and facts_of([]) == []


def test_facts_as_tensors() -> None:
    table = FactTable.of(FACTS)
    assert table.subjects.tolist() == [0, 1, 0] and table.relations.tolist() == [1, 0, 0] and len(table) == 3
    assert table.objects.tolist() == [[2, 3], [2, -1], [1, -1]]
    assert FactTable.of([]).objects.shape == (0, 0) and FactTable.of([]).subjects.dtype == torch.long
    with pytest.raises(ValueError, match="no objects"):
        FactTable.of([Fact(1, 2, ())])


def test_a_fact_is_added_changed_and_removed() -> None:
    facts = FactCorpus(OneHot(), FACTS)
    keys = [query(0, 1), query(1, 0), query(2, 1)]
    before = facts.search(keys, 1)
    assert before.lists() == [(0,), (1,), (0,)] and facts[0, 1] == (2, 3)
    facts[0, 1] = [5]
    assert facts[0, 1] == (5,) and facts.search(keys, 1).lists() == before.lists(), "the key is the same"
    facts[2, 1] = (7, 8)
    assert (2, 1) in facts and facts.search(keys, 1).lists() == [(0,), (1,), (3,)]
    del facts[0, 1]
    assert (0, 1) not in facts and facts.search(keys[1:], 1).lists() == [(1,), (3,)]
    assert facts.table([3, 1]).objects.tolist() == [[7, 8], [2, -1]]
    for wrong in (lambda: facts[0, 1], lambda: facts.__delitem__((0, 1))):
        with pytest.raises(KeyError):
            wrong()


def test_a_memory_has_one_fact_per_subject_and_relation() -> None:
    facts = FactCorpus(OneHot(), FACTS)
    for wrong in ([Fact(0, 1, (9,))], [Fact(3, 1, (9,)), Fact(3, 1, (8,))]):
        with pytest.raises(ValueError, match=r"subject and relation \([03], 1\)"):
            facts.add(wrong)
    assert [*facts.documents.values()] == FACTS and len(facts.index) == 3
    other = facts.copied()
    del other[1, 0]
    assert (1, 0) in facts and (1, 0) not in other
