"""What is trained in front of the reader: five kinds of question, none of the exam's among them, one way on from each
page."""

import torch

from plmlab.chapters.ch14 import live


def test_all_five_kinds_are_drawn_and_none_is_examined() -> None:
    known = live.training_questions()
    assert tuple(known) == live.SHAPES and all(len(some) > 30 for some in known.values())
    known = {frozenset(one.facts) for some in live.training_questions().values() for one in some}
    for hops, least in ((1, 30), (2, 40), (3, 8)):
        asked = live.test_questions(hops)
        assert len(asked) >= least and {one.hops for one in asked} == {hops}
        assert {one.shape for one in asked} <= set(live.SHAPES)
        assert not known & {frozenset(one.facts) for one in asked}


def test_nothing_is_left_to_chance_so_that_the_floor_is_0() -> None:
    """Each page points at one thing at most, so that no target is shared among several spans."""
    batch = live.batches(0, 192)
    for step in range(10):
        read = batch(step)
        pointers = read.reading.labels["pointers"]
        assert int((pointers == 1).sum(1).max()) == 1
        assert len(read.answers) == live.BATCH and not len(read.either_or) and not len(read.yes_no)
    assert torch.equal(batch(3).reading.tokens, live.batches(0, 192)(3).reading.tokens)
