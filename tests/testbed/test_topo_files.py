"""Files of htsim's networks."""

from pathlib import Path

import pytest

from errors import UserError
from testbed.networks import chosen
from testbed.scenario import Scenario

THREE_TIERS = """\
# 4:1 above the edges
Nodes 16
Tiers 3
Podsize 8

Tier 0
Downlink_speed_Gbps 400
Radix_Down 4
Radix_Up 2
Downlink_Latency_ns 250
Oversubscribed 2

Tier 1
downlink_speed_gbps 400
radix_down 2
radix_up 1
downlink_latency_ns 250
switch_latency_ns 0
Bundle 1

Tier 2
Downlink_speed_Gbps 400
Radix_Down 2
Downlink_Latency_ns 250
"""
TWO_TIERS = """\
Nodes 12
Tiers 2
Podsize 12
Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 100
Radix_Down 3
Downlink_Latency_ns 1000
"""


def scenario_of(folder: Path, text: str) -> Scenario:
    file = folder / "mine.topo"
    file.write_text(text, encoding="utf-8")
    return Scenario(**chosen(str(file)))


def test_read__three_tiers(tmp_path: Path) -> None:
    scenario = scenario_of(tmp_path, THREE_TIERS)
    shape = scenario.shape
    assert (shape.pods, shape.edges_per_pod, shape.hosts_per_edge) == (2, 2, 4)
    assert (shape.edge_uplinks, shape.aggregation_uplinks, shape.cores) == (2, 1, 2)
    assert (scenario.rate_gbps, scenario.delay_ns) == (400, 250)


def test_read__tiers_of_different_speed(tmp_path: Path) -> None:
    text = THREE_TIERS.replace("downlink_speed_gbps 400", "downlink_speed_gbps 800")
    text = text.removesuffix("250\n") + "900\n"
    scenario = scenario_of(tmp_path, text)
    assert (scenario.rate_gbps, scenario.delay_ns) == (400, 250)
    tiers = scenario.speeds.tiers
    assert [tiers[tier].rate_gbps for tier in ("host", "edge", "core")] == [400, 800, 400]
    assert [tiers[tier].delay_ns for tier in ("host", "edge", "core")] == [250, 250, 900]


def test_read__two_tiers(tmp_path: Path) -> None:
    scenario = scenario_of(tmp_path, TWO_TIERS)
    assert (scenario.topology, scenario.hosts, scenario.shape.cores) == ("leaf-spine", 12, 2)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("Nodes 16", "Nodes 15", ":2: nodes is 15; it must be a multiple of 8"),
        ("Tiers 3", "Tiers 4", ":3: tiers is 4; it must be 2 or 3"),
        ("Tiers 3", "Tiers 2", ": it describes 3 tiers of 2"),
        ("Tier 1", "Tier 2", ":13: Tier 2: wanted Tier 1 here"),
        (
            "radix_down 2",
            "radix_down 3",
            ":15: radix_down is 3; it must be 2: a port for each edge",
        ),
        ("downlink_speed_gbps 400", "downlink_speed_gbps 0", ":14: downlink_speed_gbps is 0"),
        ("Bundle 1", "Bundle 2", ":19: bundle is 2; it must be 1"),
        ("switch_latency_ns 0", "switch_latency_ns 9", ":18: switch_latency_ns is 9"),
        ("switch_latency_ns 0", "queue_up 9", ":18: queue_up is not read of tier 1: queues"),
        ("Podsize 8", "Podsiz 8", "did you mean podsize"),
        ("Radix_Up 2\n", "", ": radix_up is missing in what it says of tier 0"),
        ("Radix_Up 2", "Radix_Up many", ":9: 'Radix_Up many': write a key and a whole number"),
        ("Radix_Up 2", "Radix_Up " + "2" * 5000, ":9: Radix_Up: numbers have 15 digits at most"),
        (
            "downlink_speed_gbps 400",
            "downlink_speed_gbps 400000",
            ":14: downlink_speed_gbps is 400000; it must be at most 100,000",
        ),
        ("Radix_Up 2", "Radix_Up 0", ":9: radix_up is 0; it must be above 0"),
    ],
)
def test_read__says_file_line_key_value_and_what_was_wanted(
    old: str, new: str, fault: str, tmp_path: Path
) -> None:
    assert old in THREE_TIERS
    with pytest.raises(UserError) as caught:
        scenario_of(tmp_path, THREE_TIERS.replace(old, new, 1))
    assert str(caught.value).startswith(str(tmp_path / "mine.topo"))
    assert fault in str(caught.value)


def test_read__file_that_is_not_there() -> None:
    with pytest.raises(UserError, match=r"nowhere\.topo: No such file"):
        chosen("nowhere.topo")
