"""A view as it stands in a file, and the column of a table that says which sample a row is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conspectus.errors import InputError, did_you_mean

ID_NAMES = {"", "accession", "barcode", "case", "cell", "donor", "gene", "id", "identifier", "index", "item", "key"}
ID_NAMES |= {"name", "object", "participant", "patient", "probe", "row", "rowname", "sample", "samplename", "specimen"}
ID_NAMES |= {"subject", "unnamed:0"}
"""Headers, in small letters and without separators or a final s, of a first column that says what a row is."""

_ENDS_IN_ID = re.compile(r"(?i:(?:^|[_.\s-])ids?$)|[a-z]I[Dd]s?$")


@dataclass(frozen=True)
class Table:
    """One view as it stands in a file.

    Attributes
    ----------
    name : str
        The name of the view: of the file without its ending, or of the array in an NPZ.
    data : pandas.DataFrame, numpy.ndarray or scipy.sparse array
        Samples in rows. A frame is indexed by the samples' ids, as text.
    path : Path
        Where it came from.
    """

    name: str
    data: Any
    path: Path

    @property
    def has_ids(self) -> bool:
        """Whether the rows have names, rather than only places."""
        return hasattr(self.data, "index")


def ending_of(path: Path) -> str:
    """Return the file's ending in small letters, .gz together with what stands before it."""
    endings = [part.lower() for part in path.suffixes[-2:]]
    return "".join(endings) if endings[-1:] == [".gz"] else "".join(endings[-1:])


def stem_of(path: Path) -> str:
    name = path.name
    return name[: len(name) - len(ending_of(path))] or name


def id_place(path: Path, header: Sequence[str], id_name: str | None, *, first_is_text: bool) -> int:
    if id_name is not None:
        return _named_place(path, header, id_name)
    if first_is_text or sounds_like_id(header[0]):
        return 0
    raise InputError(
        f"{path}: the first column, '{header[0]}', does not look like sample ids: name the column with --id COLUMN"
    )


def _named_place(path: Path, header: Sequence[str], id_name: str) -> int:
    if id_name in header:
        return header.index(id_name)
    shown = ", ".join(header[:5]) + (", ..." if len(header) > 5 else "")
    raise InputError(f"{path} has no column '{id_name}', it has {shown}{did_you_mean(id_name, header)}")


def sounds_like_id(name: str) -> bool:
    plain = re.sub(r"[_.\s-]", "", name.casefold())
    return plain in ID_NAMES or plain.removesuffix("s") in ID_NAMES or bool(_ENDS_IN_ID.search(name.strip()))


def holds_text(cells: Iterable[str]) -> bool:
    return any(cell.strip() and not is_number(cell) for cell in cells)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def framed(path: Path, frame: Any, ids: list[str], names: list[str], transpose: bool) -> Table:
    import pandas as pd

    nameless = [row for row, name in enumerate(ids) if not name.strip()]
    if nameless:
        raise InputError(
            f"{path}: {len(nameless)} rows have no id, the first is row {nameless[0] + 1}: fill it in, or remove them"
        )
    frame = frame.set_axis(pd.Index(ids, dtype=object, name="id"), axis=0).set_axis(names, axis=1)
    if transpose:
        frame = frame.T.rename_axis("id")
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    return Table(stem_of(path), frame, path)


def id_text(value: object) -> str:
    """Return an id as text: 17.0, what a whole number becomes beside missing ones, is 17."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
