"""Programs as software switches on network interfaces: the forwarding is in C, in front.c.

Each port has one queue, limited in frames and, if asked for, served at a rate; a cable may take
time. Programs see microseconds since the start, as those on BMv2 do.
"""

from __future__ import annotations

import os
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from errors import UserError
from p4.engine import Switch
from p4.wire.library import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p4.engine import Program


@dataclass(frozen=True, slots=True)
class Limits:
    """What a port does with frames: how many may wait, how fast they go (0: as fast as it goes)."""

    depth: int = 64
    frames_a_second: float = 0.0
    bytes_a_second: float = 0.0
    delay_us: float = 0.0


@dataclass(frozen=True, slots=True)
class Counts:
    """Frames of a port since the start; `overruns` came faster than they could be taken."""

    received: int
    sent: int
    dropped: int
    overruns: int
    waiting: int


class Front:
    """Switches whose ports are interfaces of the present network namespace.

    Add switches and ports, fill the tables, then `run` in this thread, or `start` and `stop` one of
    its own, which `paused` holds while the switches are changed.
    """

    def __init__(self) -> None:
        """Begin without switches."""
        self._ffi, self._library = load()
        self._front = self._library.front_new()
        self._sockets: dict[tuple[int, int], socket.socket] = {}
        self._programs: list[Program] = []
        self._running = False
        self._wake = os.eventfd(0, os.EFD_CLOEXEC)
        self._gate, self._turn = threading.Lock(), threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="switches", daemon=True)

    def add_switch(self, program: Program, seed: int = 0) -> tuple[int, Switch]:
        """Make a switch; return its number here and what configures it."""
        ffi = self._ffi
        made = ffi.new("struct pl_switch **")
        pointer = ffi.cast(
            "struct pl_program *", int(program.ffi.cast("uintptr_t", program.pointer))
        )
        seed &= (1 << 64) - 1
        number = self._checked(self._library.front_add_switch(self._front, pointer, seed, made))
        self._programs.append(program)
        return number, Switch.at(program, int(ffi.cast("uintptr_t", made[0])))

    def add_port(
        self,
        switch: int,
        number: int,
        interface: str,
        limits: Limits | None = None,
        *,
        inner: bool = False,
    ) -> None:
        """Put a port on an interface; what comes in at an `inner` port is taken first.

        Raises UserError naming the interface.
        """
        try:
            index = socket.if_nametoindex(interface)
            handle = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        except PermissionError:
            raise UserError(f"{interface}: opening interfaces needs root") from None
        except OSError as error:
            reason = error.strerror or "there is no such interface"
            raise UserError(f"{interface}: {reason}") from None
        added = self._library.front_add_port(
            self._front, switch, number, handle.fileno(), index, inner
        )
        if added < 0:
            handle.close()
            raise UserError(f"{interface}: {self._error()}")
        self._sockets[switch, number] = handle
        self.limit(switch, number, limits or Limits())

    def remove_port(self, switch: int, number: int) -> None:
        """Take a port off its interface; what waits there is lost."""
        self._library.front_remove_port(self._front, switch, number)
        self._sockets.pop((switch, number)).close()

    def limit(self, switch: int, number: int, limits: Limits) -> None:
        """Give a port its limits."""
        values = self._ffi.new(
            "struct front_limits *",
            (limits.depth, limits.frames_a_second, limits.bytes_a_second, limits.delay_us),
        )
        self._library.front_limit(self._front, switch, number, values)

    def counts(self, switch: int, number: int) -> Counts:
        """Return what a port has counted."""
        counts = self._ffi.new("struct front_counts *")
        self._library.front_count(self._front, switch, number, counts)
        return Counts(counts.received, counts.sent, counts.dropped, counts.overruns, counts.waiting)

    @property
    def now_us(self) -> int:
        """Microseconds since the start, as programs see them."""
        return int(self._library.front_now(self._front))

    @property
    def lost(self) -> int:
        """Frames that programs sent to ports that there are not."""
        return int(self._library.front_lost(self._front))

    def run(self) -> None:
        """Forward frames until this process is ended."""
        self._checked(self._library.front_run(self._front, -1))

    def start(self) -> None:
        """Begin to forward in a thread."""
        self._running = True
        self._thread.start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Hold the thread, to look into the switches or to change them."""
        with self._gate:
            os.eventfd_write(self._wake, 1)
            with self._turn:
                os.eventfd_read(self._wake)
                yield

    def close(self) -> None:
        """Stop forwarding, if it goes on, and free all switches: nothing can be asked then."""
        with self.paused():
            self._running = False
        if self._thread.is_alive():
            self._thread.join()
        self._library.front_free(self._front)
        self._front = None
        for handle in self._sockets.values():
            handle.close()
        os.close(self._wake)

    def _serve(self) -> None:
        while True:
            with self._gate:
                pass
            with self._turn:
                if not self._running:
                    return
                self._checked(self._library.front_run(self._front, self._wake))

    def _checked(self, result: int) -> int:
        if result < 0:
            raise UserError(self._error())
        return int(result)

    def _error(self) -> str:
        text: Any = self._ffi.string(self._library.front_error(self._front))
        return str(text.decode())
