"""Next-word distributions before and after clamping units: the words that change most, and groups of words."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from plmlab.labs.gates.state import Next
from plmlab.labs.shared.tokens import labels
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor
from plmlab.world.datasets.numbers import number_words

SHOWN = 7
"""Number of words shown as bars."""


class NextWords:
    """Summarizes next-word distributions for a world.

    ``groups`` holds masks over the vocabulary: singular verbs, plural verbs, and control words without grammatical
    number. Nouns have grammatical number but belong to no group.
    """

    def __init__(self, best: BayesOptimalPredictor, tokenizer: Tokenizer) -> None:
        lists = number_words(best.world)
        singular, plural, others = (self._mask([best.id[word] for word in words], best.size) for words in lists)
        self.groups = {"singular": singular, "plural": plural, "control": ~(singular | plural | others)}
        self._masks = torch.stack(list(self.groups.values()), 1).double()
        self._names = labels(tokenizer, range(best.size))
        self._expects = lru_cache(512)(lambda words: best.expects(words)[0])

    def describe(self, before: Float[Tensor, "time vocab"], after: Float[Tensor, "time vocab"],
                 words: Sequence[str]) -> list[Next]:
        """Compare the next-word distributions at each position.

        ``rows`` lists words with their probabilities as [word, before, after, true probability]; ``groups`` the
        probability mass of each group as [before, after, true mass]; and ``moved`` the total variation distance between
        before and after, within the verbs and within the control words. The true probability is None once the prefix is
        ungrammatical.
        """
        was, now = before.double().softmax(-1), after.double().softmax(-1)
        change = (now - was).abs()
        ranked_by = torch.where(change.amax(-1, keepdim=True) > 1e-6, change, was)
        ids = ranked_by.topk(min(SHOWN, was.shape[-1])).indices
        ids = ids.gather(-1, was.gather(-1, ids).argsort(dim=-1, descending=True, stable=True))
        rows = zip(ids.tolist(), was.gather(-1, ids).tolist(), now.gather(-1, ids).tolist(), strict=True)
        sums = torch.stack([was @ self._masks, now @ self._masks, change @ self._masks / 2], -1).tolist()
        return [self._step(row, of_groups, self._expects(tuple(words[:step])))
                for step, (row, of_groups) in enumerate(zip(rows, sums, strict=True))]

    def verbs(self, logits: Float[Tensor, "vocab"], number: str) -> float:
        """The fraction of the verbs' probability mass that is on verbs of ``number``, "singular" or "plural"."""
        probs = logits.double().softmax(-1)
        singular, plural = (float(probs[self.groups[name]].sum()) for name in ("singular", "plural"))
        return (singular if number == "singular" else plural) / (singular + plural)

    def _step(self, row: tuple[list[int], list[float], list[float]], sums: Sequence[Sequence[float]],
              expected: Mapping[int, float]) -> Next:
        def shares(before: float, after: float, world: float) -> list[float | None]:
            return [before, after, round(world, 9) if expected else None]

        masses = {name: sum((p for id, p in expected.items() if mask[id]), 0.0) for name, mask in self.groups.items()}
        moved = {name: change for name, (_, _, change) in zip(self.groups, sums, strict=True)}
        return {
            "rows": [[self._names[id], *shares(was, now, expected.get(id, 0.0))]
                     for id, was, now in zip(*row, strict=True)],
            "groups": {name: shares(was, now, masses[name])
                       for name, (was, now, _) in zip(self.groups, sums, strict=True)},
            "moved": {"verbs": moved["singular"] + moved["plural"], "control": moved["control"]},
        }

    @staticmethod
    def _mask(ids: Sequence[int], size: int) -> Bool[Tensor, "vocab"]:
        mask = torch.zeros(size, dtype=torch.bool)
        mask[list(ids)] = True
        return mask
