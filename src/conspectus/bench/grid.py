"""A grid is declared as data and becomes tasks; a task is what one fit depends on, and nothing else."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Params = Mapping[str, Any]
Seeds = tuple[tuple[int | None, int], ...]
EVERYTHING = "*"


@dataclass(frozen=True)
class Data:
    """A data set as an experiment uses it.

    Parameters
    ----------
    name : str
        A name of `conspectus.datasets.load`, a generator ``make_...`` of that module, or the path of an ``.npz`` file.
    label : str
        What tables print.
    printed : str
        Where the paper's numbers stand: ``dataset`` or ``dataset;setting`` of the files in ``printed/``.
    params : mapping
        Arguments of a generator; for a file, its ``digest``, so that a changed file is another data set.
    kernel : {"", "gaussian", "linear"}
        Give methods kernels, made of all samples before views are removed (see `conspectus.bench.sources.kernels`).
    sample : int, optional
        Keep at most so many samples, drawn once and for all with one fixed seed.
    stand_in : str
        The data set that takes its place where it cannot be had; tables say so.
    instead_of : str
        Set where it does take that place: what the paper used.
    """

    name: str
    label: str = ""
    printed: str = ""
    params: Params = field(default_factory=dict)
    kernel: str = ""
    sample: int | None = None
    stand_in: str = ""
    instead_of: str = ""

    @property
    def title(self) -> str:
        """What tables print."""
        return self.label or self.name

    def smaller(self, sample: int) -> Data:
        """The data set with at most so many samples; a generator draws fewer."""
        if "n" not in self.params:
            return replace(self, sample=min(sample, self.sample or sample))
        if self.params["n"] <= sample:
            return self
        return replace(self, params={**self.params, "n": sample}, label=f"n = {sample}")


@dataclass(frozen=True)
class Missing:
    """How views are removed: a function of `conspectus.missing`, or one of `conspectus.bench.sources`.

    ``"own"`` leaves the data as they are.
    """

    protocol: str = "own"
    params: Params = field(default_factory=dict)
    label: str = ""
    printed: str = ""


@dataclass(frozen=True)
class Method:
    """A method by its name in the registry (or ``module:Class``) with the parameters that are not its defaults.

    With ``own_defaults`` it takes none of the grid's common parameters; with ``filled``, a method for complete data is
    put behind that filling (`conspectus.Filled`).
    """

    name: str
    params: Params = field(default_factory=dict)
    label: str = ""
    printed: str = ""
    own_defaults: bool = False
    filled: str = ""

    @property
    def title(self) -> str:
        """What tables print."""
        return self.label or self.name


@dataclass(frozen=True)
class Task:
    """One fit: everything that its result depends on, apart from the code."""

    data: Data
    missing: Missing
    ratio: float | None
    mask: int | None
    method: Method
    start: int
    singles: int = 0

    def content(self) -> dict[str, Any]:
        """The task without what is only printed: labels do not make another task."""
        removed = self.missing.protocol != "own"
        missing = {"protocol": self.missing.protocol, **self.missing.params}
        filled = {"filled": self.method.filled} if self.method.filled else {}
        return {
            "data": {
                "name": self.data.name,
                "kernel": self.data.kernel,
                "sample": self.data.sample,
                **self.data.params,
            },
            "missing": {**missing, "ratio": self.ratio, "seed": self.mask} if removed else None,
            "method": {"name": self.method.name, **filled, **self.method.params},
            "start": self.start,
            "singles": self.singles,
        }

    def json(self) -> str:
        """The content in its one canonical form."""
        return json.dumps(self.content(), sort_keys=True, separators=(",", ":"))

    def key(self, revision: object) -> str:
        """The name of the task in the store: a corrected method (another revision) is another task."""
        return hashlib.sha256(f"{revision}\n{self.json()}".encode()).hexdigest()


@dataclass(frozen=True)
class Grid:
    """The product of data sets, protocols, ratios, methods and seeds.

    Parameters
    ----------
    data, methods, missing, ratios : tuple
        What is combined. A method named ``"*"`` stands for all of the registry that is not named beside it.
    seeds : tuple of (mask seed, start seed)
        Pairs, so that a protocol can tie the two; `crossed` gives all combinations.
    common : mapping
        Parameters given to every method that has them (``prepare``, for instance), unless it sets its own.
    singles : int
        Runs of k-means with one start each on the embedding of every fit, scored one by one.
    """

    data: tuple[Data, ...]
    methods: tuple[Method, ...]
    missing: tuple[Missing, ...] = (Missing(),)
    ratios: tuple[float | None, ...] = (None,)
    seeds: Seeds = ((None, 0),)
    common: Params = field(default_factory=dict)
    singles: int = 0

    def tasks(self) -> Iterator[Task]:
        """Tasks in such an order that a run cut short has seen every method on every data set."""
        product = itertools.product(self.seeds, self.ratios, self.missing, self.data, self.methods)
        for (mask, start), ratio, missing, data, method in product:
            yield Task(data, missing, ratio, mask, method, start, self.singles)

    def quick(self, masks: int = 2, ratios: int = 2, sample: int = 500) -> Grid:
        """A small grid of the same shape: two masks (or starts), the lowest and the highest ratio, few samples."""
        smaller = [item.smaller(sample) for item in self.data]
        data = tuple(item for place, item in enumerate(smaller) if item not in smaller[:place])
        return replace(self, data=data, ratios=_ends(self.ratios, ratios), seeds=self.first(masks).seeds[:masks])

    def first(self, masks: int) -> Grid:
        """The grid with its first masks only."""
        kept = list(dict.fromkeys(mask for mask, _ in self.seeds))[:masks]
        return replace(self, seeds=tuple((mask, start) for mask, start in self.seeds if mask in kept))


def crossed(masks: int, starts: int = 1) -> Seeds:
    """Every mask seed with every start seed, the first start of all masks first."""
    return tuple((mask, start) for start in range(starts) for mask in range(masks))


def _ends(values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """`count` of the values, evenly spread, with the first and the last."""
    if len(values) <= count:
        return values
    last = len(values) - 1
    return tuple(values[round(i * last / (count - 1))] for i in range(count))
