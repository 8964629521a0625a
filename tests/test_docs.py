"""Every Python block of the README and of the documentation runs as it is written, page by page."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    """The Python blocks of a page, with the lines at which they begin."""
    text = page.read_text(encoding="utf8")
    return [(text[: found.start()].count("\n") + 2, found[1]) for found in BLOCK.finditer(text)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the tables that the pages read."""
    rng = np.random.default_rng(0)
    kind = np.arange(90) % 3
    for name, d, rows in (("rna", 12, slice(0, 70)), ("methylation", 8, slice(30, 90)), ("protein", 5, slice(10, 90))):
        X = 4 * rng.normal(size=(3, d))[kind] + rng.normal(size=(90, d))
        ids = pd.Index([f"P{i:03d}" for i in range(90)], name="patient")
        pd.DataFrame(X, index=ids, columns=[f"{name}{j}" for j in range(d)])[rows].to_csv(tmp_path / f"{name}.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_blocks_of_a_page_run(page, folder):
    names = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="sklearn.utils.estimator_checks")
        for line, code in blocks(page):
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("plot_*.py")), ids=lambda path: path.stem)
def test_the_examples_run_and_draw(script, monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    names = {"__name__": "__main__"}
    exec(compile(script.read_text(encoding="utf8"), str(script), "exec"), names)
    assert names["fig"].axes[0].has_data()
    plt.close("all")


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf8")):
            made = {"methods.md", "gallery/index.rst"}  # by the build
            assert target in made or (page.parent / target).exists(), f"{page.name}: {target}"
