"""Ours beside a reference, cell by cell, with the mean and the root mean square of the differences."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

Pair = tuple[float, float]


def report(title: str, cells: Iterable[tuple[str, Pair, Pair]]) -> tuple[float, float]:
    """Print ACC/NMI of each cell as it comes; return the largest mean difference and root mean square of the two."""
    print(f"\n{title}\n{'':44s}{'ours':>12s}{'reference':>12s}{'difference':>14s}", flush=True)
    differences = []
    for name, ours, reference in cells:
        d = np.subtract(ours, reference)
        differences.append(d)
        print(
            f"{name:44s}{ours[0]:6.1f}/{ours[1]:5.1f}{reference[0]:6.1f}/{reference[1]:5.1f}{d[0]:+8.1f}/{d[1]:+5.1f}",
            flush=True,
        )
    D = np.array(differences)
    mean, rms = D.mean(axis=0), np.sqrt((D**2).mean(axis=0))
    print(f"{'mean difference ACC/NMI':44s}{mean[0]:+8.2f}/{mean[1]:+.2f}", f"  rms {rms[0]:.2f}/{rms[1]:.2f}")
    return float(np.abs(mean).max()), float(rms.max())
