"""How often a masking objective masks an entity of several words as a whole."""

from collections.abc import Callable
from itertools import islice
from random import Random

from plmlab import world
from plmlab.example import IGNORE, Example
from plmlab.world.datasets.texts import sentence_texts
from plmlab.world.datasets.tokenizer import small_world_tokenizer


def wholly_masked(objective: Callable[..., Example], sentences: int = 1000) -> float:
    """Of the entities of several words with a selected word, the proportion whose words are all selected."""
    drawn, tokenizer, touched, whole = world.small().sentences("train", seed=5), small_world_tokenizer(), 0, 0
    for seed, text in enumerate(sentence_texts(list(islice(drawn, sentences)), tokenizer)):
        selected = objective(text, vocab=tokenizer.vocab, rng=Random(seed)).targets != IGNORE
        parts = [selected[1 + start:1 + end] for start, end in text.entities or () if end - start > 1]
        touched += sum(bool(part.any()) for part in parts)
        whole += sum(bool(part.all()) for part in parts)
    return whole / touched
