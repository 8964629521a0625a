"""Inputs that the tests of the kernel methods share."""

from __future__ import annotations

from typing import Any

import numpy as np

from conspectus import as_views
from conspectus.methods.kernels.kernel_sets import DenseKernels

from .golden import golden


def stored() -> tuple[dict[str, Any], Any, list[Any]]:
    """Return the golden file, its mask, and the samples that each view has not seen."""
    arrays = golden("kernel")
    return arrays, arrays["M"], [np.flatnonzero(~seen) for seen in arrays["M"].T]


def golden_views() -> Any:
    """The rows behind the golden kernels."""
    arrays, mask, _ = stored()
    return as_views([arrays[f"X{v}"] for v in range(3)], mask)


def golden_kernels() -> DenseKernels:
    """The kernels, 0 where a view has not seen a sample."""
    arrays, mask, _ = stored()
    return DenseKernels(arrays["K"], [np.flatnonzero(seen) for seen in mask.T])


def partitions(n: int = 40, k: int = 3, shares: tuple[float, ...] = (0.7, 0.8, 0.95), seed: int = 0) -> Any:
    """Random base partitions, zero in the unseen rows, and the unseen samples of each view (no sample in all)."""
    rng = np.random.default_rng(seed)
    H, missing, start, order = [], [], 0, rng.permutation(n)
    for share in shares:
        lost = order[np.arange(start, start + round((1 - share) * n)) % n]
        start += len(lost)
        seen = np.setdiff1d(np.arange(n), lost)
        block = np.zeros((n, k))
        block[seen] = np.linalg.qr(rng.standard_normal((len(seen), k)))[0]
        H.append(block)
        missing.append(np.setdiff1d(np.arange(n), seen))
    return H, missing


def same_span(H: Any, other: Any, atol: float = 1e-9) -> None:
    """Two orthonormal bases of one space."""
    np.testing.assert_allclose(H @ H.T, other @ other.T, atol=atol)
