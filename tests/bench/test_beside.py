"""Ours beside the printed: the right rows, scales, means over ratios, gains, and nothing left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from conspectus.bench import beside
from conspectus.bench.printed import PrintedCell

LINES = {
    "data": "digits",
    "method": "GPMVC",
    "ratio": 0.1,
    "mask": 0,
    "start": 0,
    "params": "",
    "singles": None,
    "instead_of": "",
    "why": None,
    "printed": "Digit;sf=0.3",
    "printed_method": "GPMVC",
}


def frame(*rows):
    return pd.DataFrame([{**LINES, "acc": np.nan, "nmi": np.nan, **row} for row in rows])


def cell(setting, method="GPMVC", metric="nmi", value=80.0, std=1.0, note="", dataset="Digit"):
    return PrintedCell("toy", dataset, setting, method, metric, value, std, note)


@pytest.fixture
def printed(monkeypatch):
    cells = []
    monkeypatch.setattr(beside, "printed", lambda name: cells)
    return cells


def test_rows_are_found_by_data_setting_and_method(printed):
    printed.append(cell("per=0.1;sf=0.3"))
    rows = frame(
        {"nmi": 0.7, "mask": 0},
        {"nmi": 0.9, "mask": 1},
        {"nmi": 0.1, "ratio": 0.3},
        {"nmi": 0.1, "printed": "Digit;sf=0.7"},
        {"nmi": 0.1, "printed": "ORL;sf=0.3"},
        {"nmi": 0.1, "printed_method": "PVC"},
        {"nmi": 0.1, "printed_method": "GPMVC;oracle=settings"},
    )
    (pair,) = beside.beside(beside.Reading("toy", "per"), rows)
    assert pair.ours == pytest.approx(80)
    assert pair.std == pytest.approx(100 * np.std([0.7, 0.9], ddof=1))
    assert pair.difference == pytest.approx(0)


def test_a_mean_over_ratios_is_taken_run_by_run(printed):
    printed.append(cell("ratio=aggregated", dataset="Digit", metric="acc"))
    values = {(0.1, 0): 0.8, (0.9, 0): 0.4, (0.1, 1): 0.9, (0.9, 1): 0.5}
    rows = frame(*({"ratio": r, "mask": m, "acc": v, "printed": "Digit"} for (r, m), v in values.items()))
    (pair,) = beside.beside(beside.Reading("toy", "ratio"), rows)
    assert pair.ours == pytest.approx(65)
    assert pair.std == pytest.approx(100 * np.std([0.6, 0.7], ddof=1))


def test_a_table_without_ratios_is_a_mean_over_all(printed):
    printed.append(cell("", metric="acc"))
    rows = frame(*({"ratio": r, "acc": v, "printed": "Digit"} for r, v in ((0.1, 0.2), (0.5, 0.6))))
    (pair,) = beside.beside(beside.Reading("toy"), rows)
    assert pair.ours == pytest.approx(40)


def test_the_papers_nmi_is_compared(printed):
    printed.append(cell("sf=0.3", value=0.8, note="fraction"))
    rows = frame({"nmi": 0.5}).assign(nmi_geometric=0.75)
    (pair,) = beside.beside(beside.Reading("toy", nmi="nmi_geometric"), rows)
    assert pair.ours == pytest.approx(75)
    assert pair.difference == pytest.approx(-5)


def test_single_runs_are_what_is_compared_where_there_are_any(printed):
    printed.append(cell("sf=0.3", metric="acc", value=50.0))
    runs = [{"acc": 0.4}, {"acc": 0.5}]
    (pair,) = beside.beside(beside.Reading("toy"), frame({"acc": 0.9, "singles": runs}).assign(method="GPMVC"))
    assert (pair.ours, pair.single) == (pytest.approx(90), pytest.approx(45))
    assert pair.difference == pytest.approx(-5)
    assert pair.oracle is None


def test_the_oracle_is_off_by_default_and_the_best_run_when_asked(printed):
    printed.append(cell("sf=0.3", metric="acc"))
    rows = frame(
        {"acc": 0.3, "singles": [{"acc": 0.4}, {"acc": 0.5}]},
        {"acc": 0.3, "singles": [{"acc": 0.6}], "params": "lam=1", "printed_method": "GPMVC;oracle=settings"},
    ).assign(method="GPMVC")
    for name in ("nmi", "nmi_geometric", "nmi_max", "nmi_min", "purity", "f1", "ari", "ri"):
        for runs in rows["singles"]:
            for run in runs:
                run[name] = 0.0
    assert beside.beside(beside.Reading("toy"), rows)[0].oracle is None
    assert beside.beside(beside.Reading("toy"), rows, oracle=True)[0].oracle == pytest.approx(60)
    assert "oracle" in beside.markdown(beside.beside(beside.Reading("toy"), rows, oracle=True), oracle=True)
    assert "oracle" not in beside.markdown(beside.beside(beside.Reading("toy"), rows))


def test_a_printed_gain_stands_beside_our_gain(printed):
    printed.append(cell("ratio=0.1;minus=PVC;minus_fill=zero", metric="acc", value=3.0))
    rows = frame(
        {"acc": 0.7, "printed": "Digit"},
        {"acc": 0.6, "printed": "Digit", "printed_method": "PVC;fill=zero"},
        {"acc": 0.1, "printed": "Digit", "printed_method": "PVC"},
    )
    (pair,) = beside.beside(beside.Reading("toy", "ratio"), rows)
    assert pair.ours == pytest.approx(10)
    assert pair.difference == pytest.approx(7)


def test_what_we_do_not_have_is_there_with_its_reason(printed):
    printed += [cell("sf=0.3", method="DAIMC"), cell("sf=0.3", metric="acc")]
    rows = frame({"why": "InputError: too many views", "instead_of": "Digit", "data": "mfeat"})
    pairs = beside.beside(beside.Reading("toy", absent=("DAIMC",)), rows)
    assert [pair.ours for pair in pairs] == [None, None]
    assert pairs[0].note == "DAIMC is not there"
    assert pairs[1].note == "Digit is not there; ours on mfeat; InputError: too many views"
    assert beside.markdown(pairs).count("\n") == 4
    assert beside.summary(pairs) == "No cell has both numbers yet."


def test_the_summary_is_mean_root_mean_square_and_range(printed):
    printed += [cell("per=0.1", metric="acc", value=50.0), cell("per=0.5", metric="acc", value=60.0)]
    rows = frame(*({"ratio": r, "acc": v, "printed": "Digit"} for r, v in ((0.1, 0.53), (0.5, 0.56))))
    text = beside.summary(beside.beside(beside.Reading("toy", "per"), rows))
    assert "mean difference -0.50, root mean square 3.54, range -4.00 to +3.00" in text
    pairs = beside.beside(beside.Reading("toy", "per"), rows)
    assert "| GPMVC | 2 | -0.50 | 3.54 |" in beside.by_method(pairs)
