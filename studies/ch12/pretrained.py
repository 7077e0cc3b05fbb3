"""The models of chapter 12: UniLM and the models that it is meant to replace, of equal size, pretrained on the same
amount of text.

All are trained on sentences of the full world in English or in Chinese, and on pairs of article segments, one text in
eight; a translation never occurs next to its original. BERT masks words, with full attention; "sequence to sequence" is
UniLM's network under one of its four masks only; GPT predicts every next word; the encoder–decoder of chapter 06
encodes the first part of a text and decodes the second. The number of real tokens, without padding, is equal; the
numbers of updates are set accordingly (see `tokens`). The encoder–decoder has two layers per side and is narrower, so
that it has the same number of parameters. Learning rates are the best of a grid by the loss of short runs on other
texts.

All models are pretrained in the recipe's folder. The bundled UniLM was trained on more text than these models.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import log
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import torch
from torch import nn

from plmlab.chapters.ch12.pretrained import RANDOM_INIT
from plmlab.example import AnyBatch, Batch, PairBatch
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.models.unilm import UniLMConfig, UniLMPretraining
from plmlab.objectives import causal, mask_mixture, masked, next_sentence, sequence_to_sequence
from plmlab.objectives.prefix import mask_mixture_pair
from plmlab.pretraining.material import world_texts
from plmlab.recipes import Parts, rates_tried
from plmlab.recipes.study import Run, Study
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import History, fit
from plmlab.world.datasets.tokenizer import bilingual_tokenizer

LAYERS, WIDTH, HEADS, TIME = 3, 128, 4, 192
NARROW = 112
"""Width of the encoder-decoder, which has two layers per side."""
BATCH, ACCUMULATE = 32, 4
RATE = 0.3
"""Masking rate; 15 % in the papers, from which a BERT of this size learns less."""
PILOT, WARMUP = 500, 100
"""Updates of the runs that choose the learning rates; and warm-up updates, the same in these runs and in the long ones:
with fewer, high rates fail for want of warm-up."""
RATES = (1e-3, 3e-3, 1e-2)
PILOTS, SEED, OTHERS = (8,), 0, 77
"""Seeds: of the pilots, of the models, of the texts by which learning rates are chosen."""
JUDGED = 8
"""Updates' worth of other texts by which learning rates are chosen."""
EVERY = 28
"""Tokens are counted in one of this many updates."""


def continued(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random) -> Any:
    """GPT's input for a pair: one text if B follows A, otherwise A alone."""
    return causal([*first, *(second if follows else ())], vocab=vocab, rng=rng)


def halved(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Any:
    """The encoder–decoder's input for a text, which is cut at a random point, as in `mask_mixture`; the second part has
    at least one word."""
    cut = min(round(rng.random() * len(tokens)), len(tokens) - 1)
    return sequence_to_sequence(tokens[:cut], tokens[cut:], vocab=vocab)


def answered_by(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random) -> Any:
    """The encoder–decoder's input for a pair: B is the target for A; if B does not follow A, A is halved."""
    return sequence_to_sequence(first, second, vocab=vocab) if follows else halved(first, vocab=vocab, rng=rng)


def unilm(vocab: int) -> UniLMPretraining:
    """UniLM's network with a vocabulary of this size."""
    return UniLMPretraining(UniLMConfig(vocab, TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                        attention_dropout=0.0))


def bert(vocab: int) -> BERTPretraining:
    """BERT's network with a vocabulary of this size."""
    return BERTPretraining(BERTConfig(vocab, TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                      attention_dropout=0.0))


def gpt(vocab: int) -> GPT2:
    """GPT-2's network with a vocabulary of this size."""
    return GPT2(GPTConfig(vocab, TIME, LAYERS, WIDTH, HEADS, dropout=0.0))


def encoder_decoder(vocab: int) -> Transformer:
    """The encoder–decoder of chapter 06 with a vocabulary of this size."""
    return Transformer(TransformerConfig(vocab, 2, NARROW, HEADS, 4 * NARROW, dropout=0.0, smoothing=0.0))


ONE_MASK = {"sequence to sequence": 1.0}


class Arm(NamedTuple):
    """A network, its objectives for texts and for pairs, and the number of updates that amount to six million
    tokens."""

    network: Callable[[int], nn.Module]
    objective: Callable[..., Any]
    pairs: Callable[..., Any]
    updates: int


ARMS = {
    "UniLM": Arm(unilm, partial(mask_mixture, rate=RATE), partial(mask_mixture_pair, rate=RATE), 2960),
    "BERT": Arm(bert, partial(masked, rate=RATE), partial(next_sentence, rate=RATE), 2730),
    "sequence to sequence": Arm(unilm, partial(mask_mixture, rate=RATE, shares=ONE_MASK),
                                partial(mask_mixture_pair, rate=RATE, shares=ONE_MASK), 2960),
    "GPT": Arm(gpt, causal, continued, 3400),
    "encoder-decoder": Arm(encoder_decoder, halved, answered_by, 3170),
}


def texts(name: str, seed: int) -> Callable[[int], AnyBatch]:
    """A variant's training batches."""
    return world_texts(ARMS[name].objective, ARMS[name].pairs, bilingual_tokenizer(), batch=BATCH,
                       accumulate=ACCUMULATE, time=TIME, seed=seed, bilingual=True)


def tokens(name: str) -> float:
    """Real tokens in a variant's training text, special tokens included, in millions, estimated from one update in
    `EVERY`."""
    batches, read, pad = texts(name, SEED), 0, bilingual_tokenizer().vocab.need("pad")
    padding_mask = range(0, ARMS[name].updates, EVERY)
    for update in padding_mask:
        for step in range(ACCUMULATE):
            batch = batches(update * ACCUMULATE + step)
            sides = (batch.source, batch.target) if isinstance(batch, PairBatch) else (batch,)
            read += sum(int((side.tokens != pad).sum()) for side in sides if isinstance(side, Batch))
    return read * ARMS[name].updates / len(padding_mask) / 1e6


def build(name: str, seed: int) -> nn.Module:
    """The network of a variant, with random weights initialized with this seed."""
    torch.manual_seed(seed)
    return ARMS[name].network(len(bilingual_tokenizer()))


def train(model: nn.Module, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Pretrain a variant for the given number of updates and return the history."""
    return fit(model, texts(name, seed), steps=updates, lr=lr, warmup=WARMUP, accumulate=ACCUMULATE, **options)


@torch.no_grad()
def loss(name: str, model: nn.Module) -> float:
    """A variant's loss on held-out texts, averaged over batches."""
    model.eval()
    batches = texts(name, OTHERS)
    steps = range(JUDGED * ACCUMULATE)
    return sum(float(model.loss(batches(step))) for step in steps) / len(steps)  # type: ignore[operator,misc]


def development(run: Run) -> float:
    """Negative loss on other texts."""
    return -loss(run.arm[0], run.model)


def test(run: Run) -> dict[str, float]:
    """The ``loss`` on other texts; the claims about a variant are tested on the generation and classification tasks."""
    return {"loss": loss(run.arm[0], run.model)}


STUDY = Study(name="pretrained", arms={(name,): RATES for name in ARMS}, build=build, train=train,
              development=development, test=test, updates={(name,): (arm.updates,) for name, arm in ARMS.items()},
              nothing=-log(len(bilingual_tokenizer())), seeds=(SEED,), pilots=PILOTS, pilot_updates=PILOT,
              unequal="all read as many tokens")


def pretrained(folder: str | Path, name: str) -> nn.Module:
    """Load a variant's saved weights, or return `RANDOM_INIT`, in evaluation mode."""
    if name == RANDOM_INIT:
        return build("UniLM", SEED).eval()
    return STUDY.trained(folder, name, updates=ARMS[name].updates, seed=SEED)


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """Model → ``lr``, the ``rates`` tried with their losses, ``million`` tokens of training text, ``updates``,
    ``parameters``, and the ``loss`` on other texts. The models are stored in the folder of the parts."""
    found = study.measure(parts)
    read = parts(tokens, [(name,) for name, _ in found])
    return {name: {
        "lr": one.lr, "rates": rates_tried({rate: -score for rate, score in one.scores.items()}),
        "million": read[name,], "updates": updates, "loss": one.runs[SEED]["loss"],
        "parameters": sum(weight.numel() for weight in build(name, SEED).parameters())}
            for (name, updates), one in found.items()}
