"""Recipe of chapter 11: the contributions of masks, a factorization order, relative positions and MPNet's combination,
and their convergence speed.

The rules for the variants on the small world were fixed before any test result was seen; each rule applies after 3,600
updates, and to every seed. *XLNet keeps the dependence among the words that it predicts* (Yang et al. 2019, §2.6) holds
if its loss on both words of a name, and on a noun and its verb, is lower than that of the best product of independent
predictions, and fewer of its sampled pairs occur in no sentence. (For adjacent words the test is not possible, because
the best product is only 0.04 nats above the exact posterior.) *The permutation LM is better than the masked LM* (their
table 6, XLNet compared with a denoising auto-encoder on the same network) holds if its loss on a single masked word is
at least 0.02 nats lower, on XLNet's network and on MPNet's. *The combination is better than either* (the ablation of
Song et al. 2020) holds if MPNet's loss on a single word is at least 0.02 nats lower than that of the masked LM, and
than that of the permutation LM, on MPNet's network. Convergence speed is the number of updates after which a variant is
within 0.1 nats of the floor of its objective. The rules for memory, fine-tuning and unseen sentences are in the modules
of these experiments.

Two points were noticed after the runs: the first rule does not consider a BERT that predicts one word after the other,
which `masked_words` measures too; and after 3,600 updates the second rule can hardly be met, because the masked LM is
within 0.02 nats of the optimum. The variants "always [MASK]" were added later, at a reader's request: a permutation LM
sees no random words, so that a masked LM without BERT's 80/10/10 corruption is its fair baseline.
"""

from typing import Any

from plmlab.chapters.ch11 import arms, masked_words
from plmlab.recipes import Parts, rates_tried, seed_statistics, seed_summary, tune_learning_rates
from studies.ch11 import fine_tuning, floors, memory_ablation, pretrained, unseen_sentences


def main(parts: Parts) -> dict[str, Any]:
    """The results of chapter 11: those of `compare_variants`, and the ``memory``; and for the full world the
    ``pretrained`` models, then ``fine-tuned``, and evaluated on masked words of ``unseen`` sentences."""
    return {**compare_variants(parts), "memory": memory_ablation.measure(parts),
            "pretrained": pretrained.measure(parts), "fine-tuned": fine_tuning.measure(parts),
            "unseen": unseen_sentences.measure(parts)}


def compare_variants(parts: Parts) -> dict[str, Any]:
    """``arms``: variant → ``lr``, the ``rates`` tried, ``floors`` and the amount of training text, and by number of
    updates its ``loss`` and the output of `masked_words.evaluate_saved` by kind of masked words, with spread;
    ``exact``: the output of `masked_words.describe_test_set` by kind."""
    folder = str(parts.folder)
    best = tune_learning_rates(parts, arms.lr_score, arms.PILOTS,
                               {(name,): arms.RATES for name in arms.ARMS if name not in arms.LR_FROM})
    rates = {name: best[arms.LR_FROM.get(name, name),] for name in arms.ARMS}
    runs = [(name, updates, seed) for name in arms.ARMS for updates in arms.budgets(name) for seed in arms.SEEDS]
    losses = parts(arms.train_and_save, [(folder, name, updates, rates[name][0], seed) for name, updates, seed in runs])
    evaluations = parts(masked_words.evaluate_saved, [(folder, *run) for run in runs if arms.ARMS[run[0]].cloze])
    results = floors.floors_and_tokens()
    for name, (lr, scores) in rates.items():
        results[name] |= {"lr": lr, "rates": rates_tried(scores), "updates": {}}
        for updates in arms.budgets(name):
            found: dict[str, Any] = {"loss": seed_summary({
                seed: losses[folder, name, updates, lr, seed] for seed in arms.SEEDS})}
            if arms.ARMS[name].cloze:
                found |= seed_statistics({seed: evaluations[folder, name, updates, seed] for seed in arms.SEEDS})
            results[name]["updates"][str(updates)] = found
    return {"arms": results,
            "exact": {kind: masked_words.describe_test_set(kind) for kind in masked_words.KINDS}, "k": arms.K,
            "rate": arms.RATE, "batch": arms.BATCH, "pilot updates": arms.PILOT}
