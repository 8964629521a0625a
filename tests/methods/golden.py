"""The outputs of the authors' own code, by file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from conspectus import as_views

FOLDER = Path(__file__).parents[1] / "reference"


@cache
def golden(name: str) -> dict[str, Any]:
    """Return all arrays of ``golden_NAME.npz``."""
    with np.load(FOLDER / f"golden_{name}.npz") as stored:
        return {key: stored[key] for key in stored.files}


def anchor_views(pair: tuple[int, ...] = (0, 1, 2)) -> Any:
    """The inputs of the anchor methods, and the samples that the pair of views covers."""
    stored = golden("anchors")
    mask = stored["mask"].astype(bool)[:, pair]
    rows = np.flatnonzero(mask.any(axis=1))
    return as_views([stored[f"X{v}"][rows] for v in pair], mask[rows]), rows
