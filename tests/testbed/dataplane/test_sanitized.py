"""The event core under the sanitizers, in a process of its own that has them loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from errors import UserError
from testbed.dataplane import library

ROOT = Path(__file__).parents[3]
SCRIPT = """
import functools, sys
from pathlib import Path
from testbed import hosts
from testbed.dataplane import Ended, library
library.build = functools.partial(library.build, library.SANITIZED)
from tests.testbed.dataplane.network import Program, balance, flows, star
for defines in ((), ("-DHELD", "-DGROWN=8")):
    program = Program(Path(sys.argv[1]), *defines)
    for entropy in ("flow", "random", "reps", "drb", "ethereal"):
        network = star(program, 20, entropy=entropy, sample_ps=100_000, ecn_bytes=9000,
                       buffer_bytes=300_000)
        rows = [(i, (i * 7 + 3) % 20, 100_000) for i in range(20)]
        rows += [(b, a, 50_000) for a, b, _ in rows]
        waits = {"after_first": [0] * 20 + list(range(20)), "after_count": [0] * 20 + [1] * 20}
        network.dataplane.add_flows(
            flows(rows, path_count=[4] * 40, subflows=[4] * 40, **waits),
            paths=[0, 1, 2, 3],
            after=list(range(20)),
        )
        network.dataplane.run_virtual(threads=2)
        assert balance(network.dataplane.totals()) == 0
        network.dataplane.samples()
        network.dataplane.ports()
        network.dataplane.close()
program = Program(Path(sys.argv[1]), "-DPLAIN")
rows = [(i % 6, 6 + i % 2, 20_000 + 7_001 * i) for i in range(12)]
for cca in hosts.CONGESTIONS:
    for recovery in hosts.RECOVERIES:
        for buffer_bytes in (4_200, 60_000):
            network = star(program, 8, congestion=cca.name, recovery=recovery.name,
                           entropy="reps", buffer_bytes=buffer_bytes, loss=0.02, ecn_bytes=9000)
            network.dataplane.add_flows(flows(rows, routes=1, subflows=[1, 3] * 6))
            ended = network.dataplane.run_virtual(deadline_ps=10**12)
            records = network.dataplane.flows()
            assert balance(network.dataplane.totals()) == 0
            assert (records["received"] <= records["packets"]).all()
            assert ended is Ended.DONE or "flow" in network.dataplane.message
            assert recovery.name == "none" or ended is Ended.DONE, (cca.name, recovery.name)
            network.dataplane.close()
for defines in ((), ("-DHELD", "-DGROWN=8")):
    program = Program(Path(sys.argv[1]), *defines)
    for recovery in [way for way in hosts.RECOVERIES if way.trims]:
        network = star(program, 8, congestion="nscc", recovery=recovery.name, trim=True,
                       ack_priority=True, entropy="reps", buffer_bytes=9_000, loss=0.01)
        network.dataplane.add_flows(flows(rows, routes=1))
        assert network.dataplane.run_virtual(threads=2, deadline_ps=10**12) is Ended.DONE
        assert network.dataplane.totals()["trimmed"] > 0
        network.dataplane.ports()
        network.dataplane.close()
assert "asan" in Path("/proc/self/maps").read_text()
print("clean")
"""


def sanitizer_libraries() -> str:
    names = ("libasan.so", "libubsan.so")
    found = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in names
    ]
    if not all(Path(path).is_absolute() for path in found):
        pytest.skip("this gcc has no sanitizers")
    return ":".join(found)


def test_network__is_clean_under_sanitizers(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "LD_PRELOAD": sanitizer_libraries(),
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "clean", done.stderr[-3000:]
    assert "runtime error" not in done.stderr


def test_build__names_a_broken_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OFAN_CACHE", str(tmp_path))
    with pytest.raises(UserError, match="does not compile"):
        library.build(("-DTIME_NEVER=nonsense(",))
