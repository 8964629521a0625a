"""APMC and FIMVC-VIA against their floors: `python benchmarks/apmc_speed.py [--numba]`.

The floor of APMC is the sum of its dominant primitives, measured alone in the same run: the product with the anchors,
the choice of the m nearest, the leading singular vectors, k-means (of the anchors and of the embedding). The naive
transcription forms S of n x n. FIMVC-VIA's floor is its two products an iteration. Each case is a process of its own,
so that the peak memory is its own.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from floors import cpu_seconds, peak_mb

M = 12
CASES = ["mfeat", "hdigit", "synthetic"]


def data(case: str) -> tuple[list[np.ndarray], np.ndarray, int, int | str]:
    """The views, a mask with half of the samples incomplete, k, and the number of anchors."""
    from conspectus import missing
    from conspectus.datasets import load, make_views

    if case == "synthetic":
        made = make_views(100_000, (64, 64), 10, seed=0)
        return list(made.X.values()), missing.paired(100_000, 2, 0.5, 0), 10, 256
    loaded = load("mfeat" if case == "mfeat" else "hdigit_mnist_usps_10000")
    X = [loaded.X[v] for v in (("fou", "fac") if case == "mfeat" else loaded.X)]
    return X, missing.paired(len(loaded.y), 2, 0.5, 0), loaded.k, "auto"


def naive(X: list[np.ndarray], mask: np.ndarray, k: int) -> np.ndarray:
    """The paper's equations with S of n x n: unit rows, all common samples as anchors."""
    from scipy.linalg import eigh
    from sklearn.cluster import KMeans

    common, Z = np.flatnonzero(mask.all(axis=1)), 0.0
    for v, x in enumerate(X):
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        seen = np.flatnonzero(mask[:, v])
        D = (x[seen] ** 2).sum(1)[:, None] + (x[common] ** 2).sum(1) - 2 * x[seen] @ x[common].T
        codes = np.zeros((len(mask), len(common)))
        for i, row in zip(seen, D):
            near = np.argsort(row)[:M]
            codes[i, near] = np.exp(-row[near] / (4 * D.mean()))
        Z = Z + codes / np.maximum(codes.sum(1, keepdims=True), 1e-300)
    Z /= mask.sum(axis=1, keepdims=True)
    S = Z / np.maximum(Z.sum(0), 1e-300) @ Z.T
    F = eigh(S, subset_by_index=(len(S) - k, len(S) - 1))[1]
    return KMeans(k, n_init=10, random_state=0).fit_predict(F / np.linalg.norm(F, axis=1, keepdims=True))


def floor(model: object, X: list[np.ndarray], mask: np.ndarray, k: int) -> dict[str, float]:
    """CPU seconds of the dominant primitives, each alone."""
    from conspectus import as_views
    from conspectus.methods.anchors.choose import paired_anchors
    from conspectus.numerics import kmeans, stochastic_svd
    from conspectus.numerics.neighbours import smallest
    from conspectus.numerics.rows import unit_rows

    graph, parts = model._rule.map.graph, {}
    rows = [unit_rows(x[mask[:, v]]) for v, x in enumerate(X)]
    parts["anchors"] = 0.0
    if model.n_anchors != "all" and mask.all(axis=1).sum() > graph.n_anchors:
        views = as_views(X, mask).each([unit_rows] * 2)
        parts["anchors"], _ = cpu_seconds(lambda: paired_anchors(views, model.n_anchors, np.random.RandomState(0)))
    blocks = [(r[i : i + 512], u) for r, u in zip(rows, graph.anchors) for i in range(0, len(r), 512)]
    parts["product"], products = cpu_seconds(lambda: [x @ u.T for x, u in blocks])
    parts["nearest"], _ = cpu_seconds(lambda: [smallest(d, M) for d in products])
    Z = as_views(X, mask).each([unit_rows] * 2).map(graph.codes)
    parts["spectrum"], _ = cpu_seconds(lambda: stochastic_svd(Z, k))
    parts["k-means"], _ = cpu_seconds(lambda: kmeans(model.embedding_, k, n_init=10, seed=0))
    return parts


def run(case: str) -> None:
    """One data set: the fit, its floor, the naive transcription where it fits into memory."""
    from conspectus import APMC, FIMVCVIA, as_views

    X, mask, k, anchors = data(case)
    n, views = len(mask), as_views(X, mask)
    APMC(k, n_anchors=anchors, n_neighbors=M, random_state=0).fit(views[:500])  # compile and import
    before = peak_mb()
    seconds, model = cpu_seconds(
        lambda: APMC(k, n_anchors=anchors, n_neighbors=M, random_state=0).fit(views), 3 if n < 50_000 else 2
    )
    memory = peak_mb() - before
    parts = floor(model, X, mask, k)
    shares = ", ".join(f"{name} {value:.2f}" for name, value in parts.items())
    print(f"APMC n={n:,} l={model.n_anchors_[0]}: {seconds:.2f} CPU s, {seconds / sum(parts.values()):.2f} x the floor")
    print(f"  floor {sum(parts.values()):.2f} = {shares}; {seconds / parts['product']:.1f} x the product alone")
    print(f"  peak memory of the fit {memory:.0f} MB = {memory * 2**20 / n:.0f} bytes a sample", flush=True)
    if n <= 10_000:
        alone, _ = cpu_seconds(lambda: naive(X, mask, k))
        print(f"  naive transcription with S of n x n: {alone:.2f} CPU s = {alone / seconds:.1f} x ours", flush=True)
    if n >= 10_000:
        fimvc = FIMVCVIA(k, random_state=0, tol=None, max_iter=10)
        total, _ = cpu_seconds(lambda: fimvc.fit(views))
        begin, _ = cpu_seconds(lambda: FIMVCVIA(k, random_state=0, tol=None, max_iter=1).fit(views))
        step = (total - begin) / 9
        A = list(fimvc.anchors_)
        Z = np.full((n, 2 * k), 1 / (2 * k))
        two, _ = cpu_seconds(
            lambda: [(x[i : i + 8192] @ a, x[i : i + 8192].T @ Z[: len(x[i : i + 8192])])
                     for x, a in zip([x[mask[:, v]] for v, x in enumerate(X)], A) for i in range(0, len(x), 8192)]
        )  # fmt: skip
        print(f"FIMVC-VIA n={n:,}: {step:.3f} CPU s an iteration, {step / two:.1f} x its two products", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in CASES:
        run(sys.argv[1])
    else:
        for case in CASES:
            subprocess.run([sys.executable, __file__, case], check=True)
