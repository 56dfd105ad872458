"""The fifth pass, part one: what lowering carries along: frames, temporaries, code put together.

Lowering is functions over a `Context`, a module for each part of the language. A module calls
those before it by import, and the few that stand after it through `Context.later`.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Abort, Diagnostics, Position
from p4.compiler.model import Call, Checked
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


@dataclass(frozen=True, slots=True)
class Later:
    """The parts of lowering that earlier parts need: what a program nests, nests in a circle."""

    assign: Callable[["Context", places.Place, places.Place, Position], None]
    lower_call: Callable[["Context", tree.Call], places.Place | None]
    lower_extern_call: Callable[["Context", Call, Position], places.Place | None]
    tagged_fields: Callable[["Context", int], list[flat.Value]]
    apply_table: Callable[["Context", tree.Table], flat.Table]
    apply_and_go_on: Callable[["Context", flat.Table, Position], None]
    apply_parser: Callable[["Context", Frame, tree.Parser, Position], None]
    applied_member: Callable[["Context", tree.Member], places.Place]
    lower_statements: Callable[["Context", Sequence[tree.Statement]], None]


@dataclass(slots=True, eq=False)
class Context:
    """What lowering knows and has made so far.

    `code` takes statements in the order in which they run. `region` is the block of the package
    that is being lowered, `pipeline_exit` the label that an exit of it jumps to. `rounds_around`
    multiplies the rounds of the unrolled loops that are being lowered.
    """

    checked: Checked
    diagnostics: Diagnostics
    program: flat.Program
    storage: Storage
    later: Later
    frame: Frame
    global_frame: Frame
    code: list[flat.Statement] = field(default_factory=list)
    labels: int = 0
    used_labels: set[int] = field(default_factory=set)
    region: str = ""
    pipeline_exit: int = 0
    exit_flag: flat.Field | None = None
    arrays: dict[places.Object, flat.Array] = field(default_factory=dict)
    profiles: dict[places.Object, flat.Profile] = field(default_factory=dict)
    unnamed_profiles: int = 0
    rounds_around: int = 1
    metadata: places.Place | None = None

    # Errors

    def unsupported(self, at: Position, what: str, hint: str = "") -> Abort:
        """Report what the target does not have; returns the exception to raise."""
        return self.diagnostics.fail(at, f"unsupported: {what}", hint)

    def attempt(self, action: Callable[[], object]) -> None:
        """Run something, going on after it if it reports an error."""
        with suppress(Abort):
            action()

    # Types and names

    def bound(self, type_: t.Type) -> t.Type:
        """Replace type variables by what they stand for in the current frame."""
        frame: Frame | None = self.frame
        while frame is not None:
            if frame.types:
                type_ = t.substitute(type_, frame.types)
            frame = frame.parent
        return type_

    def type_of(self, expression: tree.Expression) -> t.Type:
        """Return an expression's type in the current frame."""
        return self.bound(self.checked.types.get(expression, t.ANYTHING))

    def written(self, node: tree.TypeNode) -> t.Type:
        """Return the type that a type node stands for in the current frame."""
        return self.bound(self.checked.written[node])

    def full_name(self, declaration: tree.Declaration, prefix: str | None = None) -> str:
        """Return a declaration's control-plane name, by its @name if it has one."""
        name = declaration.name
        for entry in declaration.annotations:
            if entry.name == "name" and entry.arguments:
                name = str(entry.arguments[0])
        if name.startswith("."):
            return name[1:]
        before = self.frame.prefix if prefix is None else prefix
        return f"{before}.{name}" if before else name

    # Code

    def emit(self, statement: flat.Statement) -> None:
        """Let a statement run after those so far."""
        self.code.append(statement)

    def do(self, primitive: str, at: Position, *parameters: flat.Parameter) -> None:
        """Let a primitive run after the statements so far."""
        self.emit(flat.Do(primitive, parameters, at))

    def capture(self, produce: Callable[[], object]) -> flat.Code:
        """Return the code that `produce` emits instead of emitting it here."""
        before, self.code = self.code, []
        try:
            produce()
            return tuple(self.code)
        finally:
            self.code = before

    def new_label(self) -> int:
        """Return a label that nothing bears."""
        self.labels += 1
        return self.labels

    def jump(self, label: int, at: Position) -> None:
        """Leave the code labelled so."""
        self.used_labels.add(label)
        self.emit(flat.Jump(label, at))

    def labelled(self, label: int, body: flat.Code) -> None:
        """Emit code that jumps may leave; without the label if none does."""
        if label in self.used_labels:
            self.emit(flat.Labelled(label, body))
        else:
            self.code.extend(body)

    def branch(self, condition: flat.Value, yes: flat.Code, no: flat.Code, at: Position) -> None:
        """Emit a conditional, or one of its branches if that is known."""
        if isinstance(condition, flat.Number):
            self.code.extend(yes if condition.value else no)
        elif no and not yes:
            self.emit(flat.If(fold.unary("!", condition), no, (), at))
        elif yes:
            self.emit(flat.If(condition, yes, no, at))

    # Temporaries

    def temporary(self, type_: t.Type, name: str = "tmp") -> places.Place:
        """Make room for a variable named as in the current frame."""
        prefix = self.frame.prefix
        return self.storage.allocate(type_, f"{prefix}.{name}" if prefix else name)

    def scalar(self, type_: t.Type, name: str = "tmp") -> flat.Field:
        """Make room for a number."""
        place = self.temporary(type_, name)
        assert isinstance(place, flat.Field)
        return place

    def save(self, value: flat.Value, at: Position) -> flat.Value:
        """Keep a value as it is now."""
        if isinstance(value, flat.Number | flat.RuntimeData):
            return value
        place = self.scalar(value.type)
        self.emit(flat.Assign(place, value, at))
        return place
