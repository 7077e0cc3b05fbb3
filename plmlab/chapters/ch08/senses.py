"""Does the contextual vector of an ambiguous word reveal its sense?

The vectors come from a BERT, which conditions on both sides, and from a GPT, which conditions on the left context only.
Probes are trained on these vectors and compared with baselines.
"""

from collections.abc import Mapping, Sequence
from random import Random

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch08.heads import unmasked_batch
from plmlab.models.bert import BERT
from plmlab.models.gpt import GPT
from plmlab.objectives import causal
from plmlab.senses import (
    Vectors,
    among_own_senses,
    bag_of_words,
    error_by_pattern,
    most_frequent,
    probe,
    read_once,
)
from plmlab.transfer import batch_of
from plmlab.world.datasets.occurrences import Occurrence, occurrences, other_patterns, other_sentences
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

Accuracy = tuple[float, float]
"""Accuracy of a probe, and its standard error over templates."""


def of_bert(model: BERT) -> Vectors:
    """Final hidden states of a BERT at the ambiguous word."""
    @torch.no_grad()
    def vectors(rows: Sequence[Occurrence]) -> Float[Tensor, "row model"]:
        hidden = model(unmasked_batch([(row.words, ()) for row in rows]))
        return hidden[torch.arange(len(rows)), torch.tensor([row.place + 1 for row in rows])]
    return vectors


def of_gpt(model: GPT) -> Vectors:
    """Final hidden states of a GPT at the ambiguous word."""
    @torch.no_grad()
    def vectors(rows: Sequence[Occurrence]) -> Float[Tensor, "row model"]:
        hidden = model.hidden_states(batch_of(
            lambda row: causal(ids(row.words), vocab=world_tokenizer().vocab, rng=Random(0)), rows))
        return hidden[torch.arange(len(rows)), torch.tensor([row.place + 1 for row in rows])]
    return vectors


def probed_vectors(bert: BERT, gpt: GPT) -> dict[str, Vectors]:
    """The inputs of the probes: bags of words, and the vectors of an untrained BERT, of the GPT and of the BERT."""
    torch.manual_seed(0)
    every = [row for rows in occurrences().values() for row in rows]
    models = {"untrained BERT": of_bert(BERT(bert.config).eval()), "GPT": of_gpt(gpt), "BERT": of_bert(bert)}
    return {"bag of words": bag_of_words} | {name: read_once(vectors, every) for name, vectors in models.items()}


def by_side(models: Mapping[str, Vectors], known: Sequence[Occurrence], probed: Sequence[Occurrence],
            ) -> dict[str, dict[str, Accuracy]]:
    """Accuracy on ``probed`` for each model and for the most frequent sense, by the side of the cue, "left" or
    "right"."""
    guesses = {"most frequent sense": most_frequent(known, probed)} | {
        name: probe(vectors, known).predict(vectors(probed).numpy()) for name, vectors in models.items()}
    return {name: {side: accuracy([(guess == row.sense, row) for guess, row in zip(predicted, probed, strict=True)
                                   if row.side == side]) for side in ("left", "right")}
            for name, predicted in guesses.items()}


def on_training_templates(models: Mapping[str, Vectors]) -> dict[str, dict[str, Accuracy]]:
    """Accuracy on other sentences of the templates that the probe was trained on, by the side of the cue."""
    return by_side(models, *other_sentences())


def on_held_out_templates(models: Mapping[str, Vectors]) -> dict[str, Accuracy]:
    """Accuracy of each model and of the most frequent sense on held-out templates: their cues do not occur in the
    probe's training sentences."""
    hits: dict[str, list[tuple[bool, Occurrence]]] = {name: [] for name in ("most frequent sense", *models)}
    for known, probed in other_patterns():
        guesses = most_frequent(known, probed)
        hits["most frequent sense"] += [(guess == row.sense, row) for guess, row in zip(guesses, probed, strict=True)]
        for name, vectors in models.items():
            hits[name] += zip(among_own_senses(probe(vectors, known), vectors, probed)[0], probed, strict=True)
    return {name: accuracy(pairs) for name, pairs in hits.items()}


def accuracy(hits: Sequence[tuple[bool, Occurrence]]) -> Accuracy:
    """The fraction of correct predictions, and its standard error, with each template as a cluster."""
    correct, rows = zip(*hits, strict=True)
    return sum(correct) / len(correct), error_by_pattern(correct, rows)


def held_out_count() -> int:
    """The number of held-out templates."""
    return len({row.pattern for _, probed in other_patterns() for row in probed})


def encodes_cue(by_model: Mapping[str, Mapping[str, Accuracy]]) -> bool:
    """The rule for the cue: with the cue to the right, BERT's probe is above those of the untrained BERT and of the GPT
    by more than two standard errors."""
    return all(by_model["BERT"]["right"][0] > mean + 2 * error
               for mean, error in (by_model[name]["right"] for name in ("untrained BERT", "GPT")))


def above_most_frequent_sense(by_model: Mapping[str, Accuracy]) -> list[str]:
    """The models whose accuracy is above that of the most frequent sense by more than their own standard error."""
    baseline, _ = by_model["most frequent sense"]
    return [name for name, (mean, error) in by_model.items() if mean > baseline + error]
