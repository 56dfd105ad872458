"""What a result depends on: the sources that make it, found by what imports what.

A list kept by hand forgets a file some day, and old results then stand for new code.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
BESIDE_PYTHON = (".c", ".h", ".p4", ".toml")
PROGRAMS = Path("p4/programs")
"""Not shared: a row depends on its own scheme's program only."""


@functools.cache
def digest(module: str, *programs: Path) -> str:
    """Return a digest of all that a module's results depend on, and of some P4 programs."""
    made = hashlib.sha256()
    for path in (*programs, *_found(module)):
        made.update(hashlib.sha256(path.read_bytes()).digest())
    return made.hexdigest()


@functools.cache
def _found(module: str) -> tuple[Path, ...]:
    return tuple(dependencies(ROOT, module))


def dependencies(root: Path, module: str) -> list[Path]:
    """List the files that a module runs on: what it imports, and C, P4 and TOML in those rooms.

    `root` is the folder of the checkout. Rooms are its packages.
    """
    found: dict[str, Path] = {}
    left = [module]
    while left:
        name = left.pop()
        path = source_of(root, name)
        if path is None or name in found:
            continue
        found[name] = path
        left += [*imports_of(path), *_packages_above(name)]
    rooms = {name.partition(".")[0] for name, path in found.items() if path.name == "__init__.py"}
    return sorted({*found.values(), *_beside_python(root, rooms)})


def source_of(root: Path, module: str) -> Path | None:
    """Return the file of a module of this checkout, None for others' modules."""
    base = root.joinpath(*module.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def imports_of(path: Path) -> set[str]:
    """Return the modules that a file imports, wherever it does so, but for what only types need.

    Of `from a import b` there are both `a` and `a.b`, whether or not that is a module.
    """
    found: set[str] = set()
    left: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while left:
        node = left.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            left += node.orelse
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        left += ast.iter_child_nodes(node)
    return found


def _packages_above(module: str) -> Iterator[str]:
    while "." in module:
        module = module.rpartition(".")[0]
        yield module


def _beside_python(root: Path, rooms: Iterable[str]) -> Iterator[Path]:
    for room in rooms:
        for path in (root / room).rglob("*"):
            shared = not path.is_relative_to(root / PROGRAMS)
            if path.suffix in BESIDE_PYTHON and shared and path.is_file():
                yield path
