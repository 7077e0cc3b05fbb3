"""What a language model of the world writes, by every way of decoding: grammatical or not, how varied, how likely; and
what searching misses."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import inf
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from plmlab import checkpoints, world
from plmlab.decode import AutoregressiveModel, Hypothesis, beam_search, exact_search, sample
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.probability.likeliest import likeliest

LENGTH = 30
"""More words than any sentence of the world has."""
TEXTS = 200
ROUNDING = 1e-4
"""Log-probabilities that differ by less are taken for equal: single precision."""


@cache
def lstm() -> tuple[Any, Tokenizer]:
    """The bundled LSTM language model of the full world, and its tokenizer."""
    model, tokenizer = checkpoints.load("lstm-world")
    assert isinstance(tokenizer, Tokenizer)
    return model.eval(), tokenizer


def words_of(text: Hypothesis) -> tuple[str, ...]:
    """The words of what was written, without [END]."""
    vocab = world_tokenizer().vocab
    return tuple(world_tokenizer().tokens([token for token in text.tokens if token != vocab.end]))


def begun(words: Sequence[str], copies: int = 1) -> Int[Tensor, "copies time"]:
    """A prompt: [START] and some words, so many times."""
    return torch.tensor([[world_tokenizer().vocab.need("start"),
                          *world_tokenizer().encode(" ".join(words), plain=True)]] * copies)


@dataclass(frozen=True)
class Judged:
    """What some texts are worth: the share that is ``grammatical``, the share of ``different`` ones, the share that was
    ``read`` word for word, their mean number of ``words``, and minus the mean log-probability in nats that the world
    gives to the grammatical ones and that the ``model`` gave to all (the ``world``'s is infinite where none is)."""

    grammatical: float
    different: float
    read: float
    words: float
    world: float
    model: float


def judged(texts: Sequence[Hypothesis], read: Collection[tuple[str, ...]] = ()) -> Judged:
    """Texts that were written from nothing, held against the full world's grammar; ``read`` are sentences that the
    model has read."""
    written = [words_of(text) for text in texts]
    logprobs = [world.full().logprob(words) for words in written]
    possible = [logprob for logprob in logprobs if logprob > -inf]
    held = fmean(words in read for words in written)
    return Judged(len(possible) / len(texts), len(set(written)) / len(texts), held, fmean(map(len, written)),
                  -fmean(possible) if possible else inf, -fmean(text.logprob for text in texts))


def drawn(model: AutoregressiveModel, seed: int = 0, count: int = TEXTS, **how: Any) -> list[Hypothesis]:
    """So many texts from nothing, by sampling; ``how`` is a temperature, top_k or top_p."""
    return sample(model, begun((), count), world_tokenizer().vocab, length=LENGTH,
                  generator=torch.Generator().manual_seed(seed), **how)


def beginnings(words: int, count: int) -> list[tuple[str, ...]]:
    """The first words of sentences of the test, each beginning once."""
    said = (tuple(sentence[:words]) for sentence in world.full().text("test", seed=5) if len(sentence) > words)
    return list(islice(_once(said), count))


def _once(rows: Iterable[tuple[str, ...]]) -> Iterable[tuple[str, ...]]:
    seen = set()
    for row in rows:
        if row not in seen:
            seen.add(row)
            yield row


@dataclass(frozen=True)
class Search:
    """What one beginning led to: the model's likeliest end ``best`` and what beams of each width ``found``, the most
    prefixes that exact search held open at once, and the log-probability of the world's likeliest sentence."""

    beginning: tuple[str, ...]
    best: Hypothesis
    found: dict[int, Hypothesis]
    open: int
    likeliest: float

    def search_error(self, width: int) -> bool:
        """Whether the model knows a likelier text than the beam found."""
        return self.found[width].logprob < self.best.logprob - ROUNDING

    def model_error(self) -> bool:
        """Whether the world knows a likelier sentence than the model's likeliest."""
        return self.nats(self.best) < self.likeliest - ROUNDING

    def nats(self, text: Hypothesis) -> float:
        """The log-probability that the world gives to the whole sentence; −∞ outside its grammar."""
        return world.full().logprob((*self.beginning, *words_of(text)))


def search(beginning: tuple[str, ...], widths: Sequence[int], model: AutoregressiveModel | None = None) -> Search:
    """Search the ends of a beginning with beams and exactly."""
    model, prompt, vocab = model or lstm()[0], begun(beginning), world_tokenizer().vocab
    exact = exact_search(model, prompt, vocab, length=LENGTH)
    found = {width: beam_search(model, prompt, vocab, length=LENGTH, beam=width)[0][0] for width in widths}
    [(_, nats)] = likeliest(world.full().automaton(), beginning, 1)
    return Search(beginning, exact.best[0], found, max(exact.visited), nats)


def prefers_the_wrong(score: Callable[[Hypothesis], float], pairs: Sequence[tuple[Hypothesis, Hypothesis]]) -> float:
    """The share of pairs (right text, wrong text) in which the wrong one has the higher score."""
    return fmean(score(wrong) > score(right) for right, wrong in pairs)
