"""Did the world keep to physics? Every run gets a verdict from invariants that can be checked.

The line for gaps is where published emulation experiments that were accepted as faithful lie, well
apart from those that were not: at least 90 % of the departures on busy ports within 10 % of a data
frame's time of the ideal distance, 97.5 % within 25 %, 99 % within one frame's time. A run in
virtual time has no clock to miss and is checked for what a fault in the simulator would break.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from analysis.metrics import cct_us
from testbed.scenario.files import VIRTUAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.results import Run
    from testbed.scenario import Scenario

Grade = Literal["VALID", "DEGRADED", "INVALID"]
GRADES: tuple[Grade, ...] = ("VALID", "DEGRADED", "INVALID")
GAP_LINES = {
    "gaps_within_10pct": ("within 10 % of a frame", 0.90, 0.75),
    "gaps_within_25pct": ("within 25 % of a frame", 0.975, 0.85),
    "gaps_within_frame": ("within one frame", 0.99, 0.95),
}


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant: its name, how it came out, what was found and what is wanted, in words."""

    name: str
    grade: Grade
    found: str
    wanted: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The worst grade of all checks, the checks, and advice if it is not VALID (else empty)."""

    verdict: Grade
    checks: tuple[Check, ...]
    advice: str

    @property
    def reason(self) -> str:
        """The first check with the worst grade in words; empty for a VALID run."""
        if self.verdict == "VALID":
            return ""
        worst = next(check for check in self.checks if check.grade == self.verdict)
        return f"{worst.name}: {worst.found}, wanted {worst.wanted}"


def judge(run: Run) -> Verdict:
    """Return the verdict on a run, from its manifest, flows and links alone."""
    checks = [_ended(run), _conservation(run), _bound(run)]
    if run.world != VIRTUAL:
        checks += [*_gaps(run), _stall(run), *_pacing(run), _start(run)]
        checks += [_noise(run), *_processors(run)]
    verdict = worst(checks)
    return Verdict(verdict, tuple(checks), _advice(run, checks) if verdict != "VALID" else "")


def worst(checks: Sequence[Check]) -> Grade:
    """Return the worst grade of several checks; VALID if there are none."""
    return GRADES[max((GRADES.index(check.grade) for check in checks), default=0)]


def _graded(value: float, valid: float, degraded: float) -> Grade:
    """Grade a value that should be small."""
    if value <= valid:
        return "VALID"
    return "DEGRADED" if value <= degraded else "INVALID"


def _ended(run: Run) -> Check:
    ended = str(run.manifest["ended"])
    unfinished = int(run.flows["finish_ns" if run.scenario.acks else "delivered_ns"].isna().sum())
    good = ended == "done" and unfinished == 0
    found = ended if good else f"{ended}, {unfinished} of {len(run.flows)} flows not finished"
    if message := run.manifest.get("message"):
        found += f": {message}"
    return Check("ended", "VALID" if good else "INVALID", found, "done")


def _conservation(run: Run) -> Check:
    counted = run.manifest["conservation"]
    dropped = {place: number for place, number in counted.get("dropped", {}).items() if number}
    lost = sum(dropped.values())
    came = counted["sent"] + counted.get("copied", 0)
    gone = counted["delivered"] + lost + counted.get("left", 0)
    where = ", ".join(f"{number} {place}" for place, number in dropped.items()) or "no drops"
    found = f"{came} sent, {counted['delivered']} delivered, {where}, {counted.get('left', 0)} left"
    asked = _drops_asked_for(run.scenario)
    grade: Grade = "VALID" if came == gone else "INVALID"
    if grade == "VALID" and set(dropped) - set(asked):
        grade = "DEGRADED"
    drops = f"no drops but of {' and '.join(asked)}" if asked else "no drops"
    return Check("conservation", grade, found, f"sent = delivered + drops, {drops}")


def _drops_asked_for(scenario: Scenario) -> list[str]:
    """Return where a scenario lets frames be lost; elsewhere a recovery hides what went wrong."""
    causes = {
        "queue": scenario.buffer_bytes is not None or scenario.shared_bytes is not None,
        "loss": scenario.loss > 0,
        "down": bool(scenario.link_events),
        "program": bool(scenario.link_events),  # no route is left where some are on their way
    }
    return [place for place, asked in causes.items() if asked]


def _bound(run: Run) -> Check:
    lowest = run.floor_ns / 1000
    slack = 0.0 if run.world == VIRTUAL else run.scenario.data_ns / 1000
    taken = cct_us(run)
    grade: Grade = "VALID" if math.isnan(taken) or taken >= lowest - slack - 1e-6 else "INVALID"
    return Check("CCT", grade, f"{taken:.3f} µs", f"at least {lowest:.3f} µs")


def _gaps(run: Run) -> list[Check]:
    total = int(run.links["gaps"].sum())
    if total == 0:
        return [Check("gaps", "INVALID", "none measured", "gaps on busy ports")]
    checks = []
    for column, (name, valid, degraded) in GAP_LINES.items():
        share = float(run.links[column].sum()) / total
        grade = _graded(1 - share, 1 - valid + 1e-12, 1 - degraded + 1e-12)
        checks.append(Check(f"gaps {name}", grade, f"{share:.2%}", f"at least {valid:.1%}"))
    return checks


def _stall(run: Run) -> Check:
    """Grade the latest departure: a stall of the machine is rare among gaps, yet moves the CCT."""
    latest = float(run.links["late_max_ns"].max()) / 1000
    share = latest / cct_us(run)
    grade = "VALID" if math.isnan(share) else _graded(share, 0.02, 0.1)
    return Check("longest stall", grade, f"{latest:.3f} µs late", "at most 2 % of the CCT")


def _pacing(run: Run) -> list[Check]:
    hosts = run.manifest.get("pacing", {})
    frame_ns = run.scenario.data_ns
    error = max(
        (abs(host["achieved"] / host["offered"] - 1) for host in hosts.values() if host["offered"]),
        default=0.0,
    )
    late = max((host["late_p99_ns"] for host in hosts.values()), default=0.0) / frame_ns
    return [
        Check("pacing", _graded(error, 0.01, 0.05), f"{error:.2%} off at worst", "at most 1 %"),
        Check(
            "send lateness",
            _graded(late, 1, 4),
            f"99 % within {late:.2f} frame times",
            "within one",
        ),
    ]


def _start(run: Run) -> Check:
    skew = float(run.manifest.get("start_skew_ns", 0.0)) / run.scenario.data_ns
    return Check(
        "start skew", _graded(skew, 2, 10), f"{skew:.2f} frame times", "at most 2 (the phase is 1)"
    )


def _noise(run: Run) -> Check:
    noise = int(run.manifest.get("noise_packets", 0))
    share = noise / max(1, int(run.links["packets"].sum()))
    return Check("noise", _graded(share, 0, 0.001), f"{noise} packets of others", "none")


def _processors(run: Run) -> list[Check]:
    shares = run.manifest.get("processor_share", {})
    return [
        Check(f"processor of {name}", _graded(share, 0.9, 1.0), f"{share:.0%} busy", "at most 90 %")
        for name, share in shares.items()
    ]


def _advice(run: Run, checks: Sequence[Check]) -> str:
    """Suggest a dilation if time was the problem; what else went wrong is not cured by slowness."""
    faults = [check.name for check in checks if check.grade != "VALID"]
    in_time = [name for name in faults if name not in ("ended", "conservation", "CCT", "noise")]
    dilation = float(run.manifest.get("dilation", 1.0))
    if run.world == VIRTUAL or not in_time:
        return f"look into {faults[0]}: more time does not cure it"
    factor = 2 if worst([check for check in checks if check.name in in_time]) == "DEGRADED" else 4
    slower = max(dilation * factor, float(run.manifest.get("dilation_needed", 1.0)))
    return f"try --dilation {math.ceil(slower)} (it was {dilation:g})"
