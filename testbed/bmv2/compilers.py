"""One program through two compilers: the same entries and frames, in the engine and on BMv2.

The control plane is made from p4c's JSON, whose names are the reference, and meets both. So four
runs are compared: each compiler's JSON in our engine and in simple_switch, and the engine with
itself, which tells a compiler's fault from a switch's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from p4.compiler import compile_file
from p4.compiler.reference import compile_with_p4c
from p4.engine import Program
from testbed.bmv2.cases import random_case
from testbed.bmv2.compare import compare, compare_runs, run_engine
from testbed.bmv2.reproducible import reproducible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from testbed.bmv2.cases import Case
    from testbed.bmv2.compare import Comparison


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What differs with our JSON, with p4c's, and between the two in the engine."""

    ours: Comparison
    reference: Comparison
    between: tuple[str, ...]

    @property
    def differences(self) -> tuple[str, ...]:
        """Return a line for each difference, with where it was met."""
        return (
            *(f"our JSON: {line}" for line in self.ours.differences),
            *(f"p4c's JSON: {line}" for line in self.reference.differences),
            *(f"the engine, our JSON != p4c's: {line}" for line in self.between),
        )


def compare_compilers(
    path: Path,
    *,
    seed: int,
    frames: int,
    defines: Mapping[str, str] | None = None,
    include_paths: Sequence[Path] = (),
) -> Verdicts:
    """Compile a program twice and run it four times; raises as the compilers and switches do."""
    given = dict(defines or {})
    definitions = [f"{name}={value}" for name, value in given.items()]
    document = compile_with_p4c(path, defines=definitions, include_paths=include_paths)
    own = compile_file(path, defines=given, include_paths=list(include_paths))
    case = random_case(path.stem, document, seed, frames)
    return _verdicts(case, replace(case, document=reproducible(own)))


def _verdicts(reference: Case, ours: Case) -> Verdicts:
    programs = [Program.from_document(case.document, case.name) for case in (ours, reference)]
    runs = [run_engine(*pair) for pair in zip(programs, (ours, reference), strict=True)]
    return Verdicts(
        compare(ours, one_by_one=True), compare(reference, one_by_one=True), compare_runs(*runs)
    )
