"""The command line: ``conspectus cluster``, ``conspectus methods``, ``conspectus demo``.

Here stand the commands and their options, and nothing else is imported until one of them runs: help is immediate.
Every error of the data or of the command is one line on standard error and exit code 2, and then nothing is written.
"""

from __future__ import annotations

from typing import Any

import click

from conspectus import __version__
from conspectus.bench.commands import bench
from conspectus.cli.group import OneLineErrors
from conspectus.cli.reading import reading_options

EPILOGS = {
    "main": "\b\nExample:\n  conspectus cluster rna.csv methylation.csv --clusters 5",
    "cluster": "\b\nExample:\n  conspectus cluster rna.csv methylation.parquet --clusters 5 --id patient",
    "inspect": "\b\nExample:\n  conspectus inspect rna.csv methylation.csv",
    "methods": "\b\nExample:\n  conspectus methods",
    "demo": "\b\nExample:\n  conspectus demo --out demo",
}
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


def method_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete a method's name in the shell, in any case."""
    from conspectus.registry import names

    return [name for name in names() if name.casefold().startswith(incomplete.casefold())]


METHOD = click.option(
    "-m",
    "--method",
    metavar="NAME",
    help="What `conspectus methods` lists, in any case, or module:Class.",
    shell_complete=method_names,
)


@click.group(cls=OneLineErrors, context_settings=CONTEXT, epilog=EPILOGS["main"])
@click.version_option(__version__, "-V", "--version", prog_name="conspectus")
def main() -> None:
    """Cluster samples described by several tables, none of which has every sample."""


@main.command(epilog=EPILOGS["cluster"], short_help="Cluster the samples of tables in files.")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option("-k", "--clusters", type=click.IntRange(min=2), required=True, help="How many clusters to look for.")
@METHOD
@click.option("-o", "--out", default="labels.csv", show_default=True, metavar="FILE", help="Where the labels go.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Same seed, same labels.")
@click.option(
    "--prepare",
    multiple=True,
    metavar="STEP | VIEW=STEP",
    help="How to scale the views, or one of them: auto, l2, minmax, standard, log1p, minmax+l2, none, ...",
)
@reading_options
@click.option("-p", "--param", multiple=True, metavar="NAME=VALUE", help="A parameter of the method; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
def cluster(**options: Any) -> None:
    """Cluster the samples of FILES, one view a file, and write a label for each.

    FILES are CSV or TSV (also .gz), Parquet, Feather, NPZ or NPY. Tables are joined by sample id: the column that
    --id names, else the first, if it is named id, sample or the like, or holds text. A sample that a table does not
    list, or whose row is blank, is one that this view has not seen. Rows of NPY and NPZ without ids correspond.

    The labels are a table with the columns id, label and confidence.
    """
    from conspectus.cli.cluster import run

    run(**options)


@main.command(epilog=EPILOGS["inspect"], short_help="Look at the tables before clustering.")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def inspect(**options: Any) -> None:
    """Look at FILES, one view a file, before any clustering.

    Tells what is missing where, zero rows, constant columns, repeated rows and ids, the views' scales, counts that
    want a logarithm, views that share no sample, and what prepare=auto would do with each view. What would keep the
    tables from being clustered is told all at once, and the exit code is then 1.
    """
    from conspectus.cli.inspect import run

    run(**options)


@main.command(epilog=EPILOGS["methods"], short_help="List the methods.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--bibtex", is_flag=True, help="Print the papers' entries for a bibliography.")
def methods(as_json: bool, bibtex: bool) -> None:
    """List the methods: name, paper, what each needs, how its cost grows."""
    from conspectus.cli.methods import run

    run(as_json=as_json, bibtex=bibtex)


@main.command(epilog=EPILOGS["demo"], short_help="Cluster handwritten digits with views removed.")
@click.option("-o", "--out", default="demo", show_default=True, metavar="FOLDER", help="Where the files go.")
@METHOD
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Same seed, same labels.")
def demo(out: str, method: str | None, seed: int) -> None:
    """Cluster 2,000 handwritten digits, half of which lack some of their six views, and show how well it went.

    Leaves labels.csv and, with matplotlib installed, clusters.png in a folder.
    """
    from conspectus.cli.demo import run

    run(out, method, seed)


main.add_command(bench)

__all__ = ["main"]
