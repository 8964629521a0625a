"""Methods that join every comparison that they can run in: one line each."""

from __future__ import annotations

from conspectus.bench.grid import Method

GUESTS: tuple[Method, ...] = (Method("AnchorConsensus"),)
