"""Results as a table of the library that the user works with."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from conspectus._typing import Array


def result_frame(ids: Array, labels: Array, confidence: Array, library: str | None) -> Any:
    """Return the columns id, label and confidence as a table of `library` (pandas where none is known)."""
    columns = {"id": list(ids.tolist()), "label": labels, "confidence": confidence}
    if library in ("polars", "pyarrow"):
        module = import_module(library)
        return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    return import_module("pandas").DataFrame(columns)
