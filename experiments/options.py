"""The options of run.py: what they are, and how they become scenarios."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from environment import Parser
from errors import UserError
from testbed import hosts, schemes
from testbed.scenario import Scenario, files

if TYPE_CHECKING:
    from collections.abc import Sequence

WORLDS = ("auto", *files.WORLDS)
SCHEMES = "ecmp,simple_rr,rsq,jsq,ofan,pofan"
TOPOLOGIES = ("fat-tree", "leaf-spine")
WORLDS_HELP = "the world to run in (default: auto, which is Mininet where it can run)"
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)i?b?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Request:
    """What a command line asks for: scenarios, where to run them, and where results go.

    `dilation` is None where it is to be chosen, `out` None where a new folder is to be made.
    """

    scenarios: tuple[Scenario, ...]
    world: str
    dilation: float | None
    out: Path | None
    plot_only: bool
    list_all: bool
    cli: bool
    strict: bool
    compiler: str


def parse(arguments: Sequence[str]) -> Request:
    """Read a command line; exits with 2 and one line for what argparse can see to be wrong.

    Raises UserError for values that no scenario can have.
    """
    given = _parser().parse_args(arguments)
    if given.plot_only and given.out is None:
        raise UserError("--plot-only needs --out FOLDER with the results of a run")
    return Request(
        scenarios=() if given.plot_only or given.list else scenarios(given),
        world=given.on,
        dilation=given.dilation,
        out=given.out,
        plot_only=given.plot_only,
        list_all=given.list,
        compiler=given.compiler,
        cli=given.cli,
        strict=given.strict,
    )


def scenarios(given: argparse.Namespace) -> tuple[Scenario, ...]:
    """Return a scenario per scheme and seed, schemes in the registry's order, seed by seed.

    Users' own schemes come last, in the order in which they are given.
    """
    wanted = list(schemes.names()) if given.schemes == ["all"] else given.schemes
    for name in wanted:
        schemes.find(name)
    own = own_schemes(given.scheme_file)
    recovery = given.recovery or Scenario(cca=given.cca).recovers
    for name, _ in given.parameter:
        _known_parameter(name, own)
    ordered = [*(scheme for scheme in schemes.SCHEMES if scheme.name in wanted), *own]
    return tuple(
        Scenario(
            scheme=scheme.name,
            scheme_file=scheme.file,
            seed=seed,
            topology=given.topology,
            k=given.k,
            payload_bytes=given.payload,
            acks=not given.no_acks,
            workload=given.workload,
            message_bytes=given.message,
            load=given.load,
            failures=given.failures,
            buffer_bytes=given.buffer or None,
            cca=given.cca,
            recovery=given.recovery,
            loss=given.loss,
            parameters=parameters(scheme, given),
            cca_parameters=owned(given.cca, given),
            recovery_parameters=owned(recovery, given),
            workload_options=dict(given.workload_option),
        )
        for seed in given.seeds
        for scheme in ordered
    )


def own_schemes(files: Sequence[Path]) -> list[schemes.Scheme]:
    """Return users' own schemes; raises UserError for a wrong file, and two of one name."""
    found: dict[str, schemes.Scheme] = {}
    for number, file in enumerate(files):
        if file.stem in found:
            raise UserError(f"{file}: {found[file.stem].source} has that name already")
        found[file.stem] = schemes.own(file, number)
    return list(found.values())


def parameters(scheme: schemes.Scheme, given: argparse.Namespace) -> dict[str, float]:
    """Return the parameters that a command line sets for one scheme."""
    known = {parameter.name for parameter in scheme.parameters}
    values = {"pipe_ports": float(given.pipe_ports)} if "pipe_ports" in known else {}
    return values | owned(scheme.name, given)


def owned(owner: str, given: argparse.Namespace) -> dict[str, float]:
    """Return the parameters that a command line sets for a scheme, a CCA or a recovery."""
    values = {}
    for name, value in given.parameter:
        whose, _, own_name = name.rpartition(".")
        if whose == owner:
            values[own_name] = number(name, value)
    return values


def _known_parameter(name: str, own: Sequence[schemes.Scheme]) -> None:
    owner, point, _ = name.partition(".")
    if not point:
        raise UserError(f"--parameter {name}: write OWNER.NAME=VALUE, as in ofan.one_order=1")
    of_hosts = {each.name for each in hosts.CONGESTIONS} | {each.name for each in hosts.RECOVERIES}
    if owner not in of_hosts | {scheme.name for scheme in own}:
        schemes.find(owner)


def size(text: str) -> int:
    """Read a number of bytes such as 4096, 256KB or 1MB (1 KB is 1,024 B)."""
    match = SIZE.fullmatch(text.strip())
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 4096, 256KB or 1MB")
    return round(float(match[1]) * UNITS[match[2].lower()])


def seeds(text: str) -> list[int]:
    """Read seeds: `3` stands for 1, 2 and 3; `4,7` for these two."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no count or list of seeds") from None
    if min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: seeds and their count start at 1")
    return numbers if "," in text else list(range(1, numbers[0] + 1))


def names(text: str) -> list[str]:
    """Read a list of names with commas; at least one."""
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing")
    return found


def folder(text: str) -> Path:
    """Read the name of a folder; an empty one, as of a variable not set, is none."""
    if not text:
        raise argparse.ArgumentTypeError("it names no folder")
    return Path(text)


def assignment(text: str) -> tuple[str, str]:
    """Read NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def number(name: str, text: str) -> float:
    """Read the number given for a name; raises UserError if it is none."""
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{name} is {text!r}, which is no number") from None


def _parser() -> Parser:
    parser = Parser(prog="run.py", description=__doc__, allow_abbrev=False)
    parser.description = "Compare load-balancing schemes on an emulated or simulated fat tree."
    parser.epilog = "Also: run.py fig4 (a figure of the paper), run.py paper (all), run.py cross."
    _add_scenario(parser)
    where = parser.add_argument_group("where and how")
    where.add_argument("--on", choices=WORLDS, default="auto", help=WORLDS_HELP)
    where.add_argument(
        "--compiler",
        choices=("ours", "p4c"),
        default="ours",
        help="what compiles the P4 programs: this project's, or an installed p4c (ours)",
    )
    where.add_argument(
        "--dilation", type=_positive, help="how many times slower than the paper (default: chosen)"
    )
    where.add_argument("--out", type=folder, help="folder for results (default: results/<time>)")
    where.add_argument("--plot-only", action="store_true", help="only redo the figures of --out")
    where.add_argument("--cli", action="store_true", help="open the Mininet prompt on the fabric")
    where.add_argument(
        "--strict", action="store_true", help="exit with 1 if any run is INVALID (else with 0)"
    )
    where.add_argument("--list", action="store_true", help="list schemes and workloads")
    return parser


def _add_scenario(parser: Parser) -> None:
    what = parser.add_argument_group("scenario")
    what.add_argument("--schemes", type=names, default=names(SCHEMES), help=f"default: {SCHEMES}")
    add_scheme_file(what)
    what.add_argument(
        "--topology", choices=TOPOLOGIES, default=TOPOLOGIES[0], help="default: fat-tree"
    )
    what.add_argument("--k", type=int, default=4, help="ports of a switch (default: 4)")
    what.add_argument(
        "--workload", default="permutation", help="of --list, or a .cm file (default: permutation)"
    )
    what.add_argument("--message", type=size, default=1 << 20, help="default: 1MB")
    what.add_argument("--load", type=float, default=1.0, help="share of the line rate (default: 1)")
    what.add_argument("--seeds", type=seeds, default=[1, 2, 3], help="a count or a list (3)")
    what.add_argument("--payload", type=size, default=4096, help="bytes of a packet (4096)")
    what.add_argument("--failures", type=float, default=0.0, help="share of links that failed (0)")
    what.add_argument("--buffer", type=size, default=0, help="bytes of a queue; 0: unlimited (0)")
    what.add_argument("--cca", default="none", help="congestion control, of --list (none)")
    what.add_argument("--recovery", help="loss recovery, of --list (selective with a CCA)")
    what.add_argument("--loss", type=float, default=0.0, help="share of frames lost at random (0)")
    what.add_argument("--no-acks", action="store_true", help="send no acknowledgements")
    what.add_argument("--pipe-ports", type=int, default=1, help="ports a pipe of pofan (1)")
    what.add_argument(
        "--parameter",
        type=assignment,
        action="append",
        default=[],
        metavar="OWNER.NAME=VALUE",
        help="a scheme's, CCA's or recovery's own, as --list shows them with their defaults",
    )
    what.add_argument(
        "--workload-option",
        type=assignment,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a workload's own, as --list shows them with their defaults",
    )


def add_scheme_file(parser: argparse._ActionsContainer) -> None:
    """Add the option for schemes that are not in the repository."""
    parser.add_argument(
        "--scheme-file",
        type=Path,
        action="append",
        default=[],
        metavar="FILE.p4",
        help="a scheme of your own, beside --schemes; may be repeated (docs/your-scheme.md)",
    )


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value
