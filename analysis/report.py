"""The page of a result folder: summary, figures and verdicts in one self-contained HTML file."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
import pandas as pd

from analysis import summary
from analysis.bounds import cct_bound
from analysis.figures.completion import cct_increase
from analysis.figures.flow_times import flow_completion
from analysis.figures.looks import keep_looks, kept_looks
from analysis.figures.queue_series import queue_series
from analysis.figures.stages import overload, queues_by_stage
from analysis.figures.style import COLUMN, DOTS_PER_INCH, PAGE, draw, looks_of, one_axes
from analysis.figures.utilisation import utilisation
from analysis.figures.watched import watched
from analysis.figures.worlds import worlds
from analysis.groups import Group, group_runs
from analysis.live.data import embedded
from analysis.results import unfinished_runs
from testbed.scenario.files import SUMMARY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from analysis.figures.style import Look

PAGE_NAME = "report.html"
MEANS = ("cct_us", "cct_increase", "mean_queue_bytes", "utilisation")
FIGURES = "figures"
LOOKS = "looks.json"
PIXELS_PER_INCH = 126
LIVE = Path(__file__).parent / "live"


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure on the page: its PNG file and what it shows, in a sentence."""

    path: Path
    caption: str

    @property
    def width(self) -> int:
        """The pixels that the PNG takes on the page: as many an inch for all figures."""
        header = self.path.read_bytes()[:20]
        return round(int.from_bytes(header[16:20]) / DOTS_PER_INCH * PIXELS_PER_INCH)

    @property
    def data(self) -> str:
        """The PNG as a data URL."""
        encoded = base64.b64encode(self.path.read_bytes()).decode("ascii")
        return f"data:image/png;base64,{encoded}"


@dataclass(frozen=True, slots=True)
class Report:
    """What was made of a result folder: the rows of its summary, the page, and the figures."""

    table: pd.DataFrame
    page: Path
    figures: tuple[Path, ...]


def write_report(
    folder: Path, looks: Mapping[str, Look] | None = None, into: Path | None = None
) -> Report:
    """Make summary.csv, figures/ and report.html from the runs below a folder.

    They are written into that folder, or into another one.
    `looks` says how schemes are called and drawn; without it the folder's last report says so.
    Raises UserError if the folder holds no finished run or a damaged one.
    """
    runs = summary.read_all(folder)
    into = into or folder
    known = looks_of(runs, looks or kept_looks(folder / FIGURES / LOOKS))
    keep_looks(into / FIGURES / LOOKS, known)
    groups = group_runs(runs, list(known))
    table = pd.concat([group.table for group in groups], ignore_index=True)
    summary.write_summary(table, into / SUMMARY)
    sections = []
    for number, group in enumerate(groups):
        prefix = f"{number + 1}-" if len(groups) > 1 else ""
        sections.append((group, draw_group(group, into / FIGURES, prefix, known)))
    across = _across_worlds(table, into / FIGURES, known)
    page = into / PAGE_NAME
    unfinished = [str(path.relative_to(folder)) for path in unfinished_runs(folder)]
    page.write_text(_rendered(folder, sections, across, unfinished, known), encoding="utf-8")
    drawn = [picture.path for _, pictures in sections for picture in pictures]
    return Report(table, page, tuple(drawn + [picture.path for picture in across]))


def draw_group(group: Group, folder: Path, prefix: str, looks: Mapping[str, Look]) -> list[Picture]:
    """Draw all figures of comparable runs into `folder`, their names beginning with `prefix`."""
    if not group.usable:
        return []
    own = {name: look for name, look in looks.items() if name in set(group.table["variant"])}
    first = group.usable[0]
    bound = cct_bound(first.scenario, first.messages) / 1000
    wide = PAGE if len(own) > 6 else COLUMN

    def path(name: str) -> Path:
        return folder / f"{prefix}{name}"

    pictures = [
        Picture(
            draw(path("cct"), lambda figure: cct_increase(figure, group.table, own), width=wide),
            "CCT above the lower bound. Bars: mean over seeds with its standard error; dots: runs.",
        ),
        Picture(
            draw(
                path("fct"),
                one_axes(lambda axes: flow_completion(axes, group.flow_completion(), own, bound)),
                width=wide,
                height=2.6,
            ),
            "Completion times of flows, all seeds together; the marker is the last flow.",
        ),
        Picture(
            draw(
                path("queues"),
                lambda figure: queues_by_stage(figure, group.queues_by_stage(), own),
                width=PAGE,
            ),
            "Queues of the switches by stage: longest, and mean over time and links.",
        ),
        Picture(
            draw(
                path("overload"),
                one_axes(lambda axes: overload(axes, group.overload(), own)),
                width=wide,
                height=2.4,
            ),
            "Data on the busiest link of each stage above the stage's mean.",
        ),
        Picture(
            draw(
                path("utilisation"),
                one_axes(lambda axes: utilisation(axes, group.utilisation(), own)),
                width=wide,
                height=2.6,
            ),
            "Data arriving at the receivers as a share of the line rate (one run each).",
        ),
    ]
    return pictures + _over_time(group, path, own)


def _over_time(group: Group, path: Callable[[str], Path], own: Mapping[str, Look]) -> list[Picture]:
    """Draw what was sampled, where it was: queues, and the transports of watched flows."""
    pictures = []
    if series := group.queue_series():
        pictures.append(
            Picture(
                draw(
                    path("queue-series"),
                    lambda figure: queue_series(figure, series, own),
                    width=PAGE,
                ),
                "Longest queue of each stage over time (one run each).",
            )
        )
    if flows := group.watched():
        pictures.append(
            Picture(
                draw(path("transport"), lambda figure: watched(figure, flows, own), width=PAGE),
                "Window, rate and queueing delay of the watched flows (one run each).",
            )
        )
    return pictures


def scheme_rows(group: Group, looks: Mapping[str, Look]) -> list[dict[str, str]]:
    """Return the page's table of schemes: means over the usable runs, as text."""
    rows = []
    for name in (name for name in looks if name in set(group.table["variant"])):
        own = group.table[group.table["variant"] == name]
        usable = own[own["verdict"] != "INVALID"]
        if usable.empty:
            rows.append({"scheme": looks[name].label, "runs": f"0 of {len(own)}"})
            continue
        mean = {name: float(usable[name].mean()) for name in MEANS}
        error = float(usable["cct_increase"].std() / len(usable) ** 0.5)
        plus = f" ± {100 * error:.2f}" if len(usable) > 1 else ""
        rows.append(
            {
                "scheme": looks[name].label,
                "runs": f"{len(usable)} of {len(own)}",
                "cct": f"{mean['cct_us']:.3f}",
                "increase": f"{100 * mean['cct_increase']:.2f}{plus}",
                "longest": f"{usable['max_queue_bytes'].max() / 1000:,.1f}",
                "queue": f"{mean['mean_queue_bytes'] / 1000:,.2f}",
                "utilisation": f"{100 * mean['utilisation']:.1f}",
            }
        )
    return rows


def _across_worlds(table: pd.DataFrame, folder: Path, looks: Mapping[str, Look]) -> list[Picture]:
    if table["world"].nunique() < 2:
        return []
    drawn = draw(folder / "worlds", one_axes(lambda axes: worlds(axes, table, looks)), width=PAGE)
    return [Picture(drawn, "The same scenarios in each world: CCT above the lower bound.")]


def scripts(*, plots: bool) -> list[str]:
    """Return the scripts of a page, with the library for plots if it has some to draw."""
    own = [(LIVE / name).read_text(encoding="utf-8") for name in ("tree.js", "live.js")]
    library = files("plotly") / "package_data" / "plotly.min.js"
    return [*([library.read_text(encoding="utf-8")] if plots else []), *own]


def _rendered(
    folder: Path,
    sections: list[tuple[Group, list[Picture]]],
    across: list[Picture],
    unfinished: list[str],
    looks: Mapping[str, Look],
) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("analysis", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    groups = [
        {
            "title": group.title,
            "verdicts": [
                {"name": run.name, "verdict": verdict}
                for run, verdict in zip(group.runs, group.verdicts, strict=True)
            ],
            "counts": group.table["verdict"].value_counts().to_dict(),
            "schemes": scheme_rows(group, looks),
            "live": embedded(group.usable, looks),
            "runs": [run.name for run in group.runs],
            "pictures": pictures,
            "bound": f"{group.table['cct_bound_us'].mean():.5f}",
            "manifest": group.runs[0].manifest,
            "scenario": group.runs[0].scenario,
        }
        for group, pictures in sections
    ]
    template = environment.get_template("report.html.jinja")
    living = any(group["live"] for group in groups)
    return template.render(
        name=folder.name,
        folder=folder,
        groups=groups,
        across=across,
        unfinished=unfinished,
        scripts=scripts(plots=living),
    )
