"""Packet-hops a second in virtual time by network size, and where the time goes.

python benchmarks/hops.py [--k 4 12 32 64] [--scheme ofan] [--threads 1] [--repeat 3]
                          [--cca none nscc] [--profile] [--htsim PATH/TO/htsim_uec]

Every size runs in a process of its own, the best of `--repeat` counts, by processor time, which
other work on the machine disturbs least. A hop is a frame (data or ACK) that a switch or its host
takes. Several CCAs (with 800 KB a port) run in turn, and costs are compared with the first. With
`--htsim` the same permutation of 432 hosts runs in htsim too, and the ratio is shown.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from testbed.dataplane import Dataplane, settings_of
from testbed.messages import port_counts
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.topology import fat_tree
from testbed.virtual import build

if TYPE_CHECKING:
    from testbed.plan import Plan

BUFFER = 800_000  # bytes a port, with congestion control
HTSIM_HOPS_BY_KIND = (2, 4, 6)  # host to host: same edge switch, same pod, other pod


def main() -> int:
    """Print the table that was asked for."""
    options = parse()
    if options.one:
        print(json.dumps(measure(options.k[0], options.cca[0], options)))
        return 0
    print(f"{options.scheme}, permutation of 1 MB messages, {options.threads} thread(s)")
    print(
        f"{'k':>3} {'hosts':>6} {'hops':>11} {'setup s':>8} {'run s':>7} {'M hops/s':>9} ", end=""
    )
    print(f"{'ns/hop':>7} {'growth':>7} {'GB':>6}")
    sizes = [(k, cca) for k in options.k for cca in options.cca]
    results = [best(k, cca, options) for k, cca in sizes]
    for found in results:
        print(row(found, results[0]))
    if options.profile:
        for k in options.k:
            print(f"\nk = {k}: share of the run's processor time")
            print(profile(k, options))
    if options.htsim:
        compare(options)
    return 0


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--k", type=int, nargs="+", default=[4, 12, 32])
    parser.add_argument("--scheme", default="ofan")
    parser.add_argument("--cca", nargs="+", default=["none"], help="congestion controls")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="show functions, needs perf")
    parser.add_argument("--htsim", type=Path, help="htsim_uec, to compare with at 432 hosts")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def measure(k: int, cca: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run one permutation; return its hops, seconds and memory."""
    begin = time.perf_counter()
    buffer = None if cca == "none" else BUFFER
    plan = plan_for(Scenario(scheme=options.scheme, k=k, cca=cca, buffer_bytes=buffer))
    hosts = plan.topology.hosts
    with Dataplane(settings_of(plan), port_counts(plan.topology), hosts) as dataplane:
        build(dataplane, plan)
        ready, before = time.perf_counter(), time.process_time()
        ended = dataplane.run_virtual(threads=options.threads)
        after, done = time.process_time(), time.perf_counter()
        return {
            "k": k,
            "cca": cca,
            "hosts": hosts,
            "ended": ended.name,
            "hops": dataplane.totals()["hops"],
            "setup": ready - begin,
            "wall": done - ready,
            "processor": after - before,
            "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        }


def command(k: int, cca: str, options: argparse.Namespace) -> list[str]:
    """Return the command that measures one size."""
    same = ["--scheme", options.scheme, "--threads", str(options.threads), "--cca", cca]
    return [sys.executable, __file__, "--one", "--k", str(k), *same]


def best(k: int, cca: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the measurement of a size that took the least processor time."""
    found: list[dict[str, Any]] = []
    for _ in range(options.repeat):
        done = subprocess.run(command(k, cca, options), check=True, capture_output=True, text=True)
        found.append(json.loads(done.stdout))
    return min(found, key=lambda one: float(one["processor"]))


def row(found: dict[str, Any], first: dict[str, Any]) -> str:
    """Format a measurement; growth is against the first size."""
    cost, base = (one["processor"] / one["hops"] for one in (found, first))
    return (
        f"{found['k']:>3} {found['cca']:>7} {found['hosts']:>6} {found['hops']:>11} "
        f"{found['setup']:>8.2f} {found['wall']:>7.2f} {found['hops'] / found['wall'] / 1e6:>9.2f} "
        f"{cost * 1e9:>7.0f} {cost / base:>6.2f}x {found['gigabytes']:>6.2f}"
    )


def profile(k: int, options: argparse.Namespace, lines: int = 14) -> str:
    """Return the functions that take most of a run's time, as perf sees them.

    Shares are of the event core's and the P4 program's time; Python's set-up is left out.
    """
    if shutil.which("perf") is None:
        return "perf is not installed"
    with tempfile.TemporaryDirectory() as folder:
        record = [
            "perf",
            "record",
            "-q",
            "-o",
            f"{folder}/perf.data",
            "--",
            *command(k, options.cca[-1], options),
        ]
        subprocess.run(record, check=True, capture_output=True)
        report = ["perf", "report", "-i", f"{folder}/perf.data", "--stdio", "--no-children"]
        done = subprocess.run(
            [*report, "--sort", "dso,symbol"], check=True, capture_output=True, text=True
        )
    pattern = re.compile(r"\s+([\d.]+)%\s+(libdataplane|[a-z_]+)-\w+\.so\s+\[.\] (\S+)")
    found = [match.groups() for line in done.stdout.splitlines() if (match := pattern.match(line))]
    total = sum(float(share) for share, _, _ in found)
    program = sum(float(share) for share, where, _ in found if where != "libdataplane")
    rows = [f"{float(share) / total:6.1%}  {where}: {what}" for share, where, what in found]
    return "\n".join([f"{program / total:6.1%}  P4 program in all", *rows[:lines]])


def compare(options: argparse.Namespace) -> None:
    """Print both simulators' hops a second of processor time on one permutation of 432 hosts."""
    plan = plan_for(Scenario(scheme=options.scheme, k=12))
    ours = best(12, "none", options)
    hops, seconds = run_htsim(options.htsim, plan)
    own = ours["hops"] / ours["processor"]
    theirs = hops / seconds
    print(f"\n432 hosts, per second of processor time: {own / 1e6:.2f} M hops here, ", end="")
    print(f"{theirs / 1e6:.3f} M hops in htsim: {own / theirs:.1f} x")


def run_htsim(binary: Path, plan: Plan) -> tuple[float, float]:
    """Run htsim on a plan's permutation; return packet-hops and seconds of processor time."""
    with tempfile.TemporaryDirectory() as folder:
        topology, matrix = Path(folder) / "ft.topo", Path(folder) / "perm.cm"
        topology.write_text(htsim_topology(12), encoding="ascii")
        matrix.write_text(htsim_matrix(plan), encoding="ascii")
        inputs = ["-topo", str(topology), "-tm", str(matrix), "-end", "100"]
        rates = ["-linkspeed", "800000", "-mtu", "4150", "-paths", "64"]
        spray = ["-load_balancing_algo", "oblivious", "-sender_cc_only"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run(
            [str(binary.resolve()), *inputs, *rates, *spray],
            cwd=folder,  # where it leaves files of its own
            check=True,
            capture_output=True,
            text=True,
        )
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    counted = re.search(r"New: (\d+) .* ACKs: (\d+)", done.stdout)
    if counted is None:
        raise SystemExit("hops.py: htsim did not say how many packets it sent")
    packets = int(counted[1]) + int(counted[2])
    return packets * mean_hops(plan), seconds


def mean_hops(plan: Plan) -> float:
    """Return how many links a packet of a plan crosses in the mean."""
    ends = np.stack((plan.flows.source, plan.flows.destination))
    edges = ends // plan.topology.hosts_per_edge
    pods = edges // plan.topology.edges_per_pod
    kind = np.where(edges[0] == edges[1], 0, np.where(pods[0] == pods[1], 1, 2))
    return float(np.array(HTSIM_HOPS_BY_KIND)[kind].mean())


def htsim_topology(k: int) -> str:
    """Return the paper's fat tree as htsim reads it."""
    width, pod = k // 2, fat_tree(k).hosts // k
    lines = [f"Nodes {fat_tree(k).hosts}", "Tiers 3", f"Podsize {pod}"]
    for tier in range(3):
        lines += [f"Tier {tier}", "Downlink_speed_Gbps 800", "Downlink_Latency_ns 500"]
        lines += ["Switch_Latency_ns 0", f"Radix_Down {width if tier < 2 else k}"]
        lines += [f"Radix_Up {width}", "Oversubscribed 1"] if tier < 2 else []
        lines += ["Bundle 1"] if tier > 0 else []
    return "\n".join(lines) + "\n"


def htsim_matrix(plan: Plan) -> str:
    """Return a plan's flows as htsim reads them."""
    flows = plan.flows
    rows = zip(flows.source, flows.destination, flows.size_bytes, strict=True)
    lines = [f"Nodes {plan.topology.hosts}", f"Connections {len(flows)}"]
    lines += [f"{s}->{d} id {i} start 0 size {size}" for i, (s, d, size) in enumerate(rows, 1)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
