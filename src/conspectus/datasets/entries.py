"""Named data sets: a file, the views and rows of it, and what its all-zero rows mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from conspectus._typing import Int
from conspectus.datasets.dataset import Dataset


@dataclass(frozen=True)
class Entry:
    """A part of a file that has a name of its own.

    Samples that none of the chosen views has seen are left out.
    """

    file: str
    views: tuple[str, ...] | None = None
    rows: Callable[[int], Int] | None = None
    zero_rows: Literal["keep", "unseen"] = "keep"

    def part(self, data: Dataset, name: str) -> Dataset:
        """The part of the file's data, under its name."""
        if self.zero_rows == "unseen":
            nonzero = np.column_stack([x.any(axis=1) for x in data.X.values()])
            data = replace(data, mask=data.presence & nonzero)
        return data.subset(self.views, None if self.rows is None else self.rows(data.n), name=name)


def _2000_drawn(n: int) -> Int:
    return np.sort(np.random.default_rng(0).choice(n, 2000, replace=False))


ENTRIES = {
    "3sources_bbc_guardian": Entry("3sources_416", ("bbc", "guardian")),  # APMC, Table 1
    "3sources_bbc_reuters": Entry("3sources_416", ("bbc", "reuters")),
    "3sources_guardian_reuters": Entry("3sources_416", ("guardian", "reuters")),
    "bdgp_nat": Entry("bdgp", zero_rows="unseen"),  # its zero rows are absent images
    "flower17_2v": Entry("flower17_7v_rebuilt", ("hsv_bow200", "siftint_bow800")),  # APMC's colour and shape
    "hdigit2000": Entry("hdigit_mnist_usps_10000", rows=_2000_drawn),
    "mfeat_ff": Entry("mfeat", ("fou", "fac")),  # APMC's Digit
    "mfeat_fp": Entry("mfeat", ("fou", "pix")),  # GPMVC's Digit in its two-view tables, as far as they can be traced
    "mfeat_fpm": Entry("mfeat", ("fou", "pix", "mor")),  # EE-IMVC's UCI-Digital, its three kernels' features
    "mfeat_5v": Entry("mfeat", ("fou", "fac", "pix", "zer", "mor")),  # GPMVC's Digit of five views
}

NOT_SHARED = {
    "caltech102_30": "EE-IMVC: 48 kernels, 3,060 samples, 102 classes",
    "ccv": "EE-IMVC: 6 kernels, 6,773 samples, 20 classes",
    "cifar10": "SOME-AS: deep features, 50,000 samples, 10 classes",
    "flower102": "EE-IMVC: 4 kernels, 8,189 samples, 102 classes",
    "flower17": "EE-IMVC: 7 kernels, 1,360 samples, 17 classes",
    "mnist": "SOME-AS: deep features, 60,000 samples, 10 classes",
    "nuswideobj": "SOME-AS: 30,000 samples, 31 classes",
    "sunrgbd": "SOME-AS: 10,335 samples, 45 classes",
    "uci_digital": "EE-IMVC: 3 kernels, 2,000 samples, 10 classes",
}
"""The papers' data sets that nobody gives away in this form; `load` finds them where a person has put the file."""
