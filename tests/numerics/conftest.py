"""Every installed array library that code on the array API standard is run with."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

LIBRARIES = ["numpy", "array_api_strict", "torch"]


@pytest.fixture(params=LIBRARIES)
def library(request):
    """A module with ``asarray``."""
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return import_module(request.param)


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
