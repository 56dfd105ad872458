"""BMv2 JSON made by hand, for what no P4 source would give."""

from typing import Any

Json = dict[str, Any]

STANDARD = [
    ("ingress_port", 9),
    ("egress_spec", 9),
    ("egress_port", 9),
    ("instance_type", 32),
    ("packet_length", 32),
    ("mcast_grp", 16),
    ("egress_rid", 16),
    ("parser_error", 32),
    ("checksum_error", 1),
    ("_padding", 4),
]


def document(
    fields: list[tuple[str, int, bool]], primitives: list[Json], results: list[tuple[str, int]]
) -> Json:
    """Return a program that takes header `in`, runs primitives, and sends header `out`."""
    padding = -sum(width for _, width, _ in fields) % 8
    inputs = [[name, width, signed] for name, width, signed in fields]
    if padding:
        inputs.append(["pad", padding, False])
    outputs = [[name, width, False] for name, width in results]
    padding = -sum(width for _, width in results) % 8
    if padding:
        outputs.append(["pad", padding, False])
    standard = [[name, width, False] for name, width in STANDARD]
    action = {"name": "run", "id": 0, "runtime_data": [], "primitives": primitives}
    call = {"name": "call", "id": 0, "action_id": 0, "next_node": None}
    return {
        "__meta__": {"version": [2, 23]},
        "header_types": [
            {"name": "in_t", "id": 0, "fields": inputs},
            {"name": "out_t", "id": 1, "fields": outputs},
            {"name": "standard_metadata", "id": 2, "fields": standard},
        ],
        "headers": [
            {"name": "in", "id": 0, "header_type": "in_t", "metadata": False},
            {"name": "out", "id": 1, "header_type": "out_t", "metadata": False},
            {
                "name": "standard_metadata",
                "id": 2,
                "header_type": "standard_metadata",
                "metadata": True,
            },
        ],
        "parsers": [
            {
                "name": "parser",
                "id": 0,
                "init_state": "start",
                "parse_states": [
                    {
                        "name": "start",
                        "id": 0,
                        "parser_ops": [
                            {"op": "extract", "parameters": [{"type": "regular", "value": "in"}]}
                        ],
                        "transition_key": [],
                        "transitions": [{"type": "default", "value": None, "next_state": None}],
                    }
                ],
            }
        ],
        "deparsers": [{"name": "deparser", "id": 0, "order": ["out"]}],
        "actions": [action],
        "pipelines": [
            {"name": "ingress", "id": 0, "init_table": "call", "action_calls": [call]},
            {"name": "egress", "id": 1, "init_table": None},
        ],
    }


def field(header: str, name: str) -> Json:
    return {"type": "field", "value": [header, name]}


def constant(value: int) -> Json:
    return {"type": "hexstr", "value": hex(value)}


def operation(
    operator: str, left: Json | None, right: Json | None, cond: Json | None = None
) -> Json:
    value: Json = {"op": operator, "left": left, "right": right}
    if cond is not None:
        value["cond"] = cond
    return {"type": "expression", "value": value}


def assign(name: str, value: Json) -> Json:
    return {"op": "assign", "parameters": [field("out", name), value]}


ADD_OUT = {"op": "add_header", "parameters": [{"type": "header", "value": "out"}]}
