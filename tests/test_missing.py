"""Protocols for removing views: every sample stays in a view, and the margins are what the docstrings say."""

from __future__ import annotations

from math import ceil, floor, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conspectus import missing
from conspectus.errors import InputError

samples, views = st.integers(1, 120), st.integers(2, 6)
ratios = st.one_of(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]), st.floats(0, 1))
seeds = st.integers(0, 2**32 - 1)


def nearest(x):
    return floor(x + 0.5)


def half(n, V, ratio, seed):
    return missing.per_view(n, V, ratio / 2, seed)


def by_class(protocol, **options):
    def drawn(n, V, ratio, seed):
        return protocol(n, V, ratio, seed, np.arange(n) % 3, **options)

    return drawn


PROTOCOLS = {
    "paired": missing.paired,
    "partial_examples": missing.partial_examples,
    "absent_views released": by_class(missing.absent_views),
    "absent_views printed": by_class(missing.absent_views, rule="printed"),
    "random_subsets": missing.random_subsets,
    "per_view": half,
    "blocks": missing.blocks,
    "not_at_random": by_class(missing.not_at_random),
}


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
@given(n=samples, V=views, ratio=ratios, seed=seeds)
def test_every_sample_is_in_a_view(protocol, n, V, ratio, seed):
    mask = protocol(n, V, ratio, seed)
    assert mask.shape == (n, V)
    assert mask.dtype == np.bool_
    assert mask.any(axis=1).all()
    np.testing.assert_array_equal(mask, protocol(n, V, ratio, seed))


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_seeds_differ_and_no_removal_is_complete(protocol):
    assert (protocol(60, 3, 0.5, 0) != protocol(60, 3, 0.5, 1)).any()
    assert protocol(60, 3, float(protocol is missing.random_subsets), 0).all()


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
@pytest.mark.parametrize(("n", "V", "ratio"), [(0, 2, 0.5), (5, 0, 0.5), (5, 2, -0.1), (5, 2, 2.1), (5, 1, 0.5)])
def test_impossible_arguments_are_refused(protocol, n, V, ratio):
    with pytest.raises(InputError, match=r"at least 1 sample|lie in|single view"):
        protocol(n, V, ratio, 0)


@given(n=samples, V=views, ratio=ratios, seed=seeds)
def test_paired_removes_the_same_number_everywhere_one_view_a_sample(n, V, ratio, seed):
    mask = missing.paired(n, V, ratio, seed)
    assert mask.all(axis=1).sum() == floor(n * (1 - ratio) + 1e-9)
    assert (mask.sum(axis=1) >= V - 1).all()
    assert np.ptp(mask.sum(axis=0)) <= 1


def test_paired_of_two_views_is_its_draw():
    order = np.random.default_rng(7).permutation(10)
    mask = missing.paired(10, 2, 0.3, 7)
    assert mask[order].tolist() == [[True, True]] * 7 + [[True, False]] * 2 + [[False, True]]


@given(n=samples, V=views, ratio=ratios, seed=seeds)
def test_partial_examples_are_in_one_view_equally_shared(n, V, ratio, seed):
    mask = missing.partial_examples(n, V, ratio, seed)
    r = n - floor(n * (1 - ratio) + 0.01)
    only = mask.sum(axis=1) == 1
    assert only.sum() == r
    assert mask[~only].all()
    assert mask[only].sum(axis=0).tolist() == [max(0, min(ceil(r / V), r - v * ceil(r / V))) for v in range(V)]


@given(n=samples, ratio=ratios, skew=st.sampled_from([0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]), seed=seeds)
def test_skew_is_the_share_of_the_first_view(n, ratio, skew, seed):
    mask = missing.partial_examples(n, 2, ratio, seed, skew=skew)
    r = n - floor(n * (1 - ratio) + 0.01)
    first = ceil(round(skew * r, 6))
    assert [(~mask[:, 1]).sum(), (~mask[:, 0]).sum()] == [first, r - first]


def test_a_fold_is_the_order_and_needs_no_seed():
    fold = np.array([3, 0, 4, 1, 2])
    mask = missing.partial_examples(5, 2, 0.6, fold=fold, skew=0.3)
    assert mask[fold].tolist() == [[True, True]] * 2 + [[True, False]] + [[False, True]] * 2
    same = missing.partial_examples(5, 2, 0.6, seed=11)
    np.testing.assert_array_equal(
        same, missing.partial_examples(5, 2, 0.6, fold=np.random.default_rng(11).permutation(5))
    )


@pytest.mark.deep
@given(n=samples, V=views, ratio=ratios, seed=seeds, classes=st.integers(1, 4))
def test_released_absent_views_lose_half_in_every_class(n, V, ratio, seed, classes):
    y = np.random.default_rng(seed).integers(classes, size=n)
    mask = missing.absent_views(n, V, ratio, seed, y)
    lost = ~mask.all(axis=1)
    assert set((~mask).sum(axis=1)) <= {0, V // 2}
    for c in np.unique(y):
        assert lost[y == c].sum() == nearest(ratio * (y == c).sum())


def test_the_absent_views_are_drawn_uniformly():
    mask = missing.absent_views(6000, 4, 1.0, 0)
    patterns, counts = np.unique(mask, axis=0, return_counts=True)
    assert len(patterns) == 6
    assert abs(counts - 1000).max() < 5 * 1000**0.5


@pytest.mark.parametrize("V", [2, 3, 6])
def test_printed_absent_views_follow_the_law_of_drawing_again(V):
    rng, rows, n = np.random.default_rng(V), [], 20000
    while len(rows) < n:  # the text, literally; the threshold is kept when the views are drawn again
        threshold = rng.random()
        while not (row := rng.random(V) >= threshold).any():
            pass
        rows.append(row)
    naive, ours = np.array(rows), missing.absent_views(n, V, 1.0, 0, rule="printed")
    spread = 5 / n**0.5
    assert abs(naive.mean(axis=0) - ours.mean(axis=0)).max() < spread
    for size in range(1, V + 1):
        assert abs((naive.sum(axis=1) == size).mean() - (ours.sum(axis=1) == size).mean()) < spread


def test_printed_shares_with_two_views_are_those_of_the_docstring():
    incomplete, entries = missing.shares(missing.absent_views(20000, 2, 1.0, 0, rule="printed"))
    assert incomplete == pytest.approx(2 - 2 * log(2), abs=0.02)
    assert entries == pytest.approx(1 - log(2), abs=0.02)


def test_an_unknown_rule_is_named():
    with pytest.raises(InputError, match="rule='read' is not one of released, printed"):
        missing.absent_views(5, 2, 0.5, 0, rule="read")


@pytest.mark.deep
@given(n=samples, V=views, complete=ratios, seed=seeds)
def test_random_subsets_are_drawn_sample_by_sample(n, V, complete, seed):
    rng, expected = np.random.default_rng(seed), np.ones((n, V), bool)
    for i in rng.permutation(n)[: round((1 - complete) * n)]:
        b = rng.random(V) < 0.5
        while not 0 < b.sum() < V:
            b = rng.random(V) < 0.5
        expected[i] = b
    np.testing.assert_array_equal(missing.random_subsets(n, V, complete, seed), expected)


def test_random_subsets_miss_half_of_the_incomplete_samples_views():
    incomplete, entries = missing.shares(missing.random_subsets(10000, 3, 0.4, 1004))
    assert incomplete == 0.6
    assert entries == pytest.approx(0.3, abs=0.01)


@pytest.mark.deep
@given(n=samples, V=views, share=st.floats(0, 1), seed=seeds)
def test_per_view_removes_the_same_share_of_every_view(n, V, share, seed):
    ratio = share * (V - 1) / V
    mask = missing.per_view(n, V, ratio, seed)
    assert ((~mask).sum(axis=0) == floor(n * ratio + 1e-9)).all()


def test_per_view_is_independent_where_it_can_be():
    incomplete, entries = missing.shares(missing.per_view(20000, 6, 0.3, 0))
    assert entries == pytest.approx(0.3)
    assert incomplete == pytest.approx(1 - 0.7**6, abs=0.01)
    with pytest.raises(InputError, match=r"ratio=0.6 leaves samples without any view: at most 1/2 of each view"):
        missing.per_view(10, 2, 0.6, 0)


@given(n=samples, V=views, ratio=ratios, seed=seeds, cohorts=st.one_of(st.none(), st.integers(1, 9)))
def test_blocks_have_one_absent_view_a_cohort(n, V, ratio, seed, cohorts):
    mask = missing.blocks(n, V, ratio, seed, cohorts=cohorts)
    number = V - 1 if cohorts is None else cohorts
    assert (~mask).sum() == (~mask.all(axis=1)).sum() == nearest(ratio * n)
    assert (~mask).any(axis=0).sum() == min(number, V, nearest(ratio * n))
    if number <= V:
        assert np.ptp([c for c in (~mask).sum(axis=0) if c] or [0]) <= 1


def test_blocks_need_a_cohort():
    with pytest.raises(InputError, match="cohorts=0"):
        missing.blocks(5, 2, 0.5, 0, cohorts=0)


@given(n=samples, V=views, ratio=ratios, seed=seeds, classes=st.integers(1, 6), strength=st.floats(0.05, 1))
def test_not_at_random_takes_one_view_from_some_classes(n, V, ratio, seed, classes, strength):
    y = np.random.default_rng(seed).integers(classes, size=n)
    mask = missing.not_at_random(n, V, ratio, seed, y, strength=strength)
    assert (~mask).sum() == (~mask.all(axis=1)).sum() == nearest(ratio * n)
    lost = [(~mask[y == c]).sum(axis=0) for c in np.unique(y)]
    assert all((counts > 0).sum() <= 1 for counts in lost)
    full = [ceil(max(strength, ratio) * (y == c).sum() - 1e-9) for c in np.unique(y)]
    assert sum(0 < counts.sum() < most for counts, most in zip(lost, full)) <= 1


def test_not_at_random_says_something_about_the_class():
    y = np.repeat(range(10), 50)
    mask = missing.not_at_random(500, 3, 0.36, 5, y)
    shares = sorted(missing.shares(mask[y == c]).incomplete_samples for c in range(10))
    assert shares == pytest.approx([0] * 6 + [0.9] * 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: missing.partial_examples(5, 2, 0.5), "give a seed, or a fold"),
        (lambda: missing.partial_examples(5, 2, 0.5, fold=[0, 1, 2, 3, 3]), "a permutation of the 5 samples"),
        (lambda: missing.partial_examples(5, 2, 0.5, fold=[1, 2, 3, 4, 5]), "counted from 0"),
        (lambda: missing.partial_examples(5, 3, 0.5, 0, skew=0.3), "there are 3"),
        (lambda: missing.partial_examples(5, 2, 0.5, 0, skew=30), r"skew=30 is not in \[0, 1\]"),
        (lambda: missing.absent_views(5, 2, 0.5, 0, [0, 1]), r"class of each of the 5 samples; its shape is \(2,\)"),
        (lambda: missing.not_at_random(5, 2, 0.5, 0, range(5), strength=0), "strength=0"),
        (lambda: missing.shares([1, 0]), "boolean array"),
        (lambda: missing.shares(np.ones((3, 2))), "float64 of shape"),
    ],
)
def test_other_arguments_are_checked(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_shares_count_samples_and_entries():
    mask = [[True, True, True], [True, False, False], [True, True, False], [True, True, True]]
    assert missing.shares(mask) == (0.5, 0.25)


def test_remove_takes_away_and_gives_nothing_back():
    X = {"a": np.arange(8.0).reshape(4, 2), "b": np.ones((4, 3))}
    X["b"][0] = np.nan
    mask = np.array([[True, True], [True, False], [False, True], [True, True]])
    views = missing.remove(X, mask)
    assert views.seen.tolist() == [[True, False], [True, False], [False, True], [True, True]]
    assert views.names == ("a", "b")
    np.testing.assert_array_equal(views.data(0), X["a"][[0, 1, 3]])
    again = missing.remove(views, np.array([[True, True]] * 3 + [[False, True]]))
    assert again.seen[3].tolist() == [False, True]


def test_remove_keeps_ids_and_joins_tables():
    import pandas as pd

    X = [pd.DataFrame({"g": [1.0, 2.0]}, index=["p", "q"]), pd.DataFrame({"h": [3.0, 4.0]}, index=["q", "r"])]
    views = missing.remove(X, np.array([[True, True], [False, True], [True, True]]))
    assert list(views.ids) == ["p", "q", "r"]
    assert views.seen.tolist() == [[True, False], [False, True], [False, True]]


def test_remove_from_kernels_takes_rows_and_columns():
    from conspectus import as_views

    K = np.arange(32.0).reshape(2, 4, 4)
    K += K.transpose(0, 2, 1)
    mask = np.array([[True, True], [True, False], [False, True], [True, True]])
    removed = missing.remove(as_views(list(K), square=True), mask)
    masked = as_views(list(K), mask=mask, square=True)
    for v in range(2):
        np.testing.assert_array_equal(removed.data(v), masked.data(v))
        np.testing.assert_array_equal(removed[[3, 0]].data(v), masked[[3, 0]].data(v))


def test_remove_says_what_does_not_fit():
    with pytest.raises(InputError, match=r"mask is of shape \(3, 2\), and the data have \(samples, views\) \(4, 2\)"):
        missing.remove([np.ones((4, 1)), np.ones((4, 1))], np.ones((3, 2), bool))
    with pytest.raises(InputError, match="seen in no view"):
        missing.remove([np.ones((2, 1)), np.ones((2, 1))], np.array([[True, True], [False, False]]))
