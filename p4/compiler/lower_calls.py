"""The fifth pass, part four: calls, which are all inlined."""

from collections.abc import Callable

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_assign import AssignmentLowering
from p4.compiler.lower_base import Frame
from p4.compiler.model import Call

CODE_LIMIT = 200_000

CopyOut = tuple[places.Place, places.Place]


class CallLowering(AssignmentLowering):
    """Calls of functions, actions, controls and the methods of headers and stacks."""

    _globals: Frame

    def _extern_call(self, call: Call, at: Position) -> places.Place | None:
        raise NotImplementedError

    def _apply_table(self, table: tree.Table) -> flat.Table:
        raise NotImplementedError

    def _apply_and(self, table: flat.Table, at: Position) -> None:
        raise NotImplementedError

    def _apply_parser(self, frame: Frame, parser: tree.Parser, at: Position) -> None:
        raise NotImplementedError

    def _call(self, node: tree.Call) -> places.Place | None:
        call = self._checked.calls[node]
        if len(self._code) > CODE_LIMIT:
            raise self._unsupported(
                node.at, "a program that is this large once its calls are inlined"
            )
        handlers: dict[str, Callable[[Call, Position], places.Place | None]] = {
            "builtin": self._builtin,
            "function": self._function,
            "action": self._action_call,
            "extern": self._extern_call,
            "method": self._extern_call,
            "apply": self._apply,
            "constructor": self._construct,
        }
        return handlers[call.kind](call, node.at)

    # Headers and stacks

    def _builtin(self, call: Call, at: Position) -> places.Place | None:
        assert call.base is not None
        place = self._place(call.base)
        if call.name == "isValid":
            return self._validity(place, at)
        if call.name in {"setValid", "setInvalid"}:
            self._set_validity(place, valid=call.name == "setValid", at=at)
            return None
        value = call.arguments[0][1]
        assert value is not None
        count = fold.number(self._checked.constants[value], t.Bits(32))
        assert isinstance(place, places.Stack)
        union = isinstance(place.elements[0], places.Union)
        kind = "header_union_stack" if union else "header_stack"
        self._do(call.name.split("_")[0], at, flat.Reference(kind, place.name), count)
        return None

    def _set_validity(self, place: places.Place, *, valid: bool, at: Position) -> None:
        match place:
            case places.Header():
                primitive = "add_header" if valid else "remove_header"
                self._do(primitive, at, flat.Reference("header", place.name))
            case places.Choice():
                self._by_index(place, lambda each: self._set_validity(each, valid=valid, at=at), at)
            case _:
                raise self._unsupported(at, "changing the validity of this")

    # Arguments

    def _bind(self, call: Call, frame: Frame, *, copy: bool) -> list[CopyOut]:
        """Bind parameters in `frame`; returns what is to be copied out after the call.

        An argument stands for its parameter itself, without a copy, where nobody can tell.
        """
        bound = self._arguments(call)
        written = [
            places.storage(place)
            for parameter, place, _ in bound
            if parameter.direction in {"out", "inout"}
        ]
        copies: list[CopyOut] = []
        for parameter, place, type_ in bound:
            if parameter.direction in {"out", "inout"}:
                self._bind_output(parameter, place, type_, frame, bound, copies, copy=copy)
            else:
                self._bind_input(parameter, place, type_, frame, written, copy=copy)
        return copies

    def _arguments(self, call: Call) -> list[tuple[tree.Parameter, places.Place | None, t.Type]]:
        effects = [value is not None and self._has_effects(value) for _, value in call.arguments]
        found: list[tuple[tree.Parameter, places.Place | None, t.Type]] = []
        for index, (parameter, value) in enumerate(call.arguments):
            formal = self._checked.declared.get(parameter, t.ANYTHING)
            type_ = self._bound(t.substitute(formal, call.bindings))
            place = None
            if value is not None:
                place = self._place(value)
                if isinstance(type_, t.Record | t.Tuple):
                    place = self._shaped(place, type_, value.at)
                if parameter.direction in {"", "in"} and any(effects[index + 1 :]):
                    place = self._kept(place, value.at)
            found.append((parameter, place, type_))
        return found

    def _bind_output(  # noqa: PLR0917
        self,
        parameter: tree.Parameter,
        place: places.Place | None,
        type_: t.Type,
        frame: Frame,
        bound: list[tuple[tree.Parameter, places.Place | None, t.Type]],
        copies: list[CopyOut],
        *,
        copy: bool,
    ) -> None:
        own = places.storage(place)
        others = (places.storage(other) for key, other, _ in bound if key is not parameter)
        plain = isinstance(
            place, flat.Field | places.Struct | places.Header | places.Union | places.Stack
        )
        if plain and not copy and not any(places.overlap(own, other) for other in others):
            assert place is not None
            frame.bindings[parameter] = place
            if parameter.direction == "out":
                self._invalidate(place, parameter.at)
            return
        inner = self._temporary_in(frame, type_, parameter.name)
        frame.bindings[parameter] = inner
        if parameter.direction == "out":
            self._invalidate(inner, parameter.at)
        elif place is not None:
            self._assign(inner, place, parameter.at)
        if place is not None:
            copies.append((place, inner))

    def _bind_input(
        self,
        parameter: tree.Parameter,
        place: places.Place | None,
        type_: t.Type,
        frame: Frame,
        written: list[set[tuple[str, str]]],
        *,
        copy: bool,
    ) -> None:
        if place is None:
            place = self._default(type_, parameter.at)
        constant = isinstance(place, flat.Number | flat.RuntimeData | flat.Text | places.Object)
        stored = isinstance(
            place, flat.Field | places.Struct | places.Header | places.Union | places.Stack
        )
        own = places.storage(place)
        stable = stored and not copy and not any(places.overlap(own, each) for each in written)
        if constant or stable:
            frame.bindings[parameter] = place
            return
        inner = self._temporary_in(frame, type_, parameter.name)
        self._assign(inner, place, parameter.at)
        frame.bindings[parameter] = inner

    def _temporary_in(self, frame: Frame, type_: t.Type, name: str) -> places.Place:
        before, self._frame = self._frame, frame
        try:
            return self._temporary(type_, name)
        finally:
            self._frame = before

    # Inlining

    def _inline(
        self, frame: Frame, body: Callable[[], object], copies: list[CopyOut], at: Position
    ) -> None:
        """Emit `body` as it runs in `frame`, then copy out, also when it exits."""
        outer = self._frame
        frame.leave = self._label()
        frame.exit = self._label() if copies else outer.exit
        self._frame = frame
        try:
            code = self._capture(body)
        finally:
            self._frame = outer
        if not copies or frame.exit not in self._used_labels:
            self._labelled(frame.leave, code)
            self._copy_out(copies, at)
            return
        done = self._label()
        inner = self._capture(lambda: self._finish(frame, code, copies, done, at))
        everything = self._capture(lambda: self._finish_exit(frame, inner, copies, outer, at))
        self._labelled(done, everything)

    def _finish(
        self, frame: Frame, code: flat.Code, copies: list[CopyOut], done: int, at: Position
    ) -> None:
        self._labelled(frame.leave, code)
        self._copy_out(copies, at)
        self._jump(done, at)

    def _finish_exit(
        self, frame: Frame, inner: flat.Code, copies: list[CopyOut], outer: Frame, at: Position
    ) -> None:
        self._labelled(frame.exit, inner)
        self._copy_out(copies, at)
        self._jump(outer.exit, at)

    def _copy_out(self, copies: list[CopyOut], at: Position) -> None:
        for target, source in copies:
            self._assign(target, source, at)

    def _function(self, call: Call, at: Position) -> places.Place | None:
        declaration = call.declaration
        assert isinstance(declaration, tree.Function)
        assert declaration.body is not None
        bindings = {key: self._bound(value) for key, value in call.bindings.items()}
        frame = Frame(self._globals, self._frame.prefix, bindings, owner=declaration)
        frame.in_action = self._frame.in_action
        copies = self._bind(call, frame, copy=False)
        statements = declaration.body.statements
        only = statements[0] if len(statements) == 1 else None
        if isinstance(only, tree.Return) and only.value is not None and not copies:
            return self._in_frame(frame, only.value)
        if declaration.returns is not None:
            before, self._frame = self._frame, frame
            returns = self._written(declaration.returns)
            self._frame = before
            if returns != t.VOID:
                frame.result = self._temporary(returns, declaration.name)
        self._inline(frame, lambda: self._statements(statements), copies, at)
        return frame.result

    def _in_frame(self, frame: Frame, expression: tree.Expression) -> places.Place:
        before, self._frame = self._frame, frame
        frame.exit = before.exit
        try:
            return self._place(expression)
        finally:
            self._frame = before

    def _action_call(self, call: Call, at: Position) -> places.Place | None:
        declaration = call.declaration
        assert isinstance(declaration, tree.Action)
        home = self._frame.home(declaration)
        frame = Frame(home, home.prefix, owner=declaration, in_action=self._frame.in_action)
        copies = self._bind(call, frame, copy=True)
        body = declaration.body.statements
        code = self._capture(
            lambda: self._inline(frame, lambda: self._statements(body), copies, at)
        )
        straight = all(isinstance(each, flat.Assign | flat.Do) for each in code)
        in_pipeline = self._region in {"ingress", "egress"} and not frame.in_action
        if straight or not in_pipeline or flat.leaves(code):
            self._code.extend(code)
        else:
            self._emit(flat.Whole(code, at))
        return None

    # Controls and parsers

    def _apply(self, call: Call, at: Position) -> places.Place | None:
        declaration = call.declaration
        if isinstance(declaration, tree.Table):
            self._apply_and(self._apply_table(declaration), at)
            return None
        assert isinstance(declaration, tree.Parser | tree.Control)
        self._apply_object(self._applied_object(call, declaration, at), call, at)
        return None

    def _applied_object(
        self, call: Call, declaration: tree.Parser | tree.Control, at: Position
    ) -> places.Object:
        assert call.base is not None
        reference = self._checked.references.get(call.base)
        place = self._frame.find(reference) if reference is not None else None
        if isinstance(place, places.Object):
            return place
        name = self._storage.unique(self._prefixed(declaration.name))
        return places.Object(t.Object(declaration), name, at)

    def _prefixed(self, name: str) -> str:
        prefix = self._frame.prefix
        return f"{prefix}.{name}" if prefix else name

    def _apply_object(self, target: places.Object, call: Call, at: Position) -> None:
        """Inline a control or parser."""
        declaration = target.type.declaration
        assert isinstance(declaration, tree.Parser | tree.Control)
        types = {key: self._bound(value) for key, value in call.bindings.items()}
        frame = Frame(self._globals, target.name, types, owner=declaration)
        frame.bindings.update(target.bindings)
        copies = self._bind(call, frame, copy=False)
        called = call.declaration
        assert isinstance(called, tree.Parser | tree.Control)
        for theirs, ours in zip(called.arguments, declaration.arguments, strict=True):
            frame.bindings[ours] = frame.bindings[theirs]
        frame = self._known_frame(target, frame, declaration, at)
        if isinstance(declaration, tree.Control):
            self._inline(frame, lambda: self._control_body(declaration), copies, at)
        else:
            self._inline(frame, lambda: self._apply_parser(frame, declaration, at), copies, at)

    def _known_frame(
        self,
        target: places.Object,
        frame: Frame,
        declaration: tree.Parser | tree.Control,
        at: Position,
    ) -> Frame:
        """Return the frame of an earlier application with the same arguments, if there is one."""
        for known in target.frames:
            assert isinstance(known, Frame)
            same = all(
                known.bindings.get(parameter) == frame.bindings[parameter]
                for parameter in declaration.arguments
            )
            if same:
                return known
            for local in declaration.locals:
                if isinstance(local, tree.Instance):
                    frame.bindings[local] = known.bindings[local]
        has_tables = any(isinstance(local, tree.Table) for local in declaration.locals)
        if target.frames and has_tables:
            raise self._unsupported(
                at,
                f"applying {target.name} twice with different arguments, since it has tables",
                "make an instance for each",
            )
        target.frames.append(frame)
        return frame

    def _control_body(self, declaration: tree.Control) -> None:
        assert declaration.body is not None
        self._statements(declaration.locals)
        self._statements(declaration.body.statements)

    def _construct(self, call: Call, at: Position) -> places.Place | None:
        declaration = call.declaration
        assert isinstance(declaration, tree.Extern | tree.Parser | tree.Control | tree.Package)
        arguments = tuple(self._bound(t.Variable(each)) for each in declaration.parameters)
        arguments = tuple(t.substitute(each, call.bindings) for each in arguments)
        name = self._storage.unique(self._prefixed(declaration.name))
        return self._object(call, t.Object(declaration, arguments), name, at)

    def _object(self, call: Call, type_: t.Object, name: str, at: Position) -> places.Object:
        """Make an instance, with its constructor's arguments."""
        bindings: dict[tree.Declaration, places.Place] = {
            parameter: self._place(value)
            for parameter, value in call.arguments
            if value is not None
        }
        return places.Object(type_, name, at, bindings)
