"""The Wikipedia sample as chapter 10 reads it: parts that share nothing, texts of one length, prices by hand."""

import math
from collections import Counter

import pytest
import torch
from torch import Tensor

from plmlab.models.transformer_xl import TransformerXLConfig
from plmlab.recipes.study import Run
from plmlab.text import articles
from plmlab.train import History
from studies.ch10 import wikipedia


def test_the_parts_share_no_paragraph_and_leave_none_out() -> None:
    parts = wikipedia.parted()
    assert list(parts) == ["read", "development", "test_set"]
    for one, other in (("read", "development"), ("read", "test_set"), ("development", "test_set")):
        assert not set(parts[one]) & set(parts[other])
    whole = Counter(paragraph for article in articles() for paragraph in article.paragraphs)
    assert Counter(paragraph for part in parts.values() for paragraph in part) == whole
    sizes = {part: sum(map(len, paragraphs)) for part, paragraphs in parts.items()}
    for part in ("development", "test_set"):
        assert 0.06 < sizes[part] / sum(sizes.values()) < 0.15, "one article of ten"


@pytest.mark.parametrize("part", ["read", "development", "test_set"])
def test_texts_are_cut_from_one_stream(part: str) -> None:
    """257 pieces each: 256 positions, and the last one's target. Decoded they are the part's paragraphs, in order."""
    rows, paragraphs = wikipedia.rows(part), wikipedia.parted()[part]
    assert rows.shape[1] == 257 and (part == "read" or len(rows) == 80)
    assert int(rows.max()) < wikipedia.PIECES == len(wikipedia.tokenizer())
    for begin in (0, len(rows) - 3):
        said = wikipedia.tokenizer().decode(rows[begin:begin + 3].flatten().tolist())
        tight = "".join("".join(paragraphs).split())
        assert len(said) > 1000 and "".join(said.split())[5:-5] in tight
    assert "".join(wikipedia.tokenizer().decode(rows[0].tolist()).split())[:100] == tight[:100]


def test_no_text_is_read_twice_and_none_of_the_exam_is_read() -> None:
    rows = {part: {tuple(row) for row in wikipedia.rows(part).tolist()} for part in ("read", "development", "test_set")}
    assert len(rows["read"]) == len(wikipedia.rows("read")) and len(rows["test_set"]) == len(rows["development"]) == 80
    assert not rows["read"] & rows["test_set"] and not rows["development"] & rows["test_set"]


def logits_of(position_chances: dict[int, float], rows: Tensor) -> Tensor:
    """Logits under which the targets of some positions have these chances, and all pieces of the others the same."""
    size = wikipedia.PIECES
    chances = torch.full((len(rows), rows.shape[1] - 1, size), 1 / size)
    for position, chance in position_chances.items():
        chances[:, position] = (1 - chance) / (size - 1)
        chances[range(len(rows)), position, rows[:, position + 1]] = chance
    return chances.log()


@pytest.mark.parametrize(("positions", "asked"), [((0, 64, 127), 0), ((127, 128), 1), ((128, 255), 2)])
def test_the_first_128_are_not_asked(positions: tuple[int, ...], asked: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a text 128 are: all cost ln 2000, but for those at one half."""
    some = wikipedia.rows("test_set")[:3]
    monkeypatch.setattr(wikipedia, "rows", lambda part: some if part == "test_set" else None)
    price = wikipedia.price(logits_of(dict.fromkeys(positions, 0.5), some), "test_set")
    assert price == pytest.approx(((128 - asked) * math.log(2000) + asked * math.log(2)) / 128, abs=1e-4)


def test_a_text_is_read_in_order_by_windows_and_with_other_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its memory a model reads as one without any would."""
    few = {part: wikipedia.rows(part)[:2] for part in ("read", "development", "test_set")}
    monkeypatch.setattr(wikipedia, "rows", few.__getitem__)
    for name, arm in wikipedia.ARMS.items():
        torch.manual_seed(0)
        size = TransformerXLConfig(wikipedia.PIECES, arm.segment, arm.memory, 1, 8, 2, 8, dropout=0.0)
        model = arm.model(size).eval()
        told = wikipedia.test(Run((name,), 4, 1e-3, 0, model, History(4, seconds=2.0)))
        others = {"memory": ["emptied", "longer"], "none": []}.get(name, ["windows"])
        assert list(told) == ["in order", "seconds", *others] and told["seconds"] == 0.5
        assert len({told[way] for way in ("in order", *others)}) == 1 + len(others)
        if name == "memory":
            emptied = told["emptied"]
        if name == "none":
            assert told["in order"] == pytest.approx(emptied, abs=1e-6)


def test_who_counts_pays_as_much_as_another_count_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of single pieces: the share of the read text, but for what the discount moves; of pairs it costs less."""
    some = {part: wikipedia.rows(part)[:120 if part == "read" else 5] for part in ("read", "development", "test_set")}
    monkeypatch.setattr(wikipedia, "rows", some.__getitem__)
    often = torch.bincount(some["read"].flatten(), minlength=wikipedia.PIECES) + 0.5
    asked = some["test_set"][:, wikipedia.WINDOW + 1:]
    share = -(often / often.sum()).log()[asked].mean()
    one, two = wikipedia.n_gram_loss(1), wikipedia.n_gram_loss(2)
    assert one == pytest.approx(float(share), abs=0.05) and two < one - 0.3
