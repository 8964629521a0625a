"""What every benchmark needs: CPU seconds, peak memory, and a table that prints as it goes."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def cpu_seconds(f: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The least CPU time of some runs, and the last result: other work on the machine does not count."""
    best, result = float("inf"), None
    for _ in range(repeats):
        begin = time.process_time()
        result = f()
        best = min(best, time.process_time() - begin)
    return best, result


def peak_mb() -> float:
    """The most memory that this process has held, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss begins with what the parent process held
        lines = (line.split() for line in status.read_text().splitlines())
        return next(float(words[1]) for words in lines if words[0] == "VmHWM:") / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def slope(n: list[float], seconds: list[float]) -> float:
    """The exponent of the power law that fits the seconds best."""
    import numpy as np

    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])
