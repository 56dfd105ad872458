"""The parser to C: a function per state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.document import ProgramError
from p4.codegen.headers import HeaderStatements, codec_name
from p4.codegen.layout import HeaderPlace, whole_bytes
from p4.codegen.statement import Statements
from p4.codegen.verify import parts

if TYPE_CHECKING:
    from p4.codegen.context import Context

CORE_ERRORS = {
    "NoError": 0,
    "PacketTooShort": 1,
    "NoMatch": 2,
    "StackOutOfBounds": 3,
    "HeaderTooShort": 4,
    "ParserTimeout": 5,
    "ParserInvalidArgument": 6,
}


class ParserGenerator:
    """Writes the functions of the parser's states, and the one that starts it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._writer = context.writer
        self._statements = Statements(context)
        self._headers = HeaderStatements(context)
        self._states = {state.name: state for state in context.program.parser.states}
        self._looping = self._has_loop()
        self._packed_sets: set[int] = set()  # those that the state has packed its key for

    def write(self) -> None:
        """Write all reachable states, the later ones first, then the parser itself."""
        order = self._order()
        if self._looping:
            self._write_loop_states(order)
        else:
            for name in reversed(order):
                self._write_state(self._states[name])
        with self._writer.function("static inline void run_states(struct packet *packet)"):
            start = self._context.program.parser.start
            if self._error_value("NoError"):
                self._writer.line(self._error("NoError"))
            if start is None:
                self._writer.line("(void)packet;")
            elif self._looping:
                self._write_loop(order, start)
            else:
                self._writer.line(f"{self._context.state_name(start)}(packet);")

    # Order --------------------------------------------------------------------------------

    def _targets(self, name: str) -> list[str]:
        return [case.target for case in self._states[name].cases if case.target is not None]

    def _order(self) -> list[str]:
        """Return the reachable states so that, without loops, each comes before its targets."""
        order: list[str] = []
        done: set[str] = set()
        start = self._context.program.parser.start
        stack: list[tuple[str, bool]] = [(start, False)] if start is not None else []
        while stack:
            name, finished = stack.pop()
            if finished:
                order.append(name)
            elif name not in done:
                done.add(name)
                stack.append((name, True))
                stack.extend((t, False) for t in reversed(self._targets(name)) if t not in done)
        return order[::-1]

    def _has_loop(self) -> bool:
        place = {name: number for number, name in enumerate(self._order())}
        return any(place[t] <= place[name] for name in place for t in self._targets(name))

    # States -------------------------------------------------------------------------------

    def _label(self, name: str) -> str:
        return self._context.functions.of(("label", name), f"AT_{name}")

    def _write_loop_states(self, order: list[str]) -> None:
        with self._writer.block("enum state", "};"):
            self._writer.line("AT_END,")
            for name in order:
                self._writer.line(f"{self._label(name)},")
        self._writer.line()
        for name in order:
            self._write_state(self._states[name])

    def _write_loop(self, order: list[str], start: str) -> None:
        """Write the loop over states; one that makes no progress ends like a parser time-out."""
        self._writer.line(f"enum state state = {self._label(start)};")
        limit = "packet->base.length + 65536"
        condition = f"steps < {limit} && state != AT_END"
        loop = f"for (uint32_t steps = 0; {condition}; steps++)"
        with self._writer.block(loop), self._writer.block("switch (state)"):
            for name in order:
                self._writer.case(f"case {self._label(name)}:")
                self._writer.line(f"state = {self._context.state_name(name)}(packet);")
                self._writer.line("break;")
            self._writer.case("case AT_END:")
            self._writer.line("break;")
        with self._writer.block("if (state != AT_END)"):
            self._writer.line(self._error("ParserTimeout"))

    def _write_state(self, state: p4.State) -> None:
        self._context.head(state.position, f"parser state {state.name}")
        name = self._context.state_name(state.name)
        kind = "enum state" if self._looping else "void"
        with self._writer.function(f"static inline {kind} {name}(struct packet *packet)"):
            try:
                for step in state.steps:
                    self._write_step(step)
                self._write_cases(state)
            except ProgramError as error:
                raise ProgramError(f"parser state {state.name}: {error}") from None

    def _end(self) -> str:
        return "return AT_END;" if self._looping else "return;"

    def _go(self, target: str | None) -> list[str]:
        if target is None:
            return [self._end()]
        if self._looping:
            return [f"return {self._label(target)};"]
        return [f"{self._context.state_name(target)}(packet);", "return;"]

    def _error_value(self, name: str) -> int:
        return self._context.program.errors.get(name, CORE_ERRORS[name])

    def _error(self, name: str) -> str:
        return f"packet->base.standard.parser_error = {self._error_value(name)}; /* {name} */"

    def _stop_unless(self, condition: str, error: str) -> None:
        with self._writer.block(f"if (!{condition})"):
            self._writer.line(self._error(error))
            self._writer.line(self._end())

    # Steps --------------------------------------------------------------------------------

    def _write_step(self, step: p4.Extract | p4.Statement) -> None:
        if isinstance(step, p4.Extract):
            self._write_extract(step)
            return
        for value in step.parameters:
            self._check_lookaheads(value)
        if step.operation == "verify":
            self._write_verify(step)
        elif step.operation == "advance":
            self._write_advance(step.parameters[0])
        else:
            self._statements.write(step)

    def _check_lookaheads(self, value: p4.Value) -> None:
        for part in parts(value):
            if isinstance(part, p4.Lookahead):
                count = whole_bytes(part.offset + part.bits)
                self._stop_unless(f"pl_ahead(&packet->base, {count})", "PacketTooShort")

    def _write_verify(self, step: p4.Statement) -> None:
        condition = self._context.expressions.condition(step.parameters[0])
        error = self._context.narrow(step.parameters[1], 32)
        with self._writer.block(f"if (!{condition.inside()})"):
            self._writer.line(f"packet->base.standard.parser_error = (uint32_t){error};")
            self._writer.line(self._end())

    def _write_advance(self, value: p4.Value) -> None:
        number = self._context.expressions.low(value, 64)
        if number.constant is not None:
            if number.constant % 8:
                self._writer.line(self._error("ParserInvalidArgument"))
                self._writer.line(self._end())
                return
            count = str(number.constant // 8)
        else:
            self._stop_unless(f"({number.inside()} % 8 == 0)", "ParserInvalidArgument")
            count = f"{number.unsigned()} / 8"
        self._stop_unless(f"pl_ahead(&packet->base, {count})", "PacketTooShort")
        self._writer.line(f"packet->base.parsed += (uint32_t)({count});")

    def _target(self, step: p4.Extract) -> tuple[HeaderPlace, str]:
        """Return where an extraction goes, and the counter that it advances."""
        layout, program = self._context.layout, self._context.program
        if step.kind == "regular":
            return layout.header(step.target), ""
        next_name = layout.next_name(step.target)
        if step.kind == "stack":
            size = len(program.stacks[step.target].headers)
            place = layout.element(step.target, next_name)
        else:
            stack = program.union_stacks[step.target]
            size = len(stack.unions)
            union = program.unions[stack.unions[0]]
            if step.member not in union.members:
                raise ProgramError(f"`{step.target}` has no member `{step.member}`")
            place = layout.union_member(union, union.members.index(step.member), next_name)
        self._stop_unless(f"({next_name} < {size})", "StackOutOfBounds")
        return place, next_name

    def _write_extract(self, step: p4.Extract) -> None:
        header, next_name = self._target(step)
        kind = self._context.program.header_types[header.type]
        fixed = kind.fixed_bits // 8
        variable = kind.variable
        size, bits = str(fixed), ""
        if variable is not None:
            with self._writer.block(""):
                bits = self._write_variable(step, kind, variable, fixed)
                self._finish_extract(header, f"{fixed} + bits / 8", bits)
        else:
            if fixed:
                self._stop_unless(f"pl_ahead(&packet->base, {size})", "PacketTooShort")
            self._finish_extract(header, size, "")
        if next_name:
            self._writer.line(f"{next_name}++;")

    def _write_variable(
        self, step: p4.Extract, kind: p4.HeaderType, variable: p4.Field, fixed: int
    ) -> str:
        length = step.length if step.length is not None else kind.length
        if length is None:
            raise ProgramError(f"`{step.target}` has a varbit without a length")
        number = self._context.expressions.low(self._resolve(length, step), 32)
        self._writer.line(f"const uint32_t bits = (uint32_t){number.inside()};")
        self._stop_unless("(bits % 8 == 0)", "ParserInvalidArgument")
        ahead = f"{fixed} + (uint64_t)bits / 8"
        self._stop_unless(f"pl_ahead(&packet->base, {ahead})", "PacketTooShort")
        self._stop_unless(f"(bits <= {variable.bits})", "HeaderTooShort")
        return ", bits"

    def _resolve(self, value: p4.Value, step: p4.Extract) -> p4.Value:
        """Return a varbit's length with the header's own fields in place of local numbers."""
        if step.length is not None or step.kind != "regular":
            return value
        kind = self._context.program.headers[step.target].type
        fields = self._context.program.header_types[kind].fields
        match value:
            case p4.ActionParameter(index):
                return p4.FieldRef(step.target, fields[index].name)
            case p4.Operation(operator, left, right, condition):
                sides = [self._resolve(v, step) if v is not None else None for v in (left, right)]
                return p4.Operation(operator, sides[0], sides[1], condition)
            case _:
                return value

    def _finish_extract(self, header: HeaderPlace, size: str, bits: str) -> None:
        kind = self._context.program.header_types[header.type]
        if self._context.layout.kept_fields(kind):
            name = codec_name(self._context, header.type, "extract")
            self._writer.line(f"{name}(&{header.text}, pl_cursor(&packet->base){bits});")
        self._headers.set_valid(header, "packet->base.parsed")
        if size != "0":
            self._writer.line(f"packet->base.parsed += {size};")

    # Transitions --------------------------------------------------------------------------

    def _write_cases(self, state: p4.State) -> None:
        default: str | None = None
        has_default = False
        fields = self._key_fields(state)
        self._packed_sets.clear()
        for case in state.cases:
            if case.kind is p4.CaseKind.DEFAULT:
                default, has_default = case.target, True
                continue
            with self._writer.block(f"if ({self._case_text(case, fields)})"):
                for line in self._go(case.target):
                    self._writer.line(line)
        lines = self._go(default) if has_default else [self._end()]
        for line in lines:
            if line != "return;":
                self._writer.line(line)

    def _key_fields(self, state: p4.State) -> list[tuple[str, int, bool]]:
        """Return C, width and whether it is bytes, of each field of the key."""
        fields = []
        widths = [self._bits(value) for value in state.key]
        used = _used_fields(state, widths)
        for number, value in enumerate(state.key):
            self._check_lookaheads(value)
            bits = widths[number]
            name = f"key{number}" if len(state.key) > 1 else "key"
            if number not in used:
                pass
            elif bits > 64:
                self._writer.line(f"uint8_t {name}[{whole_bytes(bits)}];")
                text = self._context.expressions.number(value).widened()
                self._writer.line(f"pl_wide_store({name}, {bits}, {text});")
            else:
                text = self._context.expressions.low(value, bits).text
                self._writer.line(f"const uint64_t {name} = {text};")
            fields.append((name, bits, bits > 64))
        return fields

    def _bits(self, value: p4.Value) -> int:
        if isinstance(value, p4.Lookahead):
            return value.bits
        if isinstance(value, p4.FieldRef):
            return self._context.program.field(value).bits
        return self._context.expressions.place(value).bits

    def _case_text(self, case: p4.Case, fields: list[tuple[str, int, bool]]) -> str:
        if case.kind is p4.CaseKind.SET:
            return self._set_text(case, fields)
        tests = []
        below = sum(8 * whole_bytes(bits) for _, bits, _ in fields)
        for name, bits, is_bytes in fields:
            below -= 8 * whole_bytes(bits)
            full = (1 << bits) - 1
            value = case.value >> below & full
            mask = full if case.mask is None else case.mask >> below & full
            if mask:
                tests.append(_test(name, bits, value & mask, mask, is_bytes=is_bytes))
        return " && ".join(tests) or "true"

    def _set_text(self, case: p4.Case, fields: list[tuple[str, int, bool]]) -> str:
        sets = self._context.program.value_sets
        number = next((n for n, s in enumerate(sets) if s.name == case.value_set), None)
        if number is None:
            raise ProgramError(f"there is no value set `{case.value_set}`")
        if case.mask is not None:
            raise ProgramError("a value set with a mask is not supported")
        call = f"pl_value_set_has(&packet->base, {number}, set_{number})"
        if number in self._packed_sets:
            return call
        self._packed_sets.add(number)
        total = sets[number].bits
        offset = 8 * whole_bytes(total) - total
        self._writer.line(f"uint8_t set_{number}[{whole_bytes(total)}] = {{0}};")
        for name, bits, is_bytes in fields:
            put = "pl_put_bits" if is_bytes else "pl_store_bits"
            self._writer.line(f"{put}(set_{number}, {offset}, {bits}, {name});")
            offset += bits
        return call


def _used_fields(state: p4.State, widths: list[int]) -> set[int]:
    """Return the numbers of the key's fields that some transition looks at."""
    used = set()
    for case in state.cases:
        below = sum(8 * whole_bytes(bits) for bits in widths)
        for number, bits in enumerate(widths):
            below -= 8 * whole_bytes(bits)
            mask = -1 if case.mask is None else case.mask >> below
            if case.kind is not p4.CaseKind.DEFAULT and mask & ((1 << bits) - 1):
                used.add(number)
    return used


def _test(name: str, bits: int, value: int, mask: int, *, is_bytes: bool) -> str:
    if not is_bytes:
        if mask == (1 << bits) - 1:
            return f"{name} == {_constant(value)}"
        return f"({name} & {_constant(mask)}) == {_constant(value)}"
    count = whole_bytes(bits)
    tests = []
    for place in range(count):
        shift = 8 * (count - 1 - place)
        part = mask >> shift & 0xFF
        if part:
            tests.append(f"({name}[{place}] & {part:#x}) == {value >> shift & 0xFF:#x}")
    return " && ".join(tests)


def _constant(value: int) -> str:
    return str(value) if value < 10 else f"UINT64_C({value:#x})" if value >= 1 << 31 else hex(value)
