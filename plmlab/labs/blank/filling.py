"""Blanks filled one after the other: what a GLM, and who knows the grammar, believe comes next at each step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import log
from typing import TypeAlias

import torch
from torch import nn

from plmlab.interpret.readable import OurModel, inference, readable
from plmlab.labs.shared.tokens import checked_vocabulary
from plmlab.models.architectures import InfillingDecoder
from plmlab.models.registry import architecture_of
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.datasets.bayes_optimal import Distribution
from plmlab.world.probability.automaton import END, Automaton
from plmlab.world.probability.blanks import Blanks
from plmlab.world.probability.infilling import Belief
from plmlab.world.probability.posterior import NotInGrammar

MOST = 16
"""Words of a blank, at most: who has not said [END] by then is stopped."""

Words: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Stand:
    """How far a filling has come: the ``finished`` blanks, number → words; the ``blank`` in hand, None where all are
    filled, and what is ``written`` in it."""

    finished: dict[int, Words]
    blank: int | None
    written: Words


def stand_of(path: Sequence[str], order: Sequence[int]) -> Stand:
    """Where one stands who has said ``path``, an END behind each blank, the blanks in that order."""
    finished, left = dict[int, Words](), list(path)
    for blank in order:
        words = tuple(takewhile(lambda word: word != END, left))
        if len(words) == len(left):
            return Stand(finished, blank, words)
        finished[blank] = words
        left = left[len(words) + 1:]
    return Stand(finished, None, ())


@dataclass(frozen=True)
class ExactFilling:
    """The exact posterior of what comes next in the blanks of a ``text``, one BLANK each, given nothing but the text
    and what is filled in."""

    automaton: Automaton
    text: Sequence[str]

    def belief(self, stand: Stand) -> tuple[Belief, str]:
        """Word or END → probability, the likeliest first, and ""; or nothing, and why."""
        assert stand.blank is not None
        if not all(stand.finished.values()):
            return {}, "A blank was left empty. In the Small World a blank is one word or more."
        try:
            blanks = Blanks(self.automaton, self.text, dict(stand.finished))
        except NotInGrammar:
            return {}, f"No sentence of the Small World {'goes on like this' if stand.finished else 'has these words'}."
        try:
            return blanks.next_words(stand.blank, stand.written), ""
        except NotInGrammar:
            return {}, f"No sentence of the Small World has a blank here that begins with “{' '.join(stand.written)}”."

    def lengths(self, stand: Stand) -> dict[int, float]:
        """Number of words → the probability that the blank in hand has so many; {} where no sentence fits."""
        try:
            assert stand.blank is not None
            return Blanks(self.automaton, self.text, dict(stand.finished)).lengths(stand.blank)
        except ValueError:
            return {}

    def surprisal(self, fillings: dict[int, Words]) -> float | None:
        """−log p of what fills all blanks, in nats; None where no sentence comes of it."""
        try:
            p = Blanks(self.automaton, self.text).posterior(fillings)
        except ValueError:
            return None
        return -log(p) if p else None


class ModelFilling:
    """A GLM that fills the blanks of one text, token by token: its belief, then what is said, by it or not."""

    def __init__(self, filler: InfillingDecoder) -> None:
        self.filler, self.vocab = filler, filler.vocab
        with inference(filler.model):
            self.state = filler.start()
        self.read = filler.prompt

    def belief(self) -> Distribution:
        """The probability of each token to come next, [END] among them, as the network gives it."""
        with inference(self.filler.model):
            return named(self.filler.step(self.read, self.state), self.vocab)[0].cpu()

    def say(self, id: int) -> None:
        """What comes next; behind an [END], the next blank begins."""
        begun = self.vocab.need("start") if id == self.vocab.need("end") else id
        self.read = torch.full_like(self.filler.prompt, begun)


def named(logits: torch.Tensor, vocab: Vocabulary) -> torch.Tensor:
    """What a filler's step comes to as probabilities [row vocab]: an [END] is one, whether a blank follows or not."""
    chances = logits.double().softmax(-1)
    start, end = vocab.need("start"), vocab.need("end")
    chances[:, end] = chances[:, end] + chances[:, start]
    chances[:, start] = chances[:, -1]
    return chances[:, :-1]


def drawn_lengths(filler: InfillingDecoder, before: Sequence[int], draws: int, seed: int = 0) -> dict[int, int]:
    """How many of so many fillings of a blank, drawn from the model, have how many words: number of words → how often.

    ``before`` is what the filler has read: [START] and the words of each blank before, and [START] of this one. What
    has no [END] after as many words as a blank may have counts as one of so many.
    """
    generator = torch.Generator().manual_seed(seed)
    start, end, pad = (filler.vocab.need(name) for name in ("start", "end", "pad"))
    device, most, found = filler.prompt.device, longest(filler), dict[int, int]()
    with inference(filler.model):
        state = filler.start()
        chances = named(filler.step(torch.tensor([before], device=device), state), filler.vocab).expand(draws, -1)
        state.select(torch.zeros(draws, dtype=torch.long, device=device))
        for length in range(most):
            said = torch.multinomial(chances.cpu(), 1, generator=generator)[:, 0]
            going = (said != end).nonzero()[:, 0]
            found[length] = len(said) - len(going)
            if not len(going) or length + 1 == most:
                found[length + 1] = len(going)
                break
            state.select(going.to(device))
            words = said[going].where(said[going] != start, pad)
            chances = named(filler.step(words[:, None].to(device), state), filler.vocab)
    return {length: count for length, count in found.items() if count}


def longest(filler: InfillingDecoder) -> int:
    """How many words of a blank are written, at most: as many as are drawn and as the model has positions."""
    return min(MOST, filler.model.config.time - 1)


def likeliest_word(belief: Distribution, vocab: Vocabulary) -> int:
    """The likeliest token that may be written: a word, or [END]."""
    allowed = belief.clone()
    allowed[[id for id in vocab.special if id != vocab.end]] = -1
    return int(allowed.argmax())


def check_fills(model: nn.Module, tokenizer: Tokenizer) -> int:
    """How many tokens the model chooses among; a ValueError where it fills no blanks of unknown length, or where the
    tokenizer is another's."""
    reads = readable(model)
    fills = isinstance(reads, OurModel) and reads.names_tokens and architecture_of(model).filler is not None
    if not fills or reads.vocab is None:
        raise ValueError(f"a {type(model).__name__} does not fill blanks word by word; give a GLMPretraining")
    return checked_vocabulary(tokenizer, reads.vocab)


def positions_read(stand: Stand, order: Sequence[int]) -> Iterator[str | None]:
    """What stands in Part B once one stands there, None for each [START]; of the blanks finished, and of the one that
    is begun."""
    for blank in order:
        if blank in stand.finished:
            yield from (None, *stand.finished[blank])
    if stand.blank is not None:
        yield from (None, *stand.written)
