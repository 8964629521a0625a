"""The authors' originals, as run in Octave: every stored number is compared, or its exclusion has a reason here."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy import sparse

from conspectus.methods.factors import daimc, gpmvc, mic, multi_nmf, nmf, pvc
from conspectus.methods.factors.one_view import OneView, Pull, normalised, objective
from conspectus.methods.factors.scale import scales
from conspectus.methods.factors.solvers import official
from conspectus.methods.factors.starts import advanced, best_start, unit_columns
from conspectus.numerics import knn_graph, nonnegative_rows, unit_rows

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


def pvc_blocks(stored):
    """One block to optimality; the original stops at a decrease of 1e-12, hence 1e-5, and 1e-12 of the objective."""
    views = views_of("B", "M2")
    U, P = [stored["start_Px"].T, stored["start_Py"].T], stored["start_P"]
    parts = [OneView.of(views.data(v)) for v in range(2)]
    for kind in pvc.kinds(views, parts, 0.01, 4):
        for key, seen in (("P1", [0]), ("P2", [0, 1])):
            if list(kind.X) == seen:
                found = kind.coefficients(U, P[kind.samples])
                fit = sum(((X - found @ U[v].T) ** 2).sum() for v, X in kind.X.items())
                close(found, stored[f"pvc_block_{key}"], 1e-5)
                close([fit + kind.penalty * found.sum()], stored[f"pvc_block_{key}_obj"])
    X, p = stored["B0"][views.complete], P[views.complete]
    found = nonnegative_rows(p.T @ p, X.T @ p).T
    close(found, stored["pvc_block_U"], 1e-5)
    close([((X - p @ found) ** 2).sum()], stored["pvc_block_U_obj"])


def pvc_run(stored):
    views = views_of("B", "M2")
    complete, l = views.complete, np.array(pvc.penalties(views, 0.01, 4))
    begun = pvc.State(stored["start_P"][complete], (stored["start_Px"].T, stored["start_Py"].T))
    found = list(islice(pvc.steps(views.rows(complete), 0.01, lambda: begun), 20))
    drawn = [state for _, state in found]
    close([f for f, _ in found], stored["pvc_init_obj"], 1e-5)
    for i in (1, 5, 20):
        P, (U, W) = drawn[i - 1]
        for key, ours in (("P2", P), ("U", U.T), ("W", W.T)):
            close(ours, stored[f"pvc_init_{key}_it{i}"], 1e-5)
    begun = pvc.complete_start(views, 0.01, begun, None)
    drawn = [state for _, state in islice(pvc.steps(views, 0.01, lambda: begun), 20)]
    close([unsquared(views, state, l) for state in drawn], stored["pvc_obj_official"], 1e-5)
    for i in (1, 5, 20):
        P, (U, W) = drawn[i - 1]
        for key, ours in (("P", P), ("U", U.T), ("W", W.T)):
            close(ours, stored[f"pvc_{key}_it{i}"], 1e-5)


def unsquared(views, state, l):
    """What the original logs: norms instead of their squares."""
    norms = (np.linalg.norm(views.data(v) - views.gather(v, state.P) @ state.U[v].T) for v in range(2))
    return sum(norms) + float((views.seen @ l) @ state.P.sum(axis=1))


def multinmf(stored):
    """Liu's NMF of one view, PerViewNMF under a fixed consensus, and whole rounds."""
    views = views_of()
    parts = multi_nmf.filled_parts(views, scales(views))
    start = [normalised(stored[f"fstart_U_v{v}"], stored[f"fstart_V_v{v}"] / 48) for v in range(3)]
    alone = normalised(stored["fstart_U_v0"], stored["fstart_V_v0"])
    pull = Pull(stored["fstart_V_v0"] / 48, np.full((48, 1), 0.1))
    cases = [("nmfliu", 0, alone, Pull.none((48, 4)))] + [("multinmf", v, start[v], pull) for v in range(3)]
    for key, v, begun, towards in cases:
        found, costs = iterate(parts[v], *begun, towards, (1, 5, 20))
        close(costs, stored[f"{key}_obj_v{v}"], 1e-11)
        for i in (1, 5, 20):
            close(found[i][0], stored[f"{key}_U_v{v}_it{i}"])
            close(found[i][1], stored[f"{key}_V_v{v}_it{i}"])
    alpha = np.array([0.1, 0.05, 0.02])
    U, V = ([stored[f"multinmf_run_{letter}0_v{v}"] for v in range(3)] for letter in "UV")
    begun = multi_nmf.State(tuple(U), tuple(V), V[0])
    found, costs = at(multi_nmf.steps(parts, alpha, lambda: begun, official, 20), 1, 2, 3, 4, 5)
    first = sum(objective(parts[v], U[v], V[v], Pull(V[0], np.full((48, 1), alpha[v]))) for v in range(3))
    close([first, *costs[:4]], stored["multinmf_run_obj"], 1e-10)
    close(V[0], stored["multinmf_run_C_it1"])
    close(found[4].C, stored["multinmf_run_C_it5"], 1e-10)
    for i in (1, 5):
        for v in range(3):
            close(found[i].U[v], stored[f"multinmf_run_U_v{v}_it{i}"], 1e-10)
            close(found[i].V[v], stored[f"multinmf_run_V_v{v}_it{i}"], 1e-10)


def daimc_run(stored):
    views = views_of("S").each([unit_rows] * 3)
    for v in range(3):
        close(views_of("S").data(v), stored[f"S{v}"][views.observed(v)])
    labels, centres = ([stored[f"daimc_{what}_v{v}"] for v in range(3)] for what in ("labels", "centres"))
    for key, a, b in [("daimc", 0.1, 1.0), ("daimcb", 1e-4, 1e4)]:
        problem = daimc.Problem.of(views, a, b)
        begun = daimc.first_state(problem, [y.astype(int) for y in labels], centres)
        close(begun.V, stored["daimc_V0"])
        for v in range(3):
            close(begun.U[v], stored[f"daimc_U0_v{v}"])
            close(begun.B[v], stored[f"daimc_B0_v{v}"], 1e-8)  # the original's form loses nine digits here
        begun = begun._replace(B=tuple(stored[f"daimc_B0_v{v}"] for v in range(3)))
        close(daimc.coefficients(problem, begun.U, begun.V, problem.square)[0], stored["daimc_updV_V"])
        found, costs = at(daimc.steps(problem, lambda begun=begun: begun), 1, 5, 30)
        close(costs, stored[f"{key}_obj"], 1e-11)
        for i, state in found.items():
            close(state.V, stored[f"{key}_V_it{i}"], 1e-10)
            for v in range(3):
                close(state.U[v], stored[f"{key}_U_v{v}_it{i}"], 1e-10)
                close(state.B[v], stored[f"{key}_B_v{v}_it{i}"], 1e-10)


def mic_run(stored):
    """The released steps under a fixed consensus, then whole rounds. The original logs lengths of columns, not rows."""
    views = views_of()
    parts = multi_nmf.filled_parts(views, scales(views))
    U, V = ([stored[f"mic_{letter}0_v{v}"] for v in range(3)] for letter in "UV")
    for v in range(3):
        view, u, w = mic.Weighted.of(parts[v], 0.1, 1e-4), U[v], V[v]
        costs = [logged(view, u, w, stored["mic_Us0"])]
        for i in range(1, 21):
            u, w, _ = mic.step(view, u, w, stored["mic_Us0"], corrected=False)
            costs.append(logged(view, u, w, stored["mic_Us0"]))
            if i in (1, 5, 20):
                close(u, stored[f"mic_official_U_v{v}_it{i}"])
                close(w, stored[f"mic_official_V_v{v}_it{i}"])
        close(costs, stored[f"mic_official_obj_v{v}"], 1e-11)
    weights = zip(parts, (0.1, 0.05, 0.02), (1e-4, 2e-4, 5e-5))
    weighted = [mic.Weighted.of(part, a, b) for part, a, b in weights]
    begun = mic.State(tuple(U), tuple(V), stored["mic_official_run_Us_it1"])
    found, _ = at(mic.steps(weighted, lambda: begun, 20, corrected=False), 1, 2, 3, 4, 5)
    befores = [begun, *(found[i] for i in range(1, 5))]
    totals = [sum(logged(w, s.U[v], s.V[v], s.Us) for v, w in enumerate(weighted)) for s in befores]
    close(totals, stored["mic_official_run_obj"], 1e-10)
    close(found[4].Us, stored["mic_official_run_Us_it5"], 1e-10)
    for i in (1, 5):
        for v in range(3):
            close(found[i].U[v], stored[f"mic_official_run_U_v{v}_it{i}"], 1e-10)
            close(found[i].V[v], stored[f"mic_official_run_V_v{v}_it{i}"], 1e-10)


def logged(view, U, V, Us):
    """The objective with the sum of the lengths of U's columns in the place of its rows."""
    X = np.where(view.X.seen[:, None], 0, view.X.mean)
    X[view.X.seen] = view.X.X
    fit = (view.w2 * ((X - U @ V.T) ** 2)).sum() + view.alpha * (view.w2 * (U - Us) ** 2).sum()
    return fit + view.beta * np.linalg.norm(U, axis=0).sum()


COMPARISONS = [
    inputs,
    graphs,
    gnmf,
    gnmf_stop,
    gnmf_restart,
    gpmvc_start,
    gpmvc_inner,
    gpmvc_run,
    gpvcb,
    pvc_blocks,
    pvc_run,
    multinmf,
    daimc_run,
    mic_run,
]


@pytest.mark.parametrize("compare", COMPARISONS)
def test_equal_to_the_original(compare):
    compare(Recorded())


def test_every_key_is_compared_or_excluded():
    stored = Recorded()
    for compare in COMPARISONS:
        compare(stored)
    excluded = {key for key in stored for prefix in EXCLUDED if key.startswith(prefix)}
    assert not set(stored) - stored.asked - excluded
