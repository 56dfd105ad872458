"""Switches from Python: frames, the traffic manager, registers, counters, errors."""

import struct
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4.codegen.document import ProgramError
from p4.engine import GROUP, EngineError, Output, Program, Switch

PROGRAMS = Path(__file__).parent / "engine_programs"


@cache
def program(name: str) -> Program:
    return Program.load(PROGRAMS / f"{name}.p4")


@pytest.fixture
def traffic() -> Switch:
    return Switch(program("traffic"), seed=5)


def send(switch: Switch, what: int, value: int = 0, port: int = 3) -> list[Output]:
    return switch.receive(port, bytes([what, value, 0, 0]) + b"payload", now=1000)


def label(port_in: int, port_out: int, length: int) -> bytes:
    return struct.pack(">HHI", port_in, port_out, length)


def test_receive__forwards_with_added_header(traffic: Switch) -> None:
    assert send(traffic, 0) == [Output(2, bytes(4) + label(3, 2, 11) + b"payload")]


def test_receive__length_beyond_what_is_stored_is_zeros(traffic: Switch) -> None:
    outputs = traffic.receive(3, bytes(4) + b"pay", length=12)
    assert outputs == [Output(2, bytes(4) + label(3, 2, 12) + b"pay" + bytes(5))]


def test_receive__short_frame_passes_unparsed(traffic: Switch) -> None:
    assert [o.data for o in traffic.receive(3, b"")] == [label(3, 2, 0)]
    assert [o.data for o in traffic.receive(3, b"\x01")] == [label(3, 2, 1) + b"\x01"]


def test_receive__drop_is_counted(traffic: Switch) -> None:
    assert send(traffic, 1) == []
    assert traffic.faults().dropped == 1


def test_multicast__copies_show_their_instance(traffic: Switch) -> None:
    traffic.group_set(6, [(4, 40), (5, 50), (4, 41)])
    outputs = send(traffic, 2, 6)
    assert [(o.port, o.data[2], o.data[3]) for o in outputs] == [(4, 40, 5), (5, 50, 5), (4, 41, 5)]


def test_multicast__group_that_does_not_exist_swallows(traffic: Switch) -> None:
    assert send(traffic, 2, 9) == []


def test_clone__ingress_clone_is_the_frame_as_it_came(traffic: Switch) -> None:
    traffic.mirror_set(8, port=6)
    clone, original = sorted(send(traffic, 3, 8), key=lambda output: -output.port)
    assert (original.port, original.data[2], original.data[3]) == (2, 99, 0)
    assert (clone.port, clone.data[2], clone.data[3]) == (6, 7, 1)


def test_clone__unknown_session_gives_no_clone(traffic: Switch) -> None:
    assert [output.port for output in send(traffic, 3, 8)] == [2]


def test_clone__egress_clone_keeps_its_field_list(traffic: Switch) -> None:
    traffic.mirror_set(0, port=6)
    outputs = send(traffic, 13, 0)
    assert [(o.port, o.data[2], o.data[3]) for o in outputs] == [(2, 0, 0), (6, 3, 2)]


def test_resubmit__keeps_only_its_field_list(traffic: Switch) -> None:
    [output] = send(traffic, 4, 5)
    assert (output.data[2], output.data[3]) == (5, 0)


def test_resubmit__forever_is_stopped_and_counted(traffic: Switch) -> None:
    assert send(traffic, 15) == []
    assert traffic.faults().recursion == 1


def test_recirculate__passes_egress_again(traffic: Switch) -> None:
    [output] = send(traffic, 14, 4)
    assert output.data == bytes([14, 4, 4, 0]) + b"payload"


def test_truncate__cuts_headers_too(traffic: Switch) -> None:
    for length in (0, 3, 8, 14, 19, 100):
        [output] = send(traffic, 5, length)
        assert len(output.data) == min(length, 19)


def test_digest__reaches_the_world(traffic: Switch) -> None:
    send(traffic, 6, 77)
    assert traffic.recorder is not None
    [(_, data)] = traffic.recorder.digests
    assert data == bytes([77, 0, 3])


def test_log__reaches_the_world(traffic: Switch) -> None:
    send(traffic, 11, 77)
    assert traffic.recorder is not None
    assert traffic.recorder.lines == ["value 77 port 3"]


def test_register__counts_and_wraps(traffic: Switch) -> None:
    traffic.register_write("cells", slice(0, 4), [1, 255, 3, 4])
    assert [send(traffic, 7, 1)[0].data[2] for _ in range(3)] == [255, 0, 1]
    assert traffic.register_read("cells") == [1, 2, 3, 4]
    assert traffic.register_read("Enter.cells", 2) == 3


def test_register__index_out_of_range_is_a_fault_and_drops(traffic: Switch) -> None:
    assert send(traffic, 7, 4) == []
    assert traffic.faults().register_range >= 1


def test_counter__counts_frames_and_bytes_on_the_wire(traffic: Switch) -> None:
    send(traffic, 8, 3)
    send(traffic, 8, 3)
    assert traffic.counter_read("counts", 3) == (2, 22)
    assert traffic.counter_read("counts", 0) == (0, 0)


def test_meter__turns_yellow_and_red(traffic: Switch) -> None:
    traffic.meter_set("rates", 1, [(0.0, 2.0), (0.0, 3.0)])
    assert [send(traffic, 9, 1)[0].data[2] for _ in range(4)] == [0, 0, 1, 2]
    assert traffic.meter_rates("rates", 1) == [(0.0, 2.0), (0.0, 3.0)]
    assert traffic.meter_rates("rates", 0) == []


def test_random__is_seeded_and_uniform() -> None:
    first, again, other = (Switch(program("traffic"), seed=seed) for seed in (1, 1, 2))
    draws = [[send(s, 10, 3)[0].data[2] for _ in range(400)] for s in (first, again, other)]
    assert draws[0] == draws[1] != draws[2]
    assert set(draws[0]) == {10, 11, 12, 13}
    assert all(60 < draws[0].count(value) < 140 for value in range(10, 14))


def test_assert__failing_drops_and_counts(traffic: Switch) -> None:
    assert len(send(traffic, 12, 0)) == 1
    assert send(traffic, 12, 1) == []
    assert traffic.faults().assertions == 1


def test_switches__share_no_state() -> None:
    one, other = Switch(program("traffic")), Switch(program("traffic"))
    send(one, 7, 0)
    assert (one.register_read("cells", 0), other.register_read("cells", 0)) == (1, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.register_read("nothing"), "no register `nothing`"),
        (lambda s: s.register_read("cells", 4), "register Enter.cells, index 4"),
        (lambda s: s.register_read("cells", -1), "register Enter.cells, index -1"),
        (lambda s: s.register_write("cells", 0, 256), "256 does not fit 8 bits"),
        (lambda s: s.counter_read("counts", 4), "counter Enter.counts, index 4"),
        (lambda s: s.mirror_set(40000, port=1), "mirroring session 40000"),
        (lambda s: s.mirror_delete(1), "mirroring session 1"),
        (lambda s: s.group_set(1, [(512, 0)]), "multicast group 1"),
        (lambda s: s.group_delete(1), "group 1"),
        (lambda s: s.meter_set("rates", 0, [(2.0, 1.0), (1.0, 1.0)]), "meter Enter.rates"),
        (lambda s: s.table_add("nothing", [], "x"), "no table `nothing`"),
    ],
)
def test_errors__name_what_and_why(traffic: Switch, call: object, message: str) -> None:
    with pytest.raises(EngineError, match=message.replace("[", r"\[")):
        call(traffic)  # type: ignore[operator]


def test_load__wrong_json_names_the_place(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"__meta__": {"version": [2, 23]}, "actions": [{"name": 3}]}')
    with pytest.raises(ProgramError, match=r"wrong.json: actions\[0\].name: must be a string"):
        Program.load(wrong)


@pytest.mark.parametrize("version", [[1, 0], [3, 0], [2, 99]])
def test_load__checks_the_version(tmp_path: Path, version: list[int]) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text(f'{{"__meta__": {{"version": {version}}}}}')
    with pytest.raises(ProgramError, match="is not supported"):
        Program.load(wrong)


def test_load__comes_from_the_cache_the_second_time(tmp_path: Path) -> None:
    source = tmp_path / "copy.p4"
    source.write_text((PROGRAMS / "traffic.p4").read_text())
    first, second = Program.load(source), Program.load(source)
    assert first.library == second.library
    source.write_text(
        source.read_text().replace("standard.egress_spec = 2", "standard.egress_spec = 1")
    )
    third = Switch(Program.load(source))
    assert send(third, 0)[0].port == 1


# Frames of all kinds --------------------------------------------------------------------------


def framed(body: bytes, kind: int) -> bytes:
    return bytes(12) + kind.to_bytes(2, "big") + body


@settings(max_examples=400, deadline=None)
@given(
    st.binary(max_size=120),
    st.sampled_from([0x8100, 1, 2, 3, 9]),
    st.integers(0, 60),
    st.integers(0, 140),
)
def test_layers__frames_leave_as_they_entered(body: bytes, kind: int, more: int, cut: int) -> None:
    switch = Switch(program("layers"))
    frame = framed(body, kind)[:cut]
    outputs = switch.receive(0, frame, length=len(frame) + more)
    assert outputs == [Output(1, frame + bytes(more))]


def test_layers__stack_overflow_keeps_what_was_parsed() -> None:
    frame = framed(bytes(30), 0x8100)
    assert Switch(program("layers")).receive(0, frame) == [Output(1, frame)]


def test_invalid_header__shows_what_an_earlier_frame_left() -> None:
    switch = Switch(program("residue"))
    frames = [b"\0\0", b"\1\0\7", b"\0\0", b"\2\0\x09", b"\0\0"]
    seen = [[output.data[1] for output in switch.receive(0, frame)] for frame in frames]
    assert seen == [[0], [7], [7], [], [9]]


def keyed(identity: int, kind: int, flow: int) -> bytes:
    return ((identity << 4 | kind) << 16 | flow).to_bytes(4, "big")


def test_value_set__is_what_was_put_in() -> None:
    switch = Switch(program("sets"))
    for values in ([], [5, 0xFFF], [7]):
        switch.value_set_fill("chosen", values)
        found = [switch.receive(0, keyed(i, 0, 0))[0].data[0] for i in (5, 7, 0xFFF)]
        assert found == [int(i in values) for i in (5, 7, 0xFFF)]
    with pytest.raises(EngineError, match=r"value set .*: the declared size is reached"):
        switch.value_set_fill("chosen", [1, 2, 3, 4, 5])


def test_selector__spreads_flows_over_a_group() -> None:
    switch = Switch(program("sets"))
    members = [switch.member_set("paths", "to", [port]) for port in (1, 2, 3)]
    group = switch.selection_set("paths", members)
    switch.table_add("balance", [0], group | GROUP)
    switch.table_add("balance", [1], members[1])
    ports = [switch.receive(0, keyed(0, 0, flow))[0].port for flow in range(300)]
    assert {port: ports.count(port) > 60 for port in (1, 2, 3)} == {1: True, 2: True, 3: True}
    assert ports == [switch.receive(0, keyed(0, 0, flow))[0].port for flow in range(300)]
    assert switch.receive(0, keyed(0, 1, 5))[0].port == 2
    assert switch.receive(0, keyed(0, 2, 5))[0].port == 9
    assert [entry.action for entry in switch.table_entries("balance")] == ["group 0", "member 1"]
    with pytest.raises(EngineError, match="in use"):
        switch.member_delete("paths", members[0])
    switch.selection_set("paths", members[:1], group)
    assert {switch.receive(0, keyed(0, 0, flow))[0].port for flow in range(20)} == {1}
    switch.member_delete("paths", members[2])
    with pytest.raises(EngineError, match="no such"):
        switch.table_add("balance", [3], members[2])


def test_table__applied_twice_goes_on_where_it_was_applied() -> None:
    switch = Switch(program("rounds"))
    switch.table_add("turns", [1], "add", [5])
    switch.table_add("turns", [2], "add", [7])
    assert switch.receive(1, bytes([1, 0, 0, 0])) == [Output(2, bytes([3, 12, 0, 0]))]
    assert switch.receive(1, bytes([2, 0, 0, 0])) == [Output(2, bytes([3, 7, 0, 0]))]


def test_loop__without_an_end_is_stopped_and_counted() -> None:
    switch = Switch(program("rounds"))
    assert switch.receive(1, bytes([0, 0, 5, 0])) == [Output(2, bytes([0, 0, 5, 3]))]
    assert switch.receive(1, bytes([0, 0, 255, 0])) == []
    assert switch.faults().recursion == 1


@pytest.mark.parametrize("size", [0, 1, 3, 4, 63, 1500, 9000, 65_534, 65_535])
def test_receive__frames_of_every_size(traffic: Switch, size: int) -> None:
    frame = (bytes(4) + b"payload" * 9362)[:size]
    assert [o.data for o in traffic.receive(3, frame)] == [
        frame[:4] + label(3, 2, size) + frame[4:] if size >= 4 else label(3, 2, size) + frame
    ]
