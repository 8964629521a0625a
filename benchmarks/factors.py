"""Speed of the factor methods: GPMVC against the released update rule, DAIMC against iMML.

CONSPECTUS_DATA=... python benchmarks/factors.py [--imml /path/to/python/with/imml-0.6.0]

GPMVC: from one start, the released rule runs for a while; then each solver runs until it has reached the objective at
which the released rule ended. CPU seconds of one process; only the ratios carry over to another machine. The floor is
the time of the products with the data alone, XU and X'V, for as many iterations as the fastest solver made: no method
of this kind can be faster than its passes over the data.
DAIMC: a fresh process for each measurement; CPU seconds of the fit, and the peak of what it allocates.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
import warnings
from functools import partial

import numpy as np
from numpy.random import RandomState
from scipy import sparse
from threadpoolctl import threadpool_limits

from conspectus import GPMVC, datasets, missing
from conspectus.methods.factors import gpmvc
from conspectus.methods.factors.scale import scales
from conspectus.methods.factors.solvers import accelerated, multiplicative

CASES = {
    "Digit, fou and pix, PER .5, SF .3": ("mfeat_fp", 10, 0.5, 0.3, 30, {"graph": "binary", "lam": 1.0}),
    "ORL, PER .5, SF .3": ("orl_2v_gpmvc", 40, 0.5, 0.3, 13, {"graph": "heat", "lam": 0.01}),
    "3Sources, PER .3, dense": ("3sources_169", 6, 0.3, None, 5, {"graph": "cosine", "lam": 0.01}),
    "3Sources, PER .3, sparse": ("3sources_169", 6, 0.3, None, 5, {"graph": "cosine", "lam": 0.01}),
}
SOLVERS = {
    "mu, 1 + 1 sweeps": partial(multiplicative, sweeps=(1, 1)),
    "mu, 10 + 5": multiplicative,
    "apg, 10 + 1": partial(accelerated, sweeps=(10, 1)),
    "apg, 10 + 3": accelerated,
}


def problem_of(name: str, ratio: float, skew: float | None, options: dict, store) -> gpmvc.Problem:
    """The scaled views and graphs of a case."""
    data = datasets.load(name)
    mask = missing.partial_examples(data.n, len(data.X), ratio, seed=0, skew=skew)
    views = missing.remove([store(np.asarray(x, dtype=float)) for x in data.X.values()], mask)
    return GPMVC(2, **options)._problem(views, scales(views))


def until(steps, target: float, most: int) -> tuple[float, float, int]:
    """CPU seconds, objective and iterations until the objective is as low as the target."""
    start = time.process_time()
    number, value = 0, np.inf
    for value, _ in itertools.islice(steps, most):
        number += 1
        if value <= target:
            break
    return time.process_time() - start, value, number


def floor(problem: gpmvc.Problem, state: gpmvc.State, iterations: int) -> float:
    """CPU seconds of the products with the data alone."""
    start = time.process_time()
    for _ in range(iterations):
        for part, U, V in zip(problem.parts, *state):
            part.X @ U
            part.X.T @ V
    return time.process_time() - start


def solvers() -> None:
    """Print the table of the solvers."""
    print(f"| data | solver | CPU s | iterations | times faster | floor s |\n{'|---' * 6}|")
    for label, (name, k, ratio, skew, rounds, options) in CASES.items():
        store = sparse.csr_array if "sparse" in label else np.asarray
        problem = problem_of(name, ratio, skew, options, store)
        state = gpmvc.single_view_state(problem, k, RandomState(0))
        official, target, _ = until(gpmvc.official_steps(problem, lambda s=state: s), -np.inf, rounds)
        print(f"| {label} | released rule | {official:.2f} | {rounds} x {gpmvc.INNER} | 1 | |", flush=True)
        for solver, solve in SOLVERS.items():
            used, _, number = until(gpmvc.steps(problem, lambda s=state: s, solve), target, 5000)
            least = floor(problem, state, number)
            print(f"| | {solver} | {used:.3f} | {number} | {official / used:.1f} | {least:.3f} |", flush=True)


TASK = """
import json, sys, time, tracemalloc, warnings
import numpy as np
warnings.simplefilter("ignore")
with np.load(sys.argv[1]) as z:
    Xs = [z[name] for name in z.files]
MAKE
if sys.argv[2] == "memory":
    tracemalloc.start()
start = time.process_time()
labels = model.fit_predict(Xs)
used = tracemalloc.get_traced_memory()[1] / 2**20 if sys.argv[2] == "memory" else time.process_time() - start
print(json.dumps([used, np.asarray(labels).tolist()]))
"""
MAKE = {
    "conspectus": "from conspectus import DAIMC; model = DAIMC(10, a=1.0, b=1.0, random_state=0)",
    "iMML": "from imml.cluster import DAIMC; model = DAIMC(10, engine='python', random_state=0)",
}


def daimc(imml: str | None) -> None:
    """Print the table of the two DAIMC."""
    import tempfile

    from conspectus.metrics import evaluate

    data = datasets.load("mfeat")
    mask = missing.random_subsets(2000, 6, 0.5, seed=0)
    arrays = {f"X{v}": np.where(mask[:, [v]], x, np.nan) for v, x in enumerate(data.X.values())}
    print(f"\n| DAIMC, mfeat, six views, n = 2,000 | CPU s | MiB allocated at the peak | NMI |\n{'|---' * 4}|")
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file.name, **{name: unit(x) for name, x in arrays.items()})
        for name, python in (("conspectus", sys.executable), ("iMML", imml)):
            if python is None:
                continue
            seconds, labels = measured(python, MAKE[name], file.name, "time")
            memory, _ = measured(python, MAKE[name], file.name, "memory")
            nmi = evaluate(data.y, np.array(labels))["nmi"]
            print(f"| {name} | {seconds:.2f} | {memory:.0f} | {nmi:.3f} |", flush=True)


def measured(python: str, make: str, path: str, what: str) -> tuple[float, list[int]]:
    """CPU seconds or the peak of allocated MiB of one fit in a fresh process with one thread, and its labels."""
    one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    command = [python, "-c", TASK.replace("MAKE", make), path, what]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **one})
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def unit(X: np.ndarray) -> np.ndarray:
    """Unit rows, for iMML does not scale."""
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--imml", help="a Python that has iMML 0.6.0")
    parser.add_argument("--only", choices=["solvers", "daimc"])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if chosen.only != "daimc":
            solvers()
        if chosen.only != "solvers":
            daimc(chosen.imml)


if __name__ == "__main__":
    main()
