"""K-means: labels are the nearest centres, centres are the means, starts can only help."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from conspectus.errors import InputError
from conspectus.numerics import class_means, kmeans, nearest


def blobs(seed, n=90, k=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return 20 * np.eye(k)[y] + rng.standard_normal((n, k)), y


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_labels_are_the_nearest_centres_and_centres_the_means(seed, k):
    Y = np.random.default_rng(seed).standard_normal((60, 3))
    labels, centres, inertia = kmeans(Y, k, n_init=2)
    np.testing.assert_array_equal(labels, nearest(Y, centres)[0])
    np.testing.assert_allclose(centres, class_means(Y, labels, k), atol=1e-2)
    assert inertia == pytest.approx(((Y - centres[labels]) ** 2).sum(), rel=1e-10)


@pytest.mark.parametrize("sample", [20000, 40])
def test_separated_blobs_are_found(sample):
    Y, y = blobs(0)
    labels, centres, _ = kmeans(Y, 3, sample=sample)
    assert len({(a, b) for a, b in zip(labels, y)}) == 3
    np.testing.assert_allclose(centres, class_means(Y, labels, 3), atol=1e-12)


def test_more_starts_never_hurt():
    Y = np.random.default_rng(0).standard_normal((200, 2))
    inertia = [kmeans(Y, 8, n_init=n, seed=1)[2] for n in (1, 5, 20)]
    assert inertia[0] >= inertia[1] >= inertia[2]


def test_fewer_distinct_rows_than_clusters():
    Y = np.repeat(np.eye(2), 5, axis=0)
    labels, centres, inertia = kmeans(Y, 4)
    assert inertia == 0
    np.testing.assert_array_equal(Y, centres[labels])
    assert len(set(labels)) == 2


def test_one_cluster_and_as_many_as_rows():
    Y, _ = blobs(1, 9)
    np.testing.assert_allclose(kmeans(Y, 1)[1], Y.mean(axis=0)[None], atol=1e-12)
    assert sorted(kmeans(Y, 9)[0]) == list(range(9))
    for k in (0, 10):
        with pytest.raises(InputError, match="between 1 and 9"):
            kmeans(Y, k)


@pytest.mark.parametrize("threads", [1, 2])
def test_one_seed_one_answer_whatever_the_number_of_threads(threads):
    Y = np.random.default_rng(0).standard_normal((400, 5))
    expected = kmeans(Y, 6, seed=2)
    with threadpool_limits(threads):
        for ours, theirs in zip(kmeans(Y, 6, seed=2), expected):
            np.testing.assert_array_equal(ours, theirs)


def test_single_precision_is_kept():
    Y, _ = blobs(2)
    labels, centres, _ = kmeans(Y.astype(np.float32), 3)
    assert centres.dtype == np.float32
    np.testing.assert_array_equal(labels, nearest(Y.astype(np.float32), centres)[0])
