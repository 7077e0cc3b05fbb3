"""The inputs that an exercise is tried on can be had to look at, above all the one that failed."""

import pytest

from plmlab.exercises import case, check
from plmlab.exercises.comparing import same
from plmlab.exercises.exercise import Exercise, chapters, of_chapter

ALL = [exercise for chapter in chapters() for exercise in of_chapter(chapter)]


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.number)
def test_each_input_can_be_had_by_its_number(exercise: Exercise) -> None:
    for place, args in enumerate(exercise.probes().values(), 1):
        assert same(case(exercise.number, place), args)


def test_the_input_that_failed_is_named_with_the_call_that_gives_it() -> None:
    feedback = check("08.4", lambda start, end, first, longest: (5, 5))
    told = repr(feedback)
    assert "Input 2 of " in told and "(the most probable start and end are far apart): start = [0.0" in told
    assert 'case("08.4", 2) returns it; span(*case("08.4", 2)) calls your function on it.' in told
    start, end, first, longest = case("08.4", 2)
    assert start.shape == end.shape == (10,) and (first, longest) == (2, 4)


def test_an_input_is_a_copy_of_its_own() -> None:
    case("08.4", 2)[0].zero_()
    assert case("08.4", 2)[0].any()


@pytest.mark.parametrize("place", [0, -1, 99, "2", 2.0, None, [1]])
def test_an_input_that_is_not_there_is_told_which_there_are(place: object) -> None:
    with pytest.raises(ValueError, match=r"exercise 06\.3 has no input .*; it has 1 \(two tokens, two heads\); 2 \("):
        case("6.3", place)


@pytest.mark.parametrize("number", ["06.9", "", None, "x" * 999])
def test_an_input_of_no_exercise_is_told_which_exercises_there_are(number: object) -> None:
    with pytest.raises(ValueError, match=r"the exercises are: .*06\.1"):
        case(number, 1)
