"""The pages that the registry makes when the documentation is built: the table of methods, the API reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

HEADER = """# Methods

Every method takes the same data and gives the same things: `fit`, `predict`, `confidence`, `to_frame`. They differ in
what they ask of the data and in how their cost grows with the number of samples n. *New samples* says how `predict`
works: by the method's own formula from any views, or by the nearest class mean over the views that a sample has.

| method | paper | asks for | cost | new samples |
|---|---|---|---|---|
"""


def row(name: str, method: Any) -> str:
    """One line of the table."""
    label = getattr(method, "label", name)
    shown = f"`{name}`" + (f" ({label})" if label != name else "")
    predict = "own formula" if method.has_map else "nearest class mean"
    return f"| {shown} | {method.paper} | {method.requires.words()} | {method.cost} | {predict} |"


def write_pages(folder: Path) -> None:
    """Write the pages that the index links to."""
    from conspectus import all_methods
    from conspectus.registry import DEFAULT

    lines = [row(name, method) for name, method in all_methods().items()]
    text = HEADER + "\n".join(lines) + f"\n\nThe command line uses `{DEFAULT}` unless it is told otherwise.\n"
    _write(folder / "methods.md", text)
    classes = [name for name, method in all_methods().items() if isinstance(method, type)]
    template = (folder / "api.rst.in").read_text(encoding="utf8")
    _write(folder / "api.rst", template.replace("METHODS", "\n".join(f"   {name}" for name in classes)))


def _write(page: Path, text: str) -> None:
    """Write a page that has changed: an untouched one need not be read again."""
    if not page.exists() or page.read_text(encoding="utf8") != text:
        page.write_text(text, encoding="utf8")
