"""Everything that `make test` runs, part by part, to the end: ``python tests/run.py [PART …]``.

A part that fails does not stop the others. The last line counts all tests, as pytest's own last line does;
the linter and the type checker count as a test each.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
NO_TESTS = 5
"""pytest's exit status where it found nothing to run."""

WORKERS = 2
"""They share the cores: each, and what it starts, is told how many threads it has before anything is imported."""
PYTEST = ("pytest", "--color=no", "-n", str(WORKERS), "--dist", "loadfile", "--durations=10", "--durations-min=1")
PLAIN = (*PYTEST, "-p", "no:nbval")
"""Without the plugin for notebooks, which takes seconds to load."""
HERE = "not timing and not gpu"
"""Tests that need neither a quiet machine nor a GPU."""
PARTS: dict[str, tuple[str, ...]] = {
    "lint": ("ruff", "check", "."),
    "types": ("mypy",),
    "units": (*PLAIN, "-m", f"not browser and {HERE}", "--ignore", "tests/notebooks", "--ignore", "tests/browser",
              "tests"),
    "notebooks": (*PYTEST, "--nbval", "--nbval-current-env", "--nbval-cell-timeout", "300",
                  "--nbval-sanitize-with", "tests/notebooks/sanitize.cfg", "tests/notebooks", "notebooks"),
    "browser": (*PLAIN, "-m", f"browser and {HERE}", "tests/browser"),
}
SOME = {
    "gpu": (*PLAIN, "-m", "gpu", "tests"),
    "bundled": ("pytest", "--color=no", "--bundled", "tests/bundled"),
    "core": (*PLAIN, "-m", f"not browser and {HERE}", "tests/layers", "tests/models", "tests/objectives"),
}
"""Parts that run only when they are named: what needs a GPU, and what repeats tests of ``units``."""
COMMANDS = PARTS | SOME


@dataclass(frozen=True)
class Outcome:
    """What became of one part."""

    part: str
    counts: Counter[str]
    seconds: float

    @property
    def bad(self) -> bool:
        """Whether anything in it failed."""
        return bool(self.counts["failed"] or self.counts["errors"])


def main(asked: list[str]) -> int:
    """Run the parts asked for, or all; 1 if any of them fails, 2 for a part that there is not."""
    unknown = [part for part in asked if part not in COMMANDS]
    if unknown:
        print(f"there is no part {', '.join(unknown)}; there are {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // WORKERS)))
    outcomes = [run(part) for part in asked or PARTS]
    print()
    for outcome in outcomes:
        print(f"{outcome.part:<10} {'FAILED' if outcome.bad else 'ok':<7} {told(outcome.counts)}, "
              f"{outcome.seconds:.0f} s")
    total = sum((outcome.counts for outcome in outcomes), Counter[str]())
    print(f" {told(total)} in {sum(o.seconds for o in outcomes):.2f}s ".center(90, "="))
    return int(any(outcome.bad for outcome in outcomes))


def run(part: str) -> Outcome:
    """Run one part, its output passing through."""
    print(f"\n--- {part}: {' '.join(COMMANDS[part])}", flush=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        more = [f"--junitxml={report}"] if COMMANDS[part][0] == "pytest" else []
        status = subprocess.run([sys.executable, "-m", *arguments(part), *more], cwd=ROOT).returncode
        counts = tally(report, status) if more else Counter({"failed" if status else "passed": 1})
    return Outcome(part, counts, time.monotonic() - start)


def arguments(part: str) -> list[str]:
    """The part's command, without folders that a checkout does not have yet."""
    return [word for word in COMMANDS[part] if word != "notebooks" or (ROOT / word).is_dir()]


def tally(report: Path, status: int) -> Counter[str]:
    """Count the tests in pytest's report; a pytest that failed without a failing test counts as an error."""
    counts: Counter[str] = Counter()
    if report.exists():
        for suite in ElementTree.parse(report).iter("testsuite"):
            number = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
            bad = number["failures"] + number["errors"]
            counts += Counter(passed=number["tests"] - bad - number["skipped"], failed=number["failures"],
                              errors=number["errors"], skipped=number["skipped"])
    if status not in (0, NO_TESTS) and not (counts["failed"] or counts["errors"]):
        counts["errors"] += 1
    return counts


def told(counts: Counter[str]) -> str:
    """The counts in pytest's words and order: ``2 failed, 40 passed, 1 skipped``."""
    order = ("failed", "passed", "skipped", "errors")
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name]) or "no tests"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
