"""The exercises' machinery, and what holds for every exercise of the course."""

import ast
import subprocess
import sys
from functools import cache, partial
from itertools import combinations
from threading import Thread
from typing import Any

import pytest
import torch

from plmlab.course import CHAPTERS
from plmlab.exercises import check, checking, hint, solution, start_over, stub
from plmlab.exercises.edits import Function
from plmlab.exercises.exercise import Exercise, Probes, UnknownExercise, chapters, find, of_chapter
from plmlab.exercises.sandbox import Run, TooLong, alike, run

ALL = [exercise for chapter in chapters() for exercise in of_chapter(chapter)]
IMPORTS = """
import torch
from einops import rearrange
from jaxtyping import Bool, Float, Int
from torch import Tensor
"""
each = pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.number)


def defined(code: str):
    """The function that a notebook's cell defines."""
    room: dict = {}
    exec(IMPORTS + code, room)
    return next(thing for name, thing in room.items() if code.lstrip().startswith(f"def {name}("))


@cache
def inputs(number: str) -> Probes:
    """An exercise's inputs, drawn once."""
    return find(number).probes()


@cache
def outcomes(number: str) -> dict[Function, list[Run]]:
    """What an exercise's solution and each of its mistakes come to on each of its inputs, computed once."""
    exercise, probes = find(number), inputs(number)
    return {f: [run(f, args) for args in probes.values()] for f in (exercise.solution, *exercise.mutants.values())}


@pytest.fixture
def remembered(exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is called as always, and held against outcomes that are computed once for all tests."""
    probes, known = inputs(exercise.number), outcomes(exercise.number)

    def recall(fn: Function, args: tuple[Any, ...]) -> Run:
        place = next(i for i, own in enumerate(probes.values()) if own is args)
        return known[fn][place] if fn in known else run(fn, args)

    monkeypatch.setattr(Exercise, "probes", lambda self: probes)
    monkeypatch.setattr(checking, "run", recall)


# Every exercise

def test_numbers_count_up_in_each_chapter() -> None:
    assert set(chapters()) <= {chapter.number for chapter in CHAPTERS}
    for chapter in chapters():
        exercises = of_chapter(chapter)
        assert [e.number for e in exercises] == [f"{chapter}.{i}" for i in range(1, len(exercises) + 1)]
        assert (1 if chapter == "00" else 4) <= len(exercises) <= 6  # chapter 00 is an introduction of 20 minutes


@each
def test_the_solution_is_right(exercise: Exercise) -> None:
    feedback = check(exercise.number, exercise.solution)
    assert feedback.ok and feedback.verdict == "right" and not feedback.mistake
    assert all(probe in repr(feedback) for probe in exercise.probes())


@each
@pytest.mark.usefixtures("remembered")
def test_the_solution_is_right_when_pasted_into_a_notebook(exercise: Exercise) -> None:
    shown = repr(solution(exercise.number))
    assert shown.splitlines()[0].startswith("#") and check(exercise.number, defined(shown.split("\n", 1)[1])).ok


@each
@pytest.mark.usefixtures("remembered")
def test_a_wrong_answer_gets_the_name_of_its_mistake(exercise: Exercise) -> None:
    known = outcomes(exercise.number)
    for name, mistake in exercise.mutants.items():
        feedback = check(exercise.number, partial(mistake))
        assert (feedback.verdict, feedback.mistake) == ("wrong", name) and name[1:] in repr(feedback), name
        place = int(repr(feedback).partition(f'case("{exercise.number}", ')[2].partition(")")[0])
        assert not alike(known[mistake][place - 1], known[exercise.solution][place - 1]), name


@each
def test_mistakes_differ_from_the_solution_and_from_each_other(exercise: Exercise) -> None:
    assert 3 <= len(exercise.mistakes) <= 10
    known = outcomes(exercise.number)
    named = {"the solution": known[exercise.solution], **{name: known[f] for name, f in exercise.mutants.items()}}
    twins = [(a, b) for a, b in combinations(named, 2) if all(map(alike, named[a], named[b]))]
    assert not twins


@each
def test_properties_hold_of_the_solution_and_not_of_everything(exercise: Exercise) -> None:
    probes = exercise.probes().values()
    for breach, holds in exercise.properties.items():
        right = [holds(run(exercise.solution, args).value, *args) for args in probes]
        assert all(right), breach
        spoilt = []
        for args in probes:
            value = run(exercise.solution, args).value
            tensors = value if isinstance(value, tuple) else (value,)
            worse = tuple(t + torch.arange(t.numel()).view_as(t) + 2 for t in tensors)
            spoilt.append(holds(worse if isinstance(value, tuple) else worse[0], *args))
        assert not all(spoilt), breach


@each
def test_the_stub_is_the_solution_without_its_body(exercise: Exercise) -> None:
    told = ast.parse(stub(exercise.number)).body[0]
    assert isinstance(told, ast.FunctionDef) and told.name == exercise.solution.__name__ and len(told.body) == 2
    assert ast.get_docstring(told)
    untouched = check(exercise.number, defined(stub(exercise.number)))
    assert untouched.verdict == "not attempted" and "not attempted yet" in repr(untouched)


@each
def test_the_hints_are_a_ladder(exercise: Exercise) -> None:
    start_over()
    ladder = [hint(exercise.number) for _ in range(5)]
    assert [text in repr(rung) for rung, text in zip(ladder, exercise.hints, strict=False)] == [True] * 3
    assert repr(ladder[2]) == repr(ladder[3]) == repr(ladder[4]) != repr(ladder[1])
    assert "hint 1 of 3 (call again for more)" in repr(ladder[0]) and "the last" in repr(ladder[4])
    start_over()
    assert repr(hint(exercise.number)) == repr(ladder[0])


# The machinery

def right(q, k, v):
    return (q @ k.T / k.shape[1] ** 0.5).softmax(-1) @ v


def untouched_ellipsis(q, k, v): ...
def untouched_pass(q, k, v): pass
def untouched_return(q, k, v): return None


def untouched_message(q, k, v):
    """What is asked."""
    raise NotImplementedError("yours")


@pytest.mark.parametrize("stub_like", [untouched_ellipsis, untouched_pass, untouched_return, untouched_message])
def test_stubs_of_all_kinds_are_not_attempted(stub_like) -> None:
    assert check("06.1", stub_like).verdict == "not attempted"


def test_a_stub_whose_source_is_lost_is_not_attempted() -> None:
    assert check("06.1", defined("def f(q, k, v):\n    raise NotImplementedError")).verdict == "not attempted"


def test_a_forgotten_return_is_not_an_untouched_stub() -> None:
    def forgotten(q, k, v):
        weights = (q @ k.T).softmax(-1)
        weights @ v
    feedback = check("06.1", forgotten)
    assert feedback.verdict == "wrong" and "return" in repr(feedback)


def test_a_stub_half_filled_in_is_told_which_line_still_stands() -> None:
    def half(q, k, v):
        q @ k.T
        raise NotImplementedError
    told = repr(check("06.1", half))
    assert ":  raise NotImplementedError" in told and "replace it with your `return`" in told


def test_a_comparison_without_parentheses_is_no_stub() -> None:
    def unbound(tokens, selected, dice, random_words, mask):
        return tokens, selected & dice < 0.8
    told = repr(check("08.1", unbound))
    assert "& and | bind more tightly than <" in told and "`return`" not in told


@pytest.mark.parametrize("number", [2, torch.ones(2)])
def test_a_power_written_as_in_a_formula_is_told(number: float | torch.Tensor) -> None:
    def raised(logprobs, lengths, prompt, alpha):
        return logprobs / (number * (5.0 + lengths) / 6) ^ alpha
    told = repr(check("03.3", raised))
    assert "^ is not exponentiation" in told and "bind more tightly than" not in told


def test_the_learners_own_error_is_shown_with_its_line_and_a_way_to_go_on() -> None:
    def helper(q, k):
        return torch.matmul(q, k)

    def crash(q, k, v):
        return helper(q, k[:1]) @ v

    feedback = check("06.1", crash)
    told = repr(feedback)
    assert feedback.verdict == "error" and "RuntimeError: mat1 and mat2 shapes" in told
    assert ":  return torch.matmul(q, k)" in told and "Print the shape" in told
    assert "q = [[1.0, 0.0]]" in told and __file__ not in told and 'hint("06.1")' in told


@pytest.mark.parametrize(("answer", "words"), [
    (3, "Pass the function itself, check(\"06.1\", attention_by_hand); this is 3."),
    (None, "Pass the function itself"),
    (lambda q, k: q, "It must take 3 arguments: attention_by_hand(q, k, v)."),
    (lambda q, k, v: (q, k), "expected a tensor [1, 1]"),
    (lambda q, k, v: right(q, k, v).tolist(), "expected a tensor [1, 1]"),
    (lambda q, k, v: right(q, k, v).numpy(), "an object of type ndarray"),
    (lambda q, k, v: right(q, k, v).T[None], "has the shape [1, 1, 1]; expected [1, 1]"),
    (lambda q, k, v: right(q, k, v).double(), "has dtype float64; expected float32"),
    (lambda q, k, v: right(q, k, v) * float("nan"), "contains NaN"),
    (lambda q, k, v: right(q, k, v) + 0.5, "At [0, 0]: yours is 13.8024, expected 13.3024"),
    (lambda q, k, v: right(q, k, v) * 3, "is outside the range of its values"),
    (lambda q, k, v: right(q, k, v).to("meta"), "could not be checked"),
    (lambda q, k, v: sys.exit("bye"), "SystemExit: bye"),
    (type("Broken", (), {"__call__": lambda self, q, k, v: 1 / 0})(), "ZeroDivisionError"),
    (len, "It must take 3 arguments"),
    (max, "stopped with an error"),
])
def test_whatever_is_given_is_answered_in_words(answer: object, words: str) -> None:
    feedback = check("06.1", answer)
    assert not feedback.ok and words in repr(feedback)
    assert " at 0x" not in repr(feedback)


@pytest.mark.parametrize("number", ["06.9", "99.1", "", None, 6, "x" * 999, "'<b>"])
def test_an_unknown_number_is_told_which_there_are(number: object) -> None:
    for told in (check(number, right), hint(number), solution(number)):
        assert "06.1 to 06.5" in repr(told) and len(repr(told)) < 600
    with pytest.raises(UnknownExercise, match=r"the exercises are: .*06\.1"):
        find(number)


def test_a_number_may_be_written_shortly() -> None:
    assert check("6.1", right).ok and check(6.1, right).ok


def test_an_input_changed_in_place_is_not_right() -> None:
    def careless(q, k, v):
        q /= k.shape[1] ** 0.5
        return (q @ k.T).softmax(-1) @ v
    feedback = check("06.1", careless)
    assert feedback.verdict == "wrong" and "`q` is changed in place" in repr(feedback)
    assert check("06.1", right).ok


def test_a_name_comes_before_the_crash_that_its_mistake_leads_to() -> None:
    """Queries and keys swapped cannot even run where their numbers differ."""
    assert "are swapped" in check("06.1", lambda q, k, v: right(k, q, v)).mistake
    always = check("06.1", lambda q, k, v: torch.ones(2) @ torch.ones(3))
    assert always.verdict == "error" and not always.mistake


def test_printing_does_no_harm_and_is_shown_only_with_what_went_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    def chatty(q, k, v, wrong=0.0):
        print("the shape", *q.shape, "\n" * 20, "end")
        return right(q, k, v) + wrong
    assert "the shape" not in repr(check("06.1", chatty))
    told = repr(check("06.1", partial(chatty, wrong=0.5)))
    assert "It printed:\n  the shape 1 2" in told and told.endswith("…\nStuck? Call hint(\"06.1\").")
    assert "the shape" not in capsys.readouterr().out.partition(told)[0]


def test_two_slips_at_once_are_named_one_after_the_other() -> None:
    """A softmax by hand runs out of numbers on two inputs; the others show what else is wrong."""
    def by_hand(q, k, v, scale=1.0):
        powers = (q @ k.T / scale).exp()
        return powers / powers.sum(1, keepdim=True) @ v
    assert check("06.1", by_hand).mistake == "the scores are not divided by √d_k"
    assert "exp of a large score" in check("06.1", lambda q, k, v: by_hand(q, k, v, len(k.T) ** 0.5)).mistake
    assert not check("06.1", lambda q, k, v: by_hand(q, k, v) + 0.1).mistake


def overflowing(q, k, v):
    if q.abs().max() > 20:
        raise OverflowError("math range error")
    return (q @ k.T).softmax(1) @ v


def test_numbers_that_run_out_in_python_hide_no_mistake() -> None:
    assert check("06.1", overflowing).mistake == "the scores are not divided by √d_k"


def test_what_is_wrong_comes_before_what_is_changed_and_both_are_told() -> None:
    def careless(q, k, v):
        q += 1
        return right(q, k, v) + 5
    told = repr(check("06.1", careless))
    assert "yours is" in told and "In addition, `q` is changed in place." in told


def test_a_single_number_has_no_place() -> None:
    told = repr(check("07.1", lambda *args: find("07.1").solution(*args) + 0.01))
    assert "\nYours is " in told and "[]" not in told


def endless(*_: object) -> None:
    while True:
        pass


def test_a_function_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(run(endless, (), seconds=0.1).error, TooLong)
    monkeypatch.setattr(checking, "run", partial(run, seconds=0.1))
    feedback = check("06.1", endless)
    assert feedback.verdict == "error" and "never ends" in repr(feedback)
    assert "while True:" in repr(feedback) or "pass" in repr(feedback)
    assert 'case("06.1", 1)' in repr(feedback)


def test_a_learner_who_stops_the_check_gets_the_cell_back() -> None:
    def stopped(q, k, v):
        raise KeyboardInterrupt
    assert "did not terminate" in repr(check("06.1", stopped))


def test_a_second_thread_can_check_too() -> None:
    told: list = []
    thread = Thread(target=lambda: told.append(check("06.1", right).ok))
    thread.start()
    thread.join()
    assert told == [True]


def test_checking_draws_nothing_from_the_readers_generators() -> None:
    before = torch.get_rng_state()
    told = repr(check("06.2", right))
    assert torch.equal(torch.get_rng_state(), before) and repr(check("06.2", right)) == told


def test_what_a_learner_wrote_reaches_the_page_as_text() -> None:
    def hostile(q, k, v):
        print("<script>alert(2)</script>")
        raise ValueError("<img src=x onerror=alert(1)>")
    page = check("06.1", hostile)._repr_html_()
    assert "<img" not in page and "<script" not in page and "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<b>" not in check("<b>", right)._repr_html_()


def test_the_solution_is_folded_and_its_code_is_text() -> None:
    page = solution("06.1")._repr_html_()  # type: ignore[union-attr]
    assert "Every query is scored against every key" in stub("06.1") and "Every query" not in page
    assert page.startswith("<details><summary>06.1") and "open" not in page.split(">")[0]
    assert "-&gt; Float[Tensor, &quot;query value&quot;]" in page


def test_exercises_are_light_to_import() -> None:
    code = "import sys, plmlab.exercises.exercise as e; [e.of_chapter(c) for c in e.chapters()]; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "plmlab.chapters.ch06.exercises" in told
    assert not {"transformers", "plotly", "IPython", "ipywidgets", "gensim", "sklearn", "accelerate"} & set(told)


def test_an_inner_functions_name_without_nonlocal_is_told() -> None:
    def likeliest(next_logprobs, end, length):
        best = float("-inf")

        def deeper(text, total):
            best = max(best, total)  # noqa: F823, F841

        deeper((), 0.0)
        return (), best

    assert "`nonlocal`" in str(check("03.4", likeliest))
