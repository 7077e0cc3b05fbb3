"""The notebook's own code passes the comparisons, and code with a usual mistake fails them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from plmlab.chapters.ch08 import equivalence
from plmlab.checks import Checks
from plmlab.course import notebooks
from plmlab.hf import minilm
from plmlab.models.bert import BERT, BERTConfig
from plmlab.text import paragraphs
from plmlab.world.datasets.tokenizer import world_tokenizer


def written(*changes: str) -> dict[str, Any]:
    """The names that the notebook's code defines, after each pair (text, other text) has been exchanged in it."""
    cells = json.loads(notebooks()["08"].read_text(encoding="utf-8"))["cells"]
    marks = ("def mask_tokens(", "class Block(", "class MiniBERT(", "class MiniPretraining(", "def classify(",
             "def wordpiece(")
    code = "\n\n".join(source for cell in cells if cell["cell_type"] == "code"
                       and any(mark in (source := "".join(cell["source"])) for mark in marks))
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in code, old
        code = code.replace(old, new)
    names: dict[str, Any] = {"tokenizer": world_tokenizer(), "replace": replace}
    exec(code, names)
    return names


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(equivalence, "TEXTS", 20)
    monkeypatch.setattr(equivalence, "paragraphs", lambda: paragraphs()[:5])
    yield


def all_equal(compare: Callable[[dict[str, Any]], Checks], *changes: str) -> bool:
    return all(compare(written(*changes)).values())


def masking(names: dict[str, Any]) -> Checks:
    return equivalence.masking(names["mask_tokens"])[0]


def test_masking_is_that_of_plmlab_and_its_cases_are_counted() -> None:
    checks, cases = equivalence.masking(written()["mask_tokens"])
    assert all(checks.values()) and sum(cases.values()) == pytest.approx(0.15, abs=0.01)
    assert cases["replaced by [MASK]"] == pytest.approx(0.12, abs=0.02)


@pytest.mark.parametrize("changes", [
    ("0.15", "0.2"), ("dice < 0.9", "dice < 0.95"), ("dice < 0.8", "dice < 0.7"), ("sorted(1 + i", "sorted(i"),
    ("targets[t] = original[t]", "targets[t] = vocab.mask"),
    ("corrupted[t] = vocab.mask", "corrupted[t] = vocab.need('pad')"),
])
def test_another_masking_is_refused(changes: tuple[str, str]) -> None:
    assert not all_equal(masking, *changes)


def pretraining(names: dict[str, Any]) -> Checks:
    return equivalence.pretraining(names["MiniPretraining"])


def test_pretraining_is_that_of_plmlab_and_of_transformers() -> None:
    told = pretraining(written())
    assert len(told) == 4 and all(told.values())


@pytest.mark.parametrize("changes", [
    (" + self.segment(segments)", ""), (" + self.position(positions)", ""), ("F.gelu(self.up", "F.relu(self.up"),
    ("self.norm1(x + self.attention(x, attn_mask))", "x + self.attention(self.norm1(x), attn_mask)"),
    ("h = self.norm(self.token", "h = (self.token"),
    ("block(h, attn_mask)", "block(h, replace(attn_mask, causal=True))"),
    ("F.gelu(self.transform(h))", "self.transform(h)"), ("h[:, 0]).tanh()", "h[:, 0])"),
    ("self.pooler(h[:, 0])", "self.pooler(h[:, 1])"), ("token.weight.T + self.bias", "token.weight.T"),
])
def test_another_network_is_refused(changes: tuple[str, str]) -> None:
    assert not all_equal(pretraining, *changes)


def test_all_positions_change_and_without_attention_only_one() -> None:
    changed, positions = equivalence.changed_positions(written()["MiniBERT"])
    assert changed == positions == 16
    alone = written("self.attention(x, attn_mask)", "0 * x")
    assert equivalence.changed_positions(alone["MiniBERT"]) == (1, 16)


@pytest.fixture(scope="module")
def bert() -> BERT:
    torch.manual_seed(0)
    return BERT(BERTConfig(len(world_tokenizer()), time=64, layers=1, model=16, heads=2, inner=32)).eval()


@pytest.mark.parametrize("changes", [
    (), ("U(h[:, 0]).tanh()", "U(h[:, 0])"), ("U(h[:, 0])", "U(h[:, 1])"), ("return W(h)\n", "return -W(h)\n"),
    (".triu()", ""), (".triu()", ".tril()"), (".masked_fill(~in_text[..., None], -torch.inf)", ""),
    ("best // time, best % time", "best % time, best // time"),
])
def test_task_heads_are_those_of_plmlab_and_others_are_refused(changes: tuple[str, ...], bert: BERT) -> None:
    names = written(*changes)
    told = equivalence.task_heads(bert, *(names[name] for name in ("classify", "tag", "best_spans")))
    assert all(told.values()) == (not changes)


@pytest.mark.parametrize("changes", [
    (), ("ends[-1]", "ends[0]"), ('"##" * (start > 0)', '""'),
])
def test_wordpiece_splits_as_the_library_and_others_do_not(changes: tuple[str, ...]) -> None:
    same, words = equivalence.wordpiece_splits(written(*changes)["wordpiece"], minilm()[1])
    assert words > 100 and (same == words) == (not changes)
