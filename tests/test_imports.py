"""The rooms of the house import each other in one direction only."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from experiments.sources import imports_of as module_imports

if TYPE_CHECKING:
    from collections.abc import Container

ROOT = Path(__file__).parent.parent
GROUND = "testbed.scenario"
MAY_IMPORT = {
    GROUND: {GROUND},
    "p4": {"p4"},
    "traffic": {"traffic"},
    "analysis": {"analysis", GROUND},
    "testbed": {"testbed", GROUND, "p4", "traffic"},
    "experiments": {"experiments", "testbed", GROUND, "p4", "traffic", "analysis"},
}
MAY_IMPORT_MININET = ("testbed/mininet/", "testbed/bmv2/")


def room_of(module: str) -> str:
    """The room that a module is in: the ground, or its package."""
    return GROUND if f"{module}.".startswith(f"{GROUND}.") else module.split(".", maxsplit=1)[0]


def imports_of(source: Path) -> set[str]:
    """Rooms of all modules that a file imports, wherever the import stands."""
    names = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {room_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(room_of(node.module))
            below = {room_of(f"{node.module}.{alias.name}") for alias in node.names}
            names |= below & {GROUND}
    return names


def modules() -> dict[str, Path]:
    """All modules of all rooms by name."""
    return {
        ".".join(source.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): source
        for room in MAY_IMPORT
        for source in sources(room)
    }


def imported_modules(source: Path, known: Container[str]) -> set[str]:
    """Modules that a file imports; a package only where it is not for a module of its own."""
    found = {name for name in module_imports(source) if name in known}
    return {name for name in found if not any(each.startswith(f"{name}.") for each in found)}


def test_modules__import_each_other_without_cycles() -> None:
    known = modules()
    graph = {name: imported_modules(source, known) - {name} for name, source in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def sources(room: str) -> list[Path]:
    return sorted((ROOT / room.replace(".", "/")).rglob("*.py"))


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_imports__point_one_way(room: str) -> None:
    for source in sources(room):
        wrong = (imports_of(source) & set(MAY_IMPORT)) - MAY_IMPORT[room]
        assert not wrong, f"{source.relative_to(ROOT)} imports {sorted(wrong)}"


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_imports__mininet_only_where_the_network_is_built(room: str) -> None:
    for source in sources(room):
        name = str(source.relative_to(ROOT))
        if not name.startswith(MAY_IMPORT_MININET):
            assert "mininet" not in imports_of(source), name


def test_p4_compiler_and_codegen__meet_in_json_only() -> None:
    for source in sources("p4/codegen"):
        assert "p4.compiler" not in source.read_text(encoding="utf-8"), source
    for source in sources("p4/compiler"):
        assert "p4.codegen" not in source.read_text(encoding="utf-8"), source
