"""Time the P4 engine: nanoseconds a packet, table look-ups at size, compile and load times.

python benchmarks/engine.py [--packets N]
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from p4.codegen.build import CODEGEN, FLAGS, compiler_command
from p4.engine import Program, Switch, contract_declarations

ROOT = Path(__file__).resolve().parents[1]
FRAME = bytes.fromhex(
    "020000000001 020000000002 8100 0064 0800"
    "4500 1048 0000 0000 4011 0000 0a000001 0a010203"
    "c000 12b7 1034 0000"
    "0700ffff 00000001 00000001".replace(" ", "")
)
LENGTH = 4154


def load_driver(folder: Path) -> tuple[Any, Any]:
    """Compile the driver and return it with the interface that its values are made of."""
    import cffi  # noqa: PLC0415

    target = folder / "driver.so"
    source = ROOT / "benchmarks" / "engine_driver.c"
    command = [compiler_command(), "-O2", "-std=gnu11", "-fPIC", "-shared", f"-I{CODEGEN}"]
    subprocess.run([*command, "-o", str(target), str(source)], check=True)
    ffi = cffi.FFI()
    ffi.cdef(
        contract_declarations()
        + """
        extern struct pl_world driver_world;
        double drive(const struct pl_program *program, struct pl_switch **switches,
                     uint32_t switch_count, uint32_t port, const uint8_t *bytes, uint32_t size,
                     uint32_t length, uint64_t count, uint64_t *left);
        """
    )
    return ffi, ffi.dlopen(str(target))


class Bench:
    """Switches of one program in the driver's world."""

    def __init__(self, program: Program, driver: tuple[Any, Any], count: int) -> None:
        self._ffi, self._library = driver
        self._program = program
        world = program.ffi.cast(
            "struct pl_world *",
            int(self._ffi.cast("uintptr_t", self._ffi.addressof(self._library, "driver_world"))),
        )
        self.switches = [Switch(program, world, seed) for seed in range(count)]

    def nanoseconds(self, frame: bytes, packets: int, port: int = 1) -> float:
        """Return the time that a switch takes for a frame; every frame must leave."""
        ffi = self._ffi
        pointers = ffi.new(
            "struct pl_switch *[]",
            [ffi.cast("struct pl_switch *", _address(self._program, s)) for s in self.switches],
        )
        program = ffi.cast(
            "struct pl_program *",
            int(self._program.ffi.cast("uintptr_t", self._program.pointer)),
        )
        left = ffi.new("uint64_t *")
        best = float("inf")
        for _ in range(3):
            seconds = self._library.drive(
                program,
                pointers,
                len(self.switches),
                port,
                frame,
                len(frame),
                LENGTH,
                packets,
                left,
            )
            best = min(best, seconds)
        if left[0] != packets:
            raise SystemExit(f"{packets} frames went in, {left[0]} came out")
        return best / packets * 1e9


def _address(program: Program, switch: Switch) -> int:
    return int(program.ffi.cast("uintptr_t", switch.pointer))


def fill(switch: Switch, routes: int, blocked: int) -> None:
    """Give a router its entries: `routes` prefixes and `blocked` ternary entries besides."""
    switch.table_add("ports", [1], "admit", [3])
    switch.table_add("networks", [100], "in_network", [1])
    switch.table_add("routes", [(0x0A010000, 16)], "hop", [7])
    switch.table_add("neighbours", [7], "to_neighbour", [0x020000000003, 5])
    switch.table_add("classes", [7], "count_turn", [])
    generator = random.Random(1)
    prefixes = {(generator.getrandbits(24), generator.randint(9, 24)) for _ in range(routes)}
    prefixes = {
        ((v << 8) & -(1 << (32 - n)) & 0xFFFFFFFF, n) for v, n in prefixes if v >> 8 != 0x0A01
    }
    switch.table_add_many("routes", [([p], "hop", [1], 0) for p in sorted(prefixes)])
    masks = [generator.getrandbits(32) | 0xFF000000 for _ in range(64)]
    entries = {}
    for number in range(blocked):
        mask = masks[number % len(masks)]
        value = 0xC0000000 | generator.getrandbits(24)
        entries[value & mask, mask] = number + 1
    switch.table_add_many("blocked", [([key, None], "drop", [], n) for key, n in entries.items()])


def time_program(driver: tuple[Any, Any], packets: int) -> None:
    """Print the time a packet of the benchmark's router, by tables and switches."""
    program = Program.load(ROOT / "benchmarks" / "engine_program" / "router.p4", defines={})
    for count, routes, blocked in ((1, 0, 0), (1, 100_000, 0), (1, 0, 5000), (5000, 0, 0)):
        bench = Bench(program, driver, count)
        start = time.perf_counter()
        fill(bench.switches[0], routes, blocked)
        spent = time.perf_counter() - start
        for switch in bench.switches[1:]:
            fill(switch, routes, blocked)
        value = bench.nanoseconds(FRAME, packets)
        print(
            f"router: 5 headers, 6 tables, {count} switches, {routes} routes, {blocked} ternary:"
            f" {value:.1f} ns a packet (entries in {spent:.2f} s)"
        )


def time_compile() -> None:
    """Print how long every program takes from source, cold and from the cache."""
    for path in sorted((ROOT / "p4" / "programs").glob("*.p4")):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["OFAN_CACHE"] = folder
            times = []
            for _ in range(2):
                start = time.perf_counter()
                Program.load(path)
                times.append(time.perf_counter() - start)
        print(f"{path.stem}: {times[0]:.2f} s cold, {times[1] * 1000:.0f} ms from the cache")


def main() -> None:
    """Run all timings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packets", type=int, default=2_000_000)
    arguments = parser.parse_args()
    print(f"flags: {' '.join(FLAGS)}")
    with tempfile.TemporaryDirectory() as folder:
        time_program(load_driver(Path(folder)), arguments.packets)
    time_compile()


if __name__ == "__main__":
    main()
