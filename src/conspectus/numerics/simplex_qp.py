"""Quadratic programs on the probability simplex: many rows, one matrix, exact to the last digits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .._typing import Array, Bool, Float, Int
from .backend import has_numba, row_blocks

BATCH = 256
"""Rows that go in lock step: enough to fill a product, few enough that their systems stay in the cache."""


def simplex_qp_rows(
    H: Float,
    B: Float,
    *,
    forbidden: Int | None = None,
    start: csr_array | None = None,
    tol: float = 1e-9,
) -> tuple[csr_array, Float]:
    """Minimise ``z'Hz / 2 - b'z`` over ``z >= 0``, ``sum(z) = 1`` for every row ``b`` of ``B``.

    An active set method: from the best vertex on, the coordinate with the least gradient joins the support, the
    problem is solved on the support's affine hull, and coordinates that would turn negative leave. It ends at the
    minimum in as many steps as coordinates join, and knows when: ``<z, g> - min(g)``, the Frank-Wolfe gap with the
    gradient g, bounds what is still to be gained.

    Rows are independent. They run in lock step in NumPy, or one after the other compiled, with the same result.

    Parameters
    ----------
    H : array of shape (l, l)
        Symmetric, positive semidefinite; one for all rows.
    B : array of shape (n, l)
        Dense, float64.
    forbidden : array of int of shape (n,), optional
        A coordinate that must stay 0 in each row (-1: none), such as the row itself among its anchors.
    start : csr_array of shape (n, l), optional
        Feasible rows to start from.
    tol : float
        The gap at which a row is done, relative to the largest entry on the diagonal of ``H``.

    Returns
    -------
    Z : csr_array of shape (n, l)
        The minimisers, few entries a row.
    gap : array of shape (n,)
        How far each row's value is from the minimum at most.
    """
    H = np.ascontiguousarray(H, dtype=np.float64)
    forbidden = np.full(len(B), -1) if forbidden is None else np.asarray(forbidden, dtype=np.int64)
    start = _best_vertices(H, B, forbidden) if start is None else csr_array(start)
    scale = float(np.abs(np.diag(H)).max(initial=0)) or 1.0
    if has_numba(float(B.size) * 20):
        return _compiled_rows(H, B, forbidden, start, tol * scale, scale)
    parts = [
        _solve_batch(H, B[rows], forbidden[rows], Support.of(start[rows]), tol * scale, scale)
        for rows in row_blocks(len(B), BATCH)
    ]
    if not parts:
        return csr_array(B.shape), np.zeros(0)
    return _stack([support for support, _ in parts], B.shape[1]), np.concatenate([gap for _, gap in parts])


def _best_vertices(H: Float, B: Float, forbidden: Int) -> csr_array:
    """Return for each row the vertex with the least value."""
    best = np.empty(len(B), dtype=np.int64)
    for rows in row_blocks(len(B)):
        value = np.diag(H) / 2 - B[rows]
        _forbid(value, forbidden[rows])
        best[rows] = np.argmin(value, axis=1)
    return csr_array((np.ones(len(B)), best, np.arange(len(B) + 1)), B.shape)


def _forbid(values: Float, forbidden: Int) -> None:
    rows = np.flatnonzero(forbidden >= 0)
    values[rows, forbidden[rows]] = np.inf


class Support(NamedTuple):
    """The coordinates of each row that may differ from 0, padded on the right, and their values."""

    at: Array
    z: Array
    size: Array

    @classmethod
    def of(cls, Z: csr_array) -> Support:
        """Lay the entries of sparse rows out as a table."""
        size = np.diff(Z.indptr).astype(np.int64)
        width = int(size.max(initial=1))
        at, z = np.zeros((Z.shape[0], width), dtype=np.int64), np.zeros((Z.shape[0], width))
        filled = np.arange(width) < size[:, None]
        at[filled], z[filled] = Z.indices, Z.data
        return cls(at, z, size)

    def rows(self, chosen: Int) -> Support:
        """Return some of the rows, no wider than they need."""
        width = int(self.size[chosen].max(initial=1))
        return Support(self.at[chosen, :width], self.z[chosen, :width], self.size[chosen])

    def filled(self) -> Bool:
        """Which entries of the table stand for a coordinate."""
        return np.asarray(np.arange(self.at.shape[1]) < self.size[:, None])

    def sparse(self, l: int) -> csr_array:
        """Return the rows as a sparse matrix."""
        filled = self.filled()
        indptr = np.concatenate([[0], np.cumsum(self.size)])
        return csr_array((self.z[filled], self.at[filled], indptr), (len(self.at), l))

    def joined(self, j: Int) -> Support:
        """Return the rows with one more coordinate each, at value 0."""
        at, z = (np.pad(part, ((0, 0), (0, 1))) for part in (self.at, self.z))
        at[np.arange(len(at)), self.size] = j
        return Support(at, z, self.size + 1)

    def without(self, position: Int) -> Support:
        """Return the rows without the coordinate at a position."""
        order = np.argsort(np.arange(self.at.shape[1]) == position[:, None], axis=1, kind="stable")
        at, z = (np.take_along_axis(part, order, axis=1) for part in (self.at, self.z))
        z[:, -1] = 0  # it stands last now, past those that count
        return Support(at, z, self.size - 1)

    def holds(self, j: Int) -> Bool:
        """Tell whether each row's support has its coordinate j."""
        return np.asarray(((self.at == j[:, None]) & self.filled()).any(axis=1))


def _stack(parts: list[Support], l: int) -> csr_array:
    from scipy.sparse import vstack

    Z = csr_array(vstack([part.sparse(l) for part in parts], format="csr"))
    Z.sort_indices()
    return Z


def _solve_batch(
    H: Float, B: Float, forbidden: Int, support: Support, tol: float, scale: float
) -> tuple[Support, Float]:
    """Bring a batch of rows to their minima, those that are not there yet in lock step."""
    n, l = B.shape
    whole, gap = _settle(H, B, support, scale), np.zeros(n)
    at, z, size = whole
    left = np.arange(n)
    for _ in range(10 * l + 10):
        now = Support(at, z, size).rows(left)
        g = now.sparse(l) @ H - B[left]
        own = np.where(now.filled(), np.take_along_axis(g, now.at, axis=1), 0)
        level = (now.z * own).sum(axis=1)
        _forbid(g, forbidden[left])
        j = np.argmin(g, axis=1)
        gap[left] = level - g[np.arange(len(left)), j]
        going = np.flatnonzero((gap[left] > tol) & ~now.holds(j))
        if not len(going):
            break
        left, now = left[going], now.rows(going)
        now = _settle(H, B[left], now.joined(j[going]), scale)
        at, z = _room(at, now.at.shape[1]), _room(z, now.at.shape[1])
        at[left, : now.at.shape[1]], z[left, : now.at.shape[1]], size[left] = now
        left = left[now.holds(j[going])]  # what left at once will not come back: rounding is all that remains
    return Support(at, z, size), np.maximum(gap, 0)


def _room(a: Array, width: int) -> Array:
    return a if a.shape[1] >= width else np.pad(a, ((0, 0), (0, width - a.shape[1])))


def _settle(H: Float, B: Float, support: Support, scale: float) -> Support:
    """Minimise on the support; coordinates that reach 0 on the way leave it."""
    at, z, size = (part.copy() for part in support)
    left = np.arange(len(at))
    while len(left):
        now = Support(at, z, size).rows(left)
        x, filled = _on_support(H, B[left], now, scale), now.filled()
        falling = filled & (x <= 0)
        done = ~falling.any(axis=1)
        z[left[done], : x.shape[1]] = np.where(filled, x, 0)[done]
        left, now, x = left[~done], now.rows(np.flatnonzero(~done)), x[~done]
        if not len(left):
            break
        x, falling = x[:, : now.at.shape[1]], falling[~done][:, : now.at.shape[1]]
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(falling, now.z / (now.z - x), np.inf)
        first = np.argmin(np.where(np.isnan(step), 0, step), axis=1)
        t = np.nan_to_num(step[np.arange(len(left)), first])
        moved = now._replace(z=np.where(now.filled(), np.maximum(now.z + t[:, None] * (x - now.z), 0), 0))
        at[left, : now.at.shape[1]], z[left, : now.at.shape[1]], size[left] = moved.without(first)
    return Support(at, z, size)


def _on_support(H: Float, B: Float, support: Support, scale: float) -> Float:
    """Solve ``H_SS x = b_S + mu`` with ``sum(x) = 1`` for each row.

    ``scale 11'`` is added to ``H_SS``, which changes nothing where the sum is 1 and makes the matrix regular as long as
    no anchor of the support lies in the affine hull of the others.
    """
    at, filled = support.at, support.filled()
    both = filled[:, :, None] & filled[:, None, :]
    M = np.where(both, H[at[:, :, None], at[:, None, :]] + scale, 0.0)
    diagonal = np.arange(at.shape[1])
    M[:, diagonal, diagonal] = np.where(filled, M[:, diagonal, diagonal] + 1e-12 * scale, 1.0)
    right = np.stack([np.where(filled, np.take_along_axis(B, at, axis=1), 0), filled.astype(np.float64)], axis=2)
    x = np.linalg.solve(M, right)
    mu = (1 - x[:, :, 0].sum(axis=1)) / x[:, :, 1].sum(axis=1)
    return np.asarray(x[:, :, 0] + mu[:, None] * x[:, :, 1])


def _compiled_rows(
    H: Float, B: Float, forbidden: Int, start: csr_array, tol: float, scale: float
) -> tuple[csr_array, Float]:
    from ._compiled import solve_simplex_rows

    B = np.ascontiguousarray(B, dtype=np.float64)
    indptr, indices, data, gap = solve_simplex_rows(
        H,
        B,
        forbidden,
        start.data.astype(np.float64),
        start.indices.astype(np.int64),
        start.indptr.astype(np.int64),
        tol,
        scale,
    )
    return csr_array((data, indices, indptr), B.shape), gap
