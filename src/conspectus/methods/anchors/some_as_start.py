"""Where SOME-AS begins: labels, and the anchors that belong to them.

The paper says "Initialize" and no more, and what it does not say decides its result. Here the labels come from codes:
k-means centres in each view, every row described by its three nearest, the sample by the mean over its views (in
columns side by side, one block a view), and the spectrum of that graph. Time and memory are O(n).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from scipy.linalg import helmert

from conspectus._typing import Array, Float, Int
from conspectus.errors import InputError
from conspectus.methods.anchors.apmc import SpectralMap
from conspectus.methods.anchors.choose import SAMPLE
from conspectus.methods.anchors.integral import Rows, Theta
from conspectus.numerics.anchors import anchor_codes
from conspectus.numerics.backend import like, to_numpy
from conspectus.numerics.kmeans import kmeans
from conspectus.numerics.orthogonal import polar
from conspectus.numerics.rows import unit_rows
from conspectus.views.table import Views

NEIGHBOURS = 3
"""Centres that describe a row; 5 do as well on dense data and worse on text, 10 worse on both."""


@dataclass(frozen=True)
class CentreCodes:
    """Each row by its nearest centres, weights falling linearly; the views side by side, divided by their number."""

    centres: tuple[Array, ...]

    def codes(self, block: Views) -> Any:
        """Return the rows of B, which sum to 1."""
        per_view = []
        for p, centres in enumerate(self.centres):
            Z = anchor_codes(unit_rows(block.data(p)), centres, [NEIGHBOURS], weights="linear")[0]
            per_view.append(block.scatter(p, Z))
        B = sparse.hstack(per_view, format="csr")
        counts = np.maximum(block.seen.sum(axis=1), 1).astype(B.dtype)
        B.data /= np.repeat(counts, np.diff(B.indptr))
        return sparse.csr_array(B)


def start_codes(views: Views, k: int, n_centres: int | str, n_init: int, rng: RandomState) -> tuple[Int, SpectralMap]:
    """Return labels, and the map into the spectrum of the codes that they come from."""
    wanted = centres_by_default(views, k) if n_centres == "auto" else int(n_centres)
    graph = CentreCodes(tuple(_centres(views, p, wanted, rng) for p in range(views.n_views)))
    B = views.map(graph.codes)
    spectral, _ = SpectralMap.fit(graph, B, k)
    return kmeans(unit_rows(B @ spectral.R), k, n_init=n_init, seed=_seed(rng))[0], spectral


def centres_by_default(views: Views, k: int) -> int:
    """Return how many centres a view gets: 5 k, at least 50, more where samples abound, at most a quarter of them."""
    least = int(views.seen.sum(axis=0).min())
    return max(2, int(min(max(5 * k, 50, least / 40), 500, least / 4)))


def _centres(views: Views, p: int, wanted: int, rng: RandomState) -> Array:
    """Centres of the rows that a view has seen; of a sample of them where they are many."""
    rows = views.observed(p)
    if len(rows) > SAMPLE:
        rows = np.sort(rng.choice(rows, SAMPLE, replace=False))
    X = unit_rows(views.only([p]).rows(rows).data(0))
    return kmeans(X, min(wanted, max(2, len(rows) // 2), len(rows)), n_init=2, max_iter=50, seed=_seed(rng))[1]


def _seed(rng: RandomState) -> int:
    return int(rng.randint(2**31 - 1))


# --- from labels to parameters


def label_sums(block: Views, y: Int, k: int, means: Sequence[Float | None]) -> list[Array]:
    """Sums of the rows of each class, a (d, k) matrix a view."""
    return [
        Rows(block.data(p), mean).tdot(_indicator(y[block.seen[:, p]], k, block.data(p)))
        for p, mean in enumerate(means)
    ]


def _indicator(y: Int, k: int, other: Array) -> Array:
    return like((y[:, None] == np.arange(k)).astype(np.float64), other)


def first_theta(views: Views, y: Int, k: int, l: int, means: Sequence[Float | None], rng: RandomState) -> Theta:
    """Return anchors that span the class means and as many directions again, G = [I; 0] and equal weights."""
    found: list[Array] = views.reduce(label_sums, y, k=k, means=means)
    A = []
    for p, sums in enumerate(found):
        sizes = np.bincount(y[views.seen[:, p]], minlength=k)
        C = to_numpy(sums) / np.maximum(sizes, 1)
        # A class without members gets a direction of no weight: any, but the same for a seed.
        C[:, sizes == 0] = 1e-6 * rng.standard_normal((len(C), int((sizes == 0).sum())))
        A.append(like(frame(C, l, rng), sums))
    G = tuple(like(np.eye(l, k), a) for a in A)
    return Theta(tuple(A), G, np.full(len(A), 1 / len(A)))


def frame(C: Float, l: int, rng: RandomState) -> Float:
    """Return l orthonormal directions: q copies of polar(C), each turned into directions orthogonal to it.

    [B, R] (O x I) with B = polar(C), R a random frame orthogonal to B and O (q x q) orthogonal with a first row
    1 / sqrt(q): for l = 2k, (B + R) / sqrt(2) and (B - R) / sqrt(2). With fewer than q k features, directions of a
    padded space, cut back.
    """
    (d, k), q = C.shape, -(-l // C.shape[1])
    C = np.vstack([C, np.zeros((max(q * k - d, 0), k))])
    B = polar(C, np.linalg.qr(rng.standard_normal(C.shape))[0])
    if q > 1:
        R = rng.standard_normal((len(C), k * (q - 1)))
        R = np.linalg.qr(R - B @ (B.T @ R))[0]
        B = np.hstack([B, R]) @ np.kron(helmert(q, full=True), np.eye(k))
    return B[:d, :l]


def given_labels(init: Any, n: int, k: int, rng: RandomState) -> Int:
    """Return the labels that `init` gives: "random", or an array with one a sample."""
    if isinstance(init, str):
        return rng.randint(k, size=n)
    labels = np.asarray(init)
    if labels.shape != (n,):
        raise InputError(f"init has shape {labels.shape} for {n} samples: give one label a sample")
    found, y = np.unique(labels, return_inverse=True)
    if len(found) > k:
        raise InputError(f"init has {len(found)} different labels for n_clusters={k}: give as many or fewer")
    whole = np.issubdtype(labels.dtype, np.integer) and found[0] >= 0 and found[-1] < k
    return np.asarray(labels if whole else y.reshape(-1), dtype=np.int64)
