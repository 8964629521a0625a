"""Tables from files: what is in the file arrives, ids as text, and every broken file is one line."""

from __future__ import annotations

import gzip
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from conspectus.errors import InputError, MissingExtraError, did_you_mean
from conspectus.files import read_tables

pytest.importorskip("pyarrow")  # the extra parquet

IDS = ["007", "S2", " 17", "NA"]
A = pd.DataFrame({"x": [1.5, 2, 3, 4], "y": [0, 1, np.nan, 3]}, index=pd.Index(IDS, name="id", dtype=object))


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def one(path, **options):
    (table,) = read_tables([path], **options).values()
    return table


WRITERS = {
    "A.csv": lambda path: A.to_csv(path, na_rep="NA"),
    "A.CSV": lambda path: A.to_csv(path),
    "A.tsv": lambda path: A.to_csv(path, sep="\t"),
    "A.csv.gz": lambda path: A.to_csv(path),
    "A.tsv.gz": lambda path: A.to_csv(path, sep="\t"),
    "A.parquet": lambda path: A.to_parquet(path),
    "A.feather": lambda path: A.reset_index().to_feather(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_was_written_is_what_is_read(tmp_path, name):
    WRITERS[name](tmp_path / name)
    tables = read_tables([tmp_path / name])
    assert list(tables) == ["A"]
    pd.testing.assert_frame_equal(tables["A"], A, check_dtype=False, check_index_type=False)


@given(st.lists(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1), min_size=1))
def test_any_id_comes_back_as_it_was(tmp_path_factory, ids):
    path = tmp_path_factory.mktemp("ids") / "A.csv"
    pd.DataFrame({"id": ids, "x": 1.0}).to_csv(path, index=False)
    assert list(one(path).index) == ids


@pytest.mark.parametrize(
    ("header", "first"),
    [
        ("sample", "1"),
        ("Sample_ID", "1"),
        ("patientId", "1"),
        ("", "1"),
        ("Unnamed: 0", "1"),
        ("x0", "S1"),
        ("IDs", "1"),
    ],
)
def test_first_column_is_the_id_by_its_name_or_its_text(tmp_path, header, first):
    assert list(one(write(tmp_path, "A.csv", f"{header},x\n{first},2\n")).index) == [first]


@pytest.mark.parametrize("header", ["x0", "acid", "age", "grid", "void"])
def test_a_first_column_of_numbers_is_not_taken_for_ids(tmp_path, header):
    with pytest.raises(InputError, match=f"'{header}'.*--id"):
        read_tables([write(tmp_path, "A.csv", f"{header},x\n1,2\n")])


def test_id_names_any_column(tmp_path):
    path = write(tmp_path, "A.csv", "x,who,y\n1,007,3\n2,008,4\n")
    frame = one(path, id="who")
    assert list(frame.index) == ["007", "008"]
    assert list(frame.columns) == ["x", "y"]


def test_whole_numbers_and_text_are_the_same_ids(tmp_path):
    pd.DataFrame({"id": [17, 18], "x": [1.0, 2]}).to_parquet(tmp_path / "A.parquet")
    pd.DataFrame({"id": [17.0, 18], "x": [1.0, 2]}).to_feather(tmp_path / "B.feather")
    write(tmp_path, "C.csv", "id,x\n17,1\n18,2\n")
    np.savez(tmp_path / "D.npz", D=np.eye(2), ids=[17, 18])
    np.savez(tmp_path / "E.npz", E=np.eye(2), ids=np.array([b"17", b"18"]))
    tables = read_tables([tmp_path / name for name in ("A.parquet", "B.feather", "C.csv", "D.npz", "E.npz")])
    assert {tuple(table.index) for table in tables.values()} == {("17", "18")}


def test_a_table_written_by_r_has_no_name_over_its_ids(tmp_path):
    frame = one(write(tmp_path, "A.tsv", "x\ty\nS1\t1\t2\nS2\t3\t4\n"))
    assert list(frame.index) == ["S1", "S2"]
    assert frame.to_numpy().tolist() == [[1, 2], [3, 4]]


def test_transposed_tables_have_their_samples_in_the_header(tmp_path):
    path = write(tmp_path, "A.csv", "gene,007,S1,S1\nTP53,1,2,3\nEGFR,4,5,6\n")
    frame = one(path, transpose=True)
    assert list(frame.index) == ["007", "S1", "S1"]  # two samples of one name stay so, for the door to find
    assert list(frame.columns) == ["TP53", "EGFR"]
    assert frame.to_numpy().tolist() == [[1, 4], [2, 5], [3, 6]]


def test_columns_of_one_name_are_numbered(tmp_path):
    assert list(one(write(tmp_path, "A.csv", "id,x,x\na,1,2\n")).columns) == ["x", "x.1"]


def test_wavelengths_and_whole_numbers_are_column_names(tmp_path):
    for header in ("400.5,401.0,401.5", "7157,1956,672"):
        assert ",".join(one(write(tmp_path, "A.csv", f"id,{header}\na,1,2,3\n")).columns) == header


def test_blank_lines_and_a_byte_order_mark_are_no_data(tmp_path):
    path = tmp_path / "A.csv"
    path.write_bytes(b"\xef\xbb\xbf\nid,x\n\na,1\n\n")
    assert one(path).to_dict() == {"x": {"a": 1}}


def test_arrays_stay_arrays(tmp_path):
    X, Y = np.arange(6, dtype=np.float32).reshape(3, 2), np.arange(3, dtype=np.uint8)[:, None]
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "Y.npy", Y)
    tables = read_tables([tmp_path / "X.npy", tmp_path / "Y.npy"])
    assert isinstance(tables["X"], np.memmap)
    assert tables["X"].dtype == np.float32
    np.testing.assert_array_equal(tables["Y"], Y)
    np.testing.assert_array_equal(one(tmp_path / "X.npy", transpose=True), X.T)


def test_npz_takes_numbered_views_in_order_or_every_array(tmp_path):
    views = {f"X{v}": np.full((2, 1), v) for v in range(11)}
    np.savez(tmp_path / "A.npz", **views, y=[0, 1])
    assert list(read_tables([tmp_path / "A.npz"])) == [f"X{v}" for v in range(11)]
    np.savez(tmp_path / "B.npz", X0=np.eye(2), X1=np.eye(2), meta='{"views": ["fou", "fac"]}')
    assert list(read_tables([tmp_path / "B.npz"])) == ["fou", "fac"]
    np.savez(tmp_path / "C.npz", rna=np.eye(2), dna=np.eye(2), ids=["a", "b"])
    tables = read_tables([tmp_path / "C.npz"])
    assert {name: list(table.index) for name, table in tables.items()} == {"rna": ["a", "b"], "dna": ["a", "b"]}


def test_npz_of_a_sparse_matrix_stays_sparse(tmp_path):
    sparse.save_npz(tmp_path / "A.npz", sparse.eye_array(3, format="csr"))
    assert sparse.issparse(one(tmp_path / "A.npz"))


def test_views_of_one_name_are_told_apart(tmp_path):
    for folder in ("rna", "dna"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, "data.csv", "id,x\na,1\n")
        np.savez(tmp_path / folder / "more.npz", p=np.eye(1), q=np.eye(1), ids=["a"])
    paths = [tmp_path / folder / name for folder in ("rna", "dna") for name in ("data.csv", "more.npz")]
    assert len(read_tables(paths)) == 6
    assert list(read_tables(paths[::2])) == ["rna/data", "dna/data"]


def pickled(path):
    path.write_bytes(pickle.dumps([1, 2]))


BROKEN = {
    "missing file": ("A_.csv", lambda p: write(p.parent, "A.csv", "id,x\na,1\n"), "no file .*did you mean 'A.csv'"),
    "folder": ("A.csv", lambda p: p.mkdir(), "is a folder"),
    "unknown ending": ("A.xlsx", lambda p: p.write_text("x"), "'.xlsx'.*save .* .csv"),
    "no ending": ("A", lambda p: p.write_text("x"), "cannot read 'A'"),
    "empty CSV": ("A.csv", lambda p: p.write_text(""), "is empty"),
    "empty gz": ("A.csv.gz", lambda p: p.write_bytes(b""), "is empty"),
    "not gz": ("A.csv.gz", lambda p: p.write_text("id,x\na,1\n"), "[Nn]ot a gzipped file"),
    "cut gz": ("A.csv.gz", lambda p: p.write_bytes(gzip.compress(b"id,x\na,1\n" * 99)[:-9]), "cut short"),
    "latin-1": ("A.csv", lambda p: p.write_bytes("id,größe\na,1\n".encode("latin-1")), "UTF-8"),
    "ragged": ("A.csv", lambda p: p.write_text("id,x\na,1\nb,1,2,3\n"), "line 3 has 4 cells"),
    "ragged at once": ("A.csv", lambda p: p.write_text("id,x\na,1,2\n"), "line 2 has 3 cells"),
    "semicolons": ("A.csv", lambda p: p.write_text("id;x\na;1,5\n"), "semicolons, not by commas"),
    "tabs": ("A.csv", lambda p: p.write_text("id\tx\na\t1\n"), "tabs.*name it .tsv"),
    "no header": ("A.csv", lambda p: p.write_text("S1,0.5,0.1,0.7\nS2,1,2,3\n"), "no header"),
    "row without id": ("A.csv", lambda p: p.write_text("id,x\na,1\n,2\n"), "1 rows have no id.*row 2"),
    "broken Parquet": ("A.parquet", lambda p: p.write_text("no"), "A.parquet"),
    "broken Feather": ("A.feather", lambda p: p.write_text("no"), "A.feather"),
    "empty NPY": ("A.npy", lambda p: p.write_bytes(b""), "not an NPY"),
    "pickle as NPY": ("A.npy", pickled, "pickled"),
    "objects in NPY": ("A.npy", lambda p: np.save(p, np.array([{}, {}]), allow_pickle=True), "pickled"),
    "cut NPY": ("A.npy", lambda p: (np.save(p, np.eye(9)), p.write_bytes(p.read_bytes()[:-9])), "A.npy"),
    "pickle as NPZ": ("A.npz", pickled, "not an NPZ"),
    "objects in NPZ": ("A.npz", lambda p: np.savez(p, X0=np.array([[{}]])), "'X0' holds pickled"),
    "pickled ids": ("A.npz", lambda p: np.savez(p, X0=np.eye(1), ids=np.array(["a"], dtype=object)), "dtype=str"),
    "too few ids": ("A.npz", lambda p: np.savez(p, X0=np.eye(2), ids=["a"]), "1 ids for the 2 rows"),
    "labels among the views": ("A.npz", lambda p: np.savez(p, rna=np.eye(2), y=[0, 1]), "'y' is not a table"),
    "nothing in NPZ": ("A.npz", lambda p: np.savez(p), "holds no array"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_one_line_with_its_name(tmp_path, case):
    name, make, says = BROKEN[case]
    make(tmp_path / name)
    with pytest.raises(InputError, match=says) as caught:
        read_tables([tmp_path / name])
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    A.to_parquet(tmp_path / "A.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"conspectus\[parquet\]"):
        read_tables([tmp_path / "A.parquet"])


def test_unknown_id_column_names_the_closest(tmp_path):
    with pytest.raises(InputError, match=r"no column 'Patinet', it has patient, x; did you mean 'patient'"):
        read_tables([write(tmp_path, "A.csv", "patient,x\na,1\n")], id="Patinet")


def test_one_file_twice(tmp_path):
    path = write(tmp_path, "A.csv", "id,x\na,1\n")
    with pytest.raises(InputError, match=r"A.csv is given twice"):
        read_tables([path, path])


def test_rows_with_and_without_ids_do_not_mix(tmp_path):
    np.save(tmp_path / "B.npy", np.eye(1))
    with pytest.raises(InputError, match=r"B.npy has no sample ids and .*A.csv has"):
        read_tables([write(tmp_path, "A.csv", "id,x\na,1\n"), tmp_path / "B.npy"])


def test_arrays_of_unequal_length(tmp_path):
    np.save(tmp_path / "A.npy", np.eye(2))
    np.save(tmp_path / "B.npy", np.eye(3))
    with pytest.raises(InputError, match=r"A.npy 2, B.npy 3"):
        read_tables([tmp_path / "A.npy", tmp_path / "B.npy"])


def test_did_you_mean_says_nothing_about_strangers():
    assert did_you_mean("apmcc", ["APMC", "GPMVC"]) == "; did you mean 'APMC'?"
    assert did_you_mean("qqqqq", ["APMC"]) == ""
