from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from p4.compiler import compile_file
from p4.engine import Program, Switch
from testbed.bmv2.reproducible import CLOCK, DICE, reproducible

if TYPE_CHECKING:
    from pathlib import Path

RANDOM = """
#include <core.p4>
#include <v1model.p4>
header Dice { bit<8> value; bit<48> time; }
struct Headers { Dice dice; }
struct Metadata {}
parser Read(packet_in packet, out Headers headers, inout Metadata meta,
            inout standard_metadata_t standard) {
    state start { packet.extract(headers.dice); transition accept; }
}
control Nothing(inout Headers headers, inout Metadata meta) { apply {} }
control Roll(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    apply {
        random(headers.dice.value, 1, 6);
        headers.dice.time = standard.ingress_global_timestamp;
        standard.egress_spec = 1;
    }
}
control Leave(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    apply {}
}
control Write(packet_out packet, in Headers headers) { apply { packet.emit(headers.dice); } }
V1Switch(Read(), Nothing(), Roll(), Leave(), Nothing(), Write()) main;
"""


def rolls(program: Program, seed: int) -> list[tuple[int, int]]:
    switch = Switch(program, seed=seed)
    frames = [switch.receive(1, bytes(7), now=seed * 12345)[0].data for _ in range(200)]
    return [(frame[0], int.from_bytes(frame[1:7], "big")) for frame in frames]


def test_reproducible__neither_seed_nor_clock_matters(tmp_path: Path) -> None:
    path = tmp_path / "dice.p4"
    path.write_text(RANDOM, encoding="utf-8")
    document = compile_file(path)
    before = copy.deepcopy(document)
    program = Program.from_document(reproducible(document, tick=10))
    assert document == before
    first, second = rolls(program, 1), rolls(program, 2)
    assert first == second
    assert [time for _, time in first] == list(range(10, 2010, 10))
    assert {value for value, _ in first} == {1, 2, 3, 4, 5, 6}
    assert [register.name for register in program.model.registers] == [CLOCK, DICE]
    assert program.pure_egress
