"""The fifth pass, part one: frames, temporaries, and code as it is put together."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Abort, Diagnostics, Position
from p4.compiler.model import Checked
from p4.compiler.storage import Storage


@dataclass(slots=True, eq=False)
class Frame:
    """What names mean while a control, parser, action or function is being inlined.

    `prefix` starts the control-plane names of what is declared here. `leave` and `exit` are the
    labels behind which the code after a return and an exit stands.
    """

    parent: "Frame | None"
    prefix: str
    types: t.Bindings = field(default_factory=dict)
    bindings: dict[tree.Declaration, places.Place] = field(default_factory=dict)
    tables: dict[tree.Table, flat.Table] = field(default_factory=dict)
    actions: dict[tree.Action, flat.Action] = field(default_factory=dict)
    owner: tree.Declaration | None = None
    result: places.Place | None = None
    leave: int = 0
    exit: int = 0
    loop_end: int = 0
    loop_next: int = 0
    in_action: bool = False

    def find(self, declaration: tree.Declaration) -> places.Place | None:
        """Return what a declaration is bound to here or further out."""
        frame: Frame | None = self
        while frame is not None:
            if declaration in frame.bindings:
                return frame.bindings[declaration]
            frame = frame.parent
        return None

    def home(self, declaration: tree.Table | tree.Action) -> "Frame":
        """Return the frame of the control that declares a table or action, else the outermost."""
        frame = self
        while frame.parent is not None:
            owner = frame.owner
            if isinstance(owner, tree.Control | tree.Parser) and declaration in owner.locals:
                return frame
            frame = frame.parent
        return frame


class LowerBase:
    """The lowering's base. Code goes to `_code`, in the order in which it runs."""

    def __init__(self, checked: Checked, diagnostics: Diagnostics, path: Path) -> None:
        self._checked = checked
        self._diagnostics = diagnostics
        self.program = flat.Program(path.name, str(path.parent))
        self._storage = Storage(self.program)
        self._code: list[flat.Statement] = []
        self._labels = 0
        self._used_labels: set[int] = set()
        self._frame = Frame(None, "")
        self._region = ""
        self._depth = 0

    # Errors

    def _unsupported(self, at: Position, what: str, hint: str = "") -> Abort:
        """Report what the target does not have; returns the exception to raise."""
        return self._diagnostics.fail(at, f"unsupported: {what}", hint)

    def _attempt(self, action: Callable[[], object]) -> None:
        """Run something, going on after it if it reports an error."""
        with suppress(Abort):
            action()

    # Types and names

    def _bound(self, type_: t.Type) -> t.Type:
        """Replace type variables by what they stand for in the current frame."""
        frame: Frame | None = self._frame
        while frame is not None:
            if frame.types:
                type_ = t.substitute(type_, frame.types)
            frame = frame.parent
        return type_

    def _type(self, expression: tree.Expression) -> t.Type:
        return self._bound(self._checked.types.get(expression, t.ANYTHING))

    def _written(self, node: tree.TypeNode) -> t.Type:
        return self._bound(self._checked.written[node])

    def _full_name(self, declaration: tree.Declaration, prefix: str | None = None) -> str:
        """Return a declaration's control-plane name, by its @name if it has one."""
        name = declaration.name
        for entry in declaration.annotations:
            if entry.name == "name" and entry.arguments:
                name = str(entry.arguments[0])
        if name.startswith("."):
            return name[1:]
        before = self._frame.prefix if prefix is None else prefix
        return f"{before}.{name}" if before else name

    # Code

    def _emit(self, statement: flat.Statement) -> None:
        self._code.append(statement)

    def _do(self, primitive: str, at: Position, *parameters: flat.Parameter) -> None:
        self._emit(flat.Do(primitive, parameters, at))

    def _capture(self, produce: Callable[[], object]) -> flat.Code:
        """Return the code that `produce` emits instead of emitting it here."""
        before, self._code = self._code, []
        try:
            produce()
            return tuple(self._code)
        finally:
            self._code = before

    def _label(self) -> int:
        self._labels += 1
        return self._labels

    def _jump(self, label: int, at: Position) -> None:
        self._used_labels.add(label)
        self._emit(flat.Jump(label, at))

    def _labelled(self, label: int, body: flat.Code) -> None:
        """Emit code that jumps may leave; without the label if none does."""
        if label in self._used_labels:
            self._emit(flat.Labelled(label, body))
        else:
            self._code.extend(body)

    def _if(self, condition: flat.Value, yes: flat.Code, no: flat.Code, at: Position) -> None:
        if isinstance(condition, flat.Number):
            self._code.extend(yes if condition.value else no)
        elif no and not yes:
            self._emit(flat.If(fold.unary("!", condition), no, (), at))
        elif yes:
            self._emit(flat.If(condition, yes, no, at))

    # Temporaries

    def _temporary(self, type_: t.Type, name: str = "tmp") -> places.Place:
        prefix = self._frame.prefix
        return self._storage.allocate(type_, f"{prefix}.{name}" if prefix else name)

    def _scalar(self, type_: t.Type, name: str = "tmp") -> flat.Field:
        place = self._temporary(type_, name)
        assert isinstance(place, flat.Field)
        return place

    def _save(self, value: flat.Value, at: Position) -> flat.Value:
        """Keep a value as it is now."""
        if isinstance(value, flat.Number | flat.RuntimeData):
            return value
        place = self._scalar(value.type)
        self._emit(flat.Assign(place, value, at))
        return place

    # Calls that the subclasses provide

    def _place(self, expression: tree.Expression) -> places.Place:
        raise NotImplementedError

    def _assign(self, target: places.Place, source: places.Place, at: Position) -> None:
        raise NotImplementedError

    def _statements(self, statements: tuple[tree.Statement, ...]) -> None:
        raise NotImplementedError
