"""A program as a software switch on network interfaces.

Each port has one queue, limited in frames and, if asked for, served at a rate in frames a second.
Time is in microseconds since the switch started, as in BMv2.
"""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from errors import UserError
from p4.console.values import ConsoleError, parse_number
from p4.engine import Recorder, Switch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4.engine import Program

ALL_PROTOCOLS = 0x0003
OUTGOING = 4  # a packet socket sees what it sends, marked so
DROP_PORT = 511
DEFAULT_DEPTH = 64
MOST_BYTES = 65536
PATIENCE = 0.05  # seconds that the loop sleeps at most


@dataclass(slots=True)
class _Waiting:
    """A frame in a port's queue: its bytes, or what the switch holds for it."""

    data: bytes | None
    held: Any
    enqueued_at: int
    packets_at_enqueue: int


@dataclass(slots=True)
class _Port:
    """An interface with its queue, counters and limits; a rate of 0 is none."""

    name: str
    socket: socket.socket
    queue: deque[_Waiting] = field(default_factory=deque)
    depth: int = DEFAULT_DEPTH
    rate: int = 0
    next_at: float = 0.0
    received: int = 0
    sent: int = 0
    dropped: int = 0


class InterfaceError(UserError):
    """An interface that cannot be used."""


class SoftwareSwitch:
    """Runs a program between interfaces in a thread of its own."""

    def __init__(self, program: Program, ports: Mapping[int, str], seed: int = 0) -> None:
        self._recorder = Recorder()
        self.switch = Switch(program, self._recorder, seed)
        self.lock = threading.Lock()
        self._start = time.monotonic()
        self._selector = selectors.DefaultSelector()
        self._ports: dict[int, _Port] = {}
        self._running = True
        self.lost = 0
        for number, name in ports.items():
            self._add_port(number, name)
        self._thread = threading.Thread(target=self._run, name="switch", daemon=True)

    def _add_port(self, number: int, name: str) -> None:
        self._ports[number] = _Port(name, _open(name))
        self._selector.register(self._ports[number].socket, selectors.EVENT_READ, number)

    def start(self) -> None:
        """Begin to forward."""
        self._thread.start()

    def stop(self) -> None:
        """Stop forwarding and close the interfaces."""
        self._running = False
        self._thread.join()
        for port in self._ports.values():
            port.socket.close()
        self._selector.close()

    def _now(self) -> int:
        return int((time.monotonic() - self._start) * 1e6)

    def _run(self) -> None:
        while self._running:
            ready = self._selector.select(self._patience())
            with self.lock:
                for key, _ in ready:
                    if key.data in self._ports:
                        self._receive(key.data)
                self._serve()

    def _patience(self) -> float:
        waits = [p.next_at - time.monotonic() for p in list(self._ports.values()) if p.queue]
        return max(min([*waits, PATIENCE]), 0.0)

    def _receive(self, number: int) -> None:
        port = self._ports[number]
        for _ in range(64):
            try:
                data, address = port.socket.recvfrom(MOST_BYTES)
            except BlockingIOError:
                return
            except OSError:
                return
            if address[2] != OUTGOING:
                port.received += 1
                self.switch.arrive(number, data, now=self._now())
                self._collect()

    def _collect(self) -> None:
        """Put what the switch gave out into the queues of its ports."""
        for output in self._recorder.outputs:
            self._queue(output.port, output.data, None)
        self._recorder.outputs.clear()
        while self._recorder.waiting:
            number, _, held = self._recorder.waiting.popleft()
            self._queue(number, None, held)

    def _queue(self, number: int, data: bytes | None, held: Any) -> None:
        port = self._ports.get(number)
        if port is not None and len(port.queue) < port.depth:
            port.queue.append(_Waiting(data, held, self._now(), len(port.queue)))
            return
        if port is None:
            self.lost += 1
        else:
            port.dropped += 1
        if held is not None:
            self.switch.discard(held)

    def _serve(self) -> None:
        for number, port in self._ports.items():
            while port.queue and time.monotonic() >= port.next_at:
                if port.rate:
                    port.next_at = max(port.next_at, time.monotonic() - 0.01) + 1 / port.rate
                self._send(number, port, port.queue.popleft())

    def _send(self, number: int, port: _Port, waiting: _Waiting) -> None:
        if waiting.data is not None:
            self._transmit(port, waiting.data)
            return
        self.switch.serve(
            waiting.held,
            enqueued_at=waiting.enqueued_at,
            dequeued_at=self._now(),
            packets_at_enqueue=waiting.packets_at_enqueue,
            packets_at_dequeue=len(port.queue),
        )
        outputs, self._recorder.outputs = self._recorder.outputs, []
        for output in outputs:
            if output.port == number:
                self._transmit(port, output.data)
            else:
                self._queue(output.port, output.data, None)
        self._collect()

    def _transmit(self, port: _Port, data: bytes) -> None:
        try:
            port.socket.send(data)
            port.sent += 1
        except OSError:
            port.dropped += 1

    # Commands -------------------------------------------------------------------------------

    def _chosen(self, number: str) -> list[_Port]:
        if not number:
            return list(self._ports.values())
        port = self._ports.get(parse_number(number))
        if port is None:
            raise ConsoleError(f"there is no port {number}")
        return [port]

    def set_queue_rate(self, rate: str, port: str = "") -> str:
        """Usage: set_queue_rate FRAMES_A_SECOND [PORT] (0: no limit)."""
        limit = _natural(rate)
        for item in self._chosen(port):
            item.rate, item.next_at = limit, 0.0
        return ""

    def set_queue_depth(self, depth: str, port: str = "") -> str:
        """Usage: set_queue_depth FRAMES [PORT]."""
        limit = _natural(depth)
        for item in self._chosen(port):
            item.depth = limit
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
        except InterfaceError as error:
            raise ConsoleError(str(error)) from None
        return ""

    def port_remove(self, port: str) -> str:
        """Usage: port_remove PORT."""
        found = self._ports.get(parse_number(port))
        if found is None:
            raise ConsoleError(f"there is no port {port}")
        self._selector.unregister(found.socket)
        found.socket.close()
        for waiting in found.queue:
            if waiting.held is not None:
                self.switch.discard(waiting.held)
        del self._ports[parse_number(port)]
        return ""

    def show_ports(self) -> str:
        """Usage: show_ports."""
        return "\n".join(
            f"{number}: {port.name} received {port.received} sent {port.sent} dropped"
            f" {port.dropped} waiting {len(port.queue)} depth {port.depth} rate {port.rate or '-'}"
            for number, port in self._ports.items()
        )

    def get_time_elapsed(self) -> str:
        """Usage: get_time_elapsed (in microseconds since the switch started)."""
        return str(self._now())

    def get_time_since_epoch(self) -> str:
        """Usage: get_time_since_epoch (in microseconds since 1970)."""
        return str(time.time_ns() // 1000)


def _natural(text: str) -> int:
    number = parse_number(text)
    if number < 0:
        raise ConsoleError(f"`{text}` must not be negative")
    return number


def _open(name: str) -> socket.socket:
    """Return a packet socket on an interface; InterfaceError says why there is none."""
    try:
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    except PermissionError:
        raise InterfaceError(f"{name}: opening interfaces needs root") from None
    try:
        opened.bind((name, ALL_PROTOCOLS))
    except OSError as error:
        opened.close()
        raise InterfaceError(f"{name}: {error.strerror}") from None
    opened.setblocking(False)
    return opened
