"""``conspectus methods``: what there is to choose from."""

from __future__ import annotations

import json
from typing import Any

import click


def run(*, as_json: bool, bibtex: bool) -> None:
    """List the methods of the registry."""
    from conspectus import registry

    if bibtex:
        # One entry a paper: several methods may be from the same one.
        entries = dict.fromkeys(method.bibtex.strip() for method in registry.all_methods().values() if method.bibtex)
        click.echo("\n\n".join(entries))
        return
    rows = {name: describe(method) for name, method in registry.all_methods().items()}
    if as_json:
        click.echo(json.dumps({"default": registry.DEFAULT, "methods": rows}, ensure_ascii=False))
    else:
        _page(rows, registry.DEFAULT)


def describe(method: Any) -> dict[str, str]:
    """Return what a person chooses a method by."""
    return {"paper": method.paper, "requires": method.requires.words(), "cost": method.cost}


def _page(rows: dict[str, dict[str, str]], default: str) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    width = max(map(len, rows))
    for name, row in rows.items():
        needs = "" if row["requires"] == "-" else f"; needs {row['requires']}"
        console.print(Text.assemble((f"{name:<{width}}", "bold"), f"  {row['cost']}{needs}"), soft_wrap=True)
        console.print(Padding(Text(row["paper"]), (0, 0, 0, width + 2)))
    console.print(Text(f"\nThe default is {default}. Names are taken in any case: --method {default.lower()}"))
