"""What the compiler's tests share: a v1model program around a few lines, and BMv2's arithmetic."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from p4.compiler import compile_file

Json = dict[str, Any]

PROGRAM = """
#include <core.p4>
#include <v1model.p4>
{declarations}
header h_t {{ {fields} }}
header small_t {{ bit<8> v; }}
struct headers {{ h_t h; small_t[3] stack; }}
struct meta_t {{ bit<8> m; bit<16> n; bool flag; }}
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    {parser}
}}
control V(inout headers hdr, inout meta_t meta) {{ apply {{ {verify} }} }}
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    {locals}
    apply {{ {apply} }}
}}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    apply {{ {egress} }}
}}
control C(inout headers hdr, inout meta_t meta) {{ apply {{ {update} }} }}
control D(packet_out packet, in headers hdr) {{ apply {{ packet.emit(hdr); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""
DEFAULTS = {
    "declarations": "",
    "fields": "bit<8> a; bit<8> b; bit<16> c;",
    "parser": "state start { packet.extract(hdr.h); transition accept; }",
    "verify": "",
    "locals": "",
    "apply": "",
    "egress": "",
    "update": "",
}


def program(**parts: str) -> str:
    """Return a program with these parts."""
    return PROGRAM.format(**{**DEFAULTS, **parts})


def compile_text(folder: Path, text: str) -> Json:
    """Compile a program given as text."""
    path = folder / "program.p4"
    path.write_text(text)
    return compile_file(path)


def compile_parts(folder: Path, **parts: str) -> Json:
    """Compile a program with these parts."""
    return compile_text(folder, program(**parts))


def primitives(json: Json, name: str | None = None) -> list[Json]:
    """Return the primitives of an action by its name, by default of all hidden actions."""
    chosen = [
        action
        for action in json["actions"]
        if action["name"] == name or (name is None and action["name"].startswith("program"))
    ]
    return [
        {key: value for key, value in each.items() if key != "source_info"}
        for action in chosen
        for each in action["primitives"]
    ]


def table(json: Json, name: str) -> Json:
    """Return a table by its name."""
    found = [t for pipeline in json["pipelines"] for t in pipeline["tables"] if t["name"] == name]
    assert len(found) == 1
    result: Json = found[0]
    return result


def state(json: Json, name: str) -> Json:
    """Return a parser's state by its name."""
    found = [each for each in json["parsers"][0]["parse_states"] if each["name"] == name]
    assert len(found) == 1
    result: Json = found[0]
    return result


def evaluate(value: Json, fields: dict[tuple[str, str], int]) -> int:
    """Evaluate an expression of BMv2's JSON, whose arithmetic has no bounds."""
    kind, inner = value["type"], value["value"]
    if kind == "hexstr":
        return int(inner, 16)
    if kind == "bool":
        return int(inner)
    if kind == "field":
        return fields[inner[0], inner[1]]
    assert kind == "expression", kind
    if "type" in inner:
        return evaluate(inner, fields)
    left = evaluate(inner["left"], fields) if inner["left"] is not None else 0
    if inner["op"] == "?":
        chosen = inner["left"] if evaluate(inner["cond"], fields) else inner["right"]
        return evaluate(chosen, fields)
    return int(OPERATORS[inner["op"]](left, evaluate(inner["right"], fields)))


def _wrap(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "<<": lambda left, right: left << right,
    ">>": lambda left, right: left >> right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "~": lambda _, right: ~right,
    "and": lambda left, right: bool(left and right),
    "or": lambda left, right: bool(left or right),
    "not": lambda _, right: not right,
    "d2b": lambda _, right: bool(right),
    "b2d": lambda _, right: bool(right),
    "two_comp_mod": _wrap,
    "usat_cast": lambda left, right: max(0, min((1 << right) - 1, left)),
    "sat_cast": lambda left, right: max(-1 << (right - 1), min((1 << (right - 1)) - 1, left)),
}
