"""Messages of the Cognitive Graph Lab: questions that cannot be answered, and the effect of exclusions."""

from collections.abc import Iterable, Sequence

from plmlab.labs.cognitive_graph.protocol import Run

Thing = str | tuple[str, str]


def names_nothing(example: str) -> ValueError:
    """The error for a question that contains no page title; ``example`` is a question that contains one."""
    return ValueError("This question contains no page title, so the graph has no start node. Write a title with its "
                      f"capitals{f', as in “{example}”' if example else ''}. The figure shows the previous question.")


def too_few(kind: str, named: int) -> str:
    """The note for a comparison question that names fewer than two titles; otherwise ""."""
    if kind == "special" or named > 1:
        return ""
    return "A comparison question needs two titles, but this one contains only one: there is nothing to compare."


def called(thing: Thing) -> str:
    """The name of a node, or the names of both ends of an edge."""
    return thing if isinstance(thing, str) else " → ".join(thing)


def listed(names: Sequence[str]) -> str:
    """Join names as "a, b and c"."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def changed(before: Run, after: Run, without: Iterable[Thing]) -> str:
    """Describe what a run loses and gains if ``without`` is excluded; "" if nothing is excluded."""
    out = [*without]
    if not out:
        return ""
    gone = [name for name in before.last.graph if name not in after.last.graph and name not in out]
    come = [name for name in after.last.graph if name not in before.last.graph]
    lost = f"{listed(gone)} {'is' if len(gone) == 1 else 'are'} no longer found" if gone else \
        "every other node is still found"
    won = f", and {listed(come)} {'is' if len(come) == 1 else 'are'} also found" if come else ""
    answer = f"The answer is still {said(after)}" if before.answer == after.answer else \
        f"The answer was {said(before)}; now {'there is none' if after.answer is None else f'it is {after.answer}'}"
    return f"Without {listed([called(thing) for thing in out])}: {lost}{won}. {answer}."


def said(run: Run) -> str:
    """The answer of a run, or "none"."""
    return "none" if run.answer is None else run.answer
