"""Words for views, samples and lists of names in messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from conspectus.errors import did_you_mean


def view_label(v: int, name: str) -> str:
    """Name a view by its name and position."""
    return f"view {v}" if name == f"view{v}" else f"view {name!r} (position {v})"


def sample_label(i: int, ids: Sequence[Any] | None) -> str:
    """Name a sample by its id and position."""
    if ids is None or _plain(ids[i]) == i:
        return f"sample {i}"
    return f"sample {_plain(ids[i])!r} (position {i})"


def some(names: Iterable[Any], most: int = 3) -> str:
    """List the first few names."""
    names = [_plain(name) for name in names]
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f", ... ({len(names)} in all)" if len(names) > most else "")


def close(word: Any, words: Iterable[Any]) -> str:
    """Offer the word that was perhaps meant."""
    return did_you_mean(str(word), [str(w) for w in words])


def _plain(value: Any) -> Any:
    """A NumPy scalar as Python shows it."""
    return value.item() if hasattr(value, "item") else value
