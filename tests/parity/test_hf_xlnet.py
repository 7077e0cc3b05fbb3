"""Our XLNet against ``XLNetModel`` and ``XLNetLMHeadModel``: one stream and two, memories, gradients, both ways."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from alike import same, same_gradients, shaken
from texts import text
from torch import Tensor
from transformers import XLNetConfig, XLNetForMultipleChoice, XLNetLMHeadModel, XLNetModel
from xlnets import CLOSE, SIZES, VOCAB, both, in_theirs, special_first

from plmlab.example import IGNORE, Batch
from plmlab.hf import convert, from_hf, to_hf
from plmlab.hf.xlnet import XLNETS
from plmlab.interpret import watch
from plmlab.models.xlnet import XLNet, XLNetPretraining
from plmlab.models.xlnet import XLNetConfig as OurConfig
from plmlab.objectives import permuted, permuted_targets
from plmlab.visibility import AttentionMask

pytestmark = pytest.mark.filterwarnings("ignore:the weights contain no .*pooler")
sizes = pytest.mark.parametrize("size", SIZES)
objectives = pytest.mark.parametrize("objective", [permuted, permuted_targets])
TEXTS = {"alone": [(9, 0)], "padded": [(11, 0), (4, 0), (7, 5)], "pairs": [(3, 8), (5, 6)]}


def batch_of(objective, texts: list[tuple[int, int]], seed: int = 0) -> Batch:
    return Batch.of([special_first(objective, *words, seed=seed + row, predict=2 + row % 3)
                     for row, words in enumerate(texts)], pad=VOCAB.need("pad"))


def asked_of(rows: Tensor, batch: Batch) -> list[Tensor]:
    """Of theirs, a row for each word asked, those that are no filling."""
    return [row[:count] for row, count in zip(rows, (batch.targets != IGNORE).sum(1), strict=True)]


@pytest.mark.parametrize("lengths", [[1], [9, 9], [17, 4, 11]])
@sizes
def test_one_stream(size: dict, lengths: list[int]) -> None:
    """Every position sees all; ours looks at no padding, in theirs padding looks at itself."""
    ours, theirs = both(XLNetModel, size)
    batch, given = text(size["vocab_size"], lengths, 3)
    expected = theirs(**given, output_hidden_states=True, output_attentions=True)
    real = given["attention_mask"].bool()
    with watch(ours) as seen:
        same(ours(batch)[real], expected.last_hidden_state[real], CLOSE)
    for mine, other in zip(seen.hidden(), expected.hidden_states, strict=True):
        same(mine[real], other[real], CLOSE)
    rows = real[:, None, :, None]
    for mine, other in zip(seen.attention(), expected.attentions, strict=True):
        same(mine * rows, other * rows, CLOSE)


@pytest.mark.parametrize("texts", TEXTS)
@objectives
@sizes
def test_two_streams(size: dict, objective, texts: str) -> None:
    """Both streams after every layer, and the logits of the words that are asked."""
    ours, theirs = both(XLNetLMHeadModel, size)
    batch = batch_of(objective, TEXTS[texts])
    given = in_theirs(batch)
    del given["labels"]
    expected = theirs(**given, output_hidden_states=True)
    with watch(ours.encoder) as seen:
        logits = ours(batch)
    real, asked, time = batch.padding_mask, batch.targets != IGNORE, batch.size[1]
    for row, (mine, other) in enumerate(zip(logits, asked_of(expected.logits, batch), strict=True)):
        same(mine[asked[row]], other, CLOSE)
    embedded, *layers = seen.hidden()
    (first, _), *others = zip(expected.hidden_states[0::2], expected.hidden_states[1::2], strict=True)
    same(embedded[real], first[real], CLOSE)
    for mine, (other, guess) in zip(layers, others, strict=True):
        same(mine[:, :time][real], other[real], CLOSE)
        for ours_, theirs_ in zip(asked_of(mine[:, time:], batch), asked_of(guess, batch), strict=True):
            same(ours_, theirs_, CLOSE)


@objectives
@sizes
def test_loss_and_gradients(size: dict, objective) -> None:
    ours, theirs = both(XLNetLMHeadModel, size)
    batch = batch_of(objective, TEXTS["padded"])
    expected, loss = theirs(**in_theirs(batch)).loss, ours.loss(batch)
    same(loss, expected, CLOSE)
    loss.backward()
    expected.backward()
    same_gradients(ours, theirs, XLNETS, CLOSE)


@pytest.mark.parametrize(("longest", "kept"), [(5, [5, 5, 5]), (None, [5, 8, 22]), (0, [5, 8, 22])])
@objectives
@sizes
def test_memories(size: dict, objective, longest: int | None, kept: list[int]) -> None:
    """Three texts one after another: what is remembered is cut at ``mem_len``, where there is one, and all of it is
    seen."""
    ours, theirs = both(XLNetLMHeadModel, size, mem_len=longest)
    memories, mems = ours.encoder.start(), None
    for step, texts in enumerate([[(3, 0), (3, 0)], [(1, 0), (1, 0)], [(8, 3), (7, 4)]]):
        batch = batch_of(objective, texts, seed=10 * step)
        given = in_theirs(batch)
        del given["labels"]
        expected = theirs(**given, mems=mems, use_mems=True)
        logits = ours.token_logits(ours.encoder(batch, memories))
        for row, other in enumerate(asked_of(expected.logits, batch)):
            same(logits[row][batch.targets[row] != IGNORE], other, CLOSE)
        mems = expected.mems
        for memory, other in zip(memories, mems, strict=True):
            assert memory.time == kept[step]
            same(memory.states, other.transpose(0, 1), CLOSE)
    alone = ours(batch)
    assert not torch.allclose(alone, logits, atol=0.01), "what was read before tells"


@pytest.mark.parametrize("kind", [XLNetModel, XLNetLMHeadModel])
@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
def test_there_and_back(kind: type, precision: torch.dtype) -> None:
    ours, theirs = both(kind, SIZES[1], mem_len=0)
    ours.to(precision)
    assert type(ours) is (XLNet if kind is XLNetModel else XLNetPretraining)
    again = to_hf(ours)
    assert type(again) is kind and again.dtype == precision and not again.training
    for (name, a), (other, b) in zip(again.named_parameters(), theirs.named_parameters(), strict=True):
        assert name == other and torch.equal(a, b.to(precision)), name
    assert convert(again).config == ours.config and convert(again.train()).training


@pytest.mark.parametrize("kind", [XLNetModel, XLNetLMHeadModel])
def test_through_a_folder(kind: type, tmp_path: Path) -> None:
    theirs = shaken(kind(XLNetConfig(**SIZES[2], mem_len=3))).float()
    ours = convert(theirs)
    to_hf(ours).save_pretrained(tmp_path)
    loaded, tokenizer = from_hf(tmp_path)
    assert type(loaded) is type(ours) and tokenizer is None and loaded.config == ours.config and not loaded.training
    batch, given = text(50, [9, 9], 3)
    with torch.no_grad():
        expected = kind.from_pretrained(tmp_path).eval()(**given)[0]
        same(theirs(**given)[0], expected, 1e-5)
        same(loaded(batch), expected, 1e-5)


def test_what_has_no_pooler_gets_a_zero_one_and_says_so() -> None:
    with pytest.warns(UserWarning, match="the weights contain no pooler: in our model it is initialised to zero"):
        ours = convert(XLNetModel(XLNetConfig(**SIZES[0])))
    assert not ours.pooler.weight.any()
    with pytest.warns(UserWarning, match=r"no encoder\.pooler"):
        convert(XLNetLMHeadModel(XLNetConfig(**SIZES[0])))
    theirs = shaken(XLNetForMultipleChoice(XLNetConfig(**SIZES[0])))
    with pytest.warns(UserWarning, match="without logits_proj"):
        ours = convert(theirs)
    assert type(ours) is XLNet and torch.equal(ours.pooler.weight, theirs.sequence_summary.summary.weight)


@pytest.mark.parametrize("settings", [
    {"attn_type": "uni"}, {"bi_data": True}, {"clamp_len": 4}, {"same_length": True}, {"reuse_len": 2},
    {"ff_activation": "relu"}, {"tie_word_embeddings": False}, {"untie_r": False},
])
def test_what_ours_does_not_do_is_refused(settings: dict) -> None:
    name, value = next(iter(settings.items()))
    with pytest.raises(ValueError, match=rf"{name} = {value!r}; ours only supports"):
        convert(XLNetModel(XLNetConfig(**SIZES[0] | settings)))


@pytest.mark.parametrize("settings", [{"clamp_len": 0}, {"clamp_len": -3}, {"reuse_len": 0}, {"reuse_len": -1}])
def test_a_limit_that_theirs_takes_for_none_is_none(settings: dict) -> None:
    ours, theirs = both(XLNetModel, SIZES[1], **settings)
    batch, given = text(60, [9, 9], 3)
    expected = theirs(**given, use_mems=True)
    memories = ours.start()
    same(ours(batch, memories), expected.last_hidden_state, CLOSE)
    for memory, other in zip(memories, expected.mems, strict=True):
        same(memory.states, other.transpose(0, 1), CLOSE)


@pytest.mark.parametrize("memory", [None, 0, 7])
def test_a_memory_s_length_goes_over_and_back(memory: int | None) -> None:
    ours = XLNet(OurConfig(30, layers=1, model=8, heads=2, inner=8, memory=memory))
    theirs = to_hf(ours)
    assert theirs.config.use_mems_eval == (memory != 0) and theirs.config.mem_len == memory
    assert convert(theirs).config == ours.config


def test_a_query_that_sees_nothing_gets_zeros_and_theirs_attends_to_all() -> None:
    """The difference that the docstring of `plmlab.models.xlnet` tells: theirs sees the answer."""
    ours, theirs = both(XLNetLMHeadModel, SIZES[1])
    batch = batch_of(permuted, [(5, 0)])
    blind = replace(batch, query_stream_mask=AttentionMask(pairs=torch.zeros(1, *batch.size[1:] * 2, dtype=torch.bool)))
    positions = blind.targets != IGNORE

    def said(one: Batch) -> tuple[Tensor, Tensor]:
        given = in_theirs(one)
        del given["labels"]
        return ours(one)[positions], theirs(**given).logits[0]
    mine, other = said(blind)
    answers = torch.where(positions, (blind.tokens + 1) % 50, blind.tokens)
    mine_again, other_again = said(replace(blind, tokens=answers))
    assert mine.equal(mine_again) and not torch.allclose(other, other_again, atol=0.01)
