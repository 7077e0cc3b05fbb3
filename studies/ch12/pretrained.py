"""The models of chapter 12: UniLM and what it is to replace, of one size, pretrained on as much text in two languages.

All read sentences of the full world in English or in Chinese, and pairs of segments of articles, one text in eight; a
translation never stands beside its original. BERT hides words under no mask; "sequence to sequence" is UniLM's network
under one of its four masks alone; GPT says every next word; the encoder-decoder of chapter 06 reads the first part of a
text and writes the second. What is equal is the real tokens that are read, padding not counted: updates are set so
(`tokens` counts). The encoder-decoder has two layers on either side, and is narrower, so that it has as many
parameters. Rates are the best of a grid by the loss of short runs on other texts.

All are pretrained in the recipe's folder. The course's own UniLM has read more than these.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import log
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import torch
from torch import nn

from plmlab.chapters.ch12.pretrained import NOTHING
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
"""The width of the encoder-decoder, of two layers a side."""
BATCH, ACCUMULATE = 32, 4
RATE = 0.3
"""The share of words that are hidden; 15 % in the papers, of which a BERT of this size learns less."""
PILOT, WARMUP = 500, 100
"""Updates of the runs by which rates are chosen; and those in which a rate is reached, in these runs as in the long
ones: with fewer, high rates fail for want of a warm-up."""
RATES = (1e-3, 3e-3, 1e-2)
PILOTS, SEED, OTHERS = (8,), 0, 77
"""Seeds: of the pilots, of the models, of the texts by which rates are judged."""
JUDGED = 8
"""Updates' worth of other texts by which rates are judged."""
EVERY = 28
"""One update in so many is looked at where tokens are counted."""


def continued(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random) -> Any:
    """GPT's pair: one text where B follows A; of a stranger, A alone."""
    return causal([*first, *(second if follows else ())], vocab=vocab, rng=rng)


def halved(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Any:
    """The encoder-decoder's text: cut anywhere, as `mask_mixture` cuts; the second part has one word at least."""
    cut = min(round(rng.random() * len(tokens)), len(tokens) - 1)
    return sequence_to_sequence(tokens[:cut], tokens[cut:], vocab=vocab)


def answered_by(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random) -> Any:
    """The encoder-decoder's pair: B is written after A; of a stranger, A is halved."""
    return sequence_to_sequence(first, second, vocab=vocab) if follows else halved(first, vocab=vocab, rng=rng)


def unilm(vocab: int) -> UniLMPretraining:
    """UniLM's network, for so many words."""
    return UniLMPretraining(UniLMConfig(vocab, TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                        attention_dropout=0.0))


def bert(vocab: int) -> BERTPretraining:
    """BERT's network, for so many words."""
    return BERTPretraining(BERTConfig(vocab, TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                      attention_dropout=0.0))


def gpt(vocab: int) -> GPT2:
    """GPT-2's network, for so many words."""
    return GPT2(GPTConfig(vocab, TIME, LAYERS, WIDTH, HEADS, dropout=0.0))


def encoder_decoder(vocab: int) -> Transformer:
    """The encoder-decoder of chapter 06, for so many words."""
    return Transformer(TransformerConfig(vocab, 2, NARROW, HEADS, 4 * NARROW, dropout=0.0, smoothing=0.0))


ONE_MASK = {"sequence to sequence": 1.0}


class Arm(NamedTuple):
    """A network, what a text and a pair are made an Example by, and its updates: six million tokens."""

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
    """What an arm reads, a batch a step."""
    return world_texts(ARMS[name].objective, ARMS[name].pairs, bilingual_tokenizer(), batch=BATCH,
                       accumulate=ACCUMULATE, time=TIME, seed=seed, bilingual=True)


def tokens(name: str) -> float:
    """The real tokens that an arm reads in its updates, special ones among them, in millions, judged by one update in
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
    """An arm's network with random weights of this seed."""
    torch.manual_seed(seed)
    return ARMS[name].network(len(bilingual_tokenizer()))


def train(model: nn.Module, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Pretrain an arm for so many updates; its history."""
    return fit(model, texts(name, seed), steps=updates, lr=lr, warmup=WARMUP, accumulate=ACCUMULATE, **options)


@torch.no_grad()
def loss(name: str, model: nn.Module) -> float:
    """An arm's loss on texts that it has not read, the mean over batches."""
    model.eval()
    batches = texts(name, OTHERS)
    steps = range(JUDGED * ACCUMULATE)
    return sum(float(model.loss(batches(step))) for step in steps) / len(steps)  # type: ignore[operator,misc]


def development(run: Run) -> float:
    """Minus the loss on other texts."""
    return -loss(run.arm[0], run.model)


def test(run: Run) -> dict[str, float]:
    """The ``loss`` on other texts: what is claimed of an arm, writing and reading tell."""
    return {"loss": loss(run.arm[0], run.model)}


STUDY = Study(name="pretrained", arms={(name,): RATES for name in ARMS}, build=build, train=train,
              development=development, test=test, updates={(name,): (arm.updates,) for name, arm in ARMS.items()},
              nothing=-log(len(bilingual_tokenizer())), seeds=(SEED,), pilots=PILOTS, pilot_updates=PILOT,
              unequal="all read as many tokens")


def pretrained(folder: str | Path, name: str) -> nn.Module:
    """An arm that was kept, or `NOTHING`, in evaluation mode."""
    if name == NOTHING:
        return build("UniLM", SEED).eval()
    return STUDY.trained(folder, name, updates=ARMS[name].updates, seed=SEED)


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """Model → ``lr``, the ``rates`` tried with their losses, ``million`` tokens read, ``updates``, ``parameters``, and
    the ``loss`` on other texts. The models lie in the folder of the parts then."""
    found = study.measure(parts)
    read = parts(tokens, [(name,) for name, _ in found])
    return {name: {
        "lr": one.lr, "rates": rates_tried({rate: -score for rate, score in one.scores.items()}),
        "million": read[name,], "updates": updates, "loss": one.runs[SEED]["loss"],
        "parameters": sum(weight.numel() for weight in build(name, SEED).parameters())}
        for (name, updates), one in found.items()}
