"""ABS2-IMC as its authors' code minimises it: Adam on softmax weights, a fixed number of epochs, the last iterate.

    L = sum_v MSE(S_v A_v, A_v) + lam MSE(Sbar A_v, A_v) + MSE(T_v A_v, U_v)

S_v = softmax of Theta_v without its diagonal, Sbar their mean, T_v = softmax of the variables of the rows U_v that are
not anchors; MSE is the mean over all entries. Everything begins at 0; the gradient is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from conspectus._typing import Array

RATE, FIRST, SECOND, EPSILON = 0.1, 0.9, 0.999, 1e-8


class State(NamedTuple):
    """The variables (the anchors' first, then those of the other rows), Adam's two moments, and its time."""

    theta: tuple[Array, ...]
    m: tuple[Array, ...]
    s: tuple[Array, ...]
    t: int


def softmax(theta: Array, without_diagonal: bool) -> Array:
    """Weights of each row."""
    if without_diagonal and len(theta) > 1:
        theta = theta.copy()
        np.fill_diagonal(theta, -np.inf)
    weights = np.exp(theta - theta.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def gradient(theta: Sequence[Array], A: Sequence[Array], U: Sequence[Array], lam: float) -> tuple[float, list[Array]]:
    """The loss and its derivatives by all variables."""
    V = len(A)
    S = [softmax(theta[v], True) for v in range(V)]
    mean = sum(S[1:], start=S[0]) / V
    loss, by_mean = 0.0, np.zeros_like(mean)
    for a in A:
        error = mean @ a - a
        loss += lam * float((error**2).mean())
        by_mean += (2 * lam / error.size) * (error @ a.T)
    found = []
    for weights, a, target, extra in [
        *((s, a, a, by_mean / V) for s, a in zip(S, A)),
        *((softmax(theta[V + v], False), A[v], U[v], 0.0) for v in range(V)),
    ]:
        error = weights @ a - target
        loss += float((error**2).mean()) if error.size else 0.0
        by_weights = (2 / max(error.size, 1)) * (error @ a.T) + extra
        found.append(weights * (by_weights - (weights * by_weights).sum(axis=1, keepdims=True)))
    return loss, found


def epochs(
    A: Sequence[Array], U: Sequence[Array], lam: float, start: State | None = None
) -> Iterator[tuple[float, State]]:
    """One step of Adam an epoch; the loss is the one before the step."""
    if start is None:
        zeros = tuple(np.zeros((len(X), len(A[0])), dtype=A[0].dtype) for X in (*A, *U))
        start = State(zeros, zeros, zeros, 0)
    theta, m, s = ([part.copy() for part in parts] for parts in start[:3])
    t = start.t
    while True:
        t += 1
        loss, slope = gradient(theta, A, U, lam)
        for x, first, second, g in zip(theta, m, s, slope):
            first += (1 - FIRST) * (g - first)
            second += (1 - SECOND) * (g * g - second)
            x -= RATE / (1 - FIRST**t) * first / (np.sqrt(second / (1 - SECOND**t)) + EPSILON)
        yield loss, State(tuple(theta), tuple(m), tuple(s), t)
