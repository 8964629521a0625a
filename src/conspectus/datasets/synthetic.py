"""Data sets that are drawn: small and printed in a paper, or as large as one likes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from conspectus._typing import Array, Int
from conspectus.datasets.dataset import Dataset
from conspectus.errors import InputError
from conspectus.missing import random_subsets

BLOCK = 8192  # rows that are drawn at once; a part of what `make_views` means, not a setting
CENTRES, CLASSES, NOISE = 1, 2, 3

MEANS = ([(1, 1), (4, 2)], [(1, 3), (3, 1)])
COVARIANCES = (
    [((0.3, 0), (0, 0.4)), ((0.2, 0.15), (0.15, 0.35))],
    [((0.25, -0.05), (-0.05, 0.2)), ((0.4, 0.1), (0.1, 0.3))],
)


def make_gaussian_views(n: int = 200, *, seed: int = 0) -> Dataset:
    """Two clusters in two views of two dimensions, each a Gaussian (Guo and Ye, 2019, section 5.1).

    The printed means and covariances; half of the samples in each cluster, the first cluster first.

    Parameters
    ----------
    n : int
        Number of samples.
    seed : int
        Seed of the draw; 0 is the data set of the documentation's figures.

    Returns
    -------
    Dataset
    """
    if n < 2:
        raise InputError(f"n={n}: two clusters need at least 2 samples")
    rng = np.random.RandomState(seed)  # its stream never changes between versions of NumPy
    sizes = (n - n // 2, n // 2)
    X = {
        f"view{v + 1}": np.concatenate(
            [rng.multivariate_normal(MEANS[v][c], COVARIANCES[v][c], size=sizes[c]) for c in range(2)]
        )
        for v in range(2)
    }
    y = np.repeat(np.arange(2), sizes)
    return Dataset("gaussian_views", X, y, k=2, source="drawn from two Gaussians a view", licence="none needed")


def make_views(
    n: int,
    dims: Sequence[int],
    k: int,
    *,
    missing: float | ArrayLike = 0.0,
    separation: float = 4.0,
    dtype: DTypeLike = np.float64,
    seed: int = 0,
) -> Dataset:
    """Clusters of any number in any number of views and samples, with views missing.

    In every view a cluster is a Gaussian with unit variance in all directions around its centre; the centres are
    random. Views err independently given the class, so several views tell more than one.

    Rows are drawn in blocks of 8,192 into the result, which is all that is held in memory beside it. Each block has
    its own random stream: the same arguments give the same data, and a larger ``n`` only adds rows.

    Parameters
    ----------
    n : int
        Number of samples.
    dims : sequence of int
        Number of features of each view.
    k : int
        Number of clusters.
    missing : float in [0, 1], or array of bool of shape (n, V)
        Share of samples that lack some views (`conspectus.missing.random_subsets`), or the mask itself, such as one
        of the other protocols of `conspectus.missing`. Rows are drawn for unseen samples too, and the data set's mask
        hides them.
    separation : float
        Typical distance between two centres, in standard deviations.
    dtype : float64 or float32
        Type of the numbers.
    seed : int
        Seed of the draw.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from conspectus.datasets import make_views
    >>> make_views(1000, dims=[20, 30], k=5, missing=0.5)
    <Dataset views: 1000 samples, 2 views (view1 20, view2 30), 5 classes>
    """
    _check(n, dims, k, dtype)
    mask = random_subsets(n, len(dims), 1 - missing, seed) if isinstance(missing, int | float) else np.asarray(missing)
    if mask.shape != (n, len(dims)) or mask.dtype != np.bool_:
        raise InputError(f"missing is a share or a boolean array ({n}, {len(dims)}), not {mask.dtype} {mask.shape}")
    y = np.empty(n, dtype=np.int64)
    for b, start in enumerate(range(0, n, BLOCK)):
        y[start : start + BLOCK] = _stream(seed, CLASSES, 0, b).integers(k, size=min(BLOCK, n - start))
    X = {f"view{v + 1}": _view(y, v, d, k, separation, dtype, seed) for v, d in enumerate(dims)}
    return Dataset("views", X, y, None if mask.all() else mask, k=k, source="drawn", licence="none needed")


def _view(y: Int, v: int, d: int, k: int, separation: float, dtype: DTypeLike, seed: int) -> Array:
    centres = _stream(seed, CENTRES, v, 0).standard_normal((k, d)) * (separation / np.sqrt(2 * d))
    X: Array = np.empty((len(y), d), dtype=dtype)
    for b, start in enumerate(range(0, len(y), BLOCK)):
        block = X[start : start + BLOCK]
        _stream(seed, NOISE, v, b).standard_normal(out=block, dtype=X.dtype)
        block += centres[y[start : start + BLOCK]]
    return X


def _stream(*key: int) -> np.random.Generator:
    """Keys of one length: a shorter one would be the same as a longer one that ends in zeros."""
    return np.random.default_rng(key)


def _check(n: int, dims: Sequence[int], k: int, dtype: DTypeLike) -> None:
    if not dims or min(dims) < 1:
        raise InputError(f"dims={list(dims)}: give the number of features of each view, at least 1")
    if not 1 <= k <= n:
        raise InputError(f"k={k}, n={n}: there must be at least 1 cluster and as many samples as clusters")
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise InputError(f"dtype={np.dtype(dtype)} is neither float64 nor float32")
