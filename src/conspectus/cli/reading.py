"""The options that say how files become views, for every command that reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

OPTIONS = (
    click.option("--id", "id_column", metavar="COLUMN", help="The column of sample ids, in every table."),
    click.option(
        "--partial",
        type=click.Choice(["raise", "mean", "drop-row"]),
        default="raise",
        show_default=True,
        help="What to do with a row that has only some of its numbers.",
    ),
    click.option(
        "--zero-rows",
        type=click.Choice(["keep", "unseen"]),
        help="Whether a row of zeros is data, or a sample that the view has not seen. [default: as the method does]",
    ),
    click.option("--transpose", is_flag=True, help="Samples are the columns of the files (genes x samples)."),
    click.option("--transpose-only", multiple=True, metavar="FILE", help="The same for one file; may be repeated."),
)


def reading_options(command: Command) -> Command:
    """Give a command the options of `Reading`."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Reading:
    """How files become views, as the options say."""

    id_column: str | None
    partial: str
    zero_rows: str | None
    transpose: bool
    transpose_only: Sequence[str]

    def tables(self, files: Sequence[str]) -> dict[str, Any]:
        """Read the files."""
        from conspectus.files import read_tables

        return read_tables(files, id=self.id_column, transpose=self.transpose or list(self.transpose_only))

    def views(self, files: Sequence[str]) -> Any:
        """Read the files and bring them through the door."""
        tables = self.tables(files)
        from conspectus.views import as_views

        return as_views(tables, partial=self.partial, zero_rows=self.zero_rows or "keep")
