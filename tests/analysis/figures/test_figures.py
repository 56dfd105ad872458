"""What figures show, read from their artists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from analysis.figures.any_field import draw_fields
from analysis.figures.completion import cct_increase
from analysis.figures.flow_times import flow_completion
from analysis.figures.models import queue_models
from analysis.figures.queue_series import queue_series
from analysis.figures.stages import overload, queues_by_stage
from analysis.figures.style import (
    COLUMN,
    Look,
    draw,
    look_of,
    looks_of,
    name_ticks,
    one_axes,
    percent_axis,
    remark,
)
from analysis.figures.sweep import Axis, sweep
from analysis.figures.utilisation import utilisation
from analysis.figures.worlds import worlds
from analysis.results import read_run
from tests.analysis.synthetic import change_manifest, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

LOOKS = {"rsq": Look("RSQ", "#ff0000", "s"), "ofan": Look("Ofan", "#0000ff", "o")}


@pytest.fixture
def figure() -> Figure:
    made = Figure(figsize=(COLUMN, 2.0), layout="constrained")
    FigureCanvasAgg(made)
    return made


@pytest.fixture
def table() -> pd.DataFrame:
    rows = [
        {
            "variant": scheme,
            "seed": seed,
            "world": "virtual",
            "load": load,
            "cct_increase": increase * load * (1 + 0.1 * seed),
            "utilisation": load,
            "verdict": "VALID",
        }
        for scheme, increase in (("ofan", 0.02), ("rsq", 0.2))
        for load in (0.5, 1.0)
        for seed in (1, 2, 3)
    ]
    return pd.DataFrame(rows)


def heights(axes: Axes) -> list[float]:
    return [bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)]


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_cct_increase__bars_in_the_order_of_looks(figure: Figure, table: pd.DataFrame) -> None:
    at_one = table[table["load"] == 1.0]
    cct_increase(figure, at_one, LOOKS)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["RSQ", "Ofan"]
    assert heights(axes) == pytest.approx([0.24, 0.024])
    dots = [line for line in axes.lines if line.get_marker() == "."]
    assert [len(np.asarray(line.get_xdata())) for line in dots] == [3, 3]
    assert len(axes.containers) >= 2


def test_cct_increase__names_invalid_runs(figure: Figure, table: pd.DataFrame) -> None:
    table.loc[0, "verdict"] = "INVALID"
    table.loc[7, "verdict"] = "DEGRADED"
    cct_increase(figure, table, LOOKS)
    remark = figure.get_supxlabel()
    assert "INVALID runs left out: 1 of Ofan" in remark
    assert "DEGRADED runs shown: 1 of RSQ" in remark


def test_remark__of_any_length_stays_within_the_figure(figure: Figure) -> None:
    remark(figure, "DEGRADED runs shown: " + ", ".join(f"3 of Scheme{i}" for i in range(16)))
    figure.draw_without_rendering()
    (text,) = figure.texts
    box = text.get_window_extent()
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= figure.bbox.x1


def test_flow_completion__unfinished_flows_keep_it_below_one(figure: Figure) -> None:
    times = {"ofan": np.array([3.0, 1.0, 2.0]), "rsq": np.array([1.0, np.nan])}
    flow_completion(figure.add_subplot(), times, LOOKS, bound_us=0.9)
    lines = figure.axes[0].lines
    assert np.asarray(lines[0].get_xdata()).tolist() == [1.0, 2.0, 3.0]
    assert np.asarray(lines[2].get_ydata()).tolist() == [0.5]
    assert legend_of(figure) == ["Ofan", "RSQ", "bound"]


def test_queue_series__a_panel_a_stage(figure: Figure) -> None:
    series = pd.DataFrame(
        {
            "stage": ["E-A", "E-A", "A-E", "A-E"],
            "time_us": [0.0, 1.0] * 2,
            "max_queue_bytes": [1000, 2000, 3000, 9000],
            "mean_queue_bytes": [1.0] * 4,
        }
    )
    queue_series(figure, {"ofan": series}, LOOKS)
    assert [axes.get_title() for axes in figure.axes] == ["E→A", "A→E"]
    assert np.asarray(figure.axes[1].lines[0].get_ydata()).tolist() == [3.0, 9.0]
    assert figure.axes[0].get_ylim()[1] >= 9.0


def test_queues_by_stage__two_panels_of_grouped_bars(figure: Figure) -> None:
    table = pd.DataFrame(
        {
            "variant": ["ofan", "rsq"] * 2,
            "stage": ["E-A", "E-A", "A-E", "A-E"],
            "max_queue_bytes": [1000, 2000, 3000, 4000],
            "mean_queue_bytes": [100, 200, 300, 400],
        }
    )
    queues_by_stage(figure, table, LOOKS)
    assert [heights(axes) for axes in figure.axes] == [[2.0, 4.0, 1.0, 3.0], [0.2, 0.4, 0.1, 0.3]]
    assert legend_of(figure) == ["RSQ", "Ofan"]


def test_overload__a_bar_a_stage(figure: Figure) -> None:
    table = pd.DataFrame(
        {"variant": ["ofan"] * 2, "stage": ["E-A", "A-E"], "value": [0.1, 0.3]},
    )
    overload(figure.add_subplot(), table, LOOKS)
    assert heights(figure.axes[0]) == [0.1, 0.3]
    assert legend_of(figure) == ["E→A", "A→E"]


def test_utilisation__one_line_a_scheme(figure: Figure) -> None:
    over_time = pd.DataFrame({"time_us": [0.0, 1.0], "utilisation": [0.0, 0.9]})
    utilisation(figure.add_subplot(), {"ofan": over_time, "rsq": over_time}, LOOKS)
    assert len(figure.axes[0].lines) == 2


def test_sweep__means_errors_and_the_diagonal(figure: Figure, table: pd.DataFrame) -> None:
    axes = figure.add_subplot()
    sweep(
        axes,
        table,
        Axis("load", "load"),
        Axis("cct_increase", "CCT increase"),
        LOOKS,
        diagonal=True,
    )
    assert legend_of(figure) == ["y = x", "RSQ", "Ofan"] or "y = x" in legend_of(figure)
    assert len(axes.containers) == 2
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == pytest.approx([0.12, 0.24])


def test_sweep__logarithmic_axis_is_ticked_at_the_points(
    figure: Figure, table: pd.DataFrame
) -> None:
    axes = figure.add_subplot()
    x = Axis("load", "load", logarithmic=True)
    sweep(axes, table, x, Axis("cct_increase", "increase", percent=True), LOOKS)
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.5", "1"]


def test_draw_fields__words_stand_side_by_side_and_no_line_joins_them(
    tmp_path: Path, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Axes] = []

    def kept(axes: Axes, *given: Any, **named: Any) -> None:
        sweep(axes, *given, **named)
        drawn.append(axes)

    monkeypatch.setattr("analysis.figures.any_field.sweep", kept)
    words = table.assign(spread=["rail" if load == 1 else "stripe" for load in table["load"]])
    draw_fields(tmp_path / "words", words, LOOKS, x="spread", values=["cct_increase"])
    (axes,) = drawn
    assert [label.get_text() for label in axes.get_xticklabels()] == ["stripe", "rail"]
    lines = [line for line in axes.get_lines() if line.get_marker() in {"o", "s"}]
    assert {line.get_linestyle() for line in lines} == {"None"}
    places = sorted(float(place) for line in lines for place in np.asarray(line.get_xdata()))
    assert [round(place) for place in places] == [0, 0, 1, 1]
    assert len(set(places)) == 4
    means = words.groupby(["spread", "variant"])["cct_increase"].mean()
    heights = [float(y) for line in lines for y in np.asarray(line.get_ydata())]
    assert sorted(heights) == pytest.approx(sorted(means))


def test_queue_models__draws_each_model_at_each_stage(figure: Figure) -> None:
    table = pd.DataFrame({"stage": ["E-A", "A-C"], "mean_queue_packets": [2.0, 3.0]})
    models = {"exact": {"E-A": 2.1, "A-C": 3.1}, "normal": {"E-A": 1.1, "A-C": 2.5}}
    queue_models(figure.add_subplot(), table, models)
    levels = [np.asarray(line.get_ydata())[0] for line in figure.axes[0].lines if line]
    assert {2.1, 3.1, 1.1, 2.5} <= set(levels)
    assert legend_of(figure) == ["exact", "normal"]


def test_worlds__a_bar_a_world(figure: Figure, table: pd.DataFrame) -> None:
    both = pd.concat([table, table.assign(world="mininet")])
    worlds(figure.add_subplot(), both, LOOKS)
    assert legend_of(figure) == ["virtual", "mininet"]


def test_draw__writes_the_same_png_and_pdf_each_time(tmp_path: Path, table: pd.DataFrame) -> None:
    def plot(figure: Figure) -> None:
        cct_increase(figure, table, LOOKS)

    first, again = draw(tmp_path / "a", plot), draw(tmp_path / "b", plot)
    assert first.read_bytes() == again.read_bytes()
    assert first.read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_draw__fonts_can_be_edited_and_size_is_a_columns(tmp_path: Path) -> None:
    def plot(axes: Axes) -> None:
        axes.set_xlabel("time (µs)")

    draw(tmp_path / "a", one_axes(plot))
    assert b"/Type0" in (tmp_path / "a.pdf").read_bytes()
    assert f"/MediaBox [ 0 0 {72 * COLUMN:.2f}".encode() in (tmp_path / "a.pdf").read_bytes()


def test_looks_of__mapping_then_manifest_then_own(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / name, scheme=name) for name in ("mine", "ofan", "other")]
    change_manifest(folders[0], look={"label": "Mine", "color": "#123456", "marker": "P"})
    looks = looks_of([read_run(folder) for folder in folders], LOOKS)
    assert list(looks) == ["ofan", "mine", "other"]
    assert looks["ofan"] == LOOKS["ofan"]
    assert looks["mine"] == Look("Mine", "#123456", "P")
    assert looks["other"].label == "other"


def test_looks_of__schemes_with_parameters_keep_their_place(tmp_path: Path) -> None:
    folders = [
        write_run(tmp_path / "a", scheme="ofan"),
        write_run(tmp_path / "b", scheme="pofan", parameters={"pipe_ports": 1}),
    ]
    given = {"pofan(pipe_ports=1)": LOOKS["rsq"], "ofan": LOOKS["ofan"]}
    assert list(looks_of([read_run(folder) for folder in folders], given)) == list(given)


def test_look_of__parameters_keep_the_schemes_colour() -> None:
    look = look_of("ofan(pipe_ports=1)", LOOKS)
    assert (look.label, look.color) == ("ofan(pipe_ports=1)", "#0000ff")


def test_sweep__coinciding_schemes_are_both_seen(tmp_path: Path, table: pd.DataFrame) -> None:
    twins = {
        "rsq": Look("RSQ", "#ff0000", "s", hollow=True),
        "ofan": Look("Ofan", "#0000ff", "o", dashed=True),
    }
    drawn: list[Line2D] = []

    def plot(axes: Axes) -> None:
        sweep(axes, table, Axis("load", "load"), Axis("utilisation", "utilisation"), twins)
        drawn.extend(line for line in axes.lines if line.get_marker() in {"s", "o"})

    draw(tmp_path / "twins", one_axes(plot))
    below, above = drawn
    assert below.get_linewidth() > above.get_linewidth()
    assert below.get_markersize() > above.get_markersize()
    assert (below.get_linestyle(), above.get_linestyle()) == ("-", "--")


@pytest.mark.parametrize(("panels", "aslant"), [(1, 0.0), (2, 40.0)])
def test_name_ticks__are_aslant_where_they_would_touch(
    figure: Figure, panels: int, aslant: float
) -> None:
    axes = figure.subplots(1, panels, squeeze=False)[0, 0]
    name_ticks(axes, ["REPS", "AR", "4Ofan", "Ofan"])
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {aslant}


def written(figure: Figure, axes: Axes) -> dict[float, str]:
    """Return what stands at the ticks of a vertical axis, those between decades too."""
    figure.draw_without_rendering()
    ticks = [*axes.yaxis.get_major_ticks(), *axes.yaxis.get_minor_ticks()]
    return {tick.get_loc(): tick.label1.get_text() for tick in ticks if tick.label1.get_text()}


@pytest.mark.parametrize(("low", "high"), [(0.0195, 0.532), (0.0004, 3.1), (0.02, 0.3), (0.03, 80)])
@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
def test_percent_axis__every_tick_says_its_own_percentage(
    figure: Figure, low: float, high: float, scale: str
) -> None:
    axes = figure.add_subplot()
    axes.set_yscale(scale)
    axes.set_ylim(low, high)
    percent_axis(axes)
    texts = written(figure, axes)
    assert any(low <= tick <= high for tick in texts)
    for tick, text in texts.items():
        assert float(text) == pytest.approx(100 * tick, rel=1e-5)
        assert "e" not in text or high >= 80


def test_cct_increase__far_apart__is_logarithmic_in_percent(
    figure: Figure, table: pd.DataFrame
) -> None:
    table.loc[table["variant"] == "ofan", "cct_increase"] /= 10
    cct_increase(figure, table, LOOKS)
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    for tick, text in written(figure, axes).items():
        assert float(text) == pytest.approx(100 * tick, rel=1e-5)
