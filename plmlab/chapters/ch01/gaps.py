"""Where a language model of the Small World falls short of the best possible reader: KL divergences, word by word."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import islice
from statistics import mean

import torch
from torch import nn

from plmlab.text import Tokenizer
from plmlab.world import World
from plmlab.world.datasets.batches import next_word_batch
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.probability.automaton import END

SENTENCES = 1000
KINDS = ("agreement", "facts", "senses", "names", "the rest")


@cache
def exam(world: World) -> list[Sentence]:
    """Sentences of a world's plain test."""
    return list(islice(world.sentences("test", seed=3), SENTENCES))


def kinds(sentence: Sentence) -> list[str]:
    """What a reader must know to say each of the words, and the end: the number of the subject, where the word is its
    verb; a fact, where it is in a second name; which sense an ambiguous word has, from that word on; who there is,
    where it is in a first name; or the rest."""
    found = ["the rest"] * (len(sentence.words) + 1)
    for start, end, _ in sentence.mentions[:1]:
        found[start:end] = ["names"] * (end - start)
    ambiguous = [place for place, sense in enumerate(sentence.senses) if sense]
    if ambiguous:
        found[ambiguous[0]:] = ["senses"] * len(found[ambiguous[0]:])
    for start, end, _ in sentence.mentions[1:] if sentence.facts else ():
        found[start:end] = ["facts"] * (end - start)
    for link in sentence.agreement:
        if link.subject < link.verb:
            found[link.verb] = "agreement"
    return found


@cache
def _best(world: World, tokenizer: Tokenizer, words: tuple[str, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """Which tokens may come at a place of a sentence, and how likely each is, exactly."""
    told = world.next_words(words, "test")
    tokens = [tokenizer.vocab.need("end") if word is END else tokenizer.id(str(word)) for word in told]
    return torch.tensor(tokens), torch.tensor(list(told.values()), dtype=torch.float64)


def gaps(model: nn.Module, tokenizer: Tokenizer, world: World, sentences: Sequence[Sentence]) -> dict[str, list[float]]:
    """Kind → of each of its words in a world's sentences the divergence of the model's belief from the exact one, in
    nats. Over all words, its mean is what the model's loss lies above the floor."""
    found = defaultdict(list)
    with torch.no_grad():
        beliefs = model(next_word_batch([one.words for one in sentences], tokenizer)).double().log_softmax(-1)
    for row, sentence in enumerate(sentences):
        for place, kind in enumerate(kinds(sentence)):
            tokens, p = _best(world, tokenizer, sentence.words[:place])
            found[kind].append(float((p * (p.log() - beliefs[row, place, tokens])).sum()))
    return dict(found)


def means(found: dict[str, list[float]]) -> dict[str, float]:
    """Kind → its mean; and "all"."""
    return {kind: mean(found[kind]) for kind in KINDS} | {"all": mean(gap for gaps in found.values() for gap in gaps)}
