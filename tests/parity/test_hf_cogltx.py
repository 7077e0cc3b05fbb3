"""CogLTX's judge and reasoner, and the interventions, against the ``BertFor…`` models, which read one window at a
time."""

from copy import deepcopy

import pytest
import torch
from alike import same, shaken
from texts import SIZES, text
from torch import Tensor, nn
from transformers import BertConfig, BertForQuestionAnswering, BertForTokenClassification

from plmlab.example import IGNORE, Batch
from plmlab.hf import convert
from plmlab.hf.links import to_ours
from plmlab.hf.task_heads import counterpart
from plmlab.models.cogltx import (
    BlockJudge,
    BlockJudgeConfig,
    CogLTX,
    CogLTXBatch,
    CogLTXConfig,
    judge_example,
    reasoner_example,
)
from plmlab.models.cogltx_training import interventions
from plmlab.models.memory_recall import BlockSpan, MemoryBlock, Window

sizes = pytest.mark.parametrize("size", SIZES)
QUERY = (2, 11, 12, 3)


def blocks(*counts: int, first: int = 0) -> tuple[MemoryBlock, ...]:
    """Blocks at every second position, with tokens that all vocabularies have."""
    return tuple(MemoryBlock(2 * number, (*((5 + 7 * (first + number) + 3 * i) % 26 + 4 for i in range(count)), 3))
                 for number, count in enumerate(counts))


WINDOWS = [Window(QUERY, blocks(3, 1, 3, 2)), Window(QUERY[1:], blocks(2, 3, first=2)), Window(QUERY, blocks(5, 3))]
ANSWERS = [BlockSpan(4, 1, 3), BlockSpan(0, 0, 1), BlockSpan(2, 2, 3)]


def places(window: Window) -> list[int | None]:
    """The position of each token's block; None in the query."""
    return [None] * len(window.query) + [one.position for one in window.blocks for _ in one.ids]


def labels(window: Window, answer: BlockSpan) -> dict[str, Tensor]:
    """Theirs: the first and the last token of the answer."""
    first, (position, start, end) = places(window).index, answer
    return {"start_positions": torch.tensor([first(position) + start]),
            "end_positions": torch.tensor([first(position) + end - 1])}


def given(window: Window) -> dict[str, Tensor]:
    segments = [0] * len(window.query) + [1] * (len(window) - len(window.query))
    return {"input_ids": torch.tensor([window.ids]), "token_type_ids": torch.tensor([segments])}


def judges(size: dict) -> tuple[BlockJudge, BertForTokenClassification, nn.Module]:
    """Ours and theirs with the same weights, and the token classifier through which they were converted."""
    theirs = shaken(BertForTokenClassification(BertConfig(**size, num_labels=1)))
    tagger = convert(theirs)
    ours = BlockJudge(BlockJudgeConfig(tagger.config.encoder)).double().eval()
    ours.load_state_dict(tagger.state_dict())
    return ours, theirs, tagger


def both(size: dict) -> tuple[CogLTX, BertForTokenClassification, BertForQuestionAnswering]:
    judge, their_judge, _ = judges(size)
    theirs = shaken(BertForQuestionAnswering(BertConfig(**size, num_labels=2, attn_implementation="eager")), 1)
    model = CogLTX(CogLTXConfig(judge.config.encoder, 17)).double().eval()
    model.judge.load_state_dict(judge.state_dict())
    model.reasoner.load_state_dict(convert(theirs).state_dict())
    return model, their_judge, theirs


@pytest.mark.parametrize("lengths", [[1], [9, 9], [17, 4, 11]])
@sizes
def test_the_judge_s_logits_loss_and_gradients(size: dict, lengths: list[int]) -> None:
    """The loss is the mean over all tokens of the batch, of which padding is none."""
    ours, theirs, tagger = judges(size)
    batch, read = text(size["vocab_size"], lengths, size.get("type_vocab_size", 2))
    batch.labels.clear()
    real = read["attention_mask"].bool()
    relevant = torch.randint(0, 2, real.shape, generator=torch.Generator().manual_seed(3))
    batch.labels["relevance"] = relevant.masked_fill(~real, IGNORE)
    logits = theirs(**read).logits[..., 0]
    same(ours(batch)[real], logits[real])
    loss, expected = ours.loss(batch), nn.BCEWithLogitsLoss()(logits[real], relevant[real].double())
    same(loss, expected)
    loss.backward()
    expected.backward()
    links = counterpart(tagger).links(ours.encoder.config)
    gradients = to_ours(links, {name: weight.grad for name, weight in theirs.named_parameters()})
    for name, weight in ours.named_parameters():
        if name.startswith("encoder.pooler"):
            assert weight.grad is None
            continue
        # their embedding of id 0 is declared padding, and has no gradient where it is read
        rows = slice(1, None) if name == "encoder.embeddings.token.weight" else slice(None)
        same(weight.grad[rows], gradients.pop(name)[rows])
    assert not gradients


@sizes
def test_the_losses_of_a_batch_are_theirs_of_each_window(size: dict) -> None:
    """Theirs of the reasoner is the mean of the two cross-entropies, start and end."""
    model, judge, reasoner = both(size)
    relevant = [{0, 4}, {2}, set[int]()]
    outputs, targets, losses = [], [], []
    for window, answer, positions in zip(WINDOWS, ANSWERS, relevant, strict=True):
        losses.append(reasoner(**given(window), **labels(window, answer)).loss)
        outputs += judge(**given(window)).logits[0, :, 0]
        targets += [float(position is None or position in positions) for position in places(window)]
    batch = CogLTXBatch(Batch.of([judge_example(*one) for one in zip(WINDOWS, relevant, strict=True)], pad=0),
                        Batch.of([reasoner_example(window, *answer) for window, answer
                                  in zip(WINDOWS, ANSWERS, strict=True)], pad=0))
    judged = nn.BCEWithLogitsLoss()(torch.stack(outputs), torch.tensor(targets).double())
    same(model.judge.loss(batch.judging), judged)
    same(model.reasoner.loss(batch.reasoning), torch.stack(losses).mean())
    same(model.loss(batch), judged + torch.stack(losses).mean())


@sizes
def test_interventions_are_theirs_under_a_mask_pair_by_pair(size: dict) -> None:
    """No token but itself attends to a token of the blocked block; query and answer are never blocked."""
    model, _, reasoner = both(size)
    before, changes = deepcopy(model.state_dict()), []
    for window, answer in zip(WINDOWS, ANSWERS, strict=True):
        def loss(blocked: int, window=window, answer=answer) -> float:
            mask = torch.zeros(1, 1, len(window), len(window), dtype=torch.float64)
            for query in range(len(window)):
                for key, position in enumerate(places(window)):
                    if position == blocked and key != query:
                        mask[0, 0, query, key] = torch.finfo(torch.float64).min
            return reasoner(**given(window), attention_mask=mask, **labels(window, answer)).loss.item()
        expected = {one: loss(one) - loss(-1) for one in window.positions if one != answer.position}
        found = interventions(model, window, answer)
        assert [*found] == [*expected] and found == pytest.approx(expected, abs=1e-10)
        changes += expected.values()
    assert min(map(abs, changes)) > 1e-5 and len(changes) == 5 and not model.training
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    assert interventions(model.train(), Window(QUERY, blocks(3)), BlockSpan(0, 0, 1)) == {} and model.training
