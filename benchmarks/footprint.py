"""What importing costs in CPU time, and what each dependency takes on the disk; prints the tables of docs/footprint.md.

python benchmarks/footprint.py
"""

from __future__ import annotations

import importlib.metadata
import os
import resource
import statistics
import subprocess
import sys

COMMANDS = {
    "python": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import conspectus": ["-c", "import conspectus"],
    "conspectus cluster --help": ["-m", "conspectus", "cluster", "--help"],
    "conspectus cluster, a file that is not there": ["-m", "conspectus", "cluster", "no.csv", "-k", "3"],
    "from conspectus import as_views": ["-c", "from conspectus import as_views"],
    "import sklearn.base": ["-c", "import sklearn.base"],
    "from conspectus import APMC": ["-c", "from conspectus import APMC"],
    "import pandas": ["-c", "import pandas"],
}
PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "narwhals", "pandas", "array-api-compat", "click", "rich", "threadpoolctl"),
    *("numba", "llvmlite", "pyarrow", "polars", "polars-runtime-32", "matplotlib"),
)
REPEATS = 11


def cpu_seconds(arguments: list[str]) -> float:
    """CPU time, user and system, of one fresh interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, *arguments], capture_output=True, env=environment, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def megabytes(package: str) -> float | None:
    """Size of a package's own files as they were installed, without compiled bytecode."""
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    paths = [file.locate() for file in files if file.suffix != ".pyc"]
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path)) / 1e6


def main() -> None:
    times = {
        name: statistics.median(cpu_seconds(command) for _ in range(REPEATS)) for name, command in COMMANDS.items()
    }
    print("| command | CPU ms | times NumPy |\n|---|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {1000 * seconds:.0f} | {seconds / times['import numpy']:.2f} |")
    print("\n| package | version | MB |\n|---|---|---|")
    for package in PACKAGES:
        size = megabytes(package)
        if size is not None:
            print(f"| {package} | {importlib.metadata.version(package)} | {size:.1f} |")


if __name__ == "__main__":
    main()
