"""Files of networks: what they may say, and how they are refused."""

from pathlib import Path

import pytest

from errors import UserError
from testbed.networks import chosen, is_file
from testbed.scenario import Scenario
from testbed.topology import build, stages

OVERSUBSCRIBED = """\
pods = 4
edges = 2
hosts = 4
aggregations = 2
cores = 6
"""


def scenario_of(folder: Path, text: str) -> Scenario:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return Scenario(**chosen(str(file)))


def test_chosen__fat_tree_of_any_size(tmp_path: Path) -> None:
    shape = scenario_of(tmp_path, OVERSUBSCRIBED).shape
    assert (shape.pods, shape.edges, shape.hosts, shape.aggregations, shape.cores) == (
        4, 8, 32, 8, 6,
    )  # fmt: skip
    assert shape.aggregation_uplinks == 3
    topology = build(shape)
    assert len(topology.nodes) == 32 + shape.switches
    assert [node.ports for node in topology.nodes[32:]] == [6] * 8 + [5] * 8 + [4] * 6
    assert sum(node.ports for node in topology.nodes[32:]) == shape.switch_ports
    assert stages(topology)[1] == "E-A"


def test_chosen__leaf_spine_of_any_size(tmp_path: Path) -> None:
    shape = scenario_of(tmp_path, "edges = 3\nhosts = 5\nspines = 2\n").shape
    assert (shape.levels, shape.pods, shape.edges, shape.hosts, shape.cores) == (2, 1, 3, 15, 2)
    assert len(build(shape).links) == 15 + 3 * 2


def test_chosen__rates_and_delays_of_tiers_and_links(tmp_path: Path) -> None:
    scenario = scenario_of(
        tmp_path,
        OVERSUBSCRIBED
        + "[rate_gbps]\nhost = 400\ncore = 200\nc1-a0_1 = 50\n[delay_ns]\nedge = 9\n",
    )
    assert (scenario.rate_gbps, scenario.delay_ns) == (400, 500)
    speeds = scenario.speeds
    assert speeds.between("h0", "e0_0").rate_gbps == 400
    assert speeds.between("a0_1", "e0_0").delay_ns == 9
    assert speeds.between("a0_1", "c1").rate_gbps == 50
    assert speeds.between("a0_0", "c0").rate_gbps == 200
    assert not speeds.uniform


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[rate_gbps]\ncore = 0", ":7: core = 0: rate_gbps must be at least 0.0001"),
        ("[rate_gbps]\nhost = 0", ":7: host"),
        ("[rate_gbps]\nedge = 1e6", ":7: edge = 1e+06: rate_gbps must be at least 0.0001 and at"),
        ("[delay_ns]\nhost = 1e12", ":7: host = 1e+12: delay_ns must be at least 0 and at most"),
        ("[delay_ns]\nedge = nan", ":7: edge is nan; it must be a number below 1e+15"),
        ("planes = inf", ":6: planes is inf; it must be a number below 1e+15"),
        ("planes = " + "9" * 400, ":6: planes is 99"),
        ("planes = " + "9" * 5000, ": Exceeds the limit (4300 digits)"),
        ("[delay_ns]\nedge = -1", ":7: edge = -1: delay_ns must be at least 0"),
        ("[rate_gbps]\na0_0-c1 = 4", ":7: a0_0-c1: there is no such link"),
        ("[rate_gbps]\nh0-e0_0 = '4'", ":7: h0-e0_0 = '4': it must be a number"),
        ("[rate_gbps]\na0_0-c0 = 4\nc0-a0_0 = 5", ":8: c0-a0_0: this link is named twice"),
        ("rate_gbps = 400", ":6: rate_gbps = 400: it must be a section"),
    ],
)
def test_chosen__wrong_rates_and_delays(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        scenario_of(tmp_path, OVERSUBSCRIBED + text + "\n")
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}{fault}")


def test_chosen__planes_beside_each_other(tmp_path: Path) -> None:
    scenario = scenario_of(
        tmp_path, "planes = 3\n" + OVERSUBSCRIBED + "[rate_gbps]\na9_1-c13 = 50\n"
    )
    shape = scenario.shape
    assert (shape.planes, shape.pods, shape.hosts, shape.cores) == (3, 12, 96, 18)
    assert (shape.hosts_per_plane, shape.edges_per_plane, shape.core_ports) == (32, 8, 4)
    assert shape.text == "3 planes of 4 pods x 2 edges x 4 hosts, 2 aggregations, 6 cores"
    assert shape.hosts_text == "32 hosts with 3 NICs each"
    topology = build(shape)
    names = [node.name for node in topology.nodes]
    assert names[32:34] == ["h32", "h33"]
    assert {"e4_0", "e11_1", "a8_0", "c6", "c17"} < set(names)
    assert topology.plane(topology.nodes[names.index("c13")]) == 2
    assert scenario.speeds.between("c13", "a9_1").rate_gbps == 50


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("planes = 0\n" + OVERSUBSCRIBED, ":1: planes = 0: it must be a whole number"),
        ("planes = 65\n" + OVERSUBSCRIBED, ":1: planes = 65: it must be"),
        ("planes = 64\npods = 5\n" + OVERSUBSCRIBED[9:], ":2: pods = 5: 64 planes of so many"),
        ("planes = 2\nedges = 300\nhosts = 1\nspines = 1\n", ":2: edges = 300: a plane of"),
        (OVERSUBSCRIBED + "[rate_gbps]\na0_1-c7 = 5\n", ":7: a0_1-c7: there is no such link"),
    ],
)
def test_chosen__wrong_planes(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        scenario_of(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}{fault}")


def test_chosen__names_have_no_network_of_their_own() -> None:
    assert chosen("leaf-spine") == {"topology": "leaf-spine", "network": {}}
    assert not is_file("fat-tree")


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        (OVERSUBSCRIBED.replace("cores = 6", "cores = 5"), ":5", "multiple of aggregations (2)"),
        (OVERSUBSCRIBED.replace("pods = 4", "pods = 1"), ":1", "pods = 1: it must be a whole"),
        (OVERSUBSCRIBED.replace("hosts = 4", "hosts = 2.5"), ":3", "hosts = 2.5"),
        (OVERSUBSCRIBED.replace("hosts = 4", "hosts = '4'"), ":3", "must be a number"),
        (OVERSUBSCRIBED + "host = 4\n", ":6", "did you mean hosts"),
        (OVERSUBSCRIBED.replace("edges = 2\n", ""), "", "edges is missing"),
        ("edges = 3\nhosts = 4\nspines = 300\n", ":3", "at most 255"),
        ("edges = \n", ":1", "not TOML"),
    ],
)
def test_chosen__says_file_line_key_value_and_what_was_wanted(
    text: str, line: str, fault: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as caught:
        scenario_of(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}{line}: ")
    assert fault in str(caught.value)


def test_chosen__file_that_is_not_there() -> None:
    assert is_file("nowhere.toml")
    with pytest.raises(UserError, match=r"nowhere\.toml: No such file"):
        chosen("nowhere.toml")


def test_scenario__a_network_of_ones_own_has_no_k(tmp_path: Path) -> None:
    network = scenario_of(tmp_path, OVERSUBSCRIBED).network
    with pytest.raises(UserError, match="k is 8; a network of your own has no k"):
        Scenario(network=network, k=8)
