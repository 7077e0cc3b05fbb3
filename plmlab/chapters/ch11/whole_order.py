"""Predict every word of a sentence in a random order, after [SEP] and [CLS]: what chapter 11 trains live, and its
target leakage.

A model to which [SEP] is visible first knows the length of the sentence. So in every order the losses on its words add
up to −log p(sentence | its length) for the exact conditional distribution (the chain rule), and all orders have the
same floor.
"""

from collections.abc import Callable, Sequence
from random import Random

import torch

from plmlab import world
from plmlab.chapters.ch11.arms import new
from plmlab.draws import shuffled
from plmlab.example import Example
from plmlab.models.xlnet import XLNetPretraining
from plmlab.objectives.permuted import predict_all_in_order, with_leak
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_world_tokenizer

LR, BATCH = 1e-2, 32


def predict_all(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """A [SEP] [CLS], with every word a target, in a random factorization order that starts with [SEP] and [CLS]."""
    return predict_all_in_order(shuffled(rng, range(len(tokens))), tokens, vocab=vocab)


def predict_all_leaking(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """The same with target leakage: the query stream attends to z≤t, its own word included, as the content stream does.
    """
    return with_leak(predict_all(tokens, vocab=vocab, rng=rng))


def learn(objective: Callable[..., Example], updates: int, seed: int, **options: object,
          ) -> tuple[XLNetPretraining, History]:
    """A small XLNet after the given number of updates, each on 32 sentences of the small world, and its training
    history."""
    torch.manual_seed(seed)
    model = new("XLNet", seed)
    assert isinstance(model, XLNetPretraining)
    batches = sentence_batches(world.small(), "train", small_world_tokenizer(), objective, BATCH, seed)
    return model, fit(model, batches, steps=updates, lr=LR, warmup=min(50, updates // 4),
                      **options)  # type: ignore[arg-type]
