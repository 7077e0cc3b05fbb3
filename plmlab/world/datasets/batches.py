"""Batches of a world's text, available for any step: sentences under an objective, and sentence pairs as in BERT."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from random import Random
from typing import Any, cast

import torch

from plmlab.batches import ExampleBatches
from plmlab.example import IGNORE, AnyExample, Batch, Example
from plmlab.objectives import causal
from plmlab.objectives.next_sentence import next_sentence
from plmlab.text import Tokenizer
from plmlab.world.datasets.texts import of_sentence, of_words, rows
from plmlab.world.documents.pairs import NextSentence
from plmlab.world.world import World


def sentence_batches(world: World, split: str, tokenizer: Tokenizer,
                     objective: Callable[..., AnyExample],
                     batch: int, seed: int) -> ExampleBatches:
    """Batches of ``batch`` newly sampled sentences of a split, each turned into an Example by ``objective``.

    The tokenizer has one token per word (``build_world_tokenizer``), so that the world's floors apply to this text. The
    Text passed to the objective includes word spans and entity mentions.
    """
    def draw(rng: Random) -> list[Any]:
        sentences = list(islice(world.text(split, seed=int(rng.random() * 2**53)), batch))
        texts = [of_sentence(row, words, partial(_named, world, split, words))
                 for row, words in zip(rows(tokenizer, sentences), sentences, strict=True)]
        return [objective(text, vocab=tokenizer.vocab, rng=rng) for text in texts]

    return ExampleBatches(draw, seed, tokenizer.vocab.need("pad"))


def _named(world: World, split: str, words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    return world.parse(words, split).named


def bilingual_batches(world: World, split: str, tokenizer: Tokenizer, objective: Callable[..., AnyExample], batch: int,
                      seed: int) -> ExampleBatches:
    """Like `sentence_batches`, but each sentence is in Chinese with probability ½. Each sampled sentence is used in
    only one language, so the data contain no translation pairs. Chinese sentences have no entity mentions."""
    def draw(rng: Random) -> list[Any]:
        sentences = islice(world.sentences(split, seed=int(rng.random() * 2**53)), batch)
        chosen = [(one.chinese, None) if rng.random() < 0.5 else (one.words, one.named) for one in sentences]
        return [objective(of_sentence(row, *one), vocab=tokenizer.vocab, rng=rng)
                for one, row in zip(chosen, rows(tokenizer, [words for words, _ in chosen]), strict=True)]

    return ExampleBatches(draw, seed, tokenizer.vocab.need("pad"))


def next_word_examples(sentences: Sequence[Sequence[str]], tokenizer: Tokenizer) -> list[Example]:
    """Convert sentences to Examples of next-word prediction; the tokenizer has one token per word."""
    return [causal(row, vocab=tokenizer.vocab, rng=Random(0)) for row in rows(tokenizer, sentences)]


def next_word_batch(sentences: Sequence[Sequence[str]], tokenizer: Tokenizer) -> Batch:
    """Convert sentences to a batch for next-word prediction."""
    return Batch.of(next_word_examples(sentences, tokenizer), pad=tokenizer.vocab.need("pad"))


def pair_batches(world: World, split: str, tokenizer: Tokenizer, batch: int, seed: int,
                 objective: Callable[..., AnyExample] = next_sentence,
                 draw_pairs: Callable[[World, str, int], Iterator[NextSentence]] = World.next_sentences,
                 **choices: Any) -> ExampleBatches:
    """Batches of sentence pairs from articles, half of them from two different articles (Devlin et al. 2019, §3.1).

    ``objective``, with its ``choices``, turns each pair into an Example; ``next_sentence`` masks words and labels
    whether B follows A. The tokenizer has one token per word (``build_world_tokenizer``). ``draw_pairs(world, split,
    seed)`` yields the pairs: single sentences by default, or segments with `segment_pairs`.
    """
    def draw(rng: Random) -> list[Any]:
        pairs = list(islice(draw_pairs(world, split, int(rng.random() * 2**53)), batch))
        firsts, seconds = (map(of_words, rows(tokenizer, side), side)
                           for side in ([pair.first for pair in pairs], [pair.second for pair in pairs]))
        return [objective(a, b, pair.is_next, vocab=tokenizer.vocab, rng=rng, **choices)
                for a, b, pair in zip(firsts, seconds, pairs, strict=True)]

    return ExampleBatches(draw, seed, tokenizer.vocab.need("pad"))


def mixed_batches(pairs: ExampleBatches, sentences: ExampleBatches) -> ExampleBatches:
    """Batches of sentence pairs from articles, followed by single sentences of the grammar.

    A single sentence has no next-sentence label; in a batch with labels, it gets IGNORE. The articles only state facts,
    so that some words, such as the bank of a river, occur in no article. Devlin et al. (2019) use pairs only.
    """
    def draw(rng: Random) -> list[Any]:
        one, other = (cast(Sequence[Example], source.draw(rng)) for source in (pairs, sentences))
        labels = dict.fromkeys(getattr(one[0], "labels", ()) if one else (), torch.tensor(IGNORE))
        return [*one, *(replace(example, labels=labels) for example in other)] if labels else [*one, *other]

    return ExampleBatches(draw, pairs.seed, pairs.pad)
