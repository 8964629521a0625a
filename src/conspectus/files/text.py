"""Tables in CSV and TSV, also compressed with gzip."""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

from conspectus.errors import InputError
from conspectus.files.table import Table, framed, holds_text, id_place, is_number, sounds_like_id

_RAGGED = "line {} has {} cells where the header has {}: quote cells that hold the separator"
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_PROBE = 100  # rows that are looked at to tell whether a column holds text


def read_text(path: Path, id_name: str | None, transpose: bool, *, separator: str) -> Iterator[Table]:
    """Read one table. The ids are read apart from the numbers, as text: an id NA is an id, and 007 is not 7."""
    import pandas as pd

    header, first_row = _first_two_rows(path, separator)
    header = _with_row_names(path, header, first_row)
    options: Any = {"sep": separator, "header": 0, "names": range(len(header)), "encoding": "utf-8-sig"}
    as_text: Any = {"dtype": str, "na_filter": False, **options}
    try:
        probe = pd.read_csv(path, nrows=_PROBE, usecols=[0], **as_text)[0]
        place = id_place(path, header, id_name, first_is_text=holds_text(probe))
        _require_header(path, [name for j, name in enumerate(header) if j != place])
        frame = pd.read_csv(path, low_memory=False, **options)
        ids = pd.read_csv(path, usecols=[place], **as_text)[place]
    except pd.errors.ParserError as error:
        raise InputError(f"{path}: {_ragged(str(error))}") from None
    frame = frame.drop(columns=place)
    frame = frame if len(frame) else frame.astype(float)  # columns of nothing hold no text
    yield framed(path, frame, list(ids), _plain_names(header, place, transpose), transpose)


def _first_two_rows(path: Path, separator: str) -> tuple[list[str], list[str]]:
    """Return the header and the row after it (empty if there is none)."""
    with _opened(path) as lines:
        filled = (row for row in csv.reader(lines, delimiter=separator) if row)
        header, first_row = next(filled, []), next(filled, [])
    if not header:
        raise InputError(f"{path} is empty: it needs a header and a row for each sample")
    other = next((mark for mark in _MARKS if mark != separator and mark in header[0]), None)
    if len(header) == 1 and other:
        remedy = {",": "name it .csv", "\t": "name it .tsv"}.get(other, "save it with commas, and points in numbers")
        raise InputError(f"{path} is separated by {_MARKS[other]}, not by {_MARKS[separator]}: {remedy}")
    return header, first_row


def _opened(path: Path) -> TextIO:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _with_row_names(path: Path, header: list[str], first_row: list[str]) -> list[str]:
    """R's write.table leaves the column of row names without a header; pandas would take such cells for an index."""
    if len(first_row) == len(header) + 1 and not sounds_like_id(header[0]):
        return ["", *header]
    if len(first_row) > len(header):
        raise InputError(f"{path}: {_RAGGED.format(2, len(first_row), len(header))}")
    return header


def _ragged(message: str) -> str:
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message)
    if not found:
        return f"cannot be read as a table: {' '.join(message.split())}"
    expected, line, seen = found.groups()
    return _RAGGED.format(line, seen, expected)


def _require_header(path: Path, names: Sequence[str]) -> None:
    """Numbers that repeat, or fractions in no order, are the first sample where the header should be."""
    if names and all(is_number(name) for name in names):
        numbers = [float(name) for name in names]
        steps = [after - before for before, after in pairwise(numbers)]
        in_order = all(step > 0 for step in steps) or all(step < 0 for step in steps)  # wavelengths are
        if not in_order and (len(set(numbers)) < len(numbers) or not all(number.is_integer() for number in numbers)):
            raise InputError(f"{path} has no header: add a first row that names the columns")


def _plain_names(header: Sequence[str], place: int, transpose: bool) -> list[str]:
    """Return the names of the columns beside the ids; repeated ones get a number, but never those of samples."""
    names = [name for j, name in enumerate(header) if j != place]
    if transpose:
        return names
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        distinct.append(f"{name}.{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return distinct
