"""The exercise of chapter 00: the causal attention mask."""

import torch
from jaxtyping import Bool
from torch import Generator, Tensor

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def causal_mask(length: int) -> Bool[Tensor, "query key"]:
    """The attention mask of a causal language model for a text of ``length`` tokens.

    Row q, column k is True if position q can attend to position k, and False otherwise. In a causal model
    each position attends to itself and to all positions before it.
    """
    return torch.ones(length, length, dtype=torch.bool).tril()


def draw_lengths(_: Generator) -> Probes:
    """Inputs for 00.1: name → (length,)."""
    return {"three tokens": (3,), "a single token": (1,), "eight tokens": (8,)}


EXERCISES = (
    Exercise(
        "00.1", "the causal mask", causal_mask, draw_lengths,
        mistakes={
            "the mask is transposed: each position attends to itself and to later positions":
                edit(".tril()", ".triu()"),
            "True and False are swapped: here True means that a position can attend to another":
                edit(".tril()", ".triu(1)"),
            "a position cannot attend to itself; the first position then has nothing to attend to":
                edit(".tril()", ".tril(-1)"),
            "target leakage: each position also attends to the next one, which is the token to predict":
                edit(".tril()", ".tril(1)"),
            "every position attends to every other, as in BERT": edit(".tril()", ""),
            "each position attends to itself only": edit("torch.ones(length, length, dtype=torch.bool).tril()",
                                                         "torch.eye(length, dtype=torch.bool)"),
        },
        properties={
            "row q should allow q + 1 keys: those before q, and q itself":
                lambda out, length: torch.equal(out.sum(1), torch.arange(1, length + 1)),
        },
        hints=(
            "Write the mask for three tokens by hand, one row per query. How many entries of each row are True?",
            "Entry (q, k) is True if k ≤ q. These are the entries on and below the diagonal.",
            "torch.ones(…, dtype=torch.bool) and .tril(); or compare two torch.arange, one of them as a column.",
        ),
    ),
)
