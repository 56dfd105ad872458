"""run.py on Mininet as a process: killed, interrupted, twice at once, under sudo, at its prompt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analysis.results import find_runs, read_run
from testbed.mininet import sandbox
from tests.testbed.mininet.conftest import wait_until

ROOT = Path(__file__).parents[2]
SET_UP_SECONDS = 5.0
REASON = sandbox.why_not()
pytestmark = [pytest.mark.mininet, pytest.mark.skipif(REASON is not None, reason=str(REASON))]


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "experiments" / "run.py"), "--on", "mininet", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **environment},
    )


def small(out: Path, *more: str) -> list[str]:
    return ["--schemes", "ofan", "--seeds", "1", "--message", "128KB", "--out", str(out), *more]


def long(out: Path) -> list[str]:
    """Return the options of one short run and one that takes minutes."""
    return ["--schemes", "ofan", "--seeds", "1,2", "--dilation", "3e6", "--out", str(out)]


def first_process(keeper: subprocess.Popen[str]) -> int:
    """Wait for run.py's fabric and return the id of its first process."""
    children = Path(f"/proc/{keeper.pid}/task/{keeper.pid}/children")

    def found() -> list[int]:
        return [
            int(word) for word in children.read_text().split() if int(word) in sandbox.running()
        ]

    wait_until(lambda: bool(found()), 30.0)
    return found()[0]


def test_run__twice_at_the_same_time__both_get_their_results(tmp_path: Path) -> None:
    runs = [start(*small(tmp_path / name)) for name in ("one", "other")]
    said = [run.communicate(timeout=120)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    for name in ("one", "other"):
        (folder,) = find_runs(tmp_path / name)
        result = read_run(folder)
        assert result.world == "mininet"
        assert result.manifest["ended"] == "done"
        assert result.manifest["noise_packets"] == 0


def test_run__killed__leaves_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    run = start(*long(tmp_path / "killed"))
    first = first_process(run)
    wait_until((tmp_path / "killed").exists, 30.0)
    run.kill()
    run.communicate(timeout=10)
    wait_until(lambda: first not in sandbox.running())
    assert not list(Path("/sys/class/net").glob("*_*-eth*"))
    again = start(*small(tmp_path / "killed"))
    said, _ = again.communicate(timeout=120)
    assert again.returncode == 0, said


def test_run__interrupted__keeps_what_it_has(tmp_path: Path) -> None:
    run = start(*long(tmp_path))
    first_process(run)
    wait_until(lambda: any(tmp_path.glob("*/scenario.toml")), 30.0)
    time.sleep(SET_UP_SECONDS)
    run.send_signal(signal.SIGINT)
    said, _ = run.communicate(timeout=30)
    assert run.returncode == 130, said
    assert "interrupted" in said
    assert "Traceback" not in said
    for folder in find_runs(tmp_path):
        assert read_run(folder).manifest["ended"] == "interrupted"


def test_run__under_sudo__results_belong_to_the_caller(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    (tmp_path / "foreign").touch()
    out = tmp_path / "new" / "results"
    run = start(*small(out), SUDO_UID="65534", SUDO_GID="65534")
    said, _ = run.communicate(timeout=120)
    assert run.returncode == 0, said
    new = out.parent
    assert {path.stat().st_uid for path in (new, *new.rglob("*"))} == {65534}
    assert {path.stat().st_uid for path in (tmp_path, tmp_path / "foreign")} == {0}


def test_cli__commands__look_inside(tmp_path: Path) -> None:
    run = start("--cli", "--schemes", "ofan", "--dilation", "20000")
    said, _ = run.communicate(
        "send h0 h15 64KB\npointers e0_0\ntables e0_0\nqueues\npath h0 h15\n"
        "down e0_0 a0_0\npath h0 h15\nsend h0\nnodes\n"
        "h0 cd / && python -m traffic send --to 10.3.1.2 --count 2\n",
        timeout=120,
    )
    assert run.returncode == 0, said
    for part in (
        "16 packets in the paper's time",
        "rotation.pointers = ",
        "routing.up: 8 entries",
        "all queues are empty",
        "data: h0 > e0_0 > a0_",
        "the control plane rewrote e0_0",
        "data: h0 > e0_0 > a0_1",
        "usage: send H1 H2 [SIZE]",
        "10.0.0.1 > 10.3.1.2: 2 frames",
    ):
        assert part in said, said
