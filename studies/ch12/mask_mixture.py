"""The gains and costs of the mask mixture: the loss of each variant of `mask_mixture` under each mask.

The rule was fixed before the runs. The mixture *hurts* under a mask if the loss of every seed is at least 0.02 nats per
word above that of the variant trained under that mask only; it *helps* under that mask if its loss is at least 0.02
nats lower; otherwise it makes *no difference*. The paper's own argument for the mixture is that the masks share what
they learn (Dong et al. 2019, §1); it has no ablation of the proportions.

Further runs were added afterwards, because the mixture hurt under every mask: the mixture with `LONGER` times as many
updates; and, for comparison with both mixtures, each mask alone after as many texts as the mixture had *under that
mask*, with the learning rates chosen before. Any remaining cost is then not due to too little training on the mask, and
any gain is due to what the masks share.
"""

from math import log
from typing import Any

from plmlab.chapters.ch12 import passage_translation
from plmlab.chapters.ch12.mask_mixture import ARMS, floors_by_mask, losses_by_mask, new_unilm, train
from plmlab.models.unilm import UniLMPretraining
from plmlab.objectives.prefix import MASKS, SHARES
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study

MIX = "mixture"
LONGER = 3
"""Factor by which the longer run of the mixture is longer."""


def build(name: str, seed: int) -> UniLMPretraining:
    """The network, which is the same for all variants, with random weights initialized with this seed."""
    return new_unilm(seed)


def development(run: Run) -> float:
    """Negative loss on training text under a variant's own masks, weighted by their proportions."""
    [name], told = run.arm, losses_by_mask(run.model, "train")
    return -sum(share * told[mask] for mask, share in ARMS[name].items())


def test(run: Run) -> dict[str, dict[str, float]]:
    """``losses_by_mask``: mask → nats per masked word of the plain test split."""
    return {"paid": losses_by_mask(run.model)}


STUDY = Study(name="mask mixture", arms={(name,): (1e-3, 3e-3, 1e-2) for name in ARMS}, build=build, train=train,
              development=development, test=test, updates=(3600,), nothing=-log(len(passage_translation.tokenizer())),
              pilots=(8, 9), pilot_updates=800)


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``floors``; ``arms``: variant → ``lr``, the ``rates`` tried, and the loss under each mask (``losses_by_mask``);
    ``longer``: the loss of the mixture after more updates; ``equal``: mask → the loss of its single-mask model after as
    many texts as the mixture had under it, and as the longer mixture had; all with spread; and the ``updates``."""
    [updates], names = study.budgets(()), [name for name, in study.arms]
    best = study.best(parts, [(name, updates) for name in names])
    alone = {name: [round(SHARES[name] * times * updates) for times in (1, LONGER)] for name in names if name in MASKS}
    more = {(mask, count): best[mask, updates] for mask, counts in alone.items() for count in counts}
    found = study.at(parts, best | more | {(MIX, LONGER * updates): best[MIX, updates]})
    told = {one: measured.as_record() for one, measured in found.items()}
    return {"floors": parts(floors_by_mask, [()])[()], "arms": {name: told[name, updates] for name in names},
            "updates": updates, "longer": told[MIX, LONGER * updates]["paid"],
            "equal": {mask: [told[mask, count]["paid"][mask] for count in counts] for mask, counts in alone.items()}}
