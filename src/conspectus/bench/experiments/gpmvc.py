"""The experiments of GPMVC (Rai, Negi, Chaudhury, Deshmukh, ICPR 2016)."""

from __future__ import annotations

from typing import Any

from conspectus.bench.experiments.base import Experiment
from conspectus.bench.experiments.guests import GUESTS
from conspectus.bench.grid import Data, Grid, Method, Missing, crossed
from conspectus.bench.shows import ConvergenceOf, CurvesOf, TableOf

ORL = Data("orl_2v_gpmvc", "ORL")
DIGIT = Data("mfeat_fp", "Digit")
CORA = Data("cora", "Cora")
NEWS = Data("3sources_169", "3Sources")
SPORT = Data("bbcsport_282_3v", "BBCSport")
DIGIT5 = Data("mfeat_5v", "Digit, five views")

PER = (0.1, 0.3, 0.5, 0.7, 0.9)
VERSIONS = 10
STEPS = (1, 2, 5, 10, 20, 40, 60, 80, 100)
SETTINGS: dict[str, dict[str, Any]] = {
    "ORL": {"graph": "heat", "lam": 0.01},
    "Digit": {"graph": "binary", "lam": 1.0},
    "Digit, five views": {"graph": "binary", "lam": 1.0},
    "Cora": {"graph": "binary", "lam": 1.0},
    "3Sources": {"graph": "cosine", "lam": 0.01},
    "BBCSport": {"graph": "cosine", "lam": 0.01},
}
BASELINES = (
    Method("CentroidSC", {"fill": "alm_mc"}),
    Method("PairwiseSC", {"fill": "alm_mc"}),
    Method("BestViewNMF", {"fill": "alm_mc"}),
    Method("ConcatNMF", {"fill": "alm_mc"}),
    Method("BestViewGNMF", {"fill": "alm_mc"}),
    Method("ConcatGNMF", {"fill": "alm_mc"}),
)
PVC = Method("PVC", {"prepare": None})
SKEWS = tuple(Missing("folds", {"skew": skew}, f"SF {skew:.0%}", f"sf={skew:g}") for skew in (0.1, 0.3, 0.7, 0.9))
EQUAL = (Missing("folds"),)
FOLDS_NOTE = "The orders of the samples are those that the authors stored; version j is their j-th."
LABELS_NOTE = (
    "The released code keeps the round with the highest accuracy against the known classes; ours keeps the last one, "
    "and no label is used."
)


def gpmvc(data: Data, **parameters: Any) -> Method:
    """GPMVC with the paper's setting for a data set."""
    return Method("GPMVC", {"mu": 0.1, "prepare": None, **SETTINGS[data.title], **parameters}, "GPMVC")


def _skewed(name: str, title: str, data: Data) -> Experiment:
    grid = Grid((data,), (gpmvc(data), PVC), SKEWS, PER, crossed(VERSIONS), {"n_init": 20})
    shows = (TableOf(("nmi_geometric",), ("missing", "ratio")),)
    return Experiment(name, title, (grid,), shows, "per", "nmi_geometric", (FOLDS_NOTE, LABELS_NOTE))


def _curves(name: str, title: str, sets: tuple[Data, ...], rivals: tuple[Method, ...]) -> Experiment:
    grids = tuple(_comparison(data, rivals) for data in sets)
    shows = (CurvesOf(metrics=("nmi_geometric", "acc", "purity")),)
    notes = (FOLDS_NOTE, LABELS_NOTE, "The paper draws NMI; accuracy and purity stand beside it.")
    return Experiment(name, title, grids, shows, "per", "nmi_geometric", notes)


def _comparison(data: Data, rivals: tuple[Method, ...]) -> Grid:
    missing = (Missing("partial_examples"),) if data is NEWS else EQUAL
    methods = (gpmvc(data), *rivals, *BASELINES, *GUESTS)
    return Grid((data,), methods, missing, (0.0, *PER), crossed(VERSIONS), {"n_init": 20})


def _stopped(data: Data) -> Grid:
    """The same fit stopped after so many iterations, for the scores on the way; the last one has the objective."""
    methods = tuple(gpmvc(data, max_iter=steps, tol=0.0) for steps in STEPS)
    return Grid((data,), methods, EQUAL, (0.5,), crossed(2), {"n_init": 20})


EXPERIMENTS = (
    _skewed("gpmvc-table2", "GPMVC, Table II: NMI on ORL under skew", ORL),
    _skewed("gpmvc-table3", "GPMVC, Table III: NMI on Digit under skew", DIGIT),
    _curves(
        "gpmvc-figure2",
        "GPMVC, Figure 2: NMI, accuracy and purity against the partial example ratio, two views",
        (ORL, DIGIT, CORA),
        (PVC,),
    ),
    _curves(
        "gpmvc-figure3",
        "GPMVC, Figure 3: the same with three and five views",
        (NEWS, SPORT, DIGIT5),
        (Method("MultiNMF", filled="alm_mc"),),
    ),
    Experiment(
        "gpmvc-figure4",
        "GPMVC, Figure 4: NMI and objective against iterations, PER 50 %",
        tuple(_stopped(data) for data in (ORL, DIGIT, CORA)),
        (CurvesOf("param.max_iter", ("nmi_geometric",), x_name="iterations"), ConvergenceOf()),
        "per",
        "nmi_geometric",
        ("The curve of the objective is that of the longest run; each point of NMI is a run stopped there.",),
    ),
    _skewed("gpmvc-skew-cora", "GPMVC, section V: the skew table on Cora, which the paper mentions in words", CORA),
)
