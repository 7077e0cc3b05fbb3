"""The rules of the house: what files may hold, how long they are, and who may know whom."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from jaxtyping import TypeCheckError

import plmlab
from plmlab.paths import ROOT

LONGEST = 320
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
        r"\bimport pickle\b|\bpickle[.](load|dump)|(?<!safetensors[.])\btorch[.](load|save)\(|joblib[.]load",
}


@cache
def files() -> tuple[Path, ...]:
    """Every text file of the checkout that git keeps or would keep."""
    told = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True,
                          text=True, check=True).stdout
    paths = (ROOT / name for name in told.split("\0") if name)
    return tuple(path for path in paths if path.is_file() and path.suffix in TEXT)


def offences(rules: dict[str, str], suffixes: tuple[str, ...], under: str = "") -> Iterator[str]:
    """Where a file holds what a rule forbids."""
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        if path.suffix not in suffixes or not name.startswith(under):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for rule, pattern in rules.items():
                if found := re.search(pattern, line):
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


def test_a_file_is_one_sitting() -> None:
    long = {path.relative_to(ROOT).as_posix(): lines for path in files()
            if path.suffix in CODE and (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST}
    assert not long, f"at most {LONGEST} lines a file"


FORBIDDEN_IMPORTS = {
    "layers": ("labs", "models", "objectives", "world", "train", "text.corpora", "paths"),
    "objectives": ("labs", "models", "layers", "train", "world", "paths"),
    "models": ("labs", "world", "train", "paths", "course"),
    "train": ("labs", "models", "world"),
    "world": ("labs", "train"),
    "text": ("labs", "models", "train", "world"),
    "exercises": ("labs", "train", "world"),
}
ALLOWED = {("train/progress.py", "labs.curve")}
"""The live curve: training shows itself in a notebook, where the lab is loaded on the spot."""

FRONT_ENDS = {"ipywidgets", "anywidget", "plotly", "IPython", "bertviz"}


def imports(path: Path) -> set[str]:
    """The modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


@pytest.mark.parametrize("room", FORBIDDEN_IMPORTS)
def test_arrows_run_one_way(room: str) -> None:
    wrong = []
    for path in (ROOT / "plmlab" / room).glob("*.py"):
        place = f"{room}/{path.name}"
        for module in imports(path):
            inside = module.removeprefix("plmlab.")
            bad = module.startswith("plmlab.") and inside.startswith(FORBIDDEN_IMPORTS[room])
            if bad and not any(place == p and inside.startswith(m) for p, m in ALLOWED):
                wrong.append(f"plmlab/{place} imports {module}")
    assert not wrong


@pytest.mark.parametrize("room", ["layers", "models", "objectives"])
def test_what_is_taught_knows_no_front_end(room: str) -> None:
    for path in (ROOT / "plmlab" / room).glob("*.py"):
        assert not {module.split(".")[0] for module in imports(path)} & FRONT_ENDS, path.name


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


def test_every_module_is_checked() -> None:
    """Each is loaded through jaxtyping's hook, so that no annotation goes unread. Only the world, which holds no
    tensors and makes half a million small calls, is loaded without it by its own tests."""
    for module in pkgutil.walk_packages(plmlab.__path__, "plmlab."):
        if not module.name.endswith("__main__") and not module.name.startswith("plmlab.world"):
            loaded = importlib.import_module(module.name)
            assert "axtyping" in type(loaded.__spec__.loader).__name__, module.name  # type: ignore[union-attr]
