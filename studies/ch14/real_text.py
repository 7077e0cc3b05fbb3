"""CogQA with a real BERT: MiniLM is trained on questions of the Small World, in subwords, and then evaluated on real
text.
"""

from typing import Any, cast

import torch

from plmlab.hf import minilm
from plmlab.hf.minilm_vectors import pieces
from plmlab.models.bert import BERT
from plmlab.models.cogqa import CogQA, SelfLoopCogQA
from studies.ch14.learning import ALPHA, learn


def on_minilm(kind: type[CogQA] = SelfLoopCogQA) -> CogQA:
    """A CogQA initialized with MiniLM, not yet trained on questions."""
    return kind.from_pretrained(cast(BERT, minilm()[0]), alpha=ALPHA)


def fine_tuned(seed: int, updates: int, lr: float, **options: Any) -> CogQA:
    """A CogQA initialized with MiniLM and trained on the questions of the world; ``options`` are passed to `fit`."""
    torch.manual_seed(seed)
    model = on_minilm()
    learn(model, updates, lr, seed, pieces(), **options)
    return model
