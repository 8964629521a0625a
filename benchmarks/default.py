"""AnchorConsensus against its floor: `python benchmarks/default.py [n ...] [--k 10] [--plain]`.

Three views of 50 columns, 30 % of the samples incomplete, made in blocks. The floor is the sum of the primitives that
dominate, measured alone in the same run and in the same process: the products of rows with anchors (of single views
and of views side by side), one selection of the nearest in each row of distances, the sparse passes that the block
Lanczos method made, k-means. CPU seconds, because a machine is seldom idle; each size is a process of its own, so that
the peak memory is its own. `--plain` turns compiled code off.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from floors import cpu_seconds, peak_mb

STEPS = [
    ("directions", "Coordinates", "fit"),
    ("codes of the views", None, "codes_of_block"),
    ("stage 1", "First", "fit"),
    ("consensus anchors", None, "consensus_anchors"),
    ("local means", None, "sums"),
    ("A, filled graphs", "parts.Filled", "fit"),
    ("B, joint graphs", "parts.Joint", "fit"),
    ("G, global part", "parts.Global", "fit"),
    ("consensus", None, "consensus"),
]


@contextmanager
def watched(owner: Any, name: str, spent: dict[str, float], label: str) -> Iterator[None]:
    """Add the CPU time of a function's calls to `spent`."""
    original = owner.__dict__[name]
    function: Callable[..., Any] = getattr(owner, name)

    def timed(*args: Any, **kwargs: Any) -> Any:
        begin = time.process_time()
        try:
            return function(*args, **kwargs)
        finally:
            spent[label] += time.process_time() - begin

    setattr(owner, name, staticmethod(timed) if isinstance(owner, type) else timed)
    try:
        yield
    finally:
        setattr(owner, name, original)


def fit(model: Any, views: Any) -> tuple[float, dict[str, float], float]:
    """CPU seconds of a fit, of its steps, and of the sparse passes if each took as long as the fastest on its graph."""
    from conspectus import base
    from conspectus.methods.anchors.anchor_consensus import estimator, parts
    from conspectus.numerics import operators

    spent: dict[str, float] = defaultdict(float)
    passes: list[list[float]] = []
    gram = operators.SparseGraph.gram

    def counted(graph: Any, x: Any) -> Any:
        begin = time.process_time()
        result = gram(graph, x)
        if not hasattr(graph, "passes"):
            graph.passes = []
            passes.append(graph.passes)
        graph.passes.append(time.process_time() - begin)
        return result

    operators.SparseGraph.gram = counted
    with ExitStack() as stack:
        for label, owner, name in STEPS:
            where: Any = estimator
            for part in owner.split(".") if owner else ():
                where = parts if part == "parts" else getattr(where, part)
            stack.enter_context(watched(where, name, spent, label))
        stack.enter_context(watched(base, "kmeans", spent, "k-means"))
        stack.enter_context(watched(base, "warn_about", spent, "looking at the data"))
        seconds, _ = cpu_seconds(lambda: model.fit(views))
    operators.SparseGraph.gram = gram
    spent["the rest"] = seconds - sum(spent.values())
    return seconds, dict(spent), sum(len(each) * min(each) for each in passes)


def distances(rows: int, q: int, l: int) -> tuple[float, float]:
    """CPU seconds of the product of rows with anchors, and of choosing the 13 nearest of each row, in blocks."""
    from conspectus.numerics.neighbours import smallest

    rng = np.random.default_rng(0)
    block, anchors = rng.random((512, q)), rng.random((l, q))
    out = np.empty((512, l))
    turns = max(1, rows // 512)
    tried = min(turns, 100)
    product = cpu_seconds(lambda: [np.matmul(block, anchors.T, out=out) for _ in range(tried)], 3)[0]
    return product * turns / tried, cpu_seconds(lambda: [smallest(out, 13, None) for _ in range(tried)], 3)[
        0
    ] * turns / tried


def floor(model: Any, views: Any, passes: float, k: int) -> dict[str, float]:
    """CPU seconds of the dominant primitives, each alone."""
    from conspectus.numerics import kmeans

    spent: dict[str, float] = defaultdict(float)
    anchors = model._rule.map.anchors.rows
    patterns, group = views.patterns
    for t in range(len(anchors[0])):
        widths = [sized[t].shape[1] for sized in anchors]
        searched = [(n, q) for n, q in zip(views.seen.sum(axis=0), widths)]
        searched += [(n, int(np.dot(p, widths))) for p, n in zip(patterns, np.bincount(group))]
        for n, q in searched:
            product, selection = distances(int(n), int(q), len(anchors[0][t]))
            spent["products with anchors"] += product
            spent["selection"] += selection
    spent["sparse passes"] = passes
    spent["k-means"] = cpu_seconds(lambda: kmeans(model.embedding_, k, n_init=20))[0]
    return dict(spent)


def one(n: int, k: int) -> dict[str, Any]:
    """All figures of one size, measured in this process."""
    from conspectus import AnchorConsensus
    from conspectus.datasets import make_views
    from conspectus.metrics import clustering_accuracy

    made = make_views(n, (50, 50, 50), k, missing=0.3, seed=0)
    views = made.views
    AnchorConsensus(3, random_state=0).fit(views[:8192])  # what is imported and compiled once is not counted
    before = peak_mb()
    model = AnchorConsensus(k, random_state=0)
    seconds, steps, passes = fit(model, views)
    peak = peak_mb()
    predicted = cpu_seconds(lambda: model.predict(views[: min(n, 20_000)]))[0]
    found = {"n": n, "k": k, "seconds": seconds, "before": before, "peak": peak, "predict": predicted, "steps": steps}
    return {**found, "acc": clustering_accuracy(made.y, model.labels_), "floor": floor(model, views, passes, k)}


def child(n: int, k: int, plain: bool) -> dict[str, Any]:
    """Measure one size in a process of its own."""
    command = [sys.executable, __file__, "--one", str(n), "--k", str(k)]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "CONSPECTUS_NUMBA": "0" if plain else ""}
    done = subprocess.run(command, env={**os.environ, **threads}, stdout=subprocess.PIPE, check=True, text=True)
    return dict(json.loads(done.stdout))


def show(found: dict[str, Any], last: dict[str, Any] | None) -> None:
    """Print the figures of one size."""
    floor_seconds = sum(found["floor"].values())
    ratio = found["seconds"] / floor_seconds
    print(f"\nn = {found['n']:,}, k = {found['k']}: accuracy {100 * found['acc']:.1f} %")
    print(f"  fit {found['seconds']:.2f} CPU s, {ratio:.2f} times the floor of {floor_seconds:.2f}")
    print(f"  peak memory {found['peak']:.0f} MB, {found['before']:.0f} MB of it before the fit")
    print(f"  predict of {min(found['n'], 20_000):,} rows {found['predict']:.2f} s")
    if last:
        slope = np.log(found["seconds"] / last["seconds"]) / np.log(found["n"] / last["n"])
        print(f"  slope from n = {last['n']:,}: {slope:.3f}")
    for title, parts in (("step", found["steps"]), ("floor", found["floor"])):
        for name, seconds in parts.items():
            print(f"    {title:6s}{name:24s}{seconds:8.2f} s {100 * seconds / sum(parts.values()):5.1f} %")
    sys.stdout.flush()


def main() -> None:
    """Run the sizes that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=float, nargs="*", default=[1e4, 1e5, 1e6])
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--plain", action="store_true", help="without compiled code")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.one, given.k)))
        return
    last = None
    for n in given.n:
        found = child(int(n), given.k, given.plain)
        show(found, last)
        last = found


if __name__ == "__main__":
    main()
