"""How tightly operators bind, pair by pair, as in P4's reference grammar (which is not C's)."""

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from p4.compiler import tree
from p4.compiler.reference import NAMES
from tests.p4.compiler.test_parser import declarations, expression, shape

# From the loosest to the tightest, each associating to the left; "?" stands for `? x :`.
LEVELS = ["?", "||", "&&", "== !=", "< > <= >=", "|", "^", "&", "<< >>", "++ + - |+| |-|", "* / %"]
LEVEL = {operator: level for level, group in enumerate(LEVELS) for operator in group.split()}
PREFIXES = {"!": "(!{})", "~": "(~{})", "-": "(-{})", "+": "(+{})", "(T)": "(cast {})"}
SUFFIXES = {".f": "{}.f", "[1]": "{}[1]", "[3:0]": "{}[3:0]", "(z)": "{}<0>(z)"}


def written(left: str, operator: str, right: str) -> str:
    return f"{left} ? x : {right}" if operator == "?" else f"{left} {operator} {right}"


@pytest.mark.parametrize("first", LEVEL)
def test_pairs(first: str) -> None:
    for second, level in LEVEL.items():
        text = written(written("a", first, "b"), second, "c")
        if LEVEL[first] >= level:
            expected = written(f"({written('a', first, 'b')})", second, "c")
        else:
            expected = written("a", first, f"({written('b', second, 'c')})")
        assert shape(expression(text)) == f"({expected})", text


@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefixes_bind_tighter_than_what_stands_between(prefix: str) -> None:
    for operator in LEVEL:
        before, after = PREFIXES[prefix].format("a"), PREFIXES[prefix].format("b")
        text = written(f"{prefix} a", operator, f"{prefix} b")
        expected = f"({written(before, operator, after)})"
        assert shape(expression(text, "struct T { }")) == expected, text


@pytest.mark.parametrize(("prefix", "suffix"), list(itertools.product(PREFIXES, SUFFIXES)))
def test_suffixes_bind_tightest(prefix: str, suffix: str) -> None:
    inner = SUFFIXES[suffix].format("a")
    parsed = expression(f"{prefix} a{suffix}", "struct T { }")
    assert shape(parsed) == PREFIXES[prefix].format(inner)


def test_what_stands_in_the_middle_of_a_choice_is_whole() -> None:
    for operator in LEVEL:
        text = f"a ? {written('b', operator, 'c')} : d"
        assert shape(expression(text)) == f"(a ? ({written('b', operator, 'c')}) : d)", text


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        ("4 + 4", "(4 + 4)"),
        ("1 << 3", "(1 << 3)"),
        ("2 * 3 + 1", "((2 * 3) + 1)"),
        ("(16 > 8) ? 4 : 5", "((16 > 8) ? 4 : 5)"),
        ("(32 >> 2)", "(32 >> 2)"),
        ("N < 4 ? 16 > 8 ? 1 : 2 : 3", "((N < 4) ? ((16 > 8) ? 1 : 2) : 3)"),
    ],
)
def test_a_width_is_an_expression_that_greater_ends(width: str, expected: str) -> None:
    parsed = expression(f"(bit<{width}>) a > b")
    assert isinstance(parsed, tree.Binary)
    assert parsed.operator == ">"
    assert isinstance(parsed.left, tree.Cast)
    assert isinstance(parsed.left.type, tree.BaseType)
    assert parsed.left.type.width is not None
    assert shape(parsed.left.type.width) == expected


# Random trees, written with no parentheses but those that the table asks for.

Written = tuple[str, str, int]  # as P4 writes it, with all parentheses, how tightly it binds
TIGHTEST = len(LEVELS) + 1


def inside(term: Written, least: int) -> str:
    return term[0] if term[2] >= least else f"({term[0]})"


def joined(operator: str, left: Written, middle: Written, right: Written) -> Written:
    level = LEVEL[operator]
    first, last = inside(left, level), inside(right, level + 1)
    if operator == "?":
        whole = f"({left[1]} ? {middle[1]} : {right[1]})"
        return f"{first} ? {middle[0]} : {last}", whole, level
    return f"{first} {operator} {last}", f"({left[1]} {operator} {right[1]})", level


def prefixed(prefix: str, operand: Written) -> Written:
    text = f"{prefix} {inside(operand, TIGHTEST - 1)}"
    return text, PREFIXES[prefix].format(operand[1]), TIGHTEST - 1


def suffixed(suffix: str, operand: Written) -> Written:
    return inside(operand, TIGHTEST) + suffix, SUFFIXES[suffix].format(operand[1]), TIGHTEST


LEAVES: st.SearchStrategy[Written] = st.sampled_from(["a", "b", "c", "7"]).map(
    lambda name: (name, name, TIGHTEST)
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(joined, st.sampled_from(list(LEVEL)), inner, inner, inner),
        st.builds(joined, st.just("?"), inner, inner, inner),
        st.builds(prefixed, st.sampled_from(list(PREFIXES)), inner),
        st.builds(suffixed, st.sampled_from(list(SUFFIXES)), inner),
    ),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(TREES)
def test_trees(term: Written) -> None:
    assert shape(expression(term[0], "struct T { }")) == term[1]


# The reference compiler reads the same texts, and prints what it read with its own parentheses.

REFERENCE = next((found for name in NAMES if (found := shutil.which(name))), None)


def as_p4c_reads(texts: list[str], folder: Path) -> list[tree.Expression]:
    """Return what p4c prints for expressions before it checks or folds them, parsed."""
    program, printed = folder / "expressions.p4", folder / "printed.p4"
    lines = [f"const bit<8> x{place} = {text};" for place, text in enumerate(texts)]
    program.write_text("\n".join(["struct T { bit<8> f; }", *lines]))
    printed.unlink(missing_ok=True)
    assert REFERENCE is not None
    command = [REFERENCE, "--pp", str(printed), str(program)]
    subprocess.run(command, capture_output=True, check=False)  # there is no main: it fails later
    found = declarations(printed.read_text())
    return [each.value for each in found if isinstance(each, tree.Constant)]


@pytest.mark.p4c
@pytest.mark.skipif(REFERENCE is None, reason=f"neither {' nor '.join(NAMES)} is on the path")
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(terms=st.lists(TREES, min_size=20, max_size=60))
def test_trees__as_p4c_reads_them(
    terms: list[Written], tmp_path_factory: pytest.TempPathFactory
) -> None:
    terms = [term for term in terms if "+ +" not in term[0]]  # it prints that as ++, another word
    texts = [term[0] for term in terms]
    read = as_p4c_reads(texts, tmp_path_factory.mktemp("p4c"))
    assert [shape(each) for each in read] == [term[1] for term in terms]
