"""Translating passages of the small world: how UniLM's network is tuned to write, and by what else it could be.

UniLM hides a share of the target and asks for that alone. Under the same mask one can ask positions of the target for
the token behind them, as GPT does; that is a language model with a prefix (Liu et al. 2018; Raffel et al. 2020,
§3.2.1). Or ask every word in place, at masks that stand behind the text (Bao et al. 2020, UniLMv2).

A passage is two sentences, mostly. The small world has some hundreds of sentences, which are all known by heart soon;
two of them that were never read together have to be translated.
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
from plmlab.decode import greedy
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
"""The lengths that passages aim at, in English words."""
Make = Callable[..., Example]
"""(source, target, *, vocab, rng) → the Example by which a model is tuned."""


@cache
def tokenizer() -> Tokenizer:
    """One token for each word of the small world's sentences, English and Chinese."""
    return build_world_tokenizer(world.small(), texts=["sentences"])


@cache
def ids() -> dict[str, int]:
    """Word → its id."""
    names = tokenizer().tokens(range(len(tokenizer())))
    return {name: id for id, name in enumerate(names)}


def masked(rate: float) -> Make:
    """UniLM's way, with this share of the target hidden."""
    return partial(masked_seq2seq_target, rate=rate)


def next_words(source: Sequence[int], target: Sequence[int], *, vocab: Vocabulary, rng: Random, share: float = 1.0,
               ) -> Example:
    """UniLM's mask, nothing hidden: the source's [SEP], and the positions of the target, say the token behind them; a
    ``share`` of these positions, drawn at random, one at least, is asked."""
    example = masked_seq2seq_target(source, target, vocab=vocab, rng=rng, select=())
    positions = shuffled(rng, range(len(source) + 1, len(example.tokens) - 1))
    asked = torch.tensor(positions[:max(1, round(share * len(positions)))])
    example.targets[asked] = example.tokens[asked + 1]
    return example


def masks_behind(source: Sequence[int], target: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """Nothing hidden, and behind the text a [MASK] for each position of the target, at its position, which must say its
    word: it sees the source, the target's words before that position, and itself (the pseudo-masks of Bao et al. 2020,
    in the order from the left). So all is asked in place, with the right words in sight."""
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
            Rule.between("all of the source", "{key} is of the source.", everyone, read),
            Rule("what was written before", "{key} is written before {query}.", ~read, written, place - 1, place),
            RangeRule.of("itself", "{query} sees itself.", here, here))),
        targets=torch.cat([torch.full_like(plain.tokens, IGNORE), plain.tokens[positions]]),
    )


def rows(split: str, rng: Random, count: int, lengths: range = WORDS) -> list[tuple[list[int], list[int]]]:
    """So many passages of a split, as the ids of their English and of their Chinese. Those that aim at a word
    are single sentences."""
    return [([ids()[word] for word in one.english], [ids()[word] for word in one.chinese])
            for one in islice(passages(world.small(), split, rng, lengths), count)]


def lessons(make: Make, seed: int) -> ExampleBatches:
    """Batches of new passages to learn from."""
    vocab = tokenizer().vocab

    def draw(rng: Random) -> list[Example]:
        return [make(*row, vocab=vocab, rng=rng) for row in rows("train", rng, BATCH)]

    return ExampleBatches(draw, f"translate {seed}", vocab.need("pad"))


def tune(model: nn.Module, make: Make, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Tune a model to translate, in place."""
    torch.manual_seed(seed)
    return fit(model, lessons(make, seed), steps=updates, lr=lr, warmup=min(50, updates // 5),
               **options)


def in_place(model: UniLMPretraining, sources: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """What a model writes after each source, greedily, the likeliest word at a [MASK] each time; [SEP] left out."""
    vocab = tokenizer().vocab
    start = torch.full((len(sources), 1), vocab.need("start"))
    texts = greedy(UniLMDecoder(model.eval(), source_batch(sources, vocab), vocab), start, vocab, length=LONGEST)
    return [tuple(token for token in text.tokens if token != vocab.end) for text in texts]


@torch.no_grad()
def at_the_last(model: UniLMPretraining, sources: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The same of a model that was tuned by `next_words`: each word is said at the token before it."""
    model.eval()
    written: list[list[int]] = [[] for _ in sources]
    going = list(range(len(sources)))
    for length in range(LONGEST):
        some = [next_words(sources[text], written[text], vocab=tokenizer().vocab, rng=Random(0)) for text in going]
        logits = model(Batch.of(some, pad=tokenizer().vocab.need("pad")))
        last = torch.tensor([len(sources[text]) + 1 + length for text in going])
        said = logits[torch.arange(len(going)), last].argmax(-1).tolist()
        for text, token in zip(going, said, strict=True):
            written[text].append(token)
        going = [text for text in going if written[text][-1] != tokenizer().vocab.sep]
        if not going:
            break
    return [tuple(token for token in text if token != tokenizer().vocab.sep) for text in written]


Write = Callable[[UniLMPretraining, Sequence[Sequence[int]]], list[tuple[int, ...]]]


def right(model: UniLMPretraining, split: str, write: Write = in_place) -> float:
    """The share of `TEST_SIZE` other passages that are translated without a mistake; "train" are ones of the very
    sentences that were learned from."""
    some = rows(split, Random("exam"), TEST_SIZE)
    return fmean(text == tuple(target) for text, (_, target) in
                 zip(write(model, [source for source, _ in some]), some, strict=True))
