"""Settings of every test: threads, array API, hypothesis profiles. They come before NumPy and SciPy are imported."""

import os
from importlib import import_module
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
if os.environ.setdefault("SCIPY_ARRAY_API", "1") == "0":  # as users run it: `make test-oldest`
    del os.environ["SCIPY_ARRAY_API"]

settings.register_profile(
    "fast", max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "slow", max_examples=10_000, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.fixture(params=["numpy", "array_api_strict", "torch", "cupy"])
def library(request):
    """Every installed array library that code on the array API standard is run with: a module with ``asarray``."""
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return import_module(request.param)
