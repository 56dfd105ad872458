"""The sixth pass: a lowered program as BMv2 JSON, in the format's version 2.23."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from p4.compiler import flat
from p4.compiler import types as t
from p4.compiler.diagnostics import Diagnostics, Position
from p4.compiler.emit_code import primitives
from p4.compiler.emit_parser import states
from p4.compiler.emit_pipeline import HIT, Graph, Node, graph
from p4.compiler.emit_values import Json, condition, data, hexstr

VERSION = [2, 23]
COMPILER = "Ofan p4"


def emit(program: flat.Program, diagnostics: Diagnostics) -> Json:
    """Return the program's JSON."""
    return _Emitter(program, diagnostics).program()


class _Emitter:
    def __init__(self, program: flat.Program, diagnostics: Diagnostics) -> None:
        self._program = program
        self._diagnostics = diagnostics
        self._ids: dict[str, int] = {}
        self._nodes = 0

    def program(self) -> Json:
        program = self._program
        parser = self._parser()
        graphs = [graph(program, each, self._diagnostics) for each in program.pipelines]
        self._check_names(graphs)
        action_ids = {action: index for index, action in enumerate(program.actions)}
        pipelines = [
            self._pipeline(pipeline, shape, action_ids)
            for pipeline, shape in zip(program.pipelines, graphs, strict=True)
        ]
        return {
            "program": program.name,
            "__meta__": {"version": VERSION, "compiler": COMPILER},
            **self._storage(),
            "field_lists": self._lists(program.field_lists),
            "errors": [[name, value] for name, value in program.errors.items()],
            "enums": [
                {"name": name, "entries": [list(entry) for entry in entries]}
                for name, entries in program.enums
            ],
            "parsers": [parser],
            "parse_vsets": [self._value_set(i, v) for i, v in enumerate(program.value_sets)],
            "deparsers": [self._deparser()],
            "meter_arrays": [self._meter(i, each) for i, each in enumerate(program.meters)],
            "counter_arrays": [self._counter(i, each) for i, each in enumerate(program.counters)],
            "register_arrays": [
                self._register(i, each) for i, each in enumerate(program.registers)
            ],
            "calculations": [
                self._calculation(i, each) for i, each in enumerate(program.calculations)
            ],
            "learn_lists": self._lists(program.learn_lists),
            "actions": [self._action(i, each) for i, each in enumerate(program.actions)],
            "pipelines": pipelines,
            "checksums": [self._checksum(i, each) for i, each in enumerate(program.checksums)],
            "force_arith": [],
            "extern_instances": [],
            "field_aliases": [[name, [at.header, at.name]] for name, at in program.aliases],
        }

    # Helpers

    def _check_names(self, graphs: Sequence[Graph]) -> None:
        """Refuse two tables, or two actions of a table, with the same control-plane name."""
        seen: dict[str, flat.Table] = {}
        tables = [node.table for shape in graphs for node in shape.nodes if node.table is not None]
        for table in tables:
            if seen.setdefault(table.name, table) is not table:
                self._duplicate(table.at, f"two tables are named {table.name}")
            names = [action.name for action in table.actions]
            for name in names:
                if names.count(name) > 1:
                    self._duplicate(table.at, f"two actions of {table.name} are named {name}")

    def _duplicate(self, at: Position, message: str) -> None:
        self._diagnostics.error(at, message, "give one of them another @name")

    def _source_info(self, at: Position | None) -> Json:
        if at is None:
            return {}
        lines = self._diagnostics.sources.get(at.file, ())
        text = lines[at.line - 1].strip() if 0 < at.line <= len(lines) else ""
        file, folder = PurePath(at.file), self._program.folder
        name = file.relative_to(folder) if file.is_relative_to(folder) else file
        return {
            "filename": name.as_posix(),
            "line": at.line,
            "column": at.column,
            "source_fragment": text,
        }

    def _next(self, group: str) -> int:
        value = self._ids.get(group, 0)
        self._ids[group] = value + 1
        return value

    # Headers

    def _storage(self) -> Json:
        program = self._program
        header_ids = {each.name: index for index, each in enumerate(program.headers)}
        union_ids = {each.name: index for index, each in enumerate(program.unions)}
        return {
            "header_types": [
                self._header_type(index, shape)
                for index, shape in enumerate(program.header_types.values())
            ],
            "headers": [
                {
                    "name": each.name,
                    "id": index,
                    "header_type": each.type,
                    "metadata": each.metadata,
                    "pi_omit": True,
                }
                for index, each in enumerate(program.headers)
            ],
            "header_stacks": [
                _group(index, each, "header_type", "header_ids", header_ids)
                for index, each in enumerate(program.stacks)
            ],
            "header_union_types": [
                {"name": name, "id": index, "headers": [list(each) for each in members]}
                for index, (name, members) in enumerate(program.union_types.items())
            ],
            "header_unions": [
                _group(index, each, "union_type", "header_ids", header_ids)
                for index, each in enumerate(program.unions)
            ],
            "header_union_stacks": [
                _group(index, each, "union_type", "header_union_ids", union_ids)
                for index, each in enumerate(program.union_stacks)
            ],
        }

    def _header_type(self, index: int, shape: flat.HeaderType) -> Json:
        fields: list[list[Any]] = [_field_type(name, type_) for name, type_ in shape.fields]
        bits = sum(t.width(type_, greatest=True) or 0 for _, type_ in shape.fields)
        if bits % 8:
            fields.append(["_padding", 8 - bits % 8, False])
        result: Json = {"name": shape.name, "id": index, "fields": fields}
        if any(isinstance(type_, t.Varbit) for _, type_ in shape.fields):
            result["max_length"] = -(-bits // 8)
        return result

    def _lists(self, lists: Sequence[flat.FieldList]) -> list[Json]:
        return [
            {
                "id": index + 1,
                "name": each.name,
                "source_info": self._source_info(each.at),
                "elements": [data(value) for value in each.values],
            }
            for index, each in enumerate(lists)
        ]

    # Parser and deparser

    def _parser(self) -> Json:
        first, parse_states = states(self._program, self._source_info)
        return {"name": "parser", "id": 0, "init_state": first, "parse_states": parse_states}

    def _deparser(self) -> Json:
        return {
            "name": "deparser",
            "id": 0,
            "source_info": self._source_info(self._program.deparser_at),
            "order": list(self._program.deparser),
            "primitives": [],
        }

    def _value_set(self, index: int, each: flat.Array) -> Json:
        return {
            "name": each.name,
            "id": index,
            "source_info": self._source_info(each.at),
            "compressed_bitwidth": each.width,
            "max_size": each.size,
        }

    # Arrays

    def _named(self, index: int, each: flat.Array | flat.Calculation | flat.Profile) -> Json:
        return {"name": each.name, "id": index, "source_info": self._source_info(each.at)}

    def _register(self, index: int, each: flat.Array) -> Json:
        return {**self._named(index, each), "size": each.size, "bitwidth": each.width}

    def _counter(self, index: int, each: flat.Array) -> Json:
        result = self._named(index, each)
        if each.table is None:
            return {**result, "size": each.size, "is_direct": False}
        return {**result, "is_direct": True, "binding": each.table}

    def _meter(self, index: int, each: flat.Array) -> Json:
        result = {
            **self._named(index, each),
            "is_direct": each.table is not None,
            "rate_count": 2,
            "type": each.unit,
            "size": each.size,
        }
        if each.table is None:
            return result
        target = each.target
        if target is None:
            self._diagnostics.error(each.at, f"direct meter {each.name} is never read")
            return result
        return {**result, "binding": each.table, "result_target": [target.header, target.name]}

    def _calculation(self, index: int, each: flat.Calculation) -> Json:
        inputs = [_input(value) for value in each.inputs]
        if each.payload:
            inputs.append({"type": "payload", "value": None})
        return {**self._named(index, each), "algo": each.algorithm, "input": inputs}

    def _checksum(self, index: int, each: flat.Checksum) -> Json:
        return {
            "name": each.name,
            "id": index,
            "source_info": self._source_info(each.at),
            "target": [each.target.header, each.target.name],
            "type": "generic",
            "calculation": each.calculation,
            "verify": not each.update,
            "update": each.update,
            "if_cond": condition(each.condition),
        }

    # Actions and pipelines

    def _action(self, index: int, action: flat.Action) -> Json:
        return {
            "name": action.name,
            "id": index,
            "runtime_data": [
                {"name": name, "bitwidth": width} for name, width in action.parameters
            ],
            "primitives": primitives(action.body, self._source_info),
            "source_info": self._source_info(action.at),
        }

    def _pipeline(
        self, pipeline: flat.Pipeline, shape: Graph, action_ids: dict[flat.Action, int]
    ) -> Json:
        for node in shape.nodes:
            if node.condition is not None:
                node.name = f"node_{self._next('node')}"
        return {
            "name": pipeline.name,
            "id": self._next("pipeline"),
            "source_info": self._source_info(pipeline.at),
            "init_table": shape.first.name if shape.first else None,
            "tables": [
                self._table(node, node.table, action_ids)
                for node in shape.nodes
                if node.table is not None
            ],
            "action_profiles": [
                self._profile(each)
                for each in self._program.profiles
                if each.pipeline == pipeline.name
            ],
            "conditionals": [
                self._conditional(node, node.condition)
                for node in shape.nodes
                if node.condition is not None
            ],
        }

    def _profile(self, each: flat.Profile) -> Json:
        result = {**self._named(self._next("profile"), each), "max_size": each.size}
        if each.algorithm is not None:
            inputs = [data(value) for value in each.inputs or ()]
            result["selector"] = {"algo": each.algorithm, "input": inputs}
        return result

    def _conditional(self, node: Node, test: flat.Value) -> Json:
        return {
            "name": node.name,
            "id": self._next("conditional"),
            "source_info": self._source_info(node.at),
            "expression": condition(test),
            "true_next": _name(node.outcomes["true"]),
            "false_next": _name(node.outcomes["false"]),
        }

    def _table(self, node: Node, table: flat.Table, action_ids: dict[flat.Action, int]) -> Json:
        hit_miss = HIT in node.outcomes
        kind = "simple"
        if table.profile is not None:
            profile = next(each for each in self._program.profiles if each.name == table.profile)
            kind = "indirect_ws" if profile.algorithm is not None else "indirect"
        result: Json = {
            "name": table.name,
            "id": self._next("table"),
            "source_info": self._source_info(table.at),
            "key": [_key(key) for key in table.keys],
            "match_type": _match_type(table),
            "type": kind,
            "max_size": table.size,
            "with_counters": table.counter is not None,
            "support_timeout": table.timeout,
            "direct_meters": table.meter,
            "action_ids": [action_ids[action] for action in table.actions],
            "actions": [action.name for action in table.actions],
            "base_default_next": None if hit_miss else _name(node.following),
            "next_tables": {key: _name(target) for key, target in node.outcomes.items()},
        }
        if table.profile is not None:
            result["action_profile"] = table.profile
        elif table.default is not None:
            result["default_entry"] = _default(table, action_ids)
        if table.entries is not None:
            result["entries"] = [self._entry(each, action_ids) for each in table.entries]
        return result

    def _entry(self, each: flat.Entry, action_ids: dict[flat.Action, int]) -> Json:
        return {
            "source_info": self._source_info(each.at),
            "match_key": [_match(match) for match in each.matches],
            "action_entry": {
                "action_id": action_ids[each.action],
                "action_data": _action_data(each.arguments),
            },
            "priority": each.priority,
        }


def _group(
    index: int, each: flat.Group, type_key: str, members_key: str, ids: dict[str, int]
) -> Json:
    return {
        "name": each.name,
        "id": index,
        type_key: each.type,
        "size": len(each.members),
        members_key: [ids[member] for member in each.members],
    }


def _field_type(name: str, type_: t.Type) -> list[Any]:
    if isinstance(type_, t.Varbit):
        return [name, "*"]
    return [name, t.width(type_), isinstance(type_, t.Bits) and type_.signed]


def _input(value: flat.Value) -> Json:
    result = data(value)
    if isinstance(value, flat.Number):
        result["bitwidth"] = t.width(value.type)
    return result


def _name(node: Node | None) -> str | None:
    return node.name if node is not None else None


def _key(key: flat.Key) -> Json:
    target = key.target
    path = [target.header, "$valid$" if isinstance(target, flat.Validity) else target.name]
    mask = None if key.mask is None else hexstr(key.mask, t.width(key.target.type))
    return {"match_type": key.kind, "name": key.name, "target": path, "mask": mask}


def _match_type(table: flat.Table) -> str:
    kinds = {key.kind for key in table.keys}
    return next((kind for kind in ("range", "ternary", "lpm") if kind in kinds), "exact")


def _default(table: flat.Table, action_ids: dict[flat.Action, int]) -> Json:
    assert table.default is not None
    action, arguments = table.default
    return {
        "action_id": action_ids[action],
        "action_const": table.default_constant,
        "action_data": _action_data(arguments),
        "action_entry_const": table.default_constant,
    }


def _action_data(arguments: Sequence[flat.Number]) -> list[str]:
    return [
        hexstr(value.value & ((1 << (t.width(value.type) or 0)) - 1), t.width(value.type))
        for value in arguments
    ]


def _match(match: flat.Match) -> Json:
    first = hexstr(match.value, match.width)
    second = hexstr(match.second, match.width)
    match match.kind:
        case "exact":
            return {"match_type": "exact", "key": first}
        case "lpm":
            return {"match_type": "lpm", "key": first, "prefix_length": match.second}
        case "range":
            return {"match_type": "range", "start": first, "end": second}
    return {"match_type": "ternary", "key": first, "mask": second}
