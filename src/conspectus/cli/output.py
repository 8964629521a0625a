"""What the command line leaves: files that are whole or not there, and warnings of one line."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from conspectus.cli.group import in_shell
from conspectus.errors import InputError

SEPARATORS = {".csv": ",", ".tsv": "\t"}


def labels_file(out: str, inputs: Sequence[str]) -> Path:
    """Return where the labels go, or say at once why they cannot go there."""
    path = Path(out)
    if path.suffix.lower() not in SEPARATORS:
        raise InputError(f"--out {out}: labels are written as .csv or .tsv, so name a file that ends so")
    require_writable(path)
    if path.exists() and any(Path(file).exists() and path.samefile(file) for file in inputs):
        raise InputError(f"--out {out} is one of the tables to be read: name another file")
    return path


def require_writable(path: Path) -> None:
    """Refuse a place where no file can be put."""
    if path.is_dir():
        raise InputError(f"--out {path} is a folder: name a file in it, as {path / 'labels.csv'}")
    if path.exists() and not path.is_file():
        raise InputError(f"--out {path} is not a file: name one")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError(f"--out {path}: there is no folder {path.parent}; make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"--out {path}: nothing may be written in {path.parent}; name another folder")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a name to write to, and put what was written in the file's place only when it is complete."""
    path = path.resolve()  # a link stays a link
    part = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def write_labels(path: Path, model: Any) -> None:
    """Write id, label and confidence of every sample."""
    columns = zip(model.ids_.tolist(), model.labels_.tolist(), model.confidence().tolist())
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, delimiter=SEPARATORS[path.suffix.lower()], lineterminator="\n")
        rows.writerow(["id", "label", "confidence"])
        rows.writerows((sample, label, f"{confidence:.4f}") for sample, label, confidence in columns)


def warn(caught: Iterable[warnings.WarningMessage], *, quiet: bool) -> list[str]:
    """Say each warning once, in a line on standard error; return them."""
    said = dict.fromkeys(in_shell(" ".join(str(warning.message).split())) for warning in caught)
    if not quiet:
        for text in said:
            click.echo(f"Warning: {text}", err=True)
    return list(said)
