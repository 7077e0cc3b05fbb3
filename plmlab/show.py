"""`plmlab show`: the code of a model's forward pass on one page, including inherited methods; or only the differences
from the code of another model."""

import ast
import inspect
import re
from collections.abc import Collection, Iterable, Iterator
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
"""Minimum similarity at which changed code is shown as a diff."""
REMARK = re.compile(r"  # (type: ignore|noqa).*")
"""Comments for linters, which are removed."""
NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")


def names() -> str:
    """One line for each model that can be shown, with its name and a description."""
    return "\n".join(f"{name:<24}{about(kind.model)}" for name, kind in sorted(all_models().items()))


def find(name: str) -> ModelType:
    """The model type with that name, or with that pretraining name. Raises a ValueError that lists all names if there
    is none."""
    known = pretrainable() | all_models()
    if name not in known:
        close = get_close_matches(name, known)
        hint = f"; did you mean {' or '.join(close)}?" if close else "."
        raise ValueError(f"unknown model {name!r}{hint} Choose one of {', '.join(sorted(known))}")
    return known[name]


def page(trace: Trace) -> str:
    """The page of a model: a summary, then the code of each method in the forward pass, with the name of its file."""
    lines, printed = wrapped(head(trace)), set[CodeType]()
    for cls, parts in trace.ran.items():
        repeated = [code.co_qualname for chain in parts.values() for code in chain if code in printed]
        lines += ["", *heading(trace, cls), *wrapped([f"as above: {', '.join(repeated)}"] if repeated else [])]
        for chain in parts.values():
            for code in chain:
                if code not in printed:
                    lines += wrapped([location(code) + (", called through super()" if code is not chain[0] else "")])
                    lines.append(text(code))
                    printed.add(code)
    return "\n".join([*lines, *wrapped(
        f"{name} failed on made-up tokens: {error}" for name, error in trace.unfinished.items())])


def head(trace: Trace) -> Iterator[str]:
    """Yield a summary of a model in a few lines: class, paper, configurations."""
    kind, module = trace.kind, inspect.getmodule(trace.kind.model)
    yield f"{kind.name}: {family(kind.model)}, in {relative_path(inspect.getfile(kind.model))}"
    yield ((module and module.__doc__) or "").strip().split("\n\n")[0]
    count = sum(weight.numel() for weight in trace.model.parameters())
    yield f"tiny: {kind.config.tiny(SMALL_VOCAB)}, {count:,} parameters"
    if hasattr(kind.config, "base"):
        yield f"base: {kind.config.base()}"
    yield from shared(trace)
    pretrained = pretrainable().get(kind.name, kind)
    if pretrained is not kind:
        yield f"with its pretraining head: plmlab show {pretrained.name}"


def shared(trace: Trace, known: Collection[tuple[str, ...]] = ()) -> Iterator[str]:
    """Yield a line for each module that occurs several times in the model, unless its roles are ``known``."""
    for roles, paths in trace.shared().items():
        if roles not in known:
            yield f"shared weights: {ranged(paths)} are one module"


def family(cls: Module) -> str:
    """The names of a class and its base classes, nearest first."""
    return " extends ".join(base.__name__ for base in cls.__mro__ if ours(base))


def heading(trace: Trace, cls: Module) -> list[str]:
    """Heading of a class: the paths of its instances in the model, and its base classes."""
    return wrapped([f"==== {where(trace, cls)}: {family(cls)} ===="])


def where(trace: Trace, cls: Module) -> str:
    """The paths of all submodules of a class."""
    return ranged(path or "the model" for path, module in trace.at.items() if module is cls)


def ranged(paths: Iterable[str]) -> str:
    """Join paths with commas; paths that differ only in numbers are merged: layers.0…3."""
    numbers: dict[str, list[list[int]]] = {}
    for path in paths:
        numbers.setdefault(NUMBER.sub("{}", path), []).append([int(number) for number in NUMBER.findall(path)])
    ends = {path: [sorted({min(column), max(column)}) for column in zip(*rows, strict=True)]
            for path, rows in numbers.items()}
    return ", ".join(path.format(*("…".join(map(str, pair)) for pair in pairs)) for path, pairs in ends.items())


def relative_path(path: str) -> str:
    """A file's path, relative to the repository."""
    return Path(path).relative_to(ROOT).as_posix() if Path(path).is_relative_to(ROOT) else path


def location(code: CodeType) -> str:
    """File and qualified name of a function, from its code object."""
    return f"{relative_path(code.co_filename)}: {code.co_qualname}"


def wrapped(paragraphs: Iterable[str]) -> list[str]:
    """Format paragraphs as comments, wrapped to the page width."""
    return [fill(paragraph, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
            for paragraph in paragraphs if paragraph]


def parsed(code: CodeType) -> tuple[str, ast.FunctionDef]:
    """The source of a function and its syntax tree."""
    source = dedent(inspect.getsource(code)).rstrip()
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return source, function


@cache
def text(code: CodeType) -> str:
    """The source of a function, with its docstring shortened to one line."""
    source, function = parsed(code)
    lines, first = REMARK.sub("", source).splitlines(), function.body[0]
    if docstring := ast.get_docstring(function):
        line = shorten(docstring.split("\n\n")[0], WIDTH - first.col_offset - 6, placeholder=" …")
        lines[first.lineno - 1:first.end_lineno] = [f'{" " * first.col_offset}"""{line}"""']
    return "\n".join(lines)


@cache
def normalised(code: CodeType) -> str:
    """The code of a function in normalized form for comparison, without docstring, comments and annotations."""
    function = parsed(code)[1]
    function.body = function.body[bool(ast.get_docstring(function)):]
    function.returns = None
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(function)


@dataclass
class Change:
    """The difference between two models in a method of a class: the ``new`` code, which only the first model runs in
    this place, and the ``old`` code, which only the other model runs. Both are empty if they run the same code."""

    cls: Module
    name: str
    new: list[CodeType]
    old: list[CodeType]


def changes(trace: Trace, other: Trace) -> Iterator[Change]:
    """Compare each method and function that a model runs with its counterpart in another model. Code without a
    counterpart counts as unchanged if the other model runs it elsewhere, or if the method that calls it is
    unchanged."""
    anywhere = {normalised(code) for parts in other.ran.values() for chain in parts.values() for code in chain}
    same = set[tuple[Module, str] | None]()
    for cls, parts in trace.ran.items():
        for name, chain in parts.items():
            new, old, mine = dict[CodeType, None](), dict[CodeType, None](), [*map(normalised, chain)]
            caller = trace.callers.get(chain[0])
            places = [other.chains(role, name) for role in trace.roles(cls)] if caller is None else [
                [[code] for code in other.callers if code.co_qualname == name]]
            for theirs in ([other_chain for other_chain in chains if other_chain] for chains in places):
                if mine not in ([*map(normalised, other_chain)] for other_chain in theirs) and (
                        theirs or caller not in same):
                    known = {normalised(code): code for other_chain in theirs for code in other_chain}
                    covered = known if theirs else anywhere
                    new |= dict.fromkeys(code for code in chain if normalised(code) not in covered)
                    old |= dict.fromkeys(code for source, code in known.items() if source not in mine)
            if not new and not old:
                same.add((cls, name))
            yield Change(cls, name, [*new], [*old])


def difference(trace: Trace, other: Trace) -> str:
    """The page of differences between two models, class by class; the last line summarizes what they have in common."""
    here, there = trace.kind.name, other.kind.name
    lines, same, replaced = list[str](), dict[Module, list[str]](), set[CodeType]()
    mine, others = objective_name(trace.kind), objective_name(other.kind)
    if mine and others and mine != others:
        lines += wrapped([f"pretraining objective: {mine}, instead of {others}"])
    for one, two in ((trace, other), (other, trace)):
        paths = ranged(path for key, own in one.weights().items() if key not in two.weights() for path in own)
        lines += wrapped([f"weights only in {one.kind.name}: {paths}" if paths else ""])
        lines += wrapped(f"{one.kind.name}: {line}" for line in shared(one, two.shared()))
    for cls, group in groupby(changes(trace, other), lambda change: change.cls):
        parts = [*group]
        same[cls] = [change.name for change in parts if not change.new and not change.old]
        changed = [line for change in parts for line in compared(change, there)]
        lines += ["", *heading(trace, cls), *changed] if changed else []
        replaced.update(code for change in parts for code in change.old)
    rest = dict.fromkeys(location(code) for change in changes(other, trace) for code in change.new
                         if code not in replaced)
    if rest:
        lines += ["", *wrapped([f"run only by {there}: {', '.join(rest)}"])]
    alike = "; ".join(f"{where(trace, cls)} ({', '.join(parts)})" for cls, parts in same.items() if parts)
    title = f"# {here}: differences from {there}" if lines else f"# {here} runs the same code as {there}"
    return "\n".join([title, *lines, "", *wrapped([f"the same in both: {alike}" if alike else ""])])


def objective_name(kind: ModelType) -> str:
    """The name of the objective that pretrains a model, or the model with the same name on the command line; empty if
    there is none."""
    pretraining = pretrainable().get(kind.name, kind).pretraining
    return pretraining.registered.__name__ if pretraining else ""


def compared(change: Change, other: str) -> Iterator[str]:
    """Yield the lines for a change: the new code, as a diff if it is similar to the code that it replaces, and the
    removed code."""
    def similarity(old: CodeType) -> float:
        return SequenceMatcher(None, text(old), text(code), autojunk=False).ratio()

    for code in change.new:
        nearest = max(change.old, key=similarity, default=None)
        yield from wrapped([location(code) + (f", instead of {location(nearest)}" if nearest else "")])
        if nearest and similarity(nearest) >= ALIKE:
            yield from [*unified_diff(text(nearest).splitlines(), text(code).splitlines(), lineterm="", n=99)][3:]
        else:
            yield text(code)
    for code in change.old if not change.new else ():
        yield from (*wrapped([f"{location(code)}, only in {other}"]), text(code))
