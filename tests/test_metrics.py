"""Scores of a clustering: definitions written out naively, invariances, edges, errors."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conspectus.errors import InputError
from conspectus.metrics import (
    adjusted_rand_index,
    clustering_accuracy,
    evaluate,
    nmi,
    pairwise_f1,
    purity,
    rand_index,
)

SCORES = {"acc": clustering_accuracy, "nmi": nmi, "purity": purity, "f1": pairwise_f1, "ri": rand_index}
pairs_of_labels = st.integers(1, 24).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2)
)


def accuracy_by_trying_all(y, labels):
    classes, clusters = sorted(set(y)), sorted(set(labels))
    classes += [None] * (len(clusters) - len(classes))
    count = Counter(zip(labels, y))
    namings = permutations(classes, len(clusters))
    return max(sum(map(count.__getitem__, zip(clusters, naming))) for naming in namings) / len(y)


def entropy(counts, n):
    return -sum(c / n * math.log(c / n) for c in counts.values())


def nmi_by_definition(y, labels, mean):
    n = len(y)
    h, g = entropy(Counter(y), n), entropy(Counter(labels), n)
    mutual = h + g - entropy(Counter(zip(y, labels)), n)
    if len(set(y)) == len(set(labels)) == 1:
        return 1.0
    return mutual / mean(h, g) if mutual > 1e-12 else 0.0


MEANS = {"arithmetic": lambda h, g: (h + g) / 2, "geometric": lambda h, g: math.sqrt(h * g), "max": max, "min": min}


def pair_counts(y, labels):
    both = [(y[i] == y[j], labels[i] == labels[j]) for i, j in combinations(range(len(y)), 2)]
    return Counter(both)


@given(pairs_of_labels)
def test_accuracy_is_the_best_of_all_namings(pair):
    y, labels = pair
    assert clustering_accuracy(y, labels) == pytest.approx(accuracy_by_trying_all(y, labels))


@given(pairs_of_labels, st.sampled_from(sorted(MEANS)))
def test_nmi_is_its_definition(pair, average):
    y, labels = pair
    assert nmi(y, labels, average=average) == pytest.approx(nmi_by_definition(y, labels, MEANS[average]), abs=1e-9)


@given(pairs_of_labels)
def test_pair_scores_are_counts_of_pairs(pair):
    y, labels = pair
    count = pair_counts(y, labels)
    together, total = count[True, True], sum(count.values())
    wrong = count[True, False] + count[False, True]
    assert pairwise_f1(y, labels) == pytest.approx(2 * together / (2 * together + wrong) if together + wrong else 1)
    assert rand_index(y, labels) == pytest.approx((total - wrong) / total if total else 1)


@given(pairs_of_labels)
def test_adjusted_rand_is_the_rand_index_against_its_expectation(pair):
    y, labels = pair
    count = pair_counts(y, labels)
    total = sum(count.values())
    same_class = count[True, True] + count[True, False]
    same_cluster = count[True, True] + count[False, True]
    expected = same_class * same_cluster / total if total else 0
    best = (same_class + same_cluster) / 2
    naive = (count[True, True] - expected) / (best - expected) if best != expected else 1
    assert adjusted_rand_index(y, labels) == pytest.approx(naive, abs=1e-12)


@given(pairs_of_labels)
def test_purity_is_the_share_of_the_majorities(pair):
    y, labels = pair
    majority = sum(max(Counter(t for t, c in zip(y, labels) if c == cluster).values()) for cluster in set(labels))
    assert purity(y, labels) == pytest.approx(majority / len(y))
    assert purity(y, labels) >= clustering_accuracy(y, labels) - 1e-12


@given(pairs_of_labels, st.permutations(range(5)), st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(pair, names, random):
    y, labels = pair
    order = random.sample(range(len(y)), len(y))
    renamed = [("cluster", names[labels[i]]) for i in order]
    words = [f"class {y[i]}" for i in order]
    assert evaluate(words, renamed) == pytest.approx(evaluate(y, labels), abs=1e-12)


@given(pairs_of_labels)
def test_perfect_agreement_is_one(pair):
    y = pair[0]
    assert evaluate(y, [-label for label in y]) == pytest.approx(dict.fromkeys(evaluate(y, y), 1.0))


def test_surplus_clusters_are_wrong_and_missing_ones_cost_their_class():
    assert clustering_accuracy([0, 0, 0, 0], [0, 0, 1, 2]) == 0.5
    assert clustering_accuracy([0, 1, 2, 2], [7, 7, 7, 7]) == 0.5
    assert purity([0, 0, 0, 0], [0, 0, 1, 2]) == 1


def test_the_four_means_are_ordered():
    scores = evaluate([0, 0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2, 2, 3])
    assert scores["nmi_max"] < scores["nmi"] < scores["nmi_geometric"] < scores["nmi_min"]


def test_evaluate_is_the_functions():
    y, labels = [0, 0, 1, 1, 2, 2, 2], [1, 1, 0, 2, 2, 2, 0]
    scores = evaluate(y, labels)
    assert {name: scores[name] for name in SCORES} == {name: score(y, labels) for name, score in SCORES.items()}
    assert scores["ari"] == adjusted_rand_index(y, labels)
    assert all(type(value) is float for value in scores.values())


def test_containers_of_the_same_labels_score_the_same():
    import pandas as pd

    y, labels = [3, 3, 5, 5, 9], [0, 0, 0, 1, 1]
    expected = evaluate(y, labels)
    for kind in (np.array, tuple, iter, pd.Series, lambda v: np.array(v, dtype=object), lambda v: np.array(v, float)):
        assert evaluate(kind(y), kind(labels)) == expected
    assert evaluate(["a", None, "b"], np.array([0, 1, 2]))["acc"] == 1


@pytest.mark.parametrize(
    ("y", "labels", "message"),
    [
        ([0, 1], [0, 1, 2], "y has 2 entries and labels has 3"),
        ([], [], "empty"),
        (np.zeros((3, 1)), [0, 0, 0], "y has 2 dimensions"),
        ([0, 0], [[0], [1]], "labels must be a sequence"),
        ([0, 0], 3, "labels must be a sequence"),
        ([0.0, float("nan")], [0, 1], "y holds NaN"),
    ],
)
@pytest.mark.parametrize("score", [clustering_accuracy, nmi, purity, pairwise_f1, rand_index, evaluate])
def test_bad_labels_are_named(score, y, labels, message):
    with pytest.raises(InputError, match=message):
        score(y, labels)


def test_an_unknown_average_is_named():
    with pytest.raises(InputError, match="'harmonic' is not one of arithmetic, geometric, max, min"):
        nmi([0, 1], [0, 1], average="harmonic")
