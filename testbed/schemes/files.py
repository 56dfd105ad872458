"""A user's own scheme: a P4 program anywhere, and a TOML file beside it that says the rest.

docs/your-scheme.md describes both. Nothing of them is needed in this repository.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from errors import UserError, near
from testbed import hosts
from testbed.parameters import Parameter
from testbed.scenario.toml import read_toml
from testbed.schemes import expressions
from testbed.schemes.expressions import ExpressionError
from testbed.schemes.scheme import Scheme
from testbed.schemes.site import Defaults, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from testbed.schemes.site import Site

CONTROL = "Fabric"
"""The control that tables and registers are named from, as `balance.pointer`."""

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
KEYS: Mapping[str, type] = {
    "label": str,
    "color": str,
    "marker": str,
    "hollow": bool,
    "dashed": bool,
    "entropy": str,
    "widest": int,
    "parameters": dict,
    "values": dict,
    "defaults": dict,
    "registers": dict,
}
PARAMETER_KEYS: Mapping[str, type] = {
    "default": float,
    "help": str,
    "smallest": float,
    "largest": float,
    "whole": bool,
    "define": str,
}
LOOKS = (
    ("#005f73", "o"),
    ("#bb3e03", "s"),
    ("#6a4c93", "D"),
    ("#3a7d44", "^"),
    ("#c2185b", "v"),
    ("#4e342e", "P"),
)
"""Colours and markers of users' schemes, in the order in which they are named."""


def read(program: Path, number: int = 0) -> Scheme:
    """Return the scheme of a `.p4` file, the `number`th of a command line.

    Raises UserError naming the file, and the line where the TOML file is at fault.
    """
    if program.suffix != ".p4" or not NAME.fullmatch(program.stem):
        raise UserError(f"{program}: a scheme's file is called NAME.p4, of letters and digits")
    if not program.is_file():
        raise UserError(f"{program}: no such file")
    document = _Document.read(program.with_suffix(".toml"))
    color, marker = LOOKS[number % len(LOOKS)]
    said = document.checked(document.content, KEYS)
    return Scheme(
        name=program.stem,
        program=program.stem,
        folder=program.resolve().parent,
        label=said.get("label", program.stem),
        color=said.get("color", color),
        marker=said.get("marker", marker),
        reference=program.name,
        hollow=said.get("hollow", False),
        dashed=said.get("dashed", False),
        setup=document.setup,
        own=document.parameters(),
        entropy=document.entropy(),
        widest=said.get("widest", 255),
    )


def fault(program: Path, table: str, name: str, what: str) -> UserError:
    """Return the complaint about a default action or register, called as in P4, with its line."""
    document = _Document.read(program.with_suffix(".toml"))
    own = name.removeprefix(f"{CONTROL}.")
    if own not in document.content.get(table, {}):
        return UserError(f"{program}: {what}")
    return document.fault((table, own), what)


@dataclass(frozen=True, slots=True)
class _Document:
    """A TOML file, to be complained of by line."""

    path: Path
    text: str
    content: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> _Document:
        """Read the file; one that is not there says nothing."""
        if not path.exists():
            return cls(path, "", {})
        return cls(path, *read_toml(path))

    def fault(self, keys: Sequence[str], what: str) -> UserError:
        """Return the complaint about a key of a table, with its line."""
        return UserError(f"{self.path}:{self._line(keys)}: {what}")

    def _line(self, keys: Sequence[str]) -> int:
        """Return the line of a key: the one that begins with it after its table's heading."""
        lines = self.text.splitlines()
        heading = re.compile(rf"\s*\[\s*{re.escape('.'.join(keys[:-1]))}\s*\]")
        own = re.compile(rf"\s*(\[.*)?[\"']?{re.escape(keys[-1])}[\"']?\s*[=\].]")
        start = next((n for n, line in enumerate(lines) if heading.match(line)), 0)
        if len(keys) == 1:
            start = 0
        found = (n for n in range(start, len(lines)) if own.match(lines[n]))
        return next(found, start) + 1

    def checked(
        self, table: Mapping[str, Any], known: Mapping[str, type], *above: str
    ) -> Mapping[str, Any]:
        """Return a table whose keys are known and whose values are of their kinds."""
        for name, given in table.items():
            if name not in known:
                raise self.fault((*above, name), f"{name} is unknown{near(name, known)}")
            kinds = (int, float) if known[name] is float else (known[name],)
            odd = isinstance(given, bool) and known[name] is not bool
            if not isinstance(given, kinds) or odd:
                wanted = known[name].__name__
                raise self.fault((*above, name), f"{name} is {given!r}; it must be a {wanted}")
        return table

    def parameters(self) -> tuple[Parameter, ...]:
        """Return the scheme's own parameters."""
        found = []
        for name, table in self.content.get("parameters", {}).items():
            keys = ("parameters", name)
            if not isinstance(table, dict) or "default" not in table:
                raise self.fault(keys, f"{name} needs a table with its default")
            said = self.checked(table, PARAMETER_KEYS, *keys)
            found.append(Parameter(name, **{"help": "", **said}))
        return tuple(found)

    def entropy(self) -> str:
        """Return what hosts do."""
        name = str(self.content.get("entropy", "flow"))
        try:
            hosts.entropy(name)
        except UserError as error:
            raise self.fault(("entropy",), str(error)) from None
        return name

    def setup(self, site: Site) -> State:
        """Work out what a switch starts with."""
        names = expressions.names_of(site)
        for name, text in self._texts("values"):
            names[name] = self._tried(("values", name), expressions.value, text, site, names)
        defaults: Defaults = {}
        for name, text in self._texts("defaults"):
            action, parameters = self._tried(
                ("defaults", name), expressions.call, text, site, names
            )
            table = f"{CONTROL}.{name}"
            defaults[table] = (f"{table.rpartition('.')[0]}.{action}", parameters)
        registers = {
            f"{CONTROL}.{name}": self._tried(
                ("registers", name), expressions.numbers, text, site, names
            )
            for name, text in self._texts("registers")
        }
        return State(defaults, {name: values for name, values in registers.items() if values})

    def _texts(self, table: str) -> list[tuple[str, str]]:
        return [(name, str(text)) for name, text in self.content.get(table, {}).items()]

    def _tried(self, keys: Sequence[str], work: Any, *arguments: Any) -> Any:
        try:
            return work(*arguments)
        except ExpressionError as error:
            raise self.fault(keys, f"{keys[-1]}: {error}") from None
