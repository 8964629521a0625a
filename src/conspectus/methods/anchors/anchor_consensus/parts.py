"""Steps 8, 9 and 10: three descriptions of all samples, with one protocol.

``Part.fit(training)`` returns the part and the embeddings of the training rows; ``part(rows)`` embeds other rows. The
filled graphs A and the joint graphs B fail differently, and the global part G knows no neighbours at all: leaving one
out is leaving out its line in ``PARTS``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Float, Int
from conspectus.numerics.anchors import anchor_codes
from conspectus.numerics.backend import to_numpy
from conspectus.numerics.distances import squared_norms
from conspectus.numerics.operators import ChainedGraph
from conspectus.numerics.rows import unit_rows
from conspectus.numerics.spectral import RANK, directions_from_gram
from conspectus.views.table import Views

from .coordinates import Coordinates
from .rows import Means, Settings
from .spectra import EXTRA, walk


class Rows(NamedTuple):
    """What is known of samples when they are embedded."""

    block: Views
    X: Sequence[tuple[Array, ...]]
    codes: tuple[Any, ...]
    fills: Any


class Training(NamedTuple):
    """What the parts are fitted on: the rows of all samples, and the local means of step 7."""

    views: Views
    k: int
    settings: Settings
    J: Int
    coordinates: Coordinates
    codes: tuple[Any, ...]
    fills: Any
    means: list[Means]
    T: list[Any]


class Part(Protocol):
    """One description of all samples."""

    @classmethod
    def fit(cls, training: Training) -> tuple[Part, list[Float]]:
        """Return the part and the embeddings of the training rows."""

    def __call__(self, rows: Rows) -> list[Float]:
        """Embed rows by the formulas of the training rows."""


# --- A


def filled_graph(Z: Any, W: Any, T: Any, n_views: int) -> ChainedGraph:
    """Return [S_v Z_v + W_v T_v]_v / V: every sample has a code in every view, its own or a local mean; never formed.

    It is [Z W] / V times [I; T], with the blocks T_v on the diagonal of T.
    """
    rows = sparse.csr_array(sparse.hstack([Z, W.astype(Z.dtype)], format="csr"))
    rows.data /= n_views
    return ChainedGraph(rows, sparse.csr_array(sparse.vstack([sparse.eye_array(Z.shape[1]), T], format="csr")))


@dataclass(frozen=True)
class Filled:
    """A: neighbours in every view; where a sample is unseen, the mean code of the samples near it (step 8).

    Attributes
    ----------
    R, TR : tuples of ndarray
        What seen codes and fills are multiplied by, for each setting; the division by V is in them.
    """

    R: tuple[Float, ...]
    TR: tuple[Float, ...]

    @classmethod
    def fit(cls, training: Training) -> tuple[Filled, list[Float]]:
        pairs = [cls._setting(training, s) for s in range(len(training.codes))]
        part = cls(tuple(R for R, _ in pairs), tuple(TR for _, TR in pairs))
        return part, part._embed(training.codes, training.fills)

    @staticmethod
    def _setting(training: Training, s: int) -> tuple[Float, Float]:
        n_views = training.views.n_views
        graph = filled_graph(training.codes[s], training.fills, training.T[s], n_views)
        R = walk(graph, training.k)[0] / n_views
        return R, np.asarray(graph.E @ R)[len(R) :]

    def __call__(self, rows: Rows) -> list[Float]:
        return self._embed(rows.codes, rows.fills)

    def _embed(self, codes: Sequence[Any], fills: Any) -> list[Float]:
        return [unit_rows(Z @ R + fills @ TR) for Z, R, TR in zip(codes, self.R, self.TR)]


# --- B


@dataclass(frozen=True)
class Joint:
    """B: neighbours by the mean over a sample's views of its squared distance to the anchor (step 9).

    In a view that has not seen it, an anchor stands for a random one of the rows near it: with their mean c and mean
    squared length q the expected squared distance is |x|^2 + q - 2 x.c = |x - c|^2 + (q - |c|^2). The last term is
    one more column of the anchors, in which the samples are 0: joint codes are plain codes on columns side by side.

    Attributes
    ----------
    centres : tuple of tuple of ndarray
        For each number of directions and view: c of all anchors and the root of q - |c|^2, divided by root mu_v.
    scale : tuple of tuple of float
        mu_v^(-1/2), mu_v the mean of these distances in the view.
    R : tuple of ndarray
        What codes are multiplied by, for each setting.
    """

    neighbours: tuple[int, ...]
    centres: tuple[tuple[Float, ...], ...]
    scale: tuple[tuple[float, ...], ...]
    R: tuple[Float, ...] = ()

    @classmethod
    def fit(cls, training: Training) -> tuple[Joint, list[Float]]:
        measure = cls._measure(training)
        codes = training.views.map(measure.codes_of_block, coordinates=training.coordinates)
        part = replace(measure, R=tuple(walk(Z, training.k)[0] for Z in codes))
        return part, part._embed(codes)

    @classmethod
    def _measure(cls, training: Training) -> Joint:
        """Find c, q and mu_v."""
        block, W = training.views.rows(training.J), training.fills[training.J]
        X, W_v = training.coordinates(block), split_columns(W, block.n_views)
        found = [
            [anchor_rows(block, v, t, X[v][t], W_v[v], training.means[v]) for v in range(block.n_views)]
            for t in range(len(training.settings.directions))
        ]
        centres = tuple(tuple(c for c, _ in per_view) for per_view in found)
        return cls(training.settings.neighbours, centres, tuple(tuple(s for _, s in per_view) for per_view in found))

    def codes_of_block(self, block: Views, coordinates: Coordinates) -> tuple[Any, ...]:
        """Code the samples of a block on all anchors, for each setting."""
        return self.codes(coordinates(block), block)

    def codes(self, X: Sequence[tuple[Array, ...]], block: Views) -> tuple[Any, ...]:
        """Code samples of which the coordinates are known: those seen by the same views together."""
        patterns, group = block.patterns
        members = [np.flatnonzero(group == g) for g in range(len(patterns))]
        parts = [self._of_pattern(X, block, np.flatnonzero(p), rows) for p, rows in zip(patterns, members)]
        back = np.argsort(np.concatenate(members), kind="stable")
        return tuple(sparse.csr_array(sparse.vstack(codes, format="csr"))[back] for codes in zip(*parts))

    def _of_pattern(self, X: Sequence[tuple[Array, ...]], block: Views, O: Int, rows: Int) -> list[Any]:
        at = [np.searchsorted(block.observed(v), rows) for v in O]
        codes: list[Any] = []
        for t, (centres, scale) in enumerate(zip(self.centres, self.scale)):
            mine = [to_numpy(X[v][t])[i] * scale[v] for v, i in zip(O, at)]
            spread = sum((centres[v][:, -1:] ** 2 for v in O), np.zeros((len(centres[0]), 1)))
            A = np.hstack([*mine, np.zeros((len(rows), 1), dtype=mine[0].dtype)])
            U = np.hstack([*(centres[v][:, :-1] for v in O), np.sqrt(spread)]).astype(A.dtype, copy=False)
            codes += anchor_codes(A, U, self.neighbours, weights="linear")
        return codes

    def __call__(self, rows: Rows) -> list[Float]:
        return self._embed(self.codes(rows.X, rows.block))

    def _embed(self, codes: Sequence[Any]) -> list[Float]:
        return [unit_rows(Z @ R) for Z, R in zip(codes, self.R)]


def anchor_rows(block: Views, v: int, t: int, X: Array, W: Any, means: Means) -> tuple[Float, float]:
    """Return an anchor's expected row c in view v with the root of its variance, both over root mu, and mu^(-1/2)."""
    X, W = np.asarray(to_numpy(X), dtype=np.float64), W[block.missing(v)]
    c = block.scatter(v, X, W @ means.X[t])
    q = block.scatter(v, squared_norms(X), W @ means.lengths[t])
    mu = means.length[t] + q.mean() - 2 * float(means.mean[t] @ c.mean(axis=0))
    scale = 1 / np.sqrt(mu) if mu > 0 else 1.0
    spread = np.sqrt(np.maximum(q - squared_norms(c), 0))
    return np.column_stack([c, spread]) * scale, float(scale)


# --- G


@dataclass(frozen=True)
class Global:
    """G: one linear embedding of all views, each whitened, its gaps filled by local means (step 10).

    Attributes
    ----------
    P : tuple of ndarray, shape (q, rank)
        The principal directions of each view over their singular values.
    origin : tuple of ndarray
        The mean row in these coordinates.
    local : tuple of ndarray
        R_v F_v: the local means in these coordinates.
    R : ndarray
        What the rows of all views side by side are multiplied by.
    root : float
        The root of the part's weight in the consensus.
    """

    P: tuple[Float, ...]
    origin: tuple[Float, ...]
    local: tuple[Float, ...]
    root: float
    R: Float = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def fit(cls, training: Training) -> tuple[Global, list[Float]]:
        views, k = training.views, training.k
        P = tuple(whitening(m, k) for m in training.means)
        origin = tuple(m.mean[-1] @ P_v for m, P_v in zip(training.means, P))
        local = tuple(m.X[-1] @ P_v - o for m, P_v, o in zip(training.means, P, origin))
        plain = cls(P, origin, local, float(np.sqrt(training.settings.weight)))
        A = views.map(plain.features_of_block, training.fills, coordinates=training.coordinates)
        part = replace(plain, R=over_singular_values(A.T @ A, k + EXTRA))
        return part, part._embed(A)

    def features_of_block(self, block: Views, fills: Any, coordinates: Coordinates) -> Float:
        """Return [F_1 ... F_V] of the samples of a block."""
        return self.features(coordinates.largest(block), block, fills)

    def features(self, X: Iterable[Array], block: Views, fills: Any) -> Float:
        """Whiten seen rows; unseen ones are the local means."""
        parts = []
        for v, (A, W) in enumerate(zip(X, split_columns(fills, block.n_views))):
            seen = np.asarray(to_numpy(A), dtype=np.float64) @ self.P[v] - self.origin[v]
            parts.append(block.scatter(v, seen, W[block.missing(v)] @ self.local[v]))
        return np.hstack(parts)

    def __call__(self, rows: Rows) -> list[Float]:
        return self._embed(self.features((sized[-1] for sized in rows.X), rows.block, rows.fills))

    def _embed(self, A: Float) -> list[Float]:
        return [self.root * unit_rows(A @ self.R)]


def whitening(means: Means, k: int) -> Float:
    """Return the leading principal directions of a view, each divided by its singular value."""
    return over_singular_values(means.gram - means.n * np.outer(means.mean[-1], means.mean[-1]), k)


def over_singular_values(gram: Float, k: int) -> Float:
    """Return V Sigma^-1 of the leading right singular vectors that are told from 0."""
    V, sigma = directions_from_gram(gram, k)
    kept = sigma > RANK * sigma.max(initial=0)
    return V[:, kept] / sigma[kept]


def split_columns(W: Any, n: int) -> list[Any]:
    """Cut a matrix into n blocks of columns."""
    m = W.shape[1] // n
    return [W[:, v * m : (v + 1) * m] for v in range(n)]


PARTS: tuple[type[Part], ...] = (Filled, Joint, Global)
