"""Result folders as written, apart from the worlds that write them."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from testbed.dataplane import NEVER
from testbed.dataplane.records import dtype_of
from testbed.planning import plan_for
from testbed.results import (
    Records,
    ResultFolder,
    conservation,
    first_packet_ps,
    last_packet_ps,
    port_names,
)
from testbed.scenario import Scenario
from testbed.topology import fat_tree, stages

TOTALS = dict.fromkeys(dtype_of("dp_totals").names or (), 0)


def records(flows: int, ports: int) -> Records:
    made = np.zeros(flows, dtype=dtype_of("dp_flow_record"))
    made["packets"] = 256
    made["start_ps"] = 5_000 + 1_500 * np.arange(flows)
    made["delivered_ps"] = made["finish_ps"] = 100_000
    made["finish_ps"][-1] = NEVER
    arrived = np.zeros(2, dtype=dtype_of("dp_arrivals"))
    arrived["data_bytes"] = 7
    return Records(made, np.zeros(ports, dtype=dtype_of("dp_port_record")), TOTALS, arrived)


def test_folder__has_the_scenario_from_the_first_and_nothing_old(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("mine")
    ResultFolder(tmp_path, plan_for(Scenario(scheme="ofan")))
    assert {path.name for path in tmp_path.iterdir()} == {"scenario.toml", "notes.txt"}


def test_times__count_from_the_first_packet_and_are_empty_if_they_never_came(
    tmp_path: Path,
) -> None:
    plan = plan_for(Scenario(scheme="ofan"))
    folder = ResultFolder(tmp_path, plan)
    folder.finish(records(16, len(folder.ports.node)), {"world": "virtual", "ended": "stuck"})
    lines = (tmp_path / "flows.csv").read_text().splitlines()
    assert lines[1].split(",")[6:9] == ["0.000", "95.000", "95.000"]
    assert lines[2].split(",")[6] == "1.500"
    assert lines[-1].split(",")[7:9] == ["95.000", ""]


def test_links__are_all_cabled_ports_with_their_stages(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path, plan_for(Scenario(scheme="ofan")))
    folder.finish(records(16, len(folder.ports.node)), {"world": "virtual", "ended": "done"})
    rows = [line.split(",") for line in (tmp_path / "links.csv").read_text().splitlines()[1:]]
    assert len(rows) == 2 * 3 * 16
    assert rows[0][:4] == ["h0", "0", "e0_0", "H-E"]
    assert {row[3] for row in rows} == set(stages(fat_tree(4)))


def test_arrivals__have_a_row_a_microsecond_since_the_first_packet(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path, plan_for(Scenario(scheme="ofan")))
    folder.finish(records(16, len(folder.ports.node)), {"world": "virtual", "ended": "done"})
    lines = (tmp_path / "arrivals.csv").read_text().splitlines()
    assert lines == ["time_ns,data_bytes,ack_bytes", "-5.000,7,0", "995.000,7,0"]


def test_samples__are_appended_under_one_header(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path, plan_for(Scenario(scheme="ofan")))
    samples = np.zeros(1, dtype=dtype_of("dp_sample"))
    samples["time_ps"], samples["node"], samples["port"] = 7_000, 16, 3
    samples["queue_bytes"], samples["queue_packets"] = 4158, 1
    for _ in range(2):
        folder.add_samples(samples, first_ps=5_000)
    with gzip.open(tmp_path / "queues.csv.gz", "rt") as file:
        lines = file.read().splitlines()
    assert lines[0] == "time_ns,node,port,stage,queue_bytes,queue_packets"
    assert lines[1:] == ["2.000,e0_0,3,E-A,4158,1"] * 2


def test_conservation__names_all_places() -> None:
    counted = conservation({**TOTALS, "sent": 9, "delivered": 7, "dropped_queue": 2})
    assert counted["sent"] == 9
    assert counted["dropped"]["queue"] == 2
    assert set(counted["dropped"]) == {
        "program",
        "queue",
        "down",
        "loss",
        "host",
        "header",
        "socket",
    }


def test_first_and_last_packet__ignore_what_never_came() -> None:
    made = records(3, 0).flows
    assert first_packet_ps(made) == 5_000
    assert last_packet_ps(made) == 100_000
    assert first_packet_ps(made[:0]) == last_packet_ps(made[:0]) == 0


def test_manifest__has_the_common_keys(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path, plan_for(Scenario(scheme="ofan", seed=3)))
    folder.finish(records(16, len(folder.ports.node)), {"world": "virtual", "ended": "done"})
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert (manifest["scheme"], manifest["seed"], manifest["world"]) == ("ofan", 3, "virtual")
    assert {"versions", "commit", "machine", "conservation", "noise_packets"} <= set(manifest)


@pytest.mark.parametrize("k", [4, 6])
def test_port_names__follow_the_nodes(k: int) -> None:
    topology = fat_tree(k)
    names = port_names(topology)
    assert len(names.node) == sum(n.ports + (n.tier != "host") for n in topology.nodes)
    row = names.first[topology.hosts] + 1
    assert (names.node[row], names.port[row], names.peer[row]) == ("e0_0", 1, "h0")
    assert not names.cabled[names.first[topology.hosts]]
