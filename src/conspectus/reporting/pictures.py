"""Pictures of a clustering: what was found, and which views had seen which samples.

Drawn with matplotlib (the extra ``plot``) on a figure of its own, without a window and without pyplot's global state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conspectus._typing import Bool, Float, Int
from conspectus.errors import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (
    *("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#e08214", "#777777", "#7b5aa6", "#8c6d46"),
    *("#1b9e77", "#d95f8d", "#2f4b7c", "#9acd32", "#b15928", "#5fbcd3", "#c994c7", "#555500", "#004d40", "#ff9896"),
)
"""A colour for each cluster, told apart also by most who see few colours; used again from the 21st on."""
INK, GREY, FAINT, BAR = "#222222", "#555555", "#d8d8d8", "#7c9cc4"
MOST_POINTS, MOST_PATTERNS, MOST_VIEWS = 3000, 16, 24
FEWEST_FOR_TSNE = 30


def clustering_picture(
    embedding: Float, labels: Int, seen: Bool, names: Sequence[str], *, title: str = "", note: str = ""
) -> Figure:
    """Draw a clustering: the samples in the plane on the left, who lacks what on the right.

    Parameters
    ----------
    embedding : array (n, r)
        What k-means saw.
    labels : array (n,)
        The clusters, from 0.
    seen : array of bool (n, V)
        True where the view has seen the sample.
    names : sequence of str
        The views' names.
    title, note : str
        A line above the picture, and a smaller one under it.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig(path)``.
    """
    module: Any = optional("matplotlib.figure", "plot")
    complete = np.asarray(seen.all(axis=1))
    figure = module.Figure(figsize=(6.6 if complete.all() else 12, 6.2), dpi=150, layout="constrained")
    if complete.all():
        draw_plane(figure.subplots(), embedding, labels, complete)
    else:
        left, right = figure.subfigures(1, 2, width_ratios=(1.1, 1))
        draw_plane(left.subplots(), embedding, labels, complete)
        draw_patterns(right, seen, names)
    figure.suptitle(title, fontsize=15, color=INK, x=0.012, ha="left")
    figure.supxlabel(note, fontsize=9, color=GREY, x=0.012, ha="left")
    return figure


# --- the samples in the plane


def draw_plane(axes: Axes, embedding: Float, labels: Int, complete: Bool) -> None:
    """Draw samples as dots in their cluster's colour, hollow where a view is missing, with the clusters' numbers."""
    chosen = np.random.default_rng(0).permutation(len(labels))[:MOST_POINTS]  # in random order none covers the others
    plane, how = in_the_plane(embedding[chosen])
    labels, complete = labels[chosen], complete[chosen]
    colours = np.array([colour(label) for label in labels])
    size = float(np.clip(16_000 / len(labels), 7, 40))
    inside = np.where(complete, colours, "white")
    axes.scatter(plane[:, 0], plane[:, 1], size, facecolors=list(inside), edgecolors=list(colours), linewidths=0.7)
    for label in np.unique(labels):
        _number(axes, _heart(plane[labels == label]), int(label))
    _say_what_is_drawn(axes, how, everybody=len(chosen) == len(embedding), all_complete=bool(complete.all()))


def in_the_plane(embedding: Float) -> tuple[Float, str]:
    """Lay the samples out in two dimensions so that neighbours stay neighbours; return the name of the way, too."""
    centred = np.asarray(embedding, dtype=np.float64) - np.mean(embedding, axis=0)
    if len(centred) >= FEWEST_FOR_TSNE and centred.shape[1] > 2 and centred.any():
        from sklearn.manifold import TSNE

        return TSNE(2, random_state=0).fit_transform(centred), "t-SNE: neighbours stay together, gaps mean little"
    directions = np.linalg.svd(centred, full_matrices=False)[2][:2]
    plane = centred @ directions.T
    return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1]))), "the two directions in which they differ most"


def colour(label: int) -> str:
    """Return the colour of a cluster."""
    return COLOURS[label % len(COLOURS)]


def _heart(points: Float) -> Float:
    """The point of a cluster nearest its median: a crescent's mean would lie outside it."""
    return np.asarray(points[np.linalg.norm(points - np.median(points, axis=0), axis=1).argmin()])


def _number(axes: Axes, place: Float, label: int) -> None:
    box = {"boxstyle": "circle,pad=0.22", "facecolor": "white", "edgecolor": colour(label), "linewidth": 1.4}
    axes.text(place[0], place[1], str(label), ha="center", va="center", fontsize=9, color=INK, bbox=box)


def _say_what_is_drawn(axes: Axes, how: str, *, everybody: bool, all_complete: bool) -> None:
    who = "The samples" if everybody else f"{MOST_POINTS:,} of the samples, drawn at random,"
    axes.set_title(f"{who} in the plane, by cluster\n", fontsize=11, color=INK, loc="left")
    axes.text(0, 1.012, how, transform=axes.transAxes, fontsize=8.5, color=GREY)
    _bare(axes)
    if not all_complete:
        dots = [axes.scatter([], [], s=26, facecolors=face, edgecolors=GREY) for face in (GREY, "white")]
        where: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "ncols": 2}
        axes.legend(dots, ["every view has seen it", "lacks a view"], frameon=False, fontsize=9, **where)


# --- who lacks what


def draw_patterns(figure: Any, seen: Bool, names: Sequence[str]) -> None:
    """Draw how many incomplete samples have which views: a column for each pattern, a row for each view."""
    complete = seen.all(axis=1)
    patterns, counts = np.unique(seen[~complete], axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_PATTERNS]
    bars, dots = figure.subplots(2, 1, sharex=True, height_ratios=(1, 0.5 + 0.16 * min(len(names), MOST_VIEWS)))
    bars.set_title(f"{int(complete.sum()):,} of {len(seen):,} samples are in all {len(names)} views\n", **_left_title())
    bars.text(0, 1.02, _which_patterns(len(order), len(counts)), transform=bars.transAxes, fontsize=8.5, color=GREY)
    place = np.arange(len(order))
    bars.bar(place, counts[order], color=BAR, width=0.72)
    for x, count in zip(place, counts[order]):
        offset = {"xytext": (0, 2), "textcoords": "offset points"}
        bars.annotate(f"{count:,}", (x, count), ha="center", fontsize=8, color=INK, **offset)
    bars.margins(y=0.1)
    _bare(bars)
    _dots(dots, patterns[order], seen, names)


def _left_title() -> dict[str, Any]:
    return {"fontsize": 11, "color": INK, "loc": "left"}


def _which_patterns(shown: int, total: int) -> str:
    return "the others, by the views that they have" + (f" (the {shown} most frequent of {total})" * (shown < total))


def _dots(axes: Axes, patterns: Bool, seen: Bool, names: Sequence[str]) -> None:
    """Draw the table of patterns under the bars, with the number that each view lacks beside its name."""
    rows = np.arange(min(len(names), MOST_VIEWS))
    here = patterns[:, : len(rows)].T
    x, row = np.meshgrid(np.arange(len(patterns)), rows)
    axes.scatter(x[~here], row[~here], s=34, color=FAINT, linewidths=0)
    axes.scatter(x[here], row[here], s=34, color=INK, linewidths=0, zorder=3)
    for place, present in enumerate(here.T):
        axes.plot([place] * int(present.sum()), rows[present], color=INK, linewidth=1.2)
    lacking = (~seen).sum(axis=0)
    axes.set_yticks(
        rows, [f"{name}  (lacks {count:,})" for name, count in zip(names[: len(rows)], lacking)], fontsize=9
    )
    axes.set_ylim(len(rows) - 0.4, -0.6)
    _bare(axes, keep_names=True)
    if len(names) > len(rows):
        axes.set_xlabel(f"and {len(names) - len(rows)} more views", fontsize=9, color=GREY)


def _bare(axes: Axes, *, keep_names: bool = False) -> None:
    axes.set_xticks([])
    if not keep_names:
        axes.set_yticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
