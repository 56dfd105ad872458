"""Commands do all of what they say or nothing, and nothing in use can be taken away."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4.commands.run import make_console
from p4.console.commands import REFUSED, Console, ConsoleError
from p4.console.interfaces import SoftwareSwitch
from p4.engine import EngineError, Program, Switch

PROGRAM = Program.load(Path(__file__).resolve().parents[1] / "engine_programs" / "objects.p4")
FRAME = bytes(4) + bytes(16) + bytes(2) + b"\x01" + b"\0"
STOCK_COMMANDS = (Path(__file__).parent / "stock_commands.txt").read_text().split()


def prompt(*lines: str) -> Console:
    console = Console(Switch(PROGRAM))
    for line in lines:
        console.execute(line)
    return console


def ports(console: Console) -> list[int]:
    return [output.port for output in console.switch.receive(1, FRAME, now=1)]


def state(console: Console) -> str:
    """Return all that the control plane can set, as text."""
    symbols, switch = PROGRAM.symbols, console.switch
    parts: list[object] = [console.execute("mc_dump")]
    parts += [switch.table_entries(t.name) for t in symbols.tables]
    parts += [switch.table_default(t.name) for t in symbols.tables]
    parts += [switch.members(p.name) for p in symbols.profiles]
    parts += [switch.selections(p.name) for p in symbols.profiles]
    parts += [switch.register_read(r.name) for r in symbols.registers]
    parts += [switch.counter_read(c.name, n) for c in symbols.counters for n in range(c.size)]
    parts += [switch.meter_rates(m.name, n) for m in symbols.meters for n in range(m.size)]
    parts += [console.execute(f"pvs_get {v.name}") for v in symbols.value_sets]
    for session in range(3):
        try:
            parts.append(console.execute(f"mirroring_get {session}"))
        except ConsoleError as error:
            parts.append(str(error))
    return "\n".join(map(str, parts))


def test_stock_commands__are_there_or_refused_by_name() -> None:
    console = make_console(SoftwareSwitch(PROGRAM, {}))
    assert set(STOCK_COMMANDS) <= {*console.names, *REFUSED}
    for name in REFUSED:
        with pytest.raises(ConsoleError, match=f"`{name}` is not supported: "):
            console.execute(name)


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["table_indirect_add ap 1 => 0"], "act_prof_delete_member prof 0"),
        (["table_indirect_set_default ap 0"], "act_prof_delete_member prof 0"),
        (["act_prof_create_group sel 0"], "act_prof_delete_member sel 0"),
        (
            ["act_prof_create_group sel 0", "table_indirect_add_with_group as 1 => 0"],
            "act_prof_delete_group sel 0",
        ),
        (
            ["act_prof_create_group sel 0", "table_indirect_set_default_with_group as 0"],
            "act_prof_delete_group sel 0",
        ),
    ],
)
def test_what_is_in_use__stays(lines: list[str], wrong: str) -> None:
    members = ["act_prof_create_member prof port 5", "act_prof_create_member sel port 6"]
    console = prompt(*members, *lines)
    there, before = ports(console), state(console)
    with pytest.raises(ConsoleError, match="it is in use"):
        console.execute(wrong)
    assert state(console) == before
    assert ports(console) == there


def test_members__can_go_once_nothing_names_them() -> None:
    console = prompt(
        "act_prof_create_member prof port 5",
        "table_indirect_add ap 1 => 0",
        "table_indirect_set_default ap 0",
        "table_indirect_delete ap 0",
        "table_indirect_reset_default ap",
        "act_prof_delete_member prof 0",
    )
    assert console.execute("act_prof_dump prof") == "no members"


def test_groups__grow_and_shrink_by_member() -> None:
    console = prompt(
        "table_indirect_create_member as port 4",
        "act_prof_create_member sel port 7",
        "table_indirect_create_group as",
        "act_prof_add_member_to_group sel 0 0",
    )
    console.execute("table_indirect_add_with_group as 1 => 0")
    assert ports(console) == [4]
    console.execute("act_prof_add_member_to_group sel 1 0")
    console.execute("table_indirect_remove_member_from_group as 0 0")
    assert ports(console) == [7]
    assert console.execute("act_prof_dump sel").splitlines() == [
        "member 0: I.port 0x4",
        "member 1: I.port 0x7",
        "group 0: members 1",
    ]
    console.execute("act_prof_modify_member sel port 1 => 3")
    assert ports(console) == [3]


@pytest.mark.parametrize(
    ("lines", "wrong", "message"),
    [
        (["act_prof_create_group sel"], "table_indirect_add_with_group as 1 => 0", "no members"),
        (["act_prof_create_group sel"], "act_prof_add_member_to_group sel 0 0", "no such"),
        ([], "table_indirect_add_with_group ap 1 => 0", "prof has no selector"),
        ([], "table_indirect_add ex 1 => 0", "ex has no action profile"),
        (["mc_mgrp_create 1", "mc_node_create 0 2", "mc_node_associate 1 0"],
         "mc_node_associate 1 0", "node 0 is in group 1 already"),
        ([], "mc_mgrp_create -5", "multicast group -5 is not within 0 to 65535"),
        ([], "mc_node_create 0 600", "port 600 is not within 0 to 510"),
        ([], "mc_node_create 0 2 2", "port 2 is given twice"),
        ([], "mirroring_add 70000 1", "session 70000 is not within"),
        ([], "table_add te port 1&&&1 2 => 3", "ends with its priority"),
        ([], "table_add ra port 1->2 => 3", "ends with its priority"),
        ([], "table_add op port 1 * => 3", "ends with its priority"),
        ([], "table_add te port 1&&&1 2 => 3 -1", "priority -1 does not fit"),
        ([], "meter_set_rates speed 0 nan:1 1:1", "rate and burst are numbers from 0"),
        ([], "meter_set_rates speed 0 1:1 inf:1", "rate and burst are numbers from 0"),
        ([], "meter_set_rates speed 0 -1:1 1:1", "rate and burst are numbers from 0"),
        ([], "meter_set_rates speed 0 1:1", "has 2 rates, got 1"),
        ([], "set_crc16_parameters nothing 1 2 3 0 0", "there is no hash that can be set"),
    ],
)  # fmt: skip
def test_refused(lines: list[str], wrong: str, message: str) -> None:
    console = prompt(*lines)
    before = state(console)
    with pytest.raises(ConsoleError, match=message):
        console.execute(wrong)
    assert state(console) == before


def test_engine__refuses_what_commands_refuse() -> None:
    switch = Switch(PROGRAM)
    with pytest.raises(EngineError, match="needs a priority"):
        switch.table_add("te", [(1, 1), 2], "port", [3])
    for rates in ([(float("nan"), 1), (1, 1)], [(1, 1), (float("inf"), 1)], [(-1, 1), (1, 1)]):
        with pytest.raises(EngineError, match="speed"):
            switch.meter_set("speed", 0, rates)
    with pytest.raises(EngineError, match="an entry with this key exists"):
        switch.table_add_many("ex", [([1], "port", [2], None), ([1], "port", [3], None)])
    assert switch.table_entries("ex") == []
    member = switch.member_set("sel", "port", [1])
    with pytest.raises(EngineError, match="the group has no members"):
        switch.table_add("as", [1], switch.selection_set("sel", []) + (1 << 30))
    switch.selection_set("sel", [member])
    with pytest.raises(EngineError, match="it is in use"):
        switch.member_delete("sel", member)


def test_default__goes_back_to_the_program_s_own() -> None:
    console = prompt("table_set_default ex port 9")
    assert "port 0x9" in console.execute("table_dump ex")
    console.execute("table_reset_default ex")
    assert console.execute("table_dump ex") == "default: I.none"


def test_reset_state__is_like_a_new_switch() -> None:
    console = prompt(
        "table_add ex port 1 => 2",
        "table_set_default lp port 3",
        "register_write cells 1 2",
        "counter_write hits 1 2 3",
        "meter_set_rates speed 1 1:2 3:4",
        "mc_mgrp_create 4",
        "mc_node_create 0 1",
        "mirroring_add 1 2",
        "pvs_add kinds 5",
        "act_prof_create_member prof port 5",
        "table_indirect_add ap 1 => 0",
    )
    console.execute("reset_state")
    assert state(console) == state(prompt())


def test_custom_hashes__have_the_parameters_that_were_set() -> None:
    console = prompt()
    data = (0x31323334_35363738_39).to_bytes(
        9, "big"
    )  # "123456789", of which check values are known

    def hashed() -> tuple[int, int]:
        frame = bytes(4) + bytes(7) + data + bytes(4)
        console.switch.receive(1, frame, now=1)
        return tuple(console.switch.register_read("hashes"))

    assert hashed() == (0xBB3D, 0xCBF43926)
    console.execute("set_crc16_parameters calc 0x1021 0xffff 0 false False")
    assert hashed() == (0x29B1, 0xCBF43926)
    console.execute("set_crc32_parameters calc_0 0x1edc6f41 0xffffffff 0xffffffff true true")
    assert hashed() == (0x29B1, 0xE3069283)
    with pytest.raises(ConsoleError, match="its parameters have 16 bits"):
        console.execute("set_crc16_parameters calc 0x11021 0 0 0 0")
    with pytest.raises(ConsoleError, match="calc is crc16_custom, not crc32_custom"):
        console.execute("set_crc32_parameters calc 1 0 0 0 0")


def test_lags__one_port_each() -> None:
    console = prompt(
        "mc_mgrp_create 1",
        "mc_set_lag_membership 3 6 4 5",
        "mc_node_create 0 2 | 3",
        "mc_node_associate 1 0",
    )
    # 0xff modulo 3 ports is 0: the first
    assert console.execute("mc_dump").splitlines() == [
        "group 1:",
        "  node 0: replication id 0, ports 2, LAGs 3",
        "LAG 3: ports 4 5 6",
    ]


WORDS = (
    "ex lp te ra op ap as dm prof sel port none pair cells wide hits speed seen pace kinds => | -1"
    " 0 1 2 3 1/8 1&&&3 1->3 3->1 * 0:1 1:2 nan:1 600 70000 99999999999999999999 x"
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([n for n in Console(Switch(PROGRAM)).names if n != "reset_state"]),
            st.lists(st.sampled_from(WORDS.split()), max_size=7),
        ),
        max_size=12,
    )
)
def test_any_line__does_all_or_nothing(lines: list[tuple[str, list[str]]]) -> None:
    console = prompt(
        "act_prof_create_member prof port 5",
        "act_prof_create_member sel port 6",
        "act_prof_create_group sel 0",
        "mc_mgrp_create 1",
        "mc_node_create 0 2",
    )
    for name, words in lines:
        before, message = state(console), None
        try:
            console.execute(" ".join([name, *words]))
        except ConsoleError as error:
            message = str(error)
        assert message is None or "\n" not in message
        assert message is None or state(console) == before
