"""The command line: what it writes and says, and that every mistake is one line, exit code 2 and nothing written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import conspectus
from conspectus import registry
from conspectus.cli import main
from conspectus.cli.group import in_shell
from conspectus.cli.output import whole_file
from conspectus.metrics import adjusted_rand_index

N, K = 90, 3
CLASSES = np.arange(N) % K
IDS = [f"{i:03d}" for i in range(N)]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with two tables of three well separated groups: 60 samples are in both, 15 in one only."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rna = pd.DataFrame(rng.normal(size=(N, 5)) + 20 * np.eye(5)[CLASSES], columns=list("abcde"))
    dna = pd.DataFrame(rng.normal(size=(N, 12)) - 20 * np.eye(12)[CLASSES], columns=[f"g{j}" for j in range(12)])
    for frame in (rna, dna):
        frame.insert(0, "patient", IDS)
    rna.iloc[:75].to_csv("rna.csv", index=False)
    dna.iloc[15:].to_csv("dna.csv", index=False)
    return tmp_path


def call(*args, code=0):
    result = CliRunner().invoke(main, list(args), catch_exceptions=False, prog_name="conspectus")
    assert result.exit_code == code, result.output
    return result


def refused(*args):
    """Return the one line that a mistake is answered with, having seen that nothing was written."""
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    result = call(*args, code=2)
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


# --- what it does


def test_labels_of_two_tables_that_share_samples():
    result = call("cluster", "rna.csv", "dna.csv", "--clusters", "3")
    text = Path("labels.csv").read_text()
    assert text.startswith("id,label,")
    labels = pd.read_csv("labels.csv", dtype={"id": str})
    assert list(labels["id"]) == IDS
    assert adjusted_rand_index(CLASSES, labels["label"]) == 1
    assert labels["confidence"].between(0, 1).all()
    assert "90 samples, 2 views; 30 samples (33 %) miss a view" in result.stdout
    assert "labels.csv" in result.stdout
    assert result.stderr == ""


def test_the_same_seed_gives_the_same_file():
    for out in ("a.csv", "b.csv"):
        call("cluster", "rna.csv", "dna.csv", "-k", "5", "--seed", "7", "--out", out, "--quiet")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


def test_quiet_says_nothing():
    result = call("cluster", "rna.csv", "-k", "3", "--quiet")
    assert result.output == ""
    assert Path("labels.csv").exists()


def test_json_is_one_object():
    told = json.loads(call("cluster", "rna.csv", "dna.csv", "-k", "3", "--json", "--method", "concatkmeans").stdout)
    assert told["method"] == "ConcatKMeans"
    assert told["samples"], told["incomplete_samples"] == (90, 30)
    assert [(view["name"], view["seen"], view["missing"]) for view in told["views"]] == [
        ("rna", 75, 15),
        ("dna", 75, 15),
    ]
    assert sum(cluster["samples"] for cluster in told["clusters"]) == 90
    assert sum(cluster["incomplete"] for cluster in told["clusters"]) == 30
    assert told["labels_file"] == "labels.csv"
    assert told["warnings"] == []


def test_tables_of_every_kind_meet_by_their_ids():
    pytest.importorskip("pyarrow")
    rna, dna = pd.read_csv("rna.csv", dtype={"patient": str}), pd.read_csv("dna.csv", dtype={"patient": str})
    rna.to_parquet("rna.parquet")
    rna.to_csv("rna.tsv.gz", index=False, sep="\t")
    np.savez("dna.npz", dna=dna.drop(columns="patient"), ids=dna["patient"].to_numpy(dtype=str))
    for files in (["rna.parquet", "dna.csv"], ["rna.tsv.gz", "dna.npz"]):
        call("cluster", *files, "-k", "3", "--out", f"{files[0]}.csv", "-q")
    assert Path("rna.parquet.csv").read_text() == Path("rna.tsv.gz.csv").read_text()


def test_a_transposed_table_is_turned():
    pd.read_csv("dna.csv", dtype={"patient": str}).set_index("patient").T.to_csv("turned.csv")
    call("cluster", "rna.csv", "turned.csv", "-k", "3", "-q", "--transpose-only", "turned.csv")
    call("cluster", "rna.csv", "dna.csv", "-k", "3", "-q", "--out", "plain.csv")
    assert Path("labels.csv").read_text() == Path("plain.csv").read_text()
    assert "there is no file" in refused("cluster", "rna.csv", "turnd.csv", "-k", "3", "--transpose-only", "turnd.csv")
    assert "not read; did you mean 'rna.csv'?" in refused("cluster", "rna.csv", "-k", "3", "--transpose-only", "rn.csv")


def test_labels_with_tabs():
    call("cluster", "rna.csv", "-k", "3", "-q", "--out", "labels.tsv")
    assert Path("labels.tsv").read_text().startswith("id\tlabel\t")


def test_rows_with_gaps_and_rows_of_zeros():
    frame = pd.read_csv("dna.csv", dtype={"patient": str})
    frame.loc[0, "g3"] = np.nan
    frame.loc[1:3, "g0":] = 0
    frame.to_csv("dna.csv", index=False)
    assert "--partial mean" in refused("cluster", "rna.csv", "dna.csv", "-k", "3")
    command = ("cluster", "rna.csv", "dna.csv", "-k", "3", "--json", "--method", "concatkmeans")
    kept = call(*command, "--partial", "mean")
    assert "--zero-rows unseen" in kept.stderr
    assert len(json.loads(kept.stdout)["warnings"]) == kept.stderr.count("Warning: ") == 1
    unseen = call(*command, "--partial", "drop-row", "--zero-rows", "unseen")
    assert json.loads(unseen.stdout)["views"][1]["missing"] == 15 + 1 + 3
    command = ("cluster", "rna.csv", "dna.csv", "-k", "3", "--partial", "drop-row", "-m", "anchorconsensus")
    for options, missing in (([], 19), (["--zero-rows", "keep"], 16), (["--zero-rows", "unseen"], 19)):
        assert json.loads(call(*command, *options, "--json").stdout)["views"][1]["missing"] == missing
    assert "rows of zeros read as not seen: dna 3" in call(*command).stdout


@pytest.mark.parametrize(
    ("given", "set_to"),
    [
        (["--prepare", "minmax"], "minmax"),
        (["--prepare", "none"], None),
        (["--prepare", "rna=standard", "--prepare", "dna=none"], {"rna": "standard", "dna": None}),
        (["--param", "prepare=l2"], "l2"),
    ],
)
def test_prepare_for_all_views_or_for_each(given, set_to):
    told = json.loads(call("cluster", "rna.csv", "dna.csv", "-k", "3", "--json", "-m", "BSV", *given).stdout)
    assert told["parameters"]["prepare"] == set_to


@pytest.mark.parametrize(("text", "value"), [("zero", "zero"), ("'mean'", "mean")])
def test_parameters_are_read_as_python_writes_them(text, value):
    told = json.loads(call("cluster", "rna.csv", "-k", "3", "--json", "-m", "bsv", "-p", f"fill={text}").stdout)
    assert told["parameters"]["fill"] == value


def test_every_method_is_listed_and_found_in_any_case():
    listed = json.loads(call("methods", "--json").stdout)
    assert set(listed["methods"]) == set(conspectus.all_methods())
    assert listed["default"] in listed["methods"]
    assert all(method["paper"] and method["cost"] for method in listed["methods"].values())
    shown = call("methods").stdout
    for name in listed["methods"]:
        assert name in shown
        assert registry.find(name.lower()) is registry.find(name.upper())


def test_help_of_every_command_has_an_example():
    for command in ("cluster", "methods", "demo"):
        assert f"Example:\n    conspectus {command}" in call(command, "--help").stdout
    assert call("--version").stdout == f"conspectus, version {conspectus.__version__}\n"


# --- mistakes in the command

MISTAKES = {
    "no file": (["cluster", "-k", "3"], "FILES"),
    "no number of clusters": (["cluster", "rna.csv"], "--clusters"),
    "one cluster": (["cluster", "rna.csv", "-k", "1"], "x>=2"),
    "more clusters than samples": (["cluster", "rna.csv", "-k", "76"], "--clusters 76, but there are only 75 samples"),
    "clusters in words": (["cluster", "rna.csv", "-k", "three"], "three"),
    "command": (["clustr", "rna.csv"], "no command 'clustr'; did you mean 'cluster'?"),
    "option": (["cluster", "rna.csv", "--cluster", "3"], "--clusters"),
    "file": (["cluster", "rna.cvs", "-k", "3"], "no file rna.cvs; did you mean 'rna.csv'?"),
    "file twice": (["cluster", "rna.csv", "./rna.csv", "-k", "3"], "given twice"),
    "folder": (["cluster", ".", "-k", "3"], "folder"),
    "column": (["cluster", "rna.csv", "-k", "3", "--id", "Patint"], "did you mean 'patient'?"),
    "method": (["cluster", "rna.csv", "-k", "3", "-m", "apcm"], "no method 'apcm'"),
    "module": (["cluster", "rna.csv", "-k", "3", "-m", "no_such:Method"], "no_such"),
    "parameter": (["cluster", "rna.csv", "-k", "3", "-m", "bsv", "-p", "fil=mean"], "did you mean 'fill'?"),
    "parameter without value": (["cluster", "rna.csv", "-k", "3", "-p", "fill"], "NAME=VALUE"),
    "parameter twice": (["cluster", "rna.csv", "-k", "3", "-p", "fill=a", "-p", "fill=b"], "twice"),
    "parameter's value": (["cluster", "rna.csv", "-k", "3", "-m", "bsv", "-p", "fill=[1]"], "fill"),
    "parameter with an option": (["cluster", "rna.csv", "-k", "3", "-p", "n_clusters=4"], "--clusters"),
    "preparation": (["cluster", "rna.csv", "-k", "3", "--prepare", "minmx"], "--prepare minmx is not known"),
    "preparation twice": (
        ["cluster", "rna.csv", "-k", "3", "--prepare", "l2", "--prepare", "log1p"],
        "join steps with +",
    ),
    "preparation of no view": (["cluster", "rna.csv", "-k", "3", "--prepare", "rn=l2"], "did you mean 'rna'?"),
    "partial": (["cluster", "rna.csv", "-k", "3", "--partial", "men"], "'mean'"),
    "zero rows": (["cluster", "rna.csv", "-k", "3", "--zero-rows", "drop"], "unseen"),
    "seed": (["cluster", "rna.csv", "-k", "3", "--seed", "-1"], "--seed"),
    "out is a table": (["cluster", "rna.csv", "-k", "3", "-o", "./rna.csv"], "one of the tables"),
    "out is a folder": (["cluster", "rna.csv", "-k", "3", "-o", "folder.csv"], "is a folder"),
    "out in no folder": (["cluster", "rna.csv", "-k", "3", "-o", "nowhere/labels.csv"], "there is no folder nowhere"),
    "out of another kind": (["cluster", "rna.csv", "-k", "3", "-o", "labels.xlsx"], ".csv or .tsv"),
    "out is a device": (["cluster", "rna.csv", "-k", "3", "-o", "pipe.csv"], "is not a file"),
    "demo's folder is a file": (["demo", "--out", "rna.csv"], "is a file"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_answered_in_one_line(case):
    args, says = MISTAKES[case]
    Path("folder.csv").mkdir()
    os.mkfifo("pipe.csv")
    assert says in refused(*args)


def test_without_a_command_there_is_help():
    assert "cluster" in call(code=2).output


# --- mistakes in the data: the door's, as they show here

HEAD = "id,x,y\n"
TABLE = HEAD + "s1,1,2\ns2,3,4\ns3,5,6\n"
DATA = {
    "seen in no view": ({"A.csv": HEAD + "s1,,\ns2,1,2\ns3,2,3\n"}, "'s1'", "no view"),
    "partly NaN": ({"A.csv": HEAD + "s1,1,\ns2,1,2\ns3,2,3\n"}, "view 'A'", "sample 's1'", "--partial mean"),
    "inf": ({"A.csv": HEAD + "s1,inf,1\ns2,1,2\ns3,2,3\n"}, "view 'A'", "'s1'", "inf"),
    "no rows": ({"A.csv": HEAD, "B.csv": TABLE}, "view 'A'", "no rows"),
    "no columns": ({"A.csv": "id\ns1\ns2\n", "B.csv": TABLE}, "view 'A'", "no columns"),
    "lengths": ({"A.npy": np.eye(3), "B.npy": np.eye(4)}, "A.npy 3, B.npy 4", "ids"),
    "duplicate ids": ({"A.csv": TABLE + "s2,1,1\n"}, "view 'A'", "'s2'", "drop or merge"),
    "not a number": ({"A.csv": HEAD + "s1,red,1\ns2,blue,2\n"}, "view 'A'", "'x'", "one-hot"),
    "no id shared": (
        {"A.csv": TABLE, "B.csv": "id,z\nt1,1\nt2,2\nt3,3\nt4,4\n"},
        "'s1', 's2', 's3'",
        "'t1', 't2', 't3'",
    ),
    "ids with spaces": ({"A.csv": TABLE, "B.csv": "id,z\n s1,1\n s2,2\n"}, "stripped", "take the spaces out"),
    "a table on its side": ({"A.csv": TABLE, "B.csv": "gene,s1,s2,s3\ng,1,2,3\nh,4,5,6\n"}, "--transpose"),
    "arrays and tables": ({"A.csv": TABLE, "B.npy": np.eye(3)}, "B.npy", "'ids'"),
    "no ids": ({"A.csv": "x,y\n1,2\n3,4\n"}, "'x'", "--id COLUMN"),
    "one axis": ({"A.npy": np.arange(3.0)}, "view 'A'", "axes"),
    "three axes": ({"A.npy": np.zeros((3, 2, 2))}, "view 'A'", "axes"),
    "complex": ({"A.npy": np.eye(3) * 1j}, "view 'A'", "omplex"),
    "text in an array": ({"A.npy": np.full((3, 2), "red")}, "view 'A'", "one-hot"),
    "fewer samples than clusters": ({"A.csv": HEAD + "s1,1,2\n"}, "--clusters 2", "1 samples"),
    "negative counts": ({"A.csv": TABLE.replace("5", "-5")}, "view 'A'", "--prepare clip", "--prepare", "log1p"),
}


@pytest.mark.parametrize("case", DATA)
def test_what_the_door_refuses_is_one_line_here(case):
    files, *says = DATA[case]
    for name, content in files.items():
        np.save(name, content) if name.endswith(".npy") else Path(name).write_text(content)
    options = ["--prepare", "log1p"] if case == "negative counts" else []
    line = refused("cluster", *files, "-k", "2", "-m", "concatkmeans", *options)
    for words in says:
        assert words in line


# --- how it ends


def test_ctrl_c_ends_with_130_and_writes_nothing(here):
    (here / "slow.py").write_text(
        "import signal, time\nfrom conspectus import IncompleteClusterer\n\n"
        "class Slow(IncompleteClusterer):\n"
        "    def __init__(self, n_clusters=8, *, prepare=None, random_state=None):\n"
        "        self.n_clusters, self.prepare, self.random_state = n_clusters, prepare, random_state\n\n"
        "    def _embed(self, views, rng, start):\n"
        "        print('ready', flush=True)\n"
        "        time.sleep(60)\n"
    )
    command = [sys.executable, "-m", "conspectus", "cluster", "rna.csv", "-k", "3", "-m", "slow:Slow"]
    source = str(Path(conspectus.__file__).parents[1])
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.strip()) == (130, "", "Error: stopped; nothing was written")
    assert not list(here.glob("*labels*"))


def test_a_file_is_whole_or_as_it_was():
    Path("labels.csv").write_text("old")

    def interrupted():
        with whole_file(Path("labels.csv")) as part:
            part.write_text("ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert Path("labels.csv").read_text() == "old"
    assert not list(Path().glob(".*labels*"))
    Path("link.csv").symlink_to("labels.csv")
    with whole_file(Path("link.csv")) as part:
        part.write_text("new")
    assert Path("labels.csv").read_text() == "new"
    assert Path("link.csv").is_symlink()


def test_a_bug_is_not_hidden(monkeypatch):
    monkeypatch.setattr("conspectus.files.read_file", lambda *args, **options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call("cluster", "rna.csv", "-k", "3")


def test_memory_and_pipes_end_without_a_traceback(monkeypatch):
    def full(*args, **options):
        raise MemoryError

    monkeypatch.setattr("conspectus.files.read_file", full)
    assert "not enough memory" in refused("cluster", "rna.csv", "-k", "3")


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("use as_views(..., zero_rows='unseen')", "use --zero-rows unseen"),
        ("use partial='mean' to fill, or partial='drop-row'", "use --partial mean to fill, or --partial drop-row"),
        ("n_clusters=3, but", "--clusters 3, but"),
        ("give metric='chi2' or prepare=None", "give --param metric=chi2 or --prepare none"),
    ],
)
def test_messages_speak_the_shells_language(python, shell):
    assert in_shell(python) == shell


# --- the demonstration


def test_demo_leaves_labels_and_a_picture(monkeypatch):
    pytest.importorskip("matplotlib")
    demo = import_module("conspectus.cli.demo")  # the package's `demo` is the command

    digits, y = demo.incomplete_digits()
    chosen = np.flatnonzero(y < 3)[::2]
    monkeypatch.setattr(demo, "incomplete_digits", lambda: (digits[chosen], y[chosen]))
    result = call("demo", "--out", "show")
    assert sorted(path.name for path in Path("show").iterdir()) == ["clusters.png", "labels.csv"]
    assert Path("show/clusters.png").read_bytes().startswith(b"\x89PNG")
    assert len(pd.read_csv("show/labels.csv")) == len(chosen)
    assert "accuracy" in result.stdout


def test_demo_without_matplotlib_names_the_extra(monkeypatch):
    demo = import_module("conspectus.cli.demo")  # the package's `demo` is the command

    digits, y = demo.incomplete_digits()
    monkeypatch.setattr(demo, "incomplete_digits", lambda: (digits[:2000:20], y[:2000:20]))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "conspectus[plot]" in call("demo", "--out", "show", "-m", "concatkmeans").stdout
    assert [path.name for path in Path("show").iterdir()] == ["labels.csv"]


@pytest.mark.slow
def test_demo_as_it_is():
    result = call("demo")
    assert float(result.stdout.partition("accuracy ")[2].partition("%")[0]) > 70
