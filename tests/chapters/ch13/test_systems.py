"""The five systems side by side: parameters as printed, lengths by hand, and FLOPs by hand."""

import pytest
import torch

from plmlab.chapters.ch13.systems import TOKENS, VOCAB, Cost, compared, costs, forward_flops
from plmlab.example import PairBatch
from plmlab.models.bart import BART, BARTConfig
from plmlab.objectives import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary


def products(source: int, target: int, config: BARTConfig) -> int:
    """Multiplications and additions of BART's matrix products: linear layers, and queries · keys, weights · values."""
    width, inner = config.model, config.inner
    attention, network = 4 * width ** 2, 2 * width * inner
    encoder = source * (attention + network) + 2 * source * source * width
    decoder = target * (attention + 2 * width ** 2 + network) + 2 * source * width ** 2 + \
        2 * target * target * width + 2 * target * source * width
    return 2 * (config.layers * (encoder + decoder) + target * width * config.vocab)


@pytest.fixture(scope="module")
def found() -> dict[str, Cost]:
    return costs()


def test_lengths_by_hand(found: dict[str, Cost]) -> None:
    """A span of half of the text; 77 tokens in 26 spans, the last of which ends the text; the whole text; 9 of 32
    sentences; 26 sentences (410 tokens are nearest to 416)."""
    sides = {name: (cost.source, cost.target) for name, cost in found.items()}
    assert sides["MASS"] == (TOKENS + 2, TOKENS // 2)
    assert sides["T5"] == (TOKENS - 77 + 26 + 1, 77 + 26 + 1)
    assert sides["BART"][1] == TOKENS + 2 and 358 + 2 < sides["BART"][0] < 430
    assert sides["PEGASUS"] == (TOKENS - 9 * 16 + 9 + 1, 9 * 16 + 1)
    assert sides["PALM"] == (26 * 16 + 2, 6 * 16 + 1)
    for cost in found.values():
        assert cost.flops == products(cost.source, cost.target, BARTConfig.base())


def test_parameters_of_the_base_models(found: dict[str, Cost]) -> None:
    """In millions: T5's "about 220", PEGASUS's 223, and counts of released weights; PALM's paper gives none."""
    millions = {name: round(cost.parameters / 1e6) for name, cost in found.items()}
    assert millions == {"MASS": 239, "T5": 223, "BART": 139, "PEGASUS": 223, "PALM": 240}


@pytest.mark.parametrize(("source", "target"), [(3, 5), (9, 4)])
def test_flops_of_a_small_network_by_hand(source: int, target: int) -> None:
    config = BARTConfig(60, layers=2, model=12, heads=3, inner=20, time=20)
    pair = sequence_to_sequence([50] * (source - 1), [50] * (target - 1), vocab=Vocabulary(60))
    batch = PairBatch.of([pair], pad=0)
    assert batch.source.size == (1, source) and batch.target.size == (1, target)
    assert forward_flops(BART(config).eval(), batch) == products(source, target, config)
    with torch.device("meta"):
        network = BART(config)
    assert forward_flops(network, batch.to("meta")) == products(source, target, config)


@pytest.mark.parametrize(("source", "target"), [(3, 5), (64, 64)])
def test_an_encoder_decoder_and_a_decoder_by_hand(source: int, target: int) -> None:
    """T5's products are BART's. Per layer, a decoder-only model has four square matrices and two of the inner layer."""
    config, both = BARTConfig(VOCAB, layers=6, model=256, heads=4, inner=1024), source + target
    layer = both * (4 * 256 ** 2 + 2 * 256 * 1024) + 2 * both * both * 256
    assert compared(source, target) == [products(source, target, config), 2 * (6 * layer + both * 256 * VOCAB)]
