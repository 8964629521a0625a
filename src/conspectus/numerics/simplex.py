"""The probability simplex: projection of rows, and convex quadratic programs on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array, Float
from ..errors import InputError
from .backend import as_float, has_numba, is_numpy, namespace
from .simplex_qp import simplex_qp_rows


def project_simplex(F: Array) -> Array:
    """Find for every row ``f`` the nearest ``z`` with ``z >= 0`` and ``sum(z) = 1``.

    ``z = max(f - tau, 0)``, where ``tau = max_j (f_(1) + ... + f_(j) - 1) / j`` over the row's entries in falling
    order: a prefix of the sorted row that is too short or too long only makes the quotient smaller. The projection is
    exact (no iteration, no tolerance); rows are shifted by their largest entry first, so that large values cost no
    digits.

    Parameters
    ----------
    F : array of shape (n, m)
        Of any array library; ``-inf`` forbids an entry.

    Returns
    -------
    array of shape (n, m)

    Raises
    ------
    InputError
        If a row holds NaN or ``inf``, or nothing but ``-inf``.
    """
    F = as_float(F)
    xp = namespace(F)
    if F.shape[0] == 0:
        return F
    largest = xp.max(F, axis=1, keepdims=True)
    if not bool(xp.all(xp.isfinite(largest))):
        raise InputError("Rows with NaN or inf have no projection on the simplex; remove them first.")
    F = F - largest
    if is_numpy(F) and has_numba(F.shape[0]):
        from ._compiled import project_shifted_rows

        return project_shifted_rows(F)
    return _project_shifted(F, xp)


def _project_shifted(F: Array, xp: Any) -> Array:
    falling = xp.sort(F, axis=1, descending=True)
    lengths = xp.arange(1, F.shape[1] + 1, dtype=F.dtype, device=F.device)
    tau = xp.max((xp.cumulative_sum(falling, axis=1) - 1) / lengths, axis=1, keepdims=True)
    Z = F - tau
    return xp.where(Z > 0, Z, xp.zeros_like(Z))


def simplex_qp(Q: Float, f: Float) -> Float:
    """Minimise ``g'Qg / 2 + f'g`` over ``g >= 0`` with ``sum(g) = 1``.

    Exact up to rounding; :func:`simplex_qp_rows` for a single row.

    Parameters
    ----------
    Q : array of shape (k, k)
        Symmetric, positive semidefinite.
    f : array of shape (k,)

    Returns
    -------
    array of shape (k,)
    """
    scale = max(float(np.abs(Q).max(initial=0)), float(np.abs(f).max(initial=0))) or 1.0
    B = -np.asarray(f, dtype=np.float64)[None, :] / scale
    g = simplex_qp_rows(np.asarray(Q, dtype=np.float64) / scale, B, tol=1e-14)[0].toarray()[0]
    return np.asarray(g / g.sum())
