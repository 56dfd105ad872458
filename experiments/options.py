"""The options of run.py: what they are, and how they become scenarios."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from environment import Parser
from errors import UserError
from experiments.values import (
    assignment,
    count,
    flows_or_worst,
    folder,
    metavar_of,
    names,
    number,
    one_of,
    option_of,
    positive,
    reader_of,
    seeds,
    shown,
    topologies,
    topology,
)
from testbed import hosts, networks, schemes
from testbed.planning import why_not
from testbed.scenario import FIELDS, Scenario, files
from testbed.scenario.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

WORLDS = ("auto", *files.WORLDS)
SCHEMES = "ecmp,simple_rr,rsq,jsq,ofan,pofan"
WORLDS_HELP = "auto, mininet, virtual or bmv2 (default: auto, which is Mininet where it can run)"
EPILOG = """\
examples:
  run.py --on virtual --schemes ofan,ar --k 8 --message 4MB --seeds 5
  run.py --rate 400 --ecn 20KB --schemes reps,ofan --on virtual

other commands, each with its own --help:
  run.py fig4 | paper     figures of the paper, one or all with a page
  run.py sweep            any fields as lists or ranges, to one table and a figure
  run.py cross            the same scenarios in several worlds
  run.py collectives      rings against trees, as nccl-tests tell them
  run.py step             what schemes add to a training step"""
OF_THEIR_OWN = (
    "scheme",
    "scheme_file",
    "seed",
    "topology",
    "network",
    "acks",
    "parameters",
    "cca_parameters",
    "recovery_parameters",
    "workload_options",
)
PLAIN = tuple(field for field in FIELDS if field.name not in OF_THEIR_OWN)
"""Fields of a scenario whose option is made from what is said of the field."""
FLAG: dict[str, Any] = {"nargs": "?", "const": True}  # without a value it means yes


@dataclass(frozen=True, slots=True)
class Request:
    """What a command line asks for: scenarios, where to run them, and where results go.

    `dilation` is None where it is to be chosen, `out` None where a new folder is to be made.
    """

    scenarios: tuple[Scenario, ...]
    world: str
    dilation: float | None
    jobs: int
    out: Path | None
    plot_only: bool
    list_all: bool
    cli: bool
    strict: bool
    dry_run: bool
    compiler: str
    watch: Watch


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
        jobs=given.jobs,
        out=given.out,
        plot_only=given.plot_only,
        list_all=given.list,
        compiler=given.compiler,
        cli=given.cli,
        strict=given.strict,
        dry_run=given.dry_run,
        watch=Watch(given.watch_flows, tuple(given.pcap)),
    )


def scenarios(given: argparse.Namespace) -> tuple[Scenario, ...]:
    """Return a scenario per scheme and seed, schemes in the registry's order, seed by seed.

    Users' own schemes come last, in the order in which they are given.
    """
    wanted = list(schemes.names()) if given.schemes == ["all"] else given.schemes
    for name in wanted:
        schemes.find(name)
    own = own_schemes(given.scheme_file)
    shared: dict[str, Any] = {field.name: getattr(given, field.name) for field in PLAIN}
    shared |= said_by_file(given)
    shared["acks"] = not given.no_acks
    shared["workload_options"] = dict(given.workload_option)
    shared["cca_parameters"] = owned(given.cca, given)
    recovery = given.recovery or Scenario(cca=given.cca).recovers
    shared["recovery_parameters"] = owned(recovery, given)
    for name, _ in given.parameter:
        check_parameter(name, own)
    ordered = [*(scheme for scheme in schemes.SCHEMES if scheme.name in wanted), *own]
    made = tuple(
        Scenario(
            scheme=scheme.name,
            scheme_file=scheme.file,
            seed=seed,
            parameters=parameters(scheme, given),
            **shared,
        )
        for seed in given.seeds
        for scheme in ordered
    )
    return _able(made) if given.schemes == ["all"] else made


def _able(made: tuple[Scenario, ...]) -> tuple[Scenario, ...]:
    """Leave out schemes that do not work on the network, and say so; if none does, all are kept."""
    reasons = {each.scheme: why_not(each) for each in made if each.seed == made[0].seed}
    if all(reasons.values()):
        return made
    for reason in filter(None, reasons.values()):
        sys.stderr.write(f"left out: {reason}\n")
    return tuple(each for each in made if not reasons[each.scheme])


def said_by_file(given: argparse.Namespace) -> dict[str, Any]:
    """Return the fields that `--topology` says.

    Raises UserError for an option that says something else than the file.
    """
    found = networks.chosen(given.topology)
    for field in PLAIN:
        asked = getattr(given, field.name, field.default)
        if field.name in found and asked not in {field.default, found[field.name]}:
            raise UserError(
                f"{option_of(field)} {asked:g}: {given.topology} says {found[field.name]:g}"
            )
    return found


def own_schemes(files: Sequence[Path]) -> list[schemes.Scheme]:
    """Return users' own schemes; raises UserError for a wrong file, and two of one name."""
    found: dict[str, schemes.Scheme] = {}
    for place, file in enumerate(files):
        if file.stem in found:
            raise UserError(f"{file}: {found[file.stem].source} has that name already")
        found[file.stem] = schemes.own(file, place)
    return list(found.values())


def parameters(scheme: schemes.Scheme, given: argparse.Namespace) -> dict[str, float]:
    """Return the parameters that a command line sets for one scheme."""
    known = {parameter.name for parameter in scheme.parameters}
    wide = given.pipe_ports is not None and "pipe_ports" in known
    values = {"pipe_ports": float(given.pipe_ports)} if wide else {}
    return values | owned(scheme.name, given)


def owned(owner: str, given: argparse.Namespace) -> dict[str, float]:
    """Return the parameters that a command line sets for a scheme, a CCA or a recovery."""
    values = {}
    for name, value in given.parameter:
        whose, _, own_name = name.rpartition(".")
        if whose == owner:
            values[own_name] = number(name, value)
    return values


def check_parameter(name: str, own: Sequence[schemes.Scheme]) -> None:
    """Raise UserError for a parameter's name that is not OWNER.NAME, or of an owner unknown."""
    owner, point, _ = name.partition(".")
    if not point:
        raise UserError(f"--parameter {name}: write OWNER.NAME=VALUE, as in ofan.one_order=1")
    of_hosts = {each.name for each in hosts.CONGESTIONS} | {each.name for each in hosts.RECOVERIES}
    if owner not in of_hosts | {scheme.name for scheme in own}:
        schemes.find(owner)


def _parser() -> Parser:
    parser = Parser(prog="run.py", description=__doc__, allow_abbrev=False)
    parser.description = "Compare load-balancing schemes on an emulated or simulated fat tree."
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    _add_scenario(parser)
    where = parser.add_argument_group("where and how")
    where.add_argument(
        "--on", type=one_of(WORLDS), default="auto", metavar="WORLD", help=WORLDS_HELP
    )
    where.add_argument(
        "--compiler",
        choices=("ours", "p4c"),
        default="ours",
        help="what compiles the P4 programs: this project's, or an installed p4c (default: ours)",
    )
    where.add_argument(
        "--dilation",
        type=positive,
        metavar="X",
        help="how many times slower than the paper (default: chosen)",
    )
    where.add_argument(
        "--jobs",
        type=count,
        default=1,
        metavar="N",
        help="runs at a time, in virtual time (default: 1)",
    )
    where.add_argument(
        "--out", type=folder, metavar="FOLDER", help="folder for results (default: results/<time>)"
    )
    where.add_argument("--plot-only", action="store_true", help="only redo the figures of --out")
    where.add_argument("--cli", action="store_true", help="open the Mininet prompt on the fabric")
    where.add_argument(
        "--strict", action="store_true", help="exit with 1 if any run is INVALID (else with 0)"
    )
    where.add_argument(
        "--dry-run", action="store_true", help="say what would run, how long and how large it is"
    )
    where.add_argument(
        "--watch-flows",
        type=flows_or_worst,
        default=(),
        metavar="0,17|worst",
        help="write window, rate and round trips of these flows over time; worst is the slowest "
        "flow, found by a run before (virtual time, with --cca or --recovery)",
    )
    where.add_argument(
        "--pcap",
        type=names,
        default=(),
        metavar="LINK,...",
        help="capture the frames of these links in a file for Wireshark: e0_0-a0_1, 'e0_0>a0_1' "
        "for one direction, a node for all its links, or all (virtual time)",
    )
    where.add_argument("--list", action="store_true", help="list schemes and workloads")
    return parser


def _add_scenario(parser: Parser) -> None:
    what = parser.add_argument_group("scenario")
    what.add_argument(
        "--schemes",
        type=names,
        default=names(SCHEMES),
        metavar="NAME,...",
        help=f"schemes of --list, or all (default: {SCHEMES})",
    )
    add_scheme_file(what)
    what.add_argument(
        "--seeds",
        type=seeds,
        default=[1, 2, 3],
        metavar="N",
        help="a count, or a list such as 4,7 (default: 3)",
    )
    add_topology(what)
    for field in PLAIN:
        what.add_argument(
            option_of(field),
            dest=field.name,
            type=reader_of(field),
            default=field.default,
            metavar=metavar_of(field),
            **(FLAG if field.kind is bool else {}),
            help=f"{field.about.help} (default: {shown(field)})",
        )
    what.add_argument("--no-acks", action="store_true", help="send no acknowledgements")
    what.add_argument(
        "--pipe-ports",
        type=int,
        metavar="N",
        help="as --parameter pofan.pipe_ports=N: ports that face down in one pipe (default: 4, as "
        "in the paper; at k = 4 one pipe holds both, and 4Ofan is Ofan)",
    )
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


def add_topology(parser: argparse._ActionsContainer, *, several: bool = False) -> None:
    """Add the option for the network's shape: one, or a list where `several` are to be compared."""
    shapes = "{" + ",".join(networks.SHAPES) + ",FILE}"
    parser.add_argument(
        "--topology",
        type=topologies if several else topology,
        default=None if several else networks.SHAPES[0],
        metavar=f"{shapes},..." if several else shapes,
        help="shape of the network, or the file of one of your own: docs/networks.md "
        f"(default: {networks.SHAPES[0]})",
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
