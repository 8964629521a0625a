"""EE-IMVC against iMML's, its growth with n, and what features lose against kernel matrices.

    python benchmarks/kernels.py peer --imml /path/to/python-with-imml     # iMML 0.6.0 in an environment of its own
    python benchmarks/kernels.py growth
    python benchmarks/kernels.py features
    python benchmarks/kernels.py predict

CPU seconds of one thread, every measurement in a process of its own so that peak memory is its own.

peer: both get the same rows, masks and kernel, lambda = 0. iMML's H_p come from kernels that are not centred, so the
objective of both is evaluated on the exact base partitions of this library: for the H of each, the best rotations,
imputations and weights. Goals at n = 8,000: 10 times faster, accuracy within one point or better.
growth: three views of 20, 30 and 40 columns, k = 10, half of the samples incomplete, with k-means. Goal: an exponent of
at most 1.05 from n = 100,000 on.
features: both routes on mfeat, means over masks; the labels of least inertia, and the mean of 50 runs of k-means, for
near ties between partitions make the former jump. Goal: normalised mutual information within one point.
predict: mfeat, 1,400 samples to train and 600 held out, five splits, both modes of `predict`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from floors import cpu_seconds, peak_mb, slope

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
PEER = """
import json, sys, time
import numpy as np
from imml.cluster import EEIMVC
stored = np.load(sys.argv[1])
X = [stored[f"X{v}"] for v in range(int(stored["V"]))]
width = {tuple(x.shape) + (float(np.nansum(x)),): s for x, s in zip(X, stored["widths"])}
def kernel(x):
    x = np.asarray(x, dtype=float)
    s = width[tuple(x.shape) + (float(np.nansum(x)),)]
    squares = (x * x).sum(axis=1)
    K = np.exp(-np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0) / (2 * s * s))
    return K
begin = time.process_time()
model = EEIMVC(n_clusters=int(stored["k"]), kernel=kernel, lambda_reg=0.0, random_state=0).fit(X)
seconds = time.process_time() - begin
np.savez(sys.argv[2], labels=model.labels_, H=model.HP_, W=model.WP_, beta=model.beta_)
peak = float([line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")][0]) / 1024
print(json.dumps({"seconds": seconds, "peak": peak, "n_iter": int(model.n_iter_)}))
"""


def synthetic(n: int) -> tuple[list[Any], Any, Any]:
    """Rows, mask and classes."""
    from conspectus import missing
    from conspectus.datasets import make_views

    data = make_views(n, (20, 30, 40), 10, seed=0)
    return list(data.X.values()), missing.absent_views(n, 3, 0.5, 0, data.y), data.y


def one(n: int, approximation: str, out: Path | None = None) -> None:
    """Fit once; print seconds, peak memory and scores as JSON."""
    from conspectus import EEIMVC, as_views
    from conspectus.metrics import evaluate

    X, mask, y = synthetic(n)
    held = peak_mb()
    views = as_views(X, mask)
    seconds, model = cpu_seconds(lambda: EEIMVC(10, approximation=approximation, random_state=0).fit(views))
    scores = evaluate(y, model.labels_)
    if out is not None:
        np.savez(out, H=model.state_.state.H)
    row = {"seconds": seconds, "peak": peak_mb(), "data": held, "n_iter": model.n_iter_}
    print(json.dumps({**row, "acc": scores["acc"], "nmi": scores["nmi_max"]}))


def fresh(*arguments: str, python: str = sys.executable) -> dict[str, Any]:
    """Run in a process of its own; its last line is JSON."""
    done = subprocess.run([python, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def growth(sizes: tuple[int, ...]) -> None:
    """Print the growth table."""
    print("| n | CPU s | iterations | peak GB | of which data and Python | ACC | NMI |\n|---|---|---|---|---|---|---|")
    seconds = []
    for n in sizes:
        row = fresh(__file__, "one", str(n), "features")
        seconds.append(row["seconds"])
        memory = f"{row['peak'] / 1024:.2f} | {row['data'] / 1024:.2f}"
        scores = f"{100 * row['acc']:.1f} | {100 * row['nmi']:.1f}"
        print(f"| {n:,} | {row['seconds']:.2f} | {row['n_iter']} | {memory} | {scores} |", flush=True)
    large = [(n, s) for n, s in zip(sizes, seconds) if n >= 100_000]
    if len(large) > 1:
        print(f"\nexponent from n = {large[0][0]:,} on: {slope(*map(list, zip(*large))):.3f}")


def peer(python: str, sizes: tuple[int, ...]) -> None:
    """Print both methods on the same masks."""
    from conspectus import as_views
    from conspectus.methods.kernels.base_partitions import exact_partitions
    from conspectus.metrics import evaluate
    from conspectus.numerics.kernels import mean_pairwise_distance

    print("| n | method | CPU s | peak GB | iterations | ACC | NMI | objective on exact kernels |")
    print("|---|---|---|---|---|---|---|---|")
    for n in sizes:
        X, mask, y = synthetic(n)
        views = as_views(X, mask)
        missing = [views.missing(v) for v in range(3)]
        base = exact_partitions(views, 10, "gaussian").H
        with tempfile.TemporaryDirectory() as folder:
            given, found = Path(folder, "given.npz"), Path(folder, "found.npz")
            holes = {f"X{v}": np.where(mask[:, [v]], x, np.nan) for v, x in enumerate(X)}
            widths = [mean_pairwise_distance(x[mask[:, v]]) for v, x in enumerate(X)]
            np.savez(given, V=3, k=10, widths=widths, **holes)
            theirs = fresh("-c", PEER, str(given), str(found), python=python)
            stored = np.load(found)
            T = sum(b * stored["H"][:, :, p] @ stored["W"][:, :, p] for p, b in enumerate(stored["beta"].ravel()))
            scores = evaluate(y, stored["labels"])
            theirs |= {"acc": scores["acc"], "nmi": scores["nmi_max"]}
            rows = [("iMML 0.6.0", theirs, T)]
            for route in ("exact", "features"):
                row = fresh(__file__, "one", str(n), route, str(found))
                rows.append((f"Conspectus, {route}", row, np.load(found)["H"]))
        for label, row, H in rows:
            columns = f"{row['seconds']:.2f} | {row['peak'] / 1024:.2f} | {row['n_iter']}"
            columns += f" | {100 * row['acc']:.1f} | {100 * row['nmi']:.1f} | {objective(base, missing, H):.4f}"
            times = f" ({theirs['seconds'] / row['seconds']:.0f} times)" if row is not theirs else ""
            print(f"| {n:,} | {label}{times} | {columns} |", flush=True)


def objective(base: tuple[Any, ...], missing: list[Any], H: Any) -> float:
    """The paper's objective of a consensus: the best rotations, imputations and weights for it."""
    from conspectus.methods.kernels.ee_imvc import inverse_root
    from conspectus.numerics.orthogonal import polar

    H = polar(H)
    v = []
    for H_p, u in zip(base, missing):
        B, imputed = inverse_root(H[u])
        W = polar(H_p.T @ H)
        for _ in range(200):  # (8) and (9) in turn; (9) does not depend on W
            W = polar(H_p.T @ H + W @ (H[u] @ B).T @ H[u])
        v.append(float((W * (H_p.T @ H)).sum()) + imputed)
    return float(np.linalg.norm(v))


def features(masks: int) -> None:
    """Print the scores of both routes on mfeat."""
    from kernel_tables import scores as scores_of_runs

    from conspectus import EEIMVC, datasets, missing
    from conspectus.metrics import evaluate

    data = datasets.load_mfeat()
    X = [data.X[name] for name in ("fou", "kar", "pix")]
    print("| missing ratio | prior | exact ACC / NMI | features | exact, mean of 50 | features, mean of 50 |")
    print("|---|---|---|---|---|---|")
    every: dict[str, list[Any]] = {"exact": [], "features": []}
    for ratio in (0.3, 0.7):
        for prior in (None, "average"):
            for route, found in every.items():
                for seed in range(masks):
                    views = missing.remove(X, missing.absent_views(2000, 3, ratio, seed, data.y))
                    model = EEIMVC(10, prior=prior, approximation=route, random_state=0).fit(views)
                    table, runs = evaluate(data.y, model.labels_), scores_of_runs(model.embedding_, data.y, 10)
                    found.append((table["acc"], table["nmi_max"], *runs["mean"][:2]))
            latest = {route: np.mean(found[-masks:], axis=0) for route, found in every.items()}
            print(f"| {ratio} | {prior} | {_cells(latest)} |", flush=True)
    print(f"| mean | | {_cells({route: np.mean(found, axis=0) for route, found in every.items()})} |")


def _cells(means: dict[str, Any]) -> str:
    pairs = (means[route][part] for part in (slice(0, 2), slice(2, 4)) for route in ("exact", "features"))
    return " | ".join(" / ".join(f"{100 * x:.1f}" for x in pair) for pair in pairs)


def predict() -> None:
    """Print accuracies on training and held-out samples."""
    from conspectus import EEIMVC, datasets, missing
    from conspectus.metrics import clustering_accuracy

    data = datasets.load_mfeat()
    X = [data.X[name] for name in ("fou", "kar", "pix")]
    print("| missing ratio | mode | train | held out | complete | incomplete | agrees with labels_ |")
    print("|---|---|---|---|---|---|---|")
    for ratio in (0.3, 0.7):
        for mode in ("observed", "fixpoint"):
            found = []
            for seed in range(5):
                mask = missing.absent_views(2000, 3, ratio, seed, data.y)
                views, order = missing.remove(X, mask), np.random.default_rng(seed).permutation(2000)
                train, test = order[:1400], order[1400:]
                model = EEIMVC(10, predict_mode=mode, random_state=0).fit(views[train])
                labels, whole = model.predict(views[test]), mask[test].all(axis=1)
                parts = [clustering_accuracy(data.y[test][s], labels[s]) for s in (whole | True, whole, ~whole)]
                agreement = (model.predict(views[train]) == model.labels_).mean()
                found.append([clustering_accuracy(data.y[train], model.labels_), *parts, agreement])
            cells = " | ".join(f"{100 * x:.1f}" for x in np.mean(found, axis=0))
            print(f"| {ratio} | {mode} | {cells} |", flush=True)


def main() -> None:
    """Read the command line."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    of_peer = commands.add_parser("peer")
    of_peer.add_argument("--imml", default=sys.executable, help="a Python that has imml==0.6.0")
    of_peer.add_argument("--sizes", type=int, nargs="+", default=[2000, 8000])
    commands.add_parser("growth").add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    commands.add_parser("features").add_argument("--masks", type=int, default=10)
    commands.add_parser("predict")
    of_one = commands.add_parser("one")
    of_one.add_argument("n", type=int)
    of_one.add_argument("route")
    of_one.add_argument("out", type=Path, nargs="?")
    given = parser.parse_args()
    if given.command == "one":
        one(given.n, given.route, given.out)
    elif given.command == "peer":
        peer(given.imml, tuple(given.sizes))
    elif given.command == "predict":
        predict()
    elif given.command == "growth":
        growth(tuple(given.sizes))
    else:
        features(given.masks)


if __name__ == "__main__":
    main()
