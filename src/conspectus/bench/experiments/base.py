"""An experiment: grids, what is shown of their rows, and what its paper prints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from conspectus.bench.beside import Reading
from conspectus.bench.grid import Data, Grid, Method, Task
from conspectus.bench.methods import complete
from conspectus.bench.shows import Show, TableOf
from conspectus.bench.sources import had

T = TypeVar("T")
QUICK_SECONDS = 10.0
QUICK_BUDGET = 260.0
"""``--quick`` ends within five minutes on two cores: no task is started after this."""


@dataclass(frozen=True)
class Experiment:
    """A named experiment, as data.

    Attributes
    ----------
    name, title : str
        As ``conspectus bench list`` prints them.
    grids : tuple of Grid
        What is run. Tasks that another experiment has run are taken from the store.
    shows : tuple of Show
        What is made of the rows.
    ratio : str
        What the paper's printed settings call the missing ratio; empty where they are means over all ratios.
    nmi : str
        Which NMI the paper means.
    notes : tuple of str
        What a reader has to know: choices where the paper is silent, and where ours differs.
    options : str
        What the command that runs it takes besides its name.
    """

    name: str
    title: str
    grids: tuple[Grid, ...]
    shows: tuple[Show, ...] = (TableOf(),)
    ratio: str = ""
    nmi: str = "nmi"
    notes: tuple[str, ...] = ()
    options: str = ""

    @property
    def reading(self) -> Reading:
        """How to find our rows for the printed numbers."""
        return Reading(self.name, self.ratio, self.nmi, (*self.plan.data, *self.plan.methods))

    def quick(self) -> Experiment:
        """The same with two masks, two ratios and at most 500 samples."""
        return replace(self, grids=tuple(grid.quick() for grid in self.grids), options=f"{self.options} --quick")

    def first(self, masks: int) -> Experiment:
        """The same with so many masks."""
        options = f"{self.options} --masks {masks}"
        return replace(self, grids=tuple(grid.first(masks) for grid in self.grids), options=options)

    def joined(self, methods: Iterable[Method] = (), data: Iterable[Data] = ()) -> Experiment:
        """The same with methods and data sets of one's own in every grid."""
        more, sets = tuple(methods), tuple(data)
        grids = (replace(grid, methods=grid.methods + more, data=grid.data + sets) for grid in self.grids)
        added = [f" --method {method.name}" for method in more] + [f" --data {item.name}" for item in sets]
        return replace(self, grids=tuple(grids), options=self.options + "".join(added))

    @cached_property
    def plan(self) -> Plan:
        """What of it can be run here and now."""
        plans = [_plan(grid) for grid in self.grids]
        return Plan(
            tuple(sorted((task for plan in plans for task in plan.tasks), key=_turn)),
            _unique(name for plan in plans for name in plan.methods),
            _unique(name for plan in plans for name in plan.data),
            _unique(name for plan in plans for name in plan.replaced),
        )


@dataclass(frozen=True)
class Plan:
    """The tasks of an experiment, and what is missing of it.

    Attributes
    ----------
    tasks : tuple of Task
        In the order in which they are run.
    methods, data : tuple of str
        Methods and data sets that are not there.
    replaced : tuple of (str, str)
        Data sets that are not there and what stands in for them.
    """

    tasks: tuple[Task, ...]
    methods: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()

    def words(self) -> list[str]:
        """What is missing, in sentences."""
        said = [f"{name} could not be had, and nothing takes its place" for name in self.data]
        said += [f"{used} could not be had: {ours} takes its place" for used, ours in self.replaced]
        return said + ([f"methods that are not there: {', '.join(self.methods)}"] if self.methods else [])


def _plan(grid: Grid) -> Plan:
    grid, methods = complete(grid)
    found = [(item, had(item)) for item in grid.data]
    replaced = ((new.instead_of, new.name) for _, new in found if new is not None and new.instead_of)
    data = tuple(new for _, new in found if new is not None)
    absent = tuple(old.title for old, new in found if new is None)
    return Plan(tuple(replace(grid, data=data).tasks()), methods, absent, tuple(replaced))


def _turn(task: Task) -> tuple[int, int]:
    """Seeds first: a run that is cut short has seen every method of every grid."""
    return task.start, task.mask or 0


def _unique(names: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(names))
