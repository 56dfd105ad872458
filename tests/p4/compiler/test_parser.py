import pytest

from p4.compiler import tree
from p4.compiler.diagnostics import CompileError, Diagnostics
from p4.compiler.lexer import tokenize
from p4.compiler.parser import parse
from p4.compiler.source import Source


def declarations(text: str) -> tuple[tree.Declaration, ...]:
    diagnostics = Diagnostics({"a.p4": text.splitlines()})
    program = parse(tokenize(Source("a.p4", text), diagnostics), diagnostics)
    diagnostics.check()
    return program.declarations


def expression(text: str, types: str = "") -> tree.Expression:
    constant = declarations(f"{types} const bit<8> x = {text};")[-1]
    assert isinstance(constant, tree.Constant)
    return constant.value


def shape(node: tree.Expression) -> str:  # noqa: C901, PLR0911
    """Write an expression with all of its parentheses."""
    match node:
        case tree.Integer():
            return str(node.value)
        case tree.Name():
            return node.name
        case tree.Member():
            return f"{shape(node.base)}.{node.name}"
        case tree.Index():
            return f"{shape(node.base)}[{shape(node.index)}]"
        case tree.Slice():
            return f"{shape(node.base)}[{shape(node.high)}:{shape(node.low)}]"
        case tree.Unary():
            return f"({node.operator}{shape(node.operand)})"
        case tree.Binary():
            return f"({shape(node.left)} {node.operator} {shape(node.right)})"
        case tree.Conditional():
            return f"({shape(node.condition)} ? {shape(node.yes)} : {shape(node.no)})"
        case tree.Cast():
            return f"(cast {shape(node.operand)})"
        case tree.Call():
            inner = ", ".join(shape(each.value) for each in node.arguments if each.value)
            return f"{shape(node.function)}<{len(node.types)}>({inner})"
        case tree.ListExpression():
            return "{" + ", ".join(shape(item) for item in node.items) + "}"
    return type(node).__name__


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        ("a & b == c", "((a & b) == c)"),
        ("a || b && c", "(a || (b && c))"),
        ("a ++ b + c << 2", "(((a ++ b) + c) << 2)"),
        ("a >> 1 > b", "((a >> 1) > b)"),
        ("a < b > (c)", "((a < b) > c)"),
        ("a < T > (c)", "a<1>(c)"),
        ("f(a < b, c > (d))", "f<0>((a < b), (c > d))"),
        ("f<T, b>(c)", "f<2>(c)"),
        ("a < 2 && b > (c)", "((a < 2) && (b > c))"),
        ("a |+| b |-| c", "((a |+| b) |-| c)"),
        ("a ? b : c ? d : e", "((a ? b : c) ? d : e)"),
        ("a ? b : c == d ? e : f", "((a ? b : (c == d)) ? e : f)"),
        ("a ? b ? c : d : e", "(a ? (b ? c : d) : e)"),
        ("a ? b : c ? d : e ? f : g", "(((a ? b : c) ? d : e) ? f : g)"),
        ("a ? b ? c : d ? e : f : g", "(a ? ((b ? c : d) ? e : f) : g)"),
        ("-a[3:0]", "(-a[3:0])"),
        ("!a.b[1].c", "(!a.b[1].c)"),
        ("(bit<8>) a + b", "((cast a) + b)"),
        ("(T) a + b", "((cast a) + b)"),
        ("(a) + b", "(a + b)"),
        ("(T) - a", "(cast (-a))"),
        ("(a) - b", "(a - b)"),
        ("p.lookahead<bit<8>>()", "p.lookahead<1>()"),
        ("f<tuple<bit<8>>>(a, b).c", "f<1>(a, b).c"),
        ("{1, {2, 3}}", "{1, {2, 3}}"),
        ("a[7+:4]", "a[((7 + 4) - 1):7]"),
    ],
)
def test_expression(text: str, expected: str) -> None:
    assert shape(expression(text, "struct T { }")) == expected


def test_expression__special_forms() -> None:
    assert isinstance(expression("{#}"), tree.Invalid)
    assert isinstance(expression("..."), tree.DefaultValue)
    fields = expression("{ a = 1, b = 2, ... }")
    assert isinstance(fields, tree.StructExpression)
    assert [name for name, _ in fields.fields] == ["a", "b"]
    assert fields.open_ended


def test_declarations__one_of_each() -> None:
    text = """
    error { Oops }
    match_kind { fuzzy }
    typedef bit<9> port_t;
    type port_t Port;
    enum bit<2> E { a = 0, b = 1 }
    struct S<T> { T f; }
    header H { bit<8> f; }
    header_union U { H one; H two; }
    extern X<T> { X(bit<8> n); T get(in T value); abstract void todo(); }
    extern void plain<T>(in T x, @optional in bit<8> y);
    action act(bit<8> p) { }
    bit<8> f<T>(in T x) { return 1; }
    parser Q<P>(packet_in p);
    control R(inout H h)(bit<8> n) { apply { } }
    package K<A>(Q<A> q, R r = {#});
    K(Q(), R()) main;
    """
    found = declarations(text)
    assert [type(each).__name__ for each in found] == [
        "Names", "Names", "Typedef", "Typedef", "Enum", "Composite", "Composite", "Composite",
        "Extern", "Function", "Action", "Function", "Parser", "Control", "Package", "Instance",
    ]  # fmt: skip


def test_annotations() -> None:
    struct = declarations('@name("x") @tag[1, a.b] struct S { @f(2) bit<8> y; }')[0]
    assert isinstance(struct, tree.Composite)
    assert [(each.name, each.arguments) for each in struct.annotations] == [
        ("name", ("x",)),
        ("tag", (1, "a", ".", "b")),
    ]
    assert struct.fields[0].annotations[0].arguments == (2,)


def test_words_of_tables_may_be_names() -> None:
    control = declarations(
        "control C(inout bit<8> key, in bit<8> actions, in bit<8> state, in bit<8> type)"
        "{ apply { key = actions + state + type; } }"
    )[0]
    assert isinstance(control, tree.Control)


def test_shift_assignment_is_told_from_comparison() -> None:
    control = declarations("control C(inout bit<8> a) { apply { a >>= 1; a <<= 2; a |+|= 3; } }")[0]
    assert isinstance(control, tree.Control)
    assert control.body is not None
    operators = [
        each.operator for each in control.body.statements if isinstance(each, tree.Assignment)
    ]
    assert operators == [">>", "<<", "|+|"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("struct S { bit<8> a }", "expected ';' after the field but found '}'"),
        ("control C() { x = 1; apply { } }", "expected a declaration or 'apply'"),
        ("const bit<8> x = ;", "expected an expression but found ';'"),
        ("bit<8> x;", "variables are declared inside controls"),
        ("control C() { apply {", "block is never closed"),
        ("@name(", "annotation is never closed"),
        (f"const bit<8> x = {'+'.join('1' * 2000)};", "the expression is too long"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        declarations(text)
    assert message in str(caught.value)
