"""run.py on Mininet as a process: killed, interrupted, twice at once, under sudo, at its prompt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from analysis.results import find_runs, read_run
from testbed.mininet import sandbox
from testbed.schemes import skeleton
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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_run__interrupted__keeps_what_it_has(number: int, code: int, tmp_path: Path) -> None:
    run = start(*long(tmp_path))
    first_process(run)
    wait_until(lambda: any(tmp_path.glob("*/scenario.toml")), 30.0)
    time.sleep(SET_UP_SECONDS)
    run.send_signal(number)
    said, _ = run.communicate(timeout=30)
    assert run.returncode == code, said
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
        "h0 cd / && python -m traffic send --to 10.3.1.2 --count 2\n"
        "link e0_0 a0_0 down\npath h0 h15\niperf h0 h1\npingpair\nnoecho h0 echo whispered\n"
        "sh cat\nexit\nsend h0\n",
        timeout=120,
    )
    assert run.returncode == 0, said
    assert "usage" not in said, said
    for part in (
        "16 packets in the paper's time",
        "rotation.pointers = ",
        "routing.up: 8 entries",
        "all queues are empty",
        "data: h0 > e0_0 > a0_",
        "the control plane rewrote e0_0",
        "data: h0 > e0_0 > a0_1",
        "10.0.0.1 > 10.3.1.2: 2 frames",
        "h0 to h1: ",
        "in the paper's time",
        "0% dropped",
        "whispered",
    ):
        assert part in said, said


def test_cli__commands_that_fail__end_nothing_and_are_told(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("nodes\nsend h0\n", encoding="utf-8")
    failing = {
        "source /nonexistent": "source: /nonexistent: No such file or directory",
        f"source {tmp_path}/script": "usage: send H1 H2 [SIZE]",
        "dpctl dump-flows": "`tables SWITCH` shows entries",
        "switch e0_0 stop": "`down N1 N2` cuts one of their links",
        "xterm h3": "-m testbed attach --node h3",
        "gterm h3": "gterm: there is no display",
        "x h3 xclock": "x: there is no display",
        "link e0_0 h9 down": "there is no link between e0_0 and h9",
        "link e0_0 a0_0": "usage: link N1 N2 down|up",
        "iperf h0 h99": "there is no node h99",
        "iperf h0": "usage: iperf [H1 H2]",
        "iperfudp much h0 h1": "iperfudp: 'much' is no rate",
        "h99 ls": "there is no node h99; `nodes` lists them",
        "pnigall": "there is no command pnigall; did you mean pingall?",
        "time": "Elapsed time",
        "time source /none": "source: /none: No such file or directory",
        "py 1/0": "division by zero",
        "pingall never": "usage: pingall",
    }
    run = start("--cli", "--schemes", "ecmp", "--dilation", "2000", DISPLAY="")
    said, _ = run.communicate("\n".join([*failing, "path h0 h1"]), timeout=240)
    assert run.returncode == 1, said
    assert "Traceback" not in said
    assert "data: h0 > e0_0 > h1" in said
    for command, told in failing.items():
        assert told in said, (command, said)


def planes_in(folder: Path) -> str:
    """Write a network of two planes, each of two edges with one host under a spine."""
    file = folder / "planes.toml"
    file.write_text("planes = 2\nedges = 2\nhosts = 1\nspines = 1\n", encoding="utf-8")
    return str(file)


def test_cli__in_several_planes__hosts_reach_those_of_their_own(tmp_path: Path) -> None:
    commands = ["pingall 1", "path h2 h3", "send h0 h1 8KB", "path h0 h3", "send h0 h2"]
    options = ["--topology", planes_in(tmp_path), "--schemes", "ecmp", "--dilation", "2000"]
    run = start("--cli", *options, DISPLAY="")
    said, _ = run.communicate("\n".join(commands), timeout=240)
    assert run.returncode == 1, said
    assert said.count("0% dropped (2/2 received)") == 2, said
    assert "data: h2 > e1_0 > c1 > e1_1 > h3" in said
    for other in ("h3", "h2"):
        assert f"h0 and {other} are in different planes" in said


@pytest.mark.parametrize("workload", ["ring", "double-tree", "planes"])
def test_collective__between_real_hosts__takes_as_long_as_in_virtual_time(
    workload: str, tmp_path: Path
) -> None:
    more = ["--workload", workload]
    if workload == "planes":
        more = ["--workload", "ring", "--topology", planes_in(tmp_path), "--spread", "rail"]

    def cct_us(world: str) -> tuple[float, str]:
        out = tmp_path / world
        options = [*more, "--on", world]  # the last world that is given counts
        run = start(*small(out), *options)
        said, _ = run.communicate(timeout=120)
        assert run.returncode == 0, said
        (row,) = pd.read_csv(out / "summary.csv").to_dict("records")
        (folder,) = find_runs(out)
        result = read_run(folder)
        assert result.manifest["ended"] == "done"
        assert (result.flows["after"] != "").any()
        return float(row["cct_us"]), str(row["verdict"])

    virtual, _ = cct_us("virtual")
    real, verdict = cct_us("mininet")
    if verdict != "VALID":
        pytest.skip(f"this machine did not keep up: {verdict}")
    assert real == pytest.approx(virtual, rel=0.05)


def test_scheme_file__between_real_hosts__and_explain_says_what_its_logs_allow(
    tmp_path: Path,
) -> None:
    program, _ = skeleton.write("mine", tmp_path)
    out = tmp_path / "out"
    run = start("--scheme-file", str(program), *small(out))
    said, _ = run.communicate(timeout=120)
    assert run.returncode == 0, said
    folders = {read_run(folder).scenario.scheme: folder for folder in find_runs(out)}
    assert set(folders) == {"mine", "ofan"}
    own = read_run(folders["mine"])
    assert own.manifest["ended"] == "done"
    told = subprocess.run(
        [sys.executable, "-m", "analysis", "explain", str(folders["mine"])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (told.returncode, told.stderr) == (0, "")
    ends = own.flows["finish_ns"]
    last = own.flows.iloc[int(ends.argmax())]
    assert f"Flow {last['flow']}, h{last['src']} → h{last['dst']}, ended last:" in told.stdout
    longest = own.switch_links.nlargest(1, "max_queue_bytes").iloc[0]
    assert f"{longest['node']}→{longest['peer']}: " in told.stdout
    assert "in which queues the" in told.stdout
    parts = [float(line.split()[0]) for line in told.stdout.splitlines() if "  until its" in line]
    assert sum(parts) == pytest.approx(float(ends.max()) / 1000, rel=1e-3)
