"""Which library runs: found from the arrays, from the size of the data, and from one switch."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from conspectus.numerics import backend, has_numba, namespace, to_numpy


def test_lists_and_sparse_matrices_are_numpys(library):
    ours = namespace([1.0, 2.0], csr_array(np.eye(2)))
    assert ours is namespace(np.eye(2))
    assert namespace(library.asarray([1.0]), csr_array(np.eye(2)), [1.0]) is namespace(library.asarray([1.0]))


def test_everything_can_be_brought_to_numpy(library):
    for a in ([[1.0, 0.0]], csr_array([[1.0, 0.0]]), library.asarray([[1.0, 0.0]])):
        assert isinstance(to_numpy(a), np.ndarray)
        np.testing.assert_array_equal(to_numpy(a), [[1, 0]])
    A = np.eye(2)
    assert to_numpy(A) is A


@pytest.mark.parametrize(
    ("switch", "installed", "rows", "expected"),
    [
        ("", True, backend.COMPILED_FROM - 1, False),
        ("", True, backend.COMPILED_FROM, True),
        ("", False, 1e6, False),
        ("0", True, 1e6, False),
        ("1", True, 1, True),
        ("1", False, 1, False),
    ],
)
def test_compiled_code_is_for_large_data_and_for_those_who_have_it(monkeypatch, switch, installed, rows, expected):
    monkeypatch.setenv("CONSPECTUS_NUMBA", switch)
    monkeypatch.setattr(backend, "_installed", lambda module: installed)
    assert has_numba(rows) is expected


def test_blocks_cover_all_rows_once():
    assert [list(range(10))[rows] for rows in backend.row_blocks(10, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert list(backend.row_blocks(0)) == []
