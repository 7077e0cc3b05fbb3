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
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import torch
from torch import nn

from plmlab.example import AnyBatch, Batch, PairBatch
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.models.unilm import UniLMConfig, UniLMPretraining
from plmlab.objectives import causal, masked, next_sentence, sequence_to_sequence, unified
from plmlab.objectives.prefix import unified_pair
from plmlab.pretraining.material import world_texts
from plmlab.recipes import Parts, best_rates
from plmlab.recipes.kept import keep, with_kept
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import Diverged, fit
from plmlab.world.datasets.tokenizer import bilingual_spelling

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
ONE_MASK = {"sequence to sequence": 1.0}
NOTHING = "UniLM, not pretrained"
"""UniLM's network with random weights: what pretraining is worth."""


def continued(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random) -> Any:
    """GPT's pair: one text where B follows A; of a stranger, A alone."""
    return causal([*first, *(second if follows else ())], vocab=vocab, rng=rng)


def halved(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Any:
    """The encoder-decoder's text: cut anywhere, as `unified` cuts; the second part has one word at least."""
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


class Arm(NamedTuple):
    """A network, what a text and a pair are made an Example by, and its updates: six million tokens."""

    network: Callable[[int], nn.Module]
    objective: Callable[..., Any]
    pairs: Callable[..., Any]
    updates: int


ARMS = {
    "UniLM": Arm(unilm, partial(unified, rate=RATE), partial(unified_pair, rate=RATE), 2960),
    "BERT": Arm(bert, partial(masked, rate=RATE), partial(next_sentence, rate=RATE), 2730),
    "sequence to sequence": Arm(unilm, partial(unified, rate=RATE, shares=ONE_MASK),
                                partial(unified_pair, rate=RATE, shares=ONE_MASK), 2960),
    "GPT": Arm(gpt, causal, continued, 3400),
    "encoder-decoder": Arm(encoder_decoder, halved, answered_by, 3170),
}


def texts(name: str, seed: int) -> Callable[[int], AnyBatch]:
    """What an arm reads, a batch a step."""
    return world_texts(ARMS[name].objective, ARMS[name].pairs, bilingual_spelling(), batch=BATCH,
                       accumulate=ACCUMULATE, time=TIME, seed=seed, bilingual=True)


def learn(name: str, lr: float, updates: int, seed: int) -> nn.Module:
    """An arm after so many updates."""
    torch.manual_seed(seed)
    model = ARMS[name].network(len(bilingual_spelling()))
    fit(model, texts(name, seed), steps=updates, lr=lr, warmup=WARMUP, accumulate=ACCUMULATE, show=False)
    return model


@torch.no_grad()
def loss(name: str, model: nn.Module) -> float:
    """An arm's loss on texts that it has not read, the mean over batches."""
    model.eval()
    batches = texts(name, OTHERS)
    steps = range(JUDGED * ACCUMULATE)
    return sum(float(model.loss(batches(step))) for step in steps) / len(steps)  # type: ignore[operator,misc]


def rate_score(name: str, lr: float, seed: int) -> float:
    """How good a rate is: minus the loss after `PILOT` updates."""
    try:
        return -loss(name, learn(name, lr, PILOT, seed))
    except Diverged:
        return -1e9


def kept(folder: str, name: str) -> Path:
    """Where an arm's weights lie."""
    return Path(folder) / f"{name}.safetensors"


def train(folder: str, name: str, lr: float) -> float:
    """Pretrain an arm and keep it; its loss on other texts."""
    model = learn(name, lr, ARMS[name].updates, SEED)
    keep(model, kept(folder, name))
    return loss(name, model)


def pretrained(folder: str, name: str) -> nn.Module:
    """An arm that was kept, or `NOTHING`, in evaluation mode."""
    if name == NOTHING:
        torch.manual_seed(SEED)
        return ARMS["UniLM"].network(len(bilingual_spelling())).eval()
    return with_kept(ARMS[name].network(len(bilingual_spelling())), kept(folder, name))


def tokens(name: str) -> float:
    """The real tokens that an arm reads in its updates, special ones among them, in millions, judged by one update in
    `EVERY`."""
    batches, read, pad = texts(name, SEED), 0, bilingual_spelling().vocab.need("pad")
    looked_at = range(0, ARMS[name].updates, EVERY)
    for update in looked_at:
        for step in range(ACCUMULATE):
            batch = batches(update * ACCUMULATE + step)
            sides = (batch.source, batch.target) if isinstance(batch, PairBatch) else (batch,)
            read += sum(int((side.tokens != pad).sum()) for side in sides if isinstance(side, Batch))
    return read * ARMS[name].updates / len(looked_at) / 1e6


def measure(parts: Parts) -> dict[str, Any]:
    """Model → ``lr``, the ``rates`` tried with their losses, ``million`` tokens read, ``updates``, ``parameters``, and
    the ``loss`` on other texts. The models lie in the folder of the parts then."""
    folder = str(parts.folder)
    rates = {name: found for (name,), found in
             best_rates(parts, rate_score, PILOTS, {(name,): RATES for name in ARMS}).items()}
    read = parts(tokens, [(name,) for name in ARMS])
    losses = parts(train, [(folder, name, lr) for name, (lr, _) in rates.items()])
    return {name: {
        "lr": lr, "rates": [(rate, -score) for rate, score in scores.items()], "million": read[name,],
        "updates": ARMS[name].updates, "loss": losses[folder, name, lr],
        "parameters": sum(weight.numel() for weight in pretrained(folder, name).parameters())}
        for name, (lr, scores) in rates.items()}
