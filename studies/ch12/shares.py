"""What the mix of masks gives and takes: what each arm of shares pays under each mask.

Written before the runs. The mix *costs* something under a mask if all its seeds pay at least 0.02 nats a word more
there than the arm that knows that mask alone; it *helps* there if they pay at least 0.02 less; else it is *free*. The
paper's own reason for the mix is that the masks share what they learn (Dong et al. 2019, §1); it has no ablation of the
shares.

Added when they were done, as the mix had cost something under every mask: the mix once more for `LONGER` times as many
updates; and beside both, each mask alone after as many texts as the mix had read *under that mask*, at the rates that
were chosen before. What costs then is not for want of reading, and what helps is what the masks share.
"""

from math import log
from typing import Any

from plmlab.chapters.ch12 import small_writing
from plmlab.chapters.ch12.shares import ARMS, floors, new, paid, train
from plmlab.models.unilm import UniLMPretraining
from plmlab.objectives.prefix import MASKS, SHARES
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study

MIX = "the mix"
LONGER = 3
"""How many times as long the mix is trained once more."""


def build(name: str, seed: int) -> UniLMPretraining:
    """The network, the same for each arm, with random weights of this seed."""
    return new(seed)


def development(run: Run) -> float:
    """Minus what is paid in training text under an arm's own masks, by their shares."""
    [name], told = run.arm, paid(run.model, "train")
    return -sum(share * told[mask] for mask, share in ARMS[name].items())


def test(run: Run) -> dict[str, dict[str, float]]:
    """``paid``: mask → nats a hidden word of the plain test."""
    return {"paid": paid(run.model)}


STUDY = Study(name="shares", arms={(name,): (1e-3, 3e-3, 1e-2) for name in ARMS}, build=build, train=train,
              development=development, test=test, updates=(3600,), nothing=-log(len(small_writing.tokenizer())),
              pilots=(8, 9), pilot_updates=800)


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``floors``; ``arms``: arm → ``lr``, the ``rates`` tried, and what is ``paid`` under each mask; ``longer``: what
    the mix pays after more updates; ``equal``: mask → what it pays alone after as many texts of its own as the mix had,
    and as the longer mix had; all with spread; and the ``updates``."""
    [updates], names = study.budgets(()), [name for name, in study.arms]
    best = study.best(parts, [(name, updates) for name in names])
    alone = {name: [round(SHARES[name] * times * updates) for times in (1, LONGER)] for name in names if name in MASKS}
    more = {(mask, count): best[mask, updates] for mask, counts in alone.items() for count in counts}
    found = study.at(parts, best | more | {(MIX, LONGER * updates): best[MIX, updates]})
    told = {one: measured.told() for one, measured in found.items()}
    return {"floors": parts(floors, [()])[()], "arms": {name: told[name, updates] for name in names},
            "updates": updates, "longer": told[MIX, LONGER * updates]["paid"],
            "equal": {mask: [told[mask, count]["paid"][mask] for count in counts] for mask, counts in alone.items()}}
