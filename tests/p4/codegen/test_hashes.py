"""Hashes against their published check values."""

import pytest

from p4.engine import Program, Switch
from tests.p4.codegen.documents import ADD_OUT, constant, document, field

CHECK = b"123456789"
VALUES = {
    "crc16": 0xBB3D,
    "crc16_custom": 0xBB3D,
    "crc32": 0xCBF43926,
    "crc32_custom": 0xCBF43926,
    "crcCCITT": 0x29B1,
    "crc8_custom": 0xF4,
    "csum16": 0xF62A,
    "xor16": 0x3132 ^ 0x3334 ^ 0x3536 ^ 0x3738 ^ 0x3900,
    "xor32": 0x31323334 ^ 0x35363738 ^ 0x39000000,
    "identity": 0x3132333435363738,
    "xxh64": 0x8CB841DB40E6AE83,
    "bmv2_hash": 0x8CB841DB40E6AE83,
    "toeplitz": 0,
}


def hashed(algorithms: list[str]) -> Switch:
    fields = [(f"b{n}", 8, False) for n in range(len(CHECK))]
    primitives = [ADD_OUT]
    for name in algorithms:
        target = {"type": "calculation", "value": name}
        primitives.append(
            {
                "op": "modify_field_with_hash_based_offset",
                "parameters": [field("out", name), constant(0), target, constant((1 << 64) - 1)],
            }
        )
    program = document(fields, primitives, [(name, 64) for name in algorithms])
    inputs = [field("in", name) for name, _, _ in fields]
    program["calculations"] = [
        {"name": name, "id": number, "algo": name, "input": inputs}
        for number, name in enumerate(algorithms)
    ]
    return Switch(Program.from_document(program, "hashes"))


def test_hashes__have_their_check_values() -> None:
    [output] = hashed(list(VALUES)).receive(0, CHECK)
    found = {
        name: int.from_bytes(output.data[8 * n : 8 * n + 8], "big") for n, name in enumerate(VALUES)
    }
    assert found == VALUES


@pytest.mark.parametrize("name", ["round_robin", "round_robin_consistent"])
def test_round_robin__counts(name: str) -> None:
    switch = hashed([name])
    frames = [CHECK, CHECK, b"987654321", CHECK]
    found = [int.from_bytes(switch.receive(0, frame)[0].data, "big") for frame in frames]
    assert found == ([0, 1, 2, 3] if name == "round_robin" else [0, 0, 1, 0])
