"""What calls, aggregates and control flow become."""

from pathlib import Path

import pytest

from p4.compiler import CompileError
from tests.p4.compiler.support import Json, compile_parts, primitives, state, table


def operations(json: Json, name: str | None = None) -> list[str]:
    return [each["op"] for each in primitives(json, name)]


def targets(json: Json) -> list[str]:
    return [".".join(each["parameters"][0]["value"]) for each in primitives(json)]


def test_functions_are_inlined_where_they_only_return(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        declarations="bit<8> twice(in bit<8> x) { return x + x; }",
        apply="hdr.h.a = twice(hdr.h.b);",
    )
    assert targets(json) == ["h.a"]


def test_overlapping_arguments_are_copied_in_and_out(tmp_path: Path) -> None:
    function = "void f(inout bit<8> x, in bit<8> y) { x = 1; x = x + y; }"
    apart = compile_parts(tmp_path, declarations=function, apply="f(hdr.h.a, hdr.h.b);")
    assert targets(apart) == ["h.a", "h.a"]
    same = compile_parts(tmp_path, declarations=function, apply="f(hdr.h.a, hdr.h.a);")
    assert targets(same) == ["scalars.I.x", "scalars.I.y", "scalars.I.x", "scalars.I.x", "h.a"]


def test_a_swap_keeps_both_values(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        declarations="struct pair_t { bit<8> l; bit<8> r; }",
        locals="pair_t p;",
        apply="p = { 1, 2 }; p = { p.r, p.l };",
    )
    names = targets(json)
    assert names.index("scalars.I.tmp") < names.index("scalars.I.p.l", 2)


def test_operands_are_saved_before_later_ones_change_them(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        declarations="bit<8> bump(inout bit<8> x) { x = x + 1; return x; }",
        apply="hdr.h.b = hdr.h.a + bump(hdr.h.a);",
    )
    assert targets(json)[0] == "scalars.I.tmp"


def test_and_does_not_evaluate_what_it_need_not(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        declarations="bool touch(inout bit<8> x) { x = x + 1; return x == 3; }",
        locals="action act() { if (hdr.h.b == 0 && touch(hdr.h.a)) { hdr.h.b = 1; } }"
        "table t { actions = { act; } default_action = act; }",
        apply="t.apply();",
    )
    assert operations(json, "I.act").count("_jump_if_zero") == 2


def test_structs_generics_and_tuples_are_taken_apart(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        declarations="struct G<T> { T value; bit<8> more; }",
        locals="G<bit<16>> g; tuple<bit<8>, bit<8>> both;",
        apply="g = { 3, 4 }; both = { g.more, hdr.h.a }; hdr.h.b = both[1];",
    )
    fields = dict(each[:2] for each in json["header_types"][0]["fields"])
    assert fields["I.g.value"] == 16
    assert targets(json)[-1] == "h.b"


def test_an_index_at_run_time_becomes_choices(tmp_path: Path) -> None:
    json = compile_parts(tmp_path, apply="hdr.stack[hdr.h.a].v = 1;")
    conditions = json["pipelines"][0]["conditionals"]
    assert len(conditions) == 3
    assert targets(json)[1:] == ["stack[0].v", "stack[1].v", "stack[2].v"]


def test_loops_are_unrolled_with_break_and_continue(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        apply="for (bit<8> i in 1 .. 3) { if (hdr.h.a == i) { break; } hdr.h.b = hdr.h.b + i; }",
    )
    assert targets(json).count("h.b") == 3


def test_a_loops_variable_is_a_constant_in_each_round(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path, apply="for (bit<8> i = 0; i < 3; i = i + 1) { hdr.stack[i].v = i; }"
    )
    assert targets(json) == ["stack[0].v", "stack[1].v", "stack[2].v"]


def test_a_loop_without_a_bound_jumps_back_in_an_action(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path, apply="for (bit<8> i = 0; i < hdr.h.a; i = i + 1) { hdr.h.b = hdr.h.b + 1; }"
    )
    assert operations(json) == ["assign", "_jump_if_zero", "_jump", "assign", "assign", "_jump"]


def test_a_loop_that_applies_a_table_is_an_edge_back(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        locals="action bump() { hdr.h.b = hdr.h.b + 1; }"
        "table t { actions = { bump; } default_action = bump; }",
        apply="for (bit<8> i = 0; i < hdr.h.a; i = i + 1) { t.apply(); }",
    )
    ingress = json["pipelines"][0]
    (condition,) = ingress["conditionals"]
    following = {each["name"]: each["base_default_next"] for each in ingress["tables"]}
    leaving, entering = condition["true_next"], condition["false_next"]
    steps = [entering]
    while steps[-1] != condition["name"] and len(steps) < 5:
        steps.append(following[steps[-1]])
    assert steps[0] == "I.t"
    assert steps[-1] == condition["name"]
    assert leaving is None


@pytest.mark.parametrize(
    ("loop", "rounds"),
    [
        ("bit<8> i = 0; i < 10; i = i + 3", 4),
        ("bit<8> i = 10; i > 0; i = i - 1", 10),
        ("bit<3> i = 0; i != 4; i = i + 4", 1),
        ("bit<3> i = 1; i != 0; i = i + 3", 5),  # 1, 4, 7, 2, 5: it wraps round
        ("bit<4> i = 1; i != 0; i = i << 1", 4),
        ("bit<8> i = 250; i < 255; i = i |+| 2", 3),
        ("bit<8> i = 0; i < 3 && hdr.h.a > i; i = i + 1", 3),
        ("bit<8> i = 0; i > 0; i = i + 1", 0),
        ("bit<16> i = 0; i < 1024; i = i + 1", 1024),
    ],
)
def test_a_loop_is_unrolled_to_the_rounds_that_it_is_proven_to_run(
    tmp_path: Path, loop: str, rounds: int
) -> None:
    json = compile_parts(tmp_path, apply=f"for ({loop}) {{ hdr.h.b = hdr.h.b + 1; }}")
    assert "_jump" not in operations(json)
    assert targets(json).count("h.b") == rounds


@pytest.mark.parametrize(
    "loop",
    [
        "for (bit<8> i = 0; i < hdr.h.a; i = i + 1) { hdr.h.b = hdr.h.b + 1; }",
        "for (bit<8> i = 0; i < 9; i = i + hdr.h.a) { hdr.h.b = hdr.h.b + 1; }",
        "for (bit<3> i = 0; i < 7; i = i + 4) { if (hdr.h.a == 1) { break; } hdr.h.b = 1; }",
        "for (bit<8> i = 0; i < 9; i = i + 1) { i = i + hdr.h.a; hdr.h.b = hdr.h.b + 1; }",
        "for (bit<8> i = 0, bit<8> k = 0; k < 9; i = i + 1) { k = k + i; hdr.h.b = k; }",
        "bit<8> i; for (i = 0; i < 9; i = i + 1) { hdr.h.b = hdr.h.b + 1; }",
        "for (bit<16> i = 0; i < 1025; i = i + 1) { hdr.h.b = hdr.h.b + 1; }",
        "for (bit<8> i in 0 .. hdr.h.a) { hdr.h.b = hdr.h.b + 1; }",
        "for (bit<16> i in 0 .. 65535) { hdr.h.b = hdr.h.b + 1; }",
    ],
)
def test_every_other_loop_stays_one(tmp_path: Path, loop: str) -> None:
    json = compile_parts(tmp_path, apply=loop)
    assert targets(json).count("h.b") == 1
    assert "_jump" in operations(json)


def test_loops_inside_of_each_other_are_unrolled_to_a_bound_together(tmp_path: Path) -> None:
    inner = "for (bit<8> j = 0; j < 100; j = j + 1) { hdr.h.b = hdr.h.b + 1; }"
    json = compile_parts(tmp_path, apply=f"for (bit<8> i = 0; i < 100; i = i + 1) {{ {inner} }}")
    assert targets(json).count("h.b") == 100


def test_an_action_that_is_called_stays_one_action(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        declarations="bit<8> f(in bit<8> x) { if (x > 3) { return x + 1; } return x - 1; }",
        locals="action set(in bit<8> x) { hdr.h.a = f(x); if (x == 1) { hdr.h.b = f(hdr.h.a); } }",
        apply="set(hdr.h.b);",
    )
    ingress = json["pipelines"][0]
    assert len(ingress["tables"]) == 1
    assert ingress["conditionals"] == []


def test_exit_in_an_action_stops_the_pipeline(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        locals="action stop() { hdr.h.a = 1; exit; hdr.h.a = 2; }"
        "table t { actions = { stop; } default_action = stop; }",
        apply="t.apply();",
    )
    assert operations(json, "I.stop") == ["assign", "exit"]


def test_hit_miss_and_action_run_choose_what_follows(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        locals="action one() { } action two() { }"
        "table t { key = { hdr.h.a: exact; } actions = { one; two; } default_action = one; }"
        "table u { key = { hdr.h.b: exact; } actions = { one; } default_action = one; }",
        apply="""
            switch (t.apply().action_run) { one: { hdr.h.a = 1; } default: { hdr.h.a = 2; } }
            if (u.apply().miss) { hdr.h.b = 3; }
        """,
    )
    first, second = table(json, "I.t"), table(json, "I.u")
    assert set(first["next_tables"]) == {"I.one", "I.two"}
    assert len(set(first["next_tables"].values())) == 2
    assert second["next_tables"]["__HIT__"] is None
    assert second["next_tables"]["__MISS__"].startswith("tbl_program")


def test_a_table_in_exclusive_places_is_shared(tmp_path: Path) -> None:
    parts = {
        "locals": "table t { key = { hdr.h.a: exact; } actions = { NoAction; } }",
        "apply": "if (hdr.h.a == 1) { hdr.h.b = 1; t.apply(); } else { t.apply(); }",
    }
    json = compile_parts(tmp_path, **parts)
    assert table(json, "I.t")["base_default_next"] is None
    assert targets(json) == ["h.b"]


def test_controls_are_inlined_with_names_of_their_instances(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        declarations="""
            control Sub(inout bit<8> x)(bit<8> step) {
                action add() { x = x + step; }
                table t { key = { x: exact; } actions = { add; } default_action = add; }
                apply { t.apply(); }
            }
        """,
        locals="Sub(1) one; Sub(2) two;",
        apply="one.apply(hdr.h.a); two.apply(hdr.h.b);",
    )
    assert table(json, "I.one.t")["key"][0]["target"] == ["h", "a"]
    assert table(json, "I.two.t")["key"][0]["target"] == ["h", "b"]


def test_names_given_by_annotation(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        locals="""
            @name("short") action a() { }
            @name(".global") table t {
                key = { hdr.h.a: exact @name("what"); hdr.h.isValid(): exact; }
                actions = { a; }
                default_action = a;
            }
        """,
        apply="t.apply();",
    )
    found = table(json, "global")
    assert found["actions"] == ["I.short"]
    assert [key["name"] for key in found["key"]] == ["what", "hdr.h.$valid$"]


def test_keys_that_are_expressions_are_computed_first(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        locals="table t { key = { hdr.h.a + 1: exact; } actions = { NoAction; } }",
        apply="t.apply();",
    )
    assert table(json, "I.t")["key"][0]["target"] == ["scalars", "I.key"]
    assert json["pipelines"][0]["init_table"].startswith("tbl_program")


def test_entries_of_every_kind(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        locals="""
            action a(bit<8> x) { hdr.h.a = x; }
            table t {
                key = { hdr.h.a: exact; hdr.h.b: ternary; hdr.h.c: range; }
                actions = { a; NoAction; }
                const entries = {
                    (1, 2 &&& 3, 4 .. 5): a(6);
                    (1, _, 7): a(8);
                    (2, 9, default): NoAction();
                }
            }
        """,
        apply="t.apply();",
    )
    entries = table(json, "I.t")["entries"]
    assert [entry["priority"] for entry in entries] == [1, 2, 3]
    assert entries[0]["match_key"] == [
        {"match_type": "exact", "key": "0x01"},
        {"match_type": "ternary", "key": "0x02", "mask": "0x03"},
        {"match_type": "range", "start": "0x0004", "end": "0x0005"},
    ]
    assert entries[1]["match_key"][1:] == [
        {"match_type": "ternary", "key": "0x00", "mask": "0x00"},
        {"match_type": "range", "start": "0x0007", "end": "0x0007"},
    ]
    assert entries[2]["match_key"][2] == {"match_type": "range", "start": "0x0000", "end": "0xffff"}


def test_select_with_masks_ranges_and_several_keys(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        parser="""
            state start {
                packet.extract(hdr.h);
                transition select(hdr.h.a, hdr.h.c) {
                    (1, 0x100 &&& 0xff00): one;
                    (2 .. 5, _): two;
                    default: accept;
                }
            }
            state one { packet.extract(hdr.stack.next); transition accept; }
            state two { transition select(packet.lookahead<bit<8>>()) { 7: one; } }
        """,
    )
    found = state(json, "start")["transitions"]
    assert [(each["value"], each["mask"], each["next_state"]) for each in found] == [
        ("0x010100", "0xffff00", "one"),
        ("0x020000", "0xfe0000", "two"),
        ("0x040000", "0xfe0000", "two"),
        (None, None, None),
    ]
    assert state(json, "one")["parser_ops"][0]["parameters"] == [
        {"type": "stack", "value": "stack"}
    ]


def test_sub_parsers_and_conditionals_become_states(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        declarations="""
            header other_t { bit<8> v; }
            parser Sub(packet_in packet, out other_t o) {
                state start { packet.extract(o); transition accept; }
            }
        """,
        parser="""
            Sub() sub; other_t o;
            state start {
                packet.extract(hdr.h);
                if (hdr.h.a == 1) { sub.apply(packet, o); meta.m = o.v; }
                transition accept;
            }
        """,
    )
    names = [each["name"] for each in json["parsers"][0]["parse_states"]]
    assert "P.sub.start" in names
    operations_ = [each["op"] for each in state(json, "P.sub.start")["parser_ops"]]
    assert operations_ == ["extract"]


@pytest.mark.parametrize(
    ("call", "primitive"),
    [
        ("mark_to_drop(sm);", "mark_to_drop"),
        ("random(hdr.h.a, 1, 9);", "modify_field_rng_uniform"),
        ("truncate(32w60);", "truncate"),
        ("clone(CloneType.I2E, 7);", "clone_ingress_pkt_to_egress"),
        ("clone_preserving_field_list(CloneType.I2E, 7, 1);", "clone_ingress_pkt_to_egress"),
        ("resubmit_preserving_field_list(1);", "resubmit"),
        ("digest<meta_t>(1, meta);", "generate_digest"),
        ('log_msg("a {}", {hdr.h.a});', "log_msg"),
        ("assert(hdr.h.a > 1);", "assert"),
        ("hdr.stack.push_front(1);", "push"),
        ("hdr.stack.pop_front(2);", "pop"),
        ("hdr.stack[0] = hdr.stack[1];", "assign_header"),
        ("hdr.h.setInvalid();", "remove_header"),
        (
            "hash(hdr.h.a, HashAlgorithm.crc16, 8w0, {hdr.h.c}, 8w9);",
            "modify_field_with_hash_based_offset",
        ),
    ],
)
def test_externs(tmp_path: Path, call: str, primitive: str) -> None:
    assert primitive in operations(compile_parts(tmp_path, apply=call))


def test_log_msg__a_header_takes_as_many_placeholders_as_it_has_fields(tmp_path: Path) -> None:
    json = compile_parts(tmp_path, apply='log_msg("a {} h {}", {sm.egress_spec, hdr.h});')
    (logged,) = (
        step for each in json["actions"] for step in each["primitives"] if step["op"] == "log_msg"
    )
    message, values = (parameter["value"] for parameter in logged["parameters"])
    assert message == f"a {{}} h ({', '.join(['{}'] * (len(values) - 1))})"
    assert len(values) > 2


def test_checksums_carry_their_conditions(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        update="if (hdr.h.isValid()) { update_checksum(hdr.h.a == 1, {hdr.h.b, 8w3},"
        " hdr.h.c, HashAlgorithm.csum16); }",
    )
    checksum = json["checksums"][0]
    assert (checksum["update"], checksum["verify"]) == (True, False)
    assert checksum["if_cond"]["value"]["op"] == "and"
    assert json["calculations"][0]["input"] == [
        {"type": "field", "value": ["h", "b"]},
        {"type": "hexstr", "value": "0x03", "bitwidth": 8},
    ]


def test_direct_counters_meters_and_profiles(tmp_path: Path) -> None:
    json = compile_parts(
        tmp_path,
        locals="""
            direct_counter(CounterType.packets) hits;
            direct_meter<bit<8>>(MeterType.bytes) rate;
            action a() { hits.count(); rate.read(meta.m); }
            table t {
                key = { hdr.h.a: exact; } actions = { a; } default_action = a;
                counters = hits; meters = rate; size = 77;
            }
            action_selector(HashAlgorithm.crc32, 64, 16) pick;
            table u {
                key = { hdr.h.a: exact; hdr.h.b: selector; } actions = { NoAction; }
                implementation = pick;
            }
        """,
        apply="t.apply(); u.apply();",
    )
    assert json["counter_arrays"][0]["binding"] == "I.t"
    meter = json["meter_arrays"][0]
    assert (meter["binding"], meter["result_target"]) == ("I.t", ["scalars", "userMetadata.m"])
    assert table(json, "I.t")["max_size"] == 77
    assert table(json, "I.u")["type"] == "indirect_ws"
    profile = json["pipelines"][0]["action_profiles"][0]
    assert profile["selector"]["input"] == [{"type": "field", "value": ["h", "b"]}]


def test_two_tables_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="two tables are named same"):
        compile_parts(
            tmp_path,
            locals='@name(".same") table t { actions = { NoAction; } }'
            '@name(".same") table u { actions = { NoAction; } }',
            apply="t.apply(); u.apply();",
        )
