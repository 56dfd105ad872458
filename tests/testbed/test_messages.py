"""Plans as the event core's hosts read them."""

import numpy as np

from testbed.messages import flow_rows, host_addresses, port_counts
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.topology import fat_tree


def test_port_counts__include_port_0_of_switches() -> None:
    topology = fat_tree(4)
    counts = port_counts(topology)
    assert counts[:16].tolist() == [1] * 16
    assert set(counts[16:].tolist()) == {5}


def test_addresses__are_those_of_the_hosts() -> None:
    addresses, macs = host_addresses(fat_tree(4))
    assert addresses[0] == 0x0A000001
    assert (macs == 0x0200_0000_0000 + addresses.astype(np.uint64)).all()
    assert len(set(addresses.tolist())) == 16


def test_phases__are_within_one_packet_time_and_differ_by_seed() -> None:
    plans = [plan_for(Scenario(scheme="ofan", seed=seed)) for seed in (1, 2)]
    phases = [flow_rows(plan)[0]["start_ps"] for plan in plans]
    for drawn in phases:
        assert (drawn < 41_780).all()
        assert len(set(drawn.tolist())) > 10
    assert (phases[0] != phases[1]).any()


def test_pairs__are_equal_for_the_same_two_hosts() -> None:
    plan = plan_for(Scenario(scheme="ofan", workload="all-to-all", message_bytes=4096))
    rows, *_ = flow_rows(plan)
    keys = rows["source"].astype(np.int64) * 16 + rows["destination"]
    assert len(set(rows["pair"].tolist())) == len(set(keys.tolist())) == 16 * 15


def test_paths__are_the_plans() -> None:
    plan = plan_for(Scenario(scheme="drb", k=6))
    rows, numbers, _ = flow_rows(plan)
    assert plan.paths is not None
    assert (rows["path_count"] == plan.paths.count).all()
    assert (rows["path_first"] + rows["path_count"] <= len(numbers)).all()
    assert (rows["subflows"] == 1).all()
