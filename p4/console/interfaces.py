"""A program as a software switch on network interfaces, and the prompt's commands for its ports."""

from __future__ import annotations

import dataclasses
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from errors import UserError
from p4.console.values import ConsoleError, parse_number
from p4.wire.front import Counts, Front, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p4.engine import Program

DROP_PORT = 511
LARGEST_DEPTH = (1 << 32) - 1


@dataclass(slots=True)
class _Port:
    """An interface and its limits."""

    name: str
    limits: Limits


class SoftwareSwitch:
    """Runs a program between interfaces in a thread of its own."""

    def __init__(self, program: Program, ports: Mapping[int, str], seed: int = 0) -> None:
        self._front = Front()
        self._number, self.switch = self._front.add_switch(program, seed)
        self._ports: dict[int, _Port] = {}
        for number, name in ports.items():
            self._add_port(number, name)

    def start(self) -> None:
        """Begin to forward."""
        self._front.start()

    def stop(self) -> None:
        """Stop forwarding and close the interfaces."""
        self._front.close()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Hold the switch while a command looks into it or changes it."""
        with self._front.paused():
            yield

    def _add_port(self, number: int, name: str) -> None:
        port = _Port(name, Limits())
        self._front.add_port(self._number, number, name, port.limits)
        self._ports[number] = port

    def _chosen(self, number: str) -> list[int]:
        if not number:
            return list(self._ports)
        chosen = parse_number(number)
        if chosen not in self._ports:
            raise ConsoleError(f"there is no port {number}")
        return [chosen]

    def counts(self, number: int) -> Counts:
        """Return what a port has counted."""
        return self._front.counts(self._number, number)

    def limit(self, number: int, limits: Limits) -> None:
        """Give a port its limits."""
        self._ports[number].limits = limits
        self._front.limit(self._number, number, limits)

    def _limit(self, port: str, **changes: Any) -> None:
        for number in self._chosen(port):
            self.limit(number, dataclasses.replace(self._ports[number].limits, **changes))

    # Commands -------------------------------------------------------------------------------

    def set_queue_rate(self, rate: str, port: str = "") -> str:
        """Usage: set_queue_rate FRAMES_A_SECOND [PORT] (0: no limit)."""
        self._limit(port, frames_a_second=_natural(rate))
        return ""

    def set_queue_depth(self, depth: str, port: str = "") -> str:
        """Usage: set_queue_depth FRAMES [PORT]."""
        self._limit(port, depth=min(_natural(depth), LARGEST_DEPTH))
        return ""

    def port_add(self, interface: str, port: str) -> str:
        """Usage: port_add INTERFACE PORT."""
        number = _natural(port)
        if number >= DROP_PORT:
            raise ConsoleError(f"port {port} is not within 0 to {DROP_PORT - 1}")
        if number in self._ports:
            raise ConsoleError(f"port {port} is {self._ports[number].name} already")
        try:
            self._add_port(number, interface)
        except UserError as error:
            raise ConsoleError(str(error)) from None
        return ""

    def port_remove(self, port: str) -> str:
        """Usage: port_remove PORT."""
        for number in self._chosen(port):
            self._front.remove_port(self._number, number)
            del self._ports[number]
        return ""

    def show_ports(self) -> str:
        """Usage: show_ports."""
        return "\n".join(self._shown(number) for number in self._ports)

    def _shown(self, number: int) -> str:
        name, limits = self._ports[number].name, self._ports[number].limits
        counts = self.counts(number)
        return (
            f"{number}: {name} received {counts.received} sent {counts.sent}"
            f" dropped {counts.dropped} overruns {counts.overruns} waiting {counts.waiting}"
            f" depth {limits.depth} rate {limits.frames_a_second or '-'}"
        )

    def get_time_elapsed(self) -> str:
        """Usage: get_time_elapsed (in microseconds since the switch started)."""
        return str(self._front.now_us)

    def get_time_since_epoch(self) -> str:
        """Usage: get_time_since_epoch (in microseconds since 1970)."""
        return str(time.time_ns() // 1000)


def _natural(text: str) -> int:
    number = parse_number(text)
    if number < 0:
        raise ConsoleError(f"`{text}` must not be negative")
    return number
