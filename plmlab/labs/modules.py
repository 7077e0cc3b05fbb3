"""Bundle the labs' JavaScript modules, which import one another, into the single module that anywidget requires.

The files stay separate modules: each keeps its own scope, and its name in the browser's console. The bundle contains
their source texts and a short loader that registers each module as a blob URL, after the modules it imports. Labs on
the same page share a module if its text is identical.
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
    """Read a file of the labs, given by its path relative to this folder, such as ``"shared/lab.js"``."""
    return (HERE / name).read_text(encoding="utf-8")


def closure(entry: str) -> dict[str, str]:
    """The source texts, by name, of a module and of everything it imports, in topological order (imports first). Import
    paths are rewritten relative to this folder, as in ``"plmlab:shared/lab.js"``. Raises ValueError for circular
    imports, and for an import without names."""
    sources: dict[str, str] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"circular import of JavaScript modules: {' → '.join((*above, name))}")
        if name in sources:
            return
        text, folder = source(name), posixpath.dirname(name)
        if bare := BARE.search(text):
            raise ValueError(f"{name} contains {bare[0].strip()}: a lab's module has to import names, "
                             "import { … } from …")
        for imported in IMPORT.finditer(text):
            visit(posixpath.normpath(posixpath.join(folder, imported[2])), (*above, name))
        sources[name] = IMPORT.sub(
            lambda m: f'{m[1]}"plmlab:{posixpath.normpath(posixpath.join(folder, m[2]))}";', text)

    visit(entry, ())
    return sources


def widget_module(entry: str) -> str:
    """A single module without file imports, with the default export of ``entry``, as anywidget requires."""
    return f"{_loader(entry, closure(entry))}export default lab;\n"


def page_script(entry: str) -> str:
    """A script that draws the lab of ``entry`` on the page containing the script."""
    loader = _loader(entry, closure(entry) | closure(PAGE))
    return f"{loader}const {{ default: drawAlone }} = await import(places[{json.dumps(PAGE)}]);\ndrawAlone(lab);\n"


def _loader(entry: str, files: dict[str, str]) -> str:
    return LOADER.replace("{FILES}", script_json(files)).replace("{ENTRY}", json.dumps(entry))


def script_json(value: object) -> str:
    """Serialise to JSON that is safe inside a ``<script>`` element: nothing in it can end the script or open a comment.
    Bytes are encoded in base64."""
    text = json.dumps(value, ensure_ascii=False, default=lambda sent: b64encode(sent).decode())
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028")
