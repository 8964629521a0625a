"""The authors' originals, as run in Octave: every stored number is compared, or its exclusion has a reason here."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy import sparse

from conspectus.methods.factors import gpmvc, nmf
from conspectus.methods.factors.one_view import OneView, Pull, normalised, objective
from conspectus.methods.factors.scale import scales
from conspectus.methods.factors.solvers import official
from conspectus.methods.factors.starts import advanced, best_start, unit_columns
from conspectus.numerics import knn_graph, unit_rows

from .factor_problems import scaled, views_of
from .golden import golden

EXCLUDED = {
    "params": "the parameters themselves, read by a person",
    "start_La": "IMG's start: for its own test",
    "img_": "IMG is a graph method, with its own test",
    "SB": "IMG's inputs",
    "mc_official": "matrix completion: a filling, with its own test",
    "lowrank_": "inputs of the fillings",
    "rpca_": "robust PCA: a filling, with its own test",
    "coreg_": "co-regularised spectral clustering: a graph method, with its own test",
}


class Recorded(dict):
    """The stored arrays; remembers which were asked for."""

    def __init__(self):
        super().__init__(golden("factors"))
        self.asked = set()

    def __getitem__(self, key):
        self.asked.add(key)
        return super().__getitem__(key)


def close(ours, theirs, rtol=1e-12):
    """Largest difference, relative to the largest entry."""
    ours, theirs = (x.toarray() if sparse.issparse(x) else np.asarray(x) for x in (ours, theirs))
    assert np.abs(ours - theirs).max() <= rtol * np.abs(theirs).max()


def at(steps, *iterations):
    """The iterates of these numbers, and all objectives up to the last."""
    drawn = list(islice(steps, max(iterations)))
    return {i: drawn[i - 1][1] for i in iterations}, [f for f, _ in drawn]


def inputs(stored):
    """Presence, the scaled rows, and the problem of two views on the same data."""
    views, pair = views_of(), views_of("B", "M2")
    assert (views.seen == stored["M"].astype(bool)).all()
    assert (pair.seen == stored["M2"].astype(bool)).all()
    assert len(stored["y"]) == len(views)
    for v in range(3):
        close(views.data(v), stored[f"X{v}"][views.observed(v)])
        close(views.data(v) * scales(views)[v], stored[f"Xs{v}"])
    for v in range(2):
        close(pair.data(v), stored[f"B{v}"][pair.observed(v)])


def graphs(stored):
    for v in range(3):
        X, t = stored[f"Xs{v}"], float(stored[f"graph_heat_t_v{v}"])
        for kind in ("binary", "heat", "cosine"):
            close(knn_graph(X, 5, kind, t if kind == "heat" else None), stored[f"graph_{kind}_v{v}"])
        # Their median runs over all n^2 distances, the zeros of the diagonal too.
        D = np.sqrt(np.maximum(((X[:, None] - X[None]) ** 2).sum(axis=2), 0))
        assert np.median(D) == pytest.approx(t, rel=1e-12)


def gnmf(stored):
    for key, v, lam in [("nmf", 0, 0), ("gnmf", 0, 1), ("gnmf", 1, 1), ("gnmf", 2, 1), ("gnmf100", 0, 100)]:
        view = scaled(v, lam)
        begun = unit_columns(stored[f"start_U_v{v}"], stored[f"start_V_v{v}"])
        last = 75 if key == "gnmf" else 20
        found, costs = at(nmf.official_steps(view, lambda begun=begun: nmf.State(*begun), None), 1, 5, 20, last)
        for i, state in found.items():
            U, V = unit_columns(state.U, state.V)
            close(U, stored[f"{key}_U_v{v}_it{i}"])
            close(V, stored[f"{key}_V_v{v}_it{i}"])
        close(costs[:20], stored[f"{key}_obj_v{v}"][1:])


def gnmf_stop(stored):
    begun = unit_columns(stored["start_U_v0"], stored["start_V_v0"])
    drawn = list(nmf.official_steps(scaled(0, 1), lambda: nmf.State(*begun), 3e-3))
    assert len(drawn) == int(stored["gnmf_stop_niter_v0"])
    U, V = unit_columns(*drawn[-1][1][:2])
    close(U, stored["gnmf_stop_U_v0"])
    close(V, stored["gnmf_stop_V_v0"])
    close([f for f, _ in drawn], stored["gnmf_stop_obj_v0"][1:])


def gnmf_restart(stored):
    starts = zip(stored["gnmf_restart_starts_U"], stored["gnmf_restart_starts_V"])
    view = scaled(0, 1)
    best = best_start(view, (unit_columns(*start) for start in starts), 5)
    U, V = unit_columns(*advanced(view, best, 15))
    close(U, stored["gnmf_restart_U_v0"])
    close(V, stored["gnmf_restart_V_v0"])


def gpmvc_start(stored):
    views = views_of()
    for v in range(3):
        U, V = normalised(stored[f"gnmf_U_v{v}_it75"], stored[f"gnmf_V_v{v}_it75"])
        close(U, stored[f"gpmvc_U0_v{v}"])
        close(V, stored[f"gpmvc_V0_v{v}"])
    close(views.average([stored[f"gpmvc_V0_v{v}"] for v in range(3)]), stored["gpmvc_C0"])


def iterate(view, U, V, pull, iterations):
    """The released update rule under a fixed pull: factors and objectives, from the start on."""
    costs, found = [objective(view, U, V, pull)], {}
    for i in range(1, max(iterations) + 1):
        U, V, cost = official(view, U, V, pull)
        costs.append(cost + float((pull.m * (V - pull.T) ** 2).sum()))
        found[i] = (U, V)
    return found, costs


def gpmvc_inner(stored):
    views = views_of()
    for key, graph, lam in [("gpmvc_official", "binary", 1), ("gpmvc_official_heat", "heat", 0.01)]:
        for v in range(3):
            T = views.gather(v, stored["gpmvc_C0"])
            pull = Pull(T, np.full((len(T), 1), 0.1))
            start = normalised(stored[f"start_U_v{v}"], stored[f"start_V_v{v}"] / 48)
            found, costs = iterate(scaled(v, lam, graph), *start, pull, (1, 5, 20))
            for i in (1, 5, 20):
                close(found[i][0], stored[f"{key}_U_v{v}_it{i}"])
                close(found[i][1], stored[f"{key}_V_v{v}_it{i}"])
            close(costs, stored[f"{key}_obj_v{v}"])


def gpmvc_run(stored):
    views = views_of()
    problem = gpmvc.Problem(views, tuple(scaled(v, 1) for v in range(3)), np.full(3, 0.1))
    begun = gpmvc.State(*([stored[f"gpmvc_{letter}0_v{v}"] for v in range(3)] for letter in "UV"))
    found, costs = at(gpmvc.official_steps(problem, lambda: begun), 1, 5)
    for i, state in found.items():
        for v in range(3):
            close(state.U[v], stored[f"gpmvc_official_run_U_v{v}_it{i}"], 1e-10)
            close(state.V[v], stored[f"gpmvc_official_run_V_v{v}_it{i}"], 1e-10)
        close(unit_rows(views.average(state.V)), stored[f"gpmvc_official_run_Crow_it{i}"], 1e-10)
    close(costs, stored["gpmvc_official_run_obj"][1:], 1e-11)


def gpvcb(stored):
    """The older two-view code: our update rule, with a pull on the complete samples only."""
    views = views_of("B", "M2")
    parts = []
    for v in range(2):
        X = views.data(v) * scales(views)[v]
        close(knn_graph(X, 5), stored[f"gpvcb_graph_v{v}"])
        parts.append(OneView.of(X, knn_graph(X, 5), 1.0))
    complete = views.seen.all(axis=1)
    U, V = ([stored[f"gpvcb_{letter}0_v{v}"] for v in range(2)] for letter in "UV")
    C = views.average(V)
    for v in range(2):
        found, costs = iterate(parts[v], U[v], V[v], pull_of(views, v, C, complete), (1, 5, 20))
        for i in (1, 5, 20):
            close(found[i][0], stored[f"gpvcb_official_U_v{v}_it{i}"])
            close(found[i][1], stored[f"gpvcb_official_V_v{v}_it{i}"])
        close(costs, stored[f"gpvcb_official_obj_v{v}"])
    totals = [gpvcb_value(views, parts, U, V, complete)]
    for i in range(1, 6):
        C = views.average(V)
        for v in range(2):
            U[v], V[v] = iterate(parts[v], U[v], V[v], pull_of(views, v, C, complete), (75,))[0][75]
        totals.append(gpvcb_value(views, parts, U, V, complete))
        if i in (1, 5):
            close(views.average(V), stored[f"gpvcb_official_run_C_it{i}"], 1e-10)
            for v in range(2):
                close(U[v], stored[f"gpvcb_official_run_U_v{v}_it{i}"], 1e-10)
    close(totals, stored["gpvcb_official_run_obj"], 1e-11)


def pull_of(views, v, C, complete):
    return Pull(views.gather(v, C), 0.1 * views.gather(v, complete.astype(float))[:, None])


def gpvcb_value(views, parts, U, V, complete):
    C = views.average(V)
    return sum(objective(parts[v], U[v], V[v], pull_of(views, v, C, complete)) for v in range(2))


COMPARISONS = [inputs, graphs, gnmf, gnmf_stop, gnmf_restart, gpmvc_start, gpmvc_inner, gpmvc_run, gpvcb]


@pytest.mark.parametrize("compare", COMPARISONS)
def test_equal_to_the_original(compare):
    compare(Recorded())
