"""The anchor methods in CPU seconds and memory: `python benchmarks/anchors.py [10000 100000 1000000]`.

Three views of 50 columns, ten clusters, 100 anchors for every method (and for SOME-AS's start), half of the samples
incomplete; data are drawn in blocks. Iterative methods make ten iterations (SOME-AS: one start, one round). The floor
is the sum of the dominant primitives, measured alone in the same run. Each case is its own process, so that the peak
memory is its own. `python benchmarks/anchors.py adam` runs ABS2-IMC's exact solver against Adam to equal loss.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from itertools import islice
from typing import Any

import numpy as np
from floors import cpu_seconds, peak_mb, slope

SIZES = [10_000, 100_000]
L, K, D, V = 100, 10, 50, 3
METHODS = ["APMC", "FIMVCVIA", "SOMEAS", "SIMVCSA", "ABS2IMC"]


def model(name: str) -> Any:
    """The method with the benchmark's settings."""
    import conspectus

    own = {
        "FIMVCVIA": {"max_iter": 10, "tol": None},
        "SIMVCSA": {"max_iter": 10, "tol": None},
        "SOMEAS": {"n_start_anchors": L, "n_restarts": 1, "n_rounds": 1, "tol": 0.0},
    }
    return getattr(conspectus, name)(K, n_anchors=L, random_state=0, **own.get(name, {}))


def passes(fitted: Any) -> int:
    """How many products with all rows the fit has made, X A and X'Z counted apart."""
    return {"FIMVCVIA": 2 * 10 + 1, "SIMVCSA": 3 * 10 + 1, "SOMEAS": 2 * 2 * 11 + 4}[type(fitted).__name__]


def floor(fitted: Any, views: Any) -> float:
    """CPU seconds of the primitives that no implementation can do without, each measured alone on one block."""
    from conspectus.methods.anchors.self_codes import Dictionary
    from conspectus.numerics import anchor_codes, kmeans, project_simplex, simplex_qp_rows

    name, block = type(fitted).__name__, views.rows(np.arange(min(8192, len(views))))
    X, rng = [block.data(v) for v in range(V)], np.random.default_rng(0)
    share = sum(len(x) for x in X) * (len(views) / len(block))
    final, _ = cpu_seconds(lambda: kmeans(fitted.embedding_, K, n_init=10, seed=0))
    if name == "APMC":
        graph = fitted._rule.map.graphs[0]
        each, _ = cpu_seconds(lambda: anchor_codes(X[0], graph.anchors[0], [12], scale=1.0), 3)
        return final + 2 * each / len(X[0]) * share  # every row belongs to two of the three pairs of views
    if name == "ABS2IMC":
        words = fitted._rule.map.graph.dictionary
        d = Dictionary(words.A, words.lam, words.rho, words.tol)
        B, H = 2 * d.weight(0) * d.products(0, block.only([0]).data(0)), d.matrix(0)
        each, _ = cpu_seconds(lambda: simplex_qp_rows(H, B, tol=1e-9), 2)
        return final + each / len(B) * share
    A, Z = rng.normal(size=(D, L)), rng.dirichlet(np.ones(L), size=len(X[0]))
    product, XA = cpu_seconds(lambda: X[0] @ A, 5)
    transposed, _ = cpu_seconds(lambda: X[0].T @ Z, 5)
    projection, _ = cpu_seconds(lambda: project_simplex(XA / 10), 5)
    each = passes(fitted) * (product + transposed + projection) / 2
    return final + each / len(X[0]) * share


def case(name: str, n: int) -> None:
    """One method at one size."""
    from conspectus import as_views
    from conspectus.datasets import make_views

    warnings.simplefilter("ignore")
    data = make_views(n, [D] * V, K, missing=0.5, separation=6.0, seed=0)
    views = as_views(data.X, data.mask)
    model(name).fit(views[:2000])  # compile and import
    before = peak_mb()
    seconds, fitted = cpu_seconds(lambda: model(name).fit(views))
    memory = peak_mb() - before
    least = floor(fitted, views)
    from conspectus.metrics import adjusted_rand_index

    agreement = adjusted_rand_index(data.y, fitted.labels_)
    print(
        f"| {name} | {n:,} | {seconds:.1f} | {1e6 * seconds / n:.0f} | {memory:.0f} | {seconds / least:.1f} | "
        f"{agreement:.2f} |",
        flush=True,
    )
    print(seconds, file=sys.stderr)


def adam() -> None:
    """ABS2-IMC's published loss on mfeat: the exact solver, and Adam until it comes as near as one percent."""
    from conspectus import PrepareViews, as_views, missing
    from conspectus.datasets import load_mfeat
    from conspectus.methods.anchors import abs2_adam
    from conspectus.methods.anchors.self_codes import Dictionary, code_view, sweeps

    digits = load_mfeat()
    mask = missing.paired(2000, 2, 0.7, seed=0)
    views = PrepareViews("minmax").fit_transform(as_views([digits.X["fou"], digits.X["fac"]], mask))
    own = views.complete
    A = [views.rows(own).data(v) for v in range(2)]
    U = [views.rows(np.setdiff1d(views.observed(v), own)).data(v) for v in range(2)]
    words = Dictionary(tuple(A), 0.1, 0.0, 1e-9)
    code_view(words, 0, U[0][:10])

    def exact() -> float:
        loss = next(iter(sweeps(words, A, np.arange(len(own)))))[0] / len(own)
        return loss + sum(float(code_view(words, v, U[v]).loss.mean()) for v in range(2))

    seconds, best = cpu_seconds(exact, 3)
    print(f"exact solver, one sweep: loss {best:.6f} in {seconds:.2f} CPU s")
    single = [[x.astype(np.float32) for x in part] for part in (A, U)]
    for goal in (1.05, 1.02, 1.01):

        def until(goal: float = goal) -> tuple[int, float]:
            last = np.inf
            for t, (loss, _) in enumerate(islice(abs2_adam.epochs(*single, 0.1), 1000)):
                last = loss
                if loss <= goal * best:
                    return t, loss
            return 1000, last

        spent, (epochs, loss) = cpu_seconds(until)
        print(f"Adam to {goal:.2f} x that loss: {epochs} epochs, loss {loss:.6f}, {spent:.2f} CPU s = "
              f"{spent / seconds:.1f} x the exact solver", flush=True)  # fmt: skip


def main(sizes: list[int]) -> None:
    """All methods at all sizes, and the exponent of the power law through each method's times."""
    print(
        "| method | n | CPU s | CPU us a sample | peak MB | x the floor | ARI |\n|---|---|---|---|---|---|---|",
        flush=True,
    )
    for name in METHODS:
        times = []
        for n in sizes:
            done = subprocess.run(
                [sys.executable, __file__, name, str(n)], check=True, stderr=subprocess.PIPE, text=True
            )
            times.append(float(done.stderr.split()[-1]))
        if len(sizes) > 1:
            print(f"| {name}: slope {slope([float(n) for n in sizes], times):.2f} | | | | | | |", flush=True)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments and arguments[0] == "adam":
        adam()
    elif arguments and arguments[0] in METHODS:
        case(arguments[0], int(arguments[1]))
    else:
        main([int(n) for n in arguments] or SIZES)
