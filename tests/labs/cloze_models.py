"""Small models of the Small World's words for the tests of the Cloze Lab: untrained, and yet of firm beliefs."""

import math

import pytest
import torch
from torch import nn
from transformers import BertForMaskedLM

from plmlab import world
from plmlab.example import Batch
from plmlab.labs import ClozeLab
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.world.datasets.tokenizer import build_world_tokenizer

SMALL = world.small()
WORDS = build_world_tokenizer(SMALL, ("english",), ("sentences",))
AGREEMENT = "the cups near the chair are lost ."
CLS, SEP, MASK, START = 2, 3, 4, 5


def seeded(model: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5, generator=generator)
    return model.eval()


def bert(time: int = 48) -> BERTPretraining:
    return seeded(BERTPretraining(BERTConfig(len(WORDS), time=time, layers=2, model=16, heads=2, inner=16)))


def gpt(time: int = 48) -> GPT2:
    return seeded(GPT2(GPTConfig(len(WORDS), time=time, layers=2, model=16, heads=2)))


def crossed(**given: object) -> ClozeLab:
    """A lab whose subject and verb are hidden."""
    return ClozeLab(bert(), WORDS, AGREEMENT, SMALL, hide=("cups", "are"), **given)


def ids(text: str) -> list[int]:
    return [WORDS.id(word) for word in text.split()]


def said_by(model: torch.nn.Module, read: list[int]) -> torch.Tensor:
    """The softmax of the logits for one row of plain ids, computed without the lab."""
    tokens = torch.tensor([read])
    with torch.no_grad():
        if isinstance(model, BertForMaskedLM):
            return model(input_ids=tokens).logits[0].double().softmax(-1)
        plain = Batch.causal(torch.tensor([[*read, 0]]))
        if not hasattr(model, "encoder"):
            return model(plain)[0].double().softmax(-1)
        full = Batch(plain.tokens, plain.position_ids, plain.segments, type(plain.visible)(), plain.targets)
        return model(full)[0].double().softmax(-1)


def believed(reader: dict) -> dict[str, float]:
    return {row["word"]: row["p"] for row in reader["rows"]}


def best(reader: dict) -> dict[str, float]:
    return {row["word"]: row["best"] for row in reader["rows"]}


def agrees(reader: dict, p: torch.Tensor, true: str) -> None:
    """Rows, rank, surprisal and order of a belief against the whole distribution."""
    shown = believed(reader)
    assert shown == pytest.approx({word: float(p[WORDS.id(word)]) for word in shown}, abs=1e-6)
    assert list(shown.values()) == sorted(shown.values(), reverse=True)
    assert [row["word"] for row in reader["rows"] if row["own"]] == [true]
    own = float(p[WORDS.id(true)])
    assert reader["own"]["p"] == pytest.approx(own, abs=1e-6)
    assert reader["own"]["nats"] == pytest.approx(-math.log(own), rel=1e-4)
    assert reader["own"]["rank"] == 1 + int((p > own).sum())
