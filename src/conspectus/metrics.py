"""How well a clustering agrees with known classes.

Labels may be of any hashable kind (numbers, words, tuples), and there may be more or fewer clusters than classes.
Every score but the adjusted Rand index lies in [0, 1], and 1 is perfect agreement. None depends on how the clusters
are named.

The papers do not mean the same by two names. NMI is normalised by the arithmetic mean of the two entropies here
(scikit-learn's convention), by the geometric mean in GPMVC's released code, by the larger entropy in EE-IMVC (its
eq. 19). "Rand index" in EE-IMVC's tables is the adjusted one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from conspectus._typing import Int
from conspectus.errors import InputError

Labels: TypeAlias = Sequence[Hashable] | Iterable[Hashable]
Average: TypeAlias = Literal["arithmetic", "geometric", "max", "min"]


def clustering_accuracy(y: Labels, labels: Labels) -> float:
    """Share of samples in the right class when every cluster is given the class that suits all of them best.

    Each class names at most one cluster (the Hungarian method finds the best naming), so with more clusters than
    classes the samples of the surplus clusters count as wrong.

    Parameters
    ----------
    y : sequence of n hashables
        The known classes.
    labels : sequence of n hashables
        The clusters found, in the same order.

    Returns
    -------
    float
    """
    from scipy.optimize import linear_sum_assignment

    table = _contingency(y, labels)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / table.sum())


def nmi(y: Labels, labels: Labels, average: Average = "arithmetic") -> float:
    """Mutual information of classes and clusters, divided by a mean of their two entropies.

    Parameters
    ----------
    y, labels : sequences of n hashables
        The known classes and the clusters found.
    average : {"arithmetic", "geometric", "max", "min"}
        The mean: "arithmetic" is scikit-learn's default, "geometric" is what GPMVC's released code computes, "max" is
        EE-IMVC's definition.

    Returns
    -------
    float
    """
    from sklearn.metrics import normalized_mutual_info_score

    if average not in get_args(Average):
        raise InputError(f"average={average!r} is not one of {', '.join(get_args(Average))}")
    return float(normalized_mutual_info_score(*_codes(y, labels), average_method=average))


def purity(y: Labels, labels: Labels) -> float:
    """Share of samples that belong to the most frequent class of their cluster.

    Several clusters may have the same class: purity never falls when a cluster is split, and it is 1 when every sample
    is a cluster of its own. Compare it only between clusterings with the same number of clusters.

    Parameters
    ----------
    y, labels : sequences of n hashables
        The known classes and the clusters found.

    Returns
    -------
    float
    """
    table = _contingency(y, labels)
    return float(table.max(axis=0).sum() / table.sum())


def pairwise_f1(y: Labels, labels: Labels) -> float:
    """F1 of the question "are these two samples together?", asked of every pair of samples.

    The harmonic mean of precision (pairs in one cluster that are of one class) and recall (pairs of one class that are
    in one cluster). Where no two samples are together, neither by class nor by cluster, it is 1.

    Parameters
    ----------
    y, labels : sequences of n hashables
        The known classes and the clusters found.

    Returns
    -------
    float
    """
    from sklearn.metrics.cluster import pair_confusion_matrix

    (_, false_together), (false_apart, together) = pair_confusion_matrix(*_codes(y, labels)).tolist()
    pairs = 2 * together + false_together + false_apart
    return 2 * together / pairs if pairs else 1.0


def rand_index(y: Labels, labels: Labels) -> float:
    """Share of all pairs of samples on which classes and clusters agree: together in both, or apart in both.

    With many clusters most pairs are apart in any clustering, so that even a random one scores high; see
    `adjusted_rand_index`.

    Parameters
    ----------
    y, labels : sequences of n hashables
        The known classes and the clusters found.

    Returns
    -------
    float
    """
    from sklearn.metrics import rand_score

    return float(rand_score(*_codes(y, labels)))


def adjusted_rand_index(y: Labels, labels: Labels) -> float:
    """Rand index, shifted and scaled so that random labels score 0 on average; it can be negative.

    Parameters
    ----------
    y, labels : sequences of n hashables
        The known classes and the clusters found.

    Returns
    -------
    float
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(*_codes(y, labels)))


def evaluate(y: Labels, labels: Labels) -> dict[str, float]:
    """All scores of a clustering at once.

    Parameters
    ----------
    y, labels : sequences of n hashables
        The known classes and the clusters found.

    Returns
    -------
    dict of str to float
        ``acc``, ``nmi`` (arithmetic mean), ``nmi_geometric``, ``nmi_max``, ``nmi_min``, ``purity``, ``f1`` (pairs),
        ``ari``, ``ri``.

    Examples
    --------
    >>> from conspectus.metrics import evaluate
    >>> evaluate(["cat", "cat", "dog", "dog"], [1, 1, 0, 2])["acc"]
    0.75
    """
    y, labels = _codes(y, labels)
    return {
        "acc": clustering_accuracy(y, labels),
        "nmi": nmi(y, labels),
        "nmi_geometric": nmi(y, labels, average="geometric"),
        "nmi_max": nmi(y, labels, average="max"),
        "nmi_min": nmi(y, labels, average="min"),
        "purity": purity(y, labels),
        "f1": pairwise_f1(y, labels),
        "ari": adjusted_rand_index(y, labels),
        "ri": rand_index(y, labels),
    }


def _contingency(y: Labels, labels: Labels) -> Int:
    """Samples of each class (row) in each cluster (column)."""
    from sklearn.metrics.cluster import contingency_matrix

    return np.asarray(contingency_matrix(*_codes(y, labels)))


def _codes(y: Labels, labels: Labels) -> tuple[Int, Int]:
    """Both labellings as whole numbers, checked against each other."""
    classes, clusters = _numbered(y, "y"), _numbered(labels, "labels")
    if len(classes) != len(clusters):
        raise InputError(f"y has {len(classes)} entries and labels has {len(clusters)}: give both for the same samples")
    if not len(classes):
        raise InputError("y and labels are empty: a score needs at least one sample")
    return classes, clusters


def _numbered(labels: Any, name: str) -> Int:
    """Labels of any hashable kind as 0, 1, 2, ..."""
    if getattr(labels, "ndim", 1) != 1:
        raise InputError(f"{name} has {labels.ndim} dimensions: give one label for each sample, in one dimension")
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "biu":
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    numbers: dict[Hashable, int] = {}
    try:
        codes = [numbers.setdefault(label, len(numbers)) for label in _listed(labels)]
    except TypeError as error:
        raise InputError(f"{name} must be a sequence of labels that can be compared (numbers, text): {error}") from None
    if any(isinstance(label, float) and label != label for label in numbers):
        raise InputError(f"{name} holds NaN: leave out the samples without a label")
    return np.array(codes, dtype=np.int64)


def _listed(labels: Any) -> Iterable[Hashable]:
    """Plain Python values, so that 1 and NumPy's or torch's 1 are the same label."""
    return labels.tolist() if hasattr(labels, "tolist") else labels
