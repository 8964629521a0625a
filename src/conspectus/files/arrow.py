"""Tables in Parquet and Feather, which the extra ``parquet`` (pyarrow) reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conspectus.errors import InputError, optional
from conspectus.files.table import Table, framed, id_place, id_text


def read_arrow(path: Path, id_name: str | None, transpose: bool, *, form: str) -> Iterator[Table]:
    optional("pyarrow", "parquet")
    import pandas as pd

    frame = (pd.read_parquet if form == "parquet" else pd.read_feather)(path)
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()  # pandas had stored an index, and it is a column like another
    header = [str(name) for name in frame.columns]
    if not header:
        raise InputError(f"{path} is empty: it needs columns and a row for each sample")
    place = id_place(path, header, id_name, first_is_text=not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[0]))
    ids = frame.iloc[:, place]
    texts = ["" if missing else id_text(value) for value, missing in zip(ids, ids.isna())]
    kept = frame.iloc[:, [j for j in range(len(header)) if j != place]]
    yield framed(path, kept, texts, [str(name) for name in kept.columns], transpose)
