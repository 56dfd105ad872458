"""The fifth pass, part six: tables, their keys, actions and entries."""

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_base import Frame
from p4.compiler.lower_externs import ExternLowering
from p4.compiler.model import Call

DEFAULT_SIZE = 1024
COVER_LIMIT = 1000  # entries, up to which each is compared with each
MATCH_KINDS = ("exact", "lpm", "ternary", "range", "optional")


class TableLowering(ExternLowering):
    """Tables. A table is made when it is first applied; its keys are computed at every use."""

    _unnamed_profiles = 0

    def _apply_table(self, table: tree.Table) -> flat.Table:
        """Return the table, with the code that computes its keys emitted before it."""
        home = self._frame.home(table)
        before, self._frame = self._frame, home
        try:
            keys = self._keys(table, home)
            known = home.tables.get(table)
            if known is None:
                known = flat.Table(self._full_name(table), table.at, keys)
                home.tables[table] = known
                self._fill(known, table)
        finally:
            self._frame = before
        return known

    # Keys

    def _keys(self, table: tree.Table, home: Frame) -> tuple[flat.Key, ...]:
        known = home.tables.get(table)
        keys: list[flat.Key] = []
        for key in table.keys:
            if key.match_kind == "selector":
                continue
            if key.match_kind not in MATCH_KINDS:
                raise self._unsupported(key.at, f"match kind {key.match_kind!r}")
            earlier = known.keys[len(keys)] if known is not None else None
            keys.append(self._key(key, earlier))
        if sum(key.kind == "lpm" for key in keys) > 1:
            raise self._unsupported(
                table.at, "two lpm keys in one table", "make one of them ternary"
            )
        return tuple(keys)

    def _key(self, key: tree.Key, earlier: flat.Key | None) -> flat.Key:
        value = self._value(key.value)
        named = tree.annotation(key, "name")
        name = str(named.arguments[0]) if named and named.arguments else written(key.value)
        kind = "ternary" if key.match_kind == "optional" else key.match_kind
        known = earlier is None or earlier.target == value
        if known and isinstance(value, flat.Field | flat.Validity):
            return flat.Key(kind, value, name)
        target = earlier.target if earlier is not None else self._scalar(value.type, "key")
        assert isinstance(target, flat.Field)
        self._emit(flat.Assign(target, value, key.at))
        return flat.Key(kind, target, name)

    # The rest of a table

    def _fill(self, result: flat.Table, table: tree.Table) -> None:
        actions = [self._listed(reference) for reference in table.actions]
        by_declaration = {
            self._checked.calls[reference.call].declaration: action
            for reference, action in zip(table.actions, actions, strict=True)
        }
        result.default = (self._no_action(), ())
        for entry in table.properties:
            self._property(result, table, entry, by_declaration)
        if result.default[0] not in actions:
            actions.append(result.default[0])
        result.actions = tuple(actions)
        if table.entries is not None:
            result.entries = tuple(
                self._entry(table, row, rank, by_declaration)
                for row, rank in zip(table.entries, self._ranks(table), strict=True)
            )
            result.size = max(result.size, len(result.entries))
            self._check_entries(result.entries)

    def _check_entries(self, entries: tuple[flat.Entry, ...]) -> None:
        """Refuse entries with the same key; warn of those that others leave nothing to match."""
        seen: dict[tuple[flat.Match, ...], flat.Entry] = {}
        for entry in entries:
            first = seen.setdefault(entry.matches, entry)
            if first is not entry:
                hint = f"the first is at {first.at}"
                self._diagnostics.error(entry.at, "an entry with this key was there before", hint)
        if len(entries) > COVER_LIMIT:
            return
        for entry in entries:
            for other in entries:
                if other.priority < entry.priority and _covers(other.matches, entry.matches):
                    message = "this entry is never reached"
                    hint = f"the one at {other.at} comes before it"
                    self._diagnostics.warning(entry.at, message, hint)
                    break

    def _no_action(self) -> flat.Action:
        for action in self.program.actions:
            if action.name == "NoAction":
                return action
        action = flat.Action("NoAction", (), (), self._checked.program.at)
        self.program.actions.append(action)
        return action

    def _property(
        self,
        result: flat.Table,
        table: tree.Table,
        entry: tree.Property,
        actions: dict[tree.Declaration | None, flat.Action],
    ) -> None:
        match entry.name:
            case "default_action":
                call = self._checked.calls[entry.value]
                result.default = (actions[call.declaration], self._constants(call))
                result.default_constant = entry.constant
            case "size":
                result.size = self._checked.constants[entry.value] or DEFAULT_SIZE
            case "support_timeout":
                result.timeout = bool(self._checked.constants.get(entry.value))
            case "implementation":
                self._implementation(result, table, entry)
            case "counters" | "meters":
                self._direct(result, entry)

    def _attached(self, entry: tree.Property, name: str) -> places.Object:
        """Return a property's object; one that is made there has the property's @name or `name`.

        The reference compiler names them so; command files depend on it.
        """
        place = self._place(entry.value)
        assert isinstance(place, places.Object)
        if isinstance(entry.value, tree.Call):
            mark = tree.annotation(entry, "name")
            written_name = str(mark.arguments[0]).removeprefix(".") if mark else name
            place.name = self._storage.unique(written_name)
        return place

    def _direct(self, result: flat.Table, entry: tree.Property) -> None:
        place = self._attached(entry, entry.name.removesuffix("s"))
        arrays = self.program.counters if entry.name == "counters" else self.program.meters
        wanted = "direct_counter" if entry.name == "counters" else "direct_meter"
        array = self._array(place, wanted, entry.at)
        if array.table is not None:
            raise self._unsupported(entry.at, f"{array.name} attached to two tables")
        array.table = result.name
        array.size = result.size
        if array not in arrays:
            arrays.append(array)
        if entry.name == "counters":
            result.counter = array.name
        else:
            result.meter = array.name

    def _implementation(self, result: flat.Table, table: tree.Table, entry: tree.Property) -> None:
        place = self._attached(entry, f"action_profile_{self._unnamed_profiles}")
        self._unnamed_profiles += isinstance(entry.value, tree.Call)
        profile = self._profile(place, entry.at)
        profile.pipeline = profile.pipeline or self._region
        result.profile = profile.name
        inputs = [
            self._read(self._place(key.value), key.at)
            for key in table.keys
            if key.match_kind == "selector"
        ]
        fields = tuple(value for value in inputs if isinstance(value, flat.Field))
        if len(fields) < len(inputs):
            raise self._unsupported(entry.at, "a selector over something that is not a field")
        if profile.algorithm is not None:
            if profile.inputs is not None and profile.inputs != fields:
                raise self._diagnostics.fail(
                    entry.at, f"{profile.name} has other selector fields in another table"
                )
            profile.inputs = fields

    # Actions

    def _listed(self, reference: tree.ActionReference) -> flat.Action:
        call = self._checked.calls[reference.call]
        declaration = call.declaration
        assert isinstance(declaration, tree.Action)
        if declaration.name == "NoAction" and not declaration.body.statements:
            return self._no_action()
        home = self._frame.home(declaration)
        known = self._frame.actions.get(declaration)
        if known is None or call.arguments:
            known = self._action(declaration, call, home)
            self._frame.actions[declaration] = known
        return known

    def _action(self, declaration: tree.Action, call: Call, home: Frame) -> flat.Action:
        """Lower an action that a table may run."""
        frame = Frame(home, home.prefix, owner=declaration, in_action=True)
        plain = [parameter for parameter in declaration.arguments if not parameter.direction]
        widths: list[tuple[str, int]] = []
        for index, parameter in enumerate(plain):
            type_ = self._bound(self._checked.declared[parameter])
            width = t.width(type_)
            if width is None or not t.is_scalar(type_):
                raise self._unsupported(parameter.at, f"an action parameter of type {type_}")
            widths.append((parameter.name, width))
            frame.bindings[parameter] = flat.RuntimeData(index, t.base(type_))
        action = flat.Action(
            self._full_name(declaration, home.prefix), tuple(widths), (), declaration.at
        )
        self.program.actions.append(action)
        action.body = self._capture(lambda: self._action_body(declaration, call, frame, action))
        return action

    def _action_body(
        self, declaration: tree.Action, call: Call, frame: Frame, action: flat.Action
    ) -> None:
        outer = self._frame
        guard = Frame(outer, outer.prefix, exit=self._label(), in_action=True)
        self._frame = guard
        try:
            body = self._capture(lambda: self._listed_body(declaration, call, frame))
        finally:
            self._frame = outer
        if guard.exit not in self._used_labels:
            self._code.extend(body)
            return
        action.exits = True
        end = self._label()
        finish = self._capture(lambda: self._jump(end, declaration.at))
        guarded = self._capture(lambda: self._labelled(guard.exit, body + finish))
        leave = self._capture(lambda: self._mark_exit(outer, declaration.at))
        self._labelled(end, guarded + leave)

    def _listed_body(self, declaration: tree.Action, call: Call, frame: Frame) -> None:
        copies = self._bind(call, frame, copy=True)
        statements = declaration.body.statements
        self._inline(frame, lambda: self._statements(statements), copies, declaration.at)

    def _mark_exit(self, control: Frame, at: Position) -> None:
        """Note that an action exited: the pipeline stops, or copies out first."""
        if control.exit == self._pipeline_exit:
            self._do("exit", at)
            return
        self._emit(flat.Assign(self._exited(), fold.TRUE, at))

    def _apply_and(
        self,
        table: flat.Table,
        at: Position,
        hit: flat.Code | None = None,
        miss: flat.Code | None = None,
        *,
        cases: tuple[tuple[int, flat.Code], ...] = (),
        otherwise: flat.Code = (),
    ) -> None:
        """Emit a table and what follows its outcomes, unless its action exited."""
        check: flat.Code = ()
        exits = any(action.exits for action in table.actions)
        if exits and self._frame.exit != self._pipeline_exit:
            jump = self._capture(lambda: self._jump(self._frame.exit, at))
            check = self._capture(lambda: self._if(self._exited(), jump, (), at))
        if hit is None or miss is None:
            guarded = tuple((place, check + code) for place, code in cases)
            self._emit(flat.Apply(table, at, None, None, guarded, check + otherwise))
        else:
            self._emit(flat.Apply(table, at, check + hit, check + miss))

    # Entries

    def _constants(self, call: Call) -> tuple[flat.Number, ...]:
        """Return an action's arguments in an entry."""
        found: list[flat.Number] = []
        for parameter, value in call.arguments:
            type_ = self._bound(self._checked.declared[parameter])
            assert value is not None
            found.append(fold.number(self._checked.constants[value], type_))
        return tuple(found)

    def _entry(
        self,
        table: tree.Table,
        row: tree.Entry,
        rank: int,
        actions: dict[tree.Declaration | None, flat.Action],
    ) -> flat.Entry:
        call = self._checked.calls[row.action]
        keys = row.keys
        if len(keys) < len(table.keys):
            keys = (row.keys[0],) * len(table.keys)
        matches = tuple(
            self._match_of(value, key)
            for value, key in zip(keys, table.keys, strict=True)
            if key.match_kind != "selector"
        )
        action = actions[call.declaration]
        return flat.Entry(matches, action, self._constants(call), rank, row.at)

    def _match_of(self, value: tree.Expression, key: tree.Key) -> flat.Match:
        width = t.width(self._type(key.value)) or 0
        everything = (1 << width) - 1
        first, second = self._bounds(value, everything)
        match key.match_kind:
            case "exact":
                return flat.Match("exact", first, 0, width)
            case "range":
                high = second if _is_operator(value, "..") else first
                if isinstance(value, tree.Everything):
                    first, high = 0, everything
                if first > high:
                    raise self._diagnostics.fail(value.at, "the range's lower end is above its end")
                return flat.Match("range", first, high, width)
            case "lpm":
                prefix = second.bit_count()
                if second != everything ^ ((1 << (width - prefix)) - 1):
                    raise self._diagnostics.fail(value.at, "the mask of an lpm key has a hole")
                return flat.Match("lpm", first & second, prefix, width)
        return flat.Match("ternary", first & second, second, width)

    def _bounds(self, value: tree.Expression, everything: int) -> tuple[int, int]:
        """Return a keyset's value and mask, or both ends of a range."""
        if isinstance(value, tree.Everything):
            return 0, 0
        if isinstance(value, tree.Binary) and value.operator in {"&&&", ".."}:
            left = self._checked.constants[value.left]
            right = self._checked.constants[value.right]
            return left & everything, right & everything
        return self._checked.constants[value] & everything, everything

    def _ranks(self, table: tree.Table) -> list[int]:
        """Return the entries' priorities as BMv2 has them: the smaller number wins."""
        assert table.entries is not None
        annotated = [tree.annotation(entry, "priority") for entry in table.entries]
        if all(entry.priority is None for entry in table.entries):
            return [
                int(mark.arguments[0]) if mark and mark.arguments else index + 1
                for index, mark in enumerate(annotated)
            ]
        settings = {
            entry.name: self._checked.constants.get(entry.value, 1) for entry in table.properties
        }
        largest = bool(settings.get("largest_priority_wins", 1))
        step = settings.get("priority_delta", 1) or 1
        current = (len(table.entries) - 1) * step + 1 if largest else 1
        levels: list[int] = []
        for index, entry in enumerate(table.entries):
            if entry.priority is not None:
                current = self._checked.constants[entry.priority]
            elif index:
                current += -step if largest else step
            levels.append(current)
        top = max(levels, default=0)
        return [top - level + 1 if largest else level for level in levels]


def _covers(first: tuple[flat.Match, ...], second: tuple[flat.Match, ...]) -> bool:
    """Tell whether what the second matches, some of it by a mask, the first matches, too."""
    return first != second and all(
        one == other
        or (
            one.kind == other.kind == "ternary"
            and one.second & other.second == one.second
            and one.value == other.value & one.second
        )
        for one, other in zip(first, second, strict=True)
    )


def _is_operator(value: tree.Expression, operator: str) -> bool:
    return isinstance(value, tree.Binary) and value.operator == operator


def written(expression: tree.Expression) -> str:  # noqa: C901, PLR0911
    """Return a key's expression as it was written, for its name."""
    match expression:
        case tree.Name():
            return expression.name
        case tree.Member():
            return f"{written(expression.base)}.{expression.name}"
        case tree.Index():
            return f"{written(expression.base)}[{written(expression.index)}]"
        case tree.Slice():
            bounds = f"{written(expression.high)}:{written(expression.low)}"
            return f"{written(expression.base)}[{bounds}]"
        case tree.Call(function=tree.Member(base=header, name="isValid")):
            return f"{written(header)}.$valid$"
        case tree.Call():
            return f"{written(expression.function)}()"
        case tree.Integer():
            return str(expression.value)
        case tree.Unary():
            return expression.operator + written(expression.operand)
        case tree.Binary():
            left, right = written(expression.left), written(expression.right)
            return f"{left} {expression.operator} {right}"
        case tree.Cast():
            return written(expression.operand)
    return "key"
