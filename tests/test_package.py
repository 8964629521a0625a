"""The shape of the package: imports point one way, and importing costs nothing that is not needed."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import conspectus

SOURCE = Path(conspectus.__file__).parent
LAYERS = [
    {"_typing", "errors"},
    {"numerics", "files", "metrics", "frames", "progress", "registry"},
    {"views"},
    {"layout", "missing"},
    {"prepare", "loop", "fill", "requires", "rules", "datasets"},
    {"base", "inspection"},
    {"methods"},
    {"bench", "reporting"},
    {"cli"},
    {"__main__"},
]
HEIGHT = {room: height for height, layer in enumerate(LAYERS) for room in layer}
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room_of(path):
    """The module or folder of the package that a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def rooms_imported(path):
    """Every room of the package that a file imports from, at its top or in a function, but not for types alone."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                folder = path.parents[node.level - 1].relative_to(SOURCE.parent)
                module = ".".join([*folder.parts, module]).rstrip(".")
            names = [f"{module}.{alias.name}" for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package == "conspectus" and rest:
                yield rest.partition(".")[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    room = room_of(path)
    assert room in HEIGHT, f"say in LAYERS where {room} belongs"
    public = set(HEIGHT) | {"__version__"}
    for imported in set(rooms_imported(path)) - {room}:
        assert imported in public, f"{path.name} takes {imported} from the package's front: import it from its module"
        if imported in HEIGHT:
            assert HEIGHT[imported] < HEIGHT[room], f"{room} must not import {imported}"


LOADED = """
import sys, json
import conspectus
package = sorted(sys.modules)
from conspectus.cli import main
try:
    main(["cluster", "--help"])
except SystemExit:
    pass
print(json.dumps([package, sorted(sys.modules)]))
"""
EXTRAS = {
    "sklearn",
    "pandas",
    "pyarrow",
    "polars",
    "numba",
    "matplotlib",
    "dask",
    "mudata",
    "torch",
    "cupy",
    "hypothesis",
}


def test_importing_loads_nothing_that_is_not_needed():
    """One process tells for the package and for ``conspectus cluster --help``."""
    command = [sys.executable, "-c", LOADED]
    source = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=source).stdout
    package, help_page = (set(modules) for modules in json.loads(out.splitlines()[-1]))
    assert not package & (EXTRAS | {"scipy", "click", "rich"})
    assert not help_page & (EXTRAS | {"scipy", "numpy", "rich"})
