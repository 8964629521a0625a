"""What the README shows runs as written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from conspectus.cli import main

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.S)
COMMANDS = re.findall(r"^    conspectus (.*?)(?:  #.*)?$", README.read_text(encoding="utf-8"), flags=re.M)


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch):
    """The two tables that the README speaks of: other patients, in another order."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    patients = pd.Index([f"P{i:03d}" for i in range(60)], name="patient")
    for name, width, part in (("rna", 8, slice(0, 50)), ("methylation", 5, slice(None, 9, -1))):
        frame = pd.DataFrame(rng.normal(size=(60, width)), patients, [f"{name}{j}" for j in range(width)])
        frame.iloc[:, :3] += 9 * np.eye(3)[np.arange(60) % 3]
        frame[part].to_csv(f"{name}.csv")


def test_the_commands_run(tmp_path):
    assert COMMANDS
    for command in COMMANDS:
        result = CliRunner().invoke(main, shlex.split(command), catch_exceptions=False)
        assert result.exit_code == 0, result.output
    assert (tmp_path / "labels.csv").read_text().startswith("id,label,confidence\n")


@pytest.mark.slow
def test_the_python_lines_run():
    assert len(BLOCKS) >= 2
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), {})
    assert set(pd.read_csv("labels.csv").columns) == {"id", "label", "confidence"}
