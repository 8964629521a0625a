"""How a new sample, seen in any of the views, gets its row of the consensus H.

Every method of the family ends in an H with

    h(x) = sum_{p in O} y_p(x) A_p + h(x) sum_{p not in O} E_p,

where y_p(x) are the sample's coordinates in view p, O the views that have seen it, and E_p what the method imputes for
an unseen view from h itself. Without the second sum ("observed") an unseen view says nothing; with it ("fixpoint") the
k x k system is solved once for each pattern of unseen views, and training samples get their own row back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conspectus._typing import Bool, Float
from conspectus.methods.kernels.observed import Side
from conspectus.numerics.rows import unit_rows
from conspectus.views.table import Views


@dataclass(frozen=True)
class ConsensusMap:
    """Unit rows of h(x).

    Attributes
    ----------
    sides : tuple of Side
        Give y_p(x).
    A : tuple of ndarrays
        One for each view.
    E : tuple of ndarrays, shape (k, k), or None
        None: an unseen view says nothing.
    constants : tuple of ndarrays, shape (k,), or None
        What an unseen view adds whatever the sample (the mean filling).
    """

    sides: tuple[Side, ...]
    A: tuple[Float, ...]
    E: tuple[Float, ...] | None = None
    constants: tuple[Float, ...] | None = None

    def __call__(self, views: Views) -> Float:
        H = np.zeros((len(views), self.A[0].shape[1]))
        for v, (side, A) in enumerate(zip(self.sides, self.A)):
            H[views.observed(v)] += side.project(views, v, A)
            if self.constants is not None:
                H[views.missing(v)] += self.constants[v]
        if self.E is not None:
            distinct, group = views.patterns
            for g, seen in enumerate(distinct):
                H[group == g] = self._solved(seen, H[group == g])
        return np.asarray(unit_rows(H))

    def _solved(self, seen: Bool, H: Float) -> Float:
        """Solve h (I - sum_{p not in O} E_p) = h_observed."""
        assert self.E is not None
        imputed = sum((E for E, s in zip(self.E, seen) if not s), np.zeros_like(self.E[0]))
        return np.asarray(np.linalg.lstsq((np.eye(len(imputed)) - imputed).T, H.T, rcond=None)[0].T)
