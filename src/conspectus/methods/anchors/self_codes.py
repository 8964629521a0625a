"""The problem of ABS2-IMC: every row as a convex combination of anchors, as few of them as do it well.

The anchors are samples that all views have seen, with rows A_v (l x d_v) in view v; w_v = 1/d_v. A row x that only some
views have seen gets codes z on the simplex, one a view, each for itself:

    f = w_v |z A_v - x|^2 + (mu_v / 2) |z|^2

A sample a that all views have seen gets codes that also agree: with zbar their mean,

    f = sum_v w_v |z_v A_v - a_v|^2 + (mu_v / 2) |z_v|^2 + lam sum_v w_v |zbar A_v - a_v|^2,

where an anchor may not use itself. mu_v = rho trace(2 w_v A_v A_v') / l: at rho = 0 this is the problem that the
original code minimises, and its minimum clusters worse than Adam stopped early; a ridge gives what stopping early gave.

Rows decouple, f is convex, and only products between rows and anchors enter. All are taken from the anchors' mean,
which changes nothing for weights that sum to 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Float, Int
from conspectus.numerics.backend import as_float, row_blocks, to_numpy
from conspectus.numerics.distances import squared_norms
from conspectus.numerics.simplex_qp import simplex_qp_rows
from conspectus.views.table import Views

Codes: TypeAlias = Any
"""A `csr_array` with rows that sum to 1 (SciPy comes without types)."""

SWEEPS, SHARE = 100, 1e-6
"""The most rounds over the views for complete samples that are no anchors, and the gap, as a share of the objective,
that ends them sooner: 3 rounds at lam = 0.1."""


@dataclass(frozen=True)
class Dictionary:
    """The anchors of all views, and what is weighed against what."""

    A: tuple[Array, ...]
    lam: float
    rho: float
    tol: float

    @property
    def n_anchors(self) -> int:
        """How many anchors there are (l above)."""
        return int(self.A[0].shape[0])

    @property
    def n_views(self) -> int:
        """How many views."""
        return len(self.A)

    def weight(self, v: int) -> float:
        """w_v."""
        return 1 / int(self.A[v].shape[1])

    @cached_property
    def origins(self) -> list[Float]:
        """The mean anchor of each view."""
        return [np.asarray(to_numpy(A.mean(axis=0)), dtype=np.float64).reshape(-1) for A in self.A]

    @cached_property
    def ridges(self) -> list[float]:
        """mu_v."""
        return [self.rho * 2 * self.weight(v) * self._spread(v) / self.n_anchors for v in range(self.n_views)]

    def _spread(self, v: int) -> float:
        """trace(G_v)."""
        return float(self.squares(v, self.A[v]).sum())

    def squares(self, v: int, X: Array) -> Float:
        """Return |x|^2 of each row."""
        if sparse.issparse(X):
            origin = self.origins[v]
            return np.maximum(squared_norms(X) - 2 * (X @ origin) + origin @ origin, 0)
        return np.asarray(squared_norms(self._centred(v, X)))

    def _centred(self, v: int, X: Array) -> Float:
        return np.asarray(to_numpy(X), dtype=np.float64) - self.origins[v]

    def products(self, v: int, X: Array) -> Float:
        """Return x A_v' for each row."""
        A, origin = self.A[v], self.origins[v]
        if not (sparse.issparse(X) or sparse.issparse(A)):
            return np.asarray(self._centred(v, X) @ self._centred(v, A).T)
        X, A = (sparse.csr_array(M, dtype=np.float64) for M in (X, A))
        return np.asarray((X @ A.T).toarray() - (X @ origin)[:, None] - A @ origin + origin @ origin)

    def gram(self, v: int) -> Float:
        """G_v = A_v A_v'."""
        return self.products(v, self.A[v])

    def matrix(self, v: int) -> Float:
        """Return the second derivative of the uncoupled problem in view v."""
        return 2 * self.weight(v) * self.gram(v) + self.ridges[v] * np.eye(self.n_anchors)


class Coded(NamedTuple):
    """Codes of samples, what they cost, and how far that is from the least at most."""

    Z: Codes
    loss: Float
    gap: Float


def code_view(dictionary: Dictionary, v: int, X: Array, forbidden: Int | None = None) -> Coded:
    """Code rows of one view, each for itself."""
    X = as_float(X)
    H, w, parts = dictionary.matrix(v), dictionary.weight(v), []
    for rows in row_blocks(int(X.shape[0])):
        B = 2 * w * dictionary.products(v, X[rows])
        Z, gap = simplex_qp_rows(H, B, forbidden=None if forbidden is None else forbidden[rows], tol=dictionary.tol)
        loss = (Z * (Z @ H / 2 - B)).sum(axis=1) + w * dictionary.squares(v, X[rows])
        parts.append(Coded(Z, np.asarray(loss), gap))
    return _stacked(parts, dictionary.n_anchors)


def _stacked(parts: Sequence[Coded], l: int) -> Coded:
    if not parts:
        return Coded(sparse.csr_array((0, l)), np.zeros(0), np.zeros(0))
    Z = sparse.csr_array(sparse.vstack([part.Z for part in parts], format="csr"))
    return Coded(Z, np.concatenate([part.loss for part in parts]), np.concatenate([part.gap for part in parts]))


# --- samples that all views have seen


class State(NamedTuple):
    """The codes of complete samples in each view, and the gap of each sample."""

    Z: tuple[Codes, ...]
    gap: Float


def sweeps(
    dictionary: Dictionary, X: Sequence[Array], forbidden: Int | None, start: State | None = None
) -> Iterator[tuple[float, State]]:
    """Minimise f over one view's codes at a time, beginning with the codes that each view gives alone."""
    V = range(dictionary.n_views)
    Z = [code_view(dictionary, v, X[v], forbidden).Z for v in V] if start is None else list(start.Z)
    common = _common(dictionary)
    while True:
        for v in V:
            Z[v] = _update(dictionary, X, forbidden, Z, v, common)
        loss, gap = _certify(dictionary, X, forbidden, Z, common)
        yield float(loss.sum()), State(tuple(Z), gap)


def _common(dictionary: Dictionary) -> Float:
    """H_c = sum_u w_u G_u."""
    return reduce(np.add, (dictionary.weight(u) * dictionary.gram(u) for u in range(dictionary.n_views)))


def _common_products(dictionary: Dictionary, X: Sequence[Array], rows: slice) -> Float:
    """N_c = sum_u w_u X_u A_u'."""
    weighted = (dictionary.weight(u) * dictionary.products(u, X[u][rows]) for u in range(dictionary.n_views))
    return reduce(np.add, weighted)


def _update(
    dictionary: Dictionary, X: Sequence[Array], forbidden: Int | None, Z: Sequence[Codes], v: int, common: Float
) -> Codes:
    """Minimise over z_v: H = 2 w_v G_v + mu + 2 lam / V^2 H_c, b = 2 w_v N_v + 2 lam / V (N_c - H_c s_v / V)."""
    V, lam, w = dictionary.n_views, dictionary.lam, dictionary.weight(v)
    H = dictionary.matrix(v) + (2 * lam / V**2) * common
    others = sum(Z[1:], start=Z[0]) - Z[v]
    parts = []
    for rows in row_blocks(int(Z[v].shape[0])):
        coupled = _common_products(dictionary, X, rows) - others[rows] @ common / V
        B = 2 * w * dictionary.products(v, X[v][rows]) + (2 * lam / V) * coupled
        own = None if forbidden is None else forbidden[rows]
        parts.append(Coded(*simplex_qp_rows(H, B, forbidden=own, start=Z[v][rows], tol=dictionary.tol), np.zeros(0)))
    return _stacked(parts, dictionary.n_anchors).Z


def _certify(
    dictionary: Dictionary, X: Sequence[Array], forbidden: Int | None, Z: Sequence[Codes], common: Float
) -> tuple[Float, Float]:
    """Return f of each sample and its Frank-Wolfe gap, sum_v <z_v, g_v> - min g_v with the joint gradient."""
    V, lam, n = dictionary.n_views, dictionary.lam, int(Z[0].shape[0])
    grams, mean = [dictionary.gram(v) for v in range(V)], mean_codes(Z)
    loss, gap = np.zeros(n), np.zeros(n)
    for rows in row_blocks(n):
        N_c, z = _common_products(dictionary, X, rows), mean[rows]
        pull = z @ common - N_c
        loss[rows] += lam * (z * (pull - N_c)).sum(axis=1)
        for v in range(V):
            w, z = dictionary.weight(v), Z[v][rows]
            N, fitted = dictionary.products(v, X[v][rows]), z @ grams[v]
            ridge = dictionary.ridges[v]
            loss[rows] += w * (z * (fitted - 2 * N)).sum(axis=1) + ridge / 2 * (z * z).sum(axis=1)
            loss[rows] += (1 + lam) * w * dictionary.squares(v, X[v][rows])
            g = 2 * w * (fitted - N) + ridge * z.toarray() + (2 * lam / V) * pull
            level = (z * g).sum(axis=1)
            if forbidden is not None:
                own = np.flatnonzero(forbidden[rows] >= 0)
                g[own, forbidden[rows][own]] = np.inf
            gap[rows] += np.maximum(level - g.min(axis=1), 0)
    return loss, gap


def mean_codes(Z: Sequence[Codes]) -> Codes:
    """zbar, the best consensus of the views' codes."""
    return sparse.csr_array(sum(Z[1:], start=Z[0]) / len(Z))


# --- samples that some views have seen


@dataclass(frozen=True)
class SelfCodes:
    """The codes of any samples on the anchors: rows that sum to 1.

    Attributes
    ----------
    dictionary : Dictionary
        The anchors.
    coupled : bool
        Whether complete samples get codes that agree, as they do in training; new samples do not need to.
    """

    dictionary: Dictionary
    coupled: bool = False

    def codes(self, block: Views) -> Codes:
        """Return the mean of each sample's codes over the views that have seen it."""
        return self.solve(block).Z

    def solve(self, block: Views) -> Coded:
        """Return the codes with what they cost and how far that is from the least at most."""
        complete = block.complete if self.coupled and self.dictionary.lam > 0 else np.zeros(0, dtype=np.int64)
        if not len(complete):
            return self._alone(block)
        rest = np.setdiff1d(np.arange(len(block)), complete)
        parts = [self._together(block.rows(complete)), self._alone(block.rows(rest))]
        found, order = _stacked(parts, self.dictionary.n_anchors), np.argsort(np.concatenate([complete, rest]))
        return Coded(found.Z[order], found.loss[order], found.gap[order])

    def _alone(self, block: Views) -> Coded:
        per_view = [code_view(self.dictionary, v, block.data(v)) for v in range(block.n_views)]
        Z = block.average([part.Z for part in per_view])
        loss, gap = (sum(block.scatter(v, part[i]) for v, part in enumerate(per_view)) for i in (1, 2))
        return Coded(Z, np.asarray(loss), np.asarray(gap))

    def _together(self, block: Views) -> Coded:
        X: list[Any] = [block.data(v) for v in range(block.n_views)]
        for _, (loss, state) in zip(range(SWEEPS), sweeps(self.dictionary, X, None)):
            if state.gap.sum() <= SHARE * loss:
                break
        loss_of_each, gap = _certify(self.dictionary, X, None, state.Z, _common(self.dictionary))
        return Coded(mean_codes(state.Z), loss_of_each, gap)
