"""STF scripts: the dialect, and what a script that fails says."""

from pathlib import Path

import pytest

from errors import UserError
from p4.engine import Program
from p4.stf import StfMismatchError, run_stf
from p4.stf import reader as stf
from p4.stf.reader import parse_stf

PROGRAMS = Path(__file__).resolve().parents[1] / "engine_programs"
TABLES = Program.load(PROGRAMS / "tables.p4")
TRAFFIC = Program.load(PROGRAMS / "traffic.p4")
KEY = "01 0203 45 00000000 00000000 00000000 00000000"
EMPTY = "0000 0000 0000 0000 0000 0000"


def test_read__whole_dialect() -> None:
    steps = parse_stf(
        """
        # a comment
        packet 3 0102 03FF   # with data
        expect 4 01*2 $
        expect 5
        no_packet
        wait
        add tab 100 a:0x1* b:0b11 act(x:1, y:0x2) = first
        add "long.name" a$0.b:1 act()
        setdefault tab act(x:3)
        check_counter hits($first) packets >= 2
        check_counter hits(7)
        remove all
        mc_mgrp_create 1
        """
    )
    assert steps == [
        stf.Packet(3, 3, bytes.fromhex("010203ff")),
        stf.Expect(4, 4, "01*2", exact=True),
        stf.Expect(5, 5, None, exact=False),
        stf.NoPacket(6),
        stf.Wait(7),
        stf.Add(
            8,
            "tab",
            100,
            (("a", "0x1*"), ("b", "0b11")),
            "act",
            (("x", "1"), ("y", "0x2")),
            "first",
        ),
        stf.Add(9, "long.name", None, (("a$0.b", "1"),), "act", (), None),
        stf.SetDefault(10, "tab", "act", (("x", "3"),)),
        stf.CheckCounter(11, "hits", "$first", "packets", ">=", 2),
        stf.CheckCounter(12, "hits", "7", "packets", "any", 0),
        stf.Remove(13),
        stf.Command(14, "mc_mgrp_create 1"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("jump 1", "unknown statement `jump`"),
        ("packet 1 123", "odd number"),
        ("packet x 12", "not a number: `x`"),
        ("expect 1 zz", "not hexadecimal"),
        ("add t a:1", "no action"),
        ("add t a b:1 act()", "not name:value pairs: a"),
        ("setdefault t u act()", "wants a table and an action"),
        ("check_counter c", "wants a counter"),
        ("remove t", "only `remove all`"),
    ],
)
def test_read__errors_name_the_line(line: str, message: str) -> None:
    with pytest.raises(UserError, match=f"stf:2: .*{message}"):
        parse_stf(f"\n{line}")


def test_run__tables_of_all_kinds() -> None:
    run_stf(
        TABLES,
        parse_stf(
            f"""
            add exact_table key.a:1 c:4 took_exact(entry:1) = one
            add prefix_table b:0x02** d:5 took_prefix(entry:2)
            add prefix_table b:0x0200/7 d:5 took_prefix(entry:9)
            add ternary_table 10 a:0x*1 c:4 took_ternary(entry:3)
            add ternary_table 20 b:0x0203 c:4 took_ternary(entry:4)
            add wide_table wide:0 took_wide(entry:6, unused:0)
            setdefault optional_table took_optional(entry:5)
            packet 0 {KEY} {EMPTY}
            expect 1 {KEY} 0001 0002 0004 FFFF 0005 0006 $
            check_counter hits($one) packets == 1
            check_counter hits($one) bytes == 32
            remove all
            packet 0 {KEY} {EMPTY} 77
            expect 1 {KEY} FFFF FFFF FFFF FFFF 0005 FFFF 77
            """
        ),
    )


def test_run__commands_and_copies() -> None:
    run_stf(
        TRAFFIC,
        parse_stf(
            """
            mc_mgrp_create 6
            mc_node_create 400 4 5
            mc_node_associate 6 0
            packet 3 02060000
            expect 4 02 06 90 05 *
            expect 5 02 06 90 05 0003 0005 00000004 $
            """
        ),
    )


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("packet 3 00000000\nexpect 2 01", "line 2: port 2: expected 01, got 00"),
        ("packet 3 00000000\nexpect 2 00 $", "line 2: port 2"),
        ("expect 2 00", "line 1: no frame left port 2"),
        ("packet 2 00000000", "port 2: a frame that was not expected left"),
        ("expect 7", "line 1: nothing left port 7"),
        ("check_counter counts(1) packets == 1", "line 1: counter counts.1. has 0 packets"),
        ("add nothing x:1 act()", "line 1: there is no table `nothing`"),
        ("mirroring_get 3", "line 1: there is no mirroring session 3"),
    ],
)
def test_run__failures_name_the_line(script: str, message: str) -> None:
    with pytest.raises(StfMismatchError, match=message):
        run_stf(TRAFFIC, parse_stf(script))
