"""The sixth pass, part four: a pipeline's code as a graph of tables and conditionals.

The graph is built from its end. Code between tables becomes the action of a hidden table.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath

from p4.compiler import flat
from p4.compiler import types as t
from p4.compiler.diagnostics import Diagnostics, Position

HIT = "__HIT__"
MISS = "__MISS__"


@dataclass(slots=True, eq=False)
class Node:
    """A table (with what follows each action, or hit and miss) or a conditional."""

    at: Position
    table: flat.Table | None = None
    condition: flat.Value | None = None
    name: str = ""
    following: "Node | None" = None
    outcomes: dict[str, "Node | None"] = field(default_factory=dict)


@dataclass(slots=True)
class Graph:
    """A pipeline's nodes, in the order in which a walk from the first meets them."""

    first: Node | None
    nodes: list[Node]


def graph(program: flat.Program, pipeline: flat.Pipeline, diagnostics: Diagnostics) -> Graph:
    """Return the graph of a pipeline; hidden actions are added to the program.

    It is built twice, first to see which tables go on differently from where they are applied.
    """
    trial = _Builder(program, pipeline, diagnostics, frozenset())
    trial.code(pipeline.body, None)
    builder = _Builder(program, pipeline, diagnostics, trial.divided())
    first = builder.code(pipeline.body, None)
    program.actions.extend(reversed(builder.hidden))
    builder.join_sites()
    builder.close_loops(first)
    return Graph(first, _walk(first))


def _walk(first: Node | None) -> list[Node]:
    order: list[Node] = []
    seen: set[Node] = set()
    todo = [first]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        order.append(node)
        todo.append(node.following)
        todo.extend(reversed(list(node.outcomes.values())))
    return order


class _Builder:
    def __init__(
        self,
        program: flat.Program,
        pipeline: flat.Pipeline,
        diagnostics: Diagnostics,
        divided: frozenset[flat.Table],
    ) -> None:
        self._program = program
        self._diagnostics = diagnostics
        self._divided = divided
        self._labels: dict[int, Node | None] = {}
        self._taken = {action.name for action in program.actions}
        self._uses = Counter(
            each.table for each in flat.statements(pipeline.body) if isinstance(each, flat.Apply)
        )
        self._sites: dict[flat.Table, list[Node]] = {}
        self._starts: dict[Node, Node | None] = {}  # what stands for a loop's start, and that
        self.hidden: list[flat.Action] = []

    def divided(self) -> frozenset[flat.Table]:
        """Return the tables that go on differently from different places."""
        return frozenset(table for table, sites in self._sites.items() if len(sites) > 1)

    def code(self, code: flat.Code, following: Node | None) -> Node | None:
        """Return the first node of code that goes on with `following`."""
        plain: list[flat.Statement] = []
        for statement in reversed(code):
            if isinstance(statement, flat.Assign | flat.Do | flat.Whole) or _is_loop(statement):
                plain.append(statement)
                continue
            following = self._hidden(plain, following)
            plain = []
            following = self._statement(statement, following)
        return self._hidden(plain, following)

    def _statement(self, statement: flat.Statement, following: Node | None) -> Node | None:
        match statement:
            case flat.If():
                node = Node(statement.at, None, statement.condition)
                no = self.code(statement.no, following)
                yes = self.code(statement.yes, following)
                node.outcomes = {"true": yes, "false": no}
                return node if yes is not no else yes
            case flat.Labelled():
                self._labels[statement.label] = following
                return self.code(statement.body, following)
            case flat.Jump():
                return self._labels[statement.label]
            case flat.Apply():
                return self._apply(statement, following)
            case flat.Loop():
                return self._loop(statement)
        raise AssertionError("parsers do not run in pipelines")

    def _loop(self, loop: flat.Loop) -> Node | None:
        start = Node(loop.at)
        first = self._started(self.code(loop.body, start))
        if first is start:
            self._diagnostics.error(loop.at, "this loop never ends")
            return None
        self._starts[start] = first
        return first

    def _hidden(self, plain: list[flat.Statement], following: Node | None) -> Node | None:
        """Return a hidden table that runs statements (given in reverse)."""
        if not plain:
            return following
        at = _position(plain[-1])
        name = self._unique(f"{_stem(at.file)}{at.line}")
        action = flat.Action(name, (), tuple(reversed(plain)), at, hidden=True)
        self.hidden.append(action)
        table = flat.Table(f"tbl_{name}", at, (), (action,), (action, ()), default_constant=True)
        return Node(at, table, None, table.name, following, {name: following})

    def _unique(self, name: str) -> str:
        candidate, count = name, 0
        while candidate in self._taken:
            candidate = f"{name}_{count}"
            count += 1
        self._taken.add(candidate)
        return candidate

    # Tables

    def _apply(self, apply: flat.Apply, following: Node | None) -> Node | None:
        node = Node(apply.at, apply.table, None, apply.table.name, following)
        if apply.hit is not None and apply.miss is not None:
            miss = self.code(apply.miss, following)
            node.outcomes = {HIT: self.code(apply.hit, following), MISS: miss}
        else:
            self._action_outcomes(node, apply, following)
        if self._uses[apply.table] > 1:
            return self._site(node, apply)
        return node

    def _action_outcomes(self, node: Node, apply: flat.Apply, following: Node | None) -> None:
        otherwise = self.code(apply.otherwise, following)
        node.following = otherwise
        bodies: dict[int, Node | None] = {}
        built: dict[int, Node | None] = {}
        for place, code in reversed(apply.cases):
            if id(code) not in built:
                built[id(code)] = self.code(code, following)
            bodies[place] = built[id(code)]
        for place, action in enumerate(apply.table.actions):
            node.outcomes[action.name] = bodies.get(place, otherwise)

    def _site(self, node: Node, apply: flat.Apply) -> Node | None:
        """Return the node of one of several applications, which may have to say which it is."""
        sites = self._sites.setdefault(apply.table, [])
        same = [index for index, site in enumerate(sites) if _goes_on_alike(site, node)]
        if not same:
            sites.append(node)
        if apply.table not in self._divided:
            return sites[same[0] if same else -1]
        number = flat.Number(same[0] if same else len(sites) - 1, t.Bits(8))
        mark = flat.Assign(self._site_field(apply.table), number, apply.at)
        self._diagnostics.warning(
            apply.at,
            f"table {apply.table.name} is applied in several places",
            "the reference compiler refuses this; a table of its own for each place is portable",
        )
        return self._hidden([mark], sites[0])

    def _site_field(self, table: flat.Table) -> flat.Field:
        name = f"{table.name}.site"
        scalars = self._program.header_types["scalars_0"]
        if name not in {known for known, _ in scalars.fields}:
            scalars.fields.append((name, t.Bits(8)))
        return flat.Field(flat.SCALARS, name, t.Bits(8))

    def join_sites(self) -> None:
        """Let a table that is applied in several places go on where it was applied."""
        for table, sites in self._sites.items():
            if table not in self._divided:
                continue
            shared = sites[0]
            kinds = {HIT in site.outcomes for site in sites if not _is_plain(site)}
            if len(kinds) > 1:
                self._diagnostics.error(
                    shared.at,
                    f"unsupported: {table.name} applied for its hit and for its action",
                )
                continue
            keys = [HIT, MISS] if kinds == {True} else [action.name for action in table.actions]
            joined = {key: self._choose(table, sites, key) for key in keys}
            shared.following = joined[keys[-1]]
            shared.outcomes = joined

    def close_loops(self, first: Node | None) -> None:
        """Let what goes back to a loop's start go to the node that this has turned out to be."""
        seen: set[Node] = set()
        todo = [first]
        while todo:
            node = todo.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            node.following = self._started(node.following)
            node.outcomes = {key: self._started(each) for key, each in node.outcomes.items()}
            todo += [node.following, *node.outcomes.values()]

    def _started(self, node: Node | None) -> Node | None:
        while node in self._starts:
            node = self._starts[node]
        return node

    def _choose(self, table: flat.Table, sites: list[Node], key: str) -> Node | None:
        targets = [site.outcomes.get(key, site.following) for site in sites]
        result = targets[-1]
        for index in range(len(sites) - 2, -1, -1):
            if targets[index] is result:
                continue
            here = flat.Number(index, t.Bits(8))
            test = flat.Operation("==", self._site_field(table), here, t.BOOL)
            outcomes = {"true": targets[index], "false": result}
            result = Node(sites[index].at, None, test, "", None, outcomes)
        return result


def _is_loop(statement: flat.Statement) -> bool:
    """Tell whether a statement is a loop that becomes part of an action as a whole."""
    inside = list(flat.statements((statement,)))
    return (
        isinstance(statement, flat.Labelled)
        and any(isinstance(each, flat.Loop) for each in statement.body)
        and not any(isinstance(each, flat.Apply) for each in inside)
        and not flat.leaves((statement,))
    )


def _position(statement: flat.Statement) -> Position:
    while isinstance(statement, flat.Labelled):
        statement = statement.body[0]
    return statement.at


def _goes_on_alike(one: Node, other: Node) -> bool:
    return one.following is other.following and one.outcomes == other.outcomes


def _is_plain(site: Node) -> bool:
    return all(target is site.following for target in site.outcomes.values())


def _stem(file: str) -> str:
    stem = PurePath(file).stem
    return "".join(character if character.isalnum() else "_" for character in stem)
