"""Batches of windows from many sentences at once, as fast as word2vec needs them."""

from collections.abc import Sequence
from random import Random

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from plmlab.draws import randint
from plmlab.example import IGNORE, Batch
from plmlab.visibility import AttentionMask


def keep_probability(counts: Float[Tensor, "vocab"], sample: float) -> Float[Tensor, "vocab"]:
    """How much of each word is kept where frequent words are thinned out (subsampling, 下采样): √(t/f) + t/f, at most
    1, of a word with the share f of the text.

    That is word2vec's code; the paper has √(t/f) (Mikolov et al. 2013b, eq. 5). ``sample`` is the threshold t; 0 keeps
    everything.
    """
    if sample <= 0:
        return torch.ones_like(counts)
    ratio = sample * counts.sum() / counts.clamp(min=1)
    return (ratio.sqrt() + ratio).clamp(max=1)


class WindowBatches:
    """``batches(step)``: the next sentences, in an order drawn anew for each round, each word to be said by its
    neighbours. The batch of a step depends on the seed and the step alone.

    The Examples are those of ``plmlab.objectives.window``, made side by side. ``rows`` are the sentences as ids,
    ``batch`` how many are read at once, ``sample`` thins out frequent words before the windows are laid (0: none).

    Attributes:
        counts: how often each id stands in the sentences.
        each_round: how many batches go through all sentences once.
    """

    def __init__(self, rows: Sequence[Sequence[int]], vocab: int, *, batch: int = 512, window: int = 5, seed: int = 0,
                 sample: float = 0.0) -> None:
        if not rows or not all(rows):
            raise ValueError("there are no sentences, or one of them is empty: a window needs words")
        self.rows = [torch.tensor(row) for row in rows]
        self.counts = torch.bincount(torch.cat(self.rows), minlength=vocab).float()
        self.batch, self.window, self.seed = batch, window, seed
        self.kept = keep_probability(self.counts, sample)
        self.each_round = -(-len(rows) // batch)
        self._order: tuple[int, Int[Tensor, row]] = (-1, torch.empty(0, dtype=torch.long))

    def __call__(self, step: int) -> Batch:
        """The batch of this step."""
        turn, place = divmod(step, self.each_round)
        if self._order[0] != turn:
            self._order = turn, torch.randperm(len(self.rows), generator=self._generator(f"round {turn}"))
        rng = self._generator(f"step {step}")
        drawn = self._order[1][place * self.batch:(place + 1) * self.batch].tolist()
        tokens = pad_sequence([self.rows[i] for i in drawn], batch_first=True)
        lengths = torch.tensor([len(self.rows[i]) for i in drawn])
        real = torch.arange(tokens.shape[1]) < lengths[:, None]
        if bool((self.kept < 1).any()):
            real &= torch.rand(tokens.shape, generator=rng) < self.kept[tokens]
            order = (~real).long().sort(dim=1, stable=True).indices
            tokens, real = tokens.gather(1, order), real.gather(1, order)
        reach = torch.randint(1, self.window + 1, tokens.shape, generator=rng)
        place_ = torch.arange(tokens.shape[1])
        apart = (place_[:, None] - place_).abs()
        sees = (apart > 0) & (apart <= reach[:, :, None]) & real[:, :, None] & real[:, None, :]
        return Batch(tokens, place_[None, None], torch.zeros_like(tokens), AttentionMask(pairs=sees),
                     torch.where(real, tokens, IGNORE))

    def _generator(self, draws: str) -> torch.Generator:
        """A stream of its own for these draws; of a seed torch's generator uses the last 32 bits only."""
        return torch.Generator().manual_seed(randint(Random(f"{self.seed}:{draws}"), 2**32))
