"""SOME-AS, ABS2-IMC, AWP, SIMVC-SA and V3H beside an independent implementation's figures.

`python benchmarks/anchor_tables.py [someas|abs2|awp|simvc|v3h] [data set ...]`: accuracy and NMI in percent, the mean
over masks of our own, so that a cell may differ by the spread over masks. The data sets are looked up in
$CONSPECTUS_DATA; mfeat is shipped.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from side_by_side import Pair, report

from conspectus import ABS2IMC, AWP, SIMVCSA, SOMEAS, V3H, missing
from conspectus.datasets import load
from conspectus.metrics import clustering_accuracy, nmi

warnings.simplefilter("ignore")

SHARES = (0.1, 0.5, 0.9)
SOMEAS_CELLS = {  # share of complete samples .1, .5, .9: the default
    "3sources_169": "67.5/57.1 68.6/59.3 73.2/66.6",
    "bbcsport_282_3v": "60.2/41.0 72.3/56.1 80.1/70.1",
    "orl_2v_gpmvc": "44.0/67.5 61.5/79.3 65.2/82.3",
    "usps_mnist_500": "45.3/45.5 70.1/64.5 79.7/79.8",
    "proteinfold": "29.5/38.2 33.3/42.2 36.8/46.1",
    "mfeat": "90.6/82.3 89.3/83.8 88.2/84.3",
}
ABS2_CELLS = [  # data set, views, preparation, ratio, rho, reference
    ("mfeat", ("fou", "fac"), "minmax", 0.7, 0.0, (82.2, 76.0)),
    ("mfeat", ("fou", "fac"), "minmax", 0.7, 0.3, (86.0, 77.6)),
    ("mfeat", ("fou", "fac"), "minmax", 0.1, 0.0, (68.6, 70.1)),
    ("mfeat", ("fou", "fac"), "minmax", 0.1, 0.3, (82.2, 80.3)),
    ("mfeat", ("fou", "fac"), "minmax", 0.9, 0.3, (82.4, 71.2)),
    ("mfeat", ("pix", "fou"), "minmax", 0.9, 0.3, (83.0, 71.6)),
    ("bbcsport_544_2v", None, "l2", 0.5, 0.3, (86.2, 71.3)),
    ("bbcsport_544_2v", None, "l2", 0.1, 0.3, (73.5, 63.1)),
    ("orl_2v_gpmvc", None, "minmax", 0.5, 0.3, (73.5, 85.0)),
    ("orl_2v_gpmvc", None, "minmax", 0.1, 0.3, (80.3, 91.0)),
    ("usps_mnist_500", None, "minmax", 0.1, 0.3, (96.6, 93.3)),
    ("usps_mnist_500", None, "minmax", 0.5, 0.3, (80.0, 73.7)),
    ("usps_mnist_500", None, "minmax", 0.9, 0.3, (50.1, 40.6)),
]
MEANS: dict[str, dict[str, Pair]] = {  # the mean over the three shares
    "awp": {
        "3sources_169": (62.8, 60.7),
        "bbcsport_282_3v": (73.0, 64.2),
        "orl_2v_gpmvc": (56.4, 74.9),
        "usps_mnist_500": (56.2, 55.0),
        "proteinfold": (28.3, 37.0),
    },
    "simvc": {
        "3sources_169": (51.8, 57.5),
        "bbcsport_282_3v": (70.3, 59.6),
        "orl_2v_gpmvc": (46.4, 66.2),
        "usps_mnist_500": (52.4, 49.7),
    },
    "v3h": {"3sources_169": (44.8, 21.2)},
}
BUILD: dict[str, Any] = {
    "awp": AWP,
    "simvc": lambda k, random_state: SIMVCSA(k, lam=0.01, random_state=random_state),  # the reference's weight
    "v3h": V3H,
}


def pairs(text: str) -> list[Pair]:
    """Read "67.5/57.1 68.6/59.3"."""
    return [(float(acc), float(information)) for acc, information in (cell.split("/") for cell in text.split())]


def mean_score(build: Any, data: Any, views: Any, masks: list[np.ndarray]) -> Pair:
    """The mean accuracy and NMI over masks; the mask's number is the seed."""
    scores = []
    for seed, mask in enumerate(masks):
        labels = build(data.k, random_state=seed).fit_predict(missing.remove(views, mask))
        scores.append((100 * clustering_accuracy(data.y, labels), 100 * nmi(data.y, labels)))
    acc, information = np.mean(scores, axis=0)
    return float(acc), float(information)


def subsets(data: Any, share: float, count: int) -> list[np.ndarray]:
    """Masks of SOME-AS's protocol."""
    return [missing.random_subsets(len(data.y), len(data.X), share, seed=s) for s in range(count)]


def someas(names: list[str]) -> Iterator[tuple[str, Pair, Pair]]:
    """The default of SOME-AS, three masks a cell."""
    for name in names or SOMEAS_CELLS:
        data = load(name)
        for share, reference in zip(SHARES, pairs(SOMEAS_CELLS[name])):
            yield f"{name} {share}", mean_score(SOMEAS, data, data.X, subsets(data, share, 3)), reference


def abs2(names: list[str]) -> Iterator[tuple[str, Pair, Pair]]:
    """ABS2-IMC's exact solver with and without ridge, three masks a cell."""
    for name, views, prepare, ratio, rho, reference in ABS2_CELLS:
        if names and name not in names:
            continue
        data = load(name)
        X = [data.X[v] for v in views or data.X]

        def build(k: int, random_state: int, prepare: str = prepare, rho: float = rho) -> Any:
            return ABS2IMC(k, prepare=prepare, rho=rho, random_state=random_state)

        masks = [missing.paired(len(data.y), 2, ratio, seed=s) for s in range(3)]
        yield f"{name} {views or ''} {ratio} rho {rho}", mean_score(build, data, X, masks), reference


def means(method: str, names: list[str]) -> Iterator[tuple[str, Pair, Pair]]:
    """A baseline's mean over the three shares, two masks each."""
    for name, reference in MEANS[method].items():
        if names and name not in names:
            continue
        data = load(name)
        masks = [mask for share in SHARES for mask in subsets(data, share, 2)]
        yield name, mean_score(BUILD[method], data, data.X, masks), reference


if __name__ == "__main__":
    table, names = (sys.argv[1] if len(sys.argv) > 1 else "someas"), sys.argv[2:]
    cells = {"someas": someas, "abs2": abs2}.get(table, lambda names: means(table, names))
    report(table, cells(names))
