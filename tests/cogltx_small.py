"""A small CogLTX, and blocks whose tokens tell their position: token i of block p is 20 + 9 p + i."""

from collections.abc import Iterable

import torch
from torch import nn

from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogltx import CogLTX, CogLTXConfig
from plmlab.models.memory_recall import MemoryBlock
from plmlab.models.registry import ModelSpec

PAD, CLS, SEP, FIRST, LONGEST = 0, 2, 3, 20, 8
CAPACITY = 32
SIZE = BERTConfig(200, time=CAPACITY, layers=2, model=16, heads=2, inner=32, dropout=0.0, attention_dropout=0.0)
QUERY = (CLS, 8, 9, SEP)


def block(position: int, words: int = 4) -> MemoryBlock:
    """A block of so many tokens and [SEP]."""
    return MemoryBlock(position, (*(FIRST + 9 * position + i for i in range(words)), SEP))


def positions(tokens: Iterable[int]) -> list[int]:
    """The positions of the blocks in a window's tokens, in their order."""
    return [*dict.fromkeys((token - FIRST) // 9 for token in tokens if token >= FIRST)]


def shaken(model: nn.Module, seed: int = 0) -> nn.Module:
    """The model in float64 and evaluation mode, with weights large enough that positions differ."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4, generator=generator)
    return model.double().eval()


def small(kind: type[CogLTX] = CogLTX, seed: int = 0) -> CogLTX:
    """A CogLTX of 32 positions with two layers of width 16."""
    return shaken(kind(CogLTXConfig(ModelSpec(BERT, SIZE), CAPACITY, LONGEST)), seed)
