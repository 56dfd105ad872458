from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errors import UserError
from experiments.options import PLAIN, parse
from experiments.values import option_of, seeds, size
from testbed import schemes
from testbed.networks import chosen
from testbed.planning import make_plan
from testbed.scenario import Scenario
from traffic.flows import Flows

if TYPE_CHECKING:
    from pathlib import Path


def test_parse__nothing__is_the_papers_default_in_any_world() -> None:
    request = parse([])
    assert request.world == "auto"
    assert request.dilation is None
    first = request.scenarios[0]
    assert (first.k, first.workload, first.message_bytes, first.load) == (
        4,
        "permutation",
        1 << 20,
        1.0,
    )
    assert {scenario.seed for scenario in request.scenarios} == {1, 2, 3}


def test_parse__schemes__come_in_the_order_of_legends() -> None:
    request = parse(["--schemes", "ofan,ecmp", "--seeds", "5,9"])
    assert [(s.scheme, s.seed) for s in request.scenarios] == [
        ("ecmp", 5),
        ("ofan", 5),
        ("ecmp", 9),
        ("ofan", 9),
    ]


def test_parse__all_schemes__are_those_of_the_registry() -> None:
    request = parse(["--schemes", "all", "--seeds", "1"])
    assert tuple(scenario.scheme for scenario in request.scenarios) == schemes.names()


def test_parse__all_schemes__leaves_out_what_the_network_does_not_suit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    counts = "pods = 2\nedges = 2\nhosts = 3\naggregations = 2\ncores = 4\n"
    file.write_text(counts, encoding="utf-8")
    both = ["--schemes", "all", "--seeds", "1,2", "--topology", str(file)]
    assert len(parse(both).scenarios) == 2 * len(schemes.names())
    assert not capsys.readouterr().err
    file.write_text(counts + "[rate_gbps]\nedge = 200\na0_0-c0 = 100\n", encoding="utf-8")
    found = {scenario.scheme for scenario in parse(both).scenarios}
    told = capsys.readouterr().err.splitlines()
    assert {"ofan", "ecmp", "drb"} <= found
    assert not found & {"conga", "sglb", "jsq"}
    assert len(told) == len(schemes.names()) - len(found)
    assert all(line.startswith("left out: ") for line in told)
    with pytest.raises(UserError, match="sglb: its program knows one rate"):
        make_plan(Scenario("sglb", **chosen(str(file))), Flows.of(*np.zeros((3, 0), dtype=int)))


def test_parse__parameters__reach_only_their_scheme() -> None:
    request = parse(["--schemes", "ofan,pofan", "--seeds", "1", "--pipe-ports", "2"])
    assert {s.scheme: dict(s.parameters) for s in request.scenarios} == {
        "ofan": {},
        "pofan": {"pipe_ports": 2.0},
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4096", 4096), ("256KB", 256 << 10), ("1MB", 1 << 20), ("0.5m", 1 << 19), ("2 GiB", 2 << 30)],
)
def test_size__units(text: str, expected: int) -> None:
    assert size(text) == expected


@given(st.integers(min_value=1, max_value=40))
def test_seeds__count__starts_at_one(count: int) -> None:
    assert seeds(str(count)) == list(range(1, count + 1))


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("--schemes", "", "names nothing"),
        ("--out", "", "names no folder"),
        ("--dilation", "slow", "'slow' is no number"),
    ],
)
def test_parse__empty_or_wrong_value__one_line_naming_the_option(
    option: str, value: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse([option, value])
    (line,) = capsys.readouterr().err.splitlines()
    assert option in line
    assert complaint in line


@pytest.mark.parametrize(
    ("parameter", "complaint"),
    [
        ("nothing.tau=1", "nothing is unknown"),
        ("tau_us=1", "OWNER.NAME"),
        ("ofan.one_order=x", "ofan.one_order is 'x', which is no number"),
    ],
)
def test_parse__parameter_of_no_scheme_or_no_number__refused(
    parameter: str, complaint: str
) -> None:
    with pytest.raises(UserError, match=complaint):
        parse(["--schemes", "ofan", "--seeds", "1", "--parameter", parameter])


def test_parse__every_field_of_the_network_is_an_option() -> None:
    given = {
        "--rate": ("400", "rate_gbps", 400.0),
        "--delay": ("100", "delay_ns", 100.0),
        "--payload": ("1KB", "payload_bytes", 1024),
        "--header": ("70", "header_bytes", 70),
        "--ack": ("84", "ack_bytes", 84),
        "--gap": ("12", "gap_bytes", 12),
        "--buffer": ("1MB", "buffer_bytes", 1 << 20),
        "--ecn": ("20KB", "ecn_bytes", 20 << 10),
        "--mix": ("ar,random-pods", "mix", ("ar", "random-pods")),
    }
    words = [word for option, (text, *_) in given.items() for word in (option, text)]
    (scenario,) = parse(["--schemes", "ofan", "--seeds", "1", *words]).scenarios
    for _, name, value in given.values():
        assert getattr(scenario, name) == value
    assert {option_of(field) for field in PLAIN} >= set(given)


def test_parse__a_default_of_no_option_is_the_scenarios_own() -> None:
    (scenario,) = parse(["--schemes", "ofan", "--seeds", "1"]).scenarios
    assert scenario == Scenario()
    (pofan,) = parse(["--schemes", "pofan", "--seeds", "1"]).scenarios
    assert pofan == Scenario(scheme="pofan")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1,1", [1]), ("20240101,", [20240101]), ("2,1,2", [2, 1]), ("4000000000,", [4000000000])],
)
def test_seeds__lists(text: str, expected: list[int]) -> None:
    assert seeds(text) == expected


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--seeds", "20240101"], "for the one seed 20240101 write 20240101,"),
        (["--seeds", "4000000000"], "at most 10,000"),
        (["--dilation", "inf"], "not finite"),
        (["--topology", "fattree"], "did you mean fat-tree"),
        (["--on", "minine"], "did you mean mininet"),
        (["--k", "four"], "'four' is no whole number"),
        (["--load", "full"], "'full' is no number"),
    ],
)
def test_parse__absurd_or_mistyped__is_one_line_that_helps(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse(words)
    (line,) = capsys.readouterr().err.splitlines()
    assert words[0] in line
    assert complaint in line


def test_scenarios__topology_of_a_file__says_rate_and_shape(tmp_path: Path) -> None:
    file = tmp_path / "two.topo"
    tier = "Downlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 900\n"
    file.write_text(
        f"Nodes 4\nTiers 2\nPodsize 4\nTier 0\n{tier}Radix_Up 1\nTier 1\n{tier}", encoding="utf-8"
    )
    (scenario,) = parse(["--topology", str(file), "--schemes", "ofan", "--seeds", "1"]).scenarios
    assert (scenario.topology, scenario.hosts, scenario.rate_gbps) == ("leaf-spine", 4, 100)
    with pytest.raises(UserError, match=r"--rate 400: .* says 100"):
        parse(["--topology", str(file), "--rate", "400"])
