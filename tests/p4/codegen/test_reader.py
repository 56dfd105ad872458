"""Wrong JSON: an error that names the place, never anything else."""

import copy
import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4.codegen.document import ProgramError
from p4.codegen.generate import generate_c
from p4.codegen.reader import read_file, read_program
from p4.compiler import compile_file

PROGRAMS = Path(__file__).resolve().parents[1] / "engine_programs"
WRONG: list[Any] = [None, 0, -1, 1 << 40, "", "zz", [], {}, True, "0x123456789"]


@cache
def document(name: str) -> str:
    return json.dumps(compile_file(PROGRAMS / f"{name}.p4"))


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place inside a JSON value, as its container and key."""
    found = []
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            found.append((value, key))
            found += places(value[key])
    return found


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutated_json__is_refused_by_name_or_works(data: st.DataObject) -> None:
    program = json.loads(document(data.draw(st.sampled_from(["traffic", "tables", "layers"]))))
    found = places(program)
    container, key = found[data.draw(st.integers(0, len(found) - 1))]
    other, place = found[data.draw(st.integers(0, len(found) - 1))]
    replacement = copy.deepcopy(other[place])
    match data.draw(st.integers(0, 3)):
        case 0:
            del container[key]
        case 1:
            container[key] = data.draw(st.sampled_from(WRONG))
        case 2 if isinstance(container[key], str):
            container[key] += "x"
        case _:
            container[key] = replacement
    with suppress(ProgramError):
        assert generate_c(read_program(program))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "parsers.0.init_state",
            "nowhere",
            r"parsers\[0\].init_state: there is no state `nowhere`",
        ),
        ("pipelines.0.init_table", "t", r"pipelines\[0\].init_table: there is no node `t`"),
        ("pipelines.0.tables.0.max_size", "x", r"tables\[0\].max_size: must be an integer"),
        ("pipelines.0.tables.0.match_type", "x", "unknown match kind `x`"),
        ("header_types.2.fields.0.1", -1, r"fields\[0\]\[1\]: must not be negative"),
        ("actions.0.primitives", 7, r"actions\[0\].primitives: must be a list"),
        ("deparsers.0.order.0", "x", "deparser: there is no header `x`"),
    ],
)
def test_wrong_json__names_the_place(path: str, value: object, message: str) -> None:
    program = json.loads(document("tables"))
    *folders, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    container = program
    for part in folders:
        container = container[part]
    container[last] = value
    with pytest.raises(ProgramError, match=message):
        read_program(program)


def test_unknown_primitive__is_named_with_its_action() -> None:
    program = json.loads(document("traffic"))
    for action in program["actions"]:
        for primitive in action["primitives"]:
            primitive["op"] = "fly"
    with pytest.raises(ProgramError, match=r"action .*, fly: primitive is not supported"):
        generate_c(read_program(program))


def test_copy__between_other_types_is_refused() -> None:
    program = json.loads(document("layers"))
    headers = [{"type": "header", "value": name} for name in ("ethernet", "option")]
    for action in program["actions"]:
        action["primitives"] = [{"op": "assign_header", "parameters": headers}]
    with pytest.raises(ProgramError, match=r"assign_header: copies .* to "):
        generate_c(read_program(program))


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "not JSON"), ("[]", "must be an object"), ("{}", "has no `__meta__`")],
)
def test_read_file__names_the_file(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "program.json"
    file.write_text(text)
    with pytest.raises(ProgramError, match=f"program.json: .*{message}"):
        read_file(file)


def test_read_file__that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"none\.json: No such file"):
        read_file(tmp_path / "none.json")
