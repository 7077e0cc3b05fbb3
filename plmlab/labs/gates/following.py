"""Which word comes next, before and after units are held: those that move most, and the groups that matter."""

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
"""So many words get a bar each."""


class Following:
    """Describes next words for a world: `groups` has the verbs of either number and the control words, which show no
    number, as masks over the vocabulary. Nouns and their like are in none of them."""

    def __init__(self, best: BayesOptimalPredictor, tokenizer: Tokenizer) -> None:
        shows = number_words(best.world)
        one, many, others = (self._mask([best.id[word] for word in words], best.size) for words in shows)
        self.groups = {"singular": one, "plural": many, "control": ~(one | many | others)}
        self._masks = torch.stack(list(self.groups.values()), 1).double()
        self._names = labels(tokenizer, range(best.size))
        self._expects = lru_cache(512)(lambda words: best.expects(words)[0])

    def describe(self, before: Float[Tensor, "time vocab"], after: Float[Tensor, "time vocab"],
                 words: Sequence[str]) -> list[Next]:
        """For each step: ``rows``, a word each as [word, before, after, in the world]; ``groups``, the mass of each as
        [before, after, in the world]; ``moved``, the total variation among the verbs and among the control words. The
        world's share is None where the text has left its grammar."""
        was, now = before.double().softmax(-1), after.double().softmax(-1)
        apart = (now - was).abs()
        shown = torch.where(apart.amax(-1, keepdim=True) > 1e-6, apart, was).topk(min(SHOWN, was.shape[-1])).indices
        shown = shown.gather(-1, was.gather(-1, shown).argsort(dim=-1, descending=True, stable=True))
        rows = zip(shown.tolist(), was.gather(-1, shown).tolist(), now.gather(-1, shown).tolist(), strict=True)
        sums = torch.stack([was @ self._masks, now @ self._masks, apart @ self._masks / 2], -1).tolist()
        return [self._step(row, of_groups, self._expects(tuple(words[:step])))
                for step, (row, of_groups) in enumerate(zip(rows, sums, strict=True))]

    def verbs(self, logits: Float[Tensor, "vocab"], number: str) -> float:
        """The share that the verbs of a ``number``, "singular" or "plural", have of the mass on all verbs."""
        chances = logits.double().softmax(-1)
        one, other = (float(chances[self.groups[name]].sum()) for name in ("singular", "plural"))
        return (one if number == "singular" else other) / (one + other)

    def _step(self, row: tuple[list[int], list[float], list[float]], sums: Sequence[Sequence[float]],
              expected: Mapping[int, float]) -> Next:
        def shares(before: float, after: float, world: float) -> list[float | None]:
            return [before, after, round(world, 9) if expected else None]

        masses = {name: sum((p for id, p in expected.items() if mask[id]), 0.0) for name, mask in self.groups.items()}
        moved = {name: apart for name, (_, _, apart) in zip(self.groups, sums, strict=True)}
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
