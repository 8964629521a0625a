"""``conspectus inspect``: look before clustering."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from conspectus.cli.reading import Reading
from conspectus.files import require_files

PATTERNS = 12
"""How many patterns of presence are shown."""


def run(files: Sequence[str], as_json: bool, **how: Any) -> None:
    """Read, mend what the door would refuse, and tell everything that was found; exit code 1 where there are faults."""
    require_files(files)
    reading = Reading(**how)
    tables = reading.tables(files)
    from conspectus.inspection import inspect, mend
    from conspectus.views.door import open_door

    mended, faults = mend(tables, reading.partial)
    joined = {name: table for name, table in mended.items() if name not in {f.view for f in faults if "join" in f.kind}}
    settled: dict[str, Any] = {"partial": reading.partial, "zero_rows": reading.zero_rows or "keep"}
    views = open_door(joined, **settled) if joined else None
    frame = None if views is None else inspect(views)
    if as_json:
        click.echo(json.dumps(_record(views, frame, faults), ensure_ascii=False))
    else:
        _tell(views, frame, faults)
    if faults:
        raise SystemExit(1)


def _record(views: Any, frame: Any, faults: Any) -> dict[str, Any]:
    """Everything as plain values."""
    return {
        "samples": 0 if views is None else len(views),
        "views": {} if frame is None else json.loads(frame.to_json(orient="index")),
        "patterns": [] if views is None else [{"views": names, "samples": n} for names, n in _patterns(views)],
        "faults": [vars(fault) for fault in faults],
    }


def _patterns(views: Any) -> list[tuple[list[str], int]]:
    """Which views go together in how many samples, the most frequent first."""
    distinct, group = views.patterns
    counts = np.bincount(group, minlength=len(distinct))
    return [
        ([name for name, seen in zip(views.names, distinct[g]) if seen], int(counts[g]))
        for g in np.argsort(-counts, kind="stable")
    ]


def _tell(views: Any, frame: Any, faults: Any) -> None:
    """Print it all for a person."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, soft_wrap=True)
    if views is not None:
        n, incomplete = len(views), len(views) - len(views.complete)
        console.print(f"{n:,} samples, {views.n_views} views; {incomplete:,} samples miss a view\n")
        console.print(_view_table(frame))
        console.print()
        console.print(_pattern_table(views))
        for name, row in frame.iterrows():
            console.print(f"\n{name}: {row['remarks'] or 'nothing odd'}")
            console.print(f"  prepare='auto' would do: {row['auto']}")
    for fault in faults:
        console.print(f"\nFAULT in {fault.view} ({fault.kind}): {fault.text}")
    many = f"{len(faults)} fault{'s' * (len(faults) > 1)} kept out of the above: tables with faults are not clustered"
    console.print(f"\n{many if faults else 'No faults'}.")


def _view_table(frame: Any) -> Any:
    """One column a view: there are fewer views than things to say of each."""
    from rich.table import Table

    table = Table("", *map(str, frame.index), box=None, header_style="bold", pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name in frame.columns.drop(["remarks", "auto"]):
        table.add_row(name.replace("_", " "), *map(_number, frame[name]))
    return table


def _number(x: Any) -> str:
    return f"{int(x):,}" if float(x).is_integer() and abs(x) < 1e15 else f"{x:.4g}"


def _pattern_table(views: Any) -> Any:
    """The patterns as dots with bars, the most frequent first."""
    from rich.table import Table

    found = _patterns(views)
    table = Table(*views.names, "samples", "", box=None, header_style="bold", pad_edge=False)
    for column in table.columns[:-2]:
        column.justify = "center"
    table.columns[-2].justify = "right"
    for names, count in found[:PATTERNS]:
        dots = ["●" if name in names else "·" for name in views.names]
        table.add_row(*dots, f"{count:,}", "█" * math.ceil(24 * count / found[0][1]))
    if len(found) > PATTERNS:
        rest = found[PATTERNS:]
        table.add_row(*[""] * len(views.names), f"{sum(c for _, c in rest):,}", f"in {len(rest)} more patterns")
    return table
