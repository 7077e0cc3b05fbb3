"""Beam search (束搜索): keep the few likeliest texts open, and go on with all of them."""

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
    """What a log-probability is divided by: ((5 + length) / 6)^α, so that long texts stand a chance (Wu et al.
    2016, eq. 14). α = 0 leaves the log-probability as it is; the paper finds 0.6 to 0.7 best for translation."""
    return ((5 + length) / 6) ** alpha


@torch.no_grad()
def beam_search(model: AutoregressiveModel[Any], prompt: Int[Tensor, "batch time"], vocab: Vocabulary, *, length: int,
                beam: int = 4, alpha: float = 0.0, banned: Collection[int] | None = None) -> list[list[Hypothesis]]:
    """For each prompt, the up to ``beam`` best texts that were found, the best first.

    Each step keeps the ``beam`` likeliest open texts. A text is finished when [END] stands among the ``beam`` best next
    steps, or when it has ``length`` tokens. A prompt's search stops when it has ``beam`` finished texts and no open one
    can still beat the worst of them, so never too early. ``alpha`` is that of `length_penalty`; without it, a beam of 1
    is `greedy`, and one as wide as there are texts is exhaustive. ``banned`` ids are never written: those of all
    special tokens, if None. ValueError where `greedy` raises one, for a beam below 1 and for an alpha below 0.
    """
    beams = [Beam(beam, alpha, length, vocab.end) for _ in prompt]
    for _ in side_by_side(model, DecodingRequest(prompt, vocab, length, banned), beams):
        pass
    return [search.best() for search in beams]


def side_by_side(model: AutoregressiveModel[Any], task: DecodingRequest, beams: Sequence["Beam"]) -> Iterator[None]:
    """Go on with all ``beams`` until the last is over, and stop after each step to be looked at; within a step they
    choose in their order. There is one a prompt of the task, or as many for each: the first prompt's come first."""
    state, prompts = task.start(model), torch.arange(len(task.prompt), device=task.prompt.device)
    prompts = prompts.repeat_interleave(len(beams) // len(prompts))
    logprobs = task.next_logprobs(model, task.prompt, state)[prompts]
    state.select(prompts)
    while True:
        rows, first = [], 0
        for search, ahead in zip(beams, logprobs.split([len(search.open) for search in beams]), strict=True):
            rows += [first + row for row in search.grow(ahead)]
            first += len(ahead)
        yield
        if not rows:
            return
        state.select(torch.tensor(rows, device=prompts.device))
        read = torch.tensor([[text.tokens[-1]] for search in beams for text in search.open], device=prompts.device)
        logprobs = task.next_logprobs(model, read, state)


@dataclass
class Beam:
    """The search from one prompt: its ``open`` texts, the likeliest first, and the best of those that are ``finished``.

    At most ``width`` of each are kept. Of the last step, ``weighed`` are the candidates, and ``taken`` those that were
    finished or stayed open by it. ``alpha`` is that of `length_penalty`, ``length`` the most tokens of a text, ``end``
    the id of [END]. ValueError for a width below 1 or an alpha below 0.
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
            raise ValueError(f"beam={self.width}: keep 1 text open or more (1 is greedy)")
        if self.alpha < 0:
            raise ValueError(f"alpha={self.alpha}: the length penalty's power must be 0 or more; 0 is no penalty")

    def grow(self, logprobs: Float[Tensor, "open vocab"]) -> list[int]:
        """One step of the search: ``logprobs``, in nats, are those of each next token after each open text. Returns,
        for each text that is open now, the row of the one that it went on from; [] where the search is over."""
        going: list[tuple[int, Hypothesis]] = []
        self.weighed, ended = self.candidates(logprobs), []
        for rank, (row, text) in enumerate(self.weighed):
            if text.tokens[-1] == self.end or len(text.tokens) == self.length:
                if rank < self.width:
                    ended.append(text)
            elif len(going) < self.width:
                going.append((row, text))
        self.finished += ended
        self.finished = self.best()
        hopes = [self.hope(text) for _, text in going]
        if len(self.finished) == self.width and all(hope <= self.score(self.finished[-1]) for hope in hopes):
            going = []
        self.open = [text for _, text in going]
        self.taken = ended + self.open
        return [row for row, _ in going]

    def candidates(self, logprobs: Float[Tensor, "open vocab"]) -> list[tuple[int, Hypothesis]]:
        """The best next steps by `rank`, in order: (row of the open text, that text with one more token). Up to twice
        ``width`` of them, so that enough stay open even if each open text could end."""
        if not self.open:
            return []
        before = torch.tensor([text.logprob for text in self.open], dtype=torch.float64)
        totals = before[:, None] + logprobs.cpu().double()
        best = self.rank(totals).flatten().topk(min(2 * self.width, totals.numel())).indices
        steps = [(*divmod(place, logprobs.shape[1]), total) for place, total
                 in zip(best.tolist(), totals.flatten()[best].tolist(), strict=True) if total > float("-inf")]
        return [(row, Hypothesis((*self.open[row].tokens, token), total)) for row, token, total in steps]

    def rank(self, totals: Float[Tensor, "open vocab"]) -> Float[Tensor, "open vocab"]:
        """What next steps are ranked by: ``totals``, their log-probabilities in nats. A subclass may rank otherwise."""
        return totals

    def score(self, text: Hypothesis) -> float:
        """What finished texts are ranked by: the log-probability in nats, divided by the length penalty."""
        return text.logprob / length_penalty(len(text.tokens), self.alpha)

    def hope(self, text: Hypothesis) -> float:
        """The best score that an open text could still reach: every token to come certain, to the full length."""
        return text.logprob / length_penalty(self.length, self.alpha)

    def best(self) -> list[Hypothesis]:
        """The ``width`` finished texts with the highest scores, or all if there are fewer, the best first."""
        return sorted(self.finished, key=self.score, reverse=True)[: self.width]
