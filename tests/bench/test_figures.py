"""Figures hold the numbers that they were given, at the size of a page, and are written twice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from conspectus.bench import compare, figures


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    rows = [
        {
            "data": data,
            "method": method,
            "ratio": ratio,
            "acc": rng.random(),
            "seconds": 10.0**seed,
            "objective": list(3.0 / np.arange(1, 6)),
            "param.alpha": ratio,
            "param.beta": seed,
        }
        for data in ("a", "b")
        for method in ("X", "Y")
        for ratio in (0.1, 0.5, 0.9)
        for seed in range(3)
    ]
    return pd.DataFrame(rows)


def lines(axis):
    return {line.get_label(): line.get_xydata() for line in axis.get_lines()}


def test_curves_are_means_with_a_band(frame):
    figure = figures.curves(frame, "ratio", ["acc"])
    axis = figure.axes[1]
    part = frame[(frame["data"] == "b") & (frame["method"] == "Y")]
    np.testing.assert_allclose(lines(axis)["Y"][:, 1], 100 * part.groupby("ratio")["acc"].mean())
    assert len(axis.collections) == 2
    assert figure.get_figwidth() <= figures.PAGE


def test_log_axes(frame):
    axis = figures.curves(frame, "ratio", ["seconds"], log="xy").axes[0]
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")


def test_convergence_shows_the_first_run_scaled_by_its_largest(frame):
    shown = lines(figures.convergence(frame).axes[0])["X"]
    np.testing.assert_allclose(shown, np.column_stack([np.arange(1, 6), 1 / np.arange(1, 6)]))


def test_heatmap_writes_the_means(frame):
    axis = figures.heatmap(frame, "param.alpha", "param.beta", "acc").axes[0]
    part = frame[frame["data"] == "a"]
    means = 100 * part.pivot_table(index="param.beta", columns="param.alpha", values="acc")
    assert [text.get_text() for text in axis.texts] == [f"{value:.1f}" for value in means.to_numpy().ravel()]


def test_critical_difference_bars_have_its_length(frame):
    ranks = compare.ranks(frame, "acc")
    figure = figures.critical(ranks)
    lengths = [np.ptp(path.vertices[:, 0]) for path in figure.axes[0].collections[0].get_paths()]
    np.testing.assert_allclose(lengths, ranks.critical)


def test_methods_differ_in_more_than_colour():
    looks = {tuple(str(figures._look(number, 10)[part]) for part in ("marker", "linestyle")) for number in range(24)}
    assert len(looks) == 24


def test_a_legend_stays_on_the_page(frame):
    long = frame.assign(method=frame["method"] + " with a name of many words")
    figure = figures.curves(long[long["data"] == "a"], "ratio", ["acc"])
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert 0 <= box.x0 <= box.x1 <= figure.bbox.width


def test_png_and_pdf(frame, tmp_path):
    files = figures.save(figures.curves(frame, "ratio", ["acc"]), tmp_path / "new" / "figure")
    assert [file.read_bytes()[:4] for file in files] == [b"\x89PNG", b"%PDF"]
