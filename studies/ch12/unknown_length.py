"""Blanks of unknown length: GLM fills them directly; BERT is given their lengths or searches over the lengths.

Du et al. (2022) say that BERT cannot fill a blank of several words properly, because it predicts the words
independently and must enumerate all lengths. Here both models fill the blanks of `blank_test_set`, after the same
number of tokens and with their own learning rates; GLM also after half the number of tokens. GLM fills greedily from
left to right. There are two BERTs, one trained with masked words and one with masked spans. They fill in the ways of
`guessing`, with given lengths or with search; network and way are selected on development rows, by accuracy with given
lengths, and by the mean `chance` with search. The search is also run with the lengths of training spans as a prior,
which depends on the number of visible tokens; the weight of the prior is selected as well.

The rules were fixed before the runs, for the larger budget. A model fills *better* than another if its lowest seed has
a mean `chance` on the test set that is above that of the other's highest seed by more than `MARGIN`. This score is like
`right`, but does not depend on which of several probable fillings happens to be correct.

- The claim *holds* if GLM fills better than BERT with search, and better than BERT with search and the length prior. It
  *fails* if either of these fills better than GLM, and otherwise *does not show at this size*.
- *Knowing the length* is worth what the exact posterior gains from it (no network needed). BERT *uses it* if every seed
  has a higher accuracy with given lengths than all seeds have with search, by more than `MARGIN`. If BERT with given
  lengths has a higher accuracy than GLM, this is not a failure of GLM, because BERT is given more information.
- A model is *at its best* if its mean `chance` is no more than 0.03 below that of the exact posterior; there is then
  nothing left to learn here.
- By construction, and therefore not as a finding, GLM needs one forward pass per word, and BERT one filling per
  combination of lengths; `readings` gives the number of forward passes per row for each.
- A lookup table of training sentences needs no network and comes within 0.02 of the exact posterior's mean `chance`,
  because such a small world can be memorized completely. So no model can fill much better than the table here, and the
  experiment only shows which *way to fill* loses least. On the unseen rows the table is never correct; but even the
  exact posterior is correct on only about one row in ten, so these rows decide nothing: accuracy and the fraction of
  sentences on them are only reported.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from plmlab.chapters.ch12 import blank_test_set
from plmlab.chapters.ch12.blank_arms import ARMS, LONGEST, PAPER, fillings
from plmlab.chapters.ch12.blank_test_set import encoded, in_words, scores_of
from plmlab.recipes import Parts, seed_statistics, separated
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from studies.ch12 import blank_fillers, guessing
from studies.ch12.blank_infilling import BATCH, BUDGETS, SEEDS, prepared, steps, trained

BERTS = ("BERT", "BERT, whole spans")
ASKED = ("development", "test_set", "unread")
MARGIN = 0.01
"""Minimum difference in score for one to count as above the other."""
WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Weights of the length prior in BERT's search; 0 is without it. (4 and 8 were added after the first run, in which 2,
then the edge of the grid, was best.)"""


def glm_told(folder: str, budget: int, seed: int) -> dict[str, dict[str, float]]:
    """Map each set of rows to GLM's scores (`scores_of`), and its forward passes per row (``readings``): one per
    generated word or end."""
    found = {}
    for name in ASKED:
        asked = blank_test_set.rows(name)
        said = fillings(trained(folder, PAPER, budget, seed), ARMS[PAPER].shown, asked)
        found[name] = {**scores_of(asked, said),
                       "readings": fmean(sum(len(words) + 1 for words in row) for row in said)}
    return found


def bert_told(folder: str, name: str, seed: int) -> dict[str, dict[str, dict[str, float]]]:
    """Rows → way to fill → the scores (`scores_of`) of a BERT after the larger budget. The name of a way is "lengths
    given: " and one of `guessing.FILLS`; "all lengths: ", one of these, and the score that ranks lengths; or "with a
    length prior: ", the same two, and the weight of the prior."""
    vocab, found = small_world_tokenizer().vocab, {}
    mask = vocab.need("mask")
    says = guessing.bert_says(trained(folder, name, BUDGETS[-1], seed), vocab)
    in_sight = blank_fillers.lengths_in_sight()
    for rows in ASKED:
        asked = blank_test_set.rows(rows)
        texts = [encoded(row.text) for row in asked]
        lengths = [[len(words) for words in row.fillings] for row in asked]
        ways: dict[str, Any] = {}
        for fill in guessing.FILLS:
            ways[f"lengths given: {fill}"] = guessing.told(says, texts, lengths, mask, fill)
            tried = guessing.guesses(says, texts, mask, LONGEST, fill)
            for measure in guessing.MEASURES:
                ways[f"all lengths: {fill}, by {measure}"] = [guessing.best(of, measure).fillings for of in tried]
                for weight in WEIGHTS:
                    priors = [guessing.length_prior(in_sight.get(len(row.text), ()), LONGEST, weight) for row in asked]
                    ways[f"with a length prior: {fill}, by {measure}, × {weight:g}"] = [
                        guessing.best(of, measure, prior).fillings for of, prior in zip(tried, priors, strict=True)]
        found[rows] = {way: scores_of(asked, in_words(said)) for way, said in ways.items()}
    return found


def readings(rows: str = "test_set") -> dict[str, float]:
    """Map each kind of BERT to its mean number of forward passes per row, if it fills the most certain word first and
    ranks lengths by the words in the blanks."""
    told, guessed = [], []
    for row in blank_test_set.rows(rows):
        tried = guessing.lengths_tried(encoded(row.text), small_world_tokenizer().vocab.need("mask"), LONGEST)
        told.append(sum(map(len, row.fillings)))
        guessed.append(2 * sum(map(sum, tried)))
    return {"lengths given": fmean(told), "all lengths": fmean(guessed)}


def best_ways(runs: dict[tuple[str, int], dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """Kind ("lengths given", "all lengths", "with a length prior") → the BERT and the way that are best on
    development rows, averaged over the seeds: with given lengths by accuracy (``right``), because the model then
    has more information than ``chance`` assumes; with search by ``chance``. ``runs`` maps (BERT, seed) to the
    output of `bert_told`."""
    scores = {(name, way): fmean(runs[name, seed]["development"][way][
        "right" if way.startswith("lengths given") else "chance"] for seed in SEEDS)
              for name, first in runs if first == SEEDS[0] for way in runs[name, first]["development"]}
    kinds = dict.fromkeys(way.split(":")[0] for _, way in scores)
    return {kind: max((pair for pair in scores if pair[1].startswith(f"{kind}:")), key=scores.__getitem__)
            for kind in kinds}


def verdict(glm: dict[str, Any], guessers: Sequence[dict[str, Any]]) -> str:
    """The verdict by the rule above, given the mean chances with their spread."""
    return "supported" if all(separated(glm, told, MARGIN) for told in guessers) else \
        "not supported" if any(separated(told, glm, MARGIN) for told in guessers) else "no effect at this size"


def measure(parts: Parts) -> dict[str, Any]:
    """``arms`` as they were `prepared`; ``filled``: rows → GLM by budget ("GLM, 1250"), and BERT's kinds with the
    network and way used (``by``), each with the scores of `scores_of` with spread; all the ``ways`` of both BERTs on
    the test set; ``exact`` posteriors, ``baselines`` and ``readings``; the ``verdict``; and whether BERT ``uses the
    length``."""
    folder = str(parts.folder)
    arms = prepared(parts, (PAPER, *BERTS))
    glms = parts(glm_told, [(folder, budget, seed) for budget in BUDGETS for seed in SEEDS])
    told = parts(bert_told, [(folder, name, seed) for name in BERTS for seed in SEEDS])
    berts = {(name, seed): told[folder, name, seed] for name in BERTS for seed in SEEDS}
    chosen, filled = best_ways(berts), {}
    for rows in ASKED:
        filled[rows] = {f"GLM, {budget}": seed_statistics({seed: glms[folder, budget, seed][rows] for seed in SEEDS})
                        for budget in BUDGETS}
        for kind, (name, way) in chosen.items():
            filled[rows][f"BERT, {kind}"] = {
                "by": [name, way], **seed_statistics({seed: berts[name, seed][rows][way] for seed in SEEDS})}
    sentences = BATCH * steps(PAPER, BUDGETS[-1])
    baselines = {rows: told for (rows, _), told in parts(
        blank_fillers.baselines, [("test_set", sentences), ("unread", sentences)]).items()}
    test_set = filled["test_set"]
    guessers = [test_set["BERT, all lengths"], test_set["BERT, with a length prior"]]
    return {
        "arms": arms, "filled": filled,
        "ways": {name: {way: fmean(berts[name, seed]["test_set"][way]["right"] for seed in SEEDS)
                        for way in berts[name, SEEDS[0]]["test_set"]} for name in BERTS},
        "exact": {rows: told for (rows,), told in parts(blank_fillers.exact, [("test_set",), ("unread",)]).items()},
        "baselines": baselines, "readings": readings(),
        "verdict": verdict(test_set[f"GLM, {BUDGETS[-1]}"]["chance"], [told["chance"] for told in guessers]),
        "uses the length": all(separated(test_set["BERT, lengths given"]["right"], told["right"], MARGIN)
                               for told in guessers)}
