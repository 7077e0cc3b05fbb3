"""Recipe of chapter 11: the contributions of masks, a factorization order, relative positions and MPNet's combination,
and their costs.

The rules for the variants on the small world were fixed before any test result was seen; each rule applies after 3,600
updates, and to every seed. *XLNet keeps the dependence among the words that it predicts* (Yang et al. 2019, §2.6) holds
if its loss on both words of a name, and on a noun and its verb, is lower than that of the best product of independent
predictions, and fewer of its sampled pairs occur in no sentence. (For adjacent words the test is not possible, because
the best product is only 0.04 nats above the exact posterior.) *An order is worth more than masks* (their table 6, XLNet
compared with a denoising auto-encoder on the same network) holds if an order has a loss on a single masked word that is
at least 0.02 nats lower, on XLNet's network and on MPNet's. *Both together are worth more than either* (the ablation of
Song et al. 2020) holds if MPNet's loss on a single word is at least 0.02 nats lower than that of masks alone, and than
that of an order alone, on MPNet's network. The cost of an order is given as the number of updates after which a variant
is within 0.1 nats of the floor of its objective. The rules for memory, fine-tuning and unseen sentences are in the
modules of these experiments.

Two points were noticed after the runs: the first rule does not consider a BERT that predicts one word after the other,
which `hidden` measures too; and after 3,600 updates the second rule can hardly be met, because masks are within 0.02
nats of the optimum.
The variants "always [MASK]" were added later, at a reader's request: an order sees no random words, so that masks
without BERT's 80/10/10 corruption are its fair baseline.
"""

from typing import Any

from plmlab.chapters.ch11 import arms, hidden
from plmlab.recipes import Parts, rates_tried, seed_statistics, seed_summary, tune_learning_rates
from studies.ch11 import pretrained, price, remembering, tuned, unread


def main(parts: Parts) -> dict[str, Any]:
    """The results of chapter 11: those of `compared`, and the ``memory``; and for the full world the ``pretrained``
    models, then ``tuned`` (fine-tuned), and evaluated on masked words of ``unread`` (unseen) sentences."""
    return {**compared(parts), "memory": remembering.measure(parts), "pretrained": pretrained.measure(parts),
            "tuned": tuned.measure(parts), "unread": unread.measure(parts)}


def compared(parts: Parts) -> dict[str, Any]:
    """``arms``: variant → ``lr``, the ``rates`` tried, ``floors`` and the amount of training text, and by number of
    updates its ``loss`` and the output of `hidden.examined` on masked words by kind, with spread; ``exact``: the loss
    of the exact posterior by kind, the number of ``gaps`` of each, and the fraction that was ``read`` in training."""
    folder = str(parts.folder)
    best = tune_learning_rates(parts, arms.lr_score, arms.PILOTS,
                               {(name,): arms.RATES for name in arms.ARMS if name not in arms.LIKE})
    rates = {name: best[arms.LIKE.get(name, name),] for name in arms.ARMS}
    runs = [(name, updates, seed) for name in arms.ARMS for updates in arms.budgets(name) for seed in arms.SEEDS]
    losses = parts(arms.train, [(folder, name, updates, rates[name][0], seed) for name, updates, seed in runs])
    exams = parts(hidden.examined, [(folder, *run) for run in runs if arms.ARMS[run[0]].ask])
    told = price.told()
    for name, (lr, scores) in rates.items():
        told[name] |= {"lr": lr, "rates": rates_tried(scores), "updates": {}}
        for updates in arms.budgets(name):
            found: dict[str, Any] = {"loss": seed_summary({
                seed: losses[folder, name, updates, lr, seed] for seed in arms.SEEDS})}
            if arms.ARMS[name].ask:
                found |= seed_statistics({seed: exams[folder, name, updates, seed] for seed in arms.SEEDS})
            told[name]["updates"][str(updates)] = found
    return {"arms": told, "exact": {kind: hidden.described(kind) for kind in hidden.KINDS}, "k": arms.K,
            "rate": arms.RATE, "batch": arms.BATCH, "pilot updates": arms.PILOT}
