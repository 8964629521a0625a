"""The scale at which the weights of these methods are meant."""

from __future__ import annotations

from conspectus.errors import InputError
from conspectus.views.say import view_label
from conspectus.views.table import Views


def scales(views: Views) -> tuple[float, ...]:
    """Return what each view is multiplied by: its entries then sum to the share of samples that it has seen."""
    found = []
    for v in range(views.n_views):
        facts = views.statistics(v)
        total = float(facts.mean.sum()) * facts.count
        if total <= 0:
            raise InputError(f"{view_label(v, views.names[v])} has no entry above zero: leave the view out")
        found.append(float(facts.count) / len(views) / total)
    return tuple(found)
