"""`python -m p4 compile`: a P4 program to BMv2 JSON."""

import argparse
import json
import sys
from pathlib import Path

from p4.compiler import CompileError, compile_with_warnings
from p4.compiler.dump import dump
from p4.compiler.passes import PASSES, run_passes
from p4.compiler.reference import compile_with_p4c


def add_compile_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what every command takes that compiles a P4 program."""
    parser.add_argument("program", type=Path, help="a .p4 file")
    parser.add_argument(
        "-D",
        dest="defines",
        metavar="NAME[=VALUE]",
        action="append",
        default=[],
        help="define a macro",
    )
    parser.add_argument(
        "-I",
        dest="include_paths",
        metavar="FOLDER",
        type=Path,
        action="append",
        default=[],
        help="look for included files there too",
    )
    parser.add_argument(
        "--compiler",
        choices=("ours", "p4c"),
        default="ours",
        help="use this compiler, or an installed p4c (default: ours)",
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `compile`."""
    add_compile_arguments(parser)
    parser.add_argument("-o", "--output", type=Path, help="where to write it (default: stdout)")
    parser.add_argument(
        "--dump",
        metavar="PASS",
        choices=[each.name for each in PASSES],
        help="write what a pass of our compiler gives, to be read: "
        + ", ".join(f"{each.name} ({each.gives})" for each in PASSES),
    )


def compile_program(arguments: argparse.Namespace) -> dict[str, object]:
    """Compile what the arguments name; prints warnings. Raises CompileError."""
    if arguments.compiler == "p4c":
        return compile_with_p4c(
            arguments.program, defines=arguments.defines, include_paths=arguments.include_paths
        )
    defines = dict(_split(each) for each in arguments.defines)
    result, warnings = compile_with_warnings(
        arguments.program, defines=defines, include_paths=arguments.include_paths
    )
    for warning in warnings:
        sys.stderr.write(f"{warning}\n")
    return result


def run(arguments: argparse.Namespace) -> int:
    """Compile and write the JSON; returns 2 if the program is wrong or the file unwritable."""
    try:
        if arguments.dump is not None:
            text = dump(_output_of(arguments))
        else:
            text = json.dumps(compile_program(arguments), indent=2) + "\n"
    except CompileError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return write_result(text, arguments)


def _output_of(arguments: argparse.Namespace) -> object:
    """Return what the pass of `--dump` gives."""
    defines = dict(_split(each) for each in arguments.defines)
    return run_passes(arguments.program, defines, arguments.include_paths, arguments.dump)[0]


def write_result(text: str, arguments: argparse.Namespace) -> int:
    """Write text where `-o` says, never over the program; returns the exit code."""
    output: Path | None = arguments.output
    if output is None:
        sys.stdout.write(text)
        return 0
    try:
        if output.exists() and output.samefile(arguments.program):
            sys.stderr.write(f"cannot write {output}: it is the program itself\n")
            return 2
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        sys.stderr.write(f"cannot write {output}: {error.strerror}\n")
        return 2
    return 0


def _split(define: str) -> tuple[str, str]:
    name, equals, value = define.partition("=")
    return name, value if equals else "1"
