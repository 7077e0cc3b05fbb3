"""CNN softmax: a character CNN computes the output embedding of each word (Józefowicz et al. 2016, "Exploring the
limits of language modeling", §3.2).

A full softmax has an output embedding (a row of the matrix) for each word. Here the embedding is computed from the
word's spelling, so that the number of parameters does not grow with the vocabulary; optionally each word has a short
correction vector.
"""

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.layers.charcnn import CharCNN


class CNNSoftmax(nn.Module):
    """Softmax layer with logits z_w = hᵀ CNN(characters of w).

    The output of ``cnn`` has the same size as h. The bias of its last layer adds the same amount to all logits, so it
    does not affect the probabilities.
    """

    def __init__(self, cnn: CharCNN) -> None:
        super().__init__()
        self.cnn = cnn

    def forward(self, hidden: Float[Tensor, "*batch model"], codes: Int[Tensor, "vocab character"],
                ) -> Float[Tensor, "*batch vocab"]:
        """Logits of all words; ``codes`` has one row of character codes per word."""
        return F.linear(hidden, self.vectors(codes))

    def vectors(self, codes: Int[Tensor, "vocab character"]) -> Float[Tensor, "vocab model"]:
        """Output embeddings of all words, one row per word."""
        return self.cnn(codes[None].long())[0]


class CorrectedCNNSoftmax(CNNSoftmax):
    """z_w = hᵀ CNN(characters of w) + hᵀ M corr_w: a learned correction separates words with similar spellings.

    ``corrections`` [vocab, correction] holds the corr_w, initialized to 0 so that training starts from a plain
    `CNNSoftmax`; ``matrix`` is M, [model, correction]. The paper uses 128-dimensional corrections. Raises ValueError
    if ``correction`` is below 1.
    """

    def __init__(self, cnn: CharCNN, vocab: int, correction: int) -> None:
        super().__init__(cnn)
        if correction < 1:
            raise ValueError(f"correction={correction}: give a size of at least 1, or use a CNNSoftmax, which has "
                             "no correction")
        self.corrections = nn.Parameter(cnn.projection.weight.new_zeros(vocab, correction))
        self.matrix = nn.Linear(correction, cnn.projection.out_features, bias=False)

    def vectors(self, codes: Int[Tensor, "vocab character"]) -> Float[Tensor, "vocab model"]:
        """Corrected output embeddings. Raises ValueError unless ``codes`` has one row per correction vector."""
        if len(codes) != len(self.corrections):
            raise ValueError(f"codes has {len(codes)} words, but there are corrections for "
                             f"{len(self.corrections)}")
        return super().vectors(codes) + self.matrix(self.corrections)
