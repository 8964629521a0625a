"""A data set with known classes: what the loaders and generators return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from conspectus._typing import Array, Bool, Float, Int
from conspectus.errors import InputError

if TYPE_CHECKING:
    from conspectus.views import Views


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """The views of a data set, its classes, and where it comes from.

    Clustering takes `views` and never the classes; those are for scoring.

    Parameters
    ----------
    name : str
        What it is called.
    X : dict of str to array of shape (n, d)
        The views by name. A row of NaN is a sample that the view has not seen. Kernels are of shape (n, n).
    y : array of int, shape (n,), optional
        The class of each sample.
    mask : array of bool, shape (n, V), optional
        True where the view has seen the sample, beside what the rows of NaN say.
    kind : {"dense", "counts", "image", "kernel"}
        What the numbers are.
    k : int, optional
        Number of classes.
    labels : tuple of str, optional
        Names of the classes 0, 1, ...
    source, licence : str
        Where the data come from, and under which terms.
    """

    name: str
    X: dict[str, Array]
    y: Int | None = None
    mask: Bool | None = None
    kind: str = "dense"
    k: int | None = None
    labels: tuple[str, ...] | None = None
    source: str = ""
    licence: str = ""

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(next(iter(self.X.values())))

    @property
    def square(self) -> bool:
        """Whether the views are kernels or distances, with samples on both axes."""
        return self.kind == "kernel"

    @property
    def presence(self) -> Bool:
        """Which view (column) has seen which sample (row): the mask and the rows of NaN together."""
        seen = np.column_stack([_seen(x) for x in self.X.values()])
        return seen if self.mask is None else seen & self.mask

    @property
    def views(self) -> Views:
        """The data as every method takes them."""
        from conspectus.views import as_views

        return as_views(self.X, mask=self.mask, square=self.square)

    def subset(
        self, views: Sequence[str | int] | None = None, rows: ArrayLike | None = None, *, name: str | None = None
    ) -> Dataset:
        """A part of the data set, without the samples that none of its views has seen.

        Parameters
        ----------
        views : sequence of str or int, optional
            The views to keep, by name or by position.
        rows : array of int or bool, optional
            The samples to keep.
        name : str, optional
            What to call the part.

        Returns
        -------
        Dataset
        """
        chosen = [self._position(view) for view in (self.X if views is None else views)]
        names = list(self.X)
        part = replace(
            self,
            name=self.name if name is None else name,
            X={names[v]: self.X[names[v]] for v in chosen},
            mask=None if self.mask is None else self.mask[:, chosen],
        )
        seen: Bool = np.any(part.presence, axis=1)
        kept = np.arange(self.n) if rows is None else np.arange(self.n)[np.asarray(rows)]
        return part if rows is None and seen.all() else part._rows(kept[seen[kept]])

    def _rows(self, rows: Int) -> Dataset:
        y = None if self.y is None else self.y[rows]
        return replace(
            self,
            X={name: x[np.ix_(rows, rows)] if self.square else x[rows] for name, x in self.X.items()},
            y=y,
            mask=None if self.mask is None else self.mask[rows],
            k=self.k if y is None else len(np.unique(y)),
        )

    def _position(self, view: str | int) -> int:
        names = list(self.X)
        if isinstance(view, str) and view in names:
            return names.index(view)
        if isinstance(view, int) and -len(names) <= view < len(names):
            return view % len(names)
        raise InputError(f"{self.name} has no view {view!r}: its views are {', '.join(names)}")

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {x.shape[1]}" for name, x in self.X.items())
        classes = f", {self.k} classes" if self.k else ""
        return f"<Dataset {self.name}: {self.n} samples, {len(self.X)} views ({shapes}){classes}>"


def _seen(x: Array) -> Bool:
    """Rows that are not all NaN; only those that begin with NaN need a look at all of their columns."""
    values: Float = np.asarray(x)
    absent: Bool = np.isnan(values[:, 0])
    absent[absent] = np.isnan(values[absent]).all(axis=1)
    return ~absent
