"""Loops through the engine, against an interpreter of them: how often they run is never guessed."""

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st

from p4.compiler.diagnostics import CompileError
from p4.engine import Program, Switch
from tests.p4.compiler.loop_programs import ExitError, Part, TooLongError, parts

PROGRAM = """
#include <core.p4>
#include <v1model.p4>
header in_t {{ bit<8> a; bit<8> b; }}
header out_t {{ {fields} }}
struct headers {{ in_t input; out_t output; }}
struct meta_t {{ }}
{declarations}
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    state start {{
        packet.extract(hdr.input);
        packet.extract(hdr.output);
        {parser}
        transition accept;
    }}
}}
control V(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    apply {{ sm.egress_spec = 1; {apply} }}
}}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ }} }}
control C(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers hdr) {{ apply {{ packet.emit(hdr); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""
INPUT = "hdr.input.a, hdr.input.b"
PLACES = ["function", "function", "action", "action", "control", "control", "control"]
FRAMES = [(0, 0), (1, 255), (255, 3), *((random.Random(n).randrange(256), n * 9) for n in range(9))]


def source(chosen: Sequence[Part]) -> str:
    """Return a program that runs every part; the first, a function, runs in the parser."""
    calls = [
        f"hdr.output.f{n} = part{n}({INPUT});"
        if part.place == "function"
        else f"part{n}.apply({INPUT}, hdr.output.f{n});"
        for n, part in enumerate(chosen)
    ]
    return PROGRAM.format(
        fields=" ".join(f"bit<32> f{n};" for n in range(len(chosen))),
        declarations="\n".join(part.text(f"part{n}") for n, part in enumerate(chosen)),
        parser=calls[0],
        apply="\n".join(calls[1:]),
    )


def results(chosen: Sequence[Part], a: int, b: int) -> list[int]:
    """Return what every part makes of two numbers; after an exit nothing else runs."""
    found: list[int] = []
    for part in chosen:
        try:
            found.append(part.run(a, b))
        except ExitError as left:
            found.append(left.args[0])
            break
    return found + [0] * (len(chosen) - len(found))


def check(chosen: Sequence[Part]) -> None:
    expected = [results(chosen, a, b) for a, b in FRAMES]
    text = source(chosen)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "loops.p4"
        path.write_text(text)
        switch = Switch(Program.load(path))
        for (a, b), wanted in zip(FRAMES, expected, strict=True):
            frame = bytes([a, b]) + bytes(4 * len(chosen))
            (output,) = switch.receive(1, frame)
            numbers = [int.from_bytes(output.data[n : n + 4]) for n in range(2, len(frame), 4)]
            assert numbers == wanted, f"a = {a}, b = {b}\n{text}"


def draw_ending(data: st.DataObject, place: str) -> Part:
    """Draw a part that ends for every frame."""
    part = data.draw(parts(place))
    try:
        for a, b in FRAMES:
            results([part], a, b)
    except TooLongError:
        reject()
    return part


@settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_loops_run_as_often_as_they_say(data: st.DataObject) -> None:
    chosen = [draw_ending(data, place) for place in PLACES]
    try:
        check(chosen)
    except CompileError as refused:
        if "this loop never ends" not in str(refused):
            raise
        reject()  # it stands where none of these frames comes
