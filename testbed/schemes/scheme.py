"""What a scheme is: a P4 program, the hosts' entropy, and what is written into each switch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from testbed import hosts
from testbed.schemes.site import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from testbed.parameters import Parameter
    from testbed.schemes.site import Site

PROGRAMS = Path(__file__).resolve().parent.parent.parent / "p4" / "programs"


def nothing(_site: Site) -> State:
    """Set up a program that needs nothing."""
    return State()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """A load-balancing scheme: where its parts are, and how figures show it.

    `program` is the P4 program's name, in p4/programs or in `folder`. `label` may name parameters
    in braces; `hollow` markers and `dashed` lines tell curves apart that lie on each other.
    `reference` is the paper's section. `setup` returns what a switch's tables and registers start
    with, `own` are the program's parameters, `entropy` is what hosts do (testbed/hosts.py),
    `widest` the most uplinks that the program can tell apart, and `one_rate` whether it works only
    where all links have the same rate.
    """

    name: str
    program: str
    label: str
    color: str
    marker: str
    reference: str
    hollow: bool = False
    dashed: bool = False
    setup: Callable[[Site], State] = nothing
    own: tuple[Parameter, ...] = ()
    entropy: str = "flow"
    widest: int = 255
    one_rate: bool = False
    folder: Path | None = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All knobs: the program's own, then its hosts'."""
        return (*self.own, *hosts.entropy(self.entropy).parameters)

    @property
    def file(self) -> str | None:
        """The path of a user's own program, None for the registry's: Scenario.scheme_file."""
        return str(self.source) if self.folder else None

    @property
    def source(self) -> Path:
        """The file of the P4 program."""
        return (self.folder or PROGRAMS) / f"{self.program}.p4"
