"""A resumable cache of jobs: parts of a recipe run in parallel, and each result is saved as soon as it is computed."""

import hashlib
import inspect
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

Task = tuple[Any, ...]


class Parts:
    """The results of a recipe's parts so far, in a JSON Lines file with one line per part.

    ``parts(function, tasks)`` returns {task: function(*task)}. ``function`` must be defined in a module, or be a method
    of a `Study`, and return a JSON-serializable value; tasks are tuples of numbers, strings, booleans and None. A
    result from an earlier run is reused as long as the source of the function's module is unchanged and, for a study,
    that of the modules that define its functions. Other modules are not checked: delete the file after a relevant
    change in one of them. The other tasks are computed in ``processes`` single-threaded processes, in no fixed order;
    an exception in one of them ends the run, and finished parts are kept. With ``processes=0`` everything is computed
    in the calling process.

    ``seconds`` is the wall-clock time spent on the parts, including earlier runs.
    """

    def __init__(self, path: Path, processes: int = 2) -> None:
        self.path, self.processes = path, processes
        self.done: dict[str, Any] = {}
        earlier = 0.0
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
            try:
                key, value, earlier = json.loads(line)
            except ValueError:
                continue  # truncated by an interruption
            self.done[key] = value
        self._began = time.monotonic() - earlier

    @property
    def folder(self) -> Path:
        """Folder for data that JSON cannot represent, such as weights; deleted when the recipe is recorded."""
        return self.path.with_suffix("")

    @property
    def seconds(self) -> float:
        """Wall-clock seconds spent on the recipe, excluding the time between runs."""
        return time.monotonic() - self._began

    def __call__(self, function: Callable[..., Any], tasks: Sequence[Task]) -> dict[Task, Any]:
        """Task → the function's result for it."""
        key = _keys(function)
        keys = {task: key(task) for task in tasks}
        missing = {task: key for task, key in keys.items() if key not in self.done}
        if missing:
            self._compute(function, missing)
        return {task: self.done[key] for task, key in keys.items()}

    def _compute(self, function: Callable[..., Any], missing: dict[Task, str]) -> None:
        name = function.__name__.replace("_", " ")
        if not self.processes:
            for task, key in tqdm(missing.items(), name):
                self._keep(key, function(*task))
            return
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(self.processes, mp_context=spawn, initializer=_one_thread) as pool:
            running = {pool.submit(function, *task): key for task, key in missing.items()}
            try:
                for done in tqdm(as_completed(running), name, len(running)):
                    self._keep(running[done], done.result())
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _keep(self, key: str, value: Any) -> None:
        line = json.dumps([key, value, round(self.seconds, 1)], ensure_ascii=False)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"\n{line}")
            file.flush()
            os.fsync(file.fileno())
        self.done[key] = json.loads(line)[1]


def _keys(function: Callable[..., Any]) -> Callable[[Task], str]:
    """Make a function from a task to its cache key: the function's name, the task, and a hash of the source code."""
    module, study = inspect.getmodule(function), getattr(function, "__self__", None)
    source = (inspect.getsource(module) if module else "") + getattr(study, "source", "")
    code = hashlib.sha256(source.encode()).hexdigest()[:12]
    name = f"{function.__module__}.{function.__qualname__}{getattr(study, 'name', '')}"
    return lambda task: f"{name}{json.dumps(task, ensure_ascii=False)} {code}"


def _one_thread() -> None:
    import torch
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)
