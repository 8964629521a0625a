"""Filling unseen rows, for methods that know complete data only. A filling invents data: it is a baseline."""

from __future__ import annotations

from conspectus.fill.estimator import FILLS, FillViews, complete, filled

__all__ = ["FILLS", "FillViews", "complete", "filled"]
