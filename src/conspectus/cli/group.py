"""How the command line ends: well, with one line and exit code 2, or with 130 after Ctrl-C."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from conspectus.errors import InputError, InputTypeError, MissingExtraError, did_you_mean

IN_SHELL = [
    (r"as_views\(\.\.\., (\w+=[^)]*)\)", r"\1"),
    (r"\b(partial|prepare)=(['\"])([^'\"]+)\2", r"--\1 \3"),
    (r"\bzero_rows=(['\"])([^'\"]+)\1", r"--zero-rows \2"),
    (r"\bprepare=None", "--prepare none"),
    (r"\bn_clusters=(\d+)", r"--clusters \1"),
    (r"(?<!-)\b(\w+)=(['\"])([^'\"]+)\2", r"--param \1=\3"),
    (r"\(df\.T\)", "(--transpose, or --transpose-only FILE)"),
    (r"(match as stripped text): .*", r"\1: take the spaces out of the ids in the files"),
]
"""What a message says to Python users, and what it says in a shell."""


class OneLineErrors(click.Group):
    """A group of commands whose every error is one line."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        run: Any = super().main
        if not standalone_mode:
            return run(*args, standalone_mode=False, **extra)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that cannot show a sign shows ? in its place
        with _ending():
            sys.exit(run(*args, standalone_mode=False, **extra) or 0)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            others = ", ".join(self.list_commands(ctx))
            ctx.fail(
                f"there is no command '{args[0]}'{did_you_mean(args[0], self.list_commands(ctx)) or f': {others}'}"
            )
        return super().resolve_command(ctx, args)


@contextmanager
def _ending() -> Iterator[None]:
    try:
        yield
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
        sys.exit(2)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "conspectus"
        stop(f"{error.format_message().rstrip('.')} (see {where} --help)")
    except click.ClickException as error:
        stop(error.format_message())
    except (InputError, InputTypeError, MissingExtraError) as error:
        stop(in_shell(str(error)))
    except ValueError as error:
        if type(error).__name__ != "InvalidParameterError":  # scikit-learn's, which must not be imported for its name
            raise
        stop(in_shell(str(error)))
    except (click.Abort, KeyboardInterrupt):
        stop("stopped; nothing was written", code=130)
    except MemoryError:
        stop("there is not enough memory: cluster fewer samples, or choose a method whose cost is O(n)")
    except BrokenPipeError:  # the reader, head for example, has seen enough
        sys.stderr.close()
        sys.exit(1)


def stop(message: str, code: int = 2) -> NoReturn:
    """Say what is wrong in one line, and end."""
    click.echo(f"Error: {' '.join(message.split())}", err=True)
    sys.exit(code)


def in_shell(message: str) -> str:
    """Return a message of the library with the options of the command line in the place of Python's arguments.

    >>> in_shell("use partial='mean' or n_clusters=3")
    'use --partial mean or --clusters 3'
    """
    for python, shell in IN_SHELL:
        message = re.sub(python, shell, message)
    return message


def one_of_each(pairs: Sequence[str], option: str) -> dict[str, str]:
    """Return ``name=value`` arguments as a dict."""
    named: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"{option} '{pair}' is not NAME=VALUE")
        if name in named:
            raise InputError(f"{option} {name} is given twice: give it once")
        named[name] = value
    return named
