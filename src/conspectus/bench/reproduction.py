"""``docs/reproduction.md``: every experiment that the store has rows of, ours beside the printed, misses included."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conspectus.bench.beside import summary
from conspectus.bench.experiments import ALL
from conspectus.bench.pages import Page, page
from conspectus.bench.results import NOT_RUN
from conspectus.bench.shows import markdown_rows
from conspectus.bench.store import VERSIONS, Store

HEAD = """# Reproduction

Every table here is made from stored runs by the command above it; nothing is typed in. Scores are in percent. The best
value of a setting is bold, the second underlined; "-" has its reason below the table. Printed numbers come from the
papers, as far as their scans can be read (see `src/conspectus/bench/printed/`). Nothing is chosen with the labels:
where a paper reports the best of several runs or settings, ours is the label-free choice, and the difference shows it.

This page is made by `conspectus bench page`. An experiment that is not here has not been run; `conspectus bench list`
shows all.
"""


def write(store: Store, path: Path) -> list[str]:
    """Write the page; return the names of the experiments on it."""
    pages = list(_pages(store))
    parts = [HEAD, _machines(pages), _overview(pages), *(each.text for each in pages)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(part for part in parts if part), encoding="utf8")
    return [each.experiment.name for each in pages]


def _pages(store: Store) -> Iterator[Page]:
    for experiment in ALL.values():
        each = page(experiment, store)
        if len(each.rows) and (each.rows["why"] != NOT_RUN).any():
            yield each


def _overview(pages: list[Page]) -> str:
    """One line an experiment: how near ours are to the printed numbers."""
    lines = [(each.experiment.name, each.experiment.title, _nearness(each)) for each in pages]
    return markdown_rows(("experiment", "what", "ours - printed"), lines)


def _nearness(each: Page) -> str:
    return summary(each.pairs) if each.pairs else "the paper prints no numbers"


def _machines(pages: list[Page]) -> str:
    """The versions and machines that the rows come from."""
    import pandas as pd

    rows = pd.concat([each.rows for each in pages], ignore_index=True) if pages else pd.DataFrame()
    if not len(rows):
        return "No experiment has been run yet.\n"
    used = {name: sorted(rows[name].dropna().unique()) for name in VERSIONS}
    return "Run with " + "; ".join(f"{name} {', '.join(found)}" for name, found in used.items()) + ".\n"
