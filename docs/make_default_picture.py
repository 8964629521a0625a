"""Draw docs/default.png, the picture of "How the default works": `python docs/make_default_picture.py`.

The digits that come with the package, half of them incomplete (the masks of the tests): what each part of the method
makes of them alone, and what the consensus makes of all.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from conspectus import PrepareViews, as_views, missing
from conspectus.datasets import load_mfeat
from conspectus.methods.anchors.anchor_consensus import estimator, parts, rows
from conspectus.metrics import clustering_accuracy
from conspectus.numerics import kmeans
from conspectus.reporting.pictures import GREY, INK, colour, in_the_plane

PANELS = [
    ("A  filled graphs", "neighbours in every view;\na gap is filled by the mean of near samples", (parts.Filled,)),
    ("B  joint graphs", "neighbours by the distance\naveraged over the views seen", (parts.Joint,)),
    ("G  global part", "no neighbours:\none linear embedding of all views", (parts.Global,)),
    ("consensus", "the directions in which they agree,\nthen k-means", parts.PARTS),
]
STEPS = [
    "each view: directions,\nunit rows",
    "each row: its nearest\nanchors, at 4 settings",
    "stage 1: the views' graphs\naveraged, embedded",
    "who is near whom: what\na missing view is taken for",
]


def embeddings() -> tuple[list[Any], np.ndarray]:
    """The embedding of each panel, and the classes."""
    digits = load_mfeat()
    mask = missing.random_subsets(2000, 6, 0.5, seed=4)
    views = as_views(digits.X, mask)
    prepared = PrepareViews("auto").fit(views).transform(views)
    fit = [estimator.fit_map(prepared, 10, rows.FULL, 1000, np.random.RandomState(4), kept) for *_, kept in PANELS]
    return [Y for _, Y in fit], digits.y


def draw_steps(axes: Any) -> None:
    """Draw what comes before the parts, as boxes from left to right."""
    axes.set(xlim=(0, 4), ylim=(0, 1))
    axes.axis("off")
    for i, text in enumerate(STEPS):
        box = {"boxstyle": "round,pad=0.02", "facecolor": "#eef3f9", "edgecolor": "#7c9cc4"}
        axes.add_patch(FancyBboxPatch((i + 0.08, 0.28), 0.8, 0.44, **box))
        axes.text(i + 0.48, 0.5, text, ha="center", va="center", fontsize=10, color=INK)
        if i:
            axes.add_patch(
                FancyArrowPatch((i - 0.1, 0.5), (i + 0.06, 0.5), arrowstyle="-|>", mutation_scale=12, color=GREY)
            )


def draw_part(axes: Any, title: str, text: str, Y: np.ndarray, y: np.ndarray) -> None:
    """Draw one embedding in the plane, coloured by the true digit."""
    points, _ = in_the_plane(Y)
    axes.scatter(*points.T, s=3, c=[colour(digit) for digit in y], linewidths=0)
    found = clustering_accuracy(y, kmeans(Y, 10, n_init=20)[0])
    axes.set_title(f"{title}: {100 * found:.1f} %", fontsize=12, color=INK)
    axes.set_xlabel(text, fontsize=9.5, color=GREY)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set_color("#d8d8d8")
    print(title, f"{100 * found:.1f} %")


def main() -> None:
    """Draw the picture."""
    found, y = embeddings()
    figure = Figure(figsize=(13, 5.6), layout="constrained")
    grid = figure.add_gridspec(2, 4, height_ratios=(1, 3))
    draw_steps(figure.add_subplot(grid[0, :]))
    for i, ((title, text, _), Y) in enumerate(zip(PANELS, found, strict=True)):
        draw_part(figure.add_subplot(grid[1, i]), title, text, Y, y)
    figure.savefig(Path(__file__).with_name("default.png"), dpi=110)


if __name__ == "__main__":
    main()
