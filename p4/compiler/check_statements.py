"""The fourth pass, part four: statements, tables, parser states."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from p4.compiler import tree
from p4.compiler import types as t
from p4.compiler.check_calls import CallChecker
from p4.compiler.diagnostics import Abort, Position
from p4.compiler.model import Call

_KNOWN_PROPERTIES = {
    "default_action",
    "size",
    "implementation",
    "counters",
    "meters",
    "support_timeout",
    "idle_timeout",
    "psa_idle_timeout",
    "largest_priority_wins",
    "priority_delta",
    "requires_versioning",
    "junk",
}
SELECTOR = "selector"
_NOT_IN_PARSERS: dict[type, str] = {
    tree.Exit: "exit",
    tree.Return: "return",
    tree.Switch: "switch",
    tree.For: "for",
    tree.ForIn: "for",
    tree.Break: "break",
    tree.Continue: "continue",
}


class StatementChecker(CallChecker):
    """Statements and what stands among them."""

    _returns: t.Type | None = None
    _loops = 0

    # Statements

    def _statements(self, statements: Sequence[tree.Statement]) -> None:
        for statement in statements:
            try:
                self._check_place(statement)
                _HANDLERS[type(statement)](self, statement)
            except Abort:
                self._give_name(statement)

    def _check_place(self, statement: tree.Statement) -> None:
        """Refuse what a parser's states do not have."""
        if self._context == "parser" and type(statement) in _NOT_IN_PARSERS:
            word = _NOT_IN_PARSERS[type(statement)]
            raise self._diagnostics.fail(statement.at, f"a parser's state cannot contain {word!r}")

    def _give_name(self, statement: tree.Statement) -> None:
        """Make a wrong declaration's name known, so that its uses are not errors too."""
        if isinstance(statement, tree.Declaration):
            self.checked.declared.setdefault(statement, t.ANYTHING)
            if statement.name not in self._scope.names:
                self._declare(statement)

    def _block(self, block: tree.Block) -> None:
        before = self._enter()
        self._statements(block.statements)
        self._scope = before

    def _assignment(self, node: tree.Assignment) -> None:
        if isinstance(node.value, tree.Call) and node.operator == "":
            self._infer(node.target)
        target = self._infer(node.target)
        self._check_writable(node.target)
        if isinstance(target, t.Named | t.Object | t.Applied):
            raise self._diagnostics.fail(node.target.at, f"{target} cannot be assigned to")
        if node.operator:
            combined = tree.Binary(node.at, node.operator, node.target, node.value)
            self._check(combined, target)
            return
        self._check(node.value, target)

    def _call_statement(self, node: tree.CallStatement) -> None:
        self._infer(node.call)

    def _if(self, node: tree.If) -> None:
        try:
            self._check(node.condition, t.BOOL, "a condition")
        except Abort:
            self.checked.types.setdefault(node.condition, t.BOOL)
        self._branch(node.yes)
        if node.no is not None:
            self._branch(node.no)

    def _branch(self, statement: tree.Statement) -> None:
        before = self._enter()
        self._statements((statement,))
        self._scope = before

    def _return(self, node: tree.Return) -> None:
        expected = self._returns or t.VOID
        if node.value is None:
            if expected != t.VOID:
                raise self._diagnostics.fail(node.at, f"return needs a value of type {expected}")
            return
        if expected == t.VOID:
            raise self._diagnostics.fail(node.at, "nothing is to be returned here")
        self._check(node.value, expected, "the returned value")

    def _exit(self, node: tree.Exit) -> None:
        if self._context == "function":
            raise self._diagnostics.fail(node.at, "a function cannot exit")

    def _loop_exit(self, node: tree.Break | tree.Continue) -> None:
        if not self._loops:
            word = type(node).__name__.lower()
            raise self._diagnostics.fail(node.at, f"{word} outside of a loop")

    def _switch(self, node: tree.Switch) -> None:
        type_ = self._infer(node.value)
        seen: dict[object, tree.SwitchCase] = {}
        for case in node.cases:
            if None in seen:
                self._diagnostics.error(case.at, "a case after the default")
            with suppress(Abort):
                self._switch_label(case, type_, seen)
            if case.block is not None:
                self._block(case.block)
        if node.cases and node.cases[-1].block is None:
            self._diagnostics.warning(node.cases[-1].at, "the last case has no block")

    def _switch_label(
        self, case: tree.SwitchCase, type_: t.Type, seen: dict[object, tree.SwitchCase]
    ) -> None:
        key: object = None
        if case.label is not None:
            key = self._label_key(case.label, type_)
        if key in seen:
            raise self._diagnostics.fail(
                case.at, "this case was there before", f"the first is at {seen[key].at}"
            )
        seen[key] = case

    def _label_key(self, label: tree.Expression, type_: t.Type) -> object:
        if not isinstance(type_, t.ActionRun):
            self._check(label, type_, "a case")
            return self._constant(label, "a case")
        if isinstance(label, tree.Name):
            names = {_action_name(reference): reference for reference in type_.table.actions}
            if label.name in names:
                self.checked.references[label] = self._find(label.name, label.at)[0]
                return label.name
            raise self._unknown(
                f"action of table {type_.table.name}", label.name, label.at, list(names)
            )
        raise self._diagnostics.fail(label.at, "a case is the name of an action here")

    def _for(self, node: tree.For) -> None:
        before = self._enter()
        self._statements(node.initial)
        self._check_quietly(node.condition, t.BOOL)
        self._statements(node.updates)
        self._loop_body(node.body)
        self._scope = before

    def _loop_body(self, body: tree.Statement) -> None:
        self._loops += 1
        self._branch(body)
        self._loops -= 1

    def _for_in(self, node: tree.ForIn) -> None:
        before = self._enter()
        type_ = self._resolve(node.variable.type)
        collection = self._infer(node.collection)
        if isinstance(collection, t.Set):
            self._coerce(node.collection, collection, t.Set(type_), "the loop variable")
        elif isinstance(collection, t.Tuple):
            for item in getattr(node.collection, "items", ()):
                self._coerce(item, self.checked.types[item], type_)
        elif not isinstance(collection, t.Stack):
            raise self._diagnostics.fail(node.collection.at, f"cannot loop over {collection}")
        self.checked.declared[node.variable] = type_
        self._declare(node.variable)
        self._loop_body(node.body)
        self._scope = before

    # Declarations among statements

    def _constant_declaration(self, node: tree.Constant) -> None:
        type_ = self._resolve(node.type)
        self.checked.declared[node] = type_
        self._check(node.value, type_, f"constant {node.name!r}")
        if t.is_scalar(type_):
            self._constant(node.value, f"constant {node.name!r}")
        self._declare(node)

    def _variable(self, node: tree.Variable) -> None:
        type_ = self._resolve(node.type)
        if isinstance(type_, t.Object) or type_ in {t.VOID, t.MATCH_KIND, t.INTEGER, t.STRING}:
            raise self._diagnostics.fail(node.at, f"a variable cannot have type {type_}")
        self.checked.declared[node] = type_
        if node.value is not None:
            with suppress(Abort):
                self._check(node.value, type_, f"variable {node.name!r}")
        self._declare(node)

    def _instance(self, node: tree.Instance) -> None:
        type_ = self._resolve(node.type)
        call = tree.Call(node.at, tree.TypeReference(node.type.at, node.type), (), node.arguments)
        self.checked.declared[node] = self._constructor(call, type_)
        self.checked.calls[node] = self.checked.calls[call]  # type: ignore[index]
        self._declare(node)

    def _value_set(self, node: tree.ValueSet) -> None:
        self._infer(node.size)
        if self._constant(node.size, "a value set's size") < 1:
            raise self._diagnostics.fail(node.size.at, "a value set's size is at least 1")
        self.checked.declared[node] = t.Set(self._resolve(node.type))
        self._declare(node)

    def _action(self, node: tree.Action) -> None:
        before = self._enter()
        self._parameters(node.arguments)
        seen_plain = False
        for parameter in node.arguments:
            if parameter.direction and seen_plain:
                self._diagnostics.error(
                    parameter.at, "parameters with a direction come before those without"
                )
            seen_plain = seen_plain or not parameter.direction
        self._body(node.body, t.VOID, "action")
        self._scope = before
        self._declare(node)

    def _parameters(self, parameters: Sequence[tree.Parameter]) -> None:
        for parameter in parameters:
            try:
                type_ = self._resolve(parameter.type)
            except Abort:
                type_ = t.ANYTHING
                self.checked.written[parameter.type] = type_
            self.checked.declared[parameter] = type_
            if parameter.default is not None:
                self._check_quietly(parameter.default, type_)
            self._declare(parameter)

    def _body(self, block: tree.Block, returns: t.Type, context: str) -> None:
        before = (self._returns, self._loops, self._context)
        self._returns, self._loops, self._context = returns, 0, context
        self._block(block)
        self._returns, self._loops, self._context = before

    # Tables

    def _table(self, node: tree.Table) -> None:
        self._declare(node)
        if node.entries and not node.keys:
            self._diagnostics.error(node.at, f"table {node.name!r} has entries but no key")
        kinds = [self._key(key) for key in node.keys]
        self._context, before = "action", self._context
        listed: set[str] = set()
        for reference in node.actions:
            with suppress(Abort):
                self._action_reference(reference)
            if _action_name(reference) in listed:
                message = f"action {_action_name(reference)!r} is listed twice"
                self._diagnostics.error(reference.at, message)
            listed.add(_action_name(reference))
        self._context = before
        for entry in node.properties:
            try:
                self._property(node, entry)
            except Abort:
                continue
        for row in node.entries or ():
            try:
                self._entry(node, row, kinds)
            except Abort:
                continue

    def _key(self, key: tree.Key) -> t.Type:
        try:
            type_ = self._infer(key.value)
            found = self._find(key.match_kind, key.at)
        except Abort:
            self.checked.types.setdefault(key.value, t.ANYTHING)
            return t.ANYTHING
        if not any(isinstance(entry, tree.Names) for entry in found):
            self._diagnostics.error(key.at, f"{key.match_kind!r} is not a match kind")
        if key.match_kind != SELECTOR and not t.is_scalar(type_) and type_ != t.ANYTHING:
            self._diagnostics.error(key.value.at, f"a key is a number, not {type_}")
            return t.ANYTHING
        return type_

    def _action_reference(self, reference: tree.ActionReference) -> None:
        call, name = _as_call(reference.call)
        if name is None:
            raise self._diagnostics.fail(reference.at, "expected the name of an action")
        found = self._find(name.name, name.at, absolute=name.absolute)
        action = found[0]
        if not isinstance(action, tree.Action):
            raise self._diagnostics.fail(name.at, f"{name.name!r} is not an action")
        self.checked.references[name] = action
        directed = tuple(entry for entry in action.arguments if entry.direction)
        arguments = self._match(call, directed, action.name)
        self._solve(call, (), arguments, {})
        self._check_arguments(arguments, {})
        self.checked.calls[reference.call] = Call("action", action.name, action, None, arguments)

    def _property(self, table: tree.Table, entry: tree.Property) -> None:
        if entry.name == "default_action":
            self._listed_action(table, entry.value, "default_action")
        elif entry.name == "size":
            self._check(entry.value, t.INTEGER) if isinstance(entry.value, tree.Integer) else None
            if self._constant(entry.value, "a table's size") < 0:
                raise self._diagnostics.fail(entry.value.at, "a table's size is negative")
        elif entry.name in _KNOWN_PROPERTIES:
            self._infer(entry.value)
        else:
            self._diagnostics.warning(entry.at, f"unknown table property {entry.name!r} is ignored")

    def _listed_action(self, table: tree.Table, value: tree.Expression, what: str) -> None:
        """Check an action with arguments that must be one of the table's."""
        call, name = _as_call(value)
        listed = {_action_name(reference): reference for reference in table.actions}
        if name is None or name.name not in listed:
            shown = name.name if name else "this"
            raise self._unknown(
                f"action of table {table.name} in {what}", shown, value.at, [*listed]
            )
        action = self.checked.references.get(_as_call(listed[name.name].call)[1])  # type: ignore[arg-type]
        if not isinstance(action, tree.Action):
            raise Abort
        self.checked.references[name] = action
        plain = tuple(entry for entry in action.arguments if not entry.direction)
        directed = len(action.arguments) - len(plain)
        if directed and len(call.arguments) == len(action.arguments):
            call = tree.Call(call.at, call.function, (), call.arguments[directed:])
        arguments = self._match(call, plain, action.name)
        self._solve(call, (), arguments, {})
        self._check_arguments(arguments, {})
        for _, argument in arguments:
            if argument is not None:
                self._constant(argument, f"an argument of {what}")
        self.checked.calls[value] = Call("action", action.name, action, None, arguments)

    def _entry(self, table: tree.Table, entry: tree.Entry, kinds: Sequence[t.Type]) -> None:
        self._listed_action(table, entry.action, "an entry")
        if entry.priority is not None:
            self._infer(entry.priority)
            self._constant(entry.priority, "a priority")
        if len(entry.keys) != len(table.keys):
            if len(entry.keys) == 1 and isinstance(entry.keys[0], tree.Everything):
                return
            raise self._diagnostics.fail(
                entry.at, f"table {table.name} has {len(table.keys)} keys, not {len(entry.keys)}"
            )
        for value, key, type_ in zip(entry.keys, table.keys, kinds, strict=True):
            self._entry_key(value, key, type_)

    def _entry_key(self, value: tree.Expression, key: tree.Key, type_: t.Type) -> None:
        self._check(value, t.Set(type_))
        if isinstance(value, tree.Everything):
            if key.match_kind == "exact":
                raise self._diagnostics.fail(value.at, "an exact key needs a value")
            return
        sets = {"&&&": ("ternary", "lpm"), "..": ("range",)}
        if isinstance(value, tree.Binary) and value.operator in sets:
            self._constant(value.left, "an entry's key")
            self._constant(value.right, "an entry's key")
            if key.match_kind not in sets[value.operator]:
                raise self._diagnostics.fail(
                    value.at, f"{value.operator} does not go with a key that is {key.match_kind}"
                )
            return
        self._constant(value, "an entry's key")

    # Parsers

    def _state(self, state: tree.State, names: Sequence[str]) -> None:
        before = self._enter()
        self._context = "parser"
        self._statements(state.statements)
        with suppress(Abort):
            self._transition(state, names)
        self._scope = before

    def _transition(self, state: tree.State, names: Sequence[str]) -> None:
        match state.transition:
            case None:
                return
            case str(name):
                self._check_state(name, state.transition_at, names)
            case tree.Select() as select:
                self._select(select, names)

    def _check_state(self, name: str, at: Position, names: Sequence[str]) -> None:
        if name not in names:
            raise self._unknown("state", name, at, list(names))

    def _select(self, select: tree.Select, names: Sequence[str]) -> None:
        types = [self._infer(key) for key in select.keys]
        types = [
            self._select_width(key, type_) for key, type_ in zip(select.keys, types, strict=True)
        ]
        for case in select.cases:
            try:
                self._check_state(case.state, case.at, names)
                self._select_case(case, types)
            except Abort:
                continue
        self._repeated_cases(select)
        if select.cases and not any(_catches_all(case) for case in select.cases[:-1]):
            return
        for before, case in zip(select.cases, select.cases[1:], strict=False):
            if _catches_all(before):
                self._diagnostics.warning(case.at, "the cases after default are never reached")
                return

    def _repeated_cases(self, select: tree.Select) -> None:
        seen: dict[tuple[object, ...], tree.SelectCase] = {}
        for case in select.cases:
            key = tuple(self._key_values(value) for value in case.keys)
            first = seen.setdefault(key, case)
            if first is not case and not _catches_all(case):
                hint = f"the first is at {first.at}"
                self._diagnostics.warning(case.at, "this case was there before", hint)

    def _key_values(self, value: tree.Expression) -> object:
        """Return what a key set compares with, so that equal ones are equal."""
        if isinstance(value, tree.Everything):
            return None
        if isinstance(value, tree.Binary) and value.operator in {"&&&", ".."}:
            first, second = (self._key_values(each) for each in (value.left, value.right))
            if value.operator == "&&&" and isinstance(first, int) and isinstance(second, int):
                first &= second
            return value.operator, first, second
        return self.checked.constants.get(value, value)

    def _select_width(self, key: tree.Expression, type_: t.Type) -> t.Type:
        if type_ == t.INTEGER:
            raise self._diagnostics.fail(
                key.at, "the width of this number is unknown", "write it with a width, as in 8w1"
            )
        if not t.is_scalar(type_) and type_ != t.ANYTHING:
            raise self._diagnostics.fail(key.at, f"select takes numbers, not {type_}")
        return type_

    def _select_case(self, case: tree.SelectCase, types: Sequence[t.Type]) -> None:
        if len(case.keys) != len(types):
            one = case.keys[0]
            if len(case.keys) == 1 and isinstance(one, tree.Everything):
                return
            if len(case.keys) == 1 and isinstance(self._infer(one), t.Set):
                self._check(one, t.Set(t.Tuple(tuple(types))))
                return
            raise self._diagnostics.fail(
                case.at, f"select has {len(types)} keys, this case has {len(case.keys)}"
            )
        for value, type_ in zip(case.keys, types, strict=True):
            self._check(value, t.Set(type_), "a case")


_HANDLERS: dict[type, Callable[[Any, Any], None]] = {
    tree.Assignment: StatementChecker._assignment,  # noqa: SLF001
    tree.CallStatement: StatementChecker._call_statement,  # noqa: SLF001
    tree.If: StatementChecker._if,  # noqa: SLF001
    tree.Block: StatementChecker._block,  # noqa: SLF001
    tree.Return: StatementChecker._return,  # noqa: SLF001
    tree.Exit: StatementChecker._exit,  # noqa: SLF001
    tree.Break: StatementChecker._loop_exit,  # noqa: SLF001
    tree.Continue: StatementChecker._loop_exit,  # noqa: SLF001
    tree.Switch: StatementChecker._switch,  # noqa: SLF001
    tree.For: StatementChecker._for,  # noqa: SLF001
    tree.ForIn: StatementChecker._for_in,  # noqa: SLF001
    tree.Constant: StatementChecker._constant_declaration,  # noqa: SLF001
    tree.Variable: StatementChecker._variable,  # noqa: SLF001
    tree.Instance: StatementChecker._instance,  # noqa: SLF001
    tree.ValueSet: StatementChecker._value_set,  # noqa: SLF001
    tree.Action: StatementChecker._action,  # noqa: SLF001
    tree.Table: StatementChecker._table,  # noqa: SLF001
}


def _catches_all(case: tree.SelectCase) -> bool:
    return all(isinstance(key, tree.Everything) for key in case.keys)


def _as_call(node: tree.Expression) -> tuple[tree.Call, tree.Name | None]:
    """Return an action's mention as a call, and the name in it."""
    call = node if isinstance(node, tree.Call) else tree.Call(node.at, node, (), ())
    return call, call.function if isinstance(call.function, tree.Name) else None


def _action_name(reference: tree.ActionReference) -> str:
    name = _as_call(reference.call)[1]
    return name.name if name else ""
