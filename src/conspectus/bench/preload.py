"""What the fork server imports once, so that a task's process has it at no cost."""

from __future__ import annotations

from contextlib import suppress

import scipy.sparse.linalg  # noqa: F401
import sklearn.cluster  # noqa: F401

from conspectus.bench import worker  # noqa: F401

with suppress(ImportError):  # a method whose library is not installed says so when it is run
    from conspectus.registry import all_methods

    list(all_methods().values())
