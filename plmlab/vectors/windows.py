"""Batches of context windows from many sentences at once, fast enough for training word2vec."""

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
    """Probability of keeping each word when frequent words are subsampled (下采样): √(t/f) + t/f, at most 1.

    Here f is the relative frequency of the word and t the threshold ``sample``; 0 keeps everything. This is the formula
    of word2vec's code; the paper has √(t/f) (Mikolov et al. 2013b, eq. 5).
    """
    if sample <= 0:
        return torch.ones_like(counts)
    ratio = sample * counts.sum() / counts.clamp(min=1)
    return (ratio.sqrt() + ratio).clamp(max=1)


class WindowBatches:
    """Batches of sentences as word2vec Examples: ``batches(step)`` has a context window per word.

    The sentences are shuffled again in each epoch; the batch of a step depends only on the seed and the step. The
    Examples equal those of ``plmlab.objectives.window``, but are computed in parallel. ``rows`` are the sentences as
    ids, ``batch`` is the number of sentences per batch, and ``sample`` the subsampling threshold, applied before
    windows are formed (0: none).

    Attributes:
        counts: the frequency of each id in the sentences.
        batches_per_epoch: the number of batches per epoch.
    """

    def __init__(self, rows: Sequence[Sequence[int]], vocab: int, *, batch: int = 512, window: int = 5, seed: int = 0,
                 sample: float = 0.0) -> None:
        if not rows or not all(rows):
            raise ValueError("rows has no sentences, or one of them is empty; a window needs words")
        self.rows = [torch.tensor(row) for row in rows]
        self.counts = torch.bincount(torch.cat(self.rows), minlength=vocab).float()
        self.batch, self.window, self.seed = batch, window, seed
        self.kept = keep_probability(self.counts, sample)
        self.batches_per_epoch = -(-len(rows) // batch)
        self._order: tuple[int, Int[Tensor, row]] = (-1, torch.empty(0, dtype=torch.long))

    def __call__(self, step: int) -> Batch:
        """The batch of this step, [batch time]."""
        turn, place = divmod(step, self.batches_per_epoch)
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
        distances = (place_[:, None] - place_).abs()
        sees = (distances > 0) & (distances <= reach[:, :, None]) & real[:, :, None] & real[:, None, :]
        return Batch(tokens, place_[None, None], torch.zeros_like(tokens), AttentionMask(pairs=sees),
                     torch.where(real, tokens, IGNORE))

    def _generator(self, draws: str) -> torch.Generator:
        """A separate random generator for the given draws; torch uses only the last 32 bits of a seed."""
        return torch.Generator().manual_seed(randint(Random(f"{self.seed}:{draws}"), 2**32))
