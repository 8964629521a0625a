"""What the estimators of the family share: the kernel's parameters, and the choice between kernels and features."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from numpy.random import RandomState
from sklearn.utils._param_validation import Interval, StrOptions

from conspectus.base import IncompleteClusterer
from conspectus.errors import InputError
from conspectus.methods.kernels.base_partitions import Partitions
from conspectus.methods.kernels.features import FeatureSide, feature_kernels, feature_sides
from conspectus.methods.kernels.kernel_sets import KernelSet, exact_kernels
from conspectus.methods.kernels.observed import NAMES, WIDTH_ROWS, Kernel, Side
from conspectus.methods.kernels.prior import Prior, exact_base, feature_base
from conspectus.views.table import Views

EXACT_ROWS = WIDTH_ROWS
"""Views of at most so many rows are clustered by their kernel matrices, unless told otherwise."""


class KernelClusterer(IncompleteClusterer):
    """A method that sees each view through a kernel on its observed rows."""

    kernel: Kernel
    normalize: bool
    approximation: str
    n_landmarks: int | str
    rank: int | str
    predict_mode: str

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IncompleteClusterer._parameter_constraints,
        "kernel": [StrOptions(set(NAMES)), callable],
        "normalize": ["boolean"],
        "approximation": [StrOptions({"auto", "exact", "features"})],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "rank": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "predict_mode": [StrOptions({"observed", "fixpoint"})],
    }

    def _exact(self, views: Views) -> bool:
        """Whether kernel matrices are formed, or features whose inner products stand for them."""
        if self.approximation == "features" and views.square:
            raise InputError("kernels that are given have no features: use approximation='exact'")
        few = int(views.seen.sum(axis=0).max()) <= EXACT_ROWS
        return views.square or self.approximation == "exact" or (self.approximation == "auto" and few)

    def _sides(self, views: Views, rng: RandomState) -> tuple[FeatureSide, ...]:
        """The features of every view."""
        k = self._k
        landmarks = max(256, 10 * k) if self.n_landmarks == "auto" else int(self.n_landmarks)
        rank = max(64, 4 * k) if self.rank == "auto" else int(self.rank)
        return feature_sides(views, self.kernel, self.normalize, rng, landmarks, rank)

    def _partitions(self, views: Views, rng: RandomState, which: str | None = None) -> tuple[Partitions, Prior | None]:
        """Base partitions, and a prior partition where one is asked for."""
        if self._exact(views):
            return exact_base(views, self._k, self.kernel, self.normalize, which)
        return feature_base(views, self._k, self._sides(views, rng), which)

    def _kernels(self, views: Views, rng: RandomState) -> tuple[KernelSet, tuple[Side, ...]]:
        """The kernels of all samples, unseen entries 0, as matrices or features."""
        if self._exact(views):
            return exact_kernels(views, self.kernel, self.normalize)
        sides = self._sides(views, rng)
        return feature_kernels(views, sides), sides
