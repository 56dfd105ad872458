"""The fourth pass, part two: the types that type names stand for."""

from p4.compiler import tree
from p4.compiler import types as t
from p4.compiler.check_context import Context

WIDTH_LIMIT = 2048
VARBIT_LIMIT = 65_536
STACK_LIMIT = 1024

_SIMPLE = {
    "bool": t.BOOL,
    "error": t.ERROR,
    "match_kind": t.MATCH_KIND,
    "string": t.STRING,
    "void": t.VOID,
}

TYPE_DECLARATIONS = (
    tree.TypeParameter,
    tree.Typedef,
    tree.Composite,
    tree.Enum,
    tree.Extern,
    tree.Parser,
    tree.Control,
    tree.Package,
)


# Types


def resolve_type(ctx: Context, node: tree.TypeNode) -> t.Type:
    """Return the type that a type node stands for."""
    known = ctx.checked.written.get(node)
    if known is None:
        known = _resolve_anew(ctx, node)
        ctx.checked.written[node] = known
    return known


def _resolve_anew(ctx: Context, node: tree.TypeNode) -> t.Type:
    match node:
        case tree.BaseType():
            return _base_type(ctx, node)
        case tree.TypeName():
            return _named_type(ctx, node)
        case tree.StackType():
            return _stack_type(ctx, node)
        case tree.TupleType(kind="list"):
            raise ctx.diagnostics.fail(node.at, "unsupported: lists of any length")
        case tree.TupleType():
            return t.Tuple(tuple(resolve_type(ctx, item) for item in node.items))
        case _:
            return t.ANYTHING


def _base_type(ctx: Context, node: tree.BaseType) -> t.Type:
    if node.kind in _SIMPLE:
        return _SIMPLE[node.kind]
    if node.width is None:
        return t.INTEGER if node.kind == "int" else t.Bits(1)
    size = ctx.later.constant_of(ctx, node.width, "a width")
    least = 1 if node.kind == "int" else 0
    most = VARBIT_LIMIT if node.kind == "varbit" else WIDTH_LIMIT
    if not least <= size <= most:
        raise ctx.diagnostics.fail(
            node.width.at, f"a width of {size} is not between {least} and {most}"
        )
    if node.kind == "varbit":
        return t.Varbit(size)
    return t.Bits(size, node.kind == "int")


def _stack_type(ctx: Context, node: tree.StackType) -> t.Type:
    element = resolve_type(ctx, node.element)
    size = ctx.later.constant_of(ctx, node.size, "a stack's size")
    if not _may_be_stacked(element):
        raise ctx.diagnostics.fail(
            node.at, f"a stack holds headers or header unions, not {element}"
        )
    if not 0 < size <= STACK_LIMIT:
        raise ctx.diagnostics.fail(
            node.size.at, f"a stack's size of {size} is not between 1 and {STACK_LIMIT}"
        )
    return t.Stack(element, size)


def _may_be_stacked(element: t.Type) -> bool:
    if isinstance(element, t.Record):
        return element.kind != "struct"
    return isinstance(element, t.Variable) or element == t.ANYTHING


def _named_type(ctx: Context, node: tree.TypeName) -> t.Type:
    declaration = ctx.find(node.name, node.at, absolute=node.absolute)[0]
    ctx.checked.references[node] = declaration
    arguments = tuple(resolve_type(ctx, argument) for argument in node.arguments)
    type_ = _type_of_declaration(ctx, declaration, node)
    parameters: tuple[tree.TypeParameter, ...] = getattr(declaration, "parameters", ())
    if isinstance(declaration, tree.TypeParameter | tree.Typedef | tree.Enum):
        parameters = ()
    if arguments and len(arguments) != len(parameters):
        raise ctx.diagnostics.fail(
            node.at,
            f"{node.name} takes {len(parameters)} type arguments, not {len(arguments)}",
        )
    return t.substitute(type_, dict(zip(parameters, arguments, strict=False)))


def _type_of_declaration(
    ctx: Context, declaration: tree.Declaration, node: tree.TypeName
) -> t.Type:
    match declaration:
        case tree.TypeParameter():
            return t.Variable(declaration)
        case tree.Extern() | tree.Parser() | tree.Control() | tree.Package():
            parameters = tuple(map(t.Variable, declaration.parameters))
            return t.Object(declaration, parameters)
        case tree.Typedef() | tree.Composite() | tree.Enum():
            if declaration in ctx.checked.declared:
                return ctx.checked.declared[declaration]
            raise ctx.diagnostics.fail(node.at, f"{node.name!r} is used in its own type")
    raise ctx.diagnostics.fail(node.at, f"{node.name!r} is not a type")
