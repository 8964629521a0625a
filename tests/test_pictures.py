"""Pictures show the numbers that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")  # the extra plot

from conspectus.reporting.pictures import COLOURS, MOST_PATTERNS, clustering_picture, colour, in_the_plane


def data(n, V, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 4
    seen = rng.random((n, V)) < 0.6
    seen[:, 0] |= ~seen.any(axis=1)
    return rng.normal(size=(n, 5)) + 10 * np.eye(5)[labels], labels, seen


def test_bars_are_the_patterns_of_the_incomplete():
    H, labels, seen = data(200, 3)
    figure = clustering_picture(H, labels, seen, ["fou", "fac", "kar"], title="Digits")
    _, right = figure.subfigs
    bars, dots = right.axes
    patterns, counts = np.unique(seen[~seen.all(axis=1)], axis=0, return_counts=True)
    heights = [bar.get_height() for bar in bars.patches]
    assert heights == sorted(counts, reverse=True)
    assert sum(heights) == (~seen.all(axis=1)).sum()
    drawn = sum(len(points.get_offsets()) for points in dots.collections)
    assert drawn == patterns.size
    assert [name.get_text() for name in dots.get_yticklabels()] == [
        f"{name}  (lacks {(~seen[:, v]).sum()})" for v, name in enumerate(["fou", "fac", "kar"])
    ]


def test_every_sample_is_a_dot_in_its_clusters_colour(tmp_path):
    H, labels, seen = data(60, 2)
    figure = clustering_picture(H, labels, seen, ["a", "b"])
    plane = figure.subfigs[0].axes[0]
    points = plane.collections[0]
    assert len(points.get_offsets()) == 60
    assert len(np.unique(points.get_edgecolors(), axis=0)) == 4
    assert sorted(text.get_text() for text in plane.texts if text.get_text().isdigit()) == ["0", "1", "2", "3"]
    hollow = (points.get_facecolors()[:, :3] == 1).all(axis=1)
    assert hollow.sum() == (~seen.all(axis=1)).sum()
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_complete_data_have_one_panel_and_many_views_are_cut():
    H, labels, seen = data(40, 2)
    assert len(clustering_picture(H, labels, np.ones_like(seen), ["a", "b"]).axes) == 1
    H, labels, seen = data(300, 40)
    right = clustering_picture(H, labels, seen, [f"v{v}" for v in range(40)]).subfigs[1]
    assert len(right.axes[0].patches) == MOST_PATTERNS
    assert right.axes[1].get_xlabel() == "and 16 more views"


@pytest.mark.parametrize("r", [1, 2, 7])
def test_few_samples_lie_along_their_leading_directions(r):
    H = np.random.default_rng(1).normal(size=(20, r))
    plane, _ = in_the_plane(H)
    assert plane.shape == (20, 2)
    sigma = np.linalg.svd(H - H.mean(axis=0), compute_uv=False)[:2]
    np.testing.assert_allclose(np.sort(np.linalg.norm(plane, axis=0))[::-1][: len(sigma)], sigma)


def test_colours_come_again():
    assert colour(0) == colour(len(COLOURS))
    assert len(set(COLOURS)) == len(COLOURS)
