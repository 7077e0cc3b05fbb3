"""The vector of an ambiguous word as a mixture of its senses' vectors, computed exactly."""

from functools import cache
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from plmlab import world
from plmlab.chapters.ch02.factorisation import WINDOW, PairLoss, pair_loss
from plmlab.world.probability.automaton import Automaton
from plmlab.world.probability.cooccurrence import Counts, cooccurrence, shrinking

APART = "/"


class Senses(NamedTuple):
    """Comparison of an ambiguous word's vector with the vectors of two of its senses.

    ``shares`` are the relative frequencies of the senses; ``alike`` are the cosines of the word's vector with each
    sense vector; ``between`` is the cosine of the two sense vectors; and ``mixture`` is the cosine of the word's vector
    with its projection onto the span of the two sense vectors.
    """

    word: str
    senses: tuple[str, str]
    shares: tuple[float, float]
    alike: tuple[float, float]
    between: float
    mixture: float


@cache
def told_apart() -> tuple[tuple[str, ...], Counts]:
    """The vocabulary of the full world with one entry per sense of an ambiguous word ("bank/bank.river"), and the
    expected number of co-occurrences per sentence for each pair of entries."""
    whole = world.full().automaton()
    ambiguous = world.full().lexicon.ambiguous

    def named(word: str, sense: str | None) -> str:
        return f"{word}{APART}{sense}" if word in ambiguous and sense else word

    arcs = [tuple(arc._replace(word=named(arc.word, arc.label.sense)) for arc in state) for state in whole.arcs]
    automaton = Automaton(whole.starts, arcs)
    words = tuple(automaton.vocabulary)
    return words, cooccurrence(automaton, words, shrinking(WINDOW))


def contexts_of(word: str) -> dict[str, Float[Tensor, "word"]]:
    """Map each sense of a word to its expected number of co-occurrences per sentence with each word of the full world,
    in the order of ``pair_loss("full").words``."""
    words, counts = told_apart()
    plain = pair_loss("full").words
    row = {name: i for i, name in enumerate(plain)}
    fold = torch.tensor([row[name.split(APART)[0] if name not in row else name] for name in words])
    counts_of = {}
    for i, name in enumerate(words):
        if name.startswith(f"{word}{APART}"):
            counts_of[name.split(APART)[1]] = torch.zeros(len(plain), dtype=torch.float64).index_add_(
                0, fold, torch.from_numpy(counts[i]))
    return counts_of


def best_vector(near: Float[Tensor, "word"], contexts: Float[Tensor, "word model"], loss: PairLoss,
                ) -> Float[Tensor, "model"]:
    """The skip-gram vector that minimises the loss for a word with the context counts ``near``, for fixed context
    vectors.

    The loss is convex; a little weight decay (0.001) keeps the vector finite.
    """
    noise = loss.negative[0] / loss.joint.sum(1)[0]
    given = (near / near.sum()).float()
    vector = torch.zeros(contexts.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS([vector], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        scores = contexts @ vector
        data_loss = (given * F.softplus(-scores)).sum() + (noise.float() * F.softplus(scores)).sum()
        total = data_loss + 1e-3 * vector.square().sum()
        total.backward()
        return total

    optimizer.step(closure)
    return vector.detach()


def sense_vectors(word: str, contexts: Float[Tensor, "word model"]) -> dict[str, Float[Tensor, "model"]]:
    """Optimal vectors of a word and of its two most frequent senses, the more frequent sense first.

    Raises ValueError if the word has only one sense.
    """
    loss, counts = pair_loss("full"), contexts_of(word)
    if len(counts) < 2:
        raise ValueError(f"{word!r} has only one sense in this world; ambiguous are, e.g., bank, spring and crane")
    top = sorted(counts, key=lambda sense: -counts[sense].sum())[:2]
    near = {word: torch.stack(list(counts.values())).sum(0)} | {sense: counts[sense] for sense in top}
    return {name: best_vector(row, contexts, loss) for name, row in near.items()}


def mixture(vector: Float[Tensor, "model"], one: Float[Tensor, "model"], other: Float[Tensor, "model"]) -> float:
    """Cosine of a vector with its projection onto the span of two others."""
    both = torch.stack([one, other], dim=1)
    return _cosine(vector, both @ torch.linalg.lstsq(both, vector[:, None]).solution[:, 0])


def halves(word: str, contexts: Float[Tensor, "word model"], seed: int = 0) -> Senses:
    """Control for ``senses``: an unambiguous word whose context words are split at random into two halves."""
    loss = pair_loss("full")
    near = loss.joint[loss.words.index(word)]
    first = torch.rand(len(near), generator=torch.Generator().manual_seed(seed)) < 0.5
    vector, one, other = (best_vector(part, contexts, loss) for part in (near, near * first, near * ~first))
    share = float((near * first).sum() / near.sum())
    return _compare(word, ("random half", "other half"), (share, 1 - share), vector, one, other)


def senses(word: str, contexts: Float[Tensor, "word model"]) -> Senses:
    """Compare a word's vector with the vectors of its two most frequent senses. Raises ValueError if the word has only
    one sense."""
    vector, one, other = (vectors := sense_vectors(word, contexts)).values()
    counts = contexts_of(word)
    total = sum(float(near.sum()) for near in counts.values())
    _, first, second = vectors
    shares = float(counts[first].sum()) / total, float(counts[second].sum()) / total
    return _compare(word, (first, second), shares, vector, one, other)


def _compare(word: str, parts: tuple[str, str], shares: tuple[float, float], vector: Tensor, one: Tensor,
             other: Tensor) -> Senses:
    return Senses(word, parts, shares, (_cosine(vector, one), _cosine(vector, other)), _cosine(one, other),
                  mixture(vector, one, other))


def _cosine(one: Tensor, other: Tensor) -> float:
    return F.cosine_similarity(one, other, dim=0).item()
