"""Table look-ups against a naive model, entries changed while frames pass."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4.codegen.symbols import MatchValue
from p4.engine import EngineError, Program, Switch

PROGRAM = Program.load(Path(__file__).parent / "engine_programs" / "tables.p4")
TABLES = ("exact", "prefix", "ternary", "range", "optional", "wide")
MISS = 0xFFFF


@dataclass
class Row:
    match: list[MatchValue]
    rank: int
    order: int
    entry: int


@dataclass
class Model:
    """What the tables of the program must do, said as simply as can be."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in TABLES})

    def find(self, table: str, key: list[int], kinds: str) -> int:
        best = [row for row in self.rows[table] if matches(row.match, key, kinds)]
        return min(best, key=lambda row: (row.rank, row.order)).entry if best else MISS


WIDTHS = {"a": 8, "b": 16, "c": 4, "d": 4, "wide": 128}
KEYS = {
    "exact": ("ac", "xx"),
    "prefix": ("bd", "px"),
    "ternary": ("abc", "ttx"),
    "range": ("ba", "rt"),
    "optional": ("cd", "oo"),
}


def matches(match: list[MatchValue], key: list[int], kinds: str) -> bool:
    return all(matches_field(*item) for item in zip(match, key, kinds, strict=True))


def matches_field(match: MatchValue, key: int, kind: str) -> bool:
    if match is None:
        return True
    if not isinstance(match, tuple):
        return match == key
    first, second = match
    if kind == "r":
        return first <= key <= second
    mask = second if kind == "t" else (0xFFFF << (16 - second)) & 0xFFFF
    return key & mask == first & mask


def draw_field(draw: st.DrawFn, name: str, kind: str) -> MatchValue:
    bits = WIDTHS[name]
    # Few different values, so that entries meet each other and the frames.
    value = draw(st.sampled_from([0, 1, 2, (1 << bits) - 1, 1 << (bits - 1)]))
    if kind == "x":
        return value
    if kind == "p":
        length = draw(st.integers(0, bits))
        return value & ~((1 << (bits - length)) - 1), length
    if kind == "t":
        return value, draw(st.sampled_from([0, 1, (1 << bits) - 1, 1 << (bits - 1), 3]))
    if kind == "r":
        other = draw(st.sampled_from([0, 1, 2, (1 << bits) - 1]))
        return min(value, other), max(value, other)
    return draw(st.sampled_from([None, value]))


@st.composite
def entries(draw: st.DrawFn) -> tuple[str, list[MatchValue], int]:
    table = draw(st.sampled_from(sorted(KEYS)))
    names, kinds = KEYS[table]
    match = [draw_field(draw, name, kind) for name, kind in zip(names, kinds, strict=True)]
    return table, match, draw(st.integers(0, 3))


@st.composite
def frames(draw: st.DrawFn) -> dict[str, int]:
    return {
        name: draw(st.sampled_from([0, 1, 2, 3, (1 << bits) - 1, 1 << (bits - 1)]))
        for name, bits in WIDTHS.items()
    }


def look_up(switch: Switch, key: dict[str, int]) -> dict[str, int]:
    data = bytes([key["a"]]) + key["b"].to_bytes(2, "big") + bytes([key["c"] << 4 | key["d"]])
    [output] = switch.receive(0, data + key["wide"].to_bytes(16, "big") + bytes(12))
    result = output.data[20:]
    return {name: int.from_bytes(result[2 * n : 2 * n + 2], "big") for n, name in enumerate(TABLES)}


def rank_of(table: str, match: list[MatchValue], priority: int) -> int:
    if table == "prefix":
        assert isinstance(match[0], tuple)
        return 16 - match[0][1]
    return 0 if table == "exact" else priority


def masked(match: list[MatchValue], kinds: str) -> list[MatchValue]:
    """What of a match counts: two entries that agree in it, and in rank, are the same."""
    return [
        (m[0] & m[1], m[1]) if isinstance(m, tuple) and kind == "t" else m
        for m, kind in zip(match, kinds, strict=True)
    ]


@settings(max_examples=150, deadline=None)
@given(st.lists(entries(), max_size=25), st.lists(frames(), min_size=1, max_size=6), st.data())
def test_look_up__is_that_of_the_model(
    added: list[tuple[str, list[MatchValue], int]], keys: list[dict[str, int]], data: st.DataObject
) -> None:
    switch, model = Switch(PROGRAM), Model()
    handles = []
    for number, (table, match, priority) in enumerate(added):
        rank = rank_of(table, match, priority)
        same = [
            row
            for row in model.rows[table]
            if row.rank == rank
            and masked(row.match, KEYS[table][1]) == masked(match, KEYS[table][1])
        ]
        full = table == "range" and len(model.rows[table]) == 16
        try:
            handle = switch.table_add(f"{table}_table", match, f"took_{table}", [number], priority)
        except EngineError:
            assert same or full
            continue
        assert not same
        row = Row(match, rank, number, number)
        model.rows[table].append(row)
        handles.append((table, handle, row))
        if handles and data.draw(st.integers(0, 3)) == 0:
            change(switch, model, handles, data)
    for key in keys:
        found = look_up(switch, key)
        for table, (names, kinds) in KEYS.items():
            assert found[table] == model.find(table, [key[name] for name in names], kinds), table
    for table in KEYS:
        assert switch.table_count(f"{table}_table") == len(model.rows[table])
        listed = {entry.parameters[0] for entry in switch.table_entries(f"{table}_table")}
        assert listed == {row.entry for row in model.rows[table]}


def change(
    switch: Switch, model: Model, handles: list[tuple[str, int, Row]], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(handles) - 1))
    table, handle, row = handles[place]
    if data.draw(st.booleans()):
        row.entry = 1000 + row.order
        switch.table_modify(f"{table}_table", handle, f"took_{table}", [row.entry])
        return
    switch.table_delete(f"{table}_table", handle)
    model.rows[table].remove(row)
    handles.pop(place)


def test_wide_key__matches_all_its_bytes() -> None:
    switch = Switch(PROGRAM)
    key = dict.fromkeys(WIDTHS, 0) | {"wide": 1 << 127 | 5}
    switch.table_add("wide_table", [key["wide"]], "took_wide", {"entry": 3, "unused": 1 << 99})
    assert look_up(switch, key)["wide"] == 3
    assert look_up(switch, key | {"wide": 5})["wide"] == MISS
    [entry] = switch.table_entries("wide_table")
    assert (entry.match, entry.parameters) == ((key["wide"],), (3, 1 << 99))


def test_direct_counter__counts_hits_of_its_entry() -> None:
    switch = Switch(PROGRAM)
    first = switch.table_add("exact_table", [1, 2], "took_exact", [7])
    for a in (1, 1, 3):
        look_up(switch, dict.fromkeys(WIDTHS, 0) | {"a": a, "c": 2})
    assert switch.counter_read("hits", first) == (2, 64)


def test_share__copies_at_the_next_write() -> None:
    one, other = Switch(PROGRAM), Switch(PROGRAM)
    key = dict.fromkeys(WIDTHS, 0)
    for number in range(40):
        one.table_add("exact_table", [number, 0], "took_exact", [number + 1])
    other.share_table("exact_table", one)
    assert look_up(other, key | {"a": 39})["exact"] == 40
    other.table_add("exact_table", [99, 0], "took_exact", [500])
    other.table_set_default("exact_table", "took_exact", [1])
    assert look_up(other, key | {"a": 99})["exact"] == 500
    assert look_up(one, key | {"a": 99})["exact"] == MISS
    one.close()
    assert look_up(other, key | {"a": 5})["exact"] == 6


def test_default__can_be_changed_and_read() -> None:
    switch = Switch(PROGRAM)
    switch.table_set_default("prefix_table", "took_prefix", [9])
    default = switch.table_default("prefix_table")
    assert default is not None
    assert (default.action, default.parameters) == ("Lookup.took_prefix", (9,))
    assert look_up(switch, dict.fromkeys(WIDTHS, 0))["prefix"] == 9


def test_many__large_tables_stay_exact() -> None:
    switch = Switch(PROGRAM)
    pairs = [(a, c) for a in range(256) for c in range(16)]
    handles = switch.table_add_many(
        "exact_table", [([a, c], "took_exact", [a * 16 + c], 0) for a, c in pairs]
    )
    assert len(set(handles)) == len(pairs)
    key = dict.fromkeys(WIDTHS, 0)
    assert look_up(switch, key | {"a": 255, "c": 15})["exact"] == 4095
    switch.table_clear("exact_table")
    assert look_up(switch, key | {"a": 255, "c": 15})["exact"] == MISS


@pytest.mark.parametrize(
    ("table", "match", "message"),
    [
        ("exact_table", [256, 0], "key hdr.key.a: 256 does not fit 8 bits"),
        ("exact_table", [1], "1 match values for 2 key fields"),
        ("exact_table", [(1, 2), 0], "exact match has one value"),
        ("prefix_table", [(0, 17), 0], "prefix length 17"),
        ("range_table", [(3, 2), None], "3 is above the range's upper end 2"),
        ("prefix_table", {"b": (0, 0)}, "no value for key"),
        ("prefix_table", {"b": (0, 0), "z": 1}, "no key of"),
    ],
)
def test_match__errors_name_table_field_and_value(
    table: str, match: list[MatchValue], message: str
) -> None:
    with pytest.raises(EngineError, match=message):
        Switch(PROGRAM).table_add(table, match, f"took_{table.removesuffix('_table')}", [1])


def test_action__errors_name_the_action() -> None:
    switch = Switch(PROGRAM)
    with pytest.raises(EngineError, match=r"no action of table Lookup\.exact_table `took_range`"):
        switch.table_add("exact_table", [1, 2], "took_range", [1])
    with pytest.raises(EngineError, match="takes 1 parameters, got 2"):
        switch.table_add("exact_table", [1, 2], "took_exact", [1, 2])
    with pytest.raises(EngineError, match="has no parameter `x`"):
        switch.table_add("exact_table", [1, 2], "took_exact", {"x": 1})
    with pytest.raises(EngineError, match="no such table, action, entry"):
        switch.table_delete("exact_table", 77)
