"""Tables against hand-made frames: marks, reasons, scales; ranks and paired differences against their definitions."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from scipy.stats import friedmanchisquare

from conspectus.bench import compare
from conspectus.bench.tables import csv, latex, markdown, table


@pytest.fixture
def frame():
    """Two data sets, two masks; Good is better everywhere, Bad cannot run on b."""
    rows = [
        ("a", "Good", 0.8, None),
        ("a", "Good", 0.9, None),
        ("a", "Middle_1", 0.5, None),
        ("a", "Middle_1", 0.5, None),
        ("a", "Bad", 0.2, None),
        ("a", "Bad", 0.4, None),
        ("b", "Good", 0.7, None),
        ("b", "Good", 0.7, None),
        ("b", "Middle_1", 0.7, None),
        ("b", "Middle_1", 0.7, None),
        ("b", "Bad", np.nan, "InputError: takes two views"),
        ("b", "Bad", np.nan, "InputError: takes two views"),
    ]
    return pd.DataFrame(rows, columns=["data", "method", "acc", "why"]).assign(ratio=None)


def test_cells_are_means_and_deviations_over_runs(frame):
    made = table(frame, "acc")
    assert made.mean.at["Good", "a"] == pytest.approx(0.85)
    assert made.std.at["Good", "a"] == pytest.approx(np.std([0.8, 0.9], ddof=1))
    assert made.count.loc["Bad"].tolist() == [2, 0]
    assert list(made.mean.index) == ["Good", "Middle_1", "Bad"]
    assert list(made.mean.columns) == ["a", "b"]


def test_markdown_marks_best_second_and_reasons(frame):
    lines = markdown(table(frame, "acc")).splitlines()
    assert lines[0] == "|  | a | b |"
    assert lines[2] == "| Good | **85.00 ± 7.07** | **70.00 ± 0.00** |"
    assert lines[3] == "| Middle_1 | <u>50.00 ± 0.00</u> | **70.00 ± 0.00** |"  # a tie: both are best
    assert lines[4] == "| Bad | 30.00 ± 14.14 | -<sup>a</sup> |"
    assert lines[-1] == "- a: InputError: takes two views"


def test_less_is_better_for_seconds(frame):
    text = markdown(table(frame.assign(seconds=frame["acc"]), "seconds"))
    assert "| Bad | **0.30 ± 0.14** |" in text


def test_latex_escapes_and_marks(frame):
    text = latex(table(frame, "acc"))
    assert r"Middle\_1 & \underline{50.00 $\pm$ 0.00} & \textbf{70.00 $\pm$ 0.00} \\" in text
    assert text.startswith(r"\begin{tabular}{lrr}")
    assert "% a: InputError: takes two views" in text


def test_csv_holds_every_cell(frame):
    back = pd.read_csv(io.StringIO(csv(table(frame, "acc")))).set_index(["row", "column"])
    assert back.at[("Good", "a"), "mean"] == pytest.approx(0.85)
    assert back.at[("Bad", "b"), "count"] == 0
    assert back.at[("Bad", "b"), "why"] == "InputError: takes two views"
    assert len(back) == 6


def test_columns_of_two_keys(frame):
    made = table(frame.assign(ratio=0.5), "acc", columns=("data", "ratio"))
    assert markdown(made).splitlines()[0] == "|  | a 0.5 | b 0.5 |"


def test_methods_across_are_ranked_in_each_row(frame):
    text = markdown(table(frame, "acc", columns=("method",), rows="data"))
    assert "| a | **85.00 ± 7.07** | <u>50.00 ± 0.00</u> | 30.00 ± 14.14 |" in text


def test_one_run_has_no_deviation():
    frame = pd.DataFrame({"data": ["a"], "method": ["X"], "acc": [0.5], "why": [None]})
    assert markdown(table(frame, "acc")).splitlines()[2] == "| X | 50.00 |"


def scores(blocks=12, seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        (f"d{block // 3}", block % 3, name, quality + rng.normal(0, 0.05))
        for block in range(blocks)
        for name, quality in (("A", 0.8), ("B", 0.6), ("C", 0.5))
    ]
    return pd.DataFrame(rows, columns=["data", "ratio", "method", "acc"])


def test_ranks_are_friedmans():
    frame = scores()
    wide = frame.pivot(index=["data", "ratio"], columns="method", values="acc")
    found = compare.ranks(frame, "acc")
    assert found.blocks == 12
    assert found.p_value == pytest.approx(friedmanchisquare(*wide.to_numpy().T).pvalue)
    assert found.mean.sum() == pytest.approx(1 + 2 + 3)
    assert found.mean.index[0] == "A"


def test_a_method_with_gaps_is_left_out_or_costs_blocks():
    frame = scores()
    few = frame["method"].eq("C") & frame["data"].isin(["d0", "d1"])
    assert compare.ranks(frame[~few], "acc").left_out == ("C",)
    one = frame["method"].eq("C") & frame["data"].eq("d0") & frame["ratio"].eq(0)
    found = compare.ranks(frame[~one], "acc")
    assert found.left_out == ()
    assert found.blocks == 11


@pytest.mark.parametrize(("methods", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_difference_against_demsars_table(methods, q):
    expected = q * np.sqrt(methods * (methods + 1) / (6 * 20))
    assert compare.critical_difference(methods, 20) == pytest.approx(expected, rel=1e-3)


def test_paired_differences_by_cell_and_by_set():
    frame = scores()
    wide = frame.pivot(index=["data", "ratio"], columns="method", values="acc")
    difference = wide["A"] - wide["B"]
    line = compare.paired(frame, "acc", "A").loc["B"]
    assert line["by cell"] == pytest.approx(difference.mean())
    assert line["se by cell"] == pytest.approx(difference.std(ddof=1) / np.sqrt(12))
    sets = difference.groupby(level="data").mean()
    assert line["se by set"] == pytest.approx(sets.std(ddof=1) / np.sqrt(4))
    assert line["ahead"] == 4


def test_paired_uses_the_cells_that_both_have():
    frame = scores()
    frame.loc[frame["method"].eq("B") & frame["data"].eq("d0"), "acc"] = np.nan
    line = compare.paired(frame, "acc", "A").loc["B"]
    assert (line["cells"], line["sets"]) == (9, 3)
