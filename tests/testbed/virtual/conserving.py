"""Random scenarios of all that hosts and ports can do, and what every run of them must keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from testbed import hosts, schemes
from testbed.dataplane import Dataplane, Ended, settings_of
from testbed.linkage import Linkage
from testbed.messages import port_counts
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.topology import fat_tree
from testbed.virtual import build

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from testbed.plan import Plan

FRAME = 4158
DEADLINE_PS = 10**12  # a second of paper time
BUDGET_MS = 60_000  # nothing here takes a hundredth of it
LINKS = [
    f"{topology.nodes[link.lower].name}-{topology.nodes[link.upper].name}"
    for topology in (fat_tree(4),)
    for link in topology.links
    if link.lower >= topology.hosts
]


def drawn(choose: Callable[[Sequence[Any]], Any], number: Callable[[int, int], int]) -> Scenario:
    """Draw a scenario; `choose` takes one of a list, `number` one of a range with its ends."""
    recovery = choose(hosts.RECOVERIES)
    workload = choose(["permutation", "incast", "all-to-all"])
    events = [
        f"{number(0, 60)}:{link}:{how}"
        for link in (choose(LINKS) for _ in range(choose([0, 0, 1, 3])))
        for how in (["down"] if choose([True, False]) else ["down", "up"])
    ]
    packets = choose([None, number(1, 10), number(1, 200)])
    return Scenario(
        scheme=choose(schemes.names()),
        seed=number(1, 10**6),
        k=4,
        workload=workload,
        workload_options={"senders": number(1, 15)} if workload == "incast" else {},
        message_bytes=number(1, 20_000 if workload == "all-to-all" else 150_000),
        payload_bytes=choose([512, 4096, 4096]),
        cca=choose([cca.name for cca in hosts.CONGESTIONS]),
        recovery=recovery.name,
        recovery_parameters={} if recovery.name == "none" else {"retries": choose([3, 20])},
        buffer_bytes=packets and packets * FRAME,
        shared_bytes=choose([None, None, number(8, 400) * FRAME]),
        ecn_bytes=choose([10_000, 80_000]),
        trim=recovery.trims and choose([True, False]),
        ack_priority=choose([True, False]),
        loss=choose([0.0, 0.0, 0.01, 0.2]),
        link_events=tuple(events),
        reaction_us=choose([0.0, 5.0, 50.0]),
    )


def run_and_check(scenario: Scenario, threads: int = 1) -> Ended:
    """Run a scenario and return how it ended; AssertionError where it breaks what holds for all."""
    plan = plan_for(scenario)
    counts = port_counts(plan.topology)
    with Dataplane(settings_of(plan), counts, plan.topology.hosts) as dataplane:
        ended = _run(plan, dataplane, threads)
        flows, ports, totals = dataplane.flows(), dataplane.ports(), dataplane.totals()
        message = dataplane.message
    _check_frames(plan, flows, ports, totals)
    assert ended is not Ended.BUDGET, "it hangs"
    if ended is Ended.DONE:
        assert (flows["received"] == flows["packets"]).all()
        assert (flows["acknowledged"] == flows["packets"]).all()
    elif ended is Ended.STUCK:
        gone = sum(totals[f"dropped_{place}"] for place in ("queue", "loss", "down", "program"))
        assert gone + totals["trimmed"] > 0
        assert "flow" in message
        assert scenario.recovers == "none" or "gave up" in message
    return ended


def _run(plan: Plan, dataplane: Dataplane, threads: int) -> Ended:
    linkage = Linkage(plan, dataplane, build(dataplane, plan), range(len(plan.topology.nodes)))
    while True:
        until = min(DEADLINE_PS, linkage.next_ps)
        ended = dataplane.run_virtual(deadline_ps=until, threads=threads, budget_ms=BUDGET_MS)
        if ended is not Ended.DEADLINE or until == DEADLINE_PS:
            return ended
        linkage.step()


def _check_frames(
    plan: Plan, flows: NDArray[np.void], ports: NDArray[np.void], totals: dict[str, int]
) -> None:
    lost = sum(number for name, number in totals.items() if name.startswith("dropped_"))
    assert totals["sent"] + totals["copied"] == totals["delivered"] + lost + totals["left"]
    assert totals["trimmed"] == ports["trims"].sum()
    assert ports["drops"].sum() == totals["dropped_queue"] + totals["dropped_down"]
    assert (flows["acknowledged"] <= flows["received"]).all()
    assert (flows["received"] <= flows["packets"]).all()
    assert (flows["retransmitted"] <= flows["lost"]).all()
    if totals["left"]:
        return
    assert (ports["queue_bytes"] == 0).all()
    assert (ports["queue_packets"] == 0).all()
    if plan.scenario.loss == 0 and plan.hosts.recovery.name != "go-back-n":
        last = ports[(ports["node"] >= plan.topology.hosts) & (ports["peer"] < plan.topology.hosts)]
        came = flows["received"].sum() + flows["duplicates"].sum()
        assert last["data_packets"].sum() == came
