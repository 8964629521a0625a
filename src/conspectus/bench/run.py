"""One mechanism runs every task: a process of its own, killed at its time limit, its row on the disk at once."""

from __future__ import annotations

import multiprocessing
import os
import platform
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import connection, forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from conspectus.bench.grid import Task
from conspectus.bench.methods import revision
from conspectus.bench.store import Store
from conspectus.bench.worker import execute

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
PRELOAD = ("conspectus.bench.preload",)
Watch = Callable[[int, int, dict[str, Any]], None]
"""Called with the number of tasks that are done, of how many, and the new row."""


@dataclass
class Report:
    """What a run did: how many tasks the store had, how many were run, what failed, what there was no time for."""

    reused: int = 0
    run: int = 0
    left: int = 0
    errors: Counter[str] = field(default_factory=Counter)


@dataclass
class _Job:
    task: Task
    process: Any
    deadline: float


def run(
    tasks: Iterable[Task],
    store: Store,
    *,
    jobs: int = 1,
    limit: float = 600.0,
    budget: float | None = None,
    fresh: bool = False,
    watch: Watch | None = None,
) -> Report:
    """Run what the store does not have yet.

    Parameters
    ----------
    tasks : iterable of Task
        In the order in which they are started.
    store : Store
        Every row is on the disk before its place is given to the next task.
    jobs : int, default=1
        Processes at once, each with one BLAS thread.
    limit, budget : float
        Seconds for a task, after which it is killed; and for the whole run, after which no task is started.
    fresh : bool, default=False
        Run all again; old rows stay in the store, new ones count.
    watch : callable, optional
        Called as ``watch(done, total, row)`` for every row.

    Returns
    -------
    Report
    """
    named = {task.key(revision(task.method.name)): task for task in tasks}
    done = set() if fresh else store.done(named, limit)
    report = Report(reused=len(done))
    waiting = deque((key, task) for key, task in named.items() if key not in done)
    end = time.monotonic() + budget if budget else float("inf")
    for key, task, row in _finished(waiting, jobs, limit, end):
        store.append({**row, **_label(key, task, limit)})
        report.run += 1
        report.errors.update([row["error"]] if row.get("error") else [])
        if watch:
            watch(report.reused + report.run, len(named), row)
    report.left = len(waiting)
    return report


def _finished(
    waiting: deque[tuple[str, Task]], jobs: int, limit: float, end: float
) -> Iterator[tuple[str, Task, dict[str, Any]]]:
    """Keep `jobs` processes busy and give their rows as they come; none outlives the loop, however it ends."""
    running: dict[Connection, tuple[str, _Job]] = {}
    try:
        while running or (waiting and time.monotonic() < end):
            while waiting and len(running) < jobs and time.monotonic() < end:
                key, task = waiting.popleft()
                pipe, job = _start(task, limit)
                running[pipe] = (key, job)
            for pipe in _ready(running):
                key, job = running.pop(pipe)
                yield key, job.task, _collect(pipe, job, limit)
    finally:
        for pipe, (_, job) in running.items():
            _stop(pipe, job)


def _start(task: Task, limit: float) -> tuple[Connection, _Job]:
    context = _context()
    ours, theirs = context.Pipe()
    process = context.Process(target=execute, args=(task, theirs), daemon=True)
    process.start()
    theirs.close()
    return ours, _Job(task, process, time.monotonic() + limit)


def _ready(running: dict[Connection, tuple[str, _Job]]) -> list[Connection]:
    """Pipes that have a row or have ended, and those whose time is up."""
    soonest = min(job.deadline for _, job in running.values())
    ready = connection.wait(list(running), timeout=max(soonest - time.monotonic(), 0.0))
    late = [pipe for pipe, (_, job) in running.items() if job.deadline <= time.monotonic()]
    return [pipe for pipe in running if pipe in ready or pipe in late]


def _collect(pipe: Connection, job: _Job, limit: float) -> dict[str, Any]:
    """The row, or the reason why there is none."""
    row: dict[str, Any] | None = None
    if late := not pipe.poll():
        job.process.kill()
    else:
        with suppress(EOFError, ConnectionResetError):
            row = pipe.recv()
    _stop(pipe, job, gently=not late)
    if row is not None:
        return row
    if late:
        return {"error": "TimeLimit", "message": f"stopped after {limit:g} s"}
    return {"error": "ProcessDied", "message": f"the process ended with exit code {job.process.exitcode}"}


def _stop(pipe: Connection, job: _Job, *, gently: bool = False) -> None:
    """A process that sent its row ends by itself; any other is killed."""
    if gently:
        job.process.join(timeout=5.0)
    if job.process.is_alive():
        job.process.kill()
    job.process.join()
    pipe.close()


@cache
def _context() -> Any:
    """A fork server that holds the library, imported with one thread for linear algebra."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOAD))
    with _environment({**dict.fromkeys(THREADS, "1"), "PYTHONPATH": _path()}):
        forkserver.ensure_running()
    return context


def _path() -> str:
    """Where this very package is: the server does not inherit `sys.path`, and would quietly preload nothing."""
    return os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _label(key: str, task: Task, limit: float) -> dict[str, Any]:
    identity = {"key": key, "revision": revision(task.method.name), "task": task.json()}
    return {**identity, "limit_s": limit, "finished": datetime.now(UTC).isoformat(timespec="seconds"), **_versions()}


@cache
def _versions() -> dict[str, str]:
    from conspectus import __version__

    packages = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}
    installed = {column: _version(package) for column, package in packages.items()}
    return {"conspectus": __version__, "python": platform.python_version(), **installed, "machine": _machine()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _machine() -> str:
    """The processor's name, for times are worth nothing without it."""
    with suppress(OSError), open("/proc/cpuinfo") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
        if names:
            return f"{names[0]} x {len(names)}"
    return platform.processor() or platform.machine()
