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


def hashed(algorithms: list[str], size: int = len(CHECK)) -> Switch:
    fields = [(f"b{n}", 8, False) for n in range(size)]
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


RSS_KEY = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa"


@pytest.mark.parametrize(
    ("data", "result"),
    [("420995bba18e6450", 0x323E8FC2), ("420995bba18e64500aea06e6", 0x51CCC178)],
)
def test_toeplitz__with_the_key_that_receive_side_scaling_is_verified_with(
    data: str, result: int
) -> None:
    frame = bytes.fromhex(data)
    switch = hashed(["toeplitz"], len(frame))
    switch.toeplitz_set("toeplitz", bytes.fromhex(RSS_KEY))
    assert int.from_bytes(switch.receive(0, frame)[0].data, "big") == result


def test_custom_crcs__with_parameters_of_known_crcs() -> None:
    names = ["crc8_custom", "crc16_custom", "crc32_custom", "crc64_custom"]
    switch = hashed(names)
    switch.crc_set("crc8_custom", 0x31, 0, 0, reflect_data=True, reflect_remainder=True)
    switch.crc_set("crc16_custom", 0x8005, 0xFFFF, 0, reflect_data=True, reflect_remainder=True)
    ones = 0xFFFFFFFF
    switch.crc_set(
        "crc32_custom", 0x04C11DB7, ones, ones, reflect_data=False, reflect_remainder=False
    )
    switch.crc_set(
        "crc64_custom", 0x42F0E1EBA9EA3693, 0, 0, reflect_data=False, reflect_remainder=False
    )
    [output] = switch.receive(0, CHECK)
    found = [int.from_bytes(output.data[8 * n : 8 * n + 8], "big") for n in range(4)]
    assert found == [0xA1, 0x4B37, 0xFC891918, 0x6C40DF5F0B497347]  # MAXIM, MODBUS, BZIP2, ECMA
