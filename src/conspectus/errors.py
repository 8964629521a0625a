"""The errors and warnings that a user meets. Each says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable


class InputError(ValueError):
    """Data or a parameter that cannot be used as it is."""


class InputTypeError(TypeError):
    """Data of a kind that the library does not take."""


class MissingExtraError(ImportError):
    """An optional library is needed and not installed; the message names the extra that brings it."""


class DataWarning(UserWarning):
    """The data can be used, but something about them is likely to spoil the result."""


def optional(module: str, extra: str) -> object:
    """Import an optional library when it is first needed, or name the extra that installs it."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        raise MissingExtraError(f"{top} is needed for this: pip install 'conspectus[{extra}]'") from error


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the choice that a mistyped name is closest to, or nothing.

    >>> did_you_mean("sampel", ["sample", "age"])
    "; did you mean 'sample'?"
    """
    from difflib import get_close_matches

    by_letters = {choice.casefold(): choice for choice in choices}
    close = get_close_matches(name.casefold(), by_letters, n=1)
    return f"; did you mean {by_letters[close[0]]!r}?" if close else ""
