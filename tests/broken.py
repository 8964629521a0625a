"""Data that cannot be used, each with the words that its error must hold: the view, the sample and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

A = np.arange(12.0).reshape(6, 2)
B = np.arange(18.0).reshape(6, 3) ** 2
NAN = np.nan


def put(X: Any, value: Any, *where: Any) -> Any:
    """Return a copy with some entries changed."""
    X = np.array(X, dtype=float)
    X[where] = value
    return X


def table(rows: Any, ids: Any, columns: str = "ab") -> Any:
    """Return a small pandas table."""
    return pd.DataFrame(rows, index=list(ids), columns=list(columns))


class Broken(NamedTuple):
    """What a user gives, the arguments beside it, and what the one-line error says."""

    name: str
    make: Callable[[], Any]
    says: tuple[str, ...]
    options: dict[str, Any] = {}  # noqa: RUF012


BROKEN = [
    Broken("unseen sample", lambda: [put(A, NAN, 3), put(B, NAN, 3)], ("sample 3", "no view", "leave it out")),
    Broken("partly NaN", lambda: {"gene": put(A, NAN, 2, 1), "image": B}, ("'gene'", "sample 2", "1 of 2", "partial=")),
    Broken("infinite", lambda: [A, put(B, np.inf, 4, 0)], ("view 1", "sample 4", "inf", "NaN")),
    Broken("no columns", lambda: [A, np.empty((6, 0))], ("view 1", "no columns", "leave the view out")),
    Broken("lengths", lambda: [A, B[:4]], ("view 0", "6 rows", "view 1", "4", "NaN")),
    Broken("duplicate ids", lambda: [table(A, "aabcde"), table(A, "abcdef")], ("view 0", "'a'", "0 and 1", "drop")),
    Broken("ids= twice", lambda: [A, B], ("ids", "'x'", "rows 0 and 5"), {"ids": list("xyzvwx")}),
    Broken(
        "text column",
        lambda: [table(A, "abcdef").assign(sex=list("mfmfmf")), table(A, "abcdef")],
        ("view 0", "'sex'", "drop or one-hot encode"),
    ),
    Broken(
        "text cell", lambda: [np.array([[1, "x"], [2, 3]], dtype=object), A[:2]], ("view 0", "'x'", "row 0, column 1")
    ),
    Broken("text array", lambda: [np.array([["a"], ["b"]]), A[:2]], ("view 0", "one-hot")),
    Broken(
        "no shared id", lambda: [table(A, "abcdef"), table(A, "uvwxyz")], ("no id", "'a', 'b', 'c'", "'u', 'v', 'w'")
    ),
    Broken("spaces in ids", lambda: [table(A, [f" {i}" for i in range(6)]), table(A, range(6))], ("stripped text",)),
    Broken(
        "transposed",
        lambda: [table(A, "uvwxyz"), pd.DataFrame(B.T, index=list("pqr"), columns=list("uvwxyz"))],
        ("transpose", "(df.T)"),
    ),
    Broken("mixed kinds", lambda: [table(A, "abcdef"), B], ("view 1", "array", "to_numpy")),
    Broken("fresh indexes", lambda: [pd.DataFrame(A), pd.DataFrame(B[:5])], ("6", "5", "no ids", "on=")),
    Broken("polars without key", lambda: [pl.DataFrame(A), pl.DataFrame(B[:5])], ("no ids", "on=")),
    Broken(
        "key column",
        lambda: [table(A, "abcdef").reset_index(names="patient"), table(A, "abcdef").reset_index(names="patient")],
        ("'patent'", "did you mean 'patient'"),
        {"on": "patent"},
    ),
    Broken("row without id", lambda: [table(A, ["a", None, *"cdef"]), table(A, "abcdef")], ("row 1 has no id",)),
    Broken("1-D", lambda: [A, np.arange(6.0)], ("view 1", "1 axes", "reshape(-1, 1)")),
    Broken("3-D", lambda: np.zeros((6, 2, 2)), ("3 axes",)),
    Broken("3-D in a list", lambda: [A, np.zeros((6, 2, 2))], ("view 1", "3 axes")),
    Broken("complex", lambda: [A, B * 1j], ("Complex data not supported", "view 1")),
    Broken("ragged", lambda: [[[1.0], [2.0, 3.0]], [[1.0], [2.0]]], ("view 0", "rows of equal length")),
    Broken("nothing", list, ("no views",)),
    Broken("all None", lambda: [None, None], ("every view is None",)),
    Broken("sparse NaN", lambda: [A, sparse.csr_array(put(B, NAN, 2, 1))], ("view 1", "sample 2", "mask=")),
    Broken("mask shape", lambda: [A, B], ("mask", "(6, 3)", "one column a view"), {"mask": np.ones((6, 3), bool)}),
    Broken("mask kind", lambda: [A, B], ("mask", "not booleans"), {"mask": np.full((6, 2), 0.5)}),
    Broken(
        "mask against NaN",
        lambda: [put(A, NAN, 0), B],
        ("view 0", "sample 0", "mask it out"),
        {"mask": np.ones((6, 2), bool)},
    ),
    Broken("names", lambda: [A, B], ("names", "2 views"), {"names": ["a"]}),
    Broken("ids length", lambda: [A, B], ("ids", "6 samples"), {"ids": [1, 2]}),
    Broken("option", lambda: [A, B], ("partial='median'", "'mean'"), {"partial": "median"}),
    Broken("asymmetric kernel", lambda: [np.triu(np.ones((6, 6)))], ("view 0", "not symmetric"), {"square": True}),
]
