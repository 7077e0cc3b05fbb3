"""Masked words in unseen sentences: models pretrained on the training text of the full world, evaluated on its test
sentences.

In the full world's plain test split, only the sentences of *open* patterns occur in no training text
(`plmlab.world.grammar.splits.is_test`); these sentences are the test set. They state no facts, so the names in them are
random. All these names occur in the training text; unseen names and facts make up other splits, which are not used
here. The exact posterior knows the grammar, but not which of its sentences were held out.

Fixed before the runs: *the dependence holds in unseen sentences* if the loss of XLNet, and likewise that of MPNet, on
both words of a name, and on a noun and its verb, is lower than that of the best product, and fewer sampled pairs occur
in no sentence. For a single word, a difference of less than 0.05 nats is not interpreted, because each model was
pretrained only once.
"""

from typing import Any

from plmlab import world
from plmlab.chapters.ch11.arms import ARMS
from plmlab.chapters.ch11.masked_words import KINDS, Source, describe_test_set, distinct_sentences, masked_word_losses
from plmlab.recipes import Parts
from plmlab.world import World
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.grammar.sentence import Sentence
from studies.ch11.pretrained import PLANS, load_model


def held_out_sentences(whole: World) -> list[Sentence]:
    """The sentences of the plain test split that occur in no training text."""
    return [sentence for sentence in distinct_sentences(whole) if sentence.pattern in whole.open_patterns]


FULL = Source(world.full, world_tokenizer, held_out_sentences)


def evaluate(folder: str, model: str) -> dict[str, dict[str, float]]:
    """Losses of a pretrained model by kind (`plmlab.chapters.ch11.masked_words.masked_word_losses`), queried in the
    same way as the variant with its name."""
    return masked_word_losses(ARMS[model], load_model(folder, model), FULL)


def exact(kind: str) -> dict[str, float | int]:
    """The test set for a kind (`plmlab.chapters.ch11.masked_words.describe_test_set`)."""
    return describe_test_set(kind, FULL)


def measure(parts: Parts) -> dict[str, Any]:
    """``models``: model → kind → the output of `evaluate`; ``exact``: kind → the output of `exact`."""
    folder = str(parts.folder)
    by_model = parts(evaluate, [(folder, model) for model in PLANS])
    by_kind = parts(exact, [(kind,) for kind in KINDS])
    return {"models": {model: by_model[folder, model] for model in PLANS},
            "exact": {kind: by_kind[kind,] for kind in KINDS}}
