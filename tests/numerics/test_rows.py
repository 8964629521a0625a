"""Unit rows and class means: defining properties, dense, sparse, any array library."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from conspectus.numerics import as_float, class_means, class_sums, namespace, to_numpy, unit_rows

MATRICES = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(1, 5)),
    elements=st.floats(-1e300, 1e300, allow_subnormal=False),
)


@pytest.mark.deep
@given(MATRICES)
def test_unit_rows_have_length_one_and_keep_their_direction(A):
    U = unit_rows(A)
    zero = ~A.any(axis=1)
    np.testing.assert_allclose(np.linalg.norm(U, axis=1), ~zero, atol=1e-14)
    assert (np.sign(U) * np.sign(A) >= 0).all()
    largest = np.where(zero, 1, np.abs(A).max(axis=1))[:, None]
    scale = np.where(zero, 1, np.abs(U).max(axis=1))[:, None]
    np.testing.assert_allclose(U / scale, A / largest, atol=1e-14)


@given(MATRICES)
def test_sparse_unit_rows_are_the_dense_ones(A):
    np.testing.assert_allclose(unit_rows(csr_array(A)).toarray(), unit_rows(A), atol=1e-15)


@given(
    arrays(np.float64, (9, 3), elements=st.floats(-10, 10)),
    arrays(np.int64, 9, elements=st.integers(-1, 4)),
)
def test_class_sums_and_means_are_what_their_names_say(Y, labels):
    sums, means = class_sums(Y, labels, 4), class_means(Y, labels, 4)
    for c in range(4):
        members = Y[labels == c]
        np.testing.assert_allclose(sums[c], members.sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(means[c], members.mean(axis=0) if len(members) else 0, atol=1e-12)
    np.testing.assert_allclose(class_sums(csr_array(Y), labels, 4), sums, atol=1e-12)


def test_any_array_library_gives_the_same(library):
    rng = np.random.default_rng(0)
    Y, labels = rng.standard_normal((20, 3)), rng.integers(-1, 4, 20)
    A, c = library.asarray(Y), library.asarray(labels)
    for f in (unit_rows, lambda a: class_sums(a, c, 5), lambda a: class_means(a, c, 5)):
        assert namespace(f(A)) is namespace(A)
    np.testing.assert_allclose(to_numpy(unit_rows(A)), unit_rows(Y), rtol=1e-14)
    np.testing.assert_allclose(to_numpy(class_sums(A, c, 5)), class_sums(Y, labels, 5), rtol=1e-13)
    np.testing.assert_allclose(to_numpy(class_means(A, c, 5)), class_means(Y, labels, 5), rtol=1e-13)


@pytest.mark.parametrize("wrap", [np.asarray, csr_array])
def test_single_precision_is_kept(wrap):
    Y = wrap(np.eye(4, 3, dtype=np.float32))
    assert unit_rows(Y).dtype == class_sums(Y, np.arange(4), 4).dtype == class_means(Y, np.arange(4), 4).dtype == "f4"


def test_integers_become_floats_without_wrapping_around():
    assert as_float(np.array([255], dtype=np.uint8)).dtype == np.float64
    assert as_float([[1, 2]]).dtype == np.float64
    assert as_float(csr_array(np.eye(2, dtype=np.uint8))).dtype == np.float64
    assert as_float(np.array([1.5, 2], dtype=">f8")).dtype == np.dtype(np.float64)
    np.testing.assert_allclose(unit_rows(np.array([[200, 200]], dtype=np.uint8)), np.sqrt([[0.5, 0.5]]))
