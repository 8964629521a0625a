"""``conspectus methods``: what there is to choose from."""

from __future__ import annotations

import json
from typing import Any

import click


def run(*, as_json: bool) -> None:
    """List the methods of the registry."""
    from conspectus import registry

    rows = {name: describe(method) for name, method in registry.all_methods().items()}
    if as_json:
        click.echo(json.dumps({"default": registry.DEFAULT, "methods": rows}, ensure_ascii=False))
    else:
        _table(rows, registry.DEFAULT)


def describe(method: Any) -> dict[str, str]:
    """Return what a person chooses a method by."""
    return {"paper": method.paper, "requires": method.requires.words(), "cost": method.cost}


def _table(rows: dict[str, dict[str, str]], default: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("method", "cost in n", "requires", "paper", box=None, header_style="bold", pad_edge=False)
    for name, row in rows.items():
        table.add_row(name, row["cost"], row["requires"], row["paper"])
    console = Console(highlight=False)
    console.print(table)
    console.print(f"\nThe default is {default}. Names are taken in any case: --method {default.lower()}", markup=False)
