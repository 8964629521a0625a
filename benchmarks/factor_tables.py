"""Tables II and III of GPMVC's paper on the authors' own folds: last iterate, no look at labels, every cell printed.

CONSPECTUS_DATA=... python benchmarks/factor_tables.py [--methods GPMVC PVC] [--tables 2 3] [--folds 2] [--starts 1]

Each table is NMI over the share of partial examples (PER, down) and the share of them in the first view (SF, across).
Beside ours stand the paper's numbers and, for GPMVC, those of the project's first, independent transcription in NumPy
on the same folds, to which the table is held: mean within .015, root mean square of the differences within .03.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from conspectus import GPMVC, all_methods, datasets, missing
from conspectus.bench.printed import printed
from conspectus.metrics import evaluate

RATIOS, SKEWS = (0.1, 0.3, 0.5, 0.7, 0.9), (0.1, 0.3, 0.7, 0.9)
TABLES = {
    2: ("gpmvc-table2", "orl_2v_gpmvc", 40, {"graph": "heat", "lam": 0.01, "max_iter": 100}),
    3: ("gpmvc-table3", "mfeat_fp", 10, {"graph": "binary", "lam": 1.0, "max_iter": 150}),
}
FIRST = {
    2: """0.799 0.797 0.784 0.806  0.794 0.774 0.773 0.784  0.762 0.750 0.760 0.749
          0.746 0.702 0.713 0.736  0.739 0.662 0.663 0.718""",
    3: """0.891 0.883 0.869 0.876  0.856 0.848 0.785 0.800  0.775 0.743 0.717 0.740
          0.767 0.645 0.613 0.652  0.738 0.617 0.568 0.630""",
}


def model(method: str, k: int, options: dict, seed: int):
    """The method with the paper's settings for the data set."""
    common = {"prepare": None, "n_init": 20, "random_state": seed}
    if method == "GPMVC":
        return GPMVC(k, mu=0.1, tol=None, **options, **common)
    return all_methods()[method](k, **common)


def cell(method: str, data, runs, ratio: float, skew: float, k: int, options: dict) -> tuple[float, float, float]:
    """Mean NMI and accuracy over folds and seeds, and CPU seconds of one fit."""
    scores, start = [], time.process_time()
    for seed, fold in runs:
        mask = missing.partial_examples(len(fold), 2, ratio, skew=skew, fold=fold)
        labels = model(method, k, options, seed).fit_predict(missing.remove(data.X, mask))
        scores.append([evaluate(data.y, labels)[metric] for metric in ("nmi_geometric", "acc")])
    return (*np.mean(scores, axis=0), (time.process_time() - start) / len(runs))


def table(number: int, method: str, n_folds: int, n_starts: int) -> None:
    """Print one table, cell by cell, and how it differs from the others."""
    experiment, name, k, options = TABLES[number]
    data, folds = datasets.load(name), datasets.folds(name)[:n_folds]
    runs = [(100 * start + seed, fold) for start in range(n_starts) for seed, fold in enumerate(folds)]
    paper = {c.setting: c.value for c in printed(experiment) if c.method == method}
    first = iter(FIRST[number].split()) if method == "GPMVC" else None
    print(f"\n{experiment}, {method}, {name}, {n_folds} folds, {n_starts} starts\n")
    print("| PER | SF | ours | paper | first | ACC | CPU s |")
    print("|---|---|---|---|---|---|---|", flush=True)
    rows = []
    for ratio in RATIOS:
        for skew in SKEWS:
            nmi, acc, seconds = cell(method, data, runs, ratio, skew, k, options)
            beside = float(next(first)) if first else np.nan
            rows.append((nmi, paper[f"per={ratio};sf={skew}"], beside))
            print(
                f"| {ratio} | {skew} | {nmi:.3f} | {rows[-1][1]:.3f} | {beside:.3f} | {acc:.3f} | {seconds:.1f} |",
                flush=True,
            )
    ours, theirs, before = np.array(rows).T
    for label, other in (("the paper", theirs), ("the first transcription", before)):
        if not np.isnan(other).any():
            difference = ours - other
            print(
                f"\nours less {label}: mean {difference.mean():+.4f}, rms {np.sqrt((difference**2).mean()):.4f}, ",
                end="",
            )
            print(f"from {difference.min():+.3f} to {difference.max():+.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=["GPMVC", "PVC"])
    parser.add_argument("--tables", nargs="+", type=int, default=[2, 3])
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--starts", type=int, default=1, help="random starts a fold, of which the mean is taken")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for number in chosen.tables:
        for method in chosen.methods:
            table(number, method, chosen.folds, chosen.starts)


if __name__ == "__main__":
    main()
