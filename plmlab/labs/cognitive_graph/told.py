"""What the Cognitive Graph Lab says of a question that cannot be asked, and of what a cut has changed."""

from collections.abc import Iterable, Sequence

from plmlab.labs.cognitive_graph.growing import Run

Thing = str | tuple[str, str]


def names_nothing(example: str) -> ValueError:
    """The error for a question in which no title stands; ``example`` is one in which a title does."""
    return ValueError("No page's title stands in this question, so the graph has nowhere to begin. Write a title with "
                      f"its capitals{f', as in “{example}”' if example else ''}. What is drawn is from before.")


def too_few(kind: str, named: int) -> str:
    """The note on a comparison that names less than two titles; "" where there is none."""
    if kind == "special" or named > 1:
        return ""
    return "A comparison needs two titles in the question, and only one stands in it: there is nothing to compare."


def called(thing: Thing) -> str:
    """A node by its name, an edge by both ends."""
    return thing if isinstance(thing, str) else " → ".join(thing)


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def changed(before: Run, after: Run, without: Iterable[Thing]) -> str:
    """What a run has lost and won for what it must do ``without``; "" where that is nothing."""
    out = [*without]
    if not out:
        return ""
    gone = [name for name in before.last.graph if name not in after.last.graph and name not in out]
    come = [name for name in after.last.graph if name not in before.last.graph]
    lost = f"{listed(gone)} {'is' if len(gone) == 1 else 'are'} not found any more" if gone else \
        "every other node is found all the same"
    won = f", and {listed(come)} {'is' if len(come) == 1 else 'are'} found besides" if come else ""
    answer = f"The answer is {said(after)}, as before" if before.answer == after.answer else \
        f"The answer was {said(before)}, and now {'there is none' if after.answer is None else f'it is {after.answer}'}"
    return f"Without {listed([called(thing) for thing in out])}: {lost}{won}. {answer}."


def said(run: Run) -> str:
    """The answer of a run."""
    return "none" if run.answer is None else run.answer
