"""Chapter 11: what masks, an order, distances and both at once are worth, and what they cost.

Of the arms of the small world, written before any exam was looked at; all after 3,600 updates, and with each seed.
*XLNet keeps the dependence among the words that it predicts* (Yang et al. 2019, §2.6) holds if it pays less for both
words of a name, and for a noun and its verb, than the best product of guesses made apart, and draws fewer pairs that no
sentence has. (Of neighbours, where the best product pays 0.04 nats more than the exact reader, that can't be seen.)
*An order is worth more than masks* (their table 6: XLNet against a denoising auto-encoder on the same network) holds if
on XLNet's network and on MPNet's an order pays at least 0.02 nats less for a single hidden word. *Both at once are
worth more than either* (the ablation of Song et al. 2020) holds if MPNet pays at least 0.02 nats less for a single word
than masks, and than an order, on its own network. What an order costs is told as the updates after which an arm is
within 0.1 nats of the floor of its objective. What would hold of a memory, of tuning and of sentences that nobody read,
the modules of these experiments say.

Seen after the runs: the first rule has no BERT that is asked for one word after the other, which `hidden` tells too;
and after 3,600 updates the second can hardly be met, for masks are within 0.02 nats of the best possible.
"""

from typing import Any

from plmlab.chapters.ch11 import arms, hidden
from plmlab.recipes import Parts, rates_tried, seed_statistics, seed_summary, tune_learning_rates
from studies.ch11 import pretrained, price, remembering, tuned, unread


def main(parts: Parts) -> dict[str, Any]:
    """What chapter 11 records: what `compared` tells, and the ``memory``; and of the full world what was
    ``pretrained``, then ``tuned``, and asked for words of ``unread`` sentences."""
    return {**compared(parts), "memory": remembering.measure(parts), "pretrained": pretrained.measure(parts),
            "tuned": tuned.measure(parts), "unread": unread.measure(parts)}


def compared(parts: Parts) -> dict[str, Any]:
    """``arms``: arm → ``lr``, the ``rates`` tried, ``floors`` and what it reads, and by number of updates its ``loss``
    and, of hidden words, by kind, what `hidden.examined` tells, with spread; ``exact``: what the exact reader pays by
    kind, the ``gaps`` of each, and the share that was ``read``."""
    folder = str(parts.folder)
    best = tune_learning_rates(parts, arms.rate_score, arms.PILOTS,
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
