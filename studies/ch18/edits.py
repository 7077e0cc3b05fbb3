"""Do FaE's answers follow facts that are changed, added or removed after training?

If an answer is taken from an edited fact, it follows the edit by construction. Open questions are whether the fact is
retrieved, whether the answer is taken from it, and whether the weights contain the old answer. Small FaEs are trained
from random weights on a world (`plmlab.world.datasets.fact_worlds`). *One world* is the paper's setting: the text
states the facts, so that the weights can memorize them. In *many worlds*, names are exchanged at random in each batch,
so that only the memory, or a sentence before the statement, gives the answer. The worlds of chapters 16 and 17 can't be
used for this: three quarters of a test world's people do not occur in the training worlds, and FaE has no vector for an
entity that it has never seen. In both settings, some facts are only in the memory and some in neither. The memory of a
batch is complete, or each fact is left out with probability `LEFT_OUT`; in many worlds it is never complete.

The test has one statement per fact, with a masked object. Two disjoint sets of facts are changed or removed, all facts
of a set at once. Each seed has another test world, and the pilots have the development world; learning rates are chosen
by the accuracy with the complete memory.

REALM and RAG get the same changes in their documents (`studies.ch18.edited_documents`). FaE is given the spans of the
names, and chooses one of 60 entities; REALM is given the length of the masked name, RAG generates the answer. The edits
recorded in chapters 16 and 17 are others: they include years and crafts, and exclude objects about which there is a
document.

The rules were fixed before the runs. Shares are those of the answers that were correct before the change, and
comparisons need every seed of one above every seed of the other by more than `MARGIN`.

- *changed facts*: supported if, for every seed, the answer is the new object for more than 90 %; not supported if it is
  for less than 50 %. The same for *changed facts not in the text* ("memory only" and "neither").
- *unrelated facts*: supported if, for every seed, more than 95 % of the answers stay; not supported if less than 80 %
  do.
- *added facts*: the accuracy for facts that are in neither text nor memory is higher after they were added.
- *contradicting text*: if a sentence before the statement contradicts the memory, the answer is the memory's object
  more often than the text's.
- *more often than REALM*, *than RAG*: the answer is the new object more often than theirs.
- *memorization*: the old answer stays after a removal more often in one world than in many, with facts left out.
- *null fact*: it gets a higher probability after a removal if facts were left out in training, in one world.
"""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from plmlab.chapters.ch18.fact_edits import (
    FOLLOWS,
    Answer,
    Figures,
    Words,
    answers,
    correct,
    edited,
    other_wording,
)
from plmlab.chapters.ch18.fact_training import MANY, ONE, build, train
from plmlab.models.fae import FaE
from plmlab.recipes import Parts, seed_statistics
from plmlab.recipes.study import NO_EFFECT, Run, Study, combined_verdict, verdict
from plmlab.train import History
from plmlab.world.datasets.changed_documents import Changes
from plmlab.world.datasets.fact_documents import DEVELOPMENT, TEST_WORLDS
from plmlab.world.datasets.fact_worlds import GROUPS, STATED, UNSEEN, FactStatement, FactWorld, fact_world
from studies.ch18 import edited_documents

LEFT_OUT = 0.2
ARMS = ((ONE, 0.0), (ONE, LEFT_OUT), (MANY, LEFT_OUT))
RATES = (3e-3, 1e-2, 3e-2)
UPDATES = 2400
WORLDS = {**dict(enumerate(TEST_WORLDS)), 9: DEVELOPMENT}
"""Seed → world."""
MARGIN = 0.05
NOT_IN_TEXT, FIRST, NOT_FIRST = "not in the text", "fact first", "fact not first"
CONFLICTS = ("text old, memory new", "text new, memory old")


def learn(model: FaE, worlds: str, left_out: float, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a variant on the world of its seed."""
    return train(model, fact_world(WORLDS[seed]), worlds, left_out, updates, lr, seed, **options)


def labels(world: FactWorld, one: FactStatement) -> tuple[str, ...]:
    """The names under which a statement is counted."""
    group = world.group(one.fact)
    return ("all", group) if group == STATED else ("all", group, NOT_IN_TEXT)


def by_label(world: FactWorld, name: str, values: list[float]) -> Figures:
    """The means of one number per statement, by label."""
    return {f"{label}: {name}": fmean(value for one, value in zip(world.test, values, strict=True)
                                      if label in labels(world, one)) for label in ("all", *GROUPS)}


def names_of(found: list[Answer]) -> list[Words]:
    """The names of the predicted entities."""
    return [one.entity.words for one in found]


def retrieval(world: FactWorld, found: list[Answer]) -> Figures:
    """How often the correct fact is the best one, and among the retrieved ones; how many answers are correct without
    it; and the probability of the null fact."""
    first = [one.found(world.key(each.fact), 1) for each, one in zip(world.test, found, strict=True)]
    among = [one.found(world.key(each.fact), len(one.facts)) for each, one in zip(world.test, found, strict=True)]
    hits = {"fact first": [*map(float, first)], "fact found": [*map(float, among)], "null": [one.null for one in found]}
    return {name: value for each, values in hits.items() for name, value in by_label(world, each, values).items()} | {
        "missed": len(first) - sum(first),
        "missed, correct": sum(right for right, hit in zip(correct(world, found), first, strict=True) if not hit)}


def removals(model: FaE, world: FactWorld) -> Figures:
    """The probability of the null fact for facts that are removed, by label."""
    nulls = dict[FactStatement, float]()
    for changes in world.changes:
        found = answers(model, world, world.test, world.memory(dict.fromkeys(changes)))
        nulls |= {one: answer.null for one, answer in zip(world.test, found, strict=True) if one.fact in changes}
    return {"removed: null": fmean(nulls.values())}


def conflicts(model: FaE, world: FactWorld, known: list[bool]) -> Figures:
    """The answers if another sentence before a statement, whose answer was correct, contradicts the memory, or if the
    memory lacks the fact: how many follow the ``memory`` and the ``text``, and the number of such statements."""
    rows: dict[str, list[tuple[Words, Words, Words]]] = {name: [] for name in (*CONFLICTS, "text only")}
    for changes in world.changes:
        some = [one for one, right in zip(world.test, known, strict=True)
                if right and one.fact in changes and other_wording(world, one) is not None]
        old = [world.world.facts[one.fact.object] for one in some]
        new = [changes[one.fact] for one in some]
        for name, facts, text, memory in ((CONFLICTS[0], changes, old, new), (CONFLICTS[1], {}, new, old),
                                          ("text only", dict.fromkeys(changes), old, new)):
            before = [other_wording(world, one, each) for one, each in zip(some, text, strict=True)]
            found = answers(model, world, some, world.memory(facts), [one for one in before if one is not None])
            rows[name] += zip(names_of(found), [one.words for one in text], [one.words for one in memory], strict=True)
    return {"conflicts": len(rows["text only"])} | {
        f"{name}: {source}": fmean([row[0] == row[place] for row in some] or [0.0])
        for name, some in rows.items() for place, source in ((1, "text"), (2, "memory"))}


def figures(model: FaE, world: FactWorld) -> Figures:
    """All test results of a model."""
    def answered(changes: Changes) -> list[Words]:
        return names_of(answers(model, world, world.test, world.memory(changes)))

    full, lacking = (answers(model, world, world.test, world.memory(without=some)) for some in ((), {UNSEEN}))
    places = {one: FIRST if found.found(world.key(one.fact), 1) else NOT_FIRST
              for one, found in zip(world.test, full, strict=True)}
    missing = {name.replace(UNSEEN, f"{UNSEEN}, not added"): value for name, value in {
        **by_label(world, "accuracy", correct(world, lacking)),
        **by_label(world, "null", [one.null for one in lacking])}.items() if name.startswith(UNSEEN)}
    return {**edited(world, answered, lambda one: (*labels(world, one), places[one])), **retrieval(world, full),
            **missing, **removals(model, world), **conflicts(model, world, [*map(bool, correct(world, full))])}


def baselines(seed: int) -> Figures:
    """Accuracy without a model: of a look-up with the correct subject and relation; of a random fact of the subject; of
    the relation's most frequent object."""
    world = fact_world(seed)
    facts, rows = {one.key: one.objects for one in world.memory()}, list[tuple[float, float, float]]()
    for one in world.test:
        (subject, relation), target = world.key(one.fact), world.ids[one.fact.object]
        every = [each for (_, other), objects in facts.items() if other == relation for each in objects]
        about = [target in objects for (other, _), objects in facts.items() if other == subject]
        rows.append((float(facts[subject, relation] == (target,)), fmean(about),
                     float(max(every, key=every.count) == target)))
    return dict(zip(("look-up", "a fact of the subject", "most frequent object"), map(fmean, zip(*rows, strict=True)),
                    strict=True))


def development_score(run: Run) -> float:
    """The accuracy with the complete memory."""
    world = fact_world(WORLDS[run.seed])
    return fmean(correct(world, answers(run.model, world, world.test, world.memory())))


def test(run: Run) -> Figures:
    """The `figures` of a run."""
    return figures(run.model, fact_world(WORLDS[run.seed]))


def start(worlds: str, left_out: float, seed: int) -> FaE:
    """The model of a variant before training."""
    return build(fact_world(WORLDS[seed]), seed)


STUDY: Study[FaE] = Study(name="edits", arms=dict.fromkeys(ARMS, RATES), build=start, train=learn,
                          development=development_score, test=test, updates=(UPDATES,), nothing=0.1, pilots=(9,))


def measure(parts: Parts) -> dict[str, Any]:
    """``runs``: variant → ``lr``, ``rates`` and the numbers of `test` with spread; the same numbers of `edited` for the
    ``documents`` of REALM and RAG; the ``baselines``; and the ``verdicts``."""
    runs = {f"{worlds}, {left_out:g} left out": one.as_record()
            for (worlds, left_out, _), one in STUDY.measure(parts).items()}
    tasks = [(name, WORLDS[seed]) for name in edited_documents.SYSTEMS for seed in STUDY.seeds]
    found = parts(edited_documents.figures, tasks)
    documents = {name: seed_statistics({seed: found[name, WORLDS[seed]] for seed in STUDY.seeds})
                 for name in edited_documents.SYSTEMS}
    alone = parts(baselines, [(WORLDS[seed],) for seed in STUDY.seeds])
    return {"runs": runs, "documents": documents, "verdicts": verdicts(runs, documents),
            "baselines": seed_statistics({seed: alone[WORLDS[seed],] for seed in STUDY.seeds})}


def level(share: Mapping[str, Any], above: float, below: float) -> str:
    """Verdict on the claim that a share is ``above`` a level: the opposite holds if it is ``below`` another one."""
    return "supported" if share["low"] > above else "not supported" if share["high"] < below else NO_EFFECT


def verdicts(runs: Mapping[str, Mapping[str, Any]], documents: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The verdict on each claim, by variant and by its name in the module's docstring."""
    made = dict[str, str]()
    for name, run in runs.items():
        follows = run[f"all: {FOLLOWS}"]
        made |= {f"{name}: {claim}": said for claim, said in {
            "changed facts": level(follows, 0.9, 0.5),
            "changed facts not in the text": level(run[f"{NOT_IN_TEXT}: {FOLLOWS}"], 0.9, 0.5),
            "unrelated facts": level(run["all: unrelated"], 0.95, 0.8),
            "added facts": verdict(run[f"{UNSEEN}: accuracy"], run[f"{UNSEEN}, not added: accuracy"], MARGIN),
            "contradicting text": combined_verdict(verdict(run[f"{each}: memory"], run[f"{each}: text"], MARGIN)
                                                   for each in CONFLICTS),
            **{f"more often than {system}": verdict(follows, found[f"all: {FOLLOWS}"], MARGIN)
               for system, found in documents.items()}}.items()}
    complete, lacking, many = (runs[f"{worlds}, {left_out:g} left out"] for worlds, left_out in ARMS)
    return made | {
        "memorization": verdict(lacking["all: removed, old answer"], many["all: removed, old answer"], MARGIN),
        "null fact": verdict(lacking["removed: null"], complete["removed: null"], MARGIN)}
