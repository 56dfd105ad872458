"""Flows whose congestion control is written over time."""

from pathlib import Path

import numpy as np
import pytest

from analysis.results import read_run, read_transport
from errors import UserError
from experiments.main import main
from experiments.world import VirtualWorld, longest_flow
from testbed import virtual
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.scenario.watch import Watch

SCENARIO = Scenario(
    scheme="ecmp", message_bytes=1 << 18, cca="nscc", buffer_bytes=100_000, loss=0.01
)
SAME = ("flows.csv", "links.csv", "arrivals.csv")


def test_watched_flows__are_told_of_and_change_nothing(tmp_path: Path) -> None:
    plan = plan_for(SCENARIO)
    for name, threads, watch in (("off", 1, ()), ("on", 1, (3, 5)), ("threads", 3, (5, 3))):
        virtual.run(plan, tmp_path / name, threads=threads, watch=watch)
    for name in SAME:
        assert (tmp_path / "off" / name).read_bytes() == (tmp_path / "on" / name).read_bytes()
    assert not (tmp_path / "off" / "transport.csv.gz").exists()
    one, other = ((tmp_path / name / "transport.csv.gz") for name in ("on", "threads"))
    assert one.read_bytes() == other.read_bytes()
    table = read_transport(tmp_path / "on")
    assert set(table["flow"]) == {3, 5}
    assert (table["time_ns"].diff().dropna() >= 0).all()
    assert table["in_flight_bytes"].max() <= table["window_bytes"].max()
    assert (table["window_bytes"] > 0).all()


def test_a_lone_flow__has_the_line_rate_and_no_queueing(tmp_path: Path) -> None:
    scenario = Scenario(workload="incast", workload_options={"senders": 1}, cca="nscc")
    plan = plan_for(scenario)
    virtual.run(plan, tmp_path, watch=(0,))
    table = read_transport(tmp_path)
    assert table["queueing_ns"].dropna().max() < 2 * scenario.data_ns
    share = scenario.data_ns / (scenario.data_ns + scenario.gap_ns)
    assert table["rate_gbps"].max() == pytest.approx(800 * share, rel=0.02)


def test_worst__is_the_flow_that_takes_longest(tmp_path: Path) -> None:
    VirtualWorld(Watch("worst")).run(plan_for(SCENARIO), tmp_path, 1.0)
    flows = read_run(tmp_path).flows
    worst = int(np.argmax((flows["finish_ns"] - flows["start_ns"]).to_numpy()))
    assert longest_flow(tmp_path) == flows["flow"][worst]
    assert set(read_transport(tmp_path)["flow"]) == {flows["flow"][worst]}


def test_watch__without_windows__is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="window"):
        virtual.run(plan_for(Scenario(message_bytes=4096)), tmp_path, watch=(0,))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--cca", "nscc", "--watch-flows", "16"], "numbered from 0 to 15"),
        (["--watch-flows", "0"], "needs --cca or --recovery"),
        (["--cca", "nscc", "--watch-flows", "best"], "write flows' numbers"),
    ],
)
def test_watch_flows__bad_input__is_one_line(
    options: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--on", "virtual", "--schemes", "ofan", "--seeds", "1", *options]
    try:
        code = main([*command, "--out", str(tmp_path)])
    except SystemExit as stop:
        code = int(stop.code or 0)
    error = capsys.readouterr().err
    assert (code, error.count("\n")) == (2, 1), error
    assert problem in error
