from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from errors import UserError
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.virtual.memory import (
    check_expected_memory,
    memory_expected,
    memory_needed,
)

if TYPE_CHECKING:
    from testbed.scenario import TopologyName


@pytest.mark.parametrize("topology", ["fat-tree", "leaf-spine"])
@pytest.mark.parametrize("workload", ["permutation", "all-to-all", "ring", "double-tree"])
@pytest.mark.parametrize("k", [4, 8])
def test_memory_expected__is_near_what_the_plan_says(
    topology: TopologyName, workload: str, k: int
) -> None:
    scenario = Scenario(topology=topology, workload=workload, k=k, message_bytes=100_000)
    assert memory_expected(scenario) == pytest.approx(memory_needed(plan_for(scenario)), rel=0.01)


def test_check_expected_memory__too_little__says_how_much_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("testbed.virtual.memory.available", lambda: 2 * 10**9)
    check_expected_memory(Scenario(k=16))
    with pytest.raises(UserError, match=r"k = 64 with 65,536 hosts needs about .* GB"):
        check_expected_memory(Scenario(k=64), plans=18)
    with pytest.raises(UserError, match="k = 24"):
        check_expected_memory(Scenario(k=24, workload="all-to-all"))
    with pytest.raises(UserError, match="workload ring of 65536 hosts has 8,589,803,520 mess"):
        check_expected_memory(Scenario(k=64, workload="ring"))
