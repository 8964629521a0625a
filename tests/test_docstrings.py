"""Every example in a docstring gives what it says, and every public name has a docstring with a summary."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest

import conspectus

SOURCE = Path(conspectus.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if path.name != "__main__.py" and ">>> " in path.read_text(encoding="utf8")
)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = import_module(name)
    failed, tried = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert tried
    assert not failed


@pytest.mark.parametrize("name", [name for name in conspectus.__all__ if not name.startswith("_")])
def test_public_names_say_what_they_are_for(name):
    thing = getattr(conspectus, name)
    text = inspect.getdoc(thing) or ""
    assert len(text.splitlines()[0]) > 20, name
