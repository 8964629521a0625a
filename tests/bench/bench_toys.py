"""Toy methods for the experiments' machinery: quick, slow, failing, dying. Imported by the processes of the tasks."""

from __future__ import annotations

import os
import time

import numpy as np
from sklearn.cluster import KMeans


class Toy:
    """k-means on the filled first view; writes when it began and ended, and the threads it had, to `log`."""

    revision = 1

    def __init__(self, n_clusters, *, random_state=None, seconds=0.0, log=None, prepare=None):
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.seconds = seconds
        self.log = log
        self.prepare = prepare

    def fit_predict(self, views):
        begin = time.monotonic()
        time.sleep(self.seconds)
        X = np.nan_to_num(np.asarray(views.scatter(0, views.data(0))))
        if self.log:
            with open(self.log, "a") as file:
                file.write(f"{begin} {time.monotonic()} {os.environ['OMP_NUM_THREADS']}\n")
        self.embedding_ = X
        return KMeans(self.n_clusters, n_init=2, random_state=self.random_state).fit_predict(X)


class Corrected(Toy):
    """The same at a later revision."""

    revision = 2


class Unrevised(KMeans):
    """Somebody's own class without a revision."""

    def fit_predict(self, views):
        return np.zeros(len(views), dtype=int)


class Failing(Toy):
    """Raises an error of two lines."""

    def fit_predict(self, views):
        raise ValueError("cannot\ndo that")


class Dying(Toy):
    """Takes its process with it."""

    def fit_predict(self, views):
        os._exit(7)


class Greedy(Toy):
    """Holds 64 MiB for a while."""

    def fit_predict(self, views):
        block = np.ones(8 * 2**20)
        return super().fit_predict(views) + int(block[0]) - 1
