"""The iteration of MKKM: multiple kernel k-means.

Goenen, Margolin. Localized data fusion for kernel k-means clustering. NIPS 2014 (the global weights of it).

min  sum_p g_p^2 tr(K_p (I - HH'))    over H'H = I,  g >= 0 with sum g = 1

H   = the k leading eigenvectors of sum_p g_p^2 K_p
g_p = a_p^-1 / sum_q a_q^-1,     a_p = tr(K_p (I - HH'))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from conspectus._typing import Float
from conspectus.methods.kernels.kernel_sets import KernelSet

FLOOR = 1e-10
"""Least share of tr K_p that a kernel is taken to leave unexplained: a kernel of rank <= k, or an indefinite one, would
otherwise divide by zero or turn the objective negative."""


class State(NamedTuple):
    """H (in the form of the kernels), its eigenvalues, the weights that it belongs to, and those after the step."""

    H: Any
    values: Float
    used: Float
    g: Float


def steps(kernels: KernelSet, n_views: int, k: int, start: State | None = None) -> Iterator[tuple[float, State]]:
    """Iterate from equal weights, or from `start`."""
    g = np.full(n_views, 1 / n_views) if start is None else start.g
    while True:
        used = g
        H, values = kernels.leading(g**2, k)
        a = unexplained(kernels, H)
        g = kernel_weights(a)
        yield float(g**2 @ a), State(H, values, used, g)


def unexplained(kernels: KernelSet, H: Any) -> Float:
    """a_p = tr(K_p (I - HH')), at least a tiny share of tr K_p."""
    least = FLOOR * np.maximum(np.abs(kernels.traces), 1e-300)
    return np.maximum(kernels.traces - kernels.energies(H), least)


def kernel_weights(a: Float) -> Float:
    """Return the minimiser of sum g^2 a on the simplex."""
    g = a.min() / a
    return np.asarray(g / g.sum())
