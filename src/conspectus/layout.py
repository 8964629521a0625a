"""What a fitted object remembers of its views, so that new samples can be brought into the same shape."""

from __future__ import annotations

from dataclasses import dataclass

from conspectus._typing import Bool
from conspectus.views.table import Views


@dataclass(frozen=True)
class Layout:
    """Names, columns and widths of the views; of kernels, which training sample each view has seen."""

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...] | None, ...]
    widths: tuple[int, ...]
    training: Bool | None

    @classmethod
    def of(cls, views: Views) -> Layout:
        """Remember the layout of `views`."""
        return cls(views.names, views.columns, views.widths, views.seen if views.square else None)

    def match(self, views: Views) -> Views:
        """Bring new samples into this layout."""
        return views.like(self.names, self.columns, self.widths, self.training)
