"""ELECTRA's claim (Clark et al. 2020, tables 1 and 5): given the same compute, a discriminator that learns from every
position is better than masked language models, BERT-Small 75.1 and ELECTRA-Small 79.9 on GLUE.

Variants: the pretraining tasks of table 5. BERT is trained with the masking rate 15 %, and with the better of 30 % and
50 %. The generator is a quarter as wide as the encoder, as in the paper, or as wide: the better width for ELECTRA is
used for all tasks with a generator. Both choices are made on development data with the pilot seed. Each variant is
trained for the compute (FLOPs, generator included) of 1,000 and of 3,000 updates of BERT with 15 %, its learning rate
chosen at 1,000 by the development F1 of the NER classifier. The claim is about a given amount of compute, so that no
variant needs to reach a plateau.

Scores: acceptability, fine-tuned (accuracy), and a linear NER classifier on frozen outputs (entity-level F1), each with
1,024 labels. Acceptability was expected to favour ELECTRA, because unacceptable sentences are made by replacing a verb.

**The criteria**, written before these runs, but after single runs with one seed, not used here, in which BERT was
ahead of ELECTRA:

- *Supported*, if at the larger budget ELECTRA is above each BERT on both scores, its lowest seed above the highest seed
  of BERT. *Partly supported*, if this holds on one of the two scores, or on both only against BERT with 15 %.
- *No effect at this size*, if otherwise the means of ELECTRA and of the second BERT differ on both scores by less than
  the spread of the seeds, the larger of the two ranges from lowest to highest. In all other cases *not supported*.
- "The gain comes from all positions" is supported, if on both scores, at the larger budget, All-Tokens MLM and ELECTRA
  are each separated above Replace MLM and ELECTRA 15 %; partly, if on one; no effect and not supported by the same
  rule, applied to all four pairs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plmlab.models.bert import BERT
from plmlab.recipes import Parts, separated
from plmlab.recipes.rates import Arm
from plmlab.recipes.study import Run, Study
from plmlab.transfer import MOST, majority, run_result
from studies.ch09.pretraining_tasks import build, flops_per_update, train, updates_at

PRETRAINING_RATES = (1e-3, 3e-3, 1e-2)
FINE_TUNING_RATES = {"acceptability": (5e-4, 1e-3, 2e-3), "NER": (1e-2, 3e-2, 1e-1, 3e-1)}
"""Score → the rates tried, of which the best on development data is used. For NER the encoder is frozen."""
SCORES = tuple(FINE_TUNING_RATES)
BETWEEN = ("Replace MLM", "ELECTRA 15%", "All-Tokens MLM")
BUDGETS = (1000, 3000)
"""Compute of the runs, in updates of BERT with 15 %."""
STEPS, PATIENCE, LABELS = 600, 6, MOST
"""Fine-tuning: maximum number of updates, early-stopping patience in evaluations, number of labels."""


def score(encoder: BERT, name: str, seed: int) -> dict[str, float]:
    """``test`` and ``development`` value of a score, at the rate that is best on development data."""
    runs = [run_result(encoder, name, LABELS, seed, lr=lr, steps=STEPS, patience=PATIENCE, features=name == "NER")
            for lr in FINE_TUNING_RATES[name]]
    best = max(runs, key=lambda run: run["development"])
    return {"test": best["score"], "development": best["development"]}


def scores_of(encoder: BERT, seed: int) -> dict[str, dict[str, float]]:
    """Score → its test and development value."""
    return {name: score(encoder, name, seed) for name in SCORES}


def development(run: Run) -> float:
    """The NER classifier's F1 on development data."""
    return score(run.model.encoder, "NER", run.seed)["development"]


def test(run: Run) -> dict[str, dict[str, float]]:
    """The two scores of a run."""
    return scores_of(run.model.encoder, run.seed)


def untrained(seed: int) -> dict[str, dict[str, float]]:
    """The two scores of an encoder with random weights."""
    return scores_of(build("ELECTRA", 1 / 4, seed).encoder, seed)


def study(nothing: float, arms: Sequence[Arm], budgets: Sequence[int]) -> Study:
    """The study of some variants; ``nothing`` is the development score of an untrained encoder."""
    return Study(
        name="learning signal", arms=dict.fromkeys(arms, PRETRAINING_RATES), build=build, train=train,
        development=development, test=test, pilots=(9,), nothing=nothing,
        updates={arm: tuple(updates_at(*arm, budget=budget) for budget in budgets) for arm in arms},
        unequal="equal compute: FLOPs of all matrix products, those of the generator included")


def chosen(parts: Parts, nothing: float, candidates: Sequence[Arm], budget: int) -> tuple[Arm, dict[str, float]]:
    """The candidate with the best pilot run, and the development score of each candidate's best run, by its number."""
    pilots = study(nothing, candidates, (budget,)).best(
        parts, [(*arm, updates_at(*arm, budget=budget)) for arm in candidates])
    scores = {arm[:-1]: rates[lr] for arm, (lr, rates) in pilots.items()}
    return max(candidates, key=scores.__getitem__), {str(arm[1]): value for arm, value in scores.items()}


def compare(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Comparison of two summaries over seeds: "above" (all seeds separated), "equal" (the means differ by less than the
    larger range of seeds), or "different"."""
    if separated(one, other):
        return "above"
    spread = max(one["high"] - one["low"], other["high"] - other["low"])
    return "equal" if abs(one["mean"] - other["mean"]) < spread else "different"


def criteria(results: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, str]:
    """The criteria above, for variant → score → its summary over seeds at the larger budget. Returns the ``verdict`` of
    the claim and that of ``all positions``."""
    def comparisons(one: str, other: str) -> list[str]:
        return [compare(results[one][name], results[other][name]) for name in SCORES]

    best, base = comparisons("ELECTRA", "BERT, best rate"), comparisons("ELECTRA", "BERT 15%")
    pairs = [comparisons(one, other) for one in ("All-Tokens MLM", "ELECTRA") for other in ("Replace MLM",
                                                                                            "ELECTRA 15%")]
    by_score = [list(one) for one in zip(*pairs, strict=True)]
    above_both = [{*one} == {"above"} for one in zip(best, base, strict=True)]
    above_all = [{*one} == {"above"} for one in by_score]
    return {"verdict": _verdict(all(above_both), any(above_both) or {*base} == {"above"}, best),
            "all positions": _verdict(all(above_all), any(above_all), [one for row in by_score for one in row])}


def _verdict(whole: bool, part: bool, comparisons: Sequence[str]) -> str:
    if whole or part:
        return "supported" if whole else "partly supported"
    return "no effect at this size" if {*comparisons} == {"equal"} else "not supported"


def measure(parts: Parts, budgets: Sequence[int] = BUDGETS) -> dict[str, Any]:
    """``untrained``: the scores of a random encoder; ``masking rates`` and ``generators``: the pilot scores of the
    candidates; the ``criteria``; and ``variants``: name → ``choice``, ``flops`` of an update and ``budgets``: budget →
    ``updates``, ``lr``, ``rates`` tried, and score → ``test`` and ``development``, with spread."""
    random = parts(untrained, [(seed,) for seed in (9, 0, 1, 2)])
    nothing = random[9,]["NER"]["development"]
    better_bert, rates = chosen(parts, nothing, [("BERT", 0.3), ("BERT", 0.5)], budgets[0])
    electra, widths = chosen(parts, nothing, [("ELECTRA", 1 / 4), ("ELECTRA", 1.0)], budgets[0])
    arms: dict[str, Arm] = {"BERT 15%": ("BERT", 0.15), "BERT, best rate": better_bert, **{
        name: (name, electra[1]) for name in BETWEEN}, "ELECTRA": electra}
    found = study(nothing, [*arms.values()], budgets)
    first = {arm: (*arm, updates_at(*arm, budget=budgets[0])) for arm in arms.values()}
    pilots = found.best(parts, [*first.values()])
    results = found.at(parts, {(*arm, updates_at(*arm, budget=budget)): pilots[first[arm]]
                               for arm in first for budget in budgets})
    variants: dict[str, Any] = {name: {
        "choice": arm[1], "flops": flops_per_update(*arm),
        "budgets": {str(budget): {"updates": updates_at(*arm, budget=budget),
                                  **results[*arm, updates_at(*arm, budget=budget)].as_record()} for budget in budgets}}
        for name, arm in arms.items()}
    at_largest = {name: {score: row["budgets"][str(budgets[-1])][score]["test"] for score in SCORES}
                  for name, row in variants.items()}
    return {"untrained": [{"seed": seed, **random[seed,]} for seed in (0, 1, 2)], "majority": majority("acceptability"),
            "masking rates": rates, "generators": widths, "variants": variants, "criteria": criteria(at_largest)}
