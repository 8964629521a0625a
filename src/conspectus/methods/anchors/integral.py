"""The blocks of SOME-AS: every one the exact minimiser of its block, from sums over the samples.

    J = sum_p gamma_p^2 |X_p - Z_p[o_p] A_p'|^2 + alpha sum_p |Z_p|^2 + beta sum_p |Z_p - Y G_p'|^2

over A_p (d_p x l) with A'A = I, Z_p (n x l) with rows on the simplex, G_p (l x k) with G'G = I, labels y, and
gamma >= 0 with sum gamma = 1. The paper writes G_p as P_p'F with P_p (l x l) orthogonal and F (l x k) orthonormal. Only
the product enters, so that P and F have a freedom (P, F) -> (Q P, Q F) that nothing decides; the reduced form has none,
and the same minima. Numbers in brackets are the paper's equations.

    Z  z_i = Pi( (gamma_p^2 A_p'x_i + beta G_p e_y) / (gamma_p^2 + alpha + beta) ) where view p has seen i,     (7)
       t_y = Pi( beta / (alpha + beta) G_p e_y ) where it has not: one vector a label, never one a sample
    G  polar(M_p),  M_p = Z_p'Y                                                                             (9, 13)
    A  polar(C_p),  C_p = X_p'Z_p[o_p]                                                                         (11)
    y  argmax_c sum_p <z_pi, G_p e_c>, over all views                                                          (16)
    gamma_p  r_p^-1 / sum_q r_q^-1,  r_p = |X_p|^2 - 2 tr(A_p'C_p) + |Z_p[o_p]|^2                              (17)

A view with fewer columns than anchors counts as padded with columns of zeros: A_p then has orthonormal rows, and r_p
above, which takes A'A = I, is the error of the padded view. An iteration with fixed labels is one pass over the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Float, Int
from conspectus.methods.anchors.fimvc_via import view_weights
from conspectus.numerics.backend import as_float, like, namespace, to_numpy
from conspectus.numerics.distances import squared_norms
from conspectus.numerics.orthogonal import polar
from conspectus.numerics.rows import class_sums, unit_rows
from conspectus.numerics.simplex import project_simplex
from conspectus.views.table import Views

Alignment = Literal["each", "common", "one"]
"""What G_p may be: its own best for each view (the paper's P), one rotation of all (its F), or one G for all views."""


class Theta(NamedTuple):
    """The parameters of the views: anchors A_p, alignments G_p, weights gamma."""

    A: tuple[Array, ...]
    G: tuple[Array, ...]
    gamma: Float


class Found(NamedTuple):
    """Labels, the parameters that belong to them, and the start's own coordinates of samples (None: it has none)."""

    y: Int
    theta: Theta
    start: Any = None


class Penalties(NamedTuple):
    """alpha, the ridge on the codes, and beta, the pull of a code towards its label."""

    alpha: float
    beta: float


class Rows:
    """Rows of unit length, the mean removed first, as an operator: lengths divide the products, not the rows.

    Sparse rows stay sparse: the mean, too, is then removed in the products.
    """

    def __init__(self, X: Array, mean: Float | None) -> None:
        X = as_float(X)
        self.shift = mean if sparse.issparse(X) else None
        self.X = X if mean is None or sparse.issparse(X) else X - like(mean, X)
        square = squared_norms(self.X)
        if self.shift is not None:
            square = np.maximum(square - 2 * (X @ self.shift) + self.shift @ self.shift, 0)
        elif len(square) and float(namespace(square).min(square)) < _smallest(square):
            self.X = unit_rows(self.X)
            square = squared_norms(self.X)
        self.scale = _inverse_root(square)[:, None]

    def dot(self, A: Array) -> Array:
        """Return X~ A."""
        product = self.X @ like(A, self.X)
        return self.scale * (product if self.shift is None else product - self.shift @ A)

    def tdot(self, Z: Array) -> Array:
        """Return X~'Z."""
        Z = self.scale * Z
        product = self.X.T @ Z
        return product if self.shift is None else product - np.outer(self.shift, Z.sum(axis=0))

    def square(self) -> float:
        """Return |X~|^2, the number of rows that are not zero."""
        return float((self.scale > 0).sum())


def _smallest(square: Array) -> float:
    """Below it, the square of a row's length has lost digits or is 0."""
    return 1e-280 if square.dtype == namespace(square).float64 else 1e-30


def _inverse_root(square: Array) -> Array:
    xp = namespace(square)
    zero = xp.zeros_like(square)
    return xp.where(square > 0, 1 / xp.sqrt(xp.where(square > 0, square, zero + 1)), zero)


Means = Sequence[Float | None]


def square_sums(block: Views, means: Means) -> Float:
    """|X_p|^2 of each view."""
    return np.array([Rows(block.data(p), mean).square() for p, mean in enumerate(means)])


# --- the blocks


def seen_codes(XA: Array, G: Array, y: Int, gamma: float, penalties: Penalties) -> Array:
    """Z of the rows that a view has seen (eq. 7)."""
    alpha, beta = penalties
    xp, weight = namespace(XA), gamma**2
    pull = xp.take(like(beta * G.T, XA), _index(y, XA), axis=0)
    return project_simplex((weight * XA + pull) / max(weight + alpha + beta, 1e-300))


def label_codes(G: Array, penalties: Penalties) -> Array:
    """t_c: the code of a row that a view has not seen, (k, l)."""
    alpha, beta = penalties
    return project_simplex(G.T * (beta / (alpha + beta) if alpha + beta else 0.0))


def align(M: Sequence[Array], G: Sequence[Array], how: Alignment) -> tuple[Array, ...]:
    """Turn the labels' directions towards the codes: maximise sum_p tr(G_p'M_p)."""
    if how == "each":
        return tuple(polar(m, g) for m, g in zip(M, G))
    if how == "one":
        return (polar(sum(M[1:], start=M[0]), G[0]),) * len(M)
    products = [g.T @ m for g, m in zip(G, M)]
    turn = polar(sum(products[1:], start=products[0]))
    return tuple(g @ turn for g in G)


class Sums(NamedTuple):
    """All that an iteration needs of the samples: X'Z, Z'Y and |Z|^2 of the seen rows, and the unseen ones by label."""

    C: list[Array]
    M: list[Array]
    square: list[Any]
    unseen: list[Float]


def sums(block: Views, y: Int, theta: Theta, means: Means, penalties: Penalties) -> Sums:
    """Code the rows of a block and keep their sums; the codes are dropped."""
    found = Sums([], [], [], [])
    k = theta.G[0].shape[1]
    for p, (A, G, gamma) in enumerate(zip(*theta)):
        X, seen = Rows(block.data(p), means[p]), block.seen[:, p]
        Z = seen_codes(X.dot(A), G, y[seen], gamma, penalties)
        found.C.append(X.tdot(Z))
        found.M.append(class_sums(Z, _index(y[seen], Z), k).T)
        found.square.append((Z * Z).sum())
        found.unseen.append(np.bincount(y[~seen], minlength=k).astype(np.float64))
    return found


class Fit(NamedTuple):
    """What one pass finds: C_p, M_p and |Z_p|^2 over all samples, and the views' errors r_p."""

    C: tuple[Array, ...]
    M: tuple[Array, ...]
    square: Float
    r: Float


def one_pass(views: Views, y: Int, theta: Theta, data: Data, penalties: Penalties) -> Fit:
    """Code all samples once."""
    found: Sums = views.reduce(sums, y, theta=theta, means=data.means, penalties=penalties)
    T = [label_codes(G, penalties) for G in theta.G]
    M = tuple(M + (t * like(m[:, None], t)).T for M, t, m in zip(found.M, T, found.unseen))
    own = np.array([float(z) for z in found.square])
    whole = own + [float(m @ to_numpy((t * t).sum(axis=1))) for t, m in zip(T, found.unseen)]
    fitted = np.array([float((A * C).sum()) for A, C in zip(theta.A, found.C)])
    return Fit(tuple(found.C), M, whole, np.maximum(data.norms - 2 * fitted + own, 0))


def means_of(views: Views, *, centred: bool) -> tuple[Float | None, ...]:
    """Return the mean row of each view; uncentred rows have none to remove."""
    return tuple(views.statistics(p).mean if centred else None for p in range(views.n_views))


class Data(NamedTuple):
    """What is known of the data before the first iteration: the means to remove, and |X_p|^2."""

    means: tuple[Float | None, ...]
    norms: Float

    @classmethod
    def of(cls, views: Views, *, centred: bool) -> Data:
        """Measure the views."""
        means = means_of(views, centred=centred)
        return cls(means, views.reduce(square_sums, means=means))


def objective(n: int, theta: Theta, fit: Fit, M: Sequence[Array], penalties: Penalties) -> float:
    """J in closed form."""
    alpha, beta = penalties
    agreement = np.array([float((G * m).sum()) for G, m in zip(theta.G, M)])
    per_view = theta.gamma**2 * fit.r + (alpha + beta) * fit.square + beta * (n - 2 * agreement)
    return float(per_view.sum())


# --- fixed labels: the loop of the default


def locked(
    views: Views, y: Int, theta: Theta, data: Data, penalties: Penalties, how: Alignment = "each"
) -> Iterator[tuple[float, Theta]]:
    """Iterate G, A, Z, G, gamma with the labels fixed; one pass an iteration."""
    fit = one_pass(views, y, theta, data, penalties)
    while True:
        A = tuple(polar(C, A) for C, A in zip(fit.C, theta.A))
        theta = Theta(A, align(fit.M, theta.G, how), theta.gamma)
        fit = one_pass(views, y, theta, data, penalties)
        theta = Theta(A, align(fit.M, theta.G, how), view_weights(fit.r))
        yield objective(len(views), theta, fit, fit.M, penalties), theta


# --- codes that contain no label


@dataclass(frozen=True)
class AlignedCodes:
    """u(x) = the mean of G_p' Pi( gamma_p^2 / (gamma_p^2 + alpha) A_p'x ) over the views seen, to unit length.

    The codes of eq. (7) with beta = 0, brought into the labels' coordinates: the paper's integral subspace, for any
    sample and any of its views.
    """

    theta: Theta
    means: tuple[Float | None, ...]
    alpha: float

    def __call__(self, views: Views) -> Array:
        return unit_rows(views.average([self._of_view(views, p) for p in range(views.n_views)]))

    def _of_view(self, views: Views, p: int) -> Array:
        A, G, gamma = (part[p] for part in self.theta)
        share = gamma**2 / max(gamma**2 + self.alpha, 1e-300)
        Z = project_simplex(share * Rows(views.data(p), self.means[p]).dot(A))
        return Z @ like(G, Z)


def _index(y: Int, other: Array) -> Array:
    return y if isinstance(other, np.ndarray) else namespace(other).asarray(y, device=other.device)
