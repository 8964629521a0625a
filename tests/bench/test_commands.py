"""The command line of the experiments, with toy methods and one's own data."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from conspectus.bench import experiments
from conspectus.bench.commands import bench
from conspectus.bench.experiments.base import Experiment
from conspectus.bench.grid import Data, Grid, Method, Missing, crossed
from conspectus.bench.shows import TableOf


@pytest.fixture
def toy(monkeypatch):
    """A named experiment of one toy method on drawn data."""
    data = (Data("make_views", "drawn", params={"n": 60, "dims": (3, 4), "k": 3}),)
    grid = Grid(data, (Method("bench_toys:Toy", label="Toy"),), (Missing("paired"),), (0.1, 0.5, 0.9), crossed(3))
    experiment = Experiment("toy", "A toy experiment", (grid,), (TableOf(("acc",)),))
    monkeypatch.setitem(experiments.ALL, "toy", experiment)
    return experiment


def invoke(*arguments):
    return CliRunner().invoke(bench, [str(argument) for argument in arguments], catch_exceptions=False)


def test_run_prints_and_writes_and_goes_on(toy, tmp_path):
    first = invoke("run", "toy", "--out", tmp_path, "--masks", 1)
    assert first.exit_code == 0, first.output
    assert "3 tasks run" in first.stderr
    assert "| Toy | " in first.stdout
    assert (tmp_path / "toy" / "toy.md").read_text() in first.stdout
    again = invoke("run", "toy", "--out", tmp_path)
    assert "6 tasks run" in again.stderr
    assert "3 taken from the store" in again.stderr
    assert "9 tasks run" in invoke("run", "toy", "--out", tmp_path, "--fresh").stderr


def test_quick(toy, tmp_path):
    result = invoke("run", "toy", "--quick", "--out", tmp_path)
    assert "4 tasks run" in result.stderr
    assert "    conspectus bench run toy --quick\n" in result.stdout
    assert (tmp_path / "toy-quick" / "toy.md").is_file()


def test_ones_own_method_and_data(toy, tmp_path, blobs):
    result = invoke(
        "run", "toy", "--quick", "--out", tmp_path, "--method", "bench_toys:Corrected", "--data", blobs.name
    )
    assert "16 tasks run" in result.stderr
    assert "| bench_toys:Corrected | " in result.stdout
    assert "|  | drawn | blobs |" in result.stdout.replace("n = 60", "drawn")


def test_only_one_method_is_run_and_all_are_shown(toy, tmp_path):
    more = ("--method", "bench_toys:Corrected", "--masks", 1, "--out", tmp_path)
    result = invoke("run", "toy", *more, "--only", "bench_toys:Toy")
    assert "3 tasks run" in result.stderr
    assert "3 of 6 tasks are in the store" in result.stdout
    assert "- not run yet: bench_toys:Corrected" in result.stdout
    assert "| bench_toys:Corrected" not in result.stdout


def test_show_prints_the_same_without_running(toy, tmp_path):
    ran = invoke("run", "toy", "--out", tmp_path, "--masks", 1)
    shown = invoke("show", "toy", "--out", tmp_path, "--masks", 1)
    assert shown.stdout == ran.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "tyo"], "there is no experiment 'tyo' (`conspectus bench list` shows all); did you mean 'toy'?"),
        (["run", "toy", "--method", "bench_toys:Absent"], "bench_toys:Absent"),
        (["run", "toy", "--method", "Absent"], "no method 'Absent'"),
        (["run", "toy", "--data", "absent.npz"], "absent.npz"),
        (["run", "toy", "--only", "Absent"], "toy has no method Absent: it has bench_toys:Toy"),
        (["show", "toy"], "run an experiment with --out"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(toy, tmp_path, arguments, said):
    result = invoke(*arguments, "--out", tmp_path / "none")
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (tmp_path / "none").exists()


def test_ctrl_c_exits_130_and_keeps_what_was_finished(toy, tmp_path, monkeypatch):
    from conspectus.bench import run as runner
    from conspectus.bench.store import Store

    def interrupted(tasks, store, **options):
        store.append({"key": "a"})
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", interrupted)
    result = CliRunner().invoke(bench, ["run", "toy", "--out", str(tmp_path)])
    assert result.exit_code == 130
    assert "the same command goes on" in result.stderr
    store = Store(tmp_path / "store.sqlite")
    assert len(store.frame()) == 1
    store.close()


def test_list_names_every_experiment(toy):
    result = CliRunner().invoke(bench, ["list"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert "toy" in result.output
    assert "apmc-table1" in result.output


def test_the_page_has_the_command_the_table_and_the_versions(toy, tmp_path, monkeypatch):
    few = {name: experiments.ALL[name] for name in ("toy", "apmc-table1")}
    monkeypatch.setattr("conspectus.bench.reproduction.ALL", few)
    invoke("run", "toy", "--out", tmp_path, "--masks", 1)
    result = invoke("page", "--out", tmp_path, "--file", tmp_path / "docs" / "page.md")
    text = (tmp_path / "docs" / "page.md").read_text()
    assert "toy" in result.stdout
    assert "## A toy experiment" in text
    assert "    conspectus bench run toy" in text
    assert "numpy " in text
    assert "apmc-table1" not in text
