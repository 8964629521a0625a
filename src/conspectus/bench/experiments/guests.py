"""Methods that join every comparison that they can run in: one line each. They run with their own defaults."""

from __future__ import annotations

from conspectus.bench.grid import Method

GUESTS: tuple[Method, ...] = (Method("AnchorConsensus", own_defaults=True),)
