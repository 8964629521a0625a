"""Every named experiment is sound as data: tasks, keys, printed numbers, quick and shown with toy rows."""

from __future__ import annotations

import numpy as np
import pytest

from conspectus.bench import grid, methods, pages
from conspectus.bench.experiments import ALL, named
from conspectus.bench.experiments.base import Experiment
from conspectus.bench.experiments.guests import GUESTS
from conspectus.bench.grid import EVERYTHING, Data, Grid, Method, Missing, crossed
from conspectus.bench.printed import printed
from conspectus.bench.shows import ConvergenceOf, CurvesOf, HeatmapOf, ImputedOf, MeansOf, PairedOf, RanksOf, TableOf
from conspectus.bench.store import SCORES, Store
from conspectus.errors import InputError

NAMED = [
    *("apmc-table1", "apmc-figure3", "apmc-figure4", "gpmvc-table2", "gpmvc-table3"),
    *("gpmvc-figure2", "gpmvc-figure3", "gpmvc-figure4", "gpmvc-skew-cora"),
    *("eeimvc-table2", "eeimvc-table3", *(f"eeimvc-figure{number}" for number in range(1, 9)), "eeimvc-time"),
    *(f"someas-table{number}" for number in range(1, 5)),
    *(f"someas-figure{number}" for number in range(2, 8)),
    *("someas-figure8a", "someas-figure8b"),
    *("abs2-digit", "abs2-bbcsport", "abs2-hdigit", "abs2-lambda", "default-table"),
]


@pytest.fixture
def everything_there(monkeypatch):
    """As if every method and every data set were there."""
    monkeypatch.setattr(methods, "known", lambda name: True)
    monkeypatch.setattr(methods, "_takes", lambda name, parameter, value: True)
    monkeypatch.setattr("conspectus.bench.sources.there", lambda data: True)


def whole(name):
    """The experiment with nothing cached from another test."""
    return Experiment(**{field: getattr(ALL[name], field) for field in Experiment.__dataclass_fields__})


def test_every_named_experiment_is_there():
    assert set(NAMED) <= set(ALL)


def test_a_typo_is_answered_with_the_name():
    with pytest.raises(InputError, match="did you mean 'apmc-table1'"):
        named("apmc-tabel1")


@pytest.mark.parametrize("name", NAMED)
def test_tasks_are_distinct_and_stable(name, everything_there):
    tasks = whole(name).plan.tasks
    assert tasks
    texts = [task.json() for task in tasks]
    assert len(set(texts)) == len(texts)
    assert texts == [task.json() for task in whole(name).plan.tasks]


@pytest.mark.parametrize("name", NAMED)
def test_quick_is_small(name, everything_there):
    quick = whole(name).quick()
    tasks = quick.plan.tasks
    assert {task.data.sample or task.data.params["n"] for task in tasks} <= set(range(1, 501))
    assert all(len({task.ratio for task in grid.tasks()}) <= 2 for grid in quick.grids)
    assert all(len({task.mask for task in grid.tasks()}) <= 2 for grid in quick.grids)


@pytest.mark.parametrize("name", [name for name in NAMED if printed(name)])
def test_every_printed_setting_has_tasks(name, everything_there):
    """Every printed number of a method that the experiment names finds rows, or its data could not be had."""
    import pandas as pd

    from conspectus.bench import beside
    from conspectus.bench.results import _labels

    lines = [_labels(task) for task in whole(name).plan.tasks]
    frame = pd.DataFrame(lines).assign(**dict.fromkeys(SCORES, 0.5), singles=None, why=None)
    pairs = beside.beside(whole(name).reading, frame)
    empty = {(pair.cell.dataset, pair.cell.setting, pair.cell.method) for pair in pairs if pair.ours is None}
    assert empty == set()


def test_experiments_of_one_paper_share_their_runs(everything_there):
    tables = [{task.json() for task in whole(f"someas-table{number}").plan.tasks} for number in (1, 2, 3, 4)]
    assert tables[0] == tables[1] == tables[2] == tables[3]
    figure3 = {task.json() for task in whole("apmc-figure3").plan.tasks}
    assert len(figure3 & {task.json() for task in whole("apmc-figure4").plan.tasks}) == 30
    table2 = {task.json() for task in whole("eeimvc-table2").plan.tasks}
    for number in range(1, 6):
        assert {task.json() for task in whole(f"eeimvc-figure{number}").plan.tasks} <= table2


def test_a_guest_joins_every_comparison(everything_there):
    comparisons = [
        name for name in NAMED if name.startswith(("apmc-table", "apmc-figure3", "eeimvc-table2", "someas-t"))
    ]
    for name in comparisons:
        used = {task.method.name for task in whole(name).plan.tasks}
        assert {guest.name for guest in GUESTS} <= used


def test_labels_choose_nothing_by_default(everything_there):
    for experiment in ALL.values():
        for each in experiment.grids:
            assert "y" not in each.common
            assert all("oracle" not in method.params for method in each.methods)


def test_everything_is_the_registry(monkeypatch):
    monkeypatch.setattr(methods, "names", lambda: ["APMC", "BSV"])
    made, absent = methods.complete(Grid((Data("a"),), (Method("Mine"), Method("APMC"), Method(EVERYTHING))))
    assert [method.name for method in made.methods] == ["APMC", "BSV"]
    assert absent == ("Mine",)


def test_common_parameters_go_where_they_are_taken():
    grid = Grid(
        (Data("a"),), (Method("APMC"), Method("BSV"), Method("APMC", {"prepare": None})), common={"prepare": "l2"}
    )
    made, _ = methods.complete(grid)
    assert [dict(method.params) for method in made.methods] == [{"prepare": "l2"}, {"prepare": "l2"}, {"prepare": None}]
    made, _ = methods.complete(Grid((Data("a"),), (Method("BSV"),), common={"n_init": 3, "other": 1}))
    assert made.methods[0].params == {"n_init": 3}


def test_every_parameter_of_every_experiment_is_one_that_its_method_has():
    """As far as the methods are there: a typo in an experiment would be a table of errors."""
    seen = set()
    for experiment in ALL.values():
        for task in experiment.plan.tasks:
            told = (task.method.name, task.method.filled, str(task.method.params))
            if told not in seen:
                methods.build(task.method, 2, 0)._validate_params()
            seen.add(told)


def test_a_method_for_complete_data_is_put_behind_a_filling():
    plain, filled = Method("APMC", {"n_neighbors": 3}), Method("APMC", {"n_neighbors": 3}, filled="mean")
    model = methods.build(filled, 4, 7)
    assert (type(model).__name__, model.fill, model.estimator.n_clusters) == ("Filled", "mean", 4)
    assert type(methods.build(plain, 4, 7)).__name__ == "APMC"


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.delenv("CONSPECTUS_DATA", raising=False)
    experiment = Experiment(
        "toy",
        "Toy",
        (
            Grid(
                (Data("mfeat"), Data("x", "X"), Data("y", "Y", stand_in="mfeat_ff")), (Method("APMC"), Method("Later"))
            ),
        ),
    )
    words = experiment.plan.words()
    assert words == [
        "X could not be had, and nothing takes its place",
        "Y could not be had: mfeat_ff takes its place",
        "methods that are not there: Later",
    ]
    assert {task.data.name for task in experiment.plan.tasks} == {"mfeat", "mfeat_ff"}


SHOWS = (
    TableOf(("acc", "seconds")),
    TableOf(("acc",), singles=True),
    TableOf(("acc",), rows="cell", columns=("method",)),
    MeansOf(),
    CurvesOf(),
    CurvesOf("param.alpha", ("acc",), where=("param.beta", 1.0), log="x"),
    CurvesOf("n", ("seconds",), log="xy", panel=""),
    CurvesOf("start", ("acc",), by_ratio="PDR"),
    HeatmapOf("param.alpha", "param.beta"),
    ConvergenceOf(),
    RanksOf(),
    PairedOf("Second"),
    PairedOf("Absent"),
    ImputedOf(),
)


@pytest.fixture
def shown(tmp_path):
    """An experiment with every kind of show, and a store with made-up rows for it."""
    rng = np.random.default_rng(0)
    own = tuple(Method("bench_toys:Toy", {"alpha": a, "beta": b}, "First") for a in (0.1, 1.0) for b in (0.1, 1.0))
    others = (Method("bench_toys:Corrected", label="Second"), Method("bench_toys:Failing", label="Third"))
    sets = tuple(Data("make_views", f"set {n}", params={"n": n, "dims": (2, 2), "k": 2}) for n in (20, 40))
    grids = (Grid(sets, own + others, (Missing("paired"),), (0.1, 0.9), crossed(2), singles=2),)
    experiment = Experiment("toy", "A toy", grids, SHOWS, notes=("a note",))
    store = Store(tmp_path / "store.sqlite")
    for task in experiment.plan.tasks:
        scores = {name: rng.random() for name in SCORES}
        row = {**scores, "seconds": rng.random(), "objective": [3.0, 2.0, 2.5], "stop": "converged", "n": 20, "k": 2}
        row |= {"singles": [scores, scores], "unseen": [3, 4], "key": task.key(methods.revision(task.method.name))}
        failed = task.method.name.endswith("Failing")
        store.append({"key": row["key"], "error": "InputError", "message": "no"} if failed else row)
    yield experiment, store
    store.close()


@pytest.mark.parametrize("oracle", [False, True])
def test_a_page_shows_everything(shown, oracle):
    experiment, store = shown
    text = pages.page(experiment, store, oracle=oracle).text
    assert "48 of 48 tasks are in the store, of 2 masks; 8 of them gave no result" in text
    assert "    conspectus bench run toy" in text
    assert "- a note" in text
    assert "InputError: no" in text
    assert ("oracle" in text) == oracle
    assert "Absent has no rows yet" in text
    assert "| Second, PDR 90% |" in text


def test_a_page_is_written_with_tables_and_figures(shown, tmp_path):
    pytest.importorskip("matplotlib")
    experiment, store = shown
    files = {file.name for file in pages.page(experiment, store, drawn=True).write(tmp_path / "out")}
    tables = {f"table-acc-1.{kind}" for kind in ("md", "tex", "csv")}
    stems = ("curves-ratio", "curves-alpha", "curves-n", "heatmap", "convergence", "ranks-acc")
    assert {"toy.md", *tables, *(f"{stem}.{kind}" for stem in stems for kind in ("png", "pdf"))} <= files


def test_objectives_against_their_trend_are_shown(shown):
    experiment, store = shown
    text = pages.page(experiment, store).text
    assert "| set 20 | First | 3 | 3 | 2.5 | 2.5e-01 | converged |" in text


def test_imputed_variables_by_formula():
    from conspectus.bench.shows import _imputed

    n, k, unseen = 10, 3, [2, 0]
    entries = sum(1 for u in unseen for i in range(n) for j in range(n) if i < u or j < u)
    assert _imputed({"n": n, "k": k, "unseen": unseen}) == (entries, n * k * 2, 2 * k)


def test_the_grid_module_knows_no_method():
    assert not hasattr(grid, "APMC")
