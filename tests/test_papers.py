"""The papers of the house agree with each other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from testbed.results import own_version

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_licence__is_the_full_text_and_named_everywhere() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert PROJECT["license"] == "Apache-2.0"
    assert "license: Apache-2.0" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_version__is_the_same_everywhere() -> None:
    assert own_version() == PROJECT["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == PROJECT["version"]  # type: ignore[index]
    newest = re.search(
        r"^## (\S+),", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert newest is not None
    assert newest[1] == PROJECT["version"]


def test_changelog__every_version_has_a_date() -> None:
    for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            assert re.fullmatch(r"## \d+\.\d+\.\d+, (\d{4}-\d\d-\d\d|in progress)", line), line
