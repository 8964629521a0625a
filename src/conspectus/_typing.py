"""Names for the types that the package passes around."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = Any
"""An array of any library that speaks the array API standard (NumPy, Torch, CuPy, ...)."""
Float: TypeAlias = NDArray[np.floating[Any]]
Int: TypeAlias = NDArray[np.int64]
Bool: TypeAlias = NDArray[np.bool_]
