"""The papers' protocols for removing views from complete data, to learn what missing views cost.

Every protocol is a pure function from the number of samples ``n``, the number of views ``V``, a ratio and a seed to a
boolean presence mask (n, V) in which every sample is in at least one view. The papers mean different things by "30 %
missing": the share of samples that are incomplete and the share of entries (sample, view) that are absent are two
numbers, and `shares` measures both. Each docstring says what they are.

The ratio is the share that is incomplete, but for two protocols: `random_subsets` takes the share of samples that stay
complete (SOME-AS's convention), `per_view` the share of absent entries.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from conspectus._typing import Bool, Float, Int
from conspectus.errors import InputError

if TYPE_CHECKING:
    from conspectus.views import Views

FUZZ = 1e-9  # 10 * (1 - .9) is .99999... in floating point and means 1


class Shares(NamedTuple):
    """How incomplete data are, in the two ways in which papers count it."""

    incomplete_samples: float
    missing_entries: float


def shares(mask: ArrayLike) -> Shares:
    """Share of samples that lack at least one view, and share of entries (sample, view) that are absent.

    Parameters
    ----------
    mask : array of bool, shape (n, V)
        True where the view has seen the sample.

    Returns
    -------
    Shares
        The named tuple ``(incomplete_samples, missing_entries)``.
    """
    present = _presence(mask)
    return Shares(float((~present.all(axis=1)).mean()), float((~present).mean()))


def remove(X: Any, mask: ArrayLike) -> Views:
    """The same data without the entries (sample, view) where the mask is False.

    What was missing before stays missing. The data are not copied: only the table of who is where changes.

    Parameters
    ----------
    X : whatever `conspectus.as_views` takes
        The views; kernels and distances as `Views`.
    mask : array of bool, shape (n, V)
        True where the view keeps the sample, samples in the order of the views' ids.

    Returns
    -------
    Views
    """
    from conspectus.views import as_views

    views, kept = as_views(X), _presence(mask)
    if kept.shape != views.where.shape:
        raise InputError(f"the mask is of shape {kept.shape}, and the data have (samples, views) {views.where.shape}")
    cols = None if views.cols is None else np.where(kept, views.cols, -1)
    return as_views(replace(views, where=np.where(kept, views.where, -1), cols=cols))


def paired(n: int, V: int, ratio: float, seed: int) -> Bool:
    """Remove the same number of samples from every view, one view a sample (APMC's partial data ratio, PDR).

    A random ``n (1 - ratio)`` samples, rounded down, keep all views. The others are dealt out evenly, the remainder to
    the first groups: with two views the first half (rounded up) is in the first view only, the rest in the second
    only. With more views every group lacks one view, a different one.

    Incomplete samples: ``ratio``. Missing entries: ``ratio / V``, the same number in every view, give or take one.

    Parameters
    ----------
    n, V : int
        Number of samples and of views.
    ratio : float in [0, 1]
        Share of samples that lack a view.
    seed : int
        Seed of the draw.

    Returns
    -------
    array of bool, shape (n, V)
    """
    mask = _everything(n, V, ratio)
    incomplete = np.random.default_rng(seed).permutation(n)[floor(n * (1 - ratio) + FUZZ) :]
    for group, members in enumerate(np.array_split(incomplete, V)):
        mask[members, V - 1 - group] = False
    return mask


def partial_examples(
    n: int, V: int, ratio: float, seed: int | None = None, *, skew: float | None = None, fold: ArrayLike | None = None
) -> Bool:
    """Leave a share of the samples in one view only (GPMVC's partial example ratio, PER).

    The first ``n (1 - ratio)`` samples of a random order, rounded down, keep all views. Of the r others, with two
    views, the next ``skew * r``, rounded up, are in the first view only and the rest in the second only. With V views
    they are shared equally: r / V, rounded up, for each, and the last ones take what is left.

    Incomplete samples: ``ratio``. Missing entries: ``ratio (V - 1) / V``, for an incomplete sample keeps one view only.

    Parameters
    ----------
    n, V : int
        Number of samples and of views.
    ratio : float in [0, 1]
        Share of samples that are in one view only.
    seed : int
        Seed of the order; needed if no fold is given.
    skew : float in [0, 1], default 0.5
        Share of the partial samples that are in the first view; for two views.
    fold : array of int, shape (n,), optional
        The order of the samples itself, such as a row of `conspectus.datasets.folds`.

    Returns
    -------
    array of bool, shape (n, V)
    """
    mask = _everything(n, V, ratio)
    order = _order(n, seed, fold)
    partial = order[floor(n * (1 - ratio) + 0.01) :]
    mask[partial] = False
    mask[partial, _dealt(len(partial), V, skew)] = True
    return mask


def absent_views(
    n: int,
    V: int,
    ratio: float,
    seed: int,
    y: ArrayLike | None = None,
    *,
    rule: Literal["released", "printed"] = "released",
) -> Bool:
    """Take views away from a share of the samples (EE-IMVC's missing ratio).

    The paper's text and the masks that its authors released follow different rules.

    ``rule="released"``: in every class ``ratio * n_c`` samples, rounded to the nearest (halves up), lose V // 2 views
    each, drawn at random. It uses the classes; without ``y`` all samples are one class. Incomplete samples: ``ratio``,
    in every class. Missing entries: ``ratio (V // 2) / V``, that is ``ratio / 2`` for even V.

    ``rule="printed"``: ``ratio * n`` samples are drawn; each gets one random threshold, and a view stays if a random
    number of its own reaches the threshold (drawn again if none does). The classes play no part. Incomplete samples:
    fewer than ``ratio``, for a drawn sample can keep everything (61 % of the drawn are incomplete with two views, 74 %
    with three). Missing entries: 31 % of ``ratio`` with two views, 40 % with three, towards 50 % with many.

    Parameters
    ----------
    n, V : int
        Number of samples and of views.
    ratio : float in [0, 1]
        Share of samples from which views are taken.
    seed : int
        Seed of the draw.
    y : array of shape (n,), optional
        The classes, for ``rule="released"``.
    rule : {"released", "printed"}
        Which of the two.

    Returns
    -------
    array of bool, shape (n, V)
    """
    mask = _everything(n, V, ratio)
    rng = np.random.default_rng(seed)
    if rule == "released":
        chosen = np.concatenate([members[: _nearest(ratio * len(members))] for members in _classes(y, n, rng)])
        lost = rng.random((len(chosen), V)).argsort(axis=1)[:, : V // 2]
        mask[chosen[:, None], lost] = False
    elif rule == "printed":
        chosen = rng.permutation(n)[: _nearest(ratio * n)]
        mask[chosen] = _above_a_threshold(len(chosen), V, rng)
    else:
        raise InputError(f"rule={rule!r} is not one of released, printed")
    return mask


def random_subsets(n: int, V: int, ratio: float, seed: int) -> Bool:
    """Keep a share of the samples complete and leave the others a random choice of views (SOME-AS).

    The ratio is the share of COMPLETE samples. Each of the others keeps a non-empty proper subset of the views, all
    subsets equally likely.

    Incomplete samples: ``1 - ratio``. Missing entries: ``(1 - ratio) / 2`` on average, for an incomplete sample keeps
    half of its views on average.

    Parameters
    ----------
    n, V : int
        Number of samples and of views.
    ratio : float in [0, 1]
        Share of samples that keep all views.
    seed : int
        Seed of the draw. The documentation's tables call the mask of seed 1000 + j "mask j".

    Returns
    -------
    array of bool, shape (n, V)
    """
    mask = _everything(n, V, 1 - ratio)
    rng = np.random.default_rng(seed)
    incomplete = rng.permutation(n)[: round((1 - ratio) * n)]
    mask[incomplete] = _proper_subsets(len(incomplete), V, rng)
    return mask


def per_view(n: int, V: int, ratio: float, seed: int) -> Bool:
    """Remove the same share of every view, each view on its own.

    ``ratio * n`` samples, rounded down, are absent from every view, independently of the other views as far as no
    sample is lost altogether: a sample that would lose its last view takes over a view from one that has several.

    Incomplete samples: up to ``1 - (1 - ratio)^V`` on average, so 51 % for a ratio of 30 % and two views, more with
    more views. Missing entries: ``ratio``, the same number in every view.

    Parameters
    ----------
    n, V : int
        Number of samples and of views.
    ratio : float in [0, (V - 1) / V]
        Share of samples that are absent from each view.
    seed : int
        Seed of the draw.

    Returns
    -------
    array of bool, shape (n, V)
    """
    mask = _everything(n, V, ratio)
    rng = np.random.default_rng(seed)
    absent = floor(n * ratio + FUZZ)
    if V * absent > (V - 1) * n:
        raise InputError(f"ratio={ratio} leaves samples without any view: at most {V - 1}/{V} of each view can go")
    for view in range(V):
        mask[rng.permutation(n)[:absent], view] = False
    return _rescued(mask, rng)


def blocks(n: int, V: int, ratio: float, seed: int, *, cohorts: int | None = None) -> Bool:
    """Whole cohorts lack a view, as when a hospital has not taken a measurement from any of its patients.

    ``ratio * n`` random samples, rounded to the nearest, are cut into cohorts of equal size (give or take one), and
    no sample of a cohort has the cohort's absent view. The cohorts' views differ as long as there are views, and with
    the default number of cohorts one view is the one that everybody has. The mask then has few patterns.

    Incomplete samples: ``ratio``. Missing entries: ``ratio / V``, in the cohorts' views only.

    Parameters
    ----------
    n, V : int
        Number of samples and of views.
    ratio : float in [0, 1]
        Share of samples that are in a cohort without some view.
    seed : int
        Seed of the draw.
    cohorts : int, default V - 1
        Number of cohorts that lack a view; besides them there is the complete one.

    Returns
    -------
    array of bool, shape (n, V)
    """
    mask = _everything(n, V, ratio)
    rng = np.random.default_rng(seed)
    number = max(1, V - 1) if cohorts is None else cohorts
    if number < 1:
        raise InputError(f"cohorts={cohorts}: at least 1 cohort is needed")
    views = rng.permutation(V)
    for cohort, members in enumerate(np.array_split(rng.permutation(n)[: _nearest(ratio * n)], number)):
        mask[members, views[cohort % V]] = False
    return mask


def not_at_random(n: int, V: int, ratio: float, seed: int, y: ArrayLike, *, strength: float = 0.9) -> Bool:
    """A class mostly lacks a view, so that being absent says something about the class.

    The classes are gone through in random order, each with a view of its own (the views take turns): ``strength`` of
    its samples lose that view, until ``ratio * n`` samples, rounded to the nearest, have lost one. The classes that
    come later stay complete. If the ratio is larger than the strength, all classes lose the ratio.

    Incomplete samples: ``ratio``, but about ``strength`` in some classes and none in others. Missing entries:
    ``ratio / V``.

    Parameters
    ----------
    n, V : int
        Number of samples and of views.
    ratio : float in [0, 1]
        Share of samples that lack a view.
    seed : int
        Seed of the draw.
    y : array of shape (n,)
        The classes.
    strength : float in (0, 1]
        Share of an affected class that lacks the view.

    Returns
    -------
    array of bool, shape (n, V)
    """
    mask = _everything(n, V, ratio)
    if not 0 < strength <= 1:
        raise InputError(f"strength={strength} is not in (0, 1]")
    rng = np.random.default_rng(seed)
    classes, views = _classes(y, n, rng), rng.permutation(V)
    left = _nearest(ratio * n)
    for turn, which in enumerate(rng.permutation(len(classes))):
        members = classes[which]
        lost = members[: min(left, ceil(max(strength, ratio) * len(members) - FUZZ))]
        mask[lost, views[turn % V]] = False
        left -= len(lost)
    return mask


def _everything(n: int, V: int, incomplete: float) -> Bool:
    """The mask of complete data, once the arguments are known to be sound."""
    if n < 1 or V < 1:
        raise InputError(f"n={n}, V={V}: at least 1 sample and 1 view are needed")
    if not 0 <= incomplete <= 1:
        raise InputError(f"the ratio must lie in [0, 1]: the share of incomplete samples cannot be {incomplete:g}")
    if V == 1 and incomplete > 0:
        raise InputError("nothing can be removed from a single view: every sample must stay in at least one")
    return np.ones((n, V), dtype=np.bool_)


def _presence(mask: ArrayLike) -> Bool:
    present = np.asarray(mask)
    if present.ndim != 2 or present.dtype != np.bool_ or not present.size:
        raise InputError(
            f"a mask is a boolean array (n samples, V views), not {present.dtype} of shape {present.shape}"
        )
    return present


def _nearest(x: float) -> int:
    """Halves up, as the authors' code rounds (Python rounds them to even)."""
    return floor(x + 0.5)


def _order(n: int, seed: int | None, fold: ArrayLike | None) -> Int:
    if fold is None:
        if seed is None:
            raise InputError("give a seed, or a fold (the order of the samples)")
        return np.random.default_rng(seed).permutation(n)
    order = np.asarray(fold)
    if order.shape != (n,) or not np.array_equal(np.sort(order), np.arange(n)):
        raise InputError(f"a fold is a permutation of the {n} samples, counted from 0")
    return order


def _dealt(r: int, V: int, skew: float | None) -> Int:
    """The one view that each of r partial samples keeps."""
    if skew is not None and V != 2:
        raise InputError(f"skew={skew} says how two views share the samples, and there are {V}: leave it out")
    if skew is not None and not 0 <= skew <= 1:
        raise InputError(f"skew={skew} is not in [0, 1]")
    share = ceil(skew * r - FUZZ) if skew is not None else ceil(r / V)
    ends = np.minimum(share * np.arange(1, V + 1), r)
    ends[-1] = r
    return np.repeat(np.arange(V), np.diff(ends, prepend=0))


def _classes(y: ArrayLike | None, n: int, rng: np.random.Generator) -> list[Int]:
    """The samples of each class, in random order."""
    labels = np.zeros(n, dtype=np.int64) if y is None else np.asarray(y)
    if labels.shape != (n,):
        raise InputError(f"y must hold the class of each of the {n} samples; its shape is {labels.shape}")
    codes = np.unique(labels, return_inverse=True)[1]
    return [rng.permutation(np.flatnonzero(codes == c)) for c in range(codes.max() + 1)]


def _above_a_threshold(rows: int, V: int, rng: np.random.Generator) -> Bool:
    """Views whose number reaches the row's threshold, given that at least one does.

    Drawing again until one does can take arbitrarily long. The same law in one pass: the first view that reaches the
    threshold t is j with probability t^j (1 - t) / (1 - t^V), and the views after it are free.
    """
    t = rng.random((rows, 1))
    with np.errstate(divide="ignore"):  # t = 0: the first view reaches it
        cumulative = np.expm1(np.arange(1, V + 1) * np.log(t)) / np.expm1(V * np.log(t))
    first = (rng.random((rows, 1)) >= cumulative[:, :-1]).sum(axis=1, keepdims=True)
    free: Bool = rng.random((rows, V)) >= t
    return (free & (np.arange(V) > first)) | (np.arange(V) == first)


def _proper_subsets(rows: int, V: int, rng: np.random.Generator) -> Bool:
    """One non-empty proper subset of the views a row: fair coins, tossed again for a row that is all or nothing.

    The coins come in batches, and in the order in which row after row would toss them.
    """
    kept = np.empty((0, V), dtype=np.bool_)
    while len(kept) < rows:
        coins = rng.random((rows - len(kept), V)) < 0.5
        some = coins.any(axis=1) & ~coins.all(axis=1)
        kept = np.concatenate([kept, coins[some]])
    return kept


def _rescued(mask: Bool, rng: np.random.Generator) -> Bool:
    """The mask with every sample in a view, each view keeping its number of samples."""
    lost = np.flatnonzero(~mask.any(axis=1))
    chance: Float = np.where(mask, rng.random(mask.shape), -1.0)
    spare = mask.copy()
    spare[np.arange(len(mask)), chance.argmax(axis=1)] = False  # what a sample can give and still be in a view
    entries = np.argwhere(spare)
    givers, views = entries[rng.choice(len(entries), size=len(lost), replace=False)].T
    mask[givers, views] = False
    mask[lost, views] = True
    return mask
