"""Frames that come faster than the core can take them."""

from typing import Any

import pytest

from tests.apart import run_apart
from tests.testbed.dataplane.flooded import CUT, FEW, FIRST, FLOOD, FLOODED, LARGE

SLOTS = 1024  # as in real_build.c


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run_apart("tests.testbed.dataplane.flooded", str(tmp_path_factory.mktemp("flooded")))


@pytest.mark.root
def test_flood__is_lost_where_it_enters_and_counted_there(outcome: dict[str, Any]) -> None:
    """No frame that was let in is lost on its way, though all leave through one link at once."""
    lost = FLOOD - SLOTS
    assert outcome["overruns"] == {f"{FIRST}-{port}": lost for port in FLOODED}
    assert outcome["socket_drops"] == lost * len(FLOODED)


@pytest.mark.root
def test_other_ports__lose_nothing_small_or_large(outcome: dict[str, Any]) -> None:
    assert outcome["sent"] == SLOTS * len(FLOODED) + FEW + LARGE


@pytest.mark.root
def test_frames_that_the_kernel_refuses__are_drops_of_their_port_alone(
    outcome: dict[str, Any],
) -> None:
    """They are sent together with frames for another port, none of which is lost."""
    assert outcome["drops"] == {f"{FIRST}-{CUT}": FEW}
