"""Beam search (束搜索): keep the most likely hypotheses and extend all of them at each step."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.decode.autoregressive import AutoregressiveModel
from plmlab.decode.hypothesis import DecodingRequest, Hypothesis
from plmlab.text.vocabulary import Vocabulary


def length_penalty(length: int, alpha: float) -> float:
    """Length penalty ((5 + length) / 6)^α, by which a log-probability is divided so that long texts can compete (Wu et
    al. 2016, eq. 14). α = 0 means no penalty; the paper finds 0.6 to 0.7 best for translation."""
    return ((5 + length) / 6) ** alpha


@torch.no_grad()
def beam_search(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], vocab: Vocabulary, *, length: int,
                beam: int = 4, alpha: float = 0.0, banned: Collection[int] | None = None) -> list[list[Hypothesis]]:
    """Beam search: up to ``beam`` best hypotheses for each prompt, best first.

    Each step keeps the ``beam`` most likely partial hypotheses. A hypothesis is finished if [END] is among the ``beam``
    best next steps, or if it has ``length`` tokens. The search for a prompt stops once it has ``beam`` finished
    hypotheses and no partial one can still beat the worst of them. ``alpha`` is the exponent of `length_penalty`. With
    ``alpha=0``, a beam of 1 is equivalent to `greedy`, and a beam as large as the number of texts to exhaustive search.
    ``banned`` ids are never generated; None bans all special tokens. Raises ValueError in the cases listed at `greedy`,
    if the beam is below 1, or if alpha is below 0.
    """
    beams = [Beam(beam, alpha, length, vocab.end) for _ in prompt]
    for _ in side_by_side(model, DecodingRequest(prompt, vocab, length, banned), beams):
        pass
    return [search.best() for search in beams]


def side_by_side(model: AutoregressiveModel[Any], task: DecodingRequest, beams: Sequence["Beam"]) -> Iterator[None]:
    """Run several searches in one batch until the last one has finished; yields after each step.

    Within a step, the searches make their choices one after the other. Each prompt of the task has the same number of
    searches, those of the first prompt first.
    """
    state, prompts = task.start(model), torch.arange(len(task.prompt), device=task.prompt.device)
    prompts = prompts.repeat_interleave(len(beams) // len(prompts))
    logprobs = task.next_logprobs(model, task.prompt, state)[prompts]
    state.select(prompts)
    while True:
        rows, first = [], 0
        for search, next_logprobs in zip(beams, logprobs.split([len(search.open) for search in beams]), strict=True):
            rows += [first + row for row in search.grow(next_logprobs)]
            first += len(next_logprobs)
        yield
        if not rows:
            return
        state.select(torch.tensor(rows, device=prompts.device))
        last = torch.tensor([[text.tokens[-1]] for search in beams for text in search.open], device=prompts.device)
        logprobs = task.next_logprobs(model, last, state)


@dataclass
class Beam:
    """The search from one prompt: its ``open`` (partial) hypotheses, most likely first, and the best ``finished`` ones.

    At most ``width`` of each are kept. ``weighed`` holds the candidates of the last step, ``taken`` those that were
    kept or finished. ``alpha`` is the exponent of `length_penalty`, ``length`` the maximum number of tokens, ``end``
    the id of [END]. Raises ValueError if the width is below 1 or alpha is below 0.
    """

    width: int
    alpha: float
    length: int
    end: int | None
    open: list[Hypothesis] = field(default_factory=lambda: [Hypothesis()])
    finished: list[Hypothesis] = field(default_factory=list)
    weighed: list[tuple[int, Hypothesis]] = field(default_factory=list)
    taken: list[Hypothesis] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"beam={self.width}: keep at least 1 hypothesis (1 is greedy)")
        if self.alpha < 0:
            raise ValueError(f"alpha={self.alpha}: the exponent of the length penalty must be 0 (no penalty) or more")

    def grow(self, logprobs: Float[Tensor, "open vocab"]) -> list[int]:
        """Perform one step, given the next-token log-probabilities (nats) of each open hypothesis.

        Returns the row that each hypothesis now open extends, in order; [] if the search has finished.
        """
        extended: list[tuple[int, Hypothesis]] = []
        self.weighed, ended = self.candidates(logprobs), []
        for rank, (row, text) in enumerate(self.weighed):
            if text.tokens[-1] == self.end or len(text.tokens) == self.length:
                if rank < self.width:
                    ended.append(text)
            elif len(extended) < self.width:
                extended.append((row, text))
        self.finished += ended
        self.finished = self.best()
        bounds = [self.hope(text) for _, text in extended]
        if len(self.finished) == self.width and all(bound <= self.score(self.finished[-1]) for bound in bounds):
            extended = []
        self.open = [text for _, text in extended]
        self.taken = ended + self.open
        return [row for row, _ in extended]

    def candidates(self, logprobs: Float[Tensor, "open vocab"]) -> list[tuple[int, Hypothesis]]:
        """The best extensions by `rank`, in order, as (row of the open hypothesis, that hypothesis with one more
        token).

        There are up to twice ``width`` of them, so that enough remain open even if every open hypothesis ends.
        """
        if not self.open:
            return []
        before = torch.tensor([text.logprob for text in self.open], dtype=torch.float64)
        totals = before[:, None] + logprobs.cpu().double()
        best = self.rank(totals).flatten().topk(min(2 * self.width, totals.numel())).indices
        steps = [(*divmod(index, logprobs.shape[1]), total) for index, total
                 in zip(best.tolist(), totals.flatten()[best].tolist(), strict=True) if total > float("-inf")]
        return [(row, Hypothesis((*self.open[row].tokens, token), total)) for row, token, total in steps]

    def rank(self, totals: Float[Tensor, "open vocab"]) -> Float[Tensor, "open vocab"]:
        """Ranking score of the extensions: their log-probabilities ``totals``, in nats. Subclasses may override it."""
        return totals

    def score(self, text: Hypothesis) -> float:
        """Score of a finished hypothesis: the log-probability in nats, divided by the length penalty."""
        return text.logprob / length_penalty(len(text.tokens), self.alpha)

    def hope(self, text: Hypothesis) -> float:
        """Upper bound on the final score of an open hypothesis: probability 1 for all further tokens, and full
        length."""
        return text.logprob / length_penalty(self.length, self.alpha)

    def best(self) -> list[Hypothesis]:
        """The ``width`` finished hypotheses with the highest scores (or fewer), best first."""
        return sorted(self.finished, key=self.score, reverse=True)[: self.width]
