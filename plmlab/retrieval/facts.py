"""Symbolic facts (事实) as documents: one per pair of subject and relation, with the set of its objects."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from plmlab.retrieval.corpus import Corpus
from plmlab.retrieval.retrieved import MISSING


class Fact(NamedTuple):
    """A fact: subject and relation are its key, the set of objects is its value; all as ids."""

    subject: int
    relation: int
    objects: tuple[int, ...]

    @property
    def key(self) -> tuple[int, int]:
        """Subject and relation."""
        return self.subject, self.relation


def facts_of(triples: Iterable[tuple[int, int, int]]) -> list[Fact]:
    """Group triples (subject, relation, object) into facts, in order of first occurrence."""
    objects = dict[tuple[int, int], dict[int, None]]()
    for subject, relation, target in triples:
        objects.setdefault((subject, relation), {})[target] = None
    return [Fact(*key, tuple(some)) for key, some in objects.items()]


@dataclass(frozen=True)
class FactTable:
    """Facts as tensors, one row per fact; shorter object sets are padded with −1."""

    subjects: Int[Tensor, "fact"]
    relations: Int[Tensor, "fact"]
    objects: Int[Tensor, "fact object"]

    @classmethod
    def of(cls, facts: Sequence[Fact]) -> Self:
        """Build the table. Raises ValueError for a fact without objects."""
        for fact in facts:
            if not fact.objects:
                raise ValueError(f"the fact {fact.key} has no objects; remove it instead")
        keys = torch.tensor([fact.key for fact in facts], dtype=torch.long).view(-1, 2)
        rows = [torch.tensor(fact.objects) for fact in facts] or [torch.empty(0, dtype=torch.long)]
        return cls(keys[:, 0], keys[:, 1], pad_sequence(rows, True, MISSING)[:len(facts)])

    def __len__(self) -> int:
        """The number of facts."""
        return len(self.subjects)

    @property
    def object_mask(self) -> Bool[Tensor, "fact object"]:
        """Mask of the objects: False at padding."""
        return self.objects != MISSING

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        return replace(self, subjects=self.subjects.to(device), relations=self.relations.to(device),
                       objects=self.objects.to(device))


class FactCorpus(Corpus[Tensor, Fact]):
    """A fact memory that can be edited without training: a corpus with one fact per subject and relation. A query is a
    vector.

    ``facts[subject, relation]`` is the set of objects, which can be read, set and deleted as in a dictionary.
    """

    def __contains__(self, key: tuple[int, int]) -> bool:
        """Whether there is a fact with this subject and relation."""
        return any(fact.key == key for fact in self.documents.values())

    def __getitem__(self, key: tuple[int, int]) -> tuple[int, ...]:
        """The objects of this subject and relation. Raises KeyError if there is no such fact."""
        return self.documents[self.number(key)].objects

    def __setitem__(self, key: tuple[int, int], objects: Sequence[int]) -> None:
        """Change a fact, or add it if there is none with this subject and relation. Raises ValueError if there are no
        objects."""
        fact = Fact(*key, tuple(objects))
        if key in self:
            self.replace(self.number(key), fact)
        else:
            self.add([fact])

    def __delitem__(self, key: tuple[int, int]) -> None:
        """Remove a fact. Raises KeyError if there is none with this subject and relation."""
        self.remove(self.number(key))

    def number(self, key: tuple[int, int]) -> int:
        """The number of the fact with this subject and relation. Raises KeyError if there is none."""
        for number, fact in self.documents.items():
            if fact.key == key:
                return number
        raise KeyError(key)

    def add(self, documents: Sequence[Fact]) -> list[int]:
        """Add facts and return their numbers. Raises ValueError if two facts would have the same subject and
        relation."""
        counts = Counter(fact.key for fact in (*self.documents.values(), *documents))
        if twice := [key for key, count in counts.items() if count > 1]:
            raise ValueError(f"two facts have the subject and relation {twice[0]}; give all objects in one fact")
        return super().add(documents)

    def table(self, numbers: Iterable[int]) -> FactTable:
        """The facts with these numbers, as tensors."""
        return FactTable.of([self.documents[number] for number in numbers])
