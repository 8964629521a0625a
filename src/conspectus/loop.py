"""The one loop of the library.

An iterative method is a generator that yields ``objective, state``; it does not know who is watching. History,
stopping, progress, callbacks, checkpoints, Ctrl-C and the one `ConvergenceWarning` live here and nowhere else.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from conspectus.progress import Progress

Steps = Iterator[tuple[float, Any]]
Callback = Callable[[int, float, Any], object]
Direction = Literal["down", "up"] | None

_depth: ContextVar[int] = ContextVar("depth", default=0)
_strict: ContextVar[bool] = ContextVar("strict", default=False)


@dataclass(frozen=True)
class Trace:
    """What happened in a run: the objective after each iteration, and why it ended."""

    objective: tuple[float, ...] = ()
    reason: str = "running"
    """"converged", "max_iter", "callback", "finished" (the generator ended by itself) or "interrupted"."""
    extra: dict[str, Any] = field(default_factory=dict)
    """What a method reports besides, such as a certificate of optimality."""

    @property
    def n_iter(self) -> int:
        """How many iterations were made."""
        return len(self.objective)


class Checkpoint(NamedTuple):
    """All that a fit needs to go on as if it had not stopped: the last state and the history before it.

    Restarts are the iterations of an outer run, so that the number of finished restarts is ``trace.n_iter``.
    """

    state: Any
    trace: Trace


class NotMonotoneError(AssertionError):
    """An objective went the wrong way where the mathematics says it cannot."""


@contextmanager
def strict() -> Generator[None]:
    """Make every run with a `direction` check that its objective never goes the wrong way (for tests)."""
    token = _strict.set(True)
    try:
        yield
    finally:
        _strict.reset(token)


def run(
    steps: Steps,
    *,
    max_iter: int,
    tol: float | None = 1e-4,
    window: int = 1,
    min_iter: int = 2,
    start: Checkpoint | None = None,
    direction: Direction = None,
    callback: Callback | None = None,
    verbose: bool = False,
    label: str = "iteration",
    warn: bool = True,
) -> tuple[Any, Trace]:
    """Draw iterates until they settle.

    Parameters
    ----------
    steps : iterator of (objective, state)
        The method. A generator that was started from ``start.state`` goes on where that run stopped.
    max_iter : int
        The most iterations in all, those before `start` counted in.
    tol : float or None
        Stop when the objective's relative change over `window` iterations is at most this; None: never.
    window, min_iter : int
        Over how many iterations the change is measured, and the fewest iterations before it counts.
    start : Checkpoint, optional
        Where an earlier run stopped.
    direction : {"down", "up"}, optional
        Which way the objective must go; checked under `strict`.
    callback : callable, optional
        Called as ``callback(iteration, objective, state)`` after each iteration; True stops the run.
    verbose : bool
        Show progress (the outermost run only).
    label : str
        What an iteration is called in the progress.
    warn : bool
        Give a `ConvergenceWarning` when a run with a `tol` ends by `max_iter` (the outermost run only).

    Returns
    -------
    state, Trace
        The last state (that of `start` when there was nothing left to do).
    """
    outermost = _depth.get() == 0
    token = _depth.set(_depth.get() + 1)
    state, history = (None, []) if start is None else (start.state, list(start.trace.objective))
    reason = _reason(history, max_iter, tol, window, min_iter) if history else ""
    progress = Progress(label, max_iter, shown=verbose and outermost)
    try:
        with progress:
            while not reason:
                drawn = next(steps, None)
                if drawn is None:
                    reason = "finished"
                    break
                objective, state = float(drawn[0]), drawn[1]
                history.append(objective)
                _check(history, direction)
                progress.update(len(history), objective)
                reason = _reason(history, max_iter, tol, window, min_iter)
                if callback is not None and outermost and callback(len(history), objective, state) is True:
                    reason = reason or "callback"
    except KeyboardInterrupt as stop:
        # The outermost run writes last, so that what is kept is what the whole fit can go on from.
        stop.checkpoint = Checkpoint(state, Trace(tuple(history), "interrupted"))  # type: ignore[attr-defined]
        raise
    finally:
        _depth.reset(token)
    if reason == "max_iter" and tol is not None and warn and outermost:
        _warn_not_converged(history, tol)
    return state, Trace(tuple(history), reason)


def best_of(
    fit_one: Callable[[int], tuple[float, Any]], seeds: Sequence[int], start: Checkpoint | None = None
) -> Steps:
    """Yield the best result of restarts so far, one restart an iteration; an unfinished restart begins again.

    ``fit_one(seed)`` returns (objective, result), and lower is better. Drawn by an outer `run` with ``tol=None``, whose
    checkpoint then holds the best result and how many restarts are done.
    """
    done, best = (0, None) if start is None else (start.trace.n_iter, start.state)
    for seed in seeds[done:]:
        found = fit_one(int(seed))
        if best is None or found[0] < best[0]:
            best = found
        yield best[0], best


def _reason(history: list[float], max_iter: int, tol: float | None, window: int, min_iter: int) -> str:
    """Why the run should end now, or nothing."""
    if tol is not None and len(history) > max(window, min_iter - 1):
        before, now = history[-1 - window], history[-1]
        if abs(now - before) <= tol * max(abs(before), 1e-300) or (math.isnan(now) and math.isnan(before)):
            return "converged"
    return "max_iter" if len(history) >= max_iter else ""


def _check(history: list[float], direction: Direction) -> None:
    """Under `strict`, refuse an objective that goes the wrong way by more than rounding."""
    if not _strict.get() or direction is None or len(history) < 2:
        return
    before, now = history[-2:]
    wrong = now - before if direction == "down" else before - now
    if not wrong <= 1e-9 * max(abs(before), abs(now), 1e-12):
        raise NotMonotoneError(f"objective went from {before!r} to {now!r} at iteration {len(history)}")


def _warn_not_converged(history: list[float], tol: float) -> None:
    from sklearn.exceptions import ConvergenceWarning

    change = abs(history[-1] - history[-2]) / max(abs(history[-2]), 1e-300) if len(history) > 1 else math.inf
    warnings.warn(
        f"stopped after {len(history)} iterations with a relative change of {change:.1e} (tol={tol:.1e}): "
        "raise max_iter, or go on with fit(X, start=model.state_)",
        ConvergenceWarning,
        stacklevel=3,
    )
