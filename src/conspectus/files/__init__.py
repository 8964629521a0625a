"""Reads tables from files for the command line: one view a file, or several from one NPZ.

A table in CSV, TSV (also .gz), Parquet or Feather has a column that says which sample a row is; it becomes a pandas
frame whose index holds these ids as text, as they stand in the file ("007" stays "007"), so that a table with whole
numbers for ids meets one with text. Arrays in NPY and NPZ have no names for their rows, unless the NPZ holds an array
``ids``; without, rows at the same place are the same sample. What the tables hold is checked by the door
(``as_views``), not here. pandas, NumPy and pyarrow are imported when a file is read, not before.
"""

from __future__ import annotations

import csv
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from conspectus.errors import InputError, did_you_mean
from conspectus.files.arrays import read_npy, read_npz
from conspectus.files.arrow import read_arrow
from conspectus.files.table import Table, ending_of, stem_of
from conspectus.files.text import read_text

__all__ = ["Table", "read_file", "read_tables", "require_files"]

_READERS: dict[str, Callable[[Path, str | None, bool], Iterator[Table]]] = {
    ".csv": partial(read_text, separator=","),
    ".tsv": partial(read_text, separator="\t"),
    ".csv.gz": partial(read_text, separator=","),
    ".tsv.gz": partial(read_text, separator="\t"),
    ".parquet": partial(read_arrow, form="parquet"),
    ".feather": partial(read_arrow, form="feather"),
    ".npz": read_npz,
    ".npy": read_npy,
}


def read_tables(
    paths: Sequence[str | Path], *, id: str | None = None, transpose: bool | Sequence[str | Path] = False
) -> dict[str, Any]:
    """Read the views of a data set from files, ready for ``as_views``.

    Parameters
    ----------
    paths : sequence of str or Path
        CSV, TSV (also .gz), Parquet, Feather, NPZ or NPY.
    id : str, optional
        The column that identifies the rows, in every table. By default the first, if it is named id, sample or the
        like, or holds text.
    transpose : bool or sequence of paths
        Samples are the columns of every file, or of these files, as is usual for genes × samples.

    Returns
    -------
    dict
        View name to data: all frames indexed by sample id, or all arrays whose rows correspond.

    Raises
    ------
    InputError
        In one line: which file, what is wrong with it, and what to do.
    """
    files = require_files(paths)
    turned = _turned(files, transpose)
    tables = [table for path in files for table in read_file(path, id=id, transpose=path in turned)]
    _require_same_kind(tables)
    return dict(zip(_distinct_names(tables), (table.data for table in tables)))


def require_files(paths: Sequence[str | Path]) -> list[Path]:
    """Refuse, before anything is read, a file that is not there, cannot be read by its ending, or comes twice."""
    files = [Path(path) for path in paths]
    twice = [path for path, count in Counter(path.absolute() for path in files).items() if count > 1]
    if twice:
        raise InputError(f"{twice[0].name} is given twice: name each file once")
    for path in files:
        _reader(path)
    return files


def read_file(path: Path, *, id: str | None = None, transpose: bool = False) -> list[Table]:
    """Read the views that one file holds; see `read_tables`."""
    reader = _reader(path)
    with _one_line(path):
        return list(reader(path, id, transpose))


def _turned(files: Sequence[Path], transpose: bool | Sequence[str | Path]) -> Sequence[Path]:
    """Return the files that have their samples in columns."""
    if isinstance(transpose, bool):
        return files if transpose else ()
    turned = [Path(path) for path in transpose]
    for path in turned:
        if path not in files:
            raise InputError(f"{path} is to be transposed, and is not read{did_you_mean(str(path), map(str, files))}")
    return turned


def _reader(path: Path) -> Callable[[Path, str | None, bool], Iterator[Table]]:
    if path.is_dir():
        raise InputError(f"{path} is a folder: name the files in it")
    if not path.exists():
        beside = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"there is no file {path}{did_you_mean(path.name, beside)}")
    ending = ending_of(path)
    if ending not in _READERS:
        raise InputError(
            f"{path}: cannot read '{ending or path.name}' files; save the table as one of {', '.join(_READERS)}"
        )
    return _READERS[ending]


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """Turn what the readers of the libraries raise into one line that names the file and the remedy."""
    try:
        yield
    except (InputError, ImportError):
        raise
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text: save it with the encoding UTF-8") from None
    except (EOFError, zlib.error, zipfile.BadZipFile):
        raise InputError(f"{path} is broken or cut short: make it again, or copy it again") from None
    except (OSError, ValueError, csv.Error) as error:  # pandas' ParserError and Arrow's errors are ValueErrors
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path} cannot be read: {said.removeprefix('Error tokenizing data. C error: ')}") from None


def _require_same_kind(tables: Sequence[Table]) -> None:
    named = [table for table in tables if table.has_ids]
    unnamed = [table for table in tables if not table.has_ids]
    if named and unnamed:
        raise InputError(
            f"{unnamed[0].path} has no sample ids and {named[0].path} has: "
            "save an array 'ids' beside the views in an NPZ, or save both as tables"
        )
    lengths = {table.data.shape[0] for table in unnamed if table.data.ndim}
    if len({table.path for table in unnamed}) > 1 and len(lengths) > 1:
        shown = ", ".join(f"{table.path.name} {table.data.shape[0]}" for table in unnamed)
        raise InputError(
            f"arrays without ids must have equal numbers of rows, and these have {shown}: add 'ids' in an NPZ"
        )


def _distinct_names(tables: Sequence[Table]) -> list[str]:
    """Return the views' names, with the folder or the file before those that two files share."""
    count = Counter(table.name for table in tables)
    names = [table.name if count[table.name] == 1 else _longer_name(table) for table in tables]
    return [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names, 1)]


def _longer_name(table: Table) -> str:
    stem = stem_of(table.path)
    return f"{table.path.absolute().parent.name}/{stem}" if table.name == stem else f"{stem}/{table.name}"
