"""docs/your-scheme.md, done word for word: its files written, its commands run, its output seen."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "your-scheme.md"
BLOCK = re.compile(r"```(\w+)(?: (\S+))?\n(.*?)```", re.DOTALL)


@pytest.mark.slow
def test_tutorial__word_for_word(tmp_path: Path) -> None:
    rooms = ("experiments", "testbed", "p4", "analysis", "traffic")
    for name in (*rooms, "environment.py", "errors.py", "pyproject.toml", ".venv"):
        (tmp_path / name).symlink_to(ROOT / name)
    for kind, name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif kind == "console":
            command, *shown = text.splitlines()
            said = iter(lines(command.removeprefix("$ "), tmp_path))
            assert [line for line in shown if line not in said] == [], "in this order"
    assert (tmp_path / "results" / "fig4" / "fig4.png").exists()


def lines(command: str, folder: Path) -> list[str]:
    done = subprocess.run(  # noqa: S602 - as a user types it
        command,
        shell=True,
        cwd=folder,
        env=os.environ | {"COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [line.rstrip() for line in done.stdout.splitlines()]
