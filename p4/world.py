"""A world in Python for switches in tests, STF and by hand: it keeps what comes out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from p4.engine import Program


@dataclass(frozen=True, slots=True)
class Output:
    """A frame that left a switch; `data` is padded with zeros to its length."""

    port: int
    data: bytes
    priority: int = 0


@dataclass(slots=True)
class Recorder:
    """Collects the frames, digests and log lines of one switch.

    Frames that wait for their egress are served in the order of their arrival, by `drain`.
    """

    outputs: list[Output] = field(default_factory=list)
    digests: list[tuple[int, bytes]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    waiting: deque[tuple[int, int, Any]] = field(default_factory=deque)

    def bind(self, program: Program) -> Any:
        """Return a `struct pl_world` that reports to this recorder; it must outlive the switch."""
        ffi = program.ffi
        world = ffi.new("struct pl_world *")
        callbacks = (
            ffi.callback(
                "void(void *, uint32_t, uint32_t, const struct pl_frame *, struct pl_held *)",
                lambda _, port, priority, frame, held: self._enqueue(
                    ffi, port, priority, frame, held
                ),
            ),
            ffi.callback(
                "void(void *, uint32_t, const struct pl_frame *)",
                lambda _, port, frame: self.outputs.append(Output(port, _bytes(ffi, frame))),
            ),
            ffi.callback(
                "void(void *, uint32_t, const uint8_t *, uint32_t)",
                lambda _, receiver, data, size: self.digests.append(
                    (receiver, bytes(ffi.buffer(data, size)))
                ),
            ),
            ffi.callback(
                "void(void *, const char *)",
                lambda _, line: self.lines.append(ffi.string(line).decode(errors="replace")),
            ),
        )
        world.enqueue, world.transmit, world.digest, world.log = callbacks
        program.keep(world, callbacks)
        return world

    def _enqueue(self, ffi: Any, port: int, priority: int, frame: Any, held: Any) -> None:
        if held == ffi.NULL:
            self.outputs.append(Output(port, _bytes(ffi, frame), priority))
        else:
            self.waiting.append((port, priority, held))


def _bytes(ffi: Any, frame: Any) -> bytes:
    return bytes(ffi.buffer(frame.data, frame.stored)).ljust(frame.length, b"\0")
