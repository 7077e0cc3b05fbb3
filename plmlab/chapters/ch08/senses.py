"""Contextual vectors of an ambiguous word: from a BERT, which conditions on both sides, and from a GPT, on the left
only."""

from collections.abc import Sequence
from random import Random

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch08.heads import read
from plmlab.models.bert import BERT
from plmlab.models.gpt import GPT
from plmlab.objectives import causal
from plmlab.senses import Vectors
from plmlab.transfer import batch_of
from plmlab.world.datasets.occurrences import Occurrence
from plmlab.world.datasets.tokenizer import ids, world_tokenizer


def of_bert(model: BERT) -> Vectors:
    """Final hidden states of a BERT at the word."""
    @torch.no_grad()
    def vectors(rows: Sequence[Occurrence]) -> Float[Tensor, "row model"]:
        hidden = model(read([(row.words, ()) for row in rows]))
        return hidden[torch.arange(len(rows)), torch.tensor([row.place + 1 for row in rows])]
    return vectors


def of_gpt(model: GPT) -> Vectors:
    """Final hidden states of a GPT at the word."""
    @torch.no_grad()
    def vectors(rows: Sequence[Occurrence]) -> Float[Tensor, "row model"]:
        hidden = model.hidden_states(batch_of(
            lambda row: causal(ids(row.words), vocab=world_tokenizer().vocab, rng=Random(0)), rows))
        return hidden[torch.arange(len(rows)), torch.tensor([row.place + 1 for row in rows])]
    return vectors
