"""The rules of the house: what files may hold, how long they are, and who may know whom."""

import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import networkx as nx
import pytest
import torch
from imports import imports
from jaxtyping import Float, TypeCheckError
from torch import Tensor
from typecheck import shaped

import plmlab
import studies
from plmlab.paths import ROOT

LONGEST = 450
CHAPTER, STUDY = 900, 220
"""So many lines of code a chapter may have in the package, and each of its studies beside it."""
OTHER_LIMITS = dict.fromkeys(("ch00", "ch01", "ch02", "ch03", "ch04", "ch05", "ch06", "ch07", "ch08", "ch10", "ch11",
                              "ch14", "ch16"), 1300) | {"ch12": 2000, "ch18": 1200}
"""Chapters that are older than this limit keep theirs; chapters 12 and 18 have two notebooks, with two and four
systems."""
CODE = (".py", ".js", ".mjs", ".css", ".html")
TEXT = (*CODE, ".md", ".txt", ".toml", ".yml", ".cfg", ".json", ".ipynb", ".tsv", "")

# Each pattern is written so that it does not match itself.
EVERYWHERE = {
    "a path of a machine that the course was made on": r"/work[/]|/opt[/]pypi|/root[/]",
    "a package index, which pip must be left to choose": r"pypi[.]org|registry[.]npmjs|deb[.]debian[.]org",
}
IN_CODE = {
    "a content network: nothing is loaded from outside":
        r"unpkg[.]com|jsdelivr[.]net|cdnjs[.]|googleapis[.]com|esm[.]sh|skypack[.]dev|cdn[.]plot",
}
IN_SCRIPTS = {
    "a way for a person's text to become HTML":
        r"innerHTML|outerHTML|insertAdjacentHTML|document[.]write|\beval\(|new Function",
}
IN_PYTHON = {
    "pickle, which runs what it reads":
        r"import[ ]pickle\b|pickle[.](load|dump)|torch(?<!safetensors[.]torch)[.](load|save)\(|joblib[.]load",
}


@cache
def files() -> tuple[Path, ...]:
    """Every text file of the checkout that git keeps or would keep."""
    told = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True,
                          text=True, check=True).stdout
    paths = (ROOT / name for name in told.split("\0") if name)
    return tuple(path for path in paths if path.is_file() and path.suffix in TEXT)


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def offences(rules: dict[str, str], suffixes: tuple[str, ...], under: str = "") -> Iterator[str]:
    """Where a file holds what a rule forbids."""
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        if path.suffix not in suffixes or not name.startswith(under):
            continue
        text = text_of(path)
        for rule, pattern in rules.items():
            for found in re.finditer(pattern, text):
                number = text.count("\n", 0, found.start()) + 1
                yield f"{name}:{number} holds {found[0]!r}: {rule}"


def test_git_lists_the_files_of_the_house() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in files()}
    assert {"README.md", "Makefile", ".ci/run", "plmlab/__init__.py", "tests/test_house.py"} <= names
    assert not any(name.startswith(".venv/") for name in names)


def test_no_file_names_a_machine_or_an_index() -> None:
    assert not list(offences(EVERYWHERE, TEXT))


def test_no_code_names_a_content_network() -> None:
    assert not list(offences(IN_CODE, CODE))


def test_no_script_makes_html_of_text() -> None:
    assert not list(offences(IN_SCRIPTS, (".js", ".mjs", ".html"), "plmlab/"))


def test_no_pickle() -> None:
    assert not list(offences(IN_PYTHON, (".py", ".ipynb")))


@pytest.mark.parametrize(("rules", "line"), [
    (EVERYWHERE, "look in " + "/".join(["", "work", "main"])),
    (EVERYWHERE, "https://" + ".".join(["pypi", "org"])),
    (IN_CODE, "import d3 from 'https://" + ".".join(["cdn", "jsdelivr", "net"])),
    (IN_SCRIPTS, "cell.inner" + "HTML = text"),
    (IN_PYTHON, "state = torch" + ".load(path)"),
])
def test_the_rules_bite(rules: dict[str, str], line: str) -> None:
    assert any(re.search(pattern, line) for pattern in rules.values())


def lines_of(folder: Path) -> dict[str, int]:
    """Chapter → number of lines of Python in a folder with a subfolder for each chapter, at any depth."""
    rooms = folder.glob("ch[0-9][0-9]*")
    return {room.name: sum(len(text_of(file).splitlines()) for file in room.rglob("*.py")) for room in rooms}


def limit(name: str, times: float = 1) -> int:
    """Maximum number of lines of a chapter in the package, or a multiple of it."""
    return int(times * OTHER_LIMITS.get(name, CHAPTER))


def too_long(folder: Path, times: float = 1) -> dict[str, int]:
    """Chapter → number of lines, where it exceeds the limit."""
    return {name: count for name, count in lines_of(folder).items() if count > limit(name, times)}


def test_a_chapter_stays_small() -> None:
    assert "ch09" in lines_of(ROOT / "plmlab/chapters")
    assert too_long(ROOT / "plmlab/chapters") == {}


def test_a_chapters_tests_are_at_most_a_third_longer() -> None:
    """Than the chapter may be; its studies' tests are among them."""
    assert "ch09" in lines_of(ROOT / "tests/chapters")
    assert too_long(ROOT / "tests/chapters", 4 / 3) == {}


@pytest.mark.parametrize(("chapter", "most", "most_of_tests"), [
    ("ch09", 900, 1200), ("ch13", 900, 1200), ("ch15", 900, 1200), ("ch17", 900, 1200), ("ch20", 900, 1200),
    ("ch00", 1300, 1733), ("ch08", 1300, 1733), ("ch16", 1300, 1733), ("ch12", 2000, 2666),
])
def test_a_chapter_that_is_too_long_is_refused(chapter: str, most: int, most_of_tests: int, tmp_path: Path) -> None:
    for times, lines in ((1, most), (4 / 3, most_of_tests)):
        inner = tmp_path / str(lines) / chapter / "inner"
        inner.mkdir(parents=True)
        (inner.parent / "one.py").write_text("x = 1\n" * (lines - 10))
        (inner / "two.py").write_text("x = 1\n" * 10)
        assert too_long(tmp_path / str(lines), times) == {}
        (inner / "three.py").write_text("x = 1\n")
        assert too_long(tmp_path / str(lines), times) == {chapter: lines + 1}


def test_a_study_stays_small() -> None:
    lines = {path.relative_to(ROOT).as_posix(): len(text_of(path).splitlines()) for path in ROOT.glob("studies/*/*.py")}
    assert {name: count for name, count in lines.items() if count > STUDY} == {}


def test_studies_stand_above_the_package_and_know_one_chapter_each() -> None:
    assert not [path for path in PACKAGE.rglob("*.py") for module, _ in imports(path) if module.startswith("studies")]
    for path in ROOT.glob("studies/*/*.py"):
        known = {name for module, _ in imports(path)
                 for name in re.findall(r"(?:chapters|studies)[.](ch[0-9][0-9])", module)}
        assert known <= {path.parent.name}, path


def test_a_file_is_one_sitting() -> None:
    long = {path.relative_to(ROOT).as_posix(): lines for path in files()
            if path.suffix in CODE and (lines := len(text_of(path).splitlines())) > LONGEST}
    assert not long, f"at most {LONGEST} lines a file"


PACKAGE = ROOT / "plmlab"
FORBIDDEN_IMPORTS = {
    "layers": ("labs", "interpret", "hf", "models", "objectives", "text", "world", "train", "paths"),
    "objectives": ("labs", "interpret", "hf", "models", "layers", "train", "world", "paths"),
    "models": ("labs", "interpret", "hf", "world", "train", "paths", "course"),
    "train": ("labs", "interpret", "hf", "models", "world", "pretraining"),
    "world": ("labs", "interpret", "hf", "models", "train"),
    "text": ("labs", "interpret", "hf", "models", "objectives", "train", "world"),
    "decode": ("labs", "interpret", "hf", "models", "train", "world"),
    "hf": ("labs", "interpret", "train", "world"),
    "interpret": ("labs", "train", "world"),
    "exercises": ("labs", "train", "world"),
    "vectors": ("labs", "interpret", "hf", "world", "pretraining"),
}
LIVE_CURVE = ("train.progress", "labs.curve.lab")
"""Training shows itself in a notebook, where the lab is loaded on the spot: the one arrow that runs back up."""

FRONT_ENDS = {"ipywidgets", "anywidget", "plotly", "IPython", "bertviz"}


@cache
def arrows(package: Path) -> nx.DiGraph:
    """Module → every module of the same package that it imports; the names count from the package."""
    def name_of(path: Path) -> str:
        return ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")

    modules = {name_of(path): path for path in package.rglob("*.py")}
    graph = nx.DiGraph()
    graph.add_nodes_from(module.partition(".")[2] for module in modules)
    for module, path in modules.items():
        for source, name in imports(path):
            target = f"{source}.{name}" if f"{source}.{name}" in modules else source
            if target in modules and target != package.name:
                graph.add_edge(module.partition(".")[2], target.partition(".")[2])
    return graph


def rooms(graph: nx.DiGraph) -> nx.DiGraph:
    """The same arrows between rooms: a folder without folders is a room, and elsewhere each file is one."""
    above = {name.rpartition(".")[0] for name in graph}
    halls = {name.rpartition(".")[0] for name in above if name}

    def room(module: str) -> str:
        folder = module if module in above else module.rpartition(".")[0]
        return module if folder in halls else folder

    return nx.DiGraph((room(a), room(b)) for a, b in graph.edges if room(a) != room(b))


def circles(graph: nx.DiGraph) -> list[list[str]]:
    """Every knot of modules that need each other, directly or by way of others."""
    loops = [[node] for node in nx.nodes_with_selfloops(graph)]
    return loops + [sorted(knot) for knot in nx.strongly_connected_components(graph) if len(knot) > 1]


def without_the_live_curve(graph: nx.DiGraph) -> nx.DiGraph:
    return nx.restricted_view(graph, [], [LIVE_CURVE])


def test_arrows_run_one_way() -> None:
    wrong = [f"{a} → {b}" for a, b in without_the_live_curve(arrows(PACKAGE)).edges
             if b.partition(".")[0] in FORBIDDEN_IMPORTS.get(a.partition(".")[0], ())]
    assert not wrong


def test_no_circles() -> None:
    graph = without_the_live_curve(arrows(PACKAGE))
    assert graph.number_of_edges() > 300
    assert not circles(graph)
    assert not circles(rooms(graph))


def test_circles_are_found_in_subfolders_and_behind_lazy_and_type_only_imports(tmp_path: Path) -> None:
    files = {
        "house/__init__.py": "", "house/one/__init__.py": "", "house/two/__init__.py": "from house.two.b import B\n",
        "house/one/a.py": "def f():\n    from house.two import B\n",
        "house/two/b.py": "if TYPE_CHECKING:\n    from house.one.a import f\n",
        "house/one/c.py": "from house.two import d\n", "house/two/d.py": "from house.one.e import E\n",
        "house/one/e.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    graph = arrows(tmp_path / "house")
    assert circles(graph) == [["one.a", "two", "two.b"]]
    alone = nx.restricted_view(graph, ["one.a"], [])
    assert not circles(alone) and circles(rooms(alone)) == [["one", "two"]]


def test_chapters_never_import_chapters_nor_labs_labs() -> None:
    for hall, common in (("chapters", ()), ("labs", ("shared", "base", "modules", "picture", "family"))):
        for a, b in arrows(PACKAGE).edges:
            (ours, *mine), (other, *theirs) = a.split("."), b.split(".")
            if ours == other == hall and len(mine) > 1 and theirs:
                assert theirs[0] in (mine[0], *common), f"{a} → {b}"


MODELS_IN_GENERAL = ("models", "models.registry", "models.architectures")


@pytest.mark.parametrize("room", ["interpret", "labs", "pretraining", "listing", "show", "tracing", "checkpoints",
                                  "train", "decode"])
def test_who_serves_all_models_names_none(room: str) -> None:
    """They ask the registry."""
    named = [f"{a} → {b}" for a, b in arrows(PACKAGE).edges
             if a.partition(".")[0] == room and b.partition(".")[0] == "models" and b not in MODELS_IN_GENERAL]
    assert not named


@pytest.mark.parametrize("room", ["layers", "models", "objectives"])
def test_what_is_taught_knows_no_front_end(room: str) -> None:
    for path in (PACKAGE / room).rglob("*.py"):
        assert not {module.partition(".")[0] for module, _ in imports(path)} & FRONT_ENDS, path.name


HEAVY = ("transformers", "faiss", "plotly", "gensim", "sklearn", "scipy", "pandas", "accelerate", "datasets", "IPython")


def test_importing_the_package_and_its_models_stays_light() -> None:
    code = "import sys, plmlab, plmlab.models.gpt, plmlab.models.bert, plmlab.objectives, plmlab.cli; " \
           "print(*{name.split('.')[0] for name in sys.modules})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "torch" in told.stdout.split()
    assert not set(told.stdout.split()) & set(HEAVY)


def test_a_wrong_shape_is_caught() -> None:
    from plmlab.example import Batch
    Batch.causal(torch.zeros(2, 5, dtype=torch.long))
    with pytest.raises(TypeCheckError):
        Batch.causal(torch.zeros(5, dtype=torch.long))
    with pytest.raises(TypeCheckError):
        Batch.causal(torch.zeros(2, 5))


def test_sizes_that_disagree_are_caught() -> None:
    from plmlab.example import Example
    from plmlab.visibility import Visibility
    four, five = torch.zeros(4, dtype=torch.long), torch.zeros(5, dtype=torch.long)
    Example(four, four[None], four, Visibility.full(4), four)
    with pytest.raises(TypeCheckError):
        Example(four, five[None], four, Visibility.full(4), four)


def test_a_function_is_checked_if_a_shape_is_anywhere_in_its_annotations() -> None:
    from plmlab.models.marginals import DocumentLogProbs
    row = Float[Tensor, "time"]
    for hint in (row, DocumentLogProbs, row | None, tuple[int, row], Callable[[row], int], Callable[[int], row],
                 "Later"):
        def taking(x: hint) -> int: ...
        def giving(x: int) -> hint: ...
        assert shaped(taking) and shaped(giving), hint
    for hint in (int, str | None, Tensor, Callable[[int], Tensor], dict[str, tuple[int, ...]]):
        def plain(x: hint) -> hint: ...
        assert not shaped(plain), hint


def test_every_module_is_checked() -> None:
    """Each is loaded through jaxtyping's hook, so that no shape goes unread."""
    for module in chain(pkgutil.walk_packages(plmlab.__path__, "plmlab."),
                        pkgutil.walk_packages(studies.__path__, "studies.")):
        if not module.name.endswith("__main__"):
            loaded = importlib.import_module(module.name)
            assert "axtyping" in type(loaded.__spec__.loader).__name__, module.name  # type: ignore[union-attr]
