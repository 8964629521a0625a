"""Weighted sums of the kernels of all views: their leading eigenvectors, and what each kernel sees of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from conspectus._typing import Float, Int
from conspectus.methods.kernels.base_partitions import eigenpartition, inverse
from conspectus.methods.kernels.observed import Kernel, KernelRows, observed_kernel, zero_filled
from conspectus.views.table import Views


class KernelSet(Protocol):
    """Completed kernels of all samples, one a view, known by what kernel k-means asks of them."""

    @property
    def traces(self) -> Float:
        """tr K_p."""

    def leading(self, weights: Float, k: int) -> tuple[Any, Float]:
        """Return the k leading eigenvectors of sum_p w_p K_p (in the set's own form), and their eigenvalues."""

    def energies(self, H: Any) -> Float:
        """Return tr(H'K_p H) of such eigenvectors."""

    def split(self, H: Any, values: Float, weights: Float) -> tuple[Float, ...]:
        """Return A_p with h(x) = sum_p y_p(x) A_p, the sum over the views that have seen x (kernels filled with 0)."""


@dataclass(frozen=True)
class DenseKernels:
    """Kernels as matrices, (n_views, n_samples, n_samples), and the samples that each view has seen."""

    K: Sequence[Float]
    observed: Sequence[Int] = ()

    @cached_property
    def traces(self) -> Float:
        """tr K_p."""
        return np.array([K.trace() for K in self.K])

    def leading(self, weights: Float, k: int) -> tuple[Float, Float]:
        """Return the k leading eigenvectors of sum_p w_p K_p, and their eigenvalues."""
        total = np.zeros_like(self.K[0])
        for w, K in zip(weights, self.K):
            total += w * K
        return eigenpartition(total, k)

    def energies(self, H: Float) -> Float:
        """Return tr(H'K_p H)."""
        return np.array([float((H * (K @ H)).sum()) for K in self.K])

    def split(self, H: Float, values: Float, weights: Float) -> tuple[Float, ...]:
        """H = sum_p w_p K_p H / values, so that A_p = w_p H(o_p) / values."""
        return tuple(w * H[o] * inverse(values) for w, o in zip(weights, self.observed))


@dataclass(frozen=True)
class FeatureKernels:
    """Kernels F_p F_p' by the Gram matrix G of all features [F_1 ... F_m]; eigenvectors H = F R are known by R."""

    G: Float
    widths: tuple[int, ...]

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """The columns of each view."""
        ends = np.cumsum((0, *self.widths))
        return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))

    @cached_property
    def traces(self) -> Float:
        """tr K_p."""
        return np.array([self.G[part, part].trace() for part in self.parts])

    def leading(self, weights: Float, k: int) -> tuple[Float, Float]:
        """Return R with H = F R the k leading eigenvectors of sum_p w_p F_p F_p', and their eigenvalues."""
        roots = np.repeat(np.sqrt(weights), self.widths)[:, None]
        V, values = eigenpartition(roots * self.G * roots.T, min(k, len(self.G)))
        R, spectrum = np.zeros((len(self.G), k)), np.zeros(k)
        R[:, : V.shape[1]] = roots * V * np.sqrt(inverse(values))
        spectrum[: len(values)] = values
        return R, spectrum

    def energies(self, R: Float) -> Float:
        """Return |F_p'H|^2."""
        return np.array([float((block**2).sum()) for block in ((self.G @ R)[part] for part in self.parts)])

    def split(self, R: Float, values: Float, weights: Float) -> tuple[Float, ...]:
        """H = sum_p F_p R_p."""
        return tuple(R[part] for part in self.parts)


def exact_kernels(views: Views, kernel: Kernel, normalize: bool) -> tuple[DenseKernels, tuple[KernelRows, ...]]:
    """Form the kernel of each view, 0 in unseen rows and columns, and the ways in which further rows join."""
    blocks, sides = zip(*(observed_kernel(views, v, kernel, normalize) for v in range(views.n_views)))
    K = [zero_filled(views, v, block) for v, block in enumerate(blocks)]
    return DenseKernels(K, [views.observed(v) for v in range(views.n_views)]), sides
