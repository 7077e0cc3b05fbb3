"""The tests with the lowest versions that pyproject.toml declares: ``python tests/lowest.py [PART …]``.

Makes ``.venv-lowest`` anew, every direct dependency in it at its lower bound, torch at the version of constraints.txt,
and runs these parts of ``tests/run.py`` there; units and notebooks, if none is named.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv-lowest"
PYTHON = VENV / "bin" / "python"


def main(parts: list[str]) -> int:
    """Install, then run the parts; the exit status of ``tests/run.py``."""
    install()
    return subprocess.run([PYTHON, "tests/run.py", *(parts or ("units", "notebooks"))], cwd=ROOT).returncode


def install() -> None:
    """uv chooses the versions, pip installs them: pip knows of wheels that this machine keeps, such as a torch
    without CUDA."""
    print(f"Installing the lowest versions into {VENV.name}: some minutes …", flush=True)
    venv.create(VENV, clear=True, with_pip=True)
    module("pip", "install", "-qq", "uv")
    with tempfile.TemporaryDirectory() as folder:
        torch, lowest = Path(folder) / "torch.txt", Path(folder) / "lowest.txt"
        torch.write_text(tested("torch"), encoding="utf-8")
        module("uv", "pip", "compile", "--quiet", "--resolution", "lowest-direct", "--extra", "test",
               "--constraint", str(torch), "--output-file", str(lowest), "pyproject.toml")
        module("pip", "install", "-qq", "--constraint", str(lowest), "--editable", ".[test]")


def tested(package: str) -> str:
    """The line of constraints.txt that pins a package."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{package}=="))


def module(name: str, *arguments: str) -> None:
    """Run a module in the new environment; CalledProcessError if it fails."""
    subprocess.run([PYTHON, "-m", name, *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
