"""A softmax whose words are spelled: a character CNN makes the vector that a word is said by (Józefowicz et al. 2016,
"Exploring the limits of language modeling", §3.2).

The logits z go through exp and are divided by their sum, as in any softmax; what is new is where a word's vector comes
from. A full softmax has a row of its own for each word. Here no word has one, so that the number of weights does not
grow with the vocabulary; or a short one, the correction.
"""

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.layers.charcnn import CharCNN


class CNNSoftmax(nn.Module):
    """z_w = hᵀ CNN(characters of w).

    ``cnn`` shows vectors as long as h. The bias of its last layer adds the same to the logits of all words, and so
    changes no probability.
    """

    def __init__(self, cnn: CharCNN) -> None:
        super().__init__()
        self.cnn = cnn

    def forward(self, hidden: Float[Tensor, "*positions model"], codes: Int[Tensor, "vocab character"],
                ) -> Float[Tensor, "*positions vocab"]:
        """The logits of all words whose spellings are given, a row each."""
        return F.linear(hidden, self.vectors(codes))

    def vectors(self, codes: Int[Tensor, "vocab character"]) -> Float[Tensor, "vocab model"]:
        """What a hidden state is multiplied with, a row for each word."""
        return self.cnn(codes[None].long())[0]


class CorrectedCNNSoftmax(CNNSoftmax):
    """z_w = hᵀ CNN(characters of w) + hᵀ M corr_w: a few numbers of its own can tell a word from those that are spelled
    alike.

    ``corrections`` [vocab, correction] are the corr_w, all 0 at first, so that it begins as a `CNNSoftmax`; ``matrix``
    is M, [model, correction]. The paper takes 128 numbers a word. ValueError where the correction has none.
    """

    def __init__(self, cnn: CharCNN, vocab: int, correction: int) -> None:
        super().__init__(cnn)
        if correction < 1:
            raise ValueError(f"a correction of {correction} numbers was asked for; give at least 1, or take a "
                             "CNNSoftmax, which has none")
        self.corrections = nn.Parameter(cnn.projection.weight.new_zeros(vocab, correction))
        self.matrix = nn.Linear(correction, cnn.projection.out_features, bias=False)

    def vectors(self, codes: Int[Tensor, "vocab character"]) -> Float[Tensor, "vocab model"]:
        """What the CNN makes of each word, and its correction. ValueError for another number of words."""
        if len(codes) != len(self.corrections):
            raise ValueError(f"the spellings of {len(codes)} words were given, and there are corrections for "
                             f"{len(self.corrections)}")
        return super().vectors(codes) + self.matrix(self.corrections)
