"""The orthogonal polar factor: the orthonormal frame that agrees best with a matrix."""

from __future__ import annotations

from typing import Any

from .._typing import Array
from .backend import as_float, namespace

GRAM_LIMIT = 1e-12
"""Least ratio of the eigenvalues of M'M for which the Gram route is trusted."""


def polar(M: Array, previous: Array | None = None) -> Array:
    """Maximise ``tr(P' M)`` over matrices with orthonormal columns (or rows, when ``M`` is wide).

    The maximiser is ``P = U V'`` with the thin SVD ``M = U S V'``. For a well-conditioned tall matrix it is computed
    from the Gram matrix, ``M (M'M)^(-1/2)``, in two products and one Newton-Schulz step; otherwise by the SVD.

    Parameters
    ----------
    M : array of shape (n, k)
        Of any array library.
    previous : array of shape (n, k), optional
        Where ``M`` is rank deficient the maximiser is not unique; the one that agrees best with ``previous`` is
        taken then (the value of the block one iteration ago), so that an iteration does not depend on LAPACK.

    Returns
    -------
    array of shape (n, k)
        In the precision of ``M``; computed in float64.
    """
    M = as_float(M)
    xp = namespace(M)
    if M.shape[0] < M.shape[1]:
        return polar(M.T, None if previous is None else previous.T).T
    precise = xp.astype(M, xp.float64)
    largest = float(xp.max(xp.abs(precise))) if M.shape[1] else 0.0
    if largest == 0.0:
        return M if not M.shape[1] else _of_zero(M, previous, xp)
    precise = precise / largest
    P = _by_gram(precise, xp)
    if P is None:
        P = _by_svd(precise, previous, _tie(M, xp), xp)
    return xp.astype(P, M.dtype)


def _tie(M: Array, xp: Any) -> float:
    """How far the previous value may pull: far enough to drown the rounding of M's entries, and no further."""
    return 1e-9 if M.dtype == xp.float64 else 1e-4


def _of_zero(M: Array, previous: Array | None, xp: Any) -> Array:
    if previous is None:
        return xp.eye(M.shape[0], M.shape[1], dtype=M.dtype, device=M.device)
    return xp.astype(polar(previous), M.dtype)


def _by_gram(M: Array, xp: Any) -> Array | None:
    values, Q = xp.linalg.eigh(M.T @ M)
    if not float(values[0]) > GRAM_LIMIT * float(values[-1]):
        return None
    P = M @ ((Q / xp.sqrt(values)) @ Q.T)
    defect = xp.eye(M.shape[1], dtype=M.dtype, device=M.device) - P.T @ P
    P = P + P @ defect / 2
    # The step squares the defect. Near the limit the square is still visible, and a second step removes it.
    if float(xp.max(xp.abs(defect))) > 1e-7:
        P = P + P @ (xp.eye(M.shape[1], dtype=M.dtype, device=M.device) - P.T @ P) / 2
    return P


def _by_svd(M: Array, previous: Array | None, tie: float, xp: Any) -> Array:
    U, s, Vt = xp.linalg.svd(M, full_matrices=False)
    if previous is not None and float(s[-1]) <= 1e-3 * tie * float(s[0]):
        towards = xp.astype(as_float(previous), M.dtype)
        U, s, Vt = xp.linalg.svd(M + (tie * float(s[0])) * towards, full_matrices=False)
    return U @ Vt
