"""The keys of labs' states: their TypedDicts are what Python makes, and JavaScript reads those and no others."""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from beginnings import BEGINNINGS, made

from plmlab import labs

LABS = Path(labs.__file__).parent
FOLDERS = sorted(file.parent.name for file in LABS.glob("*/state.py"))
"""The labs that have a state."""
STATE = r'(?<![\w.$"])(?:(?:model\.)?get\("state"\)|state\b)'
"""What JavaScript calls a state."""
ASKED = {"layer": r'get\("state"\)'}
"""By folder, the same where JavaScript calls other things a state too: what the Layer Lab remembers."""
ALSO = {"position": ("Compared",)}
"""By folder, what else JavaScript calls a state: the trait ``comparison``."""
UNREAD = {"attention": {"rules"}, "four_masks": {"rules"}, "permutation": {"rules"}, "retrieval": {"gaps", "score"},
          "world": {"source"}}
"""By folder, keys that the lab's JavaScript has no use for."""


def states_of(folder: str) -> list[Any]:
    """The TypedDict of a lab's state, and of what else is called one."""
    module = import_module(f"plmlab.labs.{folder}.state")
    return [getattr(module, name) for name in ("State", *ALSO.get(folder, ()))]


def options(kind: Any) -> tuple[Any, ...]:
    """The types that a type is the union of."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def inside(kind: Any) -> Iterator[Any]:
    """The TypedDicts of a type, in containers and below one another."""
    if is_typeddict(kind):
        yield kind
    for one in get_type_hints(kind).values() if is_typeddict(kind) else get_args(kind):
        yield from inside(one)


def wrong(value: Any, kind: Any, path: str = "state") -> Iterator[str]:
    """The paths that a value has and its type does not, or the other way round."""
    [kind, *_] = [one for one in options(kind) if one is not type(None)]
    given = get_args(kind)
    if is_typeddict(kind) and value is not None:
        hints = get_type_hints(kind)
        yield from (f"{path}.{key}" for key in (value.keys() ^ hints.keys()) - (kind.__optional_keys__ - value.keys()))
        for key in value.keys() & hints.keys():
            yield from wrong(value[key], hints[key], f"{path}.{key}")
    elif isinstance(value, Mapping) and len(given) == 2:
        for key, one in value.items():
            yield from wrong(one, given[1], f"{path}[{key}]")
    elif isinstance(value, Sequence) and len(given) == 1:
        for place, one in enumerate(value):
            yield from wrong(one, given[0], f"{path}[{place}]")


def scripts(folder: str) -> list[str]:
    """The JavaScript of a lab, file by file, without its comments."""
    return [re.sub(r"/\*.*?\*/|^\s*//.*?$", "", file.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
            for file in sorted((LABS / folder).glob("*.js"))]


def closing(text: str, start: int) -> int:
    """Where the bracket at ``start`` is closed; if it is a closing one, where it was opened."""
    step, depth, at = 1 if text[start] in "([{" else -1, 0, start
    while True:
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
        at += step


def parts(text: str) -> list[str]:
    """A list without its brackets, split at its outermost commas."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        found = [*found, ""] if letter == "," and depth == 0 else [*found[:-1], found[-1] + letter]
    return [part.strip() for part in found if part.strip()]


def pattern(text: str) -> Iterator[tuple[str, ...]]:
    """The paths that a destructuring pattern, without its braces, reads."""
    for part in parts(text):
        name, _, inner = (one.strip() for one in part.partition(":"))
        if name := re.split(r"\W", name, maxsplit=1)[0]:
            yield (name,)
        if inner.startswith("{"):
            yield from ((name, *path) for path in pattern(inner[1:closing(inner, 0)]))


def reads(texts: Sequence[str], state: str = STATE) -> set[tuple[str, ...]]:
    """The paths that JavaScript reads off a state: ``state.now.text``, ``const { now } = state``, and a call
    ``said(state)`` of ``said = ({ now }) => …``."""
    takes = {name: parts(text[at + 1:closing(text, at)]) for text in texts
             for match in re.finditer(r"function (\w+)\(|const (\w+) = \((?=[^\n]*=>)", text)
             for name, at in [(match[1] or match[2], match.end() - 1)]}
    found = set[tuple[str, ...]]()
    for text in texts:
        for match in re.finditer(state + r"((?:\??\.\w+)+)", text):
            found.add(tuple(re.findall(r"\w+", match[1])))
        for match in re.finditer(r"\} = " + state + r"((?:\??\.\w+)*);", text):
            found.update((*re.findall(r"\w+", match[1]), *path)
                         for path in pattern(text[closing(text, match.start()) + 1:match.start()]))
        for match in re.finditer(r"(?<![\w.])(\w+)\(", text):
            if taken := takes.get(match[1]):
                given = parts(text[match.end():closing(text, match.end() - 1)])
                found.update(path for one, names in zip(given, taken, strict=False)
                             if re.fullmatch(state, one) and names.startswith("{")
                             for path in pattern(names[1:closing(names, 0)]))
    return found


def strangers(paths: set[tuple[str, ...]], states: Sequence[Any]) -> set[str]:
    """The paths of which a part is no key; what lies below a list or a type without keys is not followed."""
    found = set[str]()
    for path in paths:
        kinds = list(states)
        for key in path:
            hints = [get_type_hints(kind) for kind in kinds]
            if hints and not any(key in hint for hint in hints):
                found.add(".".join(path))
            kinds = [one for hint in hints if key in hint for one in options(hint[key]) if is_typeddict(one)]
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_javascript_reads_what_python_makes(folder: str) -> None:
    paths = reads(scripts(folder), ASKED.get(folder, STATE))
    found = strangers(paths, states_of(folder))
    assert paths
    assert found == set()


@pytest.mark.parametrize("folder", FOLDERS)
def test_python_makes_what_javascript_names(folder: str) -> None:
    """As a property, in braces or in quotes, in the lab's own files or in those that labs share."""
    text = "\n".join(scripts(folder) + scripts("shared"))
    named = {*re.findall(r"\.(\w+)\b(?!\()", text), *re.findall(r"[{,]\s*(\w+)(?=\s*[,:=}])", text),
             *re.findall(r"\"(\w+)\"", text)}
    assert {key for state in states_of(folder) for kind in inside(state) for key in get_type_hints(kind)} - named == \
        UNREAD.get(folder, set())


@pytest.mark.parametrize("beginning", [one for some in BEGINNINGS.values() for one in some])
def test_a_lab_has_the_keys_of_its_type(beginning: str) -> None:
    lab = made(beginning)
    folder = lab.module.split("/")[0]
    found = list(wrong(lab.state, states_of(folder)[0])) if folder in FOLDERS else list(lab.state)
    assert found == []


def test_a_read_is_seen_however_it_is_written() -> None:
    text = """
      const said = ({ now, gold: { left } }, step) => now[step];
      function told(step, { held = [], ...rest }) { return said(state, 1) + told(2, model.get("state")); }
      const { text, masks: [first], plane: { ranked } } = model.get("state");
      const { arcs } = state.world;
      draw(state.before?.tokens.length, view.state.other, get("state").asked);
    """
    assert reads([text]) == {("now",), ("gold",), ("gold", "left"), ("held",), ("text",), ("masks",), ("plane",),
                             ("plane", "ranked"), ("before", "tokens", "length"), ("asked",), ("world",),
                             ("world", "arcs")}


def test_a_key_that_is_not_there_is_seen_at_any_depth() -> None:
    [state] = states_of("cloze")
    assert strangers({("gaps", "length"), ("pair", "rows"), ("pair", "row"), ("gap",)}, [state]) == {"pair.row", "gap"}
    given = {"tokens": [], "kinds": [], "second": None, "hidden": [], "pair": None, "question": "", "answers": "",
             "gaps": [{"position": 1, "word": None, "left": None, "both": {"rows": [], "own": None}}]}
    assert sorted(wrong(given, state)) == ["state.answer", "state.answers", "state.gaps[0].both.kl"]
