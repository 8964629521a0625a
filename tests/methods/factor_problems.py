"""What the tests of the nonnegative factor methods share: small problems, and the golden file's as objects."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import sparse

from conspectus import as_views, missing
from conspectus.methods.factors.one_view import OneView

from .golden import golden


def parts(n=120, k=3, dims=(8, 12, 9), seed=0, share=0.4):
    """Nonnegative views of k classes, each a random mixture of its own columns; presence; classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = [rng.random((k, d))[y] * 3 + rng.random((n, d)) * 0.5 for d in dims]
    return X, missing.random_subsets(n, len(dims), 1 - share, seed=seed), y


@cache
def views_of(kind="X", mask="M"):
    """The golden file's views: "X" nonnegative, "S" signed, or "B", "SB" with "M2" for two views."""
    stored = golden("factors")
    n_views = stored[mask].shape[1]
    return as_views([stored[f"{kind}{v}"] for v in range(n_views)], stored[mask].astype(bool))


def scaled(v, lam=0.0, graph="binary"):
    """View v of the golden file, at the scale of its outputs, with the stored graph."""
    stored = golden("factors")
    W = sparse.csr_array(stored[f"graph_{graph}_v{v}"])
    return OneView.of(stored[f"Xs{v}"], W, lam)
