"""A training step against schedules worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from analysis.critical_path import Graph, Lasting, ready_times
from errors import UserError
from traffic.collectives.models import EXPERT_MODELS, MODELS
from traffic.request import Request
from traffic.workloads import make, volume

if TYPE_CHECKING:
    from traffic.flows import Flows

LAYER_PS = 1_000_000  # of forward computation


def request(hosts: int = 16, **options: Any) -> Request:
    rng = np.random.default_rng(1)
    return Request(hosts, 2, 4, 1 << 20, rng, {"server": 2, **options})


def timed(**options: Any) -> dict[str, Any]:
    """Return options whose layers of 1,000 parameters compute for LAYER_PS."""
    flops = 2 * 10 * 1000 + 2 * 10 * 10 * MODELS["8b"].attention
    return {
        "parameters": 1000,
        "tokens": 10,
        "tflops": flops / LAYER_PS,
        "efficiency": 1,
        **options,
    }


def names(flows: Flows) -> list[str]:
    return [flows.phases[phase] for phase in flows.phase]


def step_ns(flows: Flows, message_ns: float) -> float:
    """Return how long a step lasts where each message takes the same and never meets another."""
    computes = flows.computes
    graph = Graph(
        flows.source,
        flows.destination,
        int(max(flows.source.max(), flows.destination.max())) + 1,
        flows.after.first,
        flows.after.flow,
        flows.delay_ps / 1000,
        np.zeros(len(flows)),
    )
    takes = np.where(computes, 0.0, message_ns)
    nothing = np.zeros(len(flows))
    ready = ready_times(graph, Lasting(takes, *[nothing] * 5))
    return float((ready + takes).max())


@pytest.mark.parametrize(
    ("message_ns", "expected"),
    [
        # 8 servers: 7 steps a ring. Computation 3 x (1 + 2) us; AG 0 before it, RS 0 after it.
        (0, 9_000),
        (100, 700 + 9_000 + 700),
        # Forward: each layer waits for its weights, 7 us after the last: 7 + 7 + 7, then 1 of
        # computation. Backward 2 of layer 2 at 22 to 24, its RS until 31. AG 1 of the backward
        # pass is issued when layer 2 begins, at 22: there at 29, layer 1 until 31, and AG 0 from 29
        # (issued at 29) until 36, layer 0 until 38. RS 1 from 31 to 38, RS 0 from 38 to 45.
        (1_000, 45_000),
    ],
)
def test_step__lasts_as_worked_out_by_hand(message_ns: float, expected: float) -> None:
    flows = make("training-step", request(**timed(layers=3)))
    assert step_ns(flows, message_ns) == pytest.approx(expected)


def test_step__replicas__sum_gradients_between_them_after_each() -> None:
    flows = make("training-step", request(**timed(layers=1, replicas=2)))
    # AG of 3 steps, computation of 3 us, RS of 3 steps, a ring of 2 replicas: 2 steps.
    assert step_ns(flows, 1_000) == pytest.approx(3_000 + 3_000 + 3_000 + 2_000)
    sums = [row for row, name in enumerate(names(flows)) if name == "AllReduce 0"]
    assert len(sums) == 2 * 16
    for row in sums:
        assert abs(int(flows.source[row]) - int(flows.destination[row])) == 8  # the other replica
    total = flows.size_bytes[sums].sum() / 16
    assert total == pytest.approx(1000 * 4 / 8, rel=0.01)  # the shard: half twice


def test_step__bytes_are_those_of_the_model() -> None:
    flows = make("training-step", request(hosts=32, server=4, model="70b", layers=2))
    by_name: dict[str, int] = {}
    for name, size in zip(names(flows), flows.size_bytes.tolist(), strict=True):
        by_name[name] = by_name.get(name, 0) + size
    layer = MODELS["70b"].layer
    for name, width in (("forward AllGather 1", 2), ("ReduceScatter 0", 4)):
        # Each GPU passes 7 of 8 servers' shards on; NVLink does the rest.
        assert by_name[name] == pytest.approx(7 * layer * width, rel=1e-6)
    assert "backward AllGather 1" not in by_name  # the last layer's weights stay
    assert "backward AllGather 0" in by_name


def test_step__experts__go_there_and_back_in_both_directions() -> None:
    model = EXPERT_MODELS["235b-a22b"]
    flows = make("training-step", request(model="235b-a22b", layers=1, tokens=4))
    found = names(flows)
    phases = [
        "forward AllGather 0", "forward 0", "forward 0 dispatch", "forward 0 experts",
        "forward 0 combine", "forward 0 combined", "backward 0 dispatch", "backward 0 experts",
        "backward 0 combine", "backward 0 combined", "backward 0", "ReduceScatter 0",
    ]  # fmt: skip
    assert list(dict.fromkeys(found)) == phases
    dispatched = flows.size_bytes[[name == "forward 0 dispatch" for name in found]].sum()
    assert dispatched == pytest.approx(16 * 4 * 8 * 2 * model.hidden * 7 / 8, rel=0.1)
    for name in ("forward 0", "backward 0"):
        there, back = (
            {
                (int(flows.source[row]), int(flows.destination[row]))
                for row, each in enumerate(found)
                if each == f"{name} {kind}"
            }
            for kind in ("dispatch", "combine")
        )
        assert there == {(destination, source) for source, destination in back}
    for row in (row for row, name in enumerate(found) if name == "forward 0 experts"):
        waited = flows.after.of(row)
        arriving = [each for each in waited if flows.destination[each] == flows.source[row]]
        sent_here = [
            each
            for each, name in enumerate(found)
            if name == "forward 0 dispatch" and flows.destination[each] == flows.source[row]
        ]
        assert set(sent_here) <= set(arriving)


@pytest.mark.parametrize(
    ("placement", "servers"),
    [("packed", [0, 1, 2, 3]), ("round-robin", [0, 2, 4, 6])],
)
def test_step__jobs__have_servers_of_their_own(placement: str, servers: list[int]) -> None:
    flows = make("training-step", request(jobs=2, layers=1, placement=placement))
    found = np.array([name.startswith("job 0: ") for name in names(flows)])
    first = set((flows.source[found] // 2).tolist())
    assert first == set(servers)
    assert not first & set((flows.source[~found] // 2).tolist())
    assert not first & set((flows.destination[~found] // 2).tolist())
    for row in np.flatnonzero(found):
        assert found[flows.after.of(int(row))].all()


def test_step__random_placement__is_drawn_from_the_seed() -> None:
    one, same = (make("training-step", request(jobs=2, placement="random")) for _ in range(2))
    assert np.array_equal(one.source, same.source)


@pytest.mark.parametrize(
    "options",
    [
        {"layers": 3},
        {"layers": 2, "replicas": 4},
        {"jobs": 2, "replicas": 2},
        {"model": "235b-a22b", "jobs": 2, "tokens": 64},
        {"layers": 1, "server": 8},
    ],
)
def test_volume__is_known_before(options: dict[str, Any]) -> None:
    given = request(**options)
    expected, flows = volume("training-step", given), make("training-step", given)
    assert expected is not None
    assert len(flows) == pytest.approx(expected.messages, rel=0.02)
    assert flows.size_bytes.sum() == pytest.approx(expected.total_bytes, rel=0.1)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"jobs": 3}, "do not make 3 jobs"),
        ({"replicas": 3}, "option replicas is 3"),
        ({"tflops": 0}, "must be above 0"),
        ({"parameters": 0}, "option parameters is 0"),
        ({"model": "9b"}, "option model is '9b'"),
        ({"model": "235b-a22b", "jobs": 8}, "two or more servers"),
        ({"layers": "some"}, "option layers is 'some'"),
    ],
)
def test_step__bad_options__are_refused_by_name(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        make("training-step", request(**options))
