"""Translating passages of the small world: fine-tuning of UniLM's network for generation, and alternatives to it.

UniLM masks a fraction of the target tokens and predicts only those. Under the same attention mask, target positions can
instead predict the next token, as in GPT, which gives a prefix language model (Liu et al. 2018; Raffel et al. 2020,
§3.2.1). Alternatively, every word is predicted in place, at [MASK] tokens that are appended to the text (Bao et al.
2020, UniLMv2).

A passage mostly consists of two sentences. The small world has only hundreds of sentences, all of which are soon
memorized; the task is to translate new combinations of two sentences.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import islice
from random import Random
from statistics import fmean
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.decode import greedy_texts
from plmlab.draws import shuffled
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.unilm import UniLMDecoder, UniLMPretraining, source_batch
from plmlab.objectives import masked_seq2seq_target
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import History, fit
from plmlab.visibility import RangeRule, Rule, Visibility
from plmlab.world.datasets.passages import passages
from plmlab.world.datasets.tokenizer import build_world_tokenizer

BATCH, TEST_SIZE, LONGEST = 32, 200, 40
WORDS = range(14, 19)
"""Target lengths of passages, in English words."""
Make = Callable[..., Example]
"""(source, target, *, vocab, rng) → the Example for fine-tuning."""


@cache
def tokenizer() -> Tokenizer:
    """Word-level tokenizer for the small world's English and Chinese sentences."""
    return build_world_tokenizer(world.small(), texts=["sentences"])


@cache
def ids() -> dict[str, int]:
    """Map each word to its id."""
    names = tokenizer().tokens(range(len(tokenizer())))
    return {name: id for id, name in enumerate(names)}


def masked(rate: float) -> Make:
    """UniLM's objective, with this fraction of the target tokens masked."""
    return partial(masked_seq2seq_target, rate=rate)


def next_words(source: Sequence[int], target: Sequence[int], *, vocab: Vocabulary, rng: Random, share: float = 1.0,
               ) -> Example:
    """UniLM's attention mask without masked tokens: the [SEP] of the source and the positions of the target predict the
    next token. A random fraction ``share`` of these positions, but at least one, have targets."""
    example = masked_seq2seq_target(source, target, vocab=vocab, rng=rng, select=())
    positions = shuffled(rng, range(len(source) + 1, len(example.tokens) - 1))
    queried = torch.tensor(positions[:max(1, round(share * len(positions)))])
    example.targets[queried] = example.tokens[queried + 1]
    return example


def appended_masks(source: Sequence[int], target: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """The text has no masked tokens. Instead, for each target token a [MASK] with the same position id is appended,
    which predicts that token. It attends to the source, to the target words before the token, and to itself (the
    pseudo-masks of Bao et al. 2020, in left-to-right order). So every word is predicted in place, given the correct
    preceding words."""
    plain = masked_seq2seq_target(source, target, vocab=vocab, rng=rng, select=())
    positions = torch.arange(len(source) + 2, len(plain.tokens))
    place = torch.cat([torch.arange(len(plain.tokens)), positions])
    masks = torch.arange(len(place)) >= len(plain.tokens)
    read, written = place < positions[0], (place >= positions[0]) & ~masks
    everyone, here = torch.ones_like(masks), torch.arange(len(place))
    return Example(
        tokens=torch.cat([plain.tokens, torch.full_like(positions, vocab.need("mask"))]),
        position_ids=place[None],
        segments=torch.cat([plain.segments, plain.segments[positions]]),
        visible=Visibility((
            Rule.between("all of the source", "{key} is part of the source.", everyone, read),
            Rule("what was written before", "{key} is generated before {query}.", ~read, written, place - 1, place),
            RangeRule.of("itself", "{query} attends to itself.", here, here))),
        targets=torch.cat([torch.full_like(plain.tokens, IGNORE), plain.tokens[positions]]),
    )


def rows(split: str, rng: Random, count: int, lengths: range = WORDS) -> list[tuple[list[int], list[int]]]:
    """``count`` passages of a split, as token ids of their English and Chinese. A passage with a target length of one
    word is a single sentence."""
    return [([ids()[word] for word in one.english], [ids()[word] for word in one.chinese])
            for one in islice(passages(world.small(), split, rng, lengths), count)]


def training_batches(make: Make, seed: int) -> ExampleBatches:
    """Batches of new training passages."""
    vocab = tokenizer().vocab

    def draw(rng: Random) -> list[Example]:
        return [make(*row, vocab=vocab, rng=rng) for row in rows("train", rng, BATCH)]

    return ExampleBatches(draw, f"translate {seed}", vocab.need("pad"))


def tune(model: nn.Module, make: Make, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Fine-tune a model for translation, in place."""
    torch.manual_seed(seed)
    return fit(model, training_batches(make, seed), steps=updates, lr=lr, warmup=min(50, updates // 5),
               **options)


def in_place(model: UniLMPretraining, sources: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Greedy generation after each source, with each token predicted at an appended [MASK]; the final [SEP] is left
    out."""
    vocab = tokenizer().vocab
    decoder = UniLMDecoder(model.eval(), source_batch(sources, vocab), vocab)
    return greedy_texts(decoder, len(sources), vocab, length=LONGEST)


@torch.no_grad()
def at_the_last(model: UniLMPretraining, sources: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Greedy generation with a model fine-tuned with `next_words`: each token is predicted at the position of the
    preceding token."""
    model.eval()
    generated: list[list[int]] = [[] for _ in sources]
    active = list(range(len(sources)))
    for length in range(LONGEST):
        examples = [next_words(sources[text], generated[text], vocab=tokenizer().vocab, rng=Random(0))
                    for text in active]
        logits = model(Batch.of(examples, pad=tokenizer().vocab.need("pad")))
        last = torch.tensor([len(sources[text]) + 1 + length for text in active])
        tokens = logits[torch.arange(len(active)), last].argmax(-1).tolist()
        for text, token in zip(active, tokens, strict=True):
            generated[text].append(token)
        active = [text for text in active if generated[text][-1] != tokenizer().vocab.sep]
        if not active:
            break
    return [tuple(token for token in text if token != tokenizer().vocab.sep) for text in generated]


Generate = Callable[[UniLMPretraining, Sequence[Sequence[int]]], list[tuple[int, ...]]]


def translation_accuracy(model: UniLMPretraining, split: str, write: Generate = in_place) -> float:
    """Fraction of `TEST_SIZE` new passages that are translated without an error; for the split "train", these are new
    passages made of training sentences."""
    passages = rows(split, Random("exam"), TEST_SIZE)
    return fmean(text == tuple(target) for text, (_, target) in
                 zip(write(model, [source for source, _ in passages]), passages, strict=True))
