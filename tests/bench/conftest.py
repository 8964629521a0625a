"""A small data set of one's own, as a file."""

from __future__ import annotations

import numpy as np
import pytest

from conspectus.bench.sources import own


@pytest.fixture
def blobs(tmp_path):
    """Three clusters of 20 samples in two views."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 20)
    X = [5.0 * rng.normal(size=(3, d))[y] + rng.normal(size=(60, d)) for d in (4, 6)]
    path = tmp_path / "blobs.npz"
    np.savez(path, X0=X[0], X1=X[1], y=y)
    return own(path)
