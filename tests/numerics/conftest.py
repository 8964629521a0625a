"""Every installed array library that code on the array API standard is run with."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import pytest

LIBRARIES = ["numpy", "array_api_strict", "torch"]


@pytest.fixture(params=LIBRARIES)
def library(request):
    """A module with ``asarray``."""
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return import_module(request.param)
