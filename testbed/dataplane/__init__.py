"""The event core from Python: one Dataplane is one network, or one process's share of it.

The calls are coarse: numpy arrays go in, numpy arrays come out, and one call runs the network.
Times are picoseconds of paper time, sizes bytes on the wire with FCS.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from errors import UserError
from testbed.dataplane.library import load
from testbed.dataplane.records import dtype_of
from testbed.dataplane.settings import Settings, raw_settings, settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Dataplane", "Ended", "Settings", "UserError", "settings_of"]

NEVER = 2**64 - 1  # a time that was not reached, a peer that is not there
NO_NODE = 2**32 - 1
ACKNOWLEDGED = 1 << 30  # added to a flow that is waited for: until it is acknowledged


class Ended(Enum):
    """Why a run returned. After FAILED and DONE it cannot be continued."""

    FAILED = -1
    DONE = 0
    DEADLINE = 1
    STUCK = 2
    BUDGET = 3
    CONTROL = 4


class Dataplane:
    """A network of hosts and switches that run compiled P4 programs.

    Build it in this order: `add_switches`, then `connect` (cables inside this network) or
    `attach` (ports on packet sockets), then `set_addresses` and `add_flows` if it
    has hosts. Then call `run_virtual` or `run_real`, any number of times, and read the records.
    It is a context manager; `close` frees the switches too.
    """

    def __init__(self, settings: Settings, ports: ArrayLike, hosts: int) -> None:
        """Make a network of len(ports) nodes, the first `hosts` of them hosts.

        `ports` has each node's number of ports: 1 for a host, the highest port number + 1 for a
        switch. A node of another process's share has 0. Raises UserError for bad settings.
        """
        self._ffi, self._library = load()
        self.hosts = hosts
        self._flow_count = 0
        self._dp = _make(settings, np.ascontiguousarray(ports, dtype=np.uint32), hosts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the network and its switches; the object cannot be used afterwards."""
        if self._dp:
            self._library.dp_free(self._dp)
            self._dp = None

    def add_switches(self, program: int, nodes: ArrayLike, seeds: ArrayLike) -> NDArray[np.uint64]:
        """Make one switch of a program at each of `nodes`; return their pl_switch addresses.

        `program` is the address of the compiled program's struct pl_program. The tables and
        registers of the switches are filled by p4.engine through the returned addresses.
        """
        ffi = self._ffi
        where = np.ascontiguousarray(nodes, dtype=np.uint32)
        made = np.zeros(len(where), dtype=np.uint64)
        self._check(
            self._library.dp_switches(
                self._dp,
                ffi.cast("struct pl_program *", program),
                len(where),
                ffi.from_buffer("uint32_t[]", where),
                ffi.from_buffer("uint64_t[]", np.ascontiguousarray(seeds, dtype=np.uint64)),
                ffi.from_buffer("struct pl_switch *[]", made, require_writable=True),
            )
        )
        return made

    def set_speeds(
        self,
        node: ArrayLike,
        port: ArrayLike,
        picoseconds_per_byte: ArrayLike,
        delay_ps: ArrayLike,
    ) -> None:
        """Say how fast the links at ports are that are not as the settings; before they are made.

        Both ends of a link have to be given the same. A gap takes as many bytes as in the settings.
        """
        speeds = _columns(
            "dp_speed",
            node=node,
            port=port,
            picoseconds_per_byte=picoseconds_per_byte,
            delay_ps=delay_ps,
        )
        self._check(self._library.dp_speeds(self._dp, len(speeds), self._rows("dp_speed", speeds)))

    def connect(
        self, node: ArrayLike, port: ArrayLike, peer: ArrayLike, peer_port: ArrayLike
    ) -> None:
        """Lay cables: element i joins `port[i]` of `node[i]` with `peer_port[i]` of `peer[i]`."""
        links = _columns("dp_link", node=node, port=port, peer=peer, peer_port=peer_port)
        self._check(self._library.dp_links(self._dp, len(links), self._rows("dp_link", links)))

    def attach(
        self,
        node: ArrayLike,
        port: ArrayLike,
        interface: ArrayLike,
        receiver: ArrayLike,
        sender: ArrayLike,
        *,
        rank: ArrayLike = 0,
    ) -> None:
        """Put ports on interfaces: `port[i]` of `node[i]` on the one of ifindex `interface[i]`.

        `receiver` are descriptors of AF_PACKET sockets made with protocol 0, one each, `sender` of
        any such socket in the same namespace. Rings, filters, buffers and bindings are set here;
        the caller closes the descriptors in the end. Past the core's capacity ports of a greater
        `rank` are served first, and among those of the least one what comes is taken in turns.
        """
        wires = _columns(
            "dp_wire",
            node=node,
            port=port,
            receiver=receiver,
            sender=sender,
            ifindex=interface,
            rank=rank,
        )
        self._check(self._library.dp_wires(self._dp, len(wires), self._rows("dp_wire", wires)))

    def set_addresses(self, ipv4: ArrayLike, mac: ArrayLike) -> None:
        """Give all hosts their IPv4 (host byte order) and MAC addresses, in host order."""
        addresses = np.ascontiguousarray(ipv4, dtype=np.uint32)
        macs = np.ascontiguousarray(mac, dtype=np.uint64)
        if len(addresses) != self.hosts or len(macs) != self.hosts:
            raise UserError(f"{self.hosts} hosts need as many addresses")
        self._library.dp_hosts(
            self._dp,
            self._ffi.from_buffer("uint32_t[]", addresses),
            self._ffi.from_buffer("uint64_t[]", macs),
        )

    def add_flows(
        self, flows: NDArray[np.void], paths: ArrayLike = (), after: ArrayLike = ()
    ) -> None:
        """Add all messages: rows of records.dtype_of("dp_flow"), and the lists they point to.

        `paths` are path ids, `after` flows that are waited for (with ACKNOWLEDGED added where
        sending is not enough). Raises UserError naming the flow that is wrong.
        """
        rows = np.ascontiguousarray(flows, dtype=dtype_of("dp_flow"))
        ids = np.ascontiguousarray(paths, dtype=np.uint16)
        waits = np.ascontiguousarray(after, dtype=np.uint32)
        lists = {
            "after_entries": len(waits),
            "after": self._ffi.from_buffer("uint32_t[]", waits),
            "path_entries": len(ids),
            "paths": self._ffi.from_buffer("uint16_t[]", ids),
        }
        self._check(
            self._library.dp_flows(
                self._dp,
                len(rows),
                self._rows("dp_flow", rows),
                self._ffi.new("struct dp_flow_lists *", lists),
            )
        )
        self._flow_count = len(rows)

    def run_virtual(
        self, *, deadline_ps: int = NEVER, threads: int = 1, budget_ms: int = 0
    ) -> Ended:
        """Run in virtual time until all flows finished, the deadline, or the wall-time budget."""
        return Ended(
            self._check(self._library.dp_run_virtual(self._dp, deadline_ps, threads, budget_ms))
        )

    def run_real(
        self,
        *,
        start_ns: int,
        dilation: float,
        deadline_ps: int = NEVER,
        stuck_ps: int = 0,
        spin_ns: int = 80_000,
        control: int = -1,
    ) -> Ended:
        """Run on the real clock: paper time 0 is CLOCK_MONOTONIC `start_ns`, before or after now.

        Returns CONTROL as soon as the descriptor `control` is readable, DONE when all flows
        finished (a process without flows never is), STUCK when flows wait and no frame came or
        went for `stuck_ps`, or DEADLINE. Call it again with the same `start_ns` to go on.
        """
        real = self._ffi.new(
            "struct dp_real *",
            {
                "start_ns": start_ns,
                "dilation": dilation,
                "deadline_ps": deadline_ps,
                "stuck_ps": stuck_ps,
                "spin_ns": spin_ns,
                "control_fd": control,
            },
        )
        return Ended(self._check(self._library.dp_run_real(self._dp, real)))

    def set_port(self, node: int, port: int, *, up: bool) -> None:
        """Take one direction of a link down or up; frames sent to a port that is down are lost."""
        self._check(self._library.dp_port_up(self._dp, node, port, up))

    @property
    def now_ps(self) -> int:
        """Paper time that the last run reached."""
        return int(self._library.dp_now(self._dp))

    @property
    def message(self) -> str:
        """What the last call that did not succeed had to say, for example which flow waits."""
        return str(self._ffi.string(self._library.dp_error(self._dp)).decode())

    def flows(self) -> NDArray[np.void]:
        """Return struct dp_flow_record of all flows, in flow order."""
        records = np.zeros(self._flow_count, dtype=dtype_of("dp_flow_record"))
        self._library.dp_read_flows(self._dp, self._rows("dp_flow_record", records))
        return records

    def ports(self, from_ps: int = 0, to_ps: int | None = None) -> NDArray[np.void]:
        """Return struct dp_port_record of all ports; queue means are from `from_ps` to `to_ps`.

        `to_ps` is the present if not given.
        """
        count = self._library.dp_port_count(self._dp)
        records = np.zeros(count, dtype=dtype_of("dp_port_record"))
        until = self.now_ps if to_ps is None else to_ps
        rows = self._rows("dp_port_record", records)
        self._library.dp_read_ports(self._dp, from_ps, until, rows)
        return records

    def samples(self) -> NDArray[np.void]:
        """Return struct dp_sample since the last call, ordered by time, node and port."""
        count = self._library.dp_sample_count(self._dp)
        records = np.zeros(count, dtype=dtype_of("dp_sample"))
        self._library.dp_take_samples(self._dp, self._rows("dp_sample", records))
        return records

    def arrivals(self) -> NDArray[np.void]:
        """Return struct dp_arrivals: what hosts received in each microsecond so far."""
        records = np.zeros(self._library.dp_arrival_count(self._dp), dtype=dtype_of("dp_arrivals"))
        self._library.dp_read_arrivals(self._dp, self._rows("dp_arrivals", records))
        return records

    def trace(self, *, on: bool = True) -> None:
        """Keep every frame at every port from now on, or no longer (virtual time)."""
        self._library.dp_trace(self._dp, on)

    def hops(self) -> NDArray[np.void]:
        """Return struct dp_hop of all frames traced since the last call, by port and departure."""
        hops = np.zeros(self._library.dp_hop_count(self._dp), dtype=dtype_of("dp_hop"))
        self._check(self._library.dp_take_hops(self._dp, self._rows("dp_hop", hops)))
        return hops

    def capture(self, places: ArrayLike) -> None:
        """Keep the frames that leave some ports, rows of `ports()`, from now on (virtual time)."""
        wanted = np.ascontiguousarray(places, dtype=np.uint32)
        numbers = self._ffi.from_buffer("uint32_t[]", wanted)
        self._check(self._library.dp_capture(self._dp, len(wanted), numbers))

    def captured(self) -> tuple[NDArray[np.void], bytes]:
        """Return struct dp_captured since the last call by departure, and the bytes of them all."""
        library, dp = self._library, self._dp
        rows = np.zeros(library.dp_captured_count(dp), dtype=dtype_of("dp_captured"))
        stored = np.zeros(library.dp_captured_bytes(dp), dtype=np.uint8)
        content = self._ffi.from_buffer("uint8_t[]", stored)
        library.dp_take_captured(dp, self._rows("dp_captured", rows), content)
        return rows[np.lexsort((rows["place"], rows["departure_ps"]))], stored.tobytes()

    def watch(self, flows: Sequence[int]) -> None:
        """Keep what congestion control does to some flows, once all flows were added.

        Raises UserError for a flow that is not there, and where hosts keep no windows.
        """
        wanted = np.ascontiguousarray(flows, dtype=np.uint32)
        numbers = self._ffi.from_buffer("uint32_t[]", wanted)
        self._check(self._library.dp_watch(self._dp, len(wanted), numbers))

    def watched(self) -> NDArray[np.void]:
        """Return struct dp_watched of watched flows since the last call, by flow and time."""
        count = self._library.dp_watched_count(self._dp)
        rows = np.zeros(count, dtype=dtype_of("dp_watched"))
        self._library.dp_take_watched(self._dp, self._rows("dp_watched", rows))
        return rows

    def totals(self) -> dict[str, int]:
        """Return the fields of struct dp_totals: where all frames are."""
        totals = self._ffi.new("struct dp_totals *")
        self._library.dp_read_totals(self._dp, totals)
        return {name: int(getattr(totals, name)) for name in dtype_of("dp_totals").names or ()}

    def pacing(self) -> NDArray[np.void]:
        """Return struct dp_pacing of all hosts (real clock)."""
        records = np.zeros(self.hosts, dtype=dtype_of("dp_pacing"))
        self._library.dp_read_pacing(self._dp, self._rows("dp_pacing", records))
        return records

    def _rows(self, struct: str, records: NDArray[np.void]) -> Any:
        return self._ffi.from_buffer(f"struct {struct}[]", records)

    def _check(self, result: int) -> int:
        if result < 0:
            raise UserError(self.message)
        return int(result)


def _make(settings: Settings, ports: NDArray[np.uint32], hosts: int) -> Any:
    ffi, library = load()
    raw = raw_settings(settings)
    made = library.dp_new(raw, len(ports), hosts, ffi.from_buffer("uint32_t[]", ports))
    if not made:
        raise UserError("not enough memory for a network")
    if message := ffi.string(library.dp_error(made)).decode():
        library.dp_free(made)
        raise UserError(message)
    return made


def _columns(struct: str, **columns: ArrayLike) -> NDArray[np.void]:
    arrays = {name: np.atleast_1d(np.asarray(column)) for name, column in columns.items()}
    rows = np.zeros(max(map(len, arrays.values())), dtype=dtype_of(struct))
    for name, array in arrays.items():
        rows[name] = array
    return rows
