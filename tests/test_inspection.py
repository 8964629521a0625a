"""The look before clustering: every fault of broken tables is named at once, and whole ones are described."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse

from conspectus import as_views
from conspectus.cli import main
from conspectus.inspection import mend, repeated_rows

RNG = np.random.default_rng(0)
IDS = [f"P{i:02d}" for i in range(40)]


def table(n_columns, rows=slice(None), prefix="g"):
    X = RNG.normal(size=(40, n_columns))
    return pd.DataFrame(X, index=IDS, columns=[f"{prefix}{j}" for j in range(n_columns)])[rows]


@pytest.fixture
def broken(tmp_path):
    """Three tables with all that people's tables have."""
    rna = table(12).astype(object)
    rna.iloc[3, 1] = np.inf
    rna.iloc[5, 2] = np.nan
    rna["sex"] = ["m", "f"] * 20
    rna = pd.concat([rna, rna.iloc[[7]]])
    protein = table(4, slice(0, 30), "p")
    protein["p1"] = 5.0
    protein.iloc[[4, 5, 6]] = 0.0
    image = table(3, prefix="i").set_axis([f"X{i}" for i in range(40)])
    paths = []
    for name, frame in (("rna", rna), ("protein", protein), ("image", image)):
        paths.append(str(tmp_path / f"{name}.csv"))
        frame.to_csv(paths[-1], index_label="id")
    return paths


def test_three_broken_tables_have_every_fault_named(broken):
    result = CliRunner().invoke(main, ["inspect", *broken])
    assert result.exit_code == 1
    for words in (
        "FAULT in rna (text columns): 1 column without numbers ('sex')",
        "FAULT in rna (repeated ids): 1 row with an id that stood before ('P07')",
        "FAULT in rna (infinite): 1 infinite entry (first in row 'P03', column 'g1')",
        "FAULT in rna (blank in part): 2 rows blank in part",
        "FAULT in image (does not join)",
        "shares no id with",
        "3 of 30 rows are all zero",
        "5 faults kept out of the above",
    ):
        assert words in result.output, (words, result.output)
    assert re.search(r"zero rows +0 +3\n", result.output)


def test_json_holds_the_same(broken):
    record = json.loads(CliRunner().invoke(main, ["inspect", "--json", *broken]).output)
    assert {fault["kind"] for fault in record["faults"]} == {
        "text columns", "repeated ids", "infinite", "blank in part", "does not join"
    }  # fmt: skip
    assert record["views"]["protein"]["zero_rows"] == 3
    assert record["views"]["protein"]["constant_columns"] == 0  # three rows are zero: constant but for them
    assert sum(pattern["samples"] for pattern in record["patterns"]) == record["samples"] == 40


def test_whole_tables_have_no_faults(tmp_path):
    for name, frame in (("rna", table(12)), ("protein", table(4, slice(0, 30)))):
        frame.to_csv(tmp_path / f"{name}.csv", index_label="id")
    result = CliRunner().invoke(main, ["inspect", str(tmp_path / "rna.csv"), str(tmp_path / "protein.csv")])
    assert result.exit_code == 0, result.output
    assert "40 samples, 2 views; 10 samples miss a view" in result.output
    assert "No faults." in result.output
    assert "prepare='auto' would do: centred" in result.output


def test_the_frame_says_what_the_data_hold():
    counts = sparse.random_array((40, 80), density=0.08, rng=np.random.default_rng(0), format="csr")
    wide = RNG.normal(size=(40, 12)) * 10.0 ** np.arange(12)
    wide[1] = wide[0]
    wide[9] = 0
    frame = as_views({"wide": wide, "words": counts}).inspect()
    assert frame.loc["wide", "repeated_rows"] == 1
    assert frame.loc["wide", "absent_rows"] == 1
    assert "mixed units" in frame.loc["wide", "auto"]
    assert "sparse text" in frame.loc["words", "auto"]
    assert frame.loc["words", "missing"] == 0


def test_repeated_rows_of_sparse_and_dense_matrices_agree():
    X = RNG.integers(0, 2, size=(50, 4)).astype(float)
    assert repeated_rows(X) == repeated_rows(sparse.csr_array(X)) == 50 - len(np.unique(X, axis=0))


def test_mending_leaves_the_input_as_it_was():
    frame = table(3)
    frame.iloc[0, 0] = np.inf
    before = frame.copy()
    mended, faults = mend({"a": frame})
    pd.testing.assert_frame_equal(frame, before)
    assert len(faults) == 2  # infinite, and then blank in part
    assert np.isnan(mended["a"].iloc[0]).all()
