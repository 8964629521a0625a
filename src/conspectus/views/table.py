"""`Views`: several sources of rows and one table that says where each sample's row is.

What the papers write as an indicator or selection matrix (P_v, s_p, W^(v), H_p) is the one table ``where``: joining,
subsetting, bootstrapping, cutting into blocks and memory mapping are then all indexing, and no matrix of samples by
samples is ever made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from importlib import import_module
from operator import add as add_arrays
from typing import Any

import numpy as np
from scipy import sparse

from conspectus._typing import Array, Bool, Int
from conspectus.errors import InputError
from conspectus.numerics.backend import as_float, namespace
from conspectus.views.blocks import add, rows_of, stack, take
from conspectus.views.statistics import Statistics, statistics

CHUNK = 8192
"""Samples in a block. It is the same for every container, so that results do not depend on where the data lie."""

Step = Callable[[Array], Array]


@dataclass(frozen=True, eq=False, repr=False)
class Views:
    """Samples described by several views, each of which has seen only some of them.

    Made by :func:`conspectus.as_views`; everything behind the door works on this class and never meets NaN,
    containers or file formats.

    Attributes
    ----------
    sources : tuple of arrays
        One matrix a view, in its own row order: NumPy (memory-mapped too), CSR or an array API array.
    where : ndarray of int, shape (n_samples, n_views)
        The sample's row in each source; -1 where the view has not seen the sample.
    ids : ndarray, shape (n_samples,)
        The name of each sample.
    names : tuple of str
        The name of each view.
    columns : tuple of (tuple of str or None)
        The names of each view's columns, where they have any.
    steps : tuple of tuples of callables
        What is done to the rows of each view when they are read.
    cols : ndarray of int, shape (n_training, n_views), or None
        For views that are indexed by samples on both axes (kernels, distances): the column of each training sample.
    frame : str or None
        The library of the tables that the views came from ("pandas", "polars", "pyarrow").
    """

    sources: tuple[Array, ...]
    where: Int
    ids: Array
    names: tuple[str, ...]
    columns: tuple[tuple[str, ...] | None, ...]
    steps: tuple[tuple[Step, ...], ...]
    cols: Int | None = None
    frame: str | None = None
    chunk: int = CHUNK

    __iter__ = None  # a Views is neither a sequence of views nor of samples: NumPy and scikit-learn must not guess

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Views hold several matrices and are not one array: take views.data(v) for the rows of a view")

    def __len__(self) -> int:
        return len(self.where)

    def __repr__(self) -> str:
        return self.summary()

    @property
    def n_views(self) -> int:
        """How many views there are."""
        return len(self.names)

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of columns of each view's source."""
        if self.cols is not None:
            return (len(self.cols),) * self.n_views
        return tuple(int(source.shape[1]) for source in self.sources)

    @property
    def shape(self) -> tuple[int, int]:
        """Samples, and columns of all views together."""
        return len(self), sum(self.widths)

    @property
    def square(self) -> bool:
        """Whether the views are indexed by samples on both axes."""
        return self.cols is not None

    @property
    def xp(self) -> Any:
        """The array namespace of the data."""
        dense = [source for source in self.sources if not sparse.issparse(source)]
        return namespace(*dense) if dense else np

    @cached_property
    def seen(self) -> Bool:
        """Whether each view has seen each sample, (n_samples, n_views)."""
        return self.where >= 0

    @cached_property
    def complete(self) -> Int:
        """The samples that every view has seen."""
        return np.flatnonzero(self.seen.all(axis=1))

    @cached_property
    def patterns(self) -> tuple[Bool, Int]:
        """The distinct rows of ``seen``, and the one that each sample has."""
        distinct, group = np.unique(self.seen, axis=0, return_inverse=True)
        return distinct, group.reshape(-1)

    @cached_property
    def _statistics(self) -> dict[int, Statistics]:
        return {}

    def statistics(self, v: int) -> Statistics:
        """Return moments and extremes of the columns of view `v`; computed once."""
        if v not in self._statistics:
            self._statistics[v] = statistics(self, v)
        return self._statistics[v]

    def observed(self, v: int) -> Int:
        """Return the samples that view `v` has seen, in order."""
        return np.flatnonzero(self.seen[:, v])

    def missing(self, v: int) -> Int:
        """Return the samples that view `v` has not seen, in order."""
        return np.flatnonzero(~self.seen[:, v])

    def data(self, v: int) -> Array:
        """Return the rows of the samples that view `v` has seen, in the order of the samples."""
        block = take(self.sources[v], self.where[self.observed(v), v])
        if self.cols is not None:
            block = block[:, self.cols[self.cols[:, v] >= 0, v]]
        block = as_float(block)
        for step in self.steps[v]:
            block = step(block)
        return block

    def __getitem__(self, key: Any) -> Views:
        """Return a subset of the samples; of both axes where the views have samples on both."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        if isinstance(key, tuple):
            if self.cols is None or len(key) != 2:
                raise InputError("Views are indexed by samples only: views[samples]")
            rows, columns = (np.asarray(k).reshape(-1) for k in key)
            return replace(self.rows(rows), cols=self.cols[columns])
        subset = self.rows(key)
        return subset if self.cols is None else replace(subset, cols=self.cols[_index(key)])

    def rows(self, key: Any) -> Views:
        """Return a subset of the samples that keeps all columns of kernels and distances."""
        key = _index(key)
        return replace(self, where=self.where[key], ids=self.ids[key])

    def each(self, fs: Sequence[Step | None]) -> Views:
        """Return the same samples with one more row-wise step a view, done when rows are read."""
        steps = tuple(done if f is None else (*done, f) for done, f in zip(self.steps, fs, strict=True))
        return replace(self, steps=steps)

    def only(self, views: Sequence[int]) -> Views:
        """Return all samples with some of the views."""
        pick = list(views)
        return replace(
            self,
            sources=tuple(self.sources[v] for v in pick),
            where=self.where[:, pick],
            names=tuple(self.names[v] for v in pick),
            columns=tuple(self.columns[v] for v in pick),
            steps=tuple(self.steps[v] for v in pick),
            cols=None if self.cols is None else self.cols[:, pick],
        )

    def load(self) -> Views:
        """Return the same data in memory, with the pending steps done."""
        sources = tuple(self.data(v) for v in range(self.n_views))
        where = np.where(self.seen, np.cumsum(self.seen, axis=0) - 1, -1)
        cols = self.cols
        if cols is not None:
            cols = np.where(cols >= 0, np.cumsum(cols >= 0, axis=0) - 1, -1)
        return replace(self, sources=sources, where=where, cols=cols, steps=((),) * self.n_views)

    # --- between the samples of a view and all samples

    def gather(self, v: int, H: Array) -> Array:
        """Return the rows of `H` (one a sample) that belong to the samples of view `v`."""
        return take(H, self.observed(v))

    def scatter(self, v: int, A: Array, B: Array | None = None) -> Array:
        """Put the rows `A` of view `v` among all samples; the others get the rows of `B`, in order, or 0."""
        if sparse.issparse(A):
            counts = np.zeros(len(self) + 1, dtype=A.indptr.dtype)
            counts[1 + self.observed(v)] = np.diff(A.indptr)
            indptr = np.cumsum(counts, dtype=counts.dtype)  # 64-bit indices would cost a third more memory
            return sparse.csr_array((A.data, A.indices, indptr), shape=(len(self), A.shape[1]))
        xp = namespace(A)
        order = np.empty(len(self), dtype=np.int64)
        seen = self.seen[:, v]
        order[seen] = np.arange(seen.sum())
        order[~seen] = np.arange(seen.sum(), len(self))
        if B is None:
            B = xp.zeros((int((~seen).sum()), *A.shape[1:]), dtype=A.dtype, **_device(A))
        return take(xp.concat([A, B]), order)

    def average(self, As: Sequence[Array], weights: Sequence[float] | None = None) -> Array:
        """Return each sample's weighted mean of its rows over the views that have seen it."""
        weights = [1.0] * self.n_views if weights is None else weights
        total = reduce(add_arrays, (self.scatter(v, A) * float(w) for v, (w, A) in enumerate(zip(weights, As))))
        mass = self.seen.astype(np.float64) @ np.asarray(weights, dtype=np.float64)
        share = 1 / np.where(mass > 0, mass, 1)
        if sparse.issparse(total):
            total.data *= np.repeat(share.astype(total.dtype), np.diff(total.indptr))
            return total
        xp = namespace(As[0])
        scale = xp.asarray(share, dtype=As[0].dtype, **_device(As[0]))
        return total * xp.reshape(scale, (-1,) + (1,) * (As[0].ndim - 1))

    # --- the two passes over the data

    def blocks(self) -> Iterator[tuple[slice, Views]]:
        """Yield the samples in blocks, with the slice that each covers."""
        for start in range(0, max(len(self), 1), self.chunk):
            part = slice(start, min(start + self.chunk, len(self)))
            yield part, self.rows(part)

    def map(self, f: Callable[..., Any], *per_sample: Array, **shared: Any) -> Any:
        """Compute rows from every block: ``f(block, *rows_of_per_sample, **shared)``, laid under each other."""
        return stack(
            (f(block, *(rows_of(a, part) for a in per_sample), **shared) for part, block in self.blocks()), len(self)
        )

    def reduce(self, f: Callable[..., Any], *per_sample: Array, **shared: Any) -> Any:
        """Sum small statistics of every block, in block order and in float64."""
        total = None
        for part, block in self.blocks():
            statistics = f(block, *(rows_of(a, part) for a in per_sample), **shared)
            total = add(total, statistics)
        return total

    # --- for people

    def summary(self) -> str:
        """Return what a person wants to know first: samples, views, who misses what, the patterns."""
        from conspectus.views.summary import describe

        return describe(self)

    def inspect(self) -> Any:
        """Return a frame that says of each view what is missing, what is odd, and how it would be prepared."""
        # The look at the data stands above preparation, which it asks; this is only a door to it.
        return import_module("conspectus.inspection").inspect(self)

    def like(
        self,
        names: Sequence[str],
        columns: Sequence[tuple[str, ...] | None],
        widths: Sequence[int],
        training: Bool | None = None,
    ) -> Views:
        """Return these samples with the views of a fitted model: absent ones added, columns matched by name."""
        from conspectus.views.alike import match

        return match(self, tuple(names), tuple(columns), tuple(widths), training)


def _index(key: Any) -> Any:
    """An index that keeps the samples' axis."""
    if isinstance(key, (slice, np.ndarray)) and not (isinstance(key, np.ndarray) and key.ndim == 0):
        return key
    return np.atleast_1d(np.asarray(key)) if np.size(key) else np.zeros(0, dtype=np.int64)


def _device(A: Array) -> dict[str, Any]:
    """Where new arrays beside `A` belong."""
    return {} if isinstance(A, np.ndarray) else {"device": A.device}
