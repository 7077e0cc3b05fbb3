"""The masked language model: predict the original tokens at the masked positions (掩码语言模型)."""

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
"""``corrupt(token, vocab, rng)`` returns the input token at a position whose target is ``token``."""


def bert_80_10_10(token: int, vocab: Vocabulary, rng: Random) -> int:
    """Return [MASK] with probability 80 %, a random word with 10 %, or the token itself with 10 % (Devlin et al. 2019,
    §3.1)."""
    mask, dice = vocab.need("mask"), rng.random()
    if dice < 0.8:
        return mask
    return vocab.words[randint(rng, len(vocab.words))] if dice < 0.9 else token


def electra_85_15(token: int, vocab: Vocabulary, rng: Random) -> int:
    """Return [MASK] with probability 85 %, or the token itself with 15 % (the authors' code of Clark et al. 2020; their
    paper masks all selected tokens)."""
    return vocab.need("mask") if rng.random() < 0.85 else token


def always_mask(token: int, vocab: Vocabulary, rng: Random) -> int:
    """Return [MASK]; ``rng`` is not used."""
    return vocab.need("mask")


def always_mask_same_draws(token: int, vocab: Vocabulary, rng: Random) -> int:
    """Return [MASK], but consume the same random numbers as ``bert_80_10_10``, so that later draws are the same."""
    bert_80_10_10(token, vocab, rng)
    return vocab.need("mask")


@objective(
    title="masked language model (BERT)",
    chinese="掩码语言模型",
    paper="Devlin et al. 2019, §3.1",
    choices=(Choice("rate", "proportion of tokens to predict", 0.15, 0.05, 0.6, 0.05),),
    question="Two tokens are to be predicted. Can one target position attend to the other?",
    answer="Yes, attention is bidirectional. But all it finds there is [MASK], so the two tokens are predicted "
           "independently: the independence assumption of BERT.",
)
def masked(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), rate: float = 0.15,
    select: Sequence[int] | None = None, corrupt: Corruption = bert_80_10_10,
) -> Example:
    """Masked language modelling: [CLS] A [SEP], or [CLS] A [SEP] B [SEP], with some tokens corrupted and predicted.

    As in BERT's own code, ``round(rate · time)`` tokens are selected, at least one, never a special token. ``corrupt``
    returns the input token at a selected position. Position ids count from 0. ``select`` sets the selected positions
    instead of sampling them.
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
    corrupted, targets = apply_masking(whole, chosen, vocab=vocab, rng=rng, corrupt=corrupt)
    segments = torch.zeros(len(whole), dtype=torch.long)
    segments[len(first):] = 1
    return Example(
        tokens=corrupted,
        position_ids=torch.arange(len(whole))[None],
        segments=segments,
        visible=Visibility.full(len(whole)),
        targets=targets,
    )


def apply_masking(whole: Sequence[int], chosen: Sequence[int], *, vocab: Vocabulary, rng: Random,
                  corrupt: Corruption) -> tuple[Int[Tensor, "time"], Int[Tensor, "time"]]:
    """Corrupt the ``chosen`` positions. Returns the corrupted token ids and the targets, both [time]."""
    corrupted, targets = list(whole), [IGNORE] * len(whole)
    for t in chosen:
        targets[t] = whole[t]
        corrupted[t] = corrupt(whole[t], vocab, rng)
    return torch.tensor(corrupted), torch.tensor(targets)


def check_rate(rate: float) -> None:
    """Raise ValueError unless 0 < ``rate`` ≤ 1."""
    if not 0 < rate <= 1:
        raise ValueError(f"rate={rate}: the proportion to predict must be above 0 and at most 1")


def check_shares(**shares: float) -> None:
    """Raise ValueError unless 0 ≤ share ≤ 1 for each, which the message names."""
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise ValueError(f"{name}={share}: give a proportion from 0 to 1")
