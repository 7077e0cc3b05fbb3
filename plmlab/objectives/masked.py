"""The masked language model: say what stood under the masks (掩码语言模型)."""

from collections.abc import Callable, Sequence
from random import Random

import torch
from jaxtyping import Int
from torch import Tensor

from plmlab.draws import randint, shuffled
from plmlab.example import IGNORE, Example
from plmlab.objectives.registry import Choice, objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility

Corruption = Callable[[int, Vocabulary, Random], int]
"""``corrupt(token, vocab, rng)`` is what a position shows that must say its token."""


def bert_80_10_10(token: int, vocab: Vocabulary, rng: Random) -> int:
    """[MASK] eight times in ten, a random word once, the token itself once (Devlin et al. 2019, §3.1)."""
    mask, dice = vocab.need("mask"), rng.random()
    if dice < 0.8:
        return mask
    return vocab.words[randint(rng, len(vocab.words))] if dice < 0.9 else token


def always_mask(token: int, vocab: Vocabulary, rng: Random) -> int:
    """[MASK], always; nothing is drawn."""
    return vocab.need("mask")


def always_mask_same_draws(token: int, vocab: Vocabulary, rng: Random) -> int:
    """[MASK], always, after drawing what ``bert_80_10_10`` draws: the same texts and positions come after it."""
    bert_80_10_10(token, vocab, rng)
    return vocab.need("mask")


@objective(
    title="masked language model (BERT)",
    chinese="掩码语言模型",
    paper="Devlin et al. 2019, §3.1",
    choices=(Choice("rate", "share of positions to predict", 0.15, 0.05, 0.6, 0.05),),
    question="Two words must be said. May the position of the one look at the position of the other?",
    answer="Yes, everyone sees everyone. But all it finds there is [MASK], so each guess is made "
           "without knowing the other: the independence assumption of BERT.",
)
def masked(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), rate: float = 0.15,
    select: Sequence[int] | None = None, corrupt: Corruption = bert_80_10_10,
) -> Example:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP]; some positions are selected, and all that are selected are predicted.

    As in BERT's own code, ``round(rate · time)`` positions are selected, at least one, never a special token.
    ``corrupt`` says what a selected position shows. Positions count from 0.

    ``select`` gives the selected positions instead of drawing them.
    """
    check_rate(rate)
    cls, sep = vocab.need("cls"), vocab.need("sep")
    first = [cls, *tokens, sep]
    second = [*pair, sep] if pair else []
    whole = first + second
    if select is None:
        candidates = [t for t, token in enumerate(whole) if token not in (cls, sep)]
        chosen = sorted(shuffled(rng, candidates)[: max(1, round(rate * len(whole)))])
    else:
        chosen = sorted(select)
    shown, targets = apply_masking(whole, chosen, vocab=vocab, rng=rng, corrupt=corrupt)
    segments = torch.zeros(len(whole), dtype=torch.long)
    segments[len(first):] = 1
    return Example(
        tokens=shown,
        position_ids=torch.arange(len(whole))[None],
        segments=segments,
        visible=Visibility.full(len(whole)),
        targets=targets,
    )


def apply_masking(whole: Sequence[int], chosen: Sequence[int], *, vocab: Vocabulary, rng: Random,
         corrupt: Corruption) -> tuple[Int[Tensor, "time"], Int[Tensor, "time"]]:
    """What a text shows whose ``chosen`` positions are to be said, and what each position must say."""
    shown, targets = list(whole), [IGNORE] * len(whole)
    for t in chosen:
        targets[t] = whole[t]
        shown[t] = corrupt(whole[t], vocab, rng)
    return torch.tensor(shown), torch.tensor(targets)


def check_rate(rate: float) -> None:
    """A ValueError for what is no share of positions to predict."""
    if not 0 < rate <= 1:
        raise ValueError(f"rate is the share of positions to predict, above 0 and at most 1; {rate} was given")
