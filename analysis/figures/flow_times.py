"""Flow completion times as cumulative distributions, one line a scheme over all its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.figures.style import Look, legend_above, look_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray


def flow_completion(
    axes: Axes,
    times_us: Mapping[str, NDArray[np.float64]],
    looks: Mapping[str, Look],
    bound_us: float | None = None,
) -> None:
    """Draw the share of flows done by a time; `bound_us` is drawn as a line to compare with.

    Flows that never finished keep a line below 1.
    """
    for number, (name, times) in enumerate(times_us.items()):
        look = look_of(name, looks, number)
        done = np.sort(times[np.isfinite(times)])
        share = np.arange(1, len(done) + 1) / max(1, len(times))
        axes.step(done, share, where="post", **look.line())
        if len(done):
            axes.plot(done[-1], share[-1], color=look.color, clip_on=False, **look.marks())
    if bound_us is not None:
        axes.axvline(bound_us, color="black", lw=0.8, ls=":", label="bound")
    axes.set_xlabel("flow completion time (µs)")
    axes.set_ylabel("share of flows")
    axes.set_ylim(0, 1.03)
    legend_above(axes)
