"""A task is its content: what is only printed does not count, what the result depends on does."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from conspectus.bench.grid import Data, Grid, Method, Missing, Task, crossed

TASK = Task(Data("toy"), Missing("paired", {"a": 1}), 0.5, 3, Method("Toy", {"x": 1, "y": "b"}), 0)

SAME = [
    replace(TASK, data=Data("toy", label="Toy data", printed="Toy;a=1", stand_in="b", instead_of="Real")),
    replace(TASK, missing=Missing("paired", {"a": 1}, "half")),
    replace(TASK, method=Method("Toy", {"y": "b", "x": 1}, "Ours")),
]
OTHER = [
    replace(TASK, data=Data("toy", sample=10)),
    replace(TASK, data=Data("toy", kernel="linear")),
    replace(TASK, data=Data("toy", params={"digest": "a"})),
    replace(TASK, missing=Missing("paired", {"a": 2})),
    replace(TASK, ratio=0.6),
    replace(TASK, mask=4),
    replace(TASK, method=Method("Toy", {"x": 1})),
    replace(TASK, method=Method("Toy", {"x": 1, "y": "b"}, filled="mean")),
    replace(TASK, start=1),
    replace(TASK, singles=20),
]


@pytest.mark.parametrize("task", SAME)
def test_labels_do_not_make_another_task(task):
    assert task.key("1") == TASK.key("1")


def test_everything_else_makes_another_task():
    keys = {task.key("1") for task in [TASK, *OTHER]} | {TASK.key("2")}
    assert len(keys) == len(OTHER) + 2


def test_content_is_canonical_json():
    assert json.loads(TASK.json()) == json.loads(json.dumps(TASK.content()))
    assert TASK.json() == json.dumps(json.loads(TASK.json()), sort_keys=True, separators=(",", ":"))


def test_data_as_they_are_have_no_mask():
    a, b = (Task(Data("toy"), Missing(), None, mask, Method("Toy"), 0) for mask in (0, 1))
    assert a.key("1") == b.key("1")


def test_a_grid_is_the_product_and_meets_every_method_before_the_second_mask():
    grid = Grid(
        (Data("a"), Data("b")), (Method("X"), Method("Y")), (Missing("paired"),), (0.1, 0.5, 0.9), crossed(3, 2)
    )
    tasks = list(grid.tasks())
    assert len(tasks) == 2 * 2 * 3 * 3 * 2 == len({task.key(0) for task in tasks})
    first = tasks[: 2 * 2 * 3]
    assert {(task.data.name, task.method.name, task.ratio) for task in first} == {
        (d, m, r) for d in "ab" for m in "XY" for r in grid.ratios
    }
    assert {(task.mask, task.start) for task in first} == {(0, 0)}


def test_quick_keeps_the_ends():
    grid = Grid((Data("a"), Data("b", sample=100)), (Method("X"),), ratios=(0.0, 0.1, 0.5, 0.9), seeds=crossed(10))
    quick = grid.quick()
    assert quick.ratios == (0.0, 0.9)
    assert quick.seeds == ((0, 0), (1, 0))
    assert [data.sample for data in quick.data] == [500, 100]
    assert replace(grid, seeds=tuple((0, start) for start in range(10))).quick().seeds == ((0, 0), (0, 1))
