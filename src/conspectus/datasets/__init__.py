"""Data sets: one that comes with the package, files of a folder of your own, and generators.

The file format and the named entries are described in ``docs/datasets.md``.
"""

from __future__ import annotations

from conspectus.datasets.dataset import Dataset
from conspectus.datasets.files import read
from conspectus.datasets.library import available, folds, load, load_mfeat, masks
from conspectus.datasets.synthetic import make_gaussian_views, make_views

__all__ = [
    "Dataset",
    "available",
    "folds",
    "load",
    "load_mfeat",
    "make_gaussian_views",
    "make_views",
    "masks",
    "read",
]
