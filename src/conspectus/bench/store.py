"""The rows of all experiments in one SQLite file that is only ever appended to."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SCORES = ("acc", "nmi", "nmi_geometric", "nmi_max", "nmi_min", "purity", "f1", "ari", "ri")
TEXT = ("key", "revision", "task", "stop", "error", "message", "objective", "singles", "unseen", "finished")
VERSIONS = ("conspectus", "python", "numpy", "scipy", "sklearn", "machine")
NUMBERS = (*SCORES, "seconds", "cpu_seconds", "memory_mb", "baseline_mb", "iterations", "limit_s", "n", "k", "found")
COLUMNS = (*TEXT, *NUMBERS, *VERSIONS)
LISTS = ("objective", "singles", "unseen")
AGAIN = ("ProcessDied", "MissingExtraError", "MemoryError", "FileNotFoundError", "ModuleNotFoundError")
"""What went wrong with the machine and not with the task: tried again by the next run."""

_FORBID = "CREATE TRIGGER IF NOT EXISTS no_{0} BEFORE {0} ON runs BEGIN SELECT RAISE(ABORT, 'append-only'); END"
_PART = 500  # keys asked for at once; SQLite limits the parameters of a statement


class Store:
    """Append-only rows under the keys of their tasks; of several rows with one key the last one counts.

    Parameters
    ----------
    path : str or Path
        The SQLite file. It is created, with its folder, when it is not there.
    """

    def __init__(self, path: str | Path) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, timeout=60)
        self._db.execute("PRAGMA journal_mode=WAL")
        kinds = {**dict.fromkeys(NUMBERS, "REAL"), **dict.fromkeys((*TEXT, *VERSIONS), "TEXT")}
        columns = ", ".join(f'"{name}" {kinds[name]}' for name in COLUMNS)
        with self._db:
            self._db.execute(f"CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, {columns})")
            self._db.execute("CREATE INDEX IF NOT EXISTS by_key ON runs (key)")
            for change in ("UPDATE", "DELETE"):
                self._db.execute(_FORBID.format(change))

    def append(self, row: Mapping[str, Any]) -> None:
        """Add one row and see it on the disk before the next task begins."""
        values = [_cell(name, row.get(name)) for name in COLUMNS]
        names, marks = ", ".join(f'"{name}"' for name in COLUMNS), ", ".join("?" * len(COLUMNS))
        with self._db:
            self._db.execute(f"INSERT INTO runs ({names}) VALUES ({marks})", values)

    def latest(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The last row of each key that has one."""
        wanted, found = list(keys), {}
        for begin in range(0, len(wanted), _PART):
            part = wanted[begin : begin + _PART]
            marks = ", ".join("?" * len(part))
            query = f"SELECT * FROM runs WHERE id IN (SELECT MAX(id) FROM runs WHERE key IN ({marks}) GROUP BY key)"
            found.update({row["key"]: row for row in self._rows(query, part)})
        return found

    def done(self, keys: Iterable[str], limit: float) -> set[str]:
        """The keys that need no further run within `limit` seconds."""
        return {key for key, row in self.latest(keys).items() if _settled(row, limit)}

    def frame(self) -> pd.DataFrame:
        """Every row ever written, as a table."""
        import pandas as pd

        return pd.DataFrame(self._rows("SELECT * FROM runs ORDER BY id", []), columns=["id", *COLUMNS])

    def close(self) -> None:
        """Close the file; SQLite folds its write-ahead log back into it."""
        self._db.close()

    def _rows(self, query: str, values: list[str]) -> list[dict[str, Any]]:
        cursor = self._db.execute(query, values)
        names = [column[0] for column in cursor.description]
        return [_row(dict(zip(names, record))) for record in cursor]


def _settled(row: Mapping[str, Any], limit: float) -> bool:
    """A result stays; a time-out stays for as long a limit; a fault of the machine does not."""
    if row["error"] == "TimeLimit":
        return bool(row["limit_s"] >= limit)
    return row["error"] not in AGAIN


def _cell(name: str, value: Any) -> Any:
    return json.dumps(value) if name in LISTS and value is not None else value


def _row(record: dict[str, Any]) -> dict[str, Any]:
    return {name: json.loads(value) if name in LISTS and value else value for name, value in record.items()}
