"""One task in a process of its own: read, remove views, fit, measure, score.

Labels are used by `evaluate` alone, after the fit; a method gets the views and the number of classes.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from conspectus._typing import Int
from conspectus.bench.grid import Task
from conspectus.bench.methods import build
from conspectus.bench.sources import problem
from conspectus.metrics import evaluate

_MIB = 1024.0 if sys.platform != "darwin" else 1024.0**2  # ru_maxrss counts KiB on Linux and bytes on macOS


def execute(task: Task, pipe: Connection) -> None:
    """Run the task and send its row; end at once when the other end of the pipe is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_follow, args=(pipe,), daemon=True).start()
    warnings.simplefilter("ignore")
    pipe.send(row(task))


def row(task: Task) -> dict[str, Any]:
    """What one fit gives: scores and costs, or the class and the message of its error."""
    try:
        return measure(task)
    except Exception as error:
        return {"error": type(error).__name__, "message": " ".join(str(error).split())}


def measure(task: Task) -> dict[str, Any]:
    """Fit once. Memory is the peak of the process, of which ``baseline_mb`` was there before the fit began."""
    given = problem(task.data, task.missing, task.ratio, task.mask)
    model = build(task.method, given.k, task.start)
    _forget_peak()
    baseline, wall, cpu = _peak(), time.perf_counter(), time.process_time()
    labels = np.asarray(model.fit_predict(given.views))
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    size = {"n": len(given.y), "k": given.k, "unseen": given.unseen, "found": len(np.unique(labels))}
    cost = {"seconds": seconds, "cpu_seconds": cpu_seconds, "memory_mb": _peak(), "baseline_mb": baseline}
    singles = single_runs(model, given.y, given.k, task.singles)
    return {**evaluate(given.y, labels), **cost, **size, **progress(model), "singles": singles}


def single_runs(model: Any, y: Int, k: int, runs: int) -> list[dict[str, float]] | None:
    """Scores of k-means with one start each on the embedding: the protocol of papers that report a mean of runs.

    Starts are random samples, as in the k-means that the papers use; a better start would be another protocol.
    """
    embedding = getattr(model, "embedding_", None)
    if not runs or embedding is None:
        return None
    from sklearn.cluster import KMeans

    H = np.asarray(embedding)
    labels = (KMeans(k, n_init=1, init="random", random_state=seed).fit_predict(H) for seed in range(runs))
    return [{name: round(value, 6) for name, value in evaluate(y, each).items()} for each in labels]


def progress(model: Any) -> dict[str, Any]:
    """Iterations, why they ended, and the objective after each, where the method iterates."""
    trace = getattr(model, "trace_", None)
    objective: Sequence[float] = () if trace is None else trace.objective
    return {
        "iterations": getattr(model, "n_iter_", None),
        "stop": None if trace is None else str(trace.reason),
        "objective": [float(value) for value in objective] or None,
    }


def _follow(pipe: Connection) -> None:
    """The parent never writes: what arrives is the end of the parent, and then nobody is left to work for."""
    with suppress(EOFError, OSError):
        pipe.recv()
    os._exit(1)


def _peak() -> float:
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / _MIB


def _forget_peak() -> None:
    """Reading the data may have taken more memory than the fit will; Linux can forget a peak."""
    with suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")
