"""Bad input to questions: unknown kinds and splits, edited tables with a gap or a clash; which file, which rows."""

import re

import pytest

from plmlab.world import World
from plmlab.world.grammar.splits import SplitError
from plmlab.world.questions.bank import QuestionBank, QuestionError
from plmlab.world.tables import TableError


def test_unknown_kinds_and_splits(small):
    with pytest.raises(QuestionError, match=r"unknown kind of question 'riddle'; the kinds are one-hop, bridge, comp"):
        small.questions("riddle")
    with pytest.raises(SplitError, match="unknown split 'dev'; the splits are train, test"):
        small.questions("bridge", "dev")
    with pytest.raises(QuestionError, match="no one-hop question in the split 'combinations'; a one-hop"):
        small.questions("one-hop", "combinations")
    with pytest.raises(SplitError, match="unknown split 'dev'"):
        small.triples("dev")


SHAPE, WORDING = "question_shapes.tsv", "question_wordings.tsv"
BROKEN = [
    (SHAPE, "x\triddle\tperson\tborn_in(a,t)\tt", r"unknown kind of question 'riddle'.*question_shapes.tsv, row \d+"),
    (SHAPE, "x\tone-hop\tyear\tborn_in(a,t)\tt", r"about named things .* not 'year'"),
    (SHAPE, "x\tone-hop\tperson\thates(a,t)\tt", r"unknown relation 'hates'.*question_shapes.tsv, row \d+"),
    (SHAPE, "x\tone-hop\tperson\tolder_than(a,t)\tt", r"'older_than' is derived.*ask for 'birth_year'"),
    (SHAPE, "x\tone-hop\tperson\tborn_in\tt", r"'born_in' is not a fact"),
    (SHAPE, "x\tone-hop\tfilm\tborn_in(a,t)\tt", r"starts from person, not from film.*relations.tsv, row \d+"),
    (SHAPE, "x\tbridge\tfilm\tdirected_by(a,s) born_in(r,t)\tt", r"'born_in\(r,t\)' does not lead from 's'"),
    (SHAPE, "x\tbridge\tperson\tmarried_to(a,s) married_to(s,a)\ta", r"does not lead from 's' to a new variable"),
    (SHAPE, "x\tone-hop\tperson\tborn_in(a,t)\tu", r"asks for 'u', but its facts lead to 't'"),
    (SHAPE, "x\tbridge\tperson\tborn_in(a,t)\tt", r"1 facts: a one-hop question needs 1, a bridge question 2 or 3"),
    (SHAPE, "x\tone-hop\tperson\tbirth_year(a,y)\ty <", r"'y <' compares, but 'one-hop' does not"),
    (SHAPE, "x\teither-or\tperson\tborn_in(a,t)\tt =", r"'t =' does not compare; .* one of < >"),
    (SHAPE, "x\tyes-no\tperson\tborn_in(a,t)\tt <", r"town cannot be compared by <"),
    (SHAPE, "x\tone-hop\tperson\tborn_in(a,t)\tt\tyes", r"only a bridge question over two facts can be held out"),
    (SHAPE, "x\tone-hop\tperson\tborn_in(a,t)\tt\tno", r"'no' in the column 'held'"),
    (SHAPE, "x\tone-hop\tperson\tborn_in(a,t)\tt", r"'x' has no wording"),
    (SHAPE, "birthplace\tone-hop\tperson\tborn_in(a,t)\tt", r"'birthplace' occurs twice .*row \d+; .*row \d+"),
    (WORDING, "nowhere\twho is {a} ?\t{a} 是 谁 ？", r"'nowhere' is not a shape .*question_wordings.tsv, row \d+"),
    (WORDING, "birthplace\tis it {t} ?\t{a} ？", r"'{t}' must not be named; a question names a .*question_wordings"),
    (WORDING, "birthplace\tis {a} {b} ?\t{a} ？", r"'{b}' must not be named"),
    (WORDING, "older\tis {a} old ?\t{a} {b} ？", r"the english wording does not name {b}"),
    (WORDING, "birthplace\tis {a} ?\t是 ？", r"the chinese wording does not name {a}"),
    (WORDING, "birthplace\tis {a} {uncle@t} ?\t{a} ？", r"'{uncle@t}' agrees with no variable"),
    (WORDING, "birthplace\tis {a} {husband@z} ?\t{a} ？", r"'{husband@z}' agrees with no variable"),
    (WORDING, "birthplace\twhere was {a} born ?\t{a} ？", r"occurs twice .*row \d+; .*row \d+"),
]


@pytest.mark.parametrize("file, row, message", BROKEN, ids=lambda value: None)
def test_a_broken_table_names_its_rows(small, edited, file: str, row: str, message: str):
    with pytest.raises(TableError) as caught:
        QuestionBank(small.facts, small.held, small.lexicon, small.corpora, edited(file, row))
    assert re.search(message, str(caught.value)), str(caught.value)


def test_a_held_out_relation_that_nothing_else_composes(edited):
    folder = edited(SHAPE, "x\tbridge\tperson\tkeeps(a,p) keeps(q,p)\tq\tyes")
    edited(WORDING, "x\twho keeps the pet of {a} ?\t谁 养 {a} 的 宠物 ？")
    with pytest.raises(TableError, match=r"'x' is held out, but no other bridge question uses keeps, ~keeps"):
        World("small", folder=folder).questions("bridge")
