"""The Bayes-optimal predictor of a world, as a reference for models: exact distributions over its tokenizer's ids."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.text.tokenizers import Tokenizer
from plmlab.world.probability.automaton import END
from plmlab.world.probability.under_masks import posterior_under_masks
from plmlab.world.world import World

Distribution: TypeAlias = Float[Tensor, "vocab"]
"""The probability of every token of the vocabulary at one position, in double precision."""


class BayesOptimalPredictor:
    """Bayes-optimal predictor: exact posteriors and next-word distributions over the ids of a tokenizer of ``size``
    tokens.

    Raises ValueError unless every word of the world is a single token, because otherwise a word's probability is not
    that of a token.
    """

    def __init__(self, world: World, split: str, tokenizer: Tokenizer, size: int) -> None:
        pieces = dict(zip(world.vocabulary, tokenizer.encode_all(world.vocabulary, plain=True), strict=True))
        split_up = [word for word, ids in pieces.items() if len(ids) != 1 or ids[0] == tokenizer.vocab.unk]
        if split_up:
            raise ValueError(f"the world's probabilities are those of whole words, but {len(split_up):,} of them, such "
                             f"as '{split_up[0]}', are not a single token: train the model with "
                             "build_world_tokenizer(world), or omit world=")
        self.world, self.split, self.tokenizer, self.size = world, split, tokenizer, size
        self.id = {word: ids[0] for word, ids in pieces.items()} | {END: tokenizer.vocab.need("end")}

    def expects(self, words: Sequence[str]) -> tuple[dict[int, float], str]:
        """Id → probability of each possible next token, most likely first, and ""; or an empty dict and a message that
        states where ``words`` leave the grammar."""
        explanation = self.world.explain(words, self.split)
        if explanation.prefix < len(words):
            return {}, explanation.message
        return {self.id[word]: p for word, p in explanation.expected.items()}, ""

    def both(self, words: Sequence[str], places: Sequence[int]) -> list[Distribution]:
        """The distribution of each masked word given all other words; ``places`` are indices of words, from 0. Raises
        NotInGrammar if no sentence contains the visible words."""
        return [self._belief(found) for found in self.world.posterior(words, places, self.split)]

    def left(self, words: Sequence[str]) -> Distribution | None:
        """The distribution of the next word after these words; None if no sentence begins with them."""
        found = self.world.next_words(words, self.split)
        return self._belief(found) if found else None

    def after(self, words: Sequence[str]) -> Distribution:
        """Like ``left``, but raises ValueError if no sentence begins with these words."""
        found = self.left(words)
        if found is None:
            raise ValueError(f"no sentence of the world begins with {' '.join(words)!r:.60}")
        return found

    def joint(self, words: Sequence[str], places: Sequence[int], pair: Sequence[int]) -> dict[tuple[int, int], float]:
        """The joint distribution of a ``pair`` of masked words given all visible words: (id, id) → probability."""
        one, other = (sorted(places).index(place) for place in pair)
        found: dict[tuple[int, int], float] = defaultdict(float)
        for filling, p in self.world.joint(words, places, self.split).items():
            found[self.id[filling[one]], self.id[filling[other]]] += p
        return dict(found)

    def under_masks(self, words: Sequence[str], position: int, source_length: int) -> dict[str, Distribution | None]:
        """The distribution of the word at index ``position`` under each of UniLM's masks, by name of the mask; the
        first ``source_length`` words are the source. None if no sentence has the visible words. See
        `plmlab.world.probability.under_masks`."""
        found = posterior_under_masks(self.world.automaton(self.split), words, position, source_length)
        return {name: None if belief is None else self._belief(belief) for name, belief in found.items()}

    def _belief(self, found: dict[str, float]) -> Distribution:
        belief = torch.zeros(self.size, dtype=torch.float64)
        for word, p in found.items():
            belief[self.id[word]] = p
        return belief
