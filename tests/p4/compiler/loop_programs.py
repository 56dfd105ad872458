"""Random P4 code with loops, and an interpreter of it to tell what it does."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from hypothesis import strategies as st

STEPS = 2000  # statements that code may run; what runs longer is not kept
INPUTS = ("a", "b")  # bit<8>
RESULT = "result"  # bit<32>
COMPARE = ("<", "<=", ">", ">=", "==", "!=")


class TooLongError(Exception):
    """The code runs for longer than a test wants to wait, or for ever."""


class BreakError(Exception):
    """Left a loop."""


class ContinueError(Exception):
    """Left a round."""


class ReturnError(Exception):
    """Left the control, action or function."""


class ExitError(Exception):
    """Left the pipeline."""


@dataclass
class World:
    """Variables and their widths, and how much may still be run."""

    values: dict[str, int]
    widths: dict[str, int]
    steps: int = STEPS

    def set(self, name: str, value: int) -> None:
        self.values[name] = value & ((1 << self.widths[name]) - 1)

    def tick(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise TooLongError


# Expressions are of unsigned numbers that are first cast to one width.


@dataclass(frozen=True)
class Number:
    value: int

    def text(self, width: int) -> str:
        return f"{width}w{self.value % (1 << width)}"

    def run(self, world: World, width: int) -> int:
        del world
        return self.value % (1 << width)


@dataclass(frozen=True)
class Variable:
    name: str

    def text(self, width: int) -> str:
        return f"(bit<{width}>){self.name}"

    def run(self, world: World, width: int) -> int:
        return world.values[self.name] % (1 << width)


@dataclass(frozen=True)
class Binary:
    operator: str
    left: "Expression"
    right: "Expression"

    def text(self, width: int) -> str:
        return f"({self.left.text(width)} {self.operator} {self.right.text(width)})"

    def run(self, world: World, width: int) -> int:
        left, right = self.left.run(world, width), self.right.run(world, width)
        top = (1 << width) - 1
        match self.operator:
            case "|+|":
                return min(top, left + right)
            case "|-|":
                return max(0, left - right)
        exact = {"+": left + right, "-": left - right, "*": left * right, "^": left ^ right}
        return exact[self.operator] & top


Expression: TypeAlias = Number | Variable | Binary


@dataclass(frozen=True)
class Condition:
    """A comparison, perhaps together with another."""

    operator: str
    left: Expression
    right: Expression
    width: int
    joined: str = ""
    other: "Condition | None" = None

    def text(self) -> str:
        this = f"{self.left.text(self.width)} {self.operator} {self.right.text(self.width)}"
        return f"({this} {self.joined} {self.other.text()})" if self.other else f"({this})"

    def run(self, world: World) -> bool:
        a, b = self.left.run(world, self.width), self.right.run(world, self.width)
        pairs = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}
        holds = pairs[self.operator]
        if self.other is None:
            return holds
        rest = self.other.run(world)
        return holds and rest if self.joined == "&&" else holds or rest


# Statements


@dataclass(frozen=True)
class Assign:
    name: str
    value: Expression
    width: int

    def lines(self) -> Iterator[str]:
        yield f"{self.name} = {self.value.text(self.width)};"

    def run(self, world: World) -> None:
        world.set(self.name, self.value.run(world, self.width))


@dataclass(frozen=True)
class Mix:
    """Fold a value into the result, so that order and number of rounds show in it."""

    value: Expression

    def lines(self) -> Iterator[str]:
        yield f"{RESULT} = {RESULT} * 31 + {self.value.text(32)};"

    def run(self, world: World) -> None:
        world.set(RESULT, world.values[RESULT] * 31 + self.value.run(world, 32))


@dataclass(frozen=True)
class Apply:
    """Apply a table, whose action mixes a number into a variable of the control."""

    def lines(self) -> Iterator[str]:
        yield "table_.apply();"

    def run(self, world: World) -> None:
        world.set(RESULT, world.values[RESULT] * 31 + 7)


@dataclass(frozen=True)
class Leave:
    word: str

    def lines(self) -> Iterator[str]:
        yield f"return {RESULT};" if self.word == "return result" else f"{self.word};"

    def run(self, world: World) -> None:
        del world
        errors = {"break": BreakError, "continue": ContinueError, "exit": ExitError}
        raise errors.get(self.word, ReturnError)


@dataclass(frozen=True)
class If:
    condition: Condition
    yes: "Block"
    no: "Block"

    def lines(self) -> Iterator[str]:
        yield f"if ({self.condition.text()}) {{"
        yield from block_lines(self.yes)
        yield "} else {"
        yield from block_lines(self.no)
        yield "}"

    def run(self, world: World) -> None:
        run_block(self.yes if self.condition.run(world) else self.no, world)


@dataclass(frozen=True)
class For:
    """A loop over a variable of its own, or over one that was declared before."""

    name: str
    width: int
    own: bool
    start: Expression
    condition: Condition
    updates: tuple[Assign, ...]
    body: "Block"

    def lines(self) -> Iterator[str]:
        kind = f"bit<{self.width}> " if self.own else ""
        updates = ", ".join(line.rstrip(";") for each in self.updates for line in each.lines())
        start = self.start.text(self.width)
        yield f"for ({kind}{self.name} = {start}; {self.condition.text()}; {updates}) {{"
        yield from block_lines(self.body)
        yield "}"

    def run(self, world: World) -> None:
        world.widths[self.name] = self.width
        world.set(self.name, self.start.run(world, self.width))
        try:
            while self.condition.run(world):
                world.tick()
                run_round(self.body, world)
                for update in self.updates:
                    update.run(world)
        except BreakError:
            return


@dataclass(frozen=True)
class ForIn:
    """A loop over a list, or over a range if there are just two that are joined by dots."""

    name: str
    width: int
    items: tuple[Expression, ...]
    range: bool
    body: "Block"

    def lines(self) -> Iterator[str]:
        items = [each.text(self.width) for each in self.items]
        collection = " .. ".join(items) if self.range else f"{{ {', '.join(items)} }}"
        yield f"for (bit<{self.width}> {self.name} in {collection}) {{"
        yield from block_lines(self.body)
        yield "}"

    def run(self, world: World) -> None:
        world.widths[self.name] = self.width
        values = [each.run(world, self.width) for each in self.items]
        try:
            for value in range(values[0], values[1] + 1) if self.range else values:
                world.tick()
                world.set(self.name, value)
                run_round(self.body, world)
        except BreakError:
            return


Statement: TypeAlias = Assign | Mix | Apply | Leave | If | For | ForIn
Block: TypeAlias = tuple[Statement, ...]


def block_lines(block: Block) -> Iterator[str]:
    for statement in block:
        yield from (f"    {line}" for line in statement.lines())


def run_block(block: Block, world: World) -> None:
    for statement in block:
        world.tick()
        statement.run(world)


def run_round(block: Block, world: World) -> None:
    try:
        run_block(block, world)
    except ContinueError:
        return


# Drawing


@dataclass
class Scope:
    """What may be used while drawing: variables with their widths, and ways to leave."""

    place: str  # "control", "action" or "function"
    widths: dict[str, int]
    fixed: frozenset[str] = frozenset(INPUTS)
    loops: int = 0
    count: list[int] = field(default_factory=lambda: [0])

    def inside(self, name: str, width: int) -> "Scope":
        widths = {**self.widths, name: width}
        return Scope(self.place, widths, self.fixed, self.loops + 1, self.count)

    def fresh(self) -> str:
        self.count[0] += 1
        return f"v{self.count[0]}"


def expression(draw: st.DrawFn, scope: Scope, depth: int = 2) -> Expression:
    kind = draw(st.integers(0, 5 if depth else 2))
    if kind == 0:
        return Number(draw(st.integers(0, 12)))
    if kind <= 2:
        return Variable(draw(st.sampled_from(sorted(scope.widths))))
    operator = draw(st.sampled_from(["+", "-", "*", "^", "|+|", "|-|"]))
    return Binary(operator, *(expression(draw, scope, depth - 1) for _ in range(2)))


def condition(draw: st.DrawFn, scope: Scope, depth: int = 1) -> Condition:
    other = condition(draw, scope, 0) if depth and draw(st.integers(0, 4)) == 0 else None
    left, right = expression(draw, scope, 1), expression(draw, scope, 1)
    width, joined = draw(st.integers(1, 9)), draw(st.sampled_from(["&&", "||"]))
    return Condition(draw(st.sampled_from(COMPARE)), left, right, width, joined, other)


def assignment(draw: st.DrawFn, scope: Scope) -> Statement:
    names = sorted(set(scope.widths) - scope.fixed - {RESULT})
    if not names:
        return Mix(expression(draw, scope))
    name = draw(st.sampled_from(names))
    return Assign(name, expression(draw, scope), scope.widths[name])


def loop(draw: st.DrawFn, scope: Scope) -> Statement:
    old = sorted(set(scope.widths) - scope.fixed - {RESULT})
    own = not old or draw(st.integers(0, 3)) > 0
    name = scope.fresh() if own else draw(st.sampled_from(old))
    width = draw(st.integers(1, 8)) if own else scope.widths[name]
    start = draw(st.one_of(st.builds(Number, st.integers(0, 12)), st.just(Variable("a"))))
    inner = scope.inside(name, width)
    variable, number = Variable(name), Number(draw(st.integers(0, 20)))
    if draw(st.integers(0, 2)):
        counts = Condition(draw(st.sampled_from(COMPARE)), variable, number, width)
    else:
        counts = condition(draw, inner)
    step = Number(draw(st.integers(1, 5)))
    operator = draw(st.sampled_from(["+", "+", "-", "|+|", "|-|", "*", "^"]))
    updates = [Assign(name, Binary(operator, variable, step), width)]
    if draw(st.integers(0, 3)) == 0:
        extra = assignment(draw, inner)
        updates.extend([extra] if isinstance(extra, Assign) else [])
    return For(name, width, own, start, counts, tuple(updates), block(draw, inner))


def loop_in(draw: st.DrawFn, scope: Scope) -> Statement:
    name, width = scope.fresh(), draw(st.integers(2, 8))
    is_range = draw(st.booleans())
    count = 2 if is_range else draw(st.integers(1, 4))
    items = tuple(expression(draw, scope, 1) for _ in range(count))
    return ForIn(name, width, items, is_range, block(draw, scope.inside(name, width)))


def statement(draw: st.DrawFn, scope: Scope) -> Statement:
    kind = draw(st.integers(0, 11))
    if kind >= 9 and scope.loops < 3:
        return loop_in(draw, scope) if kind == 9 else loop(draw, scope)
    if kind >= 6 and scope.loops:
        words = ["break", "continue", "return"] + ["exit"] * (scope.place != "function")
        word = draw(st.sampled_from(words))
        if word == "return" and scope.place == "function":
            word = "return result"
        leave: Block = (Mix(expression(draw, scope)), Leave(word))
        yes, no = (leave, ()) if draw(st.booleans()) else ((), leave)
        return If(condition(draw, scope), yes, no)
    if kind == 5:
        return If(condition(draw, scope), block(draw, scope, 1), block(draw, scope, 1))
    if kind == 4 and scope.place == "control":
        return Apply()
    return assignment(draw, scope) if kind < 3 else Mix(expression(draw, scope))


def block(draw: st.DrawFn, scope: Scope, most: int = 3) -> Block:
    return tuple(statement(draw, scope) for _ in range(draw(st.integers(1, most))))


@dataclass(frozen=True)
class Part:
    """Code in a place of its own, with two variables `v` and `w`."""

    place: str
    widths: tuple[int, int]
    body: Block

    def run(self, a: int, b: int) -> int:
        """Return the result; raises TooLongError, and ExitError with the result so far."""
        widths = {"a": 8, "b": 8, RESULT: 32, "v": self.widths[0], "w": self.widths[1]}
        world = World({"a": a, "b": b, RESULT: 0, "v": 0, "w": 0}, widths)
        try:
            run_block(self.body, world)
        except ReturnError:
            pass
        except ExitError:
            raise ExitError(world.values[RESULT]) from None
        return world.values[RESULT]

    def text(self, name: str) -> str:
        lines = "\n".join(block_lines(self.body))
        variables = f"bit<{self.widths[0]}> v = 0; bit<{self.widths[1]}> w = 0;"
        inputs = "in bit<8> a, in bit<8> b"
        match self.place:
            case "function":
                start = f"bit<32> {RESULT} = 0; {variables}"
                return f"bit<32> {name}({inputs}) {{ {start}\n{lines}\nreturn {RESULT}; }}"
            case "action":
                head = f"action act({inputs}, inout bit<32> {RESULT}) {{ {variables}\n{lines}\n}}"
                body = f"{head} apply {{ act(a, b, {RESULT}); }}"
            case _:
                action = f"action mix() {{ {RESULT} = {RESULT} * 31 + 7; }}"
                table = "table table_ { actions = { mix; } default_action = mix; }"
                body = f"{action} {table} apply {{ {variables}\n{lines}\n}}"
        return f"control {name}({inputs}, inout bit<32> {RESULT}) {{ {body} }}"


@st.composite
def parts(draw: st.DrawFn, place: str) -> Part:
    """Draw a part of which at least one statement is a loop."""
    widths = (draw(st.integers(1, 8)), draw(st.integers(1, 8)))
    scope = Scope(place, {"a": 8, "b": 8, RESULT: 32, "v": widths[0], "w": widths[1]})
    before = block(draw, scope, 2)
    middle = loop(draw, scope) if draw(st.booleans()) else loop_in(draw, scope)
    return Part(place, widths, (*before, middle, *block(draw, scope, 1)))
