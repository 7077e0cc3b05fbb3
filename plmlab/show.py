"""`plmlab show`: the code of a model's forward pass on one page, inherited methods with it; and only what differs from
the code of another model."""

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches, unified_diff
from functools import cache
from itertools import groupby
from pathlib import Path
from textwrap import dedent, fill, shorten
from types import CodeType

from plmlab.listing import SMALL_VOCAB, about
from plmlab.models.registry import ModelType, all_models, pretrainable
from plmlab.paths import ROOT
from plmlab.tracing import Module, Trace, ours

WIDTH = 120
ALIKE = 0.5
"""Code at least so like that which it replaces is shown as its difference."""
REMARK = re.compile(r"  # (type: ignore|noqa).*")
"""What is meant for linters."""
NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")


def names() -> str:
    """A line for each model that can be shown: its name, and what it is."""
    return "\n".join(f"{name:<24}{about(kind.model)}" for name, kind in sorted(all_models().items()))


def find(name: str) -> ModelType:
    """The model type of that name, or else the one that is pretrained under it; a ValueError lists the names."""
    known = pretrainable() | all_models()
    if name not in known:
        close = get_close_matches(name, known)
        meant = f"; did you mean {' or '.join(close)}?" if close else "."
        raise ValueError(f"there is no model {name!r}{meant} There are {', '.join(sorted(known))}")
    return known[name]


def page(trace: Trace) -> str:
    """What the model is, and each method that its forward pass runs, under the file that it stands in."""
    lines, printed = wrapped(head(trace)), set[CodeType]()
    for cls, parts in trace.ran.items():
        again = [code.co_qualname for chain in parts.values() for code in chain if code in printed]
        lines += ["", *heading(trace, cls), *wrapped([f"as above: {', '.join(again)}"] if again else [])]
        for chain in parts.values():
            for code in chain:
                if code not in printed:
                    lines += wrapped([place(code) + (", by super()" if code is not chain[0] else "")])
                    lines.append(text(code))
                    printed.add(code)
    return "\n".join([*lines, *wrapped(
        f"{name} stopped, on made-up tokens: {why}" for name, why in trace.unfinished.items())])


def head(trace: Trace) -> Iterator[str]:
    """What a model is, in a few lines: class, paper, sizes."""
    kind, room = trace.kind, inspect.getmodule(trace.kind.model)
    yield f"{kind.name}: {family(kind.model)}, in {shown(inspect.getfile(kind.model))}"
    yield ((room and room.__doc__) or "").strip().split("\n\n")[0]
    count = sum(weight.numel() for weight in trace.model.parameters())
    yield f"tiny: {kind.config.tiny(SMALL_VOCAB)}, {count:,} parameters"
    if hasattr(kind.config, "base"):
        yield f"base: {kind.config.base()}"
    pretrained = pretrainable().get(kind.name, kind)
    if pretrained is not kind:
        yield f"with what pretrains it: plmlab show {pretrained.name}"


def family(cls: Module) -> str:
    """A class, and what it inherits from, nearest first."""
    return " extends ".join(above.__name__ for above in cls.__mro__ if ours(above))


def heading(trace: Trace, cls: Module) -> list[str]:
    """Where modules of a class stand in the model, and what it inherits from."""
    return wrapped([f"==== {where(trace, cls)}: {family(cls)} ===="])


def where(trace: Trace, cls: Module) -> str:
    """The paths of the modules of a class."""
    return ranged(path or "the model" for path, one in trace.at.items() if one is cls)


def ranged(paths: Iterable[str]) -> str:
    """Paths in a row, those that differ in numbers as one: layers.0…3."""
    alike: dict[str, list[list[int]]] = {}
    for path in paths:
        alike.setdefault(NUMBER.sub("{}", path), []).append([int(number) for number in NUMBER.findall(path)])
    ends = {path: [sorted({min(each), max(each)}) for each in zip(*rows, strict=True)] for path, rows in alike.items()}
    return ", ".join(path.format(*("…".join(map(str, pair)) for pair in pairs)) for path, pairs in ends.items())


def shown(path: str) -> str:
    """A file's path, from the clone on."""
    return Path(path).relative_to(ROOT).as_posix() if Path(path).is_relative_to(ROOT) else path


def place(code: CodeType) -> str:
    """Where code stands."""
    return f"{shown(code.co_filename)}: {code.co_qualname}"


def wrapped(paragraphs: Iterable[str]) -> list[str]:
    """Paragraphs as comments."""
    return [fill(told, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
            for told in paragraphs if told]


def parsed(code: CodeType) -> tuple[str, ast.FunctionDef]:
    """The source of a function, and what Python reads in it."""
    source = dedent(inspect.getsource(code)).rstrip()
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return source, function


@cache
def text(code: CodeType) -> str:
    """The source of a function, with one line of its docstring."""
    source, function = parsed(code)
    lines, first = REMARK.sub("", source).splitlines(), function.body[0]
    if told := ast.get_docstring(function):
        line = shorten(told.split("\n\n")[0], WIDTH - first.col_offset - 6, placeholder=" …")
        lines[first.lineno - 1:first.end_lineno] = [f'{" " * first.col_offset}"""{line}"""']
    return "\n".join(lines)


@cache
def essence(code: CodeType) -> str:
    """What a function does: its source without docstring, comments and annotations."""
    function = parsed(code)[1]
    function.body = function.body[bool(ast.get_docstring(function)):]
    function.returns = None
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(function)


@dataclass
class Change:
    """What runs under a name in the modules of a class: the ``new`` code, which another model does not run in these
    places, and the ``old``, which only the other runs there; none of either where both run the same."""

    cls: Module
    name: str
    new: list[CodeType]
    old: list[CodeType]


def changes(trace: Trace, other: Trace) -> Iterator[Change]:
    """Each method and function that a model runs, beside what another runs in its place. What has nothing in its place
    counts as the same where the other runs it elsewhere, or would, the method that calls it being the same."""
    anywhere = {essence(code) for parts in other.ran.values() for chain in parts.values() for code in chain}
    same = set[tuple[Module, str] | None]()
    for cls, parts in trace.ran.items():
        for name, chain in parts.items():
            new, old, mine = dict[CodeType, None](), dict[CodeType, None](), [*map(essence, chain)]
            caller = trace.callers.get(chain[0])
            places = [other.chains(role, name) for role in trace.roles(cls)] if caller is None else [
                [[code] for code in other.callers if code.co_qualname == name]]
            for theirs in ([one for one in found if one] for found in places):
                if mine not in ([*map(essence, one)] for one in theirs) and (theirs or caller not in same):
                    known = {essence(code): code for one in theirs for code in one}
                    new |= dict.fromkeys(code for code in chain if essence(code) not in (known if theirs else anywhere))
                    old |= dict.fromkeys(code for told, code in known.items() if told not in mine)
            if not new and not old:
                same.add((cls, name))
            yield Change(cls, name, [*new], [*old])


def difference(trace: Trace, other: Trace) -> str:
    """What a model runs and another does not, part by part; then what both have in common, in a line."""
    here, there = trace.kind.name, other.kind.name
    lines, same, replaced = list[str](), dict[Module, list[str]](), set[CodeType]()
    for one, two in ((trace, other), (other, trace)):
        paths = ranged(path for key, each in one.weights().items() if key not in two.weights() for path in each)
        lines += wrapped([f"weights that {one.kind.name} has and {two.kind.name} has not: {paths}" if paths else ""])
    for cls, found in groupby(changes(trace, other), lambda change: change.cls):
        parts = [*found]
        same[cls] = [change.name for change in parts if not change.new and not change.old]
        changed = [line for change in parts for line in compared(change, there)]
        lines += ["", *heading(trace, cls), *changed] if changed else []
        replaced.update(code for change in parts for code in change.old)
    rest = dict.fromkeys(place(code) for change in changes(other, trace) for code in change.new if code not in replaced)
    if rest:
        lines += ["", *wrapped([f"{there} alone runs: {', '.join(rest)}"])]
    shared = "; ".join(f"{where(trace, cls)} ({', '.join(parts)})" for cls, parts in same.items() if parts)
    title = f"# {here}, where it differs from {there}" if lines else f"# {here} runs the same code as {there}"
    return "\n".join([title, *lines, "", *wrapped([f"the same in both: {shared}" if shared else ""])])


def compared(change: Change, other: str) -> Iterator[str]:
    """New code, as its difference from what it replaces where that is like it; old code that nothing replaces."""
    def likeness(old: CodeType) -> float:
        return SequenceMatcher(None, text(old), text(code), autojunk=False).ratio()

    for code in change.new:
        nearest = max(change.old, key=likeness, default=None)
        yield from wrapped([place(code) + (f" in place of {place(nearest)}" if nearest else "")])
        if nearest and likeness(nearest) >= ALIKE:
            yield from [*unified_diff(text(nearest).splitlines(), text(code).splitlines(), lineterm="", n=99)][3:]
        else:
            yield text(code)
    for code in change.old if not change.new else ():
        yield from (*wrapped([f"{place(code)}, in {other} alone"]), text(code))
