"""Which cross-attention heads of a BART attend to the source token that is predicted next."""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.example import PairBatch
from plmlab.interpret import watch
from plmlab.models.bart import BART
from plmlab.objectives.denoising import restoration
from plmlab.text import Tokenizer


@torch.no_grad()
def copy_rates(model: BART, tokenizer: Tokenizer, sentences: Iterable[Sequence[str]],
               ) -> tuple[Float[Tensor, "layer head"], float]:
    """For each head, the fraction of tokens for which its largest cross-attention weight is on the source position of
    the token that is predicted next; and that of a random position.

    In the source, two tokens in the middle of each sentence are replaced by one [MASK]. Only the tokens after them
    count: their positions in source and decoder differ, so that a head cannot find them by position alone. Teacher
    forcing.
    """
    hits, chance, count = torch.zeros(()), 0.0, 0
    for words in sentences:
        tokens = tokenizer.encode(" ".join(words), plain=True)
        gap = len(tokens) // 2
        source = [*tokens[:gap], tokenizer.vocab.need("mask"), *tokens[gap + 2:]]
        copied = torch.arange(gap + 2, len(tokens))  # their source positions; they are predicted one position later
        with watch(model) as seen:
            model(PairBatch.of([restoration(source, tokens, tokenizer.vocab)], pad=tokenizer.vocab.need("pad")))
        weights = torch.stack([seen[f"decoder.layers.{layer}.cross_attention.weights"][0, :, copied + 1]
                               for layer in range(model.config.layers)])
        hits = hits + (weights.argmax(-1) == copied).sum(-1)
        chance, count = chance + len(copied) / weights.shape[-1], count + len(copied)
    return hits / count, chance / count
