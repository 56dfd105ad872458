"""How all figures look: the sizes of a two-column paper, fonts that print, and schemes' looks.

What schemes are called and how they are drawn comes from outside: from the registry by way of a
mapping, or from the manifests of runs. A scheme that neither knows gets a colour of its own.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from testbed.scenario import variant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from analysis.results import Run

COLUMN, PAGE = 3.33, 7.0  # inches
HEIGHT = 2.1
DOTS_PER_INCH = 300
CHARACTER_WIDTH, HANDLE_WIDTH = 0.06, 0.42  # inches at 7 pt
REMARK_WIDTH = 0.05  # inches, of a character of a remark
AXIS_WIDTH = 0.5  # inches that the vertical axis takes with its numbers and label
FALLBACK_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
FALLBACK_MARKERS = "osD^v<>PX"
HOLLOW_LINE, HOLLOW_MARKER = 2.0, 5.0  # points
DASHES = (0, (2.5, 1.5))
STAGE_COLORS = {
    "E-A": "#fde725",
    "E-C": "#fde725",
    "A-C": "#5ec962",
    "C-A": "#21918c",
    "C-E": "#21918c",
    "A-E": "#3b528b",
    "E-H": "#440154",
}
RC: dict[Any, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.0,
    "legend.handletextpad": 0.5,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.linewidth": 0.4,
    "grid.color": "#dddddd",
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.5,
}


@dataclass(frozen=True, slots=True)
class Look:
    """How a scheme is shown: its name in legends, its colour, and its marker.

    Of two schemes whose lines often coincide, the earlier is `hollow`, with a broad line and large
    empty markers, and the later is `dashed` over it, so that both are seen.
    """

    label: str
    color: str
    marker: str
    hollow: bool = False
    dashed: bool = False

    def line(self) -> dict[str, Any]:
        """Return the properties of the scheme's lines, as Matplotlib's plots take them."""
        style: dict[str, Any] = {"color": self.color, "label": self.label}
        if self.hollow:
            style["linewidth"] = HOLLOW_LINE
        if self.dashed:
            style["linestyle"] = DASHES
        return style

    def marks(self) -> dict[str, Any]:
        """Return the properties of the markers on the scheme's lines."""
        style: dict[str, Any] = {"marker": self.marker, "markeredgewidth": 0.6}
        if self.hollow:
            style |= {"markersize": HOLLOW_MARKER, "markerfacecolor": "white"}
            style["markeredgewidth"] = 1.0
        return style


def looks_of(runs: Sequence[Run], given: Mapping[str, Look] | None = None) -> dict[str, Look]:
    """Return the looks of all schemes in `runs`, in their order of appearance.

    `given` comes first, by scheme with parameters (`pofan(pipe_ports=1)`) or without. Next is the
    manifest's `look` (label, color, marker) if the world wrote one.
    """
    looks: dict[str, Look] = {}
    for run in runs:
        name = variant(run.scenario)
        if name not in looks:
            looks[name] = _look(name, given or {}, run.manifest.get("look"), len(looks))
    return _ordered(looks, given or {})


def look_of(name: str, looks: Mapping[str, Look], number: int = 0) -> Look:
    """Return a scheme's look, or one made up from its `number` in the figure."""
    return _look(name, looks, None, number)


def draw(
    stem: Path,
    plot: Callable[[Figure], None],
    *,
    width: float = COLUMN,
    height: float = HEIGHT,
) -> Path:
    """Draw a figure with `plot` and write it as `stem`.png and `stem`.pdf; return the PNG.

    Sizes are inches. The files do not depend on the time of writing.
    """
    with mpl.rc_context(RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        plot(figure)
        stem.parent.mkdir(parents=True, exist_ok=True)
        png, pdf = stem.parent / f"{stem.name}.png", stem.parent / f"{stem.name}.pdf"
        figure.savefig(png, dpi=DOTS_PER_INCH, metadata={"Software": None})
        figure.set_layout_engine("none")  # it is laid out by now, and that takes longest
        figure.savefig(pdf, metadata={"CreationDate": None, "Producer": None})
    return png


def one_axes(plot: Callable[[Axes], None]) -> Callable[[Figure], None]:
    """Make a plot on one pair of axes into a plot on a figure."""

    def on_figure(figure: Figure) -> None:
        plot(figure.add_subplot())

    return on_figure


def legend_above(axes: Axes) -> None:
    """Put the legend above all axes of the figure in as few rows as fit."""
    handles, labels = axes.get_legend_handles_labels()
    figure = axes.get_figure(root=True)
    if handles and figure is not None:
        rows = legend_rows(labels, figure.get_figwidth())
        figure.legend(handles, labels, loc="outside upper center", ncols=-(-len(labels) // rows))


def legend_rows(labels: Sequence[str], width: float) -> int:
    """Return in how many rows labels fit into a width in inches."""
    entry = HANDLE_WIDTH + CHARACTER_WIDTH * max(map(len, labels), default=0)
    return max(1, -(-len(labels) // max(1, int(width / entry))))


def name_ticks(axes: Axes, names: Sequence[str]) -> None:
    """Name the places 0, 1, … of the horizontal axis, aslant if the names are too long.

    What follows a colon gets a line of its own.
    """
    names = [name.replace(": ", ":\n") for name in names]
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0)
    figure = axes.get_figure(root=True)
    place = axes.get_subplotspec()
    panels = place.get_gridspec().ncols if place is not None else 1
    width = (figure.get_figwidth() if figure is not None else COLUMN) / panels - AXIS_WIDTH
    room = width / max(1, len(names))
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    if CHARACTER_WIDTH * longest > 0.95 * room:
        axes.tick_params(axis="x", labelrotation=40, pad=1)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")


def remark(figure: Figure, text: str) -> None:
    """Write a remark under a figure, such as which runs it leaves out."""
    if text:
        lines = textwrap.fill(text, int(figure.get_figwidth() / REMARK_WIDTH))
        figure.supxlabel(lines, fontsize=6, color="#b00000")


def percent_axis(axes: Axes, which: str = "y") -> None:
    """Write an axis whose values are shares as percentages.

    Between the decades of a logarithmic one, 2 and 5 are written. Its scale has to be set before.
    """
    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_formatter(lambda value, _: f"{100 * value:.6g}")
    if axis.get_scale() != "linear":
        axis.set_minor_formatter(lambda value, _: _between_decades(100 * value))


def _between_decades(value: float) -> str:
    if f"{abs(value):e}"[0] not in "25":
        return ""
    return f"{value:.6g}"


def _look(name: str, given: Mapping[str, Look], own: object, number: int) -> Look:
    bare = name.split("(", maxsplit=1)[0]
    if name in given:
        return given[name]
    if bare in given and "+" not in name:
        known = given[bare]
        return known if bare == name else replace(known, label=name)
    if isinstance(own, dict) and {"label", "color", "marker"} <= own.keys():
        return Look(str(own["label"]), str(own["color"]), str(own["marker"]))
    return Look(
        name,
        FALLBACK_COLORS[number % len(FALLBACK_COLORS)],
        FALLBACK_MARKERS[number % len(FALLBACK_MARKERS)],
    )


def _ordered(looks: dict[str, Look], given: Mapping[str, Look]) -> dict[str, Look]:
    """Order looks as `given` lists them; those it does not know come last."""
    order = list(given)

    def place(name: str) -> int:
        bare = name.split("(", maxsplit=1)[0]
        known = [candidate for candidate in (name, bare) if candidate in given]
        return order.index(known[0]) if known else len(order)

    return dict(sorted(looks.items(), key=lambda item: place(item[0])))
