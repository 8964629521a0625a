"""The reference outputs that closed forms are held to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


def read(name):
    path = Path(__file__).parents[1] / "reference" / f"{name}.npz"
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


@pytest.fixture(scope="session")
def golden_anchors():
    """Inputs and outputs of the anchor methods' released codes."""
    return read("golden_anchors")


@pytest.fixture(scope="session")
def golden_default():
    """The default method step by step, computed with dense decompositions."""
    return read("golden_default")
