"""CogLTX: its inputs and labels by hand, block scores and answers by brute force, checkpoints and devices."""

from copy import deepcopy
from itertools import combinations_with_replacement
from math import exp
from pathlib import Path
from random import Random

import pytest
import torch
from cogltx_small import CAPACITY, QUERY, SIZE, block, shaken, small
from fake_gpu import fake_gpu
from torch import Tensor, nn

from plmlab.checkpoints import load, save
from plmlab.draws import randint, sample
from plmlab.example import IGNORE, Batch
from plmlab.models import cogltx
from plmlab.models.bert import BERT
from plmlab.models.cogltx import (
    BlockJudge,
    CogLTX,
    CogLTXBatch,
    CogLTXConfig,
    judge_example,
    reasoner_example,
    window_example,
)
from plmlab.models.memory_recall import Window, recall, single_blocks
from plmlab.models.registry import ModelSpec
from plmlab.models.task_heads import TaskHeadConfig
from plmlab.text import Tokenizer

pytestmark = pytest.mark.usefixtures("one_thread")
BY_HAND = Window(QUERY, (block(1, 2), block(4, 3)))


def drawn(number: int, seed: int = 0) -> list[Window]:
    """Windows of different lengths, with blocks of one to eight tokens and queries of three or four."""
    rng = Random(seed)
    windows = []
    for _ in range(number):
        blocks = [block(position, 1 + randint(rng, 8)) for position in sorted(sample(rng, range(12), 3))]
        windows.append(Window(QUERY[randint(rng, 2):], tuple(blocks[:1 + randint(rng, 3)])))
    return windows


@pytest.mark.parametrize(("relevant", "blocks"), [
    ({4}, [0, 0, 0, 1, 1, 1, 1]), ({1, 7}, [1, 1, 1, 0, 0, 0, 0]), ({1, 4}, [1] * 7), ((), [0] * 7)])
def test_relevance_labels_by_hand(relevant, blocks: list[int]) -> None:
    """1 at the query and at relevant blocks, [SEP] included; no label at padding."""
    longer = Window(QUERY, (block(2, 8),))
    batch = Batch.of([judge_example(BY_HAND, relevant), judge_example(longer, [2])], pad=0)
    assert batch.labels["relevance"].tolist() == [[1] * 4 + blocks + [IGNORE] * 2, [1] * 13]


def test_a_score_is_the_mean_of_the_outputs_over_the_tokens_of_a_block() -> None:
    """Of one window at a time, in Python; the windows have different lengths, and there are more than one batch."""
    model, windows = small(), drawn(70)
    rows: list[int] = []
    model.judge.register_forward_pre_hook(lambda _, given: rows.append(given[0].size[0]))
    found = model.scores(windows)
    assert sum(rows) == 70 and max(rows) <= 32
    for window, row in zip(windows, found, strict=True):
        logits, = model.judge(Batch.of([window_example(window)], pad=0)).tolist()
        outputs = [1 / (1 + exp(-logit)) for logit in logits]
        del outputs[:len(window.query)]
        expected = []
        for one in window.blocks:
            expected.append(sum(outputs[:len(one.ids)]) / len(one.ids))
            del outputs[:len(one.ids)]
        assert outputs == [] and row == pytest.approx(expected, abs=1e-10)
    assert model.scores([]) == []


class Drawn(nn.Module):
    """A reasoner with given logits, which notes what it reads."""

    def __init__(self, logits: list[list[float]]) -> None:
        super().__init__()
        self.logits, self.read = torch.tensor([logits]), list[int]()

    def forward(self, batch: Batch) -> Tensor:
        self.read, = batch.tokens.tolist()
        return self.logits


@pytest.mark.parametrize("longest", [1, 2, 10])
def test_the_answer_is_the_best_span_within_a_block(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere, a better one often crosses blocks, has [SEP] or more tokens."""
    model, rng, better = small(), Random(longest), 0
    monkeypatch.setattr(cogltx, "ANSWER_TOKENS", longest)
    for window in drawn(60, longest):
        logits = [[rng.random(), rng.random()] for _ in window.ids]
        inside, others = {}, []
        for i, j in combinations_with_replacement(range(len(window.query), len(window)), 2):
            score = logits[i][0] + logits[j][1]
            position, first, end = next((one.position, start, end) for one, (start, end)
                                        in zip(window.blocks, window.spans, strict=True) if start <= i < end)
            if j < end - 1 and j < i + longest:
                inside[position, i - first, j + 1 - first] = score
            else:
                others.append(score)
        better += max(others) > max(inside.values())
        model.reasoner = Drawn(logits)
        assert model.answer(window) == max(inside, key=inside.__getitem__)
        assert model.reasoner.read == [*window.ids]
    assert better > 30
    with pytest.raises(ValueError, match="no block"):
        model.answer(Window(QUERY))


def test_recall_uses_the_judge_and_the_settings_of_the_model() -> None:
    model = small()
    blocks = [block(position, 1 + position % 5) for position in range(12)]
    assert model.recall(QUERY, blocks) == recall(QUERY, blocks, model.scores, keep=(3, None), capacity=CAPACITY)

    def judge(windows):
        return [[one.position % 4 + len(window.blocks) / 100 for one in window.blocks] for window in windows]
    options = {"grouping": single_blocks, "keep": (1, 2), "held": [0]}
    assert model.recall(QUERY, blocks, judge=judge, **options) == recall(QUERY, blocks, judge, capacity=CAPACITY,
                                                                        **options)


def test_judge_and_reasoner_begin_as_copies_of_a_pretrained_encoder() -> None:
    """Eight of the longest blocks fill the encoder's positions."""
    encoder = shaken(BERT(SIZE))
    model = CogLTX.from_pretrained(encoder)
    assert not model.training and model.config == CogLTXConfig(ModelSpec(BERT, SIZE), 32, 3)
    for head, outputs in ((model.judge, 1), (model.reasoner, 2)):
        assert head.output.weight.shape == (outputs, 16)
        for (name, weight), other in zip(head.encoder.named_parameters(), encoder.parameters(), strict=True):
            assert torch.equal(weight, other) and weight.data_ptr() != other.data_ptr(), name
    assert model.judge.encoder.pooler.weight is not model.reasoner.encoder.pooler.weight
    assert CogLTX.from_pretrained(encoder.train()).judge.training
    with pytest.raises(ValueError, match="labels=2"):
        BlockJudge(TaskHeadConfig(ModelSpec(BERT, SIZE), 2))
    with pytest.raises(ValueError, match="no label 'relevance'"):
        model.judge.loss(Batch.of([window_example(BY_HAND)], pad=0))


def batch() -> CogLTXBatch:
    return CogLTXBatch(Batch.of([judge_example(window, [4]) for window in (BY_HAND, *drawn(2))], pad=0),
                       Batch.of([reasoner_example(BY_HAND, 4, 1, 3), reasoner_example(BY_HAND, 1, 0, 1)], pad=0))


def test_a_checkpoint_gives_it_back(tmp_path: Path) -> None:
    model, windows = small().float(), drawn(5)
    save(tmp_path / "cogltx", model, Tokenizer.words(["a b"], 60), command="x", figures={})
    again, _ = load(tmp_path / "cogltx", expect="cogltx")
    assert type(again) is CogLTX and again.config == model.config and again.config.keep == (3, None)
    for ours, theirs in zip(again.scores(windows), model.scores(windows), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-6)
    given = batch().reasoning
    torch.testing.assert_close(again(given), model(given))


def test_a_checkpoint_in_half_precision_is_loaded_in_float32(tmp_path: Path) -> None:
    model, words = small().float(), Tokenizer.words(["a b"], 60)
    for name, one in (("half", deepcopy(model).half()), ("whole", model)):
        save(tmp_path / name, one, words, command="x", figures={})
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("half", "whole")]
    assert sizes[0] < 0.6 * sizes[1]
    again, _ = load(tmp_path / "half")
    for (name, weight), other in zip(model.named_parameters(), again.parameters(), strict=True):
        assert other.dtype == torch.float32, name
        assert ((other - weight).abs() <= weight.abs() * 2**-11 + 2**-25).all(), name
    assert model.judge.output.weight.dtype == torch.float32


def test_nothing_is_left_on_the_wrong_device() -> None:
    model, windows = small().float(), drawn(5)
    scores, answers = model.scores(windows), [model.answer(window) for window in windows]
    loss = model.loss(batch()).item()
    with fake_gpu():
        there = small().float().to("cuda")
        for ours, expected in zip(there.scores(windows), scores, strict=True):
            assert ours == pytest.approx(expected, abs=1e-5)
        assert [there.answer(window) for window in windows] == answers
        assert there.loss(batch().to("cuda")).item() == pytest.approx(loss, abs=1e-4)
        assert batch().to("cuda").targets.is_cuda
