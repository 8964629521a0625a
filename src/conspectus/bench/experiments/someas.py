"""The experiments of SOME-AS (Qin, Feng, Zhang, AAAI 2025)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conspectus.bench.experiments.base import Experiment
from conspectus.bench.experiments.guests import GUESTS
from conspectus.bench.grid import Data, Grid, Method, Missing, Seeds
from conspectus.bench.shows import ConvergenceOf, CurvesOf, HeatmapOf, RanksOf, TableOf

ORL = Data("orl_3v_rebuilt", "ORL")
PROTEIN = Data("proteinfold", "ProteinFold")
BDGP = Data("bdgp", "BDGP")
ABSENT = tuple(
    Data(name, label)
    for name, label in (
        ("sunrgbd", "SUNRGBD"),
        ("nuswideobj", "NUSWIDEOBJ"),
        ("cifar10", "Cifar10"),
        ("mnist", "MNIST"),
    )
)
COMPLETE = (0.1, 0.3, 0.5, 0.7, 0.9)
GRID = (0.001, 0.01, 0.1, 1.0, 10.0)
UNIT = {"prepare": "l2"}
RUNS = 10

RIVALS = (
    Method("BSV"),
    Method("MIC"),
    Method("MKKMIK", label="MKKM-IK"),
    Method("AWP"),
    Method("DAIMC"),
    Method("APMC"),
    Method("MKKMIKMKC", label="MKKM-IK-MKC"),
    Method("EEIMVC", label="EE-IMVC"),
    Method("V3H"),
    Method("FIMVCVIA", label="FIMVC-VIA"),
    Method("SIMVCSA", label="AUP-ID (SIMVC-SA)"),
)
OURS = Method("SOMEAS", label="SOME-AS")
PAPER = Method("SOMEAS", {"variant": "paper"}, "SOME-AS, as printed", "SOMEAS;variant=paper")
NOTES = (
    "ratio = share of samples that have all views. ProteinFold and BDGP: the masks of SIMVC-SA's authors, one a ratio; "
    "ORL: drawn by the same rule.",
    "The paper does not say which missing ratio its tables use: ours are means over 10, 30, 50, 70 and 90 % complete.",
    "Labels are locked to their start in the printed algorithm (see the documentation of SOMEAS); "
    'the default is ours, `variant="paper"` is as printed.',
    "ORL: features rebuilt from the images with the paper's dimensions.",
)


def _grids(methods: tuple[Method, ...], runs: int = RUNS) -> tuple[Grid, ...]:
    """ORL with drawn masks, the two sets with published masks, and those that could not be had."""
    return (
        Grid((ORL, *ABSENT), methods, (Missing("random_subsets"),), COMPLETE, _seeds(runs), UNIT),
        Grid((PROTEIN, BDGP), methods, (Missing("published"),), COMPLETE, _seeds(runs, drawn=False), UNIT),
    )


def _seeds(runs: int, *, drawn: bool = True) -> Seeds:
    """Another mask for every start; published masks are one a ratio."""
    return tuple((j if drawn else 0, j) for j in range(runs))


def _some(**parameters: Any) -> Method:
    return Method("SOMEAS", parameters, "SOME-AS")


def _table(number: int, metric: str, title: str) -> Experiment:
    grids, shows = _grids((*RIVALS, OURS, PAPER, *GUESTS)), (TableOf((metric,)), RanksOf(metric))
    return Experiment(f"someas-table{number}", f"SOME-AS, Table {number}: {title}", grids, shows, notes=NOTES)


def _by_ratio(number: int, metric: str) -> Experiment:
    methods = (*RIVALS[-2:], OURS, *GUESTS)
    title = f"SOME-AS, Figure {number}: {metric.upper()} against the share of complete samples"
    return Experiment(
        f"someas-figure{number}",
        title,
        _grids(methods),
        (CurvesOf(metrics=(metric,), x_name="share of complete samples"),),
        notes=NOTES,
    )


SWEPT = tuple(_some(alpha=alpha, beta=beta) for alpha in GRID for beta in GRID)
SETS = (("ORL", ORL, "random_subsets", 40), ("ProteinFold", PROTEIN, "published", 27), ("BDGP", BDGP, "published", 5))
ANCHORS = tuple(
    Grid(
        (data,),
        tuple(_some(n_anchors=times * k) for times in (1, 2, 3)),
        (Missing(protocol),),
        (0.5,),
        _seeds(RUNS, drawn=protocol != "published"),
        UNIT,
    )
    for _, data, protocol, k in SETS
)
ABLATION = (
    Method("SOMEAS", {"align": False}, "without alignment"),
    Method("SOMEAS", label="with alignment"),
    Method("SOMEAS", {"variant": "paper", "align": False}, "as printed, without alignment"),
    Method("SOMEAS", {"variant": "paper"}, "as printed, with alignment"),
)


def _half(methods: tuple[Method, ...], runs: int = 3) -> tuple[Grid, ...]:
    return tuple(replace(grid, ratios=(0.5,)) for grid in _grids(methods, runs))


EXPERIMENTS = (
    _table(1, "acc", "accuracy"),
    _table(2, "nmi", "NMI"),
    _table(3, "f1", "F1 of pairs"),
    _table(4, "purity", "purity"),
    Experiment(
        "someas-figure2",
        "SOME-AS, Figure 2: alpha (beta = 0.1), and both together",
        _half(SWEPT),
        (CurvesOf("param.alpha", where=("param.beta", 0.1), log="x"), HeatmapOf("param.alpha", "param.beta")),
        notes=NOTES,
    ),
    Experiment(
        "someas-figure3",
        "SOME-AS, Figure 3: beta (alpha = 0.1), and both together",
        _half(SWEPT),
        (CurvesOf("param.beta", where=("param.alpha", 0.1), log="x"), HeatmapOf("param.alpha", "param.beta", "nmi")),
        notes=NOTES,
    ),
    _by_ratio(4, "acc"),
    _by_ratio(5, "nmi"),
    Experiment(
        "someas-figure6",
        "SOME-AS, Figure 6: the number of anchors, k, 2k and 3k",
        ANCHORS,
        (CurvesOf("param.n_anchors", x_name="anchors"),),
        notes=NOTES,
    ),
    Experiment(
        "someas-figure7",
        "SOME-AS, Figure 7: with and without the alignment of anchors",
        _grids(ABLATION),
        (TableOf(("acc", "nmi", "purity", "f1")),),
        notes=(*NOTES, "Without alignment all views share one G, the polar factor of the sum of the M_p."),
    ),
    Experiment(
        "someas-figure8a",
        "SOME-AS, Figure 8a: seconds of all methods",
        _grids((*RIVALS, OURS, PAPER, *GUESTS)),
        (TableOf(("cpu_seconds", "memory_mb")), CurvesOf("n", ("cpu_seconds",), "xy", panel="")),
        notes=NOTES[:1],
    ),
    Experiment(
        "someas-figure8b",
        "SOME-AS, Figure 8b: the objective against iterations",
        _half((OURS, PAPER)),
        (ConvergenceOf(),),
        notes=(
            NOTES[0],
            "The default's curve has one point for each whole start (the best so far); as printed, one an iteration.",
        ),
    ),
)
