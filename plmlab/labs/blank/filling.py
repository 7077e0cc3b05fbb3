"""Autoregressive blank infilling: the next-token distributions of a GLM and of the exact posterior."""

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
"""The maximum number of words of a blank; generation without [END] stops there."""

Words: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class InfillingProgress:
    """The state of the infilling: the ``finished`` blanks, as number → words; the number of the current ``blank`` (None
    if all are filled); and the words ``written`` in it so far."""

    finished: dict[int, Words]
    blank: int | None
    written: Words


def progress_of(path: Sequence[str], order: Sequence[int]) -> InfillingProgress:
    """The state after generating the tokens of ``path``, in which END closes each blank; the blanks are filled in
    ``order``."""
    finished, left = dict[int, Words](), list(path)
    for blank in order:
        words = tuple(takewhile(lambda word: word != END, left))
        if len(words) == len(left):
            return InfillingProgress(finished, blank, words)
        finished[blank] = words
        left = left[len(words) + 1:]
    return InfillingProgress(finished, None, ())


@dataclass(frozen=True)
class ExactFilling:
    """The exact posterior of the next word in the blanks of a ``text`` (one BLANK each), given the text and the words
    already filled in."""

    automaton: Automaton
    text: Sequence[str]

    def belief(self, progress: InfillingProgress) -> tuple[Belief, str]:
        """Map each word or END to its probability, in descending order, and return it with ""; if there is no
        distribution, return {} and the reason."""
        assert progress.blank is not None
        if not all(progress.finished.values()):
            return {}, "A blank was left empty; in the Small World every blank has at least one word."
        try:
            blanks = Blanks(self.automaton, self.text, dict(progress.finished))
        except NotInGrammar:
            return {}, f"No sentence of the Small World {'continues so' if progress.finished else 'has these words'}."
        try:
            return blanks.next_words(progress.blank, progress.written), ""
        except NotInGrammar:
            written = " ".join(progress.written)
            return {}, f"No sentence of the Small World has a blank here that begins with “{written}”."

    def lengths(self, progress: InfillingProgress) -> dict[int, float]:
        """Map each number of words in the current blank to its probability; {} if no sentence fits."""
        try:
            assert progress.blank is not None
            return Blanks(self.automaton, self.text, dict(progress.finished)).lengths(progress.blank)
        except ValueError:
            return {}

    def surprisal(self, fillings: dict[int, Words]) -> float | None:
        """−log p of the fillings of all blanks, in nats; None if they do not form a sentence."""
        try:
            p = Blanks(self.automaton, self.text).posterior(fillings)
        except ValueError:
            return None
        return -log(p) if p else None


class ModelFilling:
    """A GLM that fills the blanks of one text token by token, with its own predictions or with given tokens."""

    def __init__(self, filler: InfillingDecoder) -> None:
        self.infiller, self.vocab = filler, filler.vocab
        with inference(filler.model):
            self.state = filler.start()
        self.read = filler.prompt

    def belief(self) -> Distribution:
        """The model's next-token distribution, [END] included."""
        with inference(self.infiller.model):
            return named(self.infiller.step(self.read, self.state), self.vocab)[0].cpu()

    def append_token(self, id: int) -> None:
        """Append a token; after [END], the next blank starts."""
        token = self.vocab.need("start") if id == self.vocab.need("end") else id
        self.read = torch.full_like(self.infiller.prompt, token)


def named(logits: torch.Tensor, vocab: Vocabulary) -> torch.Tensor:
    """Convert a filler's logits to probabilities ``[row vocab]``. [END] has a single probability, whether or not
    another blank follows."""
    probs = logits.double().softmax(-1)
    start, end = vocab.need("start"), vocab.need("end")
    probs[:, end] = probs[:, end] + probs[:, start]
    probs[:, start] = probs[:, -1]
    return probs[:, :-1]


def drawn_lengths(filler: InfillingDecoder, before: Sequence[int], draws: int, seed: int = 0) -> dict[int, int]:
    """Sample ``draws`` fillings of a blank from the model; return the count of each number of words.

    ``before`` is the filler's input so far: [START] and the words of each earlier blank, then [START] of the current
    blank. A sample that reaches the maximum number of words without [END] is counted with that length.
    """
    generator = torch.Generator().manual_seed(seed)
    start, end, pad = (filler.vocab.need(name) for name in ("start", "end", "pad"))
    device, limit, counts = filler.prompt.device, longest(filler), dict[int, int]()
    with inference(filler.model):
        state = filler.start()
        probs = named(filler.step(torch.tensor([before], device=device), state), filler.vocab).expand(draws, -1)
        state.select(torch.zeros(draws, dtype=torch.long, device=device))
        for length in range(limit):
            tokens = torch.multinomial(probs.cpu(), 1, generator=generator)[:, 0]
            going = (tokens != end).nonzero()[:, 0]
            counts[length] = len(tokens) - len(going)
            if not len(going) or length + 1 == limit:
                counts[length + 1] = len(going)
                break
            state.select(going.to(device))
            words = tokens[going].where(tokens[going] != start, pad)
            probs = named(filler.step(words[:, None].to(device), state), filler.vocab)
    return {length: count for length, count in counts.items() if count}


def longest(filler: InfillingDecoder) -> int:
    """The maximum number of words in a blank, limited by `MOST` and by the model's maximum position."""
    return min(MOST, filler.model.config.time - 1)


def likeliest_word(belief: Distribution, vocab: Vocabulary) -> int:
    """The most likely token that can fill a blank: a word, or [END]."""
    allowed = belief.clone()
    allowed[[id for id in vocab.special if id != vocab.end]] = -1
    return int(allowed.argmax())


def check_fills(model: nn.Module, tokenizer: Tokenizer) -> int:
    """The model's vocabulary size. Raises ValueError if the model does not fill blanks of unknown length, or if the
    tokenizer belongs to another model."""
    reads = readable(model)
    fills = isinstance(reads, OurModel) and reads.names_tokens and architecture_of(model).infiller is not None
    if not fills or reads.vocab is None:
        raise ValueError(f"a {type(model).__name__} cannot fill blanks word by word; give a GLMPretraining")
    return checked_vocabulary(tokenizer, reads.vocab)


def part_b_tokens(progress: InfillingProgress, order: Sequence[int]) -> Iterator[str | None]:
    """The tokens of Part B in this state, first of the finished blanks, then of the current one; None stands for each
    [START]."""
    for blank in order:
        if blank in progress.finished:
            yield from (None, *progress.finished[blank])
    if progress.blank is not None:
        yield from (None, *progress.written)
