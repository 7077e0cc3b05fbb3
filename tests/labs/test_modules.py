"""The labs' JavaScript modules: joined without a build step, a scope each, none left out."""

import re
from pathlib import Path

import pytest
from standin import words

from plmlab.labs import MaskLab, modules
from plmlab.labs.modules import HERE, PAGE, closure, widget_module

FILES = sorted(path.relative_to(HERE).as_posix() for path in HERE.rglob("*.js"))
SCRIPTS = {"bertviz/lab.js"}
"""A script of bertviz's page, and no module."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder of labs with these files."""
    def made(**files: str) -> Path:
        monkeypatch.setattr(modules, "HERE", tmp_path)
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/") + ".js")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return tmp_path
    return made


def test_each_module_stands_after_those_that_it_imports(folder) -> None:
    folder(lab__lab='import {\n  a,\n} from "./a.js";\nimport { b } from "../shared/b.js";\nexport default a + b;',
           lab__a='import { b } from "../shared/b.js";\nexport const a = b;', shared__b="export const b = 1;")
    found = closure("lab/lab.js")
    assert list(found) == ["shared/b.js", "lab/a.js", "lab/lab.js"]
    assert found["lab/lab.js"].startswith('import {\n  a,\n} from "plmlab:lab/a.js";\n'
                                          'import { b } from "plmlab:shared/b.js";')


def test_a_circle_is_named(folder) -> None:
    folder(a='import { b } from "./b.js";\nexport const a = 1;', b='import { a } from "./a.js";\nexport const b = 1;')
    with pytest.raises(ValueError, match=r"circular import of JavaScript modules: a\.js → b\.js → a\.js"):
        closure("a.js")


def test_an_import_without_names_is_refused(folder) -> None:
    folder(a='import "./b.js";\nexport const a = 1;', b="export const b = 1;")
    with pytest.raises(ValueError, match="a\\.js contains import"):
        closure("a.js")


@pytest.mark.parametrize("name", FILES)
def test_a_module_reaches_for_nothing_and_makes_no_html_of_text(name: str) -> None:
    text = (HERE / name).read_text(encoding="utf-8")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
    assert "import(" not in text and "</script" not in text
    imported = re.findall(r'^(?:import|export)\b[^;]*?from\s+"([^"]+)"', text, re.MULTILINE)
    assert all(re.fullmatch(r"\.{1,2}/[\w/]+\.js", path) for path in imported)
    if name not in SCRIPTS:
        assert all('"plmlab:' in line for line in closure(name)[name].splitlines() if " from " in line
                   and line.startswith(("import", "}")))


def test_every_file_is_in_some_lab_and_a_lab_only_in_its_own_folder_and_what_is_shared() -> None:
    labs = [name for name in FILES if name.endswith("/lab.js") and name not in SCRIPTS]
    reached = {name: set(closure(name)) for name in labs if not name.startswith("shared/")}
    assert set().union(*reached.values()) == set(FILES) - SCRIPTS - {PAGE}
    for entry, names in reached.items():
        assert {name.split("/")[0] for name in names} <= {entry.split("/")[0], "shared"}


def test_any_two_files_can_be_in_one_lab() -> None:
    """Each has its own scope: names stand in several, and what is joined declares none of them beside the others."""
    top = [name for file in FILES for name in
           re.findall(r"^(?:export )?(?:async )?(?:function|const|let) (\w+)", (HERE / file).read_text(), re.MULTILINE)]
    assert len(top) > len(set(top))
    loader = widget_module("mask/lab.js").split("\n", 1)[1]
    declared = re.findall(r"^(?:const|let) \{? ?(?:default: )?(\w+)", loader, re.MULTILINE)
    assert declared == ["known", "places", "lab"]


def test_a_file_that_was_saved_is_in_the_next_lab_that_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    before = MaskLab(words(), "the cat")
    read = modules.source
    title = "Which positions can attend to which?"
    monkeypatch.setattr(modules, "source", lambda name: read(name).replace(title, "Which may?"))
    after = MaskLab(words(), "the cat")
    assert title in before.get_state("_esm")["_esm"]
    assert "Which may?" in after.get_state("_esm")["_esm"] and "Which may?" in after.html()
