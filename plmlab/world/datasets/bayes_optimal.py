"""The best possible reader of a world, beside a model: exact distributions over the ids of its tokenizer."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.text.tokenizers import Tokenizer
from plmlab.world.probability.automaton import END
from plmlab.world.probability.under_masks import under_masks
from plmlab.world.world import World

Distribution: TypeAlias = Float[Tensor, "vocab"]
"""The probability of every token of the vocabulary at one position, in double precision."""


class BayesOptimalPredictor:
    """Who knows the grammar: exact posteriors and next words, on the ids of a tokenizer of ``size`` tokens.

    ValueError: a word of the world is not one token, so that its chance is not that of a token.
    """

    def __init__(self, world: World, split: str, tokenizer: Tokenizer, size: int) -> None:
        pieces = dict(zip(world.vocabulary, tokenizer.encode_all(world.vocabulary, plain=True), strict=True))
        apart = [word for word, ids in pieces.items() if len(ids) != 1 or ids[0] == tokenizer.vocab.unk]
        if apart:
            raise ValueError(f"the world's probabilities are those of whole words, and {len(apart):,} of them, such as "
                             f"'{apart[0]}', are not one token here: train the model with world_tokenizer(world), "
                             "or give no world=")
        self.world, self.split, self.tokenizer, self.size = world, split, tokenizer, size
        self.id = {word: ids[0] for word, ids in pieces.items()} | {END: tokenizer.vocab.need("end")}

    def expects(self, words: Sequence[str]) -> tuple[dict[int, float], str]:
        """Id → probability of each token that can come next, the likeliest first, and ""; or nothing, and where
        ``words`` leave the grammar."""
        told = self.world.explain(words, self.split)
        if told.prefix < len(words):
            return {}, told.message
        return {self.id[word]: p for word, p in told.expected.items()}, ""

    def both(self, words: Sequence[str], places: Sequence[int]) -> list[Distribution]:
        """The distribution of each hidden word, given all others; NotInGrammar where these fit no sentence. Places
        count from the first word = 0."""
        return [self._belief(found) for found in self.world.posterior(words, places, self.split)]

    def left(self, words: Sequence[str]) -> Distribution | None:
        """The distribution of the word that comes after these; None where no sentence begins so."""
        found = self.world.next_words(words, self.split)
        return self._belief(found) if found else None

    def after(self, words: Sequence[str]) -> Distribution:
        """As ``left``, of words that do begin a sentence; a ValueError where they do not."""
        found = self.left(words)
        if found is None:
            raise ValueError(f"no sentence of the world begins with {' '.join(words)!r:.60}")
        return found

    def joint(self, words: Sequence[str], places: Sequence[int], pair: Sequence[int]) -> dict[tuple[int, int], float]:
        """The joint distribution of a ``pair`` of hidden words, given all words in sight: (id, id) → probability."""
        one, other = (sorted(places).index(place) for place in pair)
        found: dict[tuple[int, int], float] = defaultdict(float)
        for said, p in self.world.joint(words, places, self.split).items():
            found[self.id[said[one]], self.id[said[other]]] += p
        return dict(found)

    def under_masks(self, words: Sequence[str], gap: int, cut: int) -> dict[str, Distribution | None]:
        """The name of each of UniLM's masks → the distribution of the word ``gap`` under it, the first ``cut`` words
        being the source; None where no sentence has what is in sight. See `plmlab.world.probability.under_masks`."""
        found = under_masks(self.world.automaton(self.split), words, gap, cut)
        return {name: None if belief is None else self._belief(belief) for name, belief in found.items()}

    def _belief(self, found: dict[str, float]) -> Distribution:
        belief = torch.zeros(self.size, dtype=torch.float64)
        for word, p in found.items():
            belief[self.id[word]] = p
        return belief
