"""The checklist: each item finds what is wrong, and accepts what is correct; the reports of the note and of papers."""

from collections import Counter
from functools import partial
from math import e, exp, log

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.chapters.ch19 import audits, cost, equations, information, normalization, reproducibility
from plmlab.chapters.ch19.equations import NOTE, PAPERS, Equation, check_shapes, shape_error
from plmlab.chapters.ch19.finding import Finding, report
from plmlab.flops import flops, operations
from plmlab.layers.attention import MultiHeadAttention
from plmlab.layers.slow_attention import SlowAttention
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.fat import FAT, FATConfig
from plmlab.models.transformer import Transformer, TransformerConfig

pytestmark = pytest.mark.usefixtures("one_thread")


def outer(a: Float[Tensor, " source"], b: Float[Tensor, " target"]) -> Float[Tensor, "source target"]:
    return a[:, None] * b


def swapped(a: Float[Tensor, " source"], b: Float[Tensor, " target"]) -> Float[Tensor, "target source"]:
    return a[:, None] * b


def added(a: Float[Tensor, " source"], b: Float[Tensor, " target"]) -> Float[Tensor, " source"]:
    return a + b


def test_shapes_of_equations_that_are_correct_transposed_and_impossible() -> None:
    assert len({*equations.SIZES.values()}) == len(equations.SIZES)
    assert shape_error(outer) == ""
    assert shape_error(swapped) == "the result is [source target]; the left side is [target source]"
    assert shape_error(added) == "element-wise operation of axes source and target"
    with pytest.raises(ValueError, match="the repair of x cannot be evaluated either"):
        check_shapes(Equation("x", added, "none", swapped))


def test_the_repairs_of_the_note_can_be_evaluated_and_what_is_written_mostly_not() -> None:
    found = [check_shapes(one) for one in NOTE]
    assert [finding.holds for finding in found] == [False] * 5 + [True, False]
    assert all(check_shapes(one).holds for some in PAPERS.values() for one in some)
    assert all(one.repaired is None or not shape_error(one.repaired) for one in NOTE)


def test_normalization_by_hand() -> None:
    scores = torch.tensor([[1.0, -1.0]])
    tanh, total = (e - 1 / e) / (e + 1 / e), e + 1 / e
    torch.testing.assert_close(normalization.connected_weights(scores), torch.tensor([[tanh, -tanh]]) / total)
    assert not normalization.is_distribution(normalization.connected_weights(scores))
    assert normalization.connected_weights(0 * scores, exp=False).isnan().all()
    sigmoids = [1 / (1 + exp(-p)) for p in (e / total, 1 / e / total)]
    torch.testing.assert_close(normalization.sigmoid_of_softmax(scores), torch.tensor([sigmoids]))
    assert normalization.is_distribution(scores.softmax(1))
    assert not normalization.is_distribution(torch.tensor([[1.5, -0.5]]))
    assert f"{log(1 + 1 / e):.2f} and {log(2):.2f}" in normalization.bounded_loss().computed


def test_a_leak_is_found_and_a_causal_model_has_none() -> None:
    """A model whose position t attends to t + 1 leaks its target; one that attends to t + 2 leaks a later token."""
    tokens = torch.tensor([3, 1, 4, 2])

    def reading(offset: int) -> information.Logits:
        return lambda given: nn.functional.one_hot(given.roll(-offset), 10).float()

    for offset, found in ((0, 0), (-1, 1), (1, 3), (2, 2)):
        depends = information.dependence(reading(offset), tokens, 7)
        assert int(depends.sum()) == 4
        assert len(information.leaks(depends)) == found, offset
    assert len(information.leaks(torch.eye(4).bool(), shift=0)) == 4


def test_the_labels_of_the_sample_are_shifted_once_too_often() -> None:
    """[CLS] [CLS] [MASK] × 5 [SEP] [SEP] for five words of one character; the loss written out."""
    words = list("abcde")
    inputs, labels = ["[CLS]", "[CLS]", *(f"[MASK] {i}" for i in range(1, 6))], [f"token {i}" for i in range(1, 6)]
    expected = [pair for pair in zip(inputs[:-1], labels[1:], strict=False) if "MASK" in pair[0]]
    assert [(f"[MASK] {t}", token) for t, token in information.labels_of_sample(words)] == expected


def test_operations_by_hand() -> None:
    """Products count twice; the norm of the hidden layer is 4 d per pair: sum, ReLU, square and sum."""
    a, b = torch.ones(3, 5), torch.ones(5, 7)
    assert operations(lambda: a @ b) == flops(lambda: a @ b) == 2 * 3 * 5 * 7
    assert operations(lambda: (a + a).relu()) == 30 and flops(lambda: (a + a).relu()) == 0
    assert operations(lambda: a.softmax(1)) == 45
    width, pairs = cost.MODEL // cost.HEADS, cost.HEADS * 64**2
    slow, plain = (cost.score_operations(kind, 64) for kind in (SlowAttention, MultiHeadAttention))
    assert slow == 2 * 2 * cost.HEADS * 64 * width**2 + pairs * (4 * width + 1)
    assert plain == pairs * (2 * width + 1)


def test_slopes() -> None:
    assert cost.slope([n**3 for n in cost.LENGTHS]) == pytest.approx(3)
    assert not cost.check_slope("x", lambda n: n**2, 1).holds and cost.check_slope("x", lambda n: 7 * n**2, 2).holds


def test_parameters_are_counted_without_memory() -> None:
    assert cost.parameters(lambda: nn.Linear(3, 5)) == 20
    large = FATConfig(vocab=30_522, layers=12, model=768, heads=12, inner=3072)
    assert not cost.check_fewer("x", partial(FAT, large)).holds
    assert not cost.check_fewer("x", partial(BERT, BERTConfig.base())).holds
    base = partial(Transformer, TransformerConfig.base())
    assert not cost.check_parameters("x", base, 65.0).holds and cost.check_parameters("x", base, 63.1).holds


def test_errors_come_from_a_process_without_network() -> None:
    socket = "import socket\nsocket.create_connection(('127.0.0.1', 9))"
    assert reproducibility.errors(["x = 1", "x / 0", socket, "x + 1"]) == [
        "", "ZeroDivisionError: division by zero", "OSError: no network in this run", ""]
    assert reproducibility.first_error("f(1)", stub="f = abs") == ""
    assert reproducibility.first_error("!pip") == "SyntaxError: invalid syntax (<sample>, line 1)"
    with pytest.raises(ValueError, match="the stub fails: NameError"):
        reproducibility.first_error("1", stub="f")


def test_the_steps_of_the_sample_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that need neither a hub nor a model."""
    some = {name: step for name, step in reproducibility.STEPS.items() if "bert" not in step[0] and "load" not in
            step[0] and "AdamW" not in step[0]}
    monkeypatch.setattr(reproducibility, "STEPS", some)
    monkeypatch.setattr(reproducibility, "BERT", "")
    assert [one.computed.partition(":")[0] for one in reproducibility.note_findings()] == ["SyntaxError",
                                                                                         "AttributeError"]


def test_the_reports_have_every_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """The note's with short texts and without the sample's steps; XLNet's control leaks, REALM's answer is found."""
    monkeypatch.setattr(cost, "LENGTHS", (64, 128))
    monkeypatch.setattr(reproducibility, "errors", lambda steps: ["x"] * len(steps))
    found = {name: getattr(audits, f"audit_{name}").__wrapped__() for name in ("note", "attention", "xlnet", "realm")}
    items = {name: Counter(one.item for one in some) for name, some in found.items()}
    assert {*items["note"]} == {"shapes", "normalization", "information", "complexity", "parameters", "reproducibility"}
    assert sum(not one.holds for one in found["attention"]) == 1  # 65 M parameters
    leaks = [one for one in found["note"] if one.item == "information"]
    assert [one.holds for one in leaks] == [False, True, True, False, False]
    assert leaks[0].computed.startswith("10 of 10")
    assert [one.holds for one in found["xlnet"] if one.item == "information"] == [True, False]
    assert [one.holds for one in found["realm"] if one.item == "parameters"] == [True, False]


def test_a_report_is_a_table() -> None:
    table = report([Finding("shapes", "a", "b", False), Finding("cost", "c", "d", True, "e", "f")])
    assert table.rows == (("shapes", "a", "b", "no", "–", "–"), ("cost", "c", "d", "yes", "e", "f"))
