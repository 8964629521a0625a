"""The store only grows, gives the last row of a key, and knows which rows need no further run."""

from __future__ import annotations

import sqlite3

import pytest

from conspectus.bench.store import COLUMNS, Store


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "new" / "store.sqlite")
    yield store
    store.close()


def test_rows_come_back_as_they_were(store):
    row = {"key": "a", "acc": 0.5, "objective": [3.0, 2.5], "unseen": [1, 2], "message": None, "n": 10}
    store.append(row)
    back = store.latest(["a", "b"])
    assert set(back) == {"a"}
    assert {name: back["a"][name] for name in row} == row
    assert set(back["a"]) == {"id", *COLUMNS}


def test_the_last_row_of_a_key_counts_and_the_first_stays(store):
    for acc in (0.1, 0.2):
        store.append({"key": "a", "acc": acc})
    assert store.latest(["a"])["a"]["acc"] == 0.2
    assert store.frame()["acc"].tolist() == [0.1, 0.2]


@pytest.mark.parametrize("change", ["UPDATE runs SET acc = 1", "DELETE FROM runs"])
def test_nothing_is_changed_or_taken_away(store, change):
    store.append({"key": "a", "acc": 0.1})
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        store._db.execute(change)


def test_write_ahead_log(store):
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_more_keys_than_a_statement_takes(store):
    for number in range(0, 2000, 100):
        store.append({"key": str(number)})
    assert set(store.latest(str(number) for number in range(2000))) == {str(n) for n in range(0, 2000, 100)}


@pytest.mark.parametrize(
    ("row", "done"),
    [
        ({"acc": 0.5}, True),
        ({"error": "InputError"}, True),
        ({"error": "TimeLimit", "limit_s": 10}, True),
        ({"error": "TimeLimit", "limit_s": 9}, False),
        ({"error": "ProcessDied"}, False),
        ({"error": "MissingExtraError"}, False),
    ],
)
def test_what_needs_no_further_run(store, row, done):
    store.append({"key": "a", **row})
    assert (store.done(["a"], limit=10) == {"a"}) is done
