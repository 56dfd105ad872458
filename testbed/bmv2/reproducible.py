"""Make a program's clock and dice reproducible, so that two switches can be compared.

The reference switch reads a wall clock and rolls dice that nobody can seed. Both are replaced in
the BMv2 JSON by arithmetic on registers: a clock that ticks with every frame that enters ingress,
and a linear congruential generator. What the program computes from them is left as it is.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from testbed.bmv2.errors import Bmv2Error

if TYPE_CHECKING:
    from collections.abc import Iterator

TICK = 1000
CLOCK, DICE = "reproducible_clock", "reproducible_dice"
STATE_BITS = 63  # what Thrift can carry
MULTIPLIER, INCREMENT = 6364136223846793005, 1442695040888963407  # Knuth, MMIX
CLOCK_BITS = 48
HIGH_BITS = 33  # the generator's low bits are poor
INGRESS_CLOCK = ("standard_metadata", "ingress_global_timestamp")
QUEUEING = ("egress_global_timestamp", "enq_timestamp", "enq_qdepth", "deq_timedelta", "deq_qdepth")
REGISTERS = (CLOCK, DICE)

Json = dict[str, Any]


def reproducible(program: Json, tick: int = TICK) -> Json:
    """Return a copy of a BMv2 JSON `program` that no clock, queue or random number disturbs.

    Ingress timestamps are `tick` times the number of frames so far; in egress the queueing
    metadata read zero. Registers named in REGISTERS are added after the program's own.
    """
    result = copy.deepcopy(program)
    fields = _standard_fields(result)
    now, width = _clock_field(result, fields)
    register = _add_register(result, CLOCK, width)
    _prepend(result, "ingress", CLOCK, _tick(now, register, tick, width))
    if _pipeline(result, "egress")["init_table"] is not None:
        still = [_assign(_metadata(name), _hex(0)) for name in QUEUEING if name in fields]
        _prepend(result, "egress", "reproducible_queue", still)
    if any(op["op"] == "modify_field_rng_uniform" for op in _primitives(result)):
        _load_dice(result)
    return result


def _pipeline(program: Json, name: str) -> Json:
    found: Json = next(p for p in program["pipelines"] if p["name"] == name)
    return found


def _standard_fields(program: Json) -> dict[str, int]:
    header = next((h for h in program["headers"] if h["name"] == INGRESS_CLOCK[0]), None)
    if header is None:
        raise Bmv2Error(f"the program has no {INGRESS_CLOCK[0]}")
    types = {t["name"]: t for t in program["header_types"]}
    return {name: width for name, width, *_ in types[header["header_type"]]["fields"]}


def _clock_field(program: Json, fields: dict[str, int]) -> tuple[Json, int]:
    """Return the field that shows the time, and its width; one of our own if there is none."""
    if INGRESS_CLOCK[1] in fields:
        return _metadata(INGRESS_CLOCK[1]), fields[INGRESS_CLOCK[1]]
    for key, item in (
        ("header_types", {"fields": [[CLOCK, CLOCK_BITS, False]], "length_exp": None}),
        ("headers", {"header_type": CLOCK, "metadata": True}),
    ):
        identity = 1 + max((each["id"] for each in program[key]), default=-1)
        program[key].append({"name": CLOCK, "id": identity, **item})
    return {"type": "field", "value": [CLOCK, CLOCK]}, CLOCK_BITS


def _add_register(program: Json, name: str, width: int) -> Json:
    arrays = program.setdefault("register_arrays", [])
    arrays.append({"name": name, "id": len(arrays), "size": 1, "bitwidth": width})
    return {"type": "register_array", "value": name}


def _tick(now: Json, register: Json, tick: int, width: int) -> list[Json]:
    return [
        _primitive("register_read", now, register, _hex(0)),
        _assign(now, _wrapped(_binary("+", now, _hex(tick)), width)),
        _primitive("register_write", register, _hex(0), now),
    ]


def _prepend(program: Json, pipeline_name: str, name: str, primitives: list[Json]) -> None:
    """Let a pipeline begin with an action."""
    pipeline = _pipeline(program, pipeline_name)
    action_id = max((a["id"] for a in program["actions"]), default=-1) + 1
    program["actions"].append(
        {"name": name, "id": action_id, "runtime_data": [], "primitives": primitives}
    )
    pipeline["tables"].append(
        {
            "name": name,
            "id": 1 + max((t["id"] for p in program["pipelines"] for t in p["tables"]), default=-1),
            "key": [],
            "match_type": "exact",
            "type": "simple",
            "max_size": 1,
            "with_counters": False,
            "support_timeout": False,
            "direct_meters": None,
            "action_ids": [action_id],
            "actions": [name],
            "base_default_next": pipeline["init_table"],
            "next_tables": {name: pipeline["init_table"]},
            "default_entry": {
                "action_id": action_id,
                "action_const": True,
                "action_data": [],
                "action_entry_const": True,
            },
        }
    )
    pipeline["init_table"] = name


def _load_dice(program: Json) -> None:
    register = _add_register(program, DICE, STATE_BITS)
    scalars = next(h for h in program["headers"] if h["name"] == "scalars")
    fields = next(t for t in program["header_types"] if t["name"] == scalars["header_type"])
    fields["fields"].insert(0, [DICE, STATE_BITS + 1, False])  # whole bytes
    state = {"type": "field", "value": ["scalars", DICE]}
    for action in program["actions"]:
        rolled = [_roll(op, register, state) for op in action["primitives"]]
        action["primitives"] = [op for ops in rolled for op in ops]


def _roll(primitive: Json, register: Json, state: Json) -> list[Json]:
    if primitive["op"] != "modify_field_rng_uniform":
        return [primitive]
    target, *bounds = primitive["parameters"]
    low, high = map(_operand, bounds)
    advanced = _binary("+", _binary("*", state, _hex(MULTIPLIER)), _hex(INCREMENT))
    choices = _binary("+", _binary("-", high, low), _hex(1))
    value = _binary("+", low, _binary("%", _binary(">>", state, _hex(HIGH_BITS)), choices))
    return [
        _primitive("register_read", state, register, _hex(0)),
        _assign(state, _wrapped(advanced, STATE_BITS)),
        _primitive("register_write", register, _hex(0), state),
        _assign(target, _outermost(value)),
    ]


def _primitives(program: Json) -> Iterator[Json]:
    for action in program["actions"]:
        yield from action["primitives"]


def _primitive(op: str, *parameters: Json) -> Json:
    return {"op": op, "parameters": list(parameters)}


def _assign(target: Json, value: Json) -> Json:
    return _primitive("assign", target, value)


def _metadata(field: str) -> Json:
    return {"type": "field", "value": [INGRESS_CLOCK[0], field]}


def _hex(value: int) -> Json:
    return {"type": "hexstr", "value": hex(value)}


def _binary(op: str, left: Json, right: Json) -> Json:
    return {"type": "expression", "value": {"op": op, "left": left, "right": right}}


def _wrapped(expression: Json, width: int) -> Json:
    return _outermost(_binary("&", expression, _hex((1 << width) - 1)))


def _outermost(expression: Json) -> Json:
    """Wrap an expression as the parameter of a primitive wants it."""
    return {"type": "expression", "value": expression}


def _operand(parameter: Json) -> Json:
    """Turn the parameter of a primitive into what may stand inside of an expression."""
    if parameter["type"] == "expression":
        return dict(parameter["value"])
    if parameter["type"] == "runtime_data":
        return {"type": "local", "value": parameter["value"]}
    return parameter
