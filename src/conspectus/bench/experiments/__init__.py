"""The named experiments: one entry each, as data."""

from __future__ import annotations

from conspectus.bench.experiments import abs2, apmc, default, eeimvc, gpmvc, someas
from conspectus.bench.experiments.base import QUICK_BUDGET, QUICK_SECONDS, Experiment, Plan
from conspectus.errors import InputError, did_you_mean

ALL: dict[str, Experiment] = {
    experiment.name: experiment
    for part in (apmc, gpmvc, eeimvc, someas, abs2, default)
    for experiment in part.EXPERIMENTS
}


def named(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in ALL:
        hint = did_you_mean(name, ALL)
        raise InputError(f"there is no experiment {name!r} (`conspectus bench list` shows all){hint}")
    return ALL[name]


__all__ = ["ALL", "QUICK_BUDGET", "QUICK_SECONDS", "Experiment", "Plan", "named"]
