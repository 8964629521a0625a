"""The hot loops for numba. Imported only when `has_numba` says so; each is tested against its twin in NumPy."""

from __future__ import annotations

import numpy as np
from numba import njit

from .._typing import Float, Int

GROUP = 32


@njit(cache=True, nogil=True)
def project_shifted_rows(F: Float) -> Float:
    """Project rows whose largest entry is 0 on the simplex: drop entries below the threshold until none is left."""
    n, m = F.shape
    Z = np.empty_like(F)
    active = np.empty(m)
    for i in range(n):
        kept, total = 0, -1.0
        for j in range(m):
            if F[i, j] > -1.0:  # the threshold lies in [-1, 0)
                active[kept] = F[i, j]
                total += F[i, j]
                kept += 1
        before = kept + 1
        while kept < before:
            before, threshold, kept, total = kept, total / kept, 0, -1.0
            for j in range(before):
                if active[j] > threshold:
                    active[kept] = active[j]
                    total += active[j]
                    kept += 1
        for j in range(m):
            Z[i, j] = max(F[i, j] - threshold, 0.0)
    return Z


@njit(cache=True, nogil=True)
def _insert(values: Float, indices: Int, value: float, index: int) -> None:
    """Put a value into a list in rising order, before larger values and after equal ones; the last one falls out."""
    t = len(values) - 1
    while t > 0 and values[t - 1] > value:
        values[t], indices[t] = values[t - 1], indices[t - 1]
        t -= 1
    values[t], indices[t] = value, index


# Without NaN and signed zeros the compiler may take the minimum of a group with vector instructions.
@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _group_minima(row: Float, lowest: Float) -> None:
    for b in range(len(lowest)):
        least = row[b * GROUP]
        for j in range(b * GROUP, (b + 1) * GROUP):
            least = row[j] if row[j] < least else least
        lowest[b] = least


@njit(cache=True, nogil=True)
def _take_smallest(row: Float, l: int, lowest: Float, values: Float, indices: Int) -> None:
    """Collect the smallest of the first ``l`` entries of a row that is filled up with ``inf`` to whole groups.

    The m-th smallest of the groups' minima bounds the m-th smallest entry, so that few groups are read again.
    """
    m = len(values)
    _group_minima(row, lowest)
    values[:] = np.inf
    for b in range(len(lowest)):
        if lowest[b] < values[m - 1]:
            _insert(values, indices, lowest[b], b)
    bound = values[m - 1]
    values[:] = np.inf
    for b in range(len(lowest)):
        if lowest[b] <= bound:
            for j in range(b * GROUP, min((b + 1) * GROUP, l)):
                if row[j] <= bound and row[j] < values[m - 1]:
                    _insert(values, indices, row[j], j)


@njit(cache=True, nogil=True)
def smallest_of_rows(D: Float, values: Float, indices: Int) -> None:
    """Collect the smallest entries of every row, ordered by (value, index)."""
    n, l = D.shape
    groups = (l + GROUP - 1) // GROUP
    row, lowest = np.full(groups * GROUP, np.inf, D.dtype), np.empty(groups, D.dtype)
    for i in range(n):
        row[:l] = D[i]
        _take_smallest(row, l, lowest, values[i], indices[i])


@njit(cache=True, nogil=True)
def nearest_of_products(P: Float, x: Float, y: Float, values: Float, indices: Int) -> None:
    """Collect the smallest ``max(x_i + y_j - 2 P_ij, 0)`` of every row, without a pass for each term."""
    n, l = P.shape
    groups = (l + GROUP - 1) // GROUP
    row, lowest = np.full(groups * GROUP, np.inf, P.dtype), np.empty(groups, P.dtype)
    for i in range(n):
        p, length = P[i], x[i]
        for j in range(l):
            d = (y[j] - 2 * p[j]) + length
            row[j] = d if d > 0 else 0
        _take_smallest(row, l, lowest, values[i], indices[i])


@njit(cache=True, nogil=True)
def nearest_of_candidates(X: Float, A: Float, candidates: Int, values: Float, indices: Int) -> None:
    """Collect the nearest of each row's candidates (in rising order) by squared differences, summed in float64."""
    n, r = candidates.shape
    m, d = values.shape[1], X.shape[1]
    for i in range(n):
        values[i, :] = np.inf
        for t in range(r):
            total = 0.0
            for j in range(d):
                difference = np.float64(X[i, j]) - np.float64(A[candidates[i, t], j])
                total += difference * difference
            if total < values[i, m - 1]:
                _insert(values[i], indices[i], total, candidates[i, t])


@njit(cache=True, nogil=True)
def sparse_gram(data: Float, indices: Int, indptr: Int, Q: Float) -> Float:
    """Compute ``B'(B Q)`` for 4 columns, in one pass over the rows of a CSR matrix with unsigned indices.

    The four sums are variables, not an array, so that they stay in registers; unsigned indices need no check.
    """
    Z = np.zeros_like(Q)
    for i in range(len(indptr) - 1):
        y0 = y1 = y2 = y3 = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            b, j = data[p], indices[p]
            y0 += b * Q[j, 0]
            y1 += b * Q[j, 1]
            y2 += b * Q[j, 2]
            y3 += b * Q[j, 3]
        for p in range(indptr[i], indptr[i + 1]):
            b, j = data[p], indices[p]
            Z[j, 0] += b * y0
            Z[j, 1] += b * y1
            Z[j, 2] += b * y2
            Z[j, 3] += b * y3
    return Z


@njit(cache=True, nogil=True)
def _solve_on_support(M: Float, b: Float, x: Float, m: int) -> None:
    """Solve M x = b + mu with sum(x) = 1 for the first m coordinates, by Cholesky's decomposition in place."""
    for i in range(m):
        for j in range(i + 1):
            total = M[i, j]
            for a in range(j):
                total -= M[i, a] * M[j, a]
            M[i, j] = np.sqrt(max(total, 1e-300)) if i == j else total / M[j, j]
    ones = np.empty(m)
    for i in range(m):
        first, second = b[i], 1.0
        for a in range(i):
            first -= M[i, a] * x[a]
            second -= M[i, a] * ones[a]
        x[i], ones[i] = first / M[i, i], second / M[i, i]
    sum_x, sum_ones = 0.0, 0.0
    for i in range(m - 1, -1, -1):
        first, second = x[i], ones[i]
        for a in range(i + 1, m):
            first -= M[a, i] * x[a]
            second -= M[a, i] * ones[a]
        x[i], ones[i] = first / M[i, i], second / M[i, i]
        sum_x += x[i]
        sum_ones += ones[i]
    for i in range(m):
        x[i] += (1 - sum_x) / sum_ones * ones[i]


@njit(cache=True, nogil=True)
def _settle_row(H: Float, b: Float, at: Int, z: Float, size: int, scale: float) -> int:
    """Minimise on the support; coordinates that reach 0 on the way leave it. Returns what is left of it."""
    while True:
        M, right, x = np.empty((size, size)), np.empty(size), np.empty(size)
        for i in range(size):
            right[i] = b[at[i]]
            for j in range(i + 1):
                M[i, j] = H[at[i], at[j]] + scale
            M[i, i] += 1e-12 * scale
        _solve_on_support(M, right, x, size)
        first, step = -1, np.inf
        for i in range(size):
            if x[i] <= 0:
                t = z[i] / (z[i] - x[i]) if z[i] > x[i] else 0.0
                if t < step:
                    first, step = i, t
        if first < 0:
            z[:size] = x
            return size
        for i in range(size):
            z[i] = max(z[i] + step * (x[i] - z[i]), 0.0)
        for i in range(first, size - 1):
            z[i], at[i] = z[i + 1], at[i + 1]
        size -= 1


@njit(cache=True, nogil=True)
def _solve_row(
    H: Float, b: Float, forbidden: int, at: Int, z: Float, size: int, tol: float, scale: float
) -> tuple[int, float]:
    """Let coordinates join until the gap is closed; returns the size of the support and the gap."""
    l, g = len(b), np.empty(len(b))
    size = _settle_row(H, b, at, z, size, scale)
    while True:
        g[:] = -b
        for i in range(size):
            row, weight = H[at[i]], z[i]
            for j in range(l):
                g[j] += weight * row[j]
        level, best, least, inside = 0.0, -1, np.inf, False
        for i in range(size):
            level += z[i] * g[at[i]]
        for j in range(l):
            if g[j] < least and j != forbidden:
                best, least = j, g[j]
        for i in range(size):
            inside = inside or at[i] == best
        if level - least <= tol or inside or size == len(at):
            return size, max(level - least, 0.0)
        at[size], z[size] = best, 0.0
        size = _settle_row(H, b, at, z, size + 1, scale)
        inside = False
        for i in range(size):
            inside = inside or at[i] == best
        if not inside:
            return size, max(level - least, 0.0)


@njit(cache=True, nogil=True)
def solve_simplex_rows(
    H: Float, B: Float, forbidden: Int, data: Float, indices: Int, indptr: Int, tol: float, scale: float
) -> tuple[Int, Int, Float, Float]:
    """Solve one program a row from the sparse rows given; returns sparse rows with sorted indices, and the gaps."""
    n, l = B.shape
    at, z, gap = np.empty(l + 1, np.int64), np.empty(l + 1), np.empty(n)
    found, room = 0, max(16 * n, l + 1)
    new_indices, new_data, new_indptr = np.empty(room, np.int64), np.empty(room), np.zeros(n + 1, np.int64)
    for i in range(n):
        size = indptr[i + 1] - indptr[i]
        at[:size], z[:size] = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        size, gap[i] = _solve_row(H, B[i], forbidden[i], at, z, size, tol, scale)
        if found + size > room:
            room = 2 * room + size
            longer_indices, longer_data = np.empty(room, np.int64), np.empty(room)
            longer_indices[:found], longer_data[:found] = new_indices[:found], new_data[:found]
            new_indices, new_data = longer_indices, longer_data
        for i_new in range(size):
            place = found + i_new  # an insertion sort: supports are short
            while place > found and new_indices[place - 1] > at[i_new]:
                new_indices[place], new_data[place] = new_indices[place - 1], new_data[place - 1]
                place -= 1
            new_indices[place], new_data[place] = at[i_new], z[i_new]
        found += size
        new_indptr[i + 1] = found
    return new_indptr, new_indices[:found], new_data[:found], gap
