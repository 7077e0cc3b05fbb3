"""CogQA on a real BERT: MiniLM learns to hop and to answer from the Small World's questions, in pieces of words, and is
then asked about real text."""

from functools import cache
from typing import Any, cast

import torch

from plmlab.chapters.ch14.training import ALPHA, learn
from plmlab.hf import minilm
from plmlab.models.bert import BERT
from plmlab.models.cogqa import CogQA, SelfLoopCogQA
from plmlab.text import Tokenizer


@cache
def pieces() -> Tokenizer:
    """MiniLM's pieces of words."""
    return minilm()[1]


def on_minilm(kind: type[CogQA] = SelfLoopCogQA) -> CogQA:
    """A CogQA that knows nothing of questions, on MiniLM."""
    return kind.on(cast(BERT, minilm()[0]), alpha=ALPHA)


def learned(seed: int, updates: int, lr: float, **options: Any) -> CogQA:
    """One that has learned from the world's questions; ``options`` go to `fit`."""
    torch.manual_seed(seed)
    model = on_minilm()
    learn(model, updates, lr, seed, pieces(), **options)
    return model
