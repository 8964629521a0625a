"""Preparing views before clustering: once for all methods, fitted on the rows that were seen, repeated by predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from conspectus._typing import Array, Float
from conspectus.errors import InputError
from conspectus.layout import Layout
from conspectus.numerics.backend import namespace
from conspectus.numerics.rows import unit_rows
from conspectus.views.door import open_door
from conspectus.views.say import close, some, view_label
from conspectus.views.table import Step, Views

Fit = Callable[[Views, int], tuple[Step | None, str]]
"""Fits a step on view v: returns what is done to rows (None: nothing) and what to say of it."""


# --- what is done to rows


@dataclass(frozen=True)
class Affine:
    """Subtract a number from each column and multiply by another; sparse rows become dense only if they must."""

    shift: Float
    scale: Float

    def __call__(self, X: Array) -> Array:
        if sparse.issparse(X):
            if not self.shift.any():
                return sparse.csr_array(X * self.scale[None, :])
            X = X.toarray()
        xp = namespace(X)
        like = {"dtype": X.dtype, **({} if isinstance(X, np.ndarray) else {"device": X.device})}
        X = X - xp.asarray(self.shift, **like)
        return X if (self.scale == 1).all() else X * xp.asarray(self.scale, **like)


@dataclass(frozen=True)
class Keep:
    """Keep some of the columns; none left: one column of zeros."""

    columns: Any

    def __call__(self, X: Array) -> Array:
        if not len(self.columns):
            return X[:, :1] * 0
        return namespace(X).take(X, self.columns, axis=1) if not sparse.issparse(X) else X[:, self.columns]


@dataclass(frozen=True)
class Entrywise:
    """Apply a function that leaves zero at zero to every entry."""

    name: str

    def __call__(self, X: Array) -> Array:
        if sparse.issparse(X):
            X = sparse.csr_array(X)
            return sparse.csr_array((self(X.data), X.indices, X.indptr), shape=X.shape)
        xp = namespace(X)
        if self.name == "clip":
            return xp.where(X > 0, X, xp.zeros_like(X))
        return getattr(xp, self.name)(X)


@dataclass(frozen=True)
class Chain:
    """One step after the other."""

    steps: tuple[Step, ...]

    def __call__(self, X: Array) -> Array:
        for step in self.steps:
            X = step(X)
        return X


@dataclass(frozen=True)
class Transformed:
    """What a fitted scikit-learn transformer does."""

    transformer: Any

    def __call__(self, X: Array) -> Array:
        made = self.transformer.transform(X)
        return made.to_numpy() if hasattr(made, "to_numpy") else made


# --- how a step is fitted to a view


def _l2(views: Views, v: int) -> tuple[Step | None, str]:
    return unit_rows, "rows scaled to unit length"


def _sum(views: Views, v: int) -> tuple[Step | None, str]:
    facts = views.statistics(v)
    _refuse_negative(views, v, "sum")
    total = float(facts.mean.sum() * facts.count)
    return _scaled(np.full(len(facts.mean), 1 / total if total > 0 else 1.0)), "divided by the sum of its entries"


def _scaled(scale: Float) -> Affine:
    return Affine(np.zeros(len(scale)), scale)


def _inverse(spread: Float) -> Float:
    """One over the spread; 1 where there is none."""
    return 1 / np.where(spread > 0, spread, 1)


def _minmax(views: Views, v: int) -> tuple[Step | None, str]:
    facts = views.statistics(v)
    return Affine(facts.low, _inverse(facts.high - facts.low)), "columns scaled to [0, 1]"


def _clip(views: Views, v: int) -> tuple[Step | None, str]:
    return Entrywise("clip"), "negative entries set to 0"


def _centre(views: Views, v: int) -> tuple[Step | None, str]:
    mean = views.statistics(v).mean
    return Affine(mean, np.ones(len(mean))), "columns centred"


def _standard(views: Views, v: int) -> tuple[Step | None, str]:
    facts = views.statistics(v)
    scale = np.where(facts.constant, 1.0, _inverse(facts.sd))
    return Affine(facts.mean, scale), "columns centred and scaled to unit variance"


def _log1p(views: Views, v: int) -> tuple[Step | None, str]:
    _refuse_negative(views, v, "log1p")
    return Entrywise("log1p"), "log(1 + x)"


def _tfidf(views: Views, v: int) -> tuple[Step | None, str]:
    from sklearn.feature_extraction.text import TfidfTransformer

    _refuse_negative(views, v, "tfidf")
    return Transformed(TfidfTransformer().fit(sparse.csr_matrix(views.data(v)))), "tf-idf, rows of unit length"


def _nonnegative(views: Views, v: int) -> tuple[Step | None, str]:
    if views.statistics(v).low.min() < 0:
        return _minmax(views, v)[0], "has negative entries: columns scaled to [0, 1]"
    if is_text(views, v):
        return unit_rows, "sparse text: rows scaled to unit length"
    return None, "nonnegative: taken as it is"


def _bounded(views: Views, v: int) -> tuple[Step | None, str]:
    if is_text(views, v):
        return unit_rows, "sparse text: rows scaled to unit length"
    return _minmax(views, v)


def _auto(views: Views, v: int) -> tuple[Step | None, str]:
    """Prepare without knowing k: drop constant columns, then treat text as text and the rest as measurements."""
    facts = views.statistics(v)
    keep = np.flatnonzero(~facts.constant)
    first: list[Step] = [Keep(keep)] if len(keep) < len(facts.mean) else []
    said = [f"{len(facts.mean) - len(keep)} constant columns dropped"] if first else []
    if is_text(views, v, keep):
        steps, text = _auto_text(facts.whole, facts.count, facts.nonzero[keep])
    else:
        steps, text = _auto_dense(views, v, first, keep)
    return Chain((*first, *steps)), "; ".join([*said, text])


def is_text(views: Views, v: int, columns: Any = slice(None)) -> bool:
    """Whether a view (or some of its columns) looks like words."""
    facts = views.statistics(v)
    nonzero, low = facts.nonzero[columns], facts.low[columns]
    zeros = 1 - float(nonzero.sum()) / max(facts.count * len(nonzero), 1)
    return looks_like_text(len(nonzero), bool((low >= 0).all()), zeros)


def looks_like_text(n_columns: int, nonnegative: bool, zeros: float) -> bool:
    """Whether a view is one of words: nonnegative, 50 columns or more, at least 90 % zeros."""
    return n_columns >= 50 and nonnegative and zeros >= 0.9


def _auto_text(whole: bool, n: int, documents: Float) -> tuple[list[Step], str]:
    """Square root, then the rarity of the column where the entries are counts, then unit rows."""
    steps: list[Step] = [Entrywise("sqrt")]
    if whole:
        steps.append(_scaled(np.log(1 + n / np.maximum(documents, 1))))
    return [*steps, unit_rows], "sparse text: square root" + (", inverse document frequency" * whole) + ", unit rows"


def _auto_dense(views: Views, v: int, first: list[Step], keep: Any) -> tuple[list[Step], str]:
    """Centre; scale where units are mixed; unit rows where there are enough columns, then centre again."""
    if not len(keep):
        return [], "constant: one column of zeros"
    facts = views.statistics(v)
    sd = facts.sd[keep]
    mixed = bool(sd.std() > sd.mean())
    steps: list[Step] = [Affine(facts.mean[keep], _inverse(sd) if mixed else np.ones(len(keep)))]
    said = "centred, scaled to unit variance (mixed units)" if mixed else "centred"
    if len(keep) >= 10:
        steps.append(unit_rows)
        again = _one(views, v, Chain((*first, *steps))).statistics(0).mean
        steps.append(Affine(again, np.ones(len(keep))))
        said += ", unit rows, centred again"
    return steps, said


def _one(views: Views, v: int, step: Step) -> Views:
    """View v alone, after a step."""
    return views.only([v]).each([step])


STEPS: dict[str, Fit] = {
    "l2": _l2,
    "sum": _sum,
    "minmax": _minmax,
    "clip": _clip,
    "centre": _centre,
    "standard": _standard,
    "log1p": _log1p,
    "tfidf": _tfidf,
    "nonnegative": _nonnegative,
    "bounded": _bounded,
    "auto": _auto,
}


def _refuse_negative(views: Views, v: int, what: str) -> None:
    if views.statistics(v).low.min() < 0:
        raise InputError(
            f"{view_label(v, views.names[v])} has negative entries, which {what!r} cannot take: "
            "use prepare='clip' or prepare='minmax' first"
        )


# --- the transformer


class PrepareViews(TransformerMixin, BaseEstimator):
    """Bring views to comparable scales before they are clustered, without inventing rows that nobody saw.

    Parameters
    ----------
    prepare : str, transformer, list, dict or None
        A step or a chain of steps joined by "+": "l2" (unit rows), "sum" (the view divided by the sum of its entries),
        "minmax" (columns to [0, 1]), "clip" (negative entries to 0), "centre", "standard", "log1p", "tfidf",
        "nonnegative" (as it is where no entry is negative, unit rows for sparse text, else minmax), "bounded" (unit
        rows for sparse text, else minmax), "auto" (what `AnchorConsensus` uses); a scikit-learn transformer, which is
        fitted on each view; a list or a dict of these, one a view; None for nothing.

    Attributes
    ----------
    steps_ : list of callables or None
        What is done to the rows of each view.
    notes_ : dict of str to str
        What was chosen for each view, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from conspectus import PrepareViews
    >>> views = PrepareViews("minmax").fit_transform([np.array([[0.0], [5.0]]), np.array([[1.0], [3.0]])])
    >>> views.data(1).tolist()
    [[0.0], [1.0]]
    """

    def __init__(self, prepare: Any = "auto") -> None:
        self.prepare = prepare

    def fit(self, X: Any, y: Any = None) -> PrepareViews:
        """Fit the steps on the rows that each view has seen."""
        views = open_door(X)
        wanted = per_view(self.prepare, views.names)
        fitted = [fit_step(views, v, want) for v, want in enumerate(wanted)]
        self.layout_ = Layout.of(views)
        self.steps_ = [step for step, _ in fitted]
        self.notes_ = {name: note for name, (_, note) in zip(views.names, fitted)}
        return self

    def transform(self, X: Any) -> Views:
        """Return the samples of `X` with the steps to be done when rows are read."""
        check_is_fitted(self)
        return self.layout_.match(open_door(X)).each(self.steps_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def per_view(prepare: Any, names: Sequence[str]) -> list[Any]:
    """Return what to do with each view."""
    if isinstance(prepare, Mapping):
        unknown = [name for name in prepare if name not in names]
        if unknown:
            raise InputError(
                f"prepare names the view {unknown[0]!r}, which is not there{close(unknown[0], names)}; "
                f"the views are {some(names, 10)}"
            )
        return [prepare.get(name) for name in names]
    if isinstance(prepare, (list, tuple)):
        if len(prepare) != len(names):
            raise InputError(
                f"prepare has {len(prepare)} entries for {len(names)} views: give one a view, or one for all"
            )
        return list(prepare)
    return [prepare] * len(names)


def fit_step(views: Views, v: int, want: Any) -> tuple[Step | None, str]:
    """Fit one view's step, chain or transformer."""
    if want is None:
        return None, "taken as it is"
    if views.square:
        raise InputError(f"prepare={want!r} does not go with kernels or distances: use prepare=None")
    if not views.seen[:, v].any():
        return None, "no rows"
    if not isinstance(want, str):
        transformer = clone(want)
        return Transformed(transformer.fit(views.data(v))), f"{type(want).__name__} of scikit-learn"
    steps, notes = [], []
    for name in want.split("+"):
        step, note = _fit_named(views, v, name)
        notes.append(note)
        if step is not None:
            steps.append(step)
            views = views.each([step if u == v else None for u in range(views.n_views)])
    return (Chain(tuple(steps)) if steps else None), ", ".join(notes)


def _fit_named(views: Views, v: int, name: str) -> tuple[Step | None, str]:
    if name not in STEPS:
        raise InputError(f"prepare={name!r} is not known{close(name, STEPS)}; there are {', '.join(STEPS)}")
    return STEPS[name](views, v)
