"""The experiments of APMC (Guo and Ye, AAAI 2019)."""

from __future__ import annotations

from typing import Any

from conspectus.bench.experiments.base import Experiment
from conspectus.bench.experiments.guests import GUESTS
from conspectus.bench.grid import Data, Grid, Method, Missing, crossed
from conspectus.bench.shows import CurvesOf, RanksOf, TableOf

M = 12  # nearest anchors, as in the released demo
ABS2 = Method("ABS2IMC", label="ABS2-IMC")


def rivals(pvc: str | None = None) -> tuple[Method, ...]:
    """The paper's rivals; PVC's penalty is not scale free, and on rows of unit length everything becomes zero."""
    return (
        Method("MultiNMF"),
        Method("PVC", {"prepare": pvc}),
        Method("MIC"),
        Method("IMG"),
        Method("DAIMC"),
        Method("ConcatSC", label="SC[C]"),
        Method("AverageSC", label="SC[A]"),
    )


PDR = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)

NEWS = (
    Data("3sources_bbc_guardian", "BBC-Guardian", "3Sources;views=BBC-Guardian"),
    Data("3sources_bbc_reuters", "BBC-Reuters", "3Sources;views=BBC-Reuters"),
    Data("3sources_guardian_reuters", "Guardian-Reuters", "3Sources;views=Guardian-Reuters"),
    Data("3sources_416", "3Sources (all views)", "3Sources;views=all"),
)
SYNTHETIC = Data("apmc_synthetic_200", "synthetic")
USPS = Data("usps_mnist_500", "USPS-MNIST")
FLOWERS = Data("flower17_2v", "Flowers")
DIGIT = Data("mfeat_ff", "Digit")


def apmc(m: int = M, label: str = "APMC", **parameters: object) -> Method:
    """APMC with m nearest anchors."""
    return Method("APMC", {"n_neighbors": m, **parameters}, label)


TABLE1 = Experiment(
    "apmc-table1",
    "APMC, Table 1: ACC and NMI on 3Sources, pairs of views and all three",
    (
        Grid(NEWS, (apmc(),), common={"prepare": "l2", "n_init": 20}, singles=20),
        Grid(NEWS, rivals(), seeds=crossed(1, 5), common={"prepare": "l2", "n_init": 20}, singles=4),
        Grid(NEWS, (ABS2, *GUESTS), common={"n_init": 20}, singles=20),
    ),
    (TableOf(singles=True),),
    notes=(
        "The views are naturally incomplete. The paper's numbers are means of 20 runs of k-means: "
        '"single runs", each from random samples. Ours without that word is the run with the least inertia of 20. '
        "The printed deviations are a quarter of those of single runs: they fit the deviation of the mean of 20.",
        "Rows of unit length. The embedding of APMC has no random part; methods that start at random "
        "are started five times, with four runs of k-means each.",
        "A sample that neither view of a pair has seen is left out. PVC gets the counts as they are.",
    ),
)

_TWO_VIEWS: dict[str, Any] = {"missing": (Missing("paired"),), "ratios": PDR, "seeds": crossed(5), "singles": 20}
FIGURE3 = Experiment(
    "apmc-figure3",
    "APMC, Figure 3: ACC and NMI against the partial data ratio on two views",
    (
        Grid((SYNTHETIC,), (apmc(), *rivals("minmax"), ABS2), common={"prepare": "minmax"}, **_TWO_VIEWS),
        Grid((USPS,), (apmc(), apmc(5, "APMC, m = 5"), *rivals(), ABS2), common={"prepare": "l2"}, **_TWO_VIEWS),
        Grid((FLOWERS,), (apmc(metric="chi2", prepare="sum"),), **_TWO_VIEWS),
        Grid((FLOWERS,), (*rivals(), ABS2), common={"prepare": "sum"}, **_TWO_VIEWS),
        Grid((DIGIT,), (apmc(), *rivals(), ABS2), common={"prepare": "minmax+l2"}, **_TWO_VIEWS),
        Grid((SYNTHETIC, USPS, FLOWERS, DIGIT), GUESTS, **_TWO_VIEWS),
    ),
    (CurvesOf(), RanksOf()),
    ratio="pdr",
    notes=(
        "Five masks; the paper says 20 repetitions.",
        "USPS-MNIST is our own draw of the paper's recipe. Flowers: features rebuilt from the images; APMC uses "
        "chi-squared distances of colour and shape, the others the same histograms.",
    ),
)

FIGURE4 = Experiment(
    "apmc-figure4",
    "APMC, Figure 4: the number m of nearest anchors on Digit",
    (
        Grid(
            (DIGIT,),
            tuple(apmc(m, "APMC") for m in range(2, 15, 2)),
            common={"prepare": "minmax+l2"},
            **_TWO_VIEWS,
        ),
    ),
    (CurvesOf("param.n_neighbors", by_ratio="PDR", x_name="nearest anchors m"),),
    ratio="pdr",
)

EXPERIMENTS = (TABLE1, FIGURE3, FIGURE4)
