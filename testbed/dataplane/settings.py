"""What is the same everywhere in a network, as Python names it and as the event core takes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from errors import UserError, near
from testbed import hosts
from testbed.dataplane.library import load
from testbed.hosts import Chosen
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.hosts import Registered
    from testbed.plan import Plan

KINDS: dict[str, Sequence[Registered]] = {
    "entropy": hosts.ENTROPIES,
    "congestion": hosts.CONGESTIONS,
    "recovery": hosts.RECOVERIES,
}
ONE_VALUE, NOTHING = Chosen("flow"), Chosen("none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is the same everywhere in a network: the scenario, and how it is run.

    `load` is the share of the line rate at which hosts pace, `rtt_ps` the round trip without queues
    between the farthest hosts, None for the scenario's. `sample_ps` is the time between two samples
    of the queues, 0 for none.
    """

    scenario: Scenario = field(default_factory=Scenario)
    tick_ps: int = 1
    sample_ps: int = 0
    load: float = 1.0
    rtt_ps: int | None = None
    entropy: Chosen = ONE_VALUE
    congestion: Chosen = NOTHING
    recovery: Chosen = NOTHING


def settings_of(plan: Plan, *, sample_ps: int = 0) -> Settings:
    """Return the settings that a plan asks for, with samples of the queues every `sample_ps`."""
    return Settings(
        scenario=plan.scenario,
        tick_ps=plan.tick_ps,
        sample_ps=sample_ps,
        load=plan.load,
        rtt_ps=plan.rtt_ps,
        entropy=plan.hosts.entropy,
        congestion=plan.hosts.congestion,
        recovery=plan.hosts.recovery,
    )


def raw_settings(settings: Settings) -> Any:
    """Return settings as a struct dp_settings; raises UserError for unknown names."""
    scenario = settings.scenario
    rtt_ps = scenario.round_trip_ps if settings.rtt_ps is None else settings.rtt_ps
    values: dict[str, Any] = {
        "seed": scenario.seed,
        "tick_ps": settings.tick_ps,
        "delay_ps": round(scenario.delay_ns * 1000),
        "sample_ps": settings.sample_ps,
        "buffer_bytes": scenario.buffer_bytes or 0,
        "ecn_bytes": scenario.ecn_bytes,
        "picoseconds_per_byte": scenario.picoseconds_per_byte,
        "load": settings.load,
        "payload_bytes": scenario.payload_bytes,
        "header_bytes": scenario.header_bytes,
        "ack_bytes": scenario.ack_bytes,
        "gap_bytes": scenario.gap_bytes,
        "acks": scenario.acks,
        "trim": scenario.trim,
        "ack_priority": scenario.ack_priority,
        "hops": scenario.hops,
        "rtt_ps": rtt_ps,
        "planes": scenario.shape.planes,
        "loss": scenario.loss,
        "shared_bytes": scenario.shared_bytes or 0,
        "shared_alpha": scenario.alpha,
    }
    for kind, registered in KINDS.items():
        chosen: Chosen = getattr(settings, kind)
        values[kind], values[f"{kind}_parameters"] = _numbers(kind, registered, chosen)
    ffi, _ = load()
    return ffi.new("struct dp_settings *", values)


def constants(settings: Settings) -> dict[str, float]:
    """Return the constants that congestion control derives from settings, by name."""
    ffi, library = load()
    found = ffi.new("struct dp_constant[]", library.DP_CONSTANTS)
    count = library.dp_constants(raw_settings(settings), found)
    return {ffi.string(one.name).decode(): float(one.value) for one in found[0:count]}


def _numbers(
    kind: str, registered: Sequence[Registered], chosen: Chosen
) -> tuple[int, list[float]]:
    names = [entry.name for entry in registered]
    if chosen.name not in names:
        raise UserError(f"{kind} {chosen.name} is unknown{near(chosen.name, names)}")
    entry = registered[names.index(chosen.name)]
    defaults = {parameter.name: parameter.default for parameter in entry.parameters}
    if unknown := sorted(set(chosen.parameters) - set(defaults)):
        raise UserError(
            f"{kind} {chosen.name} has no parameter {unknown[0]}{near(unknown[0], defaults)}"
        )
    return names.index(chosen.name), list({**defaults, **chosen.parameters}.values())
