"""Leading eigenpairs of a symmetric operator by a block Lanczos method with thick restarts and checked residuals.

The operator is only applied to blocks of vectors. Orthogonality is kept explicitly, which costs little beside the
operator and makes three things simple: the projected matrix is formed from inner products, a block that loses rank is
filled up with fresh directions, and known eigenvectors are kept out of the search.

A block method of width b finds at most b copies of a multiple eigenvalue. Where that many (nearly) equal values are
found, the search is repeated in the complement of what is known, until it brings nothing larger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from .._typing import Float

Apply: TypeAlias = Callable[[Float], Float]
Wanted: TypeAlias = Callable[[Float], int]


class Pairs(NamedTuple):
    """Eigenvalues in falling order, their vectors, and the norms of their residuals."""

    values: Float
    vectors: Float
    residuals: Float


class Search(NamedTuple):
    """What is searched for: ``wanted(values)`` leading pairs, at most ``most``, to the relative accuracy ``tol``."""

    most: int
    wanted: Wanted
    width: int = 8
    tol: float = 1e-7
    restarts: int = 60

    @property
    def size(self) -> int:
        """Columns of the basis before a restart."""
        return self.most + max(10 * self.width, self.most // 2)

    @property
    def stride(self) -> int:
        """Blocks between two looks at the projected matrix, whose decomposition is not free."""
        return max(2, self.most // (8 * self.width))


def leading_pairs(apply: Apply, n: int, search: Search, rng: np.random.Generator, known: Float | None = None) -> Pairs:
    """Find the leading eigenpairs of a symmetric operator on n-vectors, outside the span of ``known``.

    Where the space is small, or the iteration does not converge, the operator is decomposed as a dense matrix.
    """
    known = np.empty((n, 0)) if known is None else known
    found = _search(apply, n, search, rng, known)
    while _may_hide_copies(found.values, search.width) and n > known.shape[1] + len(found.values):
        again = _search(apply, n, search, rng, np.hstack([known, found.vectors]))
        gained = again.values[0] > found.values[-1] + search.tol * abs(found.values[0])
        found = _merge(found, again, search)
        if not gained:
            break
    return found


def _may_hide_copies(values: Float, width: int) -> bool:
    if len(values) < width:
        return False
    spread = values[: len(values) - width + 1] - values[width - 1 :]
    return bool((spread <= 1e-6 * np.abs(values).max()).any())


def _merge(a: Pairs, b: Pairs, search: Search) -> Pairs:
    values, residuals = np.concatenate([a.values, b.values]), np.concatenate([a.residuals, b.residuals])
    order = np.argsort(-values, kind="stable")
    order = order[: search.wanted(values[order])]
    return Pairs(values[order], np.hstack([a.vectors, b.vectors])[:, order], residuals[order])


def _search(apply: Apply, n: int, search: Search, rng: np.random.Generator, known: Float) -> Pairs:
    if n - known.shape[1] <= max(64, 3 * search.most, search.size + 2 * search.width):
        return dense_pairs(apply, n, search, known)
    basis = _Basis(apply, n, search, rng, known)
    for _ in range(search.restarts):
        while basis.has_room():
            for _ in range(search.stride):
                basis.expand()
            if 2 * basis.used >= search.size and (pairs := basis.converged()) is not None:
                return pairs
        basis.restart()
    return dense_pairs(apply, n, search, known)


def dense_pairs(apply: Apply, n: int, search: Search, known: Float | None = None) -> Pairs:
    """Decompose the operator as a dense matrix, completely: LAPACK's driver for subsets is not to be trusted."""
    free = np.eye(n)
    if known is not None and known.shape[1]:
        free = np.linalg.qr(known, mode="complete")[0][:, known.shape[1] :]
    values, S = np.linalg.eigh(free.T @ apply(free))
    values, S = values[::-1], S[:, ::-1]
    kept = search.wanted(values)
    return Pairs(values[:kept], free @ S[:, :kept], np.zeros(kept))


class _Basis:
    """An orthonormal basis that grows by blocks, with the operator projected on it."""

    def __init__(self, apply: Apply, n: int, search: Search, rng: np.random.Generator, known: Float) -> None:
        self.apply, self.search, self.rng, self.known, self.used = apply, search, rng, known, 0
        self.V, self.T = np.empty((n, search.size), order="F"), np.zeros((search.size, search.size))
        self.block, self.coupling = self._orthonormal(np.zeros((n, search.width)))

    def has_room(self) -> bool:
        return self.used + self.search.stride * self.search.width <= self.search.size

    def expand(self) -> None:
        last = slice(self.used, self.used + self.search.width)
        self.V[:, last] = self.block
        self.used = last.stop
        V, W = self.V[:, : self.used], self.apply(self.block)
        inner = V.T @ W
        self.T[: self.used, last], self.T[last, : self.used] = inner, inner.T
        self.block, self.coupling = self._orthonormal(W - V @ inner)

    def _orthonormal(self, W: Float) -> tuple[Float, Float]:
        """Split ``W`` into an orthonormal block outside the basis times a small matrix; lost rank is filled up."""
        Q, R = np.linalg.qr(_outside(W, self.known))
        U, s, Rt = np.linalg.svd(R)
        Q, lost = Q @ U, s <= 1e-13 * max(1e-300, np.abs(self.T).max())
        s[lost] = 0
        Q[:, lost] = self.rng.standard_normal((len(Q), int(lost.sum())))
        # The second pass comes after normalisation: small directions are then orthogonal to full precision, too.
        Q, R = np.linalg.qr(_outside(_outside(Q, self.known), self.V[:, : self.used]))
        return Q, R @ (s[:, None] * Rt)

    def _ritz(self) -> tuple[Float, Float, Float]:
        values, S = np.linalg.eigh(self.T[: self.used, : self.used])
        values, S = values[::-1], S[:, ::-1]
        return values, S, np.linalg.norm(self.coupling @ S[self.used - self.search.width :], axis=0)

    def converged(self) -> Pairs | None:
        """Return the wanted pairs, once their residuals, and that of the first pair left out, are small."""
        values, S, residuals = self._ritz()
        allowed = self.search.tol * max(1e-300, np.abs(values).max())
        kept = self.search.wanted(values)
        # The first that is left out must not be on its way up to what is wanted; the last ones of a basis, with large
        # residuals, always might be.
        near = slice(kept + 1)
        rising = kept < self.search.most and self.search.wanted(values[near] + residuals[near]) > kept
        if rising or residuals[:kept].max(initial=0) > allowed:
            return None
        return Pairs(values[:kept], self.V[:, : self.used] @ S[:, :kept], residuals[:kept])

    def restart(self) -> None:
        """Keep the best Ritz vectors only; the residual block stays, so nothing that was learnt about them is lost."""
        values, S, _ = self._ritz()
        kept = self.search.most + self.search.width
        self.V[:, :kept] = self.V[:, : self.used] @ S[:, :kept]
        self.T[:] = 0
        self.T[range(kept), range(kept)] = values[:kept]
        self.used = kept


def _outside(W: Float, V: Float) -> Float:
    return W - V @ (V.T @ W) if V.shape[1] else W
