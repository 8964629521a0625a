"""The printed numbers: the files are well formed, and agree with what the papers say about them."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from importlib.resources import files
from statistics import mean

import pytest

from conspectus.bench.printed import COLUMNS, METRICS, PrintedCell, printed

PACKAGE = files("conspectus.bench.printed")
TABLES = sorted(f.name for f in PACKAGE.iterdir() if f.name.endswith(".csv"))
SOMEAS = {metric: f"someas-table{i}" for i, metric in enumerate(("acc", "nmi", "f1", "purity"), start=1)}
CELLS = {  # experiment: cells, of which with a value
    "abs2-hdigit": (16, 16),
    "apmc-table1": (64, 60),
    "eeimvc-figure1": (27, 27),
    "eeimvc-figure2": (9, 9),
    "eeimvc-figure3": (9, 9),
    "eeimvc-figure5": (9, 9),
    "eeimvc-table2": (192 + 6, 192 + 6),
    "eeimvc-table3": (120, 120),
    "gpmvc-table2": (40, 40),
    "gpmvc-table3": (40, 40),
    "someas-table1": (84 + 1, 59 + 1),
    "someas-table2": (84 + 1, 59 + 1),
    "someas-table3": (84 + 1, 59 + 1),
    "someas-table4": (84 + 1, 56 + 1),
}
METHODS = {
    *("ABS2IMC", "APMC", "AWP", "BSV", "FIMVCVIA", "SIMVCSA", "SOMEAS", "V3H"),
    *("AverageKernelKMeans", "EEIMVC", "EERIMVC", "LFIMVC", "MKKM", "MKKMIK", "MKKMIKMKC"),
    *("AverageSC", "ConcatSC", "DAIMC", "GPMVC", "IMG", "MIC", "MultiNMF", "PVC"),
}
FIRST, SECOND = "ratio=0.1;prior=average", "ratio=0.1;prior=mkkm"


def rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((PACKAGE / name).read_text(encoding="utf8").splitlines()))


def every() -> list[PrintedCell]:
    return [cell for experiment in CELLS for cell in printed(experiment)]


def scores(experiment: str) -> list[PrintedCell]:
    return [cell for cell in printed(experiment) if cell.value is not None and not cell.difference]


def value(experiment: str, dataset: str, method: str, setting: str, metric: str) -> float:
    key = (dataset, method, setting, metric)
    (cell,) = (c for c in printed(experiment) if (c.dataset, c.method, c.setting, c.metric) == key)
    assert cell.value is not None
    return cell.value


@pytest.mark.parametrize("name", TABLES)
def test_file_is_in_the_long_format(name: str) -> None:
    raw = (PACKAGE / name).read_text(encoding="utf8")
    assert raw.splitlines()[0] == ",".join(COLUMNS)
    for row in rows(name):
        assert None not in row
        assert None not in row.values()
        assert re.fullmatch(r"(\d+\.\d+)?", row["value"])
        assert re.fullmatch(r"(\d+\.\d+)?", row["std"])
        assert row["value"] or not row["std"]
        assert re.fullmatch(r"(\w+=[^=;\s]+(;\w+=[^=;\s]+)*)?", row["setting"])


def test_every_row_of_every_file_belongs_to_an_experiment() -> None:
    assert {row["experiment"] for name in TABLES for row in rows(name)} == set(CELLS)
    assert sum(len(rows(name)) for name in TABLES) == len(every())
    assert printed("gpmvc-figure2") == []


@pytest.mark.parametrize(("experiment", "count"), CELLS.items())
def test_no_cell_is_lost(experiment: str, count: tuple[int, int]) -> None:
    cells = printed(experiment)
    assert (len(cells), sum(cell.value is not None for cell in cells)) == count


def test_names_and_ranges() -> None:
    for cell in every():
        assert cell.metric in METRICS
        assert cell.method in METHODS
        assert cell.settings.get("minus", cell.method) in METHODS
        if cell.value is None:
            assert re.search(r"unclear in the scan: .*\d|no value|not available", cell.note), cell
        else:
            assert cell.percent is not None
            assert 0 < cell.percent <= 100
            assert (cell.value < 1) == ("fraction" in cell.note) or cell.difference
            assert cell.std is None or 0 <= cell.std < 10


def test_no_key_stands_twice() -> None:
    keys = [(c.experiment, c.dataset, c.setting, c.method, c.metric) for c in every()]
    assert len(set(keys)) == len(keys)


def test_fractions_become_percents() -> None:
    first = printed("gpmvc-table2")[0]
    assert (first.value, first.percent, first.settings) == (0.81, 81.0, {"per": "0.1", "sf": "0.1"})
    assert printed("apmc-table1")[0].percent == 42.59


def test_purity_is_not_below_accuracy() -> None:
    """A majority label a cluster is right at least as often as a one-to-one one; two printed cells break it."""
    found = defaultdict(dict)
    for cell in every():
        if cell.value is not None and not cell.difference:
            paper = cell.experiment if cell.experiment.startswith("eeimvc") else cell.experiment[:6]
            found[paper, cell.dataset, cell.setting, cell.method][cell.metric] = cell.value
    pairs = {key: v["purity"] - v["acc"] for key, v in found.items() if {"acc", "purity"} <= v.keys()}
    assert len(pairs) == (192 + 120) // 4 + 56
    assert {key[1::2] for key, gap in pairs.items() if gap < 0} == {("BDGP", "SOMEAS"), ("Cifar10", "SOMEAS")}


def test_apmc_is_the_best_of_its_table() -> None:
    best: dict[tuple[str, str], PrintedCell] = {}
    for cell in scores("apmc-table1"):
        key = (cell.setting, cell.metric)
        best[key] = max(best.get(key, cell), cell, key=lambda c: c.value or 0)
    assert len(best) == 8
    assert {cell.method for cell in best.values()} == {"APMC"}


@pytest.mark.parametrize(("experiment", "variation"), [("gpmvc-table2", 1), ("gpmvc-table3", 12)])
def test_gpmvc_is_above_pvc_and_varies_with_the_skew_as_the_text_says(experiment: str, variation: int) -> None:
    table = {(c.settings["per"], c.settings["sf"], c.method): c.value or 0 for c in printed(experiment)}
    ours = {key[:2]: v for key, v in table.items() if key[2] == "GPMVC"}
    assert len(ours) == 20
    assert all(v > table[(*key, "PVC")] for key, v in ours.items())
    by_ratio = [[v for (per, _), v in ours.items() if per == p] for p in ("0.1", "0.3", "0.5")]
    assert round(max(100 * (1 - min(v) / max(v)) for v in by_ratio)) == variation


def test_gains_of_eer_over_lf_are_the_differences_of_the_table() -> None:
    for gain in (c for c in printed("eeimvc-table2") if c.difference):
        eer, lf = (value("eeimvc-table2", gain.dataset, m, "ratio=aggregated", "acc") for m in ("EERIMVC", "LFIMVC"))
        assert eer - lf == pytest.approx(gain.value, abs=0.05 + 1e-9)


@pytest.mark.parametrize("figure", [1, 2, 3, 5])
def test_gains_per_ratio_average_to_the_table(figure: int) -> None:
    """Aggregated is the mean over the nine ratios: each gain is rounded to .1, each cell of the table to .01."""
    gains = defaultdict(list)
    for cell in printed(f"eeimvc-figure{figure}"):
        fill = cell.settings.get("minus_fill")
        minus = ("ratio=aggregated" + (f";fill={fill}" if fill else ""), cell.settings["minus"])
        gains[cell.dataset, cell.method, *minus].append(cell.value)
    for (dataset, method, setting, other), nine in gains.items():
        assert len(nine) == 9
        ours = value("eeimvc-table2", dataset, method, "ratio=aggregated", "acc")
        theirs = value("eeimvc-table2", dataset, other, setting, "acc")
        assert mean(nine) == pytest.approx(ours - theirs, abs=0.06)


def test_a_prior_helps_in_every_row_of_the_ablation() -> None:
    for cell in (c for c in printed("eeimvc-table3") if c.method == "EEIMVC"):
        for setting in (FIRST, SECOND):
            assert value("eeimvc-table3", cell.dataset, "EERIMVC", setting, cell.metric) > (cell.value or 0)


def test_gains_of_someas_on_sunrgbd() -> None:
    """Three of the four gains in the text are differences of the tables, the one in F1 is off by one."""
    off = {}
    for metric, experiment in SOMEAS.items():
        (gain,) = (c for c in printed(experiment) if c.difference)
        ours, theirs = (value(experiment, "SUNRGBD", m, "", metric) for m in ("SOMEAS", "MKKMIKMKC"))
        off[metric] = round(ours - theirs - (gain.value or 0), 2)
    assert off == {"acc": 0, "nmi": 0, "f1": 1, "purity": 0}


def test_cells_that_the_scan_leaves_open_are_blank() -> None:
    unclear = [(c.experiment, c.dataset, c.method) for c in every() if "unclear in the scan" in c.note]
    protein = [(e, "ProteinFold", m) for e in SOMEAS.values() for m in ("DAIMC", "APMC")]
    nus = [("someas-table4", "NUSWIDEOBJ", m) for m in ("FIMVCVIA", "SIMVCSA", "SOMEAS")]
    assert sorted(unclear) == sorted(protein + nus)
