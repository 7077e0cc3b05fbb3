"""Which questions stand in which split, exhaustively; how they are drawn, and that no answer is guessed by place."""

import hashlib
import os
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import islice, pairwise, product

import pytest
from question_brute import ASKED, cases

from plmlab import world
from plmlab.world.grammar.splits import SPLITS
from plmlab.world.questions.bank import KINDS, Question
from plmlab.world.questions.chains import names


@pytest.fixture(params=["small", "full"])
def made(request: pytest.FixtureRequest) -> world.World:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def compared(small: world.World, full: world.World) -> dict[str, list[Question]]:
    """The first two thousand training comparisons of both worlds."""
    return {made.name: list(islice(made.questions("comparison", "train", 6), 2000)) for made in (small, full)}


def test_the_splits_share_no_set_of_facts(made):
    """Exhaustively: whatever the wording, the direction or the order of the two, one set of facts is in one split."""
    needed = {split: {facts for shape, facts, _ in cases(made, split)} for split in SPLITS}
    assert all(needed.values())
    for one, other in product(SPLITS, SPLITS):
        if one < other and "combinations" not in (one, other):
            assert not needed[one] & needed[other], (one, other)
    assert not needed["combinations"] & needed["train"]


def test_training_questions_need_nothing_that_is_held_out(made):
    """Exhaustively."""
    held = made.question_bank.cases.held
    assert held
    for shape, facts, case in cases(made, "train") + cases(made, "test"):
        assert not facts & made.held.facts
        assert not made.held.entities & {entity.key for chain in case for entity in chain.entities}
        relations = [step.name for step in shape.steps]
        assert not held & set(pairwise(relations))


def test_held_out_questions_need_just_that(made):
    """Exhaustively: a held-out fact, entity or composition; never two of them."""
    held = made.question_bank.cases.held
    for split in ("facts", "entities", "combinations"):
        for shape, facts, case in cases(made, split):
            relations = [step.name for step in shape.steps]
            found = {"facts": bool(facts & made.held.facts),
                     "entities": bool(made.held.entities & {e.key for chain in case for e in chain.entities}),
                     "combinations": bool(held & set(pairwise(relations)))}
            assert [name for name, is_held in found.items() if is_held] == [split]


def test_no_text_is_asked_in_two_splits(full):
    """Exhaustively in all wordings, but for comparisons, which the facts keep apart."""
    asked: dict[str, str] = {}
    for split in SPLITS:
        for shape, _, case in cases(full, split):
            if shape.sign is None:
                for wording in shape.wordings:
                    text = " ".join(wording.english).replace("{a}", case[0].start.name)
                    assert asked.setdefault(text, split) == split, text


def test_every_relation_that_is_held_in_composition_is_composed_in_training(made):
    trained = {step.name for shape, _, _ in cases(made, "train") if len(shape.steps) > 1 for step in shape.steps}
    used = {step.name for shape, _, _ in cases(made, "combinations") for step in shape.steps}
    assert used and used <= trained


def test_training_questions_name_and_show_nothing_held_out(made):
    for kind, split in ASKED:
        asked = () if split in ("facts", "entities") else islice(made.questions(kind, split, 3), 150)
        for question in asked:
            assert question.corpus == "train"
            assert not made.held.entities & set(question.context)
            assert not any(names(question.words, made.facts[key]) for key in made.held.entities)


def test_yes_and_no_and_both_places_are_exactly_as_frequent(made, compared):
    """In the whole, and after any even number of questions; shape by shape too."""
    others = [islice(made.questions("comparison", split, 5), 1000) for split in ("test", "facts", "entities")]
    for asked in (compared[made.name], *others):
        score, shapes = Counter(), defaultdict(Counter)
        for number, question in enumerate(asked, start=1):
            if question.form == "yes-no":
                outcome = {"yes": 1, "no": -1}[question.answer[0]]
            else:
                starts = [node.key for node in question.graph.start]
                outcome = (1, -1)[starts.index(question.answer_entity)]
            score[question.form] += outcome
            shapes[question.shape][outcome] += 1
            assert number % 2 or not any(score.values())
        assert number % 2 == 0 and all(count[1] == count[-1] for count in shapes.values())


def test_the_first_of_twins_is_a_fair_coin(compared):
    answers = [question.answer for question in compared["full"][::2]]
    yes = [answer == ("yes",) for answer in answers if answer in (("yes",), ("no",))]
    assert abs(sum(yes) / len(yes) - 0.5) < 4 * 0.5 / len(yes) ** 0.5


def test_every_case_is_asked_once_in_one_pass(small):
    for kind in ("one-hop", "bridge"):
        for split in ("train", "test"):
            asked = [(question.shape, question.facts) for question in small.questions(kind, split, 1)]
            every = [case for shape in small.question_bank.shapes if shape.kind == kind
                     for case in small.question_bank.cases.of(shape, split)]
            assert len(asked) == len(set(asked)) == len(every)


def test_shapes_come_up_alike(compared):
    shapes = Counter(question.shape for question in compared["full"][:720])
    assert len(shapes) == 24 and max(shapes.values()) < 3 * min(shapes.values())


def test_same_seed_same_questions(made):
    for kind in KINDS:
        one, same, other = ([q.text for q in islice(made.questions(kind, "train", seed), 40)] for seed in (4, 4, 5))
        assert one == same != other


STORED = {"small": "76f6220891640599", "full": "47dd67f5678a82be"}


def test_same_questions_on_every_machine(made):
    """A stored hash: it changes with the tables and the way of drawing, and with nothing else."""
    digest = hashlib.sha256()
    for kind, split in ASKED:
        for question in islice(made.questions(kind, split, 7), 100):
            digest.update(repr((question.words, question.chinese, question.answer, question.facts)).encode())
    assert digest.hexdigest()[:16] == STORED[made.name]


def test_same_contexts_whatever_the_order_of_sets():
    """Evidence and distractors too, in processes that hash strings differently."""
    program = ("from plmlab import world; print([(q.words, q.evidence, q.context, q.graph) "
               "for kind in ('one-hop', 'bridge', 'comparison') for q in world.small().questions(kind, 'train', 7)])")
    said = {subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
                           capture_output=True).stdout for seed in ("1", "2")}
    assert len(said) == 1 and said != {b""}


def test_triples_by_split(made):
    assert made.triples() == made.facts.triples
    parts = [made.triples(split) for split in ("train", "facts", "entities")]
    assert sorted(fact for part in parts for fact in part) == sorted(made.facts.triples)
    assert set(made.triples("facts")) == made.held.facts and made.triples("test") == made.triples("train")
    assert all(made.held.entities & {fact.subject, fact.object} for fact in made.triples("entities"))
