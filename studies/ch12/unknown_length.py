"""Blanks of unknown length: GLM fills them, BERT is told how long they are, or guesses.

Du et al. (2022) say that BERT cannot fill a blank of several words properly: its guesses are made apart from each
other, and it must go through all lengths. Here both fill the blanks of `blank_test_set`, after as many tokens, with
rates of their own; GLM also after half of them. GLM fills greedily, from left to right. BERT is two networks, one that
had words hidden and one that had whole spans hidden. Told or guessing, it fills by the ways of `guessing`; network and
way are those that are best on development rows: told, by what is right, and guessing, by the mean `chance`. Where it
guesses, it does so also with the lengths of training added, which depend on how much is in sight; their weight is
chosen too.

Written before the runs, for the larger budget. Who fills *better* has in each seed a higher mean `chance` on the exam
than the other in each of its own, by more than `MARGIN`: as `right`, without the luck of which of several likely ways
is the right one.

- The claim *holds* if GLM fills better than BERT guessing, and better than BERT guessing with the lengths of training
  added. It *fails* if either fills better than GLM, and else *does not show at this size*.
- *Knowing the length* is worth what the exact filler gains by it (no network needed). BERT *uses it* if it has more
  right in each seed when told than in each when it guesses, by more than `MARGIN`. A BERT that is told and has more
  right than GLM is no failure of GLM's: it knows more.
- A filler is *at its best* if its mean chance is no more than 0.03 below the exact filler's: then there is nothing left
  to be learned here.
- By construction, and so no finding: GLM needs a reading for each word, and BERT as many fillings as there are lengths;
  `readings` tells how many texts each reads for a row.
- A table of training sentences needs no network and comes within 0.02 of the exact filler's mean chance: all of so
  small a world can be learned by heart. So nobody can fill much better than the table here, and the experiment tells
  which *way to fill* loses least, no more. On the unread rows the table is never right; but even the exact filler is,
  some one time in ten, so that they decide nothing: what is right there is told, and how often a sentence comes out.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from plmlab.chapters.ch12 import blank_test_set
from plmlab.chapters.ch12.blank_arms import ARMS, LONGEST, PAPER, fillings
from plmlab.chapters.ch12.blank_test_set import encoded, in_words, judged
from plmlab.recipes import Parts, seed_statistics, separated
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from studies.ch12 import blank_fillers, guessing
from studies.ch12.blank_infilling import BATCH, BUDGETS, SEEDS, prepared, steps, trained

BERTS = ("BERT", "BERT, whole spans")
ASKED = ("development", "test_set", "unread")
MARGIN = 0.01
"""A share by which one must be above the other."""
WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Of the lengths of training, where BERT guesses; 0 is without them. (4 and 8 were added after the first run, in which
2, then the edge, came out as best.)"""


def glm_told(folder: str, budget: int, seed: int) -> dict[str, dict[str, float]]:
    """Rows → what `judged` tells of GLM, and its ``readings``: the texts that it reads for a row, one a word, or an
    end, that it says."""
    found = {}
    for name in ASKED:
        asked = blank_test_set.rows(name)
        said = fillings(trained(folder, PAPER, budget, seed), ARMS[PAPER].shown, asked)
        found[name] = {**judged(asked, said), "readings": fmean(sum(len(words) + 1 for words in row) for row in said)}
    return found


def bert_told(folder: str, name: str, seed: int) -> dict[str, dict[str, dict[str, float]]]:
    """Rows → way to fill → what `judged` tells of a BERT after the larger budget. Ways are "told: " and one of
    `guessing.FILLS`; "guessed: ", that, and what lengths are ranked by; and "with lengths of training: ", both, and the
    weight of these."""
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
            ways[f"told: {fill}"] = guessing.told(says, texts, lengths, mask, fill)
            tried = guessing.guesses(says, texts, mask, LONGEST, fill)
            for measure in guessing.MEASURES:
                ways[f"guessed: {fill}, by {measure}"] = [guessing.best(of, measure).fillings for of in tried]
                for weight in WEIGHTS:
                    priors = [guessing.length_prior(in_sight.get(len(row.text), ()), LONGEST, weight) for row in asked]
                    ways[f"with lengths of training: {fill}, by {measure}, × {weight:g}"] = [
                        guessing.best(of, measure, prior).fillings for of, prior in zip(tried, priors, strict=True)]
        found[rows] = {way: judged(asked, in_words(said)) for way, said in ways.items()}
    return found


def readings(rows: str = "test_set") -> dict[str, float]:
    """Kind of BERT → the texts that it reads for a row, on average, filling the most certain word first and ranking by
    the words in the blanks."""
    told, guessed = [], []
    for row in blank_test_set.rows(rows):
        tried = guessing.lengths_tried(encoded(row.text), small_world_tokenizer().vocab.need("mask"), LONGEST)
        told.append(sum(map(len, row.fillings)))
        guessed.append(2 * sum(map(sum, tried)))
    return {"told": fmean(told), "guessed": fmean(guessed)}


def best_ways(runs: dict[tuple[str, int], dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """Kind ("told", "guessed", "with lengths of training") → the BERT and the way that are best on development rows, in
    the mean over the seeds: told, by what is ``right``, for it knows more than a ``chance`` does; guessing, by that.
    ``runs``: (BERT, seed) → `bert_told`."""
    scores = {(name, way): fmean(runs[name, seed]["development"][way]["right" if way.startswith("told") else "chance"]
                                 for seed in SEEDS)
              for name, first in runs if first == SEEDS[0] for way in runs[name, first]["development"]}
    kinds = dict.fromkeys(way.split(":")[0] for _, way in scores)
    return {kind: max((pair for pair in scores if pair[1].startswith(f"{kind}:")), key=scores.__getitem__)
            for kind in kinds}


def verdict(glm: dict[str, Any], guessers: Sequence[dict[str, Any]]) -> str:
    """What was written before the runs, of mean chances, with their spread."""
    return "holds" if all(separated(glm, told, MARGIN) for told in guessers) else \
        "fails" if any(separated(told, glm, MARGIN) for told in guessers) else "does not show at this size"


def measure(parts: Parts) -> dict[str, Any]:
    """``arms`` as they were `prepared`; ``filled``: rows → GLM by budget ("GLM, 1250"), BERT's kinds with ``by`` whom
    and how, what `judged` tells with spread; all the ``ways`` of both BERTs in the exam; ``exact`` fillers,
    ``baselines`` and ``readings``; the ``verdict``; and whether BERT ``uses the length``."""
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
    guessers = [test_set["BERT, guessed"], test_set["BERT, with lengths of training"]]
    return {
        "arms": arms, "filled": filled,
        "ways": {name: {way: fmean(berts[name, seed]["test_set"][way]["right"] for seed in SEEDS)
                        for way in berts[name, SEEDS[0]]["test_set"]} for name in BERTS},
        "exact": {rows: told for (rows,), told in parts(blank_fillers.exact, [("test_set",), ("unread",)]).items()},
        "baselines": baselines, "readings": readings(),
        "verdict": verdict(test_set[f"GLM, {BUDGETS[-1]}"]["chance"], [told["chance"] for told in guessers]),
        "uses the length": all(separated(test_set["BERT, told"]["right"], told["right"], MARGIN) for told in guessers)}
