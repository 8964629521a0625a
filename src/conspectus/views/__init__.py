"""The data after the door: which sample is where, and two passes over it."""

from conspectus.views.door import as_views
from conspectus.views.table import Views

__all__ = ["Views", "as_views"]
