"""The method of this library, in the order of its steps: coordinates, rows, spectra, parts, estimator."""

from __future__ import annotations

from .estimator import AnchorConsensus

__all__ = ["AnchorConsensus"]
