"""One word, one vector: where that of an ambiguous word lies between those that its senses would have, exactly."""

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
    """An ambiguous word's vector as a mixture of those of two of its senses.

    ``shares`` is how often the word means each; ``alike`` the cosine of its vector with each sense's; ``between`` the
    cosine of the two senses'; ``mixture`` that of its vector with the nearest sum of multiples of the two.
    """

    word: str
    senses: tuple[str, str]
    shares: tuple[float, float]
    alike: tuple[float, float]
    between: float
    mixture: float


@cache
def told_apart() -> tuple[tuple[str, ...], Counts]:
    """The words of the full world, each ambiguous one once a sense ("bank/bank.river"), and how often each stands near
    each, a sentence."""
    whole = world.full().automaton()
    ambiguous = world.full().lexicon.ambiguous

    def named(word: str, sense: str | None) -> str:
        return f"{word}{APART}{sense}" if word in ambiguous and sense else word

    arcs = [tuple(arc._replace(word=named(arc.word, arc.label.sense)) for arc in state) for state in whole.arcs]
    automaton = Automaton(whole.starts, arcs)
    words = tuple(automaton.vocabulary)
    return words, cooccurrence(automaton, words, shrinking(WINDOW))


def contexts_of(word: str) -> dict[str, Float[Tensor, "word"]]:
    """Sense → how often each word of the full world stands near the word in this sense, a sentence; in the order of
    ``pair_loss("full").words``."""
    words, counts = told_apart()
    plain = pair_loss("full").words
    row = {name: i for i, name in enumerate(plain)}
    fold = torch.tensor([row[name.split(APART)[0] if name not in row else name] for name in words])
    found = {}
    for i, name in enumerate(words):
        if name.startswith(f"{word}{APART}"):
            found[name.split(APART)[1]] = torch.zeros(len(plain), dtype=torch.float64).index_add_(
                0, fold, torch.from_numpy(counts[i]))
    return found


def best_vector(near: Float[Tensor, "word"], contexts: Float[Tensor, "word model"], loss: PairLoss,
                ) -> Float[Tensor, "model"]:
    """The vector of least loss for a word with these neighbours, those of the context words being given: what skip-gram
    would find for it. The loss is convex; a little weight decay (0.001) keeps the vector finite."""
    noise = loss.refused[0] / loss.joint.sum(1)[0]
    given = (near / near.sum()).float()
    vector = torch.zeros(contexts.shape[1], requires_grad=True)
    search = torch.optim.LBFGS([vector], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        search.zero_grad()
        scores = contexts @ vector
        found = (given * F.softplus(-scores)).sum() + (noise.float() * F.softplus(scores)).sum()
        whole = found + 1e-3 * vector.square().sum()
        whole.backward()
        return whole

    search.step(closure)
    return vector.detach()


def sense_vectors(word: str, contexts: Float[Tensor, "word model"]) -> dict[str, Float[Tensor, "model"]]:
    """The word → its own vector, and each of its two commonest senses, the commonest first → the vector that it would
    have; a ValueError for a word of one sense."""
    loss, found = pair_loss("full"), contexts_of(word)
    if len(found) < 2:
        raise ValueError(f"{word!r} has one sense in this world; ambiguous are, for example, bank, spring and crane")
    two = sorted(found, key=lambda sense: -found[sense].sum())[:2]
    near = {word: torch.stack(list(found.values())).sum(0)} | {sense: found[sense] for sense in two}
    return {name: best_vector(company, contexts, loss) for name, company in near.items()}


def mixture(vector: Float[Tensor, "model"], one: Float[Tensor, "model"], other: Float[Tensor, "model"]) -> float:
    """The cosine of a vector with the sum of multiples of two others that lies nearest to it."""
    both = torch.stack([one, other], dim=1)
    return _cosine(vector, both @ torch.linalg.lstsq(both, vector[:, None]).solution[:, 0])


def halves(word: str, contexts: Float[Tensor, "word model"], seed: int = 0) -> Senses:
    """As ``senses``, of a word of one sense, whose company is cut at random into two halves: each context word falls to
    one of them."""
    loss = pair_loss("full")
    near = loss.joint[loss.words.index(word)]
    first = torch.rand(len(near), generator=torch.Generator().manual_seed(seed)) < 0.5
    vector, one, other = (best_vector(part, contexts, loss) for part in (near, near * first, near * ~first))
    share = float((near * first).sum() / near.sum())
    return _told(word, ("one half", "the other"), (share, 1 - share), vector, one, other)


def senses(word: str, contexts: Float[Tensor, "word model"]) -> Senses:
    """A word beside its two commonest senses; a ValueError for a word of one sense."""
    vector, one, other = (found := sense_vectors(word, contexts)).values()
    company = contexts_of(word)
    whole = sum(float(near.sum()) for near in company.values())
    _, first, second = found
    shares = float(company[first].sum()) / whole, float(company[second].sum()) / whole
    return _told(word, (first, second), shares, vector, one, other)


def _told(word: str, parts: tuple[str, str], shares: tuple[float, float], vector: Tensor, one: Tensor, other: Tensor,
          ) -> Senses:
    return Senses(word, parts, shares, (_cosine(vector, one), _cosine(vector, other)), _cosine(one, other),
                  mixture(vector, one, other))


def _cosine(one: Tensor, other: Tensor) -> float:
    return F.cosine_similarity(one, other, dim=0).item()
