"""What the Tab key offers in the shells, and the papers for a bibliography."""

from __future__ import annotations

import re

import pytest
from click.shell_completion import get_completion_class
from click.testing import CliRunner

from conspectus.cli import main


def offered(words, incomplete):
    """The completions of the command line so far."""
    complete = get_completion_class("bash")(main, {}, "conspectus", "_CONSPECTUS_COMPLETE")
    return {item.value for item in complete.get_completions(words, incomplete)}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(shell, monkeypatch):
    shell_class = get_completion_class(shell)
    monkeypatch.setattr(shell_class, "_check_version", lambda self: None, raising=False)
    source = shell_class(main, {}, "conspectus", "_CONSPECTUS_COMPLETE").source()
    assert "_CONSPECTUS_COMPLETE" in source
    assert f"{shell}_complete" in source


def test_commands_options_choices_and_methods():
    assert offered([], "in") == {"inspect"}
    assert "--zero-rows" in offered(["cluster"], "--z")
    assert offered(["cluster", "--partial"], "") == {"raise", "mean", "drop-row"}
    assert "APMC" in offered(["cluster", "--method"], "ap")


def test_the_papers_are_printed_for_a_bibliography():
    out = CliRunner().invoke(main, ["methods", "--bibtex"]).output
    keys = re.findall(r"^@\w+\{(\S+),$", out, flags=re.MULTILINE)
    assert len(keys) == len(set(keys)) > 10
    assert out.count("{") == out.count("}")
