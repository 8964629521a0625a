"""The terms of the generalisation bound of EE-IMVC (sec. 4 of the paper): reported, not guaranteed."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import NamedTuple

from conspectus._typing import Float, Int
from conspectus.numerics.distances import nearest
from conspectus.numerics.rows import class_means


class BoundTerms(NamedTuple):
    """The four terms of eq. (13), whose sum bounds the expected reconstruction error of new samples.

    They are reported for comparison and guarantee little. At the sample sizes of the paper the sum is 10 to 70 where
    the error itself is below 1. `complexity` holds the value for complete data, G = m^2 sqrt(n); with unseen views G is
    larger by an unknown amount. Eq. (16), by which the paper ties the error to the objective, does not hold as printed:
    tr(TT') <= 2k is false for views that correlate (the constant is 2km), and with H = polar(T) the trace that stands
    for the error of k-means is 0.

    Attributes
    ----------
    reconstruction_error : float
        (1/n) sum_i min_c |t(x_i) - mu_c|^2 of the training samples, t(x) = sum_p beta_p W_p'h_p(x), imputed rows
        included, and mu_c the means of t over the clusters.
    complexity : float
        sqrt(2 pi m) G / n, G <= m^2 sqrt(n) where every view has seen every sample.
    dimension : float
        sqrt(2 pi) k (k + sqrt(2)) / sqrt(n).
    confidence : float
        4 sqrt(log(1 / delta) / (2 n)), for delta = 0.05.
    """

    reconstruction_error: float
    complexity: float
    dimension: float
    confidence: float


def reconstruction_error(T: Float, labels: Int, k: int) -> float:
    """Return the mean squared distance of the rows of T to the nearest of their class means."""
    return float(nearest(T, class_means(T, labels, k))[1].mean())


def bound_terms(error: float, n: int, m: int, k: int, delta: float = 0.05) -> BoundTerms:
    """Put the terms of eq. (13) beside the error."""
    complexity = sqrt(2 * pi * m) * m**2 / sqrt(n)
    return BoundTerms(error, complexity, sqrt(2 * pi) * k * (k + sqrt(2)) / sqrt(n), 4 * sqrt(log(1 / delta) / (2 * n)))
