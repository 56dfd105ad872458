from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING

import pytest

from experiments.points import MAKER, Point
from experiments.sources import BESIDE_PYTHON, ROOT, dependencies
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

ROOMS = ("p4", "testbed", "traffic", "analysis", "experiments")
MAKING = [
    "analysis/bounds.py",
    "analysis/fidelity.py",
    "errors.py",
    "experiments/points.py",
    "p4/codegen/generate.py",
    "p4/codegen/runtime/table.c",
    "p4/compiler/parser.py",
    "p4/engine.py",
    "p4/include/v1model.p4",
    "testbed/dataplane/__init__.py",
    "testbed/dataplane/hosts/host.c",
    "testbed/dataplane/library.py",
    "testbed/planning.py",
    "testbed/scenario/scenario.py",
    "testbed/schemes/ofan.py",
    "testbed/virtual/__init__.py",
    "traffic/workloads.py",
]
NOT_MAKING = [
    "analysis/report.py",
    "docs/architecture.md",
    "p4/commands/compile.py",
    "testbed/mininet/world.py",
    "tests/test_imports.py",
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources that a test may write to."""
    root = tmp_path_factory.mktemp("checkout")
    kept = {".py", *BESIDE_PYTHON}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*"):
            if path.suffix in kept and path.is_file():
                target = root / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    shutil.copyfile(ROOT / "errors.py", root / "errors.py")
    return root


def content(root: Path) -> str:
    files = dependencies(root, MAKER)
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


@pytest.mark.parametrize("name", MAKING)
def test_dependencies__a_change_of_what_makes_rows_is_seen(checkout: Path, name: str) -> None:
    before = content(checkout)
    path = checkout / name
    text = path.read_bytes()
    path.write_bytes(text + b"\n")
    assert content(checkout) != before
    path.write_bytes(text)
    assert content(checkout) == before


@pytest.mark.parametrize("name", NOT_MAKING)
def test_dependencies__what_makes_no_row_is_left_out(name: str) -> None:
    assert (ROOT / name).exists()
    assert ROOT / name not in dependencies(ROOT, MAKER)


def test_dependencies__a_new_file_that_is_imported_is_seen(checkout: Path) -> None:
    (checkout / "analysis" / "fresh.py").write_text("import json\n", encoding="utf-8")
    path = checkout / "analysis" / "bounds.py"
    path.write_bytes(path.read_bytes() + b"\nimport analysis.fresh\n")
    assert checkout / "analysis" / "fresh.py" in dependencies(checkout, MAKER)


def test_key__follows_the_schemes_own_program_with_what_it_includes() -> None:
    ofan, ecmp = (Point(Scenario(scheme=name)).programs for name in ("ofan", "ecmp"))
    names = [{path.name for path in files} for files in (ofan, ecmp)]
    assert "ofan.p4" in names[0]
    assert "ofan.p4" not in names[1]
    assert len(names[0]) > 2
