"""Encoders that BERT is compared with: who sees what, what is pretrained, and that padding changes nothing."""

from random import Random

import pytest
import torch
from torch import Tensor

from plmlab.example import Batch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.objectives import masked
from plmlab.text.vocabulary import Vocabulary
from studies.ch08.both_sides import Lifted
from studies.ch08.encoders import (
    AllLayers,
    AllLayersBiLSTM,
    Encoder,
    LastPosition,
    LeftToRight,
    LeftToRightBiLSTM,
)

VOCAB = Vocabulary(60)
ALL: list[type[Encoder]] = [AllLayers, AllLayersBiLSTM, LeftToRight, LastPosition, LeftToRightBiLSTM, Lifted]


def bert() -> BERT:
    torch.manual_seed(0)
    model = BERT(BERTConfig(60, time=16, layers=2, model=16, heads=2, inner=32, dropout=0.0, attention_dropout=0.0))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model.eval()


def texts(*lengths: int, change: int | None = None) -> Batch:
    def tokens(length: int) -> list[int]:
        return [40 + (7 * i) % 19 if i != change else 59 for i in range(length)]
    return Batch.of([masked(tokens(n), vocab=VOCAB, rng=Random(0), select=()) for n in lengths], pad=0)


def read(encoder: BERT, batch: Batch) -> Tensor:
    with torch.no_grad():
        return encoder(batch)


@pytest.mark.parametrize("kind", ALL)
def test_padding_changes_nothing(kind: type[Encoder]) -> None:
    encoder = kind.with_weights_from(bert()).eval()
    alone, beside = read(encoder, texts(5)), read(encoder, texts(5, 11))
    assert torch.allclose(alone[0], beside[0, :7], atol=1e-5)


def moved(kind: type[Encoder], change: int) -> list[bool]:
    """Which of 12 positions notice that the word in position ``change`` is another one."""
    encoder = kind.with_weights_from(bert()).eval()
    apart = (read(encoder, texts(10)) - read(encoder, texts(10, change=change - 1))).abs().amax(-1)[0]
    return (apart > 1e-6).tolist()


def test_who_notices_a_word() -> None:
    right, everyone = [position >= 5 for position in range(12)], [True] * 12
    assert moved(LeftToRight, 5) == right
    assert moved(LastPosition, 5) == [True, *right[1:]]
    assert moved(LeftToRightBiLSTM, 5) == moved(Lifted, 5) == moved(AllLayers, 5) == everyone


def test_lifted_is_the_very_bert_and_left_to_right_its_weights() -> None:
    plain = bert()
    assert torch.equal(read(Lifted.with_weights_from(plain), texts(9, 4)), read(plain, texts(9, 4)))
    left = read(LeftToRight.with_weights_from(plain).eval(), texts(9))
    for length in range(1, 9):
        start = texts(9)
        cut = Batch.of([masked([*start.tokens[0, 1:1 + length].tolist(), 40], vocab=VOCAB, rng=Random(0), select=())],
                       pad=0)
        shorter = read(LeftToRight.with_weights_from(plain).eval(), cut)
        assert torch.allclose(shorter[0, :1 + length], left[0, :1 + length], atol=1e-5)


def test_position_0_has_what_the_text_is_judged_by() -> None:
    plain = bert()
    left, last = read(LeftToRight.with_weights_from(plain).eval(),
                      texts(9, 4)), read(LastPosition.with_weights_from(plain).eval(), texts(9, 4))
    assert torch.equal(last[:, 0], torch.stack([left[0, 10], left[1, 5]])) and torch.equal(last[:, 1:], left[:, 1:])
    encoder = AllLayers.with_weights_from(plain).eval()
    seen = torch.cat([plain.embeddings(texts(4)), *(read_layers(plain, texts(4)))], -1)
    told = read(encoder, texts(4, 9))
    assert torch.allclose(told[0, 0], encoder.top(seen)[0].mean(0), atol=1e-5)
    assert torch.equal(encoder.pool(told), told[:, 0])


def read_layers(model: BERT, batch: Batch) -> list[Tensor]:
    x, found = model.embeddings(batch), []
    for layer in model.layers:
        found.append(x := layer(x, batch.visible))
    return found


@pytest.mark.parametrize("kind", ALL)
def test_all_but_the_top_is_a_copy(kind: type[Encoder]) -> None:
    plain = bert()
    encoder = kind.with_weights_from(plain)
    for name, weight in encoder.state_dict().items():
        assert name.startswith("top.") or torch.equal(weight, plain.state_dict()[name])
    with torch.no_grad():
        encoder.pooler.weight.zero_()
    assert plain.pooler.weight.abs().sum() > 0
