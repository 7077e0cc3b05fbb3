"""KL divergence between a language model and the Bayes-optimal predictor of the Small World, by kind of word."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import islice
from statistics import mean

import torch
from torch import nn

from plmlab.world import World
from plmlab.world.datasets.batches import next_word_batch
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor
from plmlab.world.grammar.sentence import Sentence

SENTENCES = 1000
CATEGORIES = ("agreement", "facts", "senses", "names", "the rest")


@cache
def test_set(world: World) -> list[Sentence]:
    """Sentences of a world's plain test set."""
    return list(islice(world.sentences("test", seed=3), SENTENCES))


def unseen(world: World, sentences: Sequence[Sentence], drawn: int = 60_000) -> list[Sentence]:
    """The distinct sentences that do not occur in a sample of ``drawn`` sentences of the training text."""
    read = {tuple(words) for words in islice(world.text("train", seed=17), drawn)}
    return list({one.words: one for one in sentences if one.words not in read}.values())


def kinds(sentence: Sentence) -> list[str]:
    """The kind of each word and of the end of the sentence, by the knowledge needed to predict it.

    "agreement": a verb after its subject; "facts": any name after the first, in a sentence that states a fact;
    "senses": an ambiguous word and all words after it; "names": the first name; otherwise "the rest".
    """
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
def _next(best: BayesOptimalPredictor, words: tuple[str, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """The possible next tokens after these words, with their exact probabilities."""
    found = best.after(words)
    tokens = found.nonzero().flatten()
    return tokens, found[tokens]


def kl_by_category(
    model: nn.Module, best: BayesOptimalPredictor, sentences: Sequence[Sentence],
) -> dict[str, list[float]]:
    """KL divergence of the model's next-token distribution from the exact one, in nats: kind → one value per word.

    The sentences must be from the predictor's world. The mean over all words is the model's loss above the floor.
    """
    found = defaultdict(list)
    with torch.no_grad():
        beliefs = model(next_word_batch([one.words for one in sentences], best.tokenizer)).double().log_softmax(-1)
    for row, sentence in enumerate(sentences):
        for place, kind in enumerate(kinds(sentence)):
            tokens, p = _next(best, sentence.words[:place])
            found[kind].append(float((p * (p.log() - beliefs[row, place, tokens])).sum()))
    return dict(found)


def category_means(found: dict[str, list[float]]) -> dict[str, float]:
    """Kind → mean divergence of its words; "all" → the mean over all words."""
    return {kind: mean(found[kind])
            for kind in CATEGORIES} | {"all": mean(value for values in found.values() for value in values)}
