import json
from pathlib import Path

import pytest

from p4.compiler import compile_file, compile_with_warnings
from tests.p4.compiler.support import compile_parts, program

PROGRAMS = sorted((Path(__file__).parents[3] / "p4" / "programs").glob("*.p4"))
KEYS = {
    "program", "__meta__", "header_types", "headers", "header_stacks", "header_union_types",
    "header_unions", "header_union_stacks", "field_lists", "errors", "enums", "parsers",
    "parse_vsets", "deparsers", "meter_arrays", "counter_arrays", "register_arrays",
    "calculations", "learn_lists", "actions", "pipelines", "checksums", "force_arith",
    "extern_instances", "field_aliases",
}  # fmt: skip


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_our_programs__compile_without_warnings_and_always_to_the_same(path: Path) -> None:
    result, warnings = compile_with_warnings(path)
    assert warnings == []
    assert set(result) == KEYS
    assert json.dumps(result) == json.dumps(compile_file(path))


def test_emit__ids_are_unique_and_references_lead_somewhere(tmp_path: Path) -> None:
    result = compile_parts(
        tmp_path,
        locals="action a() { hdr.h.a = 1; } table t { actions = { a; } default_action = a; }",
        apply="if (hdr.h.b == 1) { t.apply(); } hdr.h.c = 5;",
        egress="hdr.h.b = 2;",
    )
    for group in ("headers", "header_types", "actions"):
        ids = [each["id"] for each in result[group]]
        assert ids == list(range(len(ids)))
    for pipeline in result["pipelines"]:
        names = {each["name"] for each in pipeline["tables"] + pipeline["conditionals"]} | {None}
        assert pipeline["init_table"] in names
        for table in pipeline["tables"]:
            assert set(table["next_tables"].values()) <= names
            assert len(table["actions"]) == len(table["action_ids"])
        for conditional in pipeline["conditionals"]:
            assert {conditional["true_next"], conditional["false_next"]} <= names


def test_emit__metadata_is_padded_to_bytes(tmp_path: Path) -> None:
    for shape in compile_parts(tmp_path, apply="meta.flag = true;")["header_types"]:
        assert sum(width for _, width, *_ in shape["fields"]) % 8 == 0


def test_emit__says_where_primitives_come_from(tmp_path: Path) -> None:
    path = tmp_path / "program.p4"
    path.write_text(program(apply="hdr.h.a = 5;"))
    result = compile_file(path)
    info = result["actions"][-1]["primitives"][0]["source_info"]
    assert info["filename"] == "program.p4"
    assert "hdr.h.a = 5;" in info["source_fragment"]
    assert path.read_text().splitlines()[info["line"] - 1].strip() == info["source_fragment"]


def test_emit__jumps_in_actions_stay_inside_and_skip_what_they_should(tmp_path: Path) -> None:
    result = compile_parts(
        tmp_path,
        locals="""
            action a() {
                if (hdr.h.a == 1) { hdr.h.b = 1; return; } else { hdr.h.b = 2; }
                hdr.h.c = 3;
            }
            table t { actions = { a; } default_action = a; }
        """,
        apply="t.apply();",
    )
    steps = next(each for each in result["actions"] if each["name"] == "I.a")["primitives"]
    assert [each["op"] for each in steps] == [
        "_jump_if_zero", "assign", "_jump", "assign", "assign",
    ]  # fmt: skip
    assert int(steps[0]["parameters"][1]["value"], 16) == 3
    assert int(steps[2]["parameters"][0]["value"], 16) == 5


def test_emit__does_not_depend_on_how_the_program_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "constants.p4").write_text("const bit<8> K = 3;\n")
    text = program(declarations='\n#include "inner/constants.p4"\n', apply="hdr.h.a = K;")
    (folder / "main.p4").write_text(text)
    monkeypatch.chdir(tmp_path)
    absolute = compile_file(folder / "main.p4")
    assert str(tmp_path) not in json.dumps(absolute)
    assert compile_file(Path("folder/main.p4")) == absolute
    assert compile_file(Path("folder/../folder/main.p4")) == absolute
    monkeypatch.chdir(folder)
    assert compile_file(Path("main.p4")) == absolute


@pytest.mark.parametrize(
    ("key", "mask"),
    [
        ("hdr.h.b & 5", "0x05"),
        ("5 & hdr.h.b", "0x05"),
        ("hdr.h.b", None),
        ("hdr.h.b & hdr.h.a", ""),
        ("hdr.h.b & 0", ""),
    ],
)
def test_emit__key_with_a_constant_mask_is_a_masked_field(
    key: str, mask: str | None, tmp_path: Path
) -> None:
    result = compile_parts(
        tmp_path,
        locals=f"action a() {{ hdr.h.a = 1; }} table t {{ key = {{ {key}: exact; }} "
        "actions = { a; } default_action = a; }",
        apply="t.apply();",
    )
    (table,) = (each for each in result["pipelines"][0]["tables"] if each["key"])
    (element,) = table["key"]
    direct = element["target"] == ["h", "b"]
    assert direct == (mask != "")
    assert element["mask"] == (mask or None)
