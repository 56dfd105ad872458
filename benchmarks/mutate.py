"""Wrong input of every format, by the thousand: each ends in a result or in one message.

python benchmarks/mutate.py p4 cm [--number 100000] [--seed 1] [--keep FOLDER]

Files that are right are broken in one to four places: bytes, words and lines are dropped, doubled,
swapped, or replaced by what has broken readers before. Then they are read as far as a reader can
get before something is started. Whatever is no message for users, takes longer than 20 s or kills
its process is told and kept; then the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

    from testbed.scenario import Scenario

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
ENGINE = TESTS / "p4" / "engine_programs"
SEMANTICS = TESTS / "p4" / "compiler" / "semantics"
EXCHANGE = TESTS / "testbed" / "exchange"
LONGEST_SECONDS = 20
MOST_BYTES = 200_000
WORDS = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*|[0-9][0-9A-Za-z_.]*|[ \t]+|\r?\n|.", re.DOTALL)
SPARE = (
    b"", b"0", b"-1", b"1", b"nan", b"inf", b"-inf", b"1e400", b"1e-400", b"0x", b"0xffffffff",
    b"18446744073709551616", b"-9223372036854775809", b"9" * 400, b"\x00", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"true", b"null", b"[]", b"{}", b'""', b'"', b"'", b"#",
    b"//", b"/*", b"\\", b"\n", b"\r", b"\t", b";", b",", b":", b"=", b"->", b"..", b"/", b"&&&",
    b"<", b">", b"(", b")", b"{", b"}", b"[", b"]", b"$", b"%s", b"bit<", b"apply", b"table",
    b"1_000", b"\xd9\xa3", b"1.5", b"a" * 5000, b"(" * 300, b"[" * 2000, b"-" * 300,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Format:
    """A format: files that are right, and what reads one; it raises UserError for what is wrong."""

    suffix: str
    seeds: Callable[[], Sequence[bytes]]
    read: Callable[[Path], object]


def broken(content: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """Return a file that was right with one to four places broken."""
    words = WORDS.findall(content)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(words) + 1)
        match chance.randrange(8):
            case 0:
                del words[place : place + chance.choice((1, 1, 2, 5, 40))]
            case 1:
                words.insert(place, chance.choice(SPARE))
            case 2:
                words[place : place + 1] = [chance.choice(SPARE)]
            case 3:
                words[place:place] = words[place - chance.randint(1, 30) : place]
            case 4 if words:
                words[place : place + 1] = [chance.choice(words)]
            case 5:
                found = WORDS.findall(chance.choice(others))
                begin = chance.randrange(len(found))
                words[place:place] = found[begin : begin + chance.randint(1, 30)]
            case 6:
                whole = bytearray(b"".join(words))
                if whole:
                    whole[chance.randrange(len(whole))] = chance.randrange(256)
                words = WORDS.findall(bytes(whole))
            case _:
                del words[place:]
                words = words or [b""]
    return b"".join(words)[:MOST_BYTES]


# --- Formats ---


def _files(*patterns: tuple[Path, str]) -> list[bytes]:
    return [path.read_bytes() for folder, end in patterns for path in sorted(folder.rglob(end))]


def _p4_seeds() -> list[bytes]:
    return _files(
        (ENGINE, "*.p4"), (SEMANTICS, "*.p4"), (EXCHANGE, "*.p4"), (ROOT / "p4/programs", "ecmp.p4")
    )


def _read_p4(path: Path) -> object:
    from p4.compiler import compile_file  # noqa: PLC0415 - only what is asked for is loaded

    return compile_file(path, include_paths=[ROOT / "p4" / "programs"])


def _json_seeds() -> list[bytes]:
    from p4.compiler import compile_file  # noqa: PLC0415

    sources = [*sorted(ENGINE.glob("*.p4")), *sorted(SEMANTICS.glob("*.p4"))]
    return [json.dumps(compile_file(source), indent=1).encode() for source in sources]


def _read_json(path: Path) -> object:
    from p4.codegen.generate import generate_c  # noqa: PLC0415
    from p4.codegen.reader import read_file  # noqa: PLC0415

    return generate_c(read_file(path))


@cache
def _program(path: Path) -> Any:
    from p4.engine import Program  # noqa: PLC0415

    return Program.load(path)


def _read_stf(path: Path) -> None:
    from p4.stf import StfMismatchError, read_stf, run_stf  # noqa: PLC0415

    steps = read_stf(path)
    try:
        run_stf(_program(SEMANTICS / "choices.p4"), steps)
    except StfMismatchError as error:
        raise UserError(str(error)) from None


def _read_commands(path: Path) -> object:
    """Give each line to the prompt, as from a file of commands."""
    from p4.console.commands import Console  # noqa: PLC0415
    from p4.engine import Switch  # noqa: PLC0415

    prompt = Console(Switch(_program(ENGINE / "tables.p4")))
    refused: UserError | None = None
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            prompt.execute(line)
        except UserError as error:
            refused = error
    if refused:
        raise refused
    return None


def _command_seeds() -> list[bytes]:
    own = b"""table_add exact_table took_exact 1 2 => 7
table_add ternary_table took_ternary 1&&&255 0&&&0 3 => 8 4
table_add range_table took_range 1->5 0&&&0 => 9 1
table_dump exact_table
table_modify exact_table took_exact 0 => 9
table_set_default exact_table took_exact 5
table_delete exact_table 0
mc_mgrp_create 1
mc_node_create 0 1 2 3
mc_node_associate 1 0
mirroring_add 5 2
set_queue_rate 100 1
"""
    return [own, *_files((TESTS / "p4" / "console", "*.txt"))]


def _topology_seeds() -> list[bytes]:
    network = {
        "hosts": {
            name: {"ip": f"10.0.{number}.1/24", "mac": f"08:00:00:00:00:0{number}", "commands": []}
            for number, name in enumerate(("h1", "h2"), 1)
        },
        "switches": {"s1": {"runtime_json": "s1.json", "cpu_port": 5}, "s2": {}},
        "links": [["h1", "s1-p1"], ["h2", "s2-p1"], ["s1-p2", "s2-p2", "5ms", 10]],
    }
    return [json.dumps(network, indent=1).encode()]


def _read_topology(path: Path) -> object:
    from testbed.exchange.tutorials import read_topology  # noqa: PLC0415

    return read_topology(path)


def _runtime_seeds() -> list[bytes]:
    entry = {
        "table": "Route.routes",
        "match": {"headers.ipv4.destination": ["10.0.1.7", 24]},
        "action_name": "Route.forward",
        "action_params": {"next_hop": "08:00:00:00:01:11", "port": 1},
    }
    drop = {"table": "Route.routes", "default_action": True, "action_name": "Route.drop"}
    copies = [{"egress_port": 1, "instance": 1}, {"egress_port": 2, "instance": 1}]
    document = {
        "target": "bmv2",
        "bmv2_json": "build/router.json",
        "table_entries": [drop, entry],
        "multicast_group_entries": [{"multicast_group_id": 1, "replicas": copies}],
        "clone_session_entries": [{"clone_session_id": 5, "replicas": copies}],
    }
    return [json.dumps(document, indent=1).encode()]


def _read_runtime(path: Path) -> object:
    from testbed.exchange.filling import rehearsed  # noqa: PLC0415

    return rehearsed(path, _program(EXCHANGE / "router.p4"))


def _flow_reader(path: Path) -> object:
    import numpy as np  # noqa: PLC0415

    from traffic.request import Request  # noqa: PLC0415
    from traffic.workloads import make  # noqa: PLC0415

    return make(str(path), Request(16, 2, 4, 1000, np.random.default_rng(1)))


CM = b"""Nodes 16
Connections 5
Triggers 3
Failures 1
0->1 id 1 start 0 size 1000000 recv_done_trigger 1
1->2 id 2 trigger 1 size 2000 send_done_trigger 2 prio 1
1->3 id 3 trigger 2 size 3000 recv_done_trigger 3
2->3 id 4 start 1e6 size 4000 recv_done_trigger 3
3->0 id 5 trigger 3
trigger id 1 oneshot
trigger id 2 multishot
trigger id 3 barrier count 2
failure switch_type TOR switch_id 0 link_id 1
"""
GOAL = b"""num_ranks 3
rank 0 {
  a: send 1000b to 1 tag 5 cpu 0
  b: calc 250
  c: send 2000b to 2 tag 5
  c requires b
  b irequires a
}
rank 1 {
  r: recv 1000b from 0 tag 5
}
rank 2 {
  one: recv 2000b from 0 tag 5
  end: calc 5
  end requires one
}
"""
TABLES = (
    b"flow_id,src,dest,flow_size,parent_flow_ids\n0,0,1,1000,\n1,1,2,2000,0\n2,2,3,500,0 1\n",
    b"src,dst,bytes\n0,1,100\n1,2,200\n3,4,300\n",
    b"gpu,expert,expert\n0,1,2\n8,3,9\n1,2,15\n",
    b"\n".join(b",".join(b"%d" % (row + column) for column in range(16)) for row in range(16)),
)
SCENARIO = b"""scheme = "ofan"
topology = "fat-tree"
k = 4
seed = 3
message_bytes = 65536
load = 0.9
workload = "ring"
link_events = ["20:e0_0-a0_1:down"]
mix = []
cca = "nscc"
buffer_bytes = 100000

[workload_options]
placement = "random"

[parameters]
pipe_ports = 1
"""


def _read_scenario(path: Path) -> object:
    from testbed.scenario import from_toml  # noqa: PLC0415

    return _planned(from_toml(path))


def _planned(scenario: Scenario) -> object:
    from testbed.planning import plan_for  # noqa: PLC0415
    from testbed.virtual.memory import check_expected_memory, expected_work  # noqa: PLC0415

    check_expected_memory(scenario)
    work = expected_work(scenario)
    if work.messages > 10**5 or work.hosts > 10**4:
        return None  # right, and too large to be made here by the thousand
    return plan_for(scenario)


NETWORKS = (
    b"""pods = 2
edges = 2           # of each pod
hosts = 3           # of each edge
aggregations = 2
cores = 4

[rate_gbps]
host = 400          # of a host's link
core = 800
a0_1-c3 = 100.5

[delay_ns]
core = 1500
e1_0-h6 = 250
""",
    b"""planes = 2
edges = 3
hosts = 2
spines = 2

[rate_gbps]
edge = 1_600
e0_0-c1 = 200
""",
)
TOPO = (
    b"""# three tiers, oversubscribed
Nodes 16
Tiers 3
Podsize 8
Tier 0
Downlink_speed_Gbps 400
Radix_Up 2
Radix_Down 4
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 400
Radix_Up 2
Radix_Down 2
Downlink_Latency_ns 500
Oversubscribed 2
Tier 2
Downlink_speed_Gbps 800
Radix_Down 2
Downlink_Latency_ns 1000
""",
    b"""Nodes 8
Tiers 2
Podsize 8
Tier 0
Downlink_speed_Gbps 400
Radix_Up 2
Radix_Down 2
Downlink_Latency_ns 1000
Bundle 1
Tier 1
Downlink_speed_Gbps 200
Radix_Down 4
Downlink_Latency_ns 0
Switch_Latency_ns 0
""",
)


def _read_network(path: Path) -> object:
    """Read a network, name its file in what is wrong with it, and plan a run on it."""
    from testbed import networks  # noqa: PLC0415
    from testbed.scenario import Scenario  # noqa: PLC0415

    try:
        fields = networks.read(path)
    except UserError as error:
        if not str(error).startswith(str(path)) or "\n" in str(error):
            raise AssertionError(f"not one line that begins with the file: {error}") from None
        raise
    return _planned(Scenario(workload="ring", message_bytes=1 << 16, **fields))


def _chakra_ranks(folder: Path) -> list[bytes]:
    """Write a trace of two ranks; return their files."""
    from tests.traffic.readers.test_chakra import node, write  # noqa: PLC0415
    from traffic.readers.chakra.nodes import (  # noqa: PLC0415
        COLLECTIVE,
        COMPUTE,
        RECEIVE,
        SEND,
    )

    both = [node(1, COMPUTE, us=5), node(2, COLLECTIVE, 1, comm_type=0, comm_size=100)]
    path = write(
        folder,
        [*both, node(3, SEND, 2, comm_dst=1, comm_size=1000, comm_tag=3)],
        [*both, node(3, RECEIVE, comm_src=0, comm_size=1000, comm_tag=3)],
        name="given",
    )
    return [path.read_bytes(), (folder / "given.1.et").read_bytes()]


def _chakra_seeds() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return _chakra_ranks(Path(folder))[:1]


def _read_chakra(path: Path) -> object:
    content = path.read_bytes()
    _chakra_ranks(path.parent)
    path.write_bytes(content)
    return _flow_reader(path)


FORMATS = {
    "p4": Format(".p4", _p4_seeds, _read_p4),
    "json": Format(".json", _json_seeds, _read_json),
    "stf": Format(".stf", lambda: _files((SEMANTICS, "choices.stf")), _read_stf),
    "commands": Format(".txt", _command_seeds, _read_commands),
    "topology": Format(".json", _topology_seeds, _read_topology),
    "runtime": Format(".json", _runtime_seeds, _read_runtime),
    "cm": Format(".cm", lambda: [CM], _flow_reader),
    "goal": Format(".goal", lambda: [GOAL], _flow_reader),
    "csv": Format(".csv", lambda: TABLES, _flow_reader),
    "et": Format(".0.et", _chakra_seeds, _read_chakra),
    "scenario": Format(".toml", lambda: [SCENARIO], _read_scenario),
    "network": Format(".toml", lambda: NETWORKS, _read_network),
    "topo": Format(".topo", lambda: TOPO, _read_network),
}


# --- Running them ---


@cache
def _seeds(name: str) -> Sequence[bytes]:
    return FORMATS[name].seeds()


def example(name: str, number: int, seed: int) -> bytes:
    """Return a broken file of a format, the same for the same numbers."""
    chance = random.Random(f"{name} {seed} {number}")
    return broken(chance.choice(_seeds(name)), _seeds(name), chance)


class TooSlowError(Exception):
    """Reading took too long."""


def _too_slow(*_: object) -> None:
    raise TooSlowError


def outcome(name: str, content: bytes, folder: Path) -> str:
    """Return what became of a file: accepted, refused, or what went wrong."""
    path = folder / f"given{FORMATS[name].suffix}"
    path.write_bytes(content)
    signal.alarm(LONGEST_SECONDS)
    try:
        FORMATS[name].read(path)
    except UserError as error:
        return "refused" if str(error).strip() else "refused without a word"
    except TooSlowError:
        return f"took more than {LONGEST_SECONDS} s"
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else ""
        return f"{type(error).__name__} at {where.removeprefix(str(ROOT))}: {error}"[:200]
    else:
        return "accepted"
    finally:
        signal.alarm(0)


def work(name: str, numbers: range, seed: int, told: Connection) -> None:
    """Try the files of these numbers, and tell of each."""
    signal.signal(signal.SIGALRM, _too_slow)
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            told.send((number, outcome(name, example(name, number, seed), Path(folder))))


def outcomes(name: str, number: int, seed: int) -> Iterator[tuple[int, str]]:
    """Yield what became of each file; after one that its process dies of, another goes on."""
    fork, first = multiprocessing.get_context("fork"), 0
    while first < number:
        told, telling = fork.Pipe(duplex=False)
        process = fork.Process(target=work, args=(name, range(first, number), seed, telling))
        process.start()
        telling.close()
        try:
            while first < number:
                yield told.recv()
                first += 1
        except EOFError:
            process.join()
            yield first, f"its process died with {process.exitcode}"
            first += 1
        process.join()


def run(name: str, given: argparse.Namespace) -> int:
    """Try a format; returns how many files ended in anything but a result or a message."""
    begin, counts, faults = time.monotonic(), Counter[str](), 0
    for number, what in outcomes(name, given.number, given.seed):
        fine = what in ("accepted", "refused")
        counts[what if fine else "neither"] += 1
        if not fine:
            faults += 1
            kept = given.keep / f"{name}-{number}{FORMATS[name].suffix}"
            given.keep.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(example(name, number, given.seed))
            print(f"{kept}: {what}", flush=True)
    print(f"{name:10} {dict(counts)} in {time.monotonic() - begin:,.0f} s", flush=True)
    return faults


def main() -> int:
    """Try the formats that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("formats", nargs="+", choices=FORMATS, metavar="FORMAT",
                        help=", ".join(FORMATS))  # fmt: skip
    parser.add_argument("--number", type=int, default=1000, help="files of each (1000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("results") / "mutated")
    given = parser.parse_args()
    return 1 if sum(run(name, given) for name in given.formats) else 0


if __name__ == "__main__":
    sys.exit(main())
