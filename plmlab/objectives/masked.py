"""The masked language model: say what stood under the masks (掩码语言模型)."""

from collections.abc import Mapping, Sequence
from random import Random

import torch
from jaxtyping import Int
from torch import Tensor

from plmlab.draws import below, shuffled
from plmlab.example import IGNORE, Example
from plmlab.objectives.registry import Choice, objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility


@objective(
    title="masked language model (BERT)",
    chinese="掩码语言模型",
    paper="Devlin et al. 2019, §3.1",
    choices=(Choice("rate", "share of slots to predict", 0.15, 0.05, 0.6, 0.05),),
    question="Two words must be said. May the slot of the one look at the slot of the other?",
    answer="Yes, everyone sees everyone. But all it finds there is [MASK], so each guess is made "
           "without knowing the other: the independence assumption of BERT.",
)
def masked(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, pair: Sequence[int] = (), rate: float = 0.15,
    select: Sequence[int] | None = None, replace: Mapping[int, int] | None = None,
) -> Example:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP]; some slots are selected, and all that are selected are predicted.

    As in BERT's own code, ``round(rate · time)`` slots are selected, at least one, never a special token; a
    selected slot shows [MASK] eight times in ten, a random word once, itself once. Positions count from 0.

    ``select`` gives the selected slots instead of drawing them, and ``replace`` what a slot shows instead.
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
    shown, targets = hide(whole, chosen, vocab=vocab, rng=rng, replace=replace)
    segments = torch.zeros(len(whole), dtype=torch.long)
    segments[len(first):] = 1
    return Example(
        tokens=shown,
        positions=torch.arange(len(whole))[None],
        segments=segments,
        visible=Visibility.full(len(whole)),
        targets=targets,
    )


def hide(whole: Sequence[int], chosen: Sequence[int], *, vocab: Vocabulary, rng: Random,
         replace: Mapping[int, int] | None = None) -> tuple[Int[Tensor, "time"], Int[Tensor, "time"]]:
    """What a text shows whose ``chosen`` slots are to be said, and what each slot must say.

    Eight chosen slots in ten show [MASK], one a random word, one itself; or what ``replace`` gives for a slot.
    """
    shown, targets, mask = list(whole), [IGNORE] * len(whole), vocab.need("mask")
    for t in chosen:
        targets[t] = whole[t]
        if replace is not None and t in replace:
            shown[t] = replace[t]
            continue
        shown[t] = in_place_of(whole[t], mask, vocab, rng)
    return torch.tensor(shown), torch.tensor(targets)


def in_place_of(token: int, mask: int, vocab: Vocabulary, rng: Random) -> int:
    """What a slot shows that must say its token: the mask eight times in ten, a random word once, the token once."""
    dice = rng.random()
    if dice < 0.8:
        return mask
    return vocab.words[below(rng, len(vocab.words))] if dice < 0.9 else token


def check_rate(rate: float) -> None:
    """A ValueError for what is no share of slots to predict."""
    if not 0 < rate <= 1:
        raise ValueError(f"rate is the share of slots to predict, above 0 and at most 1; {rate} was given")
