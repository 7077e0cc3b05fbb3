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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
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
stop = Event()
BESIDE = ("types", "browser")
"""Parts that run beside the others: pages are waited for half of the time, and the type checker uses one core."""
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
    start = time.monotonic()
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // WORKERS)))
    parts = list(asked or PARTS)
    stop.clear()
    main_parts = [part for part in parts if part not in BESIDE] or parts
    with ThreadPoolExecutor() as pool:
        beside = pool.submit(run_all, [part for part in parts if part not in main_parts], aside=True)
        try:
            outcomes = run_all(main_parts) + beside.result()
        finally:
            stop.set()  # after Ctrl-C, no further part begins
    outcomes.sort(key=lambda outcome: parts.index(outcome.part))
    print()
    for outcome in outcomes:
        print(f"{outcome.part:<10} {'FAILED' if outcome.bad else 'ok':<7} {told(outcome.counts)}, "
              f"{outcome.seconds:.0f} s")
    total = sum((outcome.counts for outcome in outcomes), Counter[str]())
    print(f" {told(total)} in {time.monotonic() - start:.2f}s ".center(90, "="))
    return int(any(outcome.bad for outcome in outcomes))


def run_all(parts: Sequence[str], *, aside: bool = False) -> list[Outcome]:
    """Run parts one after the other."""
    return [run(part, aside=aside) for part in parts if not stop.is_set()]


def run(part: str, *, aside: bool) -> Outcome:
    """Run one part. Its output passes through, or, ``aside``, is shown when the part has ended."""
    title = f"\n--- {part}: {' '.join(COMMANDS[part])}\n"
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report, said = Path(folder) / "report.xml", Path(folder) / "said.txt"
        more = [f"--junitxml={report}"] if COMMANDS[part][0] == "pytest" else []
        command = [sys.executable, "-m", *arguments(part), *more]
        if aside:
            with said.open("w") as file:
                status = subprocess.run(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT).returncode
            print(title + said.read_text(errors="replace"), flush=True)
        else:
            print(title, end="", flush=True)
            status = subprocess.run(command, cwd=ROOT).returncode
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
