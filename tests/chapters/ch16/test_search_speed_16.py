"""Chapter 16's comparison of indexes: what is counted as found, and that the times are of single queries."""

import pytest
import torch

from plmlab.chapters.ch16 import search_speed
from plmlab.retrieval import FlatIndex, Retrieved


class WorstFirst(FlatIndex):
    """An index that returns the documents with the smallest inner products."""

    def search(self, queries: torch.Tensor, most: int, *args: object, **options: object) -> Retrieved:
        """The worst."""
        return super().search(-queries, most)


def test_exact_search_finds_all_and_the_worst_documents_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_speed, "INDEXES", {"flat": FlatIndex, "worst": WorstFirst})
    monkeypatch.setattr(search_speed, "QUERIES", 5)
    rows = search_speed.measured(60)
    assert rows["flat"][1] == 1 and rows["worst"][1] == 0
    assert all(time > 0 for time, _ in rows.values())


def test_vectors_are_nearest_to_those_of_their_topic() -> None:
    vectors = search_speed.clustered(3 * search_speed.TOPICS)
    nearest = torch.cdist(vectors[:20], vectors[20:]).argmin(1) + 20
    assert (nearest % search_speed.TOPICS == torch.arange(20)).all()
