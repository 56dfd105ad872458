"""House rules that a machine can check."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILE_LINES = 700
FUNCTION_LINES = 70
P4_LINES = 150
LINE_COLUMNS = 100
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def tracked(*suffixes: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout: which files are the project's cannot be told")
    names = [ROOT / name for name in listed.stdout.split("\n")]
    return [path for path in names if path.suffix in suffixes and path.is_file()]


def golden(path: Path) -> bool:
    return "golden" in path.parts


def test_files__are_short() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in tracked(".py", ".c", ".h", ".p4")
        if not golden(path)
        and (lines := path.read_text(encoding="utf-8").count("\n"))
        > (P4_LINES if path.is_relative_to(ROOT / "p4/programs") else FILE_LINES)
    }
    assert not long


def test_functions__fit_a_screen() -> None:
    long = []
    for path in tracked(".py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES:
                    long.append(f"{path.relative_to(ROOT)}: {node.name} has {lines} lines")
    assert not long


def test_c_lines__fit_the_page() -> None:
    wide = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked(".c", ".h", ".p4")
        if not golden(path)
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if len(line) > LINE_COLUMNS
    ]
    assert not wide


def test_sources__hold_no_unfinished_work() -> None:
    marked = [
        str(path.relative_to(ROOT))
        for path in tracked(".py", ".c", ".h", ".p4", ".md")
        if path != Path(__file__) and UNFINISHED.search(path.read_text(encoding="utf-8"))
    ]
    assert not marked


def test_scheme_names__stand_in_the_registry_only() -> None:
    compared = re.compile(r"(?<!for )\bscheme(\.name)?\s*(==|!=|in)\s*[\"'(\[{]")
    found = [
        str(path.relative_to(ROOT))
        for path in tracked(".py")
        if not path.is_relative_to(ROOT / "tests")
        and compared.search(path.read_text(encoding="utf-8"))
    ]
    assert not found
