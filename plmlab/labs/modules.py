"""How the labs' JavaScript modules, which import one another, become the one module that a widget takes.

The files stay what they are: each keeps its own scope, and is named in the browser's console as on disk. What a lab
sends holds their texts, and a few lines that hand them to the browser, each after those that it imports. What was
handed over once is not handed over again: all labs on a page share a file, while its text is the same.
"""

import json
import posixpath
import re
from base64 import b64encode
from pathlib import Path

HERE = Path(__file__).parent

IMPORT = re.compile(r'^((?:import|export)\b[^;"]*?\bfrom\s+)"(\.{1,2}/[^"]+)";', re.MULTILINE)

BARE = re.compile(r'^import\s*".*$', re.MULTILINE)

LOADER = """\
const files = {FILES};
const known = globalThis[Symbol.for("plmlab.labs")] ??= new Map();
const places = {};
for (const [name, text] of Object.entries(files)) {
  const linked = text.replace(/"plmlab:([^"]+)"/g, (_, imported) => JSON.stringify(places[imported]));
  const module = `${linked}\\n//# sourceURL=plmlab/labs/${name}`;
  if (!known.has(module)) known.set(module, URL.createObjectURL(new Blob([module], { type: "text/javascript" })));
  places[name] = known.get(module);
}
const { default: lab } = await import(places[{ENTRY}]);
"""
PAGE = "shared/page.js"


def source(name: str) -> str:
    """The text of a file of the labs, named from this folder on: ``"shared/lab.js"``."""
    return (HERE / name).read_text(encoding="utf-8")


def closure(entry: str) -> dict[str, str]:
    """A module and all that it imports, by name, each after those that it imports itself; their imports name files
    from this folder on, ``"plmlab:shared/lab.js"``. ValueError: modules import one another in a circle."""
    found: dict[str, str] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"JavaScript modules import one another in a circle: {' → '.join((*above, name))}")
        if name in found:
            return
        text, folder = source(name), posixpath.dirname(name)
        if bare := BARE.search(text):
            raise ValueError(f"{name} says {bare[0].strip()}: a module of a lab names what it imports")
        for imported in IMPORT.finditer(text):
            visit(posixpath.normpath(posixpath.join(folder, imported[2])), (*above, name))
        found[name] = IMPORT.sub(
            lambda m: f'{m[1]}"plmlab:{posixpath.normpath(posixpath.join(folder, m[2]))}";', text)

    visit(entry, ())
    return found


def widget_module(entry: str) -> str:
    """One module that imports no file, and whose default export is that of ``entry``: what anywidget asks for."""
    return f"{_loader(entry, closure(entry))}export default lab;\n"


def page_script(entry: str) -> str:
    """A script that draws the lab of ``entry`` on the page that it stands in."""
    loader = _loader(entry, closure(entry) | closure(PAGE))
    return f"{loader}const {{ default: drawAlone }} = await import(places[{json.dumps(PAGE)}]);\ndrawAlone(lab);\n"


def _loader(entry: str, files: dict[str, str]) -> str:
    return LOADER.replace("{FILES}", script_json(files)).replace("{ENTRY}", json.dumps(entry))


def script_json(value: object) -> str:
    """JSON that may stand inside a ``<script>``: nothing in it can end the script or open a comment. Bytes become
    text in base64."""
    text = json.dumps(value, ensure_ascii=False, default=lambda sent: b64encode(sent).decode())
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028")
