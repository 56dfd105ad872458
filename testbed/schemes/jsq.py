"""JSQ: the uplink with least to send."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.parameters import Parameter
from testbed.schemes import measuring
from testbed.schemes.scheme import Scheme
from testbed.schemes.site import BALANCE, Defaults, State

if TYPE_CHECKING:
    from testbed.schemes.site import Site

WHOLE_FRAMES = Parameter(
    "whole_frames", 1, "1: queues in data frames, begun ones whole; 0: in time", 0, 1, whole=True
)


def queue_lengths(site: Site) -> State:
    """Give backlogs and a tick's part of a data frame, in which they are counted."""
    scenario = site.scenario
    slot = (scenario.data_frame_bytes + scenario.gap_bytes) * site.picoseconds_per_byte
    slot_ticks = max(round(slot / site.tick_ps), 1)
    share = -(-(1 << 40) // slot_ticks) if site.parameters["whole_frames"] else 0
    frame: Defaults = {f"{BALANCE}.frame": (f"{BALANCE}.know_frame", (share,))}
    return State({**measuring.clock(site, BALANCE), **frame})


SCHEME = Scheme(
    name="jsq",
    program="jsq",
    label="JSQ",
    color="#e377c2",
    marker="^",
    reference="§3.1",
    setup=queue_lengths,
    own=(WHOLE_FRAMES,),
)
