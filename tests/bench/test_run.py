"""Every task in a process of its own: results, errors, limits, resuming; one real subprocess is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conspectus.bench.grid import Data, Grid, Method, Missing, crossed
from conspectus.bench.run import run
from conspectus.bench.store import SCORES, Store

HERE = Path(__file__).parent


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store.sqlite")
    yield store
    store.close()


def grid(data, *names, masks=1, **parameters):
    methods = tuple(Method(f"bench_toys:{name}", parameters) for name in names)
    return Grid((data,), methods, (Missing("paired"),), (0.5,), crossed(masks))


def test_a_row_has_scores_costs_and_versions(blobs, store):
    tasks = list(grid(blobs, "Toy").tasks())
    report = run(tasks, store)
    (row,) = store.frame().to_dict("records")
    assert (report.run, report.reused, report.left) == (1, 0, 0)
    assert row["task"] == tasks[0].json()
    assert all(0 <= row[name] <= 1 for name in SCORES if name != "ari")
    assert row["error"] is None
    assert (row["n"], row["k"], row["unseen"]) == (60, 3, [15, 15])
    assert 0 < row["seconds"] < 60
    assert 0 < row["baseline_mb"] <= row["memory_mb"]
    assert all(row[name] for name in ("conspectus", "python", "numpy", "scipy", "sklearn", "machine", "finished"))


def test_every_task_has_its_own_peak_of_memory(blobs, store):
    run(grid(blobs, "Greedy", "Toy").tasks(), store)
    frame = store.frame()
    used = (frame["memory_mb"] - frame["baseline_mb"]).tolist()
    assert used[0] >= 60
    assert used[1] < 30


def test_single_runs_are_stored_one_by_one(blobs, store):
    (task,) = grid(blobs, "Toy").tasks()
    run([type(task)(**{**task.__dict__, "singles": 3})], store)
    (row,) = store.frame().to_dict("records")
    assert len(row["singles"]) == 3
    assert set(row["singles"][0]) == set(SCORES)


def test_a_failing_run_never_ends_a_grid(blobs, store):
    report = run(grid(blobs, "Failing", "Dying", "Toy").tasks(), store, jobs=2)
    frame = store.frame()
    assert sorted(frame["error"].dropna()) == ["ProcessDied", "ValueError"]
    assert "cannot do that" in frame["message"].tolist()
    assert any("exit code 7" in message for message in frame["message"].dropna())
    assert frame["acc"].notna().sum() == 1
    assert report.errors == {"ProcessDied": 1, "ValueError": 1}


def test_data_without_what_the_task_needs_are_a_row_too(tmp_path, store):
    run(grid(Data(str(tmp_path / "absent.npz")), "Toy").tasks(), store)
    (row,) = store.frame().to_dict("records")
    assert row["error"] == "InputError"
    assert "absent.npz" in row["message"]


def test_a_slow_task_is_stopped_at_its_limit_and_tried_again_with_a_longer_one(blobs, store):
    tasks = list(grid(blobs, "Toy", seconds=1.5).tasks())
    begin = time.monotonic()
    run(tasks, store, limit=0.5)
    assert time.monotonic() - begin < 10
    assert store.frame()["error"].tolist() == ["TimeLimit"]
    assert run(tasks, store, limit=0.5).reused == 1
    assert run(tasks, store, limit=30).run == 1
    assert store.latest([tasks[0].key(1)])[tasks[0].key(1)]["acc"] > 0


def test_what_is_stored_is_not_run_again(blobs, store, tmp_path):
    log = tmp_path / "log"
    first = list(grid(blobs, "Toy", masks=2, log=str(log)).tasks())
    more = list(grid(blobs, "Toy", masks=3, log=str(log)).tasks())
    run(first, store)
    report = run(more, store)
    assert (report.reused, report.run) == (2, 1)
    assert len(log.read_text().splitlines()) == 3


def test_fresh_computes_all_again_and_keeps_the_old_rows(blobs, store):
    tasks = list(grid(blobs, "Toy", masks=2).tasks())
    run(tasks, store)
    assert run(tasks, store, fresh=True).run == 2
    assert len(store.frame()) == 4
    assert len(store.latest(task.key(1) for task in tasks)) == 2


def test_a_corrected_method_is_computed_again(blobs, store, monkeypatch):
    import bench_toys

    from conspectus.bench.methods import revision

    tasks = list(grid(blobs, "Toy").tasks())
    run(tasks, store)
    monkeypatch.setattr(bench_toys.Toy, "revision", 2)
    revision.cache_clear()
    assert run(tasks, store).run == 1
    assert store.frame()["revision"].tolist() == ["1", "2"]
    revision.cache_clear()


def test_a_class_without_a_revision_is_told_apart_by_its_source():
    from conspectus.bench.methods import revision

    assert len(revision("bench_toys:Unrevised")) == 12


def test_a_composition_is_as_new_as_its_newest_part(monkeypatch):
    from conspectus import APMC, Filled
    from conspectus.bench import methods
    from conspectus.registry import Composition

    filled = Composition("FilledAPMC", "filled APMC", lambda n_clusters=8, **given: Filled(APMC(n_clusters), **given))
    monkeypatch.setattr(methods, "find", lambda name: filled)
    before = methods.revision.__wrapped__("FilledAPMC")
    monkeypatch.setattr(APMC, "revision", APMC.revision + 1)
    assert methods.revision.__wrapped__("FilledAPMC") != before


def test_a_budget_starts_no_more_tasks_and_says_how_many_are_left(blobs, store):
    tasks = list(grid(blobs, "Toy", masks=4, seconds=0.4).tasks())
    report = run(tasks, store, budget=0.5)
    assert report.run + report.left == 4
    assert 1 <= report.run < 4


def test_an_interrupt_keeps_what_was_finished(blobs, store):
    tasks = list(grid(blobs, "Toy", masks=4).tasks())

    def stop(done, total, row):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tasks, store, watch=stop)
    assert len(store.frame()) == 2
    assert run(tasks, store).reused == 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_as_many_at_once_as_jobs(blobs, store, tmp_path, jobs):
    log = tmp_path / "log"
    run(grid(blobs, "Toy", masks=2, seconds=1.0, log=str(log)).tasks(), store, jobs=jobs)
    (_, first_end, _), (second_begin, _, _) = sorted(
        tuple(map(float, line.split())) for line in log.read_text().splitlines()
    )
    assert (second_begin < first_end) == (jobs == 2)


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from conspectus.bench.grid import Grid, Method, Missing, crossed
from conspectus.bench.run import run
from conspectus.bench.sources import own
from conspectus.bench.store import Store

if __name__ == "__main__":
    method = Method("bench_toys:Toy", {{"seconds": 0.5, "log": {log!r}}})
    grid = Grid((own({data!r}),), (method,), (Missing("paired"),), (0.5,), crossed(6))
    run(grid.tasks(), Store({store!r}), jobs=2)
"""


def test_a_grid_that_was_killed_goes_on_where_it_was(blobs, tmp_path):
    log, path = tmp_path / "log", tmp_path / "killed" / "store.sqlite"
    script = tmp_path / "grid.py"
    script.write_text(SCRIPT.format(here=str(HERE), log=str(log), data=blobs.name, store=str(path)))
    env = {**os.environ, "OMP_NUM_THREADS": "3", "PYTHONPATH": str(HERE.parents[1] / "src")}
    victim = subprocess.Popen([sys.executable, str(script)], env=env)
    while not (log.exists() and len(log.read_text().splitlines()) >= 3):
        assert victim.poll() is None
        time.sleep(0.05)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert {line.split()[-1] for line in log.read_text().splitlines()} == {
        "1"
    }  # whatever the parent has, a task has one thread
    store = Store(path)
    kept = store.frame()["key"].tolist()
    assert 1 <= len(kept) < 6
    method = Method("bench_toys:Toy", {"seconds": 0.5, "log": str(log)})
    tasks = list(Grid((blobs,), (method,), (Missing("paired"),), (0.5,), crossed(6)).tasks())
    report = run(tasks, store, jobs=2)
    assert (report.reused, report.run) == (len(kept), 6 - len(kept))
    assert store.frame()["key"].tolist()[: len(kept)] == kept
    assert store.frame()["key"].nunique() == 6
    store.close()
