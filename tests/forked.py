"""Processes of their own for tests that kill them: forked from one that has imported what takes long, once for all."""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable
from datetime import timedelta
from multiprocessing import forkserver
from pathlib import Path
from typing import NamedTuple

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["accelerate", "torch._dynamo", "plmlab.cli", "plmlab.pretraining"])
PATIENCE = 900
"""Seconds that a process may take before it counts as one that never ends."""


def prepare() -> None:
    """Let the process that is forked import what it needs, beside whatever comes next."""
    forkserver.ensure_running()


def die() -> None:
    """Kill the process that this is called in."""
    os.kill(os.getpid(), signal.SIGKILL)


class Ended(NamedTuple):
    """The exit code, minus the signal where it was killed; and what was written to stdout and to stderr."""

    code: int
    out: str
    err: str


class Forked:
    """A process that does some work, with one thread, as the tests do; it begins at once. ``work`` stands in a module
    that imports no pytest: the process imports that module."""

    def __init__(self, work: Callable[..., object], *given: object) -> None:
        self.told = tempfile.TemporaryDirectory()
        self.process = FORKS.Process(target=alone, args=(Path(self.told.name), work, given), daemon=True)
        self.process.start()

    def end(self) -> Ended:
        """Wait until the work is done, or the process is dead."""
        self.process.join(PATIENCE)
        code = self.process.exitcode
        self.process.kill()
        assert code is not None, f"it did not end within {PATIENCE} s"
        with self.told:
            return Ended(code, *(Path(self.told.name, name).read_text(encoding="utf-8") for name in ("out", "err")))


def alone(folder: Path, work: Callable[..., object], given: tuple[object, ...]) -> None:
    """What the process does: the work, its output in two files."""
    for handle, name in ((1, "out"), (2, "err")):
        with Path(folder, name).open("wb") as file:
            os.dup2(file.fileno(), handle)
    os.environ.update(OMP_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")
    import torch
    torch.set_num_threads(1)
    work(*given)


def two(meeting: Path, work: Callable[..., object], *given: object) -> list[Ended]:
    """Two processes that do the same work, as `accelerate launch` begins them; they meet in a file, not at a port."""
    both = [Forked(one_of_two, rank, meeting, work, given) for rank in (0, 1)]
    return [process.end() for process in both]


def told(rank: int) -> dict[str, str]:
    """What `accelerate launch` tells the process of that rank, of two on the CPU, in its environment."""
    return {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
            "ACCELERATE_USE_CPU": "true"}


def one_of_two(rank: int, meeting: Path, work: Callable[..., object], given: tuple[object, ...]) -> None:
    """The work of one, where another does the same."""
    os.environ.update(told(rank))
    import torch.distributed
    torch.distributed.init_process_group("gloo", f"file://{meeting}", timedelta(seconds=PATIENCE), 2, rank)
    work(*given)
    torch.distributed.destroy_process_group()
