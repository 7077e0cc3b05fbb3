"""How much of a target should be masked, and is masking wasteful? A comparison of the training methods of
`plmlab.chapters.ch12.target_masking`.

Learning rates are chosen for each budget up to `PILOT` updates; the larger budget uses those of `PILOT`. (An earlier
version had one rate for all budgets, chosen after 800 updates. This rate made next-word prediction slow in short runs,
so the conclusion about them was wrong.) After few updates, some methods have an accuracy of 0 at any learning rate. A
`Study` would refuse to choose a rate among such runs; here the middle rate is used, and the accuracy of 0 is reported.

The rules were fixed before the runs. A method *has learned to translate* after the smallest budget at which its mean
accuracy over the seeds is at least 90 %. "Masking wastes most of a target" is correct if every masking rate needs a
larger budget than predicting the next word at every position. The waste is due to the small *fraction* of targets if
predicting an equally small fraction of next words is equally slow; if the latter is faster, the number of targets is
not the reason. *Appended masks* predict every word in place given the correct preceding words: if this is slow too,
prediction in place is hard; if not, the masked context is hard. With the whole target masked, nothing is learned about
how a word depends on the preceding words, so the model must generate badly. (It does not: in this world the source
determines almost everything.)
"""

from typing import Any

from plmlab.chapters.ch12 import mask_mixture, passage_translation
from plmlab.chapters.ch12.target_masking import OBJECTIVES
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_summary, tune_learning_rates

BUDGETS, PILOT = (200, 400, 800, 3200), 800
RATES, PILOTS, SEEDS = (1e-3, 3e-3, 1e-2), (8,), (0, 1, 2)
ENOUGH = 0.9


def tuned(way: str, updates: int, lr: float, seed: int, split: str = "test") -> float:
    """The fraction of passages translated without an error after the given number of updates."""
    make, write = OBJECTIVES[way]
    model = mask_mixture.new_unilm(seed)
    passage_translation.tune(model, make, updates, lr, seed, show=False)
    return passage_translation.translation_accuracy(model, split, write)


@none_if_diverged
def lr_score(way: str, updates: int, lr: float, seed: int) -> float:
    """Score of a learning rate, on new sentences of the training distribution."""
    return tuned(way, updates, lr, seed, "train")


def measure(parts: Parts) -> dict[str, Any]:
    """Method → the ``lr`` by updates and the ``rates`` tried, the accuracy (``translation_accuracy``) by updates, with
    spread, and the number of updates that it has ``learned after`` (None: none of the budgets is enough)."""
    tried = tune_learning_rates(parts, lr_score, PILOTS, {
        (way, updates): RATES for way in OBJECTIVES for updates in BUDGETS if updates <= PILOT})
    chosen = {(way, updates): tried[way, min(updates, PILOT)] for way in OBJECTIVES for updates in BUDGETS}
    found = parts(tuned, [(way, updates, lr, seed) for (way, updates), (lr, _) in chosen.items() for seed in SEEDS])
    told: dict[str, Any] = {}
    for way in OBJECTIVES:
        right = {str(updates): seed_summary({seed: found[way, updates, chosen[way, updates][0], seed]
                                             for seed in SEEDS})
                 for updates in BUDGETS}
        told[way] = {
            "lr": {str(updates): chosen[way, updates][0] for updates in BUDGETS},
            "rates": {str(updates): rates_tried(chosen[way, updates][1]) for updates in BUDGETS},
            "right": right, "learned after": next(
                (updates for updates in BUDGETS if right[str(updates)]["mean"] >= ENOUGH), None)}
    return told
