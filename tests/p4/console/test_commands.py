"""The prompt's commands."""

from pathlib import Path

import pytest

from p4.codegen.program import Match
from p4.codegen.symbols import KeyInfo
from p4.console.commands import Console, ConsoleError
from p4.console.values import format_match, parse_match, parse_number
from p4.engine import Program, Switch

PROGRAMS = Path(__file__).resolve().parents[1] / "engine_programs"


def console(name: str) -> Console:
    return Console(Switch(Program.load(PROGRAMS / f"{name}.p4")))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        ("0x1f", 31),
        ("0b101", 5),
        ("007", 7),
        ("10.0.0.1", 0x0A000001),
        ("::1", 1),
        ("00:00:00:00:01:02", 0x102),
        ("true", 1),
    ],
)
def test_parse_number(text: str, number: int) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize(
    ("match", "text", "value"),
    [
        (Match.EXACT, "0x0005", 5),
        (Match.LPM, "0x0100/8", (0x100, 8)),
        (Match.TERNARY, "0x0001&&&0x00ff", (1, 255)),
        (Match.RANGE, "0x0001->0x0009", (1, 9)),
        (Match.OPTIONAL, "*", None),
    ],
)
def test_match__is_typed_as_it_is_shown(match: Match, text: str, value: object) -> None:
    key = KeyInfo("k", match, 16)
    assert parse_match(key, text) == value
    assert format_match(key, parse_match(key, text)) == text


def test_tables__added_shown_changed_and_deleted() -> None:
    prompt = console("tables")
    assert prompt.execute("table_add exact_table took_exact 1 2 => 7").endswith("handle 0")
    prompt.execute("table_add ternary_table took_ternary 1&&&255 0&&&0 3 => 8 4")
    prompt.execute("table_add range_table took_range 1->5 0&&&0 => 9 1")
    assert prompt.execute("table_dump exact_table").splitlines() == [
        "0: hdr.key.a=0x01 hdr.key.c=0x2 => Lookup.took_exact 0x7",
        "default: Lookup.took_exact 0xffff",
    ]
    assert "priority 4 => Lookup.took_ternary 0x8" in prompt.execute("table_dump ternary_table")
    prompt.execute("table_modify exact_table took_exact 0 12")
    prompt.execute("table_set_default exact_table took_exact 1")
    assert "0xc" in prompt.execute("table_dump exact_table")
    prompt.execute("table_delete exact_table 0")
    assert prompt.execute("table_num_entries exact_table") == "0"
    prompt.execute("table_clear ternary_table")
    assert "took_wide [entry(16), unused(100)]" in prompt.execute("show_actions")
    assert (
        "Lookup.range_table [hdr.key.b(range, 16), hdr.key.a(ternary, 8)] of 16"
        in prompt.execute("show_tables")
    )


def test_registers_counters_and_meters() -> None:
    prompt = console("traffic")
    prompt.execute("register_write cells 2 9")
    assert prompt.execute("register_read cells 2") == "Enter.cells[2]= 9"
    assert prompt.execute("register_read cells") == "Enter.cells= 0, 0, 9, 0"
    prompt.execute("register_reset cells")
    assert prompt.execute("register_read cells 2").endswith("= 0")
    prompt.execute("counter_write counts 1 5 60")
    assert prompt.execute("counter_read counts 1") == "counts[1]= (5 packets, 60 bytes)"
    prompt.execute("counter_reset counts")
    prompt.execute("meter_array_set_rates rates 0.5:1 1:2")
    assert prompt.execute("meter_get_rates rates 3") == "0.5 1\n1 2"
    assert prompt.execute("faults").splitlines()[0] == "dropped: 0"


def test_replication__groups_follow_their_nodes() -> None:
    prompt = console("traffic")
    for line in ("mc_mgrp_create 6", "mc_node_create 1 4", "mc_node_associate 6 0"):
        prompt.execute(line)
    prompt.execute("mc_node_update 0 7 8")
    assert [o.port for o in prompt.switch.receive(1, bytes([2, 6, 0, 0]))] == [7, 8]
    assert prompt.execute("mc_dump") == "group 6:\n  node 0: replication id 1, ports 7 8"
    prompt.execute("mc_node_dissociate 6 0")
    assert prompt.switch.receive(1, bytes([2, 6, 0, 0])) == []
    prompt.execute("mc_node_destroy 0")
    prompt.execute("mc_mgrp_destroy 6")
    prompt.execute("mirroring_add 3 9")
    assert prompt.execute("mirroring_get 3") == "session 3: port 9"
    prompt.execute("mirroring_delete 3")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "unknown command `nonsense`"),
        ("table_add", "usage: table_add TABLE"),
        ("table_add exact_table took_exact 1 => 7", "1 match values for 2 key fields"),
        ("table_add exact_table took_exact 1 x => 7", "`x` is not a number"),
        ("table_add exact_table took_exact 1 2 => 7 8", "takes 1 parameters, got 2"),
        ("table_dump nothing", "there is no table `nothing`"),
        ("register_read nothing", "there is no register"),
        ("help nothing", "unknown command"),
        ("mc_node_associate 1 1", "there is no multicast group 1"),
        ("meter_set_rates r 1 x", "`x` is not RATE:BURST"),
        ("table_add 'x", "No closing quotation"),
    ],
)
def test_errors__say_what_is_wrong(line: str, message: str) -> None:
    with pytest.raises(ConsoleError, match=message):
        console("tables").execute(line)
