"""Which cross-attention heads of a BART find the token that is generated next."""

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
    """For each head, the fraction of copied tokens for which its largest cross-attention weight is on the source
    position of the token that is generated next; and that of a random position.

    The middle token of each sentence is [MASK] in the source; the other tokens are copied. The token at position i of
    the source is generated at position i of the decoder, where the decoder's input is the token before it.
    """
    hits, chance, count = torch.zeros(()), 0.0, 0
    for words in sentences:
        tokens = tokenizer.encode(" ".join(words), plain=True)
        gap = len(tokens) // 2
        source = [*tokens[:gap], tokenizer.vocab.need("mask"), *tokens[gap + 1:]]
        copied = torch.tensor([i + 1 for i in range(len(tokens)) if i != gap])  # position 0 is [START], or [END]
        with watch(model) as seen:
            model(PairBatch.of([restoration(source, tokens, tokenizer.vocab)], pad=tokenizer.vocab.need("pad")))
        weights = torch.stack([seen[f"decoder.layers.{layer}.cross_attention.weights"][0, :, copied]
                               for layer in range(model.config.layers)])
        hits = hits + (weights.argmax(-1) == copied).sum(-1)
        chance, count = chance + len(copied) / weights.shape[-1], count + len(copied)
    return hits / count, chance / count
