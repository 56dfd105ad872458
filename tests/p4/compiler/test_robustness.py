"""Whatever the input: JSON or CompileError, never anything else."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from p4.compiler import CompileError, compile_file
from tests.p4.compiler.support import program

ROOT = Path(__file__).parents[3]
SEEDS = [
    program(
        declarations="enum bit<8> E { one = 1 } bit<8> f(in bit<8> x) { return x; }",
        locals="""
            register<bit<8>>(4) r; bit<8> x = 3;
            action a(bit<8> v) { x = v; exit; }
            table t { key = { hdr.h.a: ternary; } actions = { a; NoAction; } size = 4;
                      const entries = { 1 &&& 3: a(2); _: NoAction(); } }
        """,
        apply="""
            r.read(x, (bit<32>)hdr.h.a); t.apply();
            if (hdr.stack[x].isValid() && f(x) > 3) { hdr.h.c[7:0] = x ++ 4w3 ++ 4w1 == 1 ? x : 2; }
            switch (x) { 1: { x = 1; } default: { return; } }
            for (bit<8> i in 1 .. 2) { hdr.h.a = hdr.h.a |+| i; }
        """,
    ),
    (ROOT / "p4" / "programs" / "ecmp.p4").read_text(),
]
TOKEN = re.compile(r"[A-Za-z_]\w*|\d\w*|\s+|.", re.DOTALL)
SPARE = [
    "{", "}", "(", ")", ";", ",", "<", ">", "=", "+", "1", "8w3", "hdr", "header", "struct", "in",
    "out", "bit<8>", "true", "_", "default", "...", "{#}", "[0]", ".last", "&&&", "..", "exit",
    "return", "apply", "table", "action", "select", "transition", "int", "-1", "~", "?", ":", "++",
    "|+|", "void", "error", "tuple<bit<8>>", "varbit<8>", '"x"', "@name", "extern", "999999999999",
]  # fmt: skip


def outcome(text: str | bytes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.p4"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        try:
            compile_file(path, include_paths=[ROOT / "p4" / "programs"])
        except CompileError as error:
            return str(error)
    return ""


@settings(max_examples=120, deadline=None, phases=[Phase.generate])
@given(st.data())
def test_mutated_programs(data: st.DataObject) -> None:
    tokens = TOKEN.findall(data.draw(st.sampled_from(SEEDS)))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(tokens) - 1))
        match data.draw(st.integers(0, 3)):
            case 0:
                del tokens[place : place + data.draw(st.sampled_from([1, 2, 10]))]
            case 1:
                tokens.insert(place, data.draw(st.sampled_from(SPARE)))
            case 2:
                tokens[place] = tokens[data.draw(st.integers(0, len(tokens) - 1))]
            case _:
                start = data.draw(st.integers(0, len(tokens) - 1))
                tokens[place:place] = tokens[start : start + data.draw(st.integers(1, 20))]
    outcome("".join(tokens))


@settings(max_examples=60, deadline=None, phases=[Phase.generate])
@given(st.sampled_from(SEEDS), st.integers(0, 5000), st.binary(max_size=4), st.integers(0, 20))
def test_mutated_bytes(text: str, place: int, inserted: bytes, removed: int) -> None:
    data = text.encode()
    place %= len(data)
    outcome(data[:place] + inserted + data[place + removed :])


@settings(max_examples=60, deadline=None, phases=[Phase.generate])
@given(
    st.lists(st.sampled_from([*SPARE, "\n", '"', "#", "#if", "#include", "/*", "'"]), max_size=40)
)
def test_token_soup(words: list[str]) -> None:
    assert "error" in outcome(" ".join(words))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no package named main"),
        (f"const bit<8> x = {'(' * 9000}1;", "nested too deep"),
        (f"const bit<8> x = {'~' * 450}8w1;", "there is no package"),
        (f"control C() {{ apply {{ {'if (true) {' * 200} {'}' * 200} }} }}", "there is no package"),
        (f"const int x = {'9' * 5000};", "is not a number"),
        ("const int x = 1 << 60000;", "more than 4096 bits"),
        (f"const bit<8> x = {'9' * 20}w1;", "more than 4096 bits"),
        ("header h { bit<99999> x; }", "is not between"),
        ("header h { bit<8> x; } struct s { h[99999] x; }", "is not between"),
        ("struct s { s x; }", "used in its own type"),
        ("bit<8> f(in bit<8> x) { return f(x); }", "unknown name 'f'"),
    ],
)
def test_extremes(text: str, message: str) -> None:
    assert message in outcome(text)
