"""Any P4 program as a software switch on interfaces: ports with a queue, a rate and a delay.

This is for networks of a few hosts that are played with by hand. One process serves all switches;
their clock counts microseconds, as that of BMv2's simple_switch does.
"""

from __future__ import annotations

import heapq
import itertools
import selectors
import socket
import time
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from p4.engine import Recorder, Switch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from p4.engine import Program

LONGEST_FRAME = 65_535
MOST_AT_ONCE = 64  # frames taken from one port before the others get their turn
QUEUE_PACKETS = 1000
_SOL_PACKET, _IGNORE_OUTGOING = 263, 23  # linux/if_packet.h, which the socket module leaves out
_ALL_PROTOCOLS = 3


@dataclass(slots=True)
class Waiting:
    """A frame in a port's queue: its bytes if it is final, else what the engine holds of it."""

    data: bytes | None
    held: Any
    enqueued_at: int
    depth: int


@dataclass(slots=True)
class Port:
    """A port on an interface; `rate_mbps` of None sends at once."""

    interface: str
    rate_mbps: float | None = None
    delay_us: float = 0.0
    socket: socket.socket = field(init=False)
    queue: deque[Waiting] = field(default_factory=deque)
    busy: bool = False

    def __post_init__(self) -> None:
        """Open the interface's packet socket; raises OSError if there is no such interface."""
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(_SOL_PACKET, _IGNORE_OUTGOING, 1)
        self.socket.setblocking(False)
        self.socket.bind((self.interface, _ALL_PROTOCOLS))

    def service_us(self, size: int) -> float:
        """Return how long the port takes to send a frame of `size` bytes."""
        return 0.0 if self.rate_mbps is None else size * 8 / self.rate_mbps


class Events:
    """What has to happen later, in the order of its time in microseconds."""

    def __init__(self) -> None:
        """Start with nothing to do, at time 0."""
        self._start = time.monotonic()
        self._order = itertools.count()
        self._heap: list[tuple[float, int, Callable[[], None]]] = []

    @property
    def now(self) -> float:
        """Microseconds since the start."""
        return (time.monotonic() - self._start) * 1e6

    def at(self, moment: float, action: Callable[[], None]) -> None:
        """Do something at a time."""
        heapq.heappush(self._heap, (moment, next(self._order), action))

    def run_due(self) -> float | None:
        """Do all that is due; return the seconds until the next thing, None if there is none."""
        while self._heap and self._heap[0][0] <= self.now:
            heapq.heappop(self._heap)[2]()
        return max((self._heap[0][0] - self.now) / 1e6, 0.0) if self._heap else None


class SoftSwitch:
    """One switch: its program's state and its ports."""

    def __init__(self, program: Program, ports: Mapping[int, Port], events: Events) -> None:
        """Start a switch; its tables are filled through `engine`."""
        self._recorder = Recorder()
        self.engine = Switch(program, self._recorder)
        self.ports = ports
        self._events = events

    def receive(self, number: int) -> None:
        """Take what has arrived on a port, as far as it is its turn."""
        for _ in range(MOST_AT_ONCE):
            try:
                frame = self.ports[number].socket.recv(LONGEST_FRAME)
            except (BlockingIOError, OSError):
                return
            self.engine.arrive(number, frame, now=int(self._events.now))
            self._collect()

    def _collect(self) -> None:
        """Queue all that the engine let out or holds for egress."""
        self._recorder.digests.clear()
        self._recorder.lines.clear()
        while self._recorder.outputs or self._recorder.waiting:
            outputs, self._recorder.outputs = self._recorder.outputs, []
            for output in outputs:
                self._enqueue(output.port, output.data, None)
            if self._recorder.waiting:
                number, _, held = self._recorder.waiting.popleft()
                self._enqueue(number, None, held)

    def _enqueue(self, number: int, data: bytes | None, held: Any) -> None:
        port = self.ports.get(number)
        if port is None or len(port.queue) >= QUEUE_PACKETS:
            if held is not None:
                self.engine.discard(held)
            return
        port.queue.append(Waiting(data, held, int(self._events.now), len(port.queue)))
        if not port.busy:
            self._serve(port)

    def _serve(self, port: Port) -> None:
        """Send the next frame, and come back when that is done."""
        port.busy = bool(port.queue)
        if not port.queue:
            return
        waiting = port.queue.popleft()
        frames = [waiting.data] if waiting.data is not None else self._finish(port, waiting)
        done = self._events.now + sum(port.service_us(len(frame)) for frame in frames)
        for frame in frames:
            self._events.at(done + port.delay_us, partial(_send, port, frame))
        self._events.at(done, partial(self._serve, port))

    def _finish(self, port: Port, waiting: Waiting) -> list[bytes]:
        """Let a frame go through egress; return its final bytes, and queue its copies."""
        self.engine.serve(
            waiting.held,
            enqueued_at=waiting.enqueued_at,
            dequeued_at=int(self._events.now),
            packets_at_enqueue=waiting.depth,
            packets_at_dequeue=len(port.queue),
        )
        frames = [output.data for output in self._recorder.outputs]
        self._recorder.outputs.clear()
        self._collect()
        return frames


def serve(switches: Iterable[SoftSwitch], events: Events) -> None:
    """Run switches until the process is ended."""
    selector = selectors.DefaultSelector()
    for switch in switches:
        for number, port in switch.ports.items():
            selector.register(port.socket, selectors.EVENT_READ, (switch, number))
    while True:
        for key, _ in selector.select(events.run_due()):
            switch, number = key.data
            switch.receive(number)


def _send(port: Port, frame: bytes) -> None:
    """Send a frame; one that the interface does not take is lost, as on a cable that is cut."""
    try:
        port.socket.send(frame)
    except OSError:
        return
