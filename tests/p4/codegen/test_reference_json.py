"""JSON in the ways of p4c, which differ from this compiler's."""

from pathlib import Path
from typing import Any

import pytest

from errors import UserError
from p4.codegen.build import build_program
from p4.codegen.document import ProgramError
from p4.codegen.generate import generate_c
from p4.codegen.reader import read_program
from p4.compiler import compile_file
from p4.engine import Program, Switch
from tests.p4.codegen.documents import ADD_OUT, assign, constant, document, field, operation

Json = dict[str, Any]
SOURCE = """
#include <core.p4>
#include <v1model.p4>
header Card { bit<8> a; bit<8> b; bit<16> c; }
header Tail { varbit<64> data; }
header Sum { bit<16> sum; bit<8> rest; }
struct Headers { Card card; Tail tail; Sum sum; }
struct Metadata { }
parser P(packet_in packet, out Headers hdr, inout Metadata meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.card);
        packet.extract(hdr.tail, (bit<32>)hdr.card.a << 3);
        packet.extract(hdr.sum);
        transition accept;
    }
}
control V(inout Headers hdr, inout Metadata meta) { apply { } }
control I(inout Headers hdr, inout Metadata meta, inout standard_metadata_t std) {
    apply { std.egress_spec = 3; }
}
control E(inout Headers hdr, inout Metadata meta, inout standard_metadata_t std) { apply { } }
control U(inout Headers hdr, inout Metadata meta) {
    apply {
        update_checksum(true, { hdr.card.a, hdr.card.b, hdr.card.c, hdr.tail.data, hdr.sum.rest },
                        hdr.sum.sum, HashAlgorithm.csum16);
    }
}
control D(packet_out packet, in Headers hdr) {
    apply { packet.emit(hdr.card); packet.emit(hdr.tail); packet.emit(hdr.sum); }
}
V1Switch(P(), V(), I(), E(), U(), D()) main;
"""


def simple(*primitives: Json) -> Json:
    """Return a program that takes a byte, sends a byte, and runs primitives."""
    return document([("a", 8, False)], [ADD_OUT, *primitives], [("r", 8)])


def string(text: str) -> Json:
    return {"type": "string", "value": text}


def test_whole_header_in_a_checksum__is_all_its_fields(tmp_path: Path) -> None:
    source = tmp_path / "sum.p4"
    source.write_text(SOURCE)
    by_field = compile_file(source)
    by_header = compile_file(source)
    by_header["calculations"][0]["input"] = [
        {"type": "header", "value": "card"},
        {"type": "header", "value": "tail"},
        {"type": "field", "value": ["sum", "rest"]},
    ]
    frame = bytes.fromhex("02abcdef 1234 0000 56")
    results = [
        Switch(Program.from_document(item, "sum")).receive(1, frame)
        for item in (by_field, by_header)
    ]
    assert results[0] == results[1]
    assert results[0][0].data[6:8] != bytes(2)


@pytest.mark.parametrize(
    "parameters",
    [
        [string("hello")],
        [string("hello"), {"type": "parameters_vector", "value": {}}],
        [string("hello"), {"type": "parameters_vector", "value": []}],
    ],
)
def test_log__without_values(parameters: list[Json]) -> None:
    program = Program.from_document(simple({"op": "log_msg", "parameters": parameters}), "log")
    switch = Switch(program)
    assert [o.data for o in switch.receive(1, b"\x05")] == [b"\0"]
    assert switch.recorder is not None
    assert switch.recorder.lines == ["hello"]


@pytest.mark.parametrize(("mark", "is_signed"), [(0, False), (1, True), (False, False)])
def test_field__sign_may_be_a_number(mark: object, *, is_signed: bool) -> None:
    program = simple()
    program["header_types"][0]["fields"][0][2] = mark
    assert read_program(program).header_types["in_t"].fields[0].signed is is_signed


def with_copy(*primitives: Json) -> Json:
    """Return a program that also has a copy of the standard metadata."""
    program = simple(*primitives)
    program["headers"].append(
        {"name": "copy", "id": 9, "header_type": "standard_metadata", "metadata": True}
    )
    return program


def standard(name: str) -> Json:
    return field("standard_metadata", name)


DROP_COPY = {"op": "mark_to_drop", "parameters": [{"type": "header", "value": "copy"}]}
SEND_TO_3 = {"op": "assign", "parameters": [standard("egress_spec"), constant(3)]}


def test_mark_to_drop__of_a_copy_counts_once_it_is_copied_back() -> None:
    switch = Switch(Program.from_document(with_copy(SEND_TO_3, DROP_COPY), "copy"))
    assert [o.port for o in switch.receive(1, b"\x05")] == [3]
    back = {"op": "assign", "parameters": [standard("egress_spec"), field("copy", "egress_spec")]}
    switch = Switch(Program.from_document(with_copy(SEND_TO_3, DROP_COPY, back), "copy"))
    assert switch.receive(1, b"\x05") == []


def test_tables__may_name_their_actions() -> None:
    program = simple()
    program["pipelines"][0]["tables"] = [
        {
            "name": "t",
            "match_type": "exact",
            "type": "simple",
            "max_size": 1,
            "key": [{"match_type": "exact", "target": ["in", "a"]}],
            "actions": ["run"],
            "next_tables": {"run": None},
        }
    ]
    assert Program.from_document(program, "named").table("t").actions[0].name == "run"
    program["pipelines"][0]["tables"][0]["actions"] = ["walk"]
    with pytest.raises(ProgramError, match="there is no action `walk`"):
        Program.from_document(program, "named")


def test_errors__are_numbered_as_the_program_numbers_them() -> None:
    show = {"op": "assign", "parameters": [field("out", "r"), standard("parser_error")]}
    program = simple(show)
    program["errors"] = [["NoError", 1], ["PacketTooShort", 2]]
    switch = Switch(Program.from_document(program, "errors"))
    assert [o.data for frame in (b"x", b"") for o in switch.receive(1, frame)] == [b"\1", b"\2"]


def test_formats_before_2__are_refused_by_name() -> None:
    program = simple()
    del program["__meta__"]
    with pytest.raises(ProgramError, match=r"a format before 2\.0, .* is not supported"):
        read_program(program)


def test_two_tables_of_one_name__are_refused_by_it() -> None:
    program = simple()
    table = {
        "name": "same",
        "match_type": "exact",
        "type": "simple",
        "max_size": 1,
        "key": [{"match_type": "exact", "target": ["in", "a"]}],
        "action_ids": [0],
        "next_tables": {"run": None},
        "default_entry": {"action_id": 0},
    }
    for pipeline in program["pipelines"]:
        pipeline["tables"] = [table]
    with pytest.raises(ProgramError, match="two tables are called `same`: rename one with @name"):
        Program.from_document(program, "same")


def test_c_that_does_not_compile__is_the_generator_s_fault() -> None:
    source = generate_c(read_program(simple(assign("r", constant(1))), "broken"))
    with pytest.raises(UserError) as caught:
        build_program(source.replace("static void keep(", "static void kept("), "broken")
    message = str(caught.value)
    assert message.startswith("broken: a fault of the code generator, not of the program: ")
    assert "\n" not in message


STACK = """
#include <core.p4>
#include <v1model.p4>
header Label { bit<8> v; }
struct Headers { Label first; Label[3] stack; Label copy; }
struct Metadata { }
parser P(packet_in packet, out Headers hdr, inout Metadata meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.first);
        packet.extract(hdr.stack.next);
        packet.extract(hdr.stack.next);
        hdr.copy = hdr.stack[0];
        transition accept;
    }
}
control V(inout Headers hdr, inout Metadata meta) { apply { } }
control I(inout Headers hdr, inout Metadata meta, inout standard_metadata_t std) {
    apply { hdr.copy = hdr.stack[1]; }
}
control E(inout Headers hdr, inout Metadata meta, inout standard_metadata_t std) { apply { } }
control U(inout Headers hdr, inout Metadata meta) { apply { } }
control D(packet_out packet, in Headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
"""


@pytest.fixture
def stack(tmp_path: Path) -> Json:
    source = tmp_path / "stack.p4"
    source.write_text(STACK)
    return compile_file(source)


def copies(owner: list[Json]) -> list[Json]:
    """Return the parameters of the one copy of a header there."""
    found = [p for p in owner if p.get("op") == "assign_header"]
    assert len(found) == 1
    parameters: list[Json] = found[0]["parameters"]
    return parameters


def test_header__copied_from_a_stack_at_an_index_of_the_frame(stack: Json) -> None:
    steps = [step for action in stack["actions"] for step in action["primitives"]]
    index = operation("&", field("first", "v"), constant(3))
    copies(steps)[1] = {
        "type": "expression",
        "value": {
            "op": "dereference_header_stack",
            "left": {"type": "header_stack", "value": "stack"},
            "right": index,
        },
    }
    switch = Switch(Program.from_document(stack, "stack"))
    sent = [[o.data.hex() for o in switch.receive(1, bytes([i, 7, 8]))] for i in range(4)]
    assert sent == [["00070807"], ["01070808"], ["020708"], []]
    assert switch.faults().register_range > 0


def test_last_header_of_a_stack__in_the_parser(stack: Json) -> None:
    for action in stack["actions"]:
        action["primitives"] = []
    [state] = stack["parsers"][0]["parse_states"]
    steps = [op["parameters"][0] for op in state["parser_ops"] if op["op"] == "primitive"]
    copies(steps)[1] = {"type": "stack_field", "value": ["stack", "last"]}
    switch = Switch(Program.from_document(stack, "stack"))
    assert [o.data.hex() for o in switch.receive(1, bytes([1, 7, 8]))] == ["01070808"]


def test_metadata__copied_whole(tmp_path: Path) -> None:
    source = tmp_path / "copy.p4"
    source.write_text(SOURCE)
    whole = compile_file(source)
    before = {"name": "before", "id": 99, "header_type": "standard_metadata", "metadata": True}
    whole["headers"].append(before)
    (action,) = (each for each in whole["actions"] if each["primitives"])
    references = [{"type": "header", "value": name} for name in ("before", "standard_metadata")]
    action["primitives"] += [
        {"op": "assign_header", "parameters": references},
        {
            "op": "assign",
            "parameters": [
                {"type": "field", "value": ["standard_metadata", "egress_spec"]},
                {"type": "hexstr", "value": "0x07"},
            ],
        },
        {
            "op": "assign",
            "parameters": [
                {"type": "field", "value": ["card", "c"]},
                {"type": "field", "value": ["before", "egress_spec"]},
            ],
        },
    ]
    frame = bytes.fromhex("00abcdef 1234 56")
    (sent,) = Switch(Program.from_document(whole, "copy")).receive(1, frame)
    assert (sent.port, sent.data[2:4]) == (7, bytes([0, 3]))


def test_header_and_metadata__are_not_copied_to_each_other(tmp_path: Path) -> None:
    source = tmp_path / "copy.p4"
    source.write_text(SOURCE)
    whole = compile_file(source)
    (action,) = (each for each in whole["actions"] if each["primitives"])
    references = [{"type": "header", "value": name} for name in ("card", "standard_metadata")]
    action["primitives"].append({"op": "assign_header", "parameters": references})
    with pytest.raises(ProgramError, match="between a header and metadata"):
        generate_c(read_program(whole))


@pytest.mark.parametrize("operation", ["_jump", "_jump_if_zero", "assign_header", "assign", "push"])
def test_primitive_without_parameters__is_refused_by_its_action(operation: str) -> None:
    program = simple({"op": operation, "parameters": []})
    with pytest.raises(ProgramError, match="action"):
        generate_c(read_program(program))
