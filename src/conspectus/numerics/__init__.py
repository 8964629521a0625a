"""Closed forms: pure functions of arrays that know nothing of views."""

from __future__ import annotations

from .anchors import anchor_codes, codes_from_distances
from .backend import as_float, has_numba, like, namespace, to_numpy
from .directions import leading_directions
from .distances import chi2_distances, mean_squared_distance, nearest, squared_distances
from .graphs import knn_graph
from .kernels import (
    centre_kernel,
    cosine_kernel,
    gaussian_kernel,
    linear_kernel,
    normalise_kernel,
    polynomial_kernel,
)
from .kmeans import kmeans
from .neighbours import nearest_anchors
from .nonnegative import multiply, nonnegative_rows, nonnegative_with_sum
from .operators import ChainedGraph, RowStochastic, SparseGraph
from .orthogonal import polar
from .rows import class_means, class_sums, unit_rows
from .simplex import project_simplex, simplex_qp
from .simplex_qp import simplex_qp_rows
from .spectral import directions_from_gram, right_triplets, stochastic_svd, top_eigenvectors

__all__ = [
    "ChainedGraph",
    "RowStochastic",
    "SparseGraph",
    "anchor_codes",
    "as_float",
    "centre_kernel",
    "chi2_distances",
    "class_means",
    "class_sums",
    "codes_from_distances",
    "cosine_kernel",
    "directions_from_gram",
    "gaussian_kernel",
    "has_numba",
    "kmeans",
    "knn_graph",
    "leading_directions",
    "like",
    "linear_kernel",
    "mean_squared_distance",
    "multiply",
    "namespace",
    "nearest",
    "nearest_anchors",
    "nonnegative_rows",
    "nonnegative_with_sum",
    "normalise_kernel",
    "polar",
    "polynomial_kernel",
    "project_simplex",
    "right_triplets",
    "simplex_qp",
    "simplex_qp_rows",
    "squared_distances",
    "stochastic_svd",
    "to_numpy",
    "top_eigenvectors",
    "unit_rows",
]
