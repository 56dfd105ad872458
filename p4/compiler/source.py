"""The first pass: a P4 file and what it includes, through the C preprocessor.

Comments are blanked before preprocessing so that every token keeps its column; `#line` lines in
the result say where each line came from.
"""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pcpp

from p4.compiler.diagnostics import ERROR, CompileError, Diagnostic, Position

INCLUDE = Path(__file__).parent.parent / "include"

INCLUDE_LIMIT = 100

_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', re.DOTALL)
_UNCLOSED = re.compile(r"/\*")
_MACRO = re.compile(r"[A-Za-z_]\w*(\([^()]*\))?", re.ASCII)


@dataclass(slots=True)
class Source:
    """A preprocessed program: its text, and the lines of every file that took part in it."""

    name: str
    text: str
    files: dict[str, list[str]] = field(default_factory=dict)


def preprocess(
    path: Path, defines: Mapping[str, str], include_paths: Sequence[Path] = ()
) -> Source:
    """Read `path` with its includes expanded and its macros replaced.

    Raises CompileError for a file that cannot be read and for what the preprocessor refuses.
    """
    name = str(path)
    text = _read(path, Position(name, 1, 1))
    preprocessor = _Preprocessor(name)
    preprocessor.seen[name] = text.splitlines()
    for directory in (*include_paths, INCLUDE):
        preprocessor.add_path(str(directory))
    for macro, value in defines.items():
        if not _MACRO.fullmatch(macro):
            at = Position(name, 1, 1)
            message = f"cannot define {macro!r}: a macro's name is made of letters, digits and _"
            raise CompileError([Diagnostic(ERROR, at, message)])
        preprocessor.define(f"{macro} {value}")
    output = io.StringIO()
    try:
        preprocessor.parse(_blank_comments(text, name), name)
        preprocessor.write(output)
    except CompileError:
        raise
    except Exception:  # noqa: BLE001 (pcpp fails in many ways on malformed directives)
        preprocessor.malformed()
    if preprocessor.problems:
        raise CompileError(preprocessor.problems)
    return Source(name, output.getvalue(), preprocessor.seen)


def _read(path: Path, at: Position) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        problem = Diagnostic(ERROR, at, f"cannot read {path}: {error.strerror}")
    except UnicodeDecodeError:
        problem = Diagnostic(ERROR, at, f"cannot read {path}: it is not UTF-8 text")
    raise CompileError([problem])


def _blank_comments(text: str, name: str) -> str:
    def blank(found: re.Match[str]) -> str:
        comment = found.group()
        return comment if comment.startswith('"') else re.sub(r"[^\n]", " ", comment)

    clean = _COMMENT.sub(blank, text)
    unclosed = _UNCLOSED.search(re.sub(r'"(?:\\.|[^"\\])*"', lambda m: " " * len(m[0]), clean))
    if unclosed:
        before = clean[: unclosed.start()]
        column = len(before) - (before.rfind("\n") + 1) + 1
        at = Position(name, before.count("\n") + 1, column, 2)
        line = text.splitlines()[at.line - 1]
        raise CompileError([Diagnostic(ERROR, at, "comment is never closed", "", line)])
    return clean


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """pcpp that collects problems instead of printing them."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.problems: list[Diagnostic] = []
        self._included = 0
        self._directive_at = (name, 1)
        self.seen: dict[str, list[str]] = {}
        self.line_directive = "#line"
        self.compress = 0
        self.assume_encoding = "utf-8"

    def on_file_open(self, is_system_include: bool, includepath: str) -> Any:  # noqa: FBT001, ARG002
        """Open an included file with its comments blanked."""
        self._included += 1
        if self._included > INCLUDE_LIMIT:
            at = Position(includepath, 1, 1)
            raise CompileError([Diagnostic(ERROR, at, "too many files are included")])
        text = self._read_included(Path(includepath))
        self.seen[includepath] = text.splitlines()
        return io.StringIO(_blank_comments(text, includepath))

    def _read_included(self, path: Path) -> str:
        """Return a file's text; an OSError lets the preprocessor look in the next folder."""
        try:
            return path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            at = Position(*self._directive_at, 1)
            problem = Diagnostic(ERROR, at, f"cannot read {path}: it is not UTF-8 text")
            raise CompileError([problem]) from None

    def on_include_not_found(
        self,
        is_malformed: bool,  # noqa: FBT001
        is_system_include: bool,  # noqa: FBT001, ARG002
        curdir: str,  # noqa: ARG002
        includepath: str,
    ) -> None:
        """Report an include that is in none of the folders."""
        text = "malformed #include" if is_malformed else f"cannot find included file {includepath}"
        self.on_error(*self._directive_at, text)
        raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)

    def malformed(self) -> None:
        """Report the directive that is being read as one that cannot be understood."""
        self.on_error(*self._directive_at, "malformed preprocessor directive")

    def on_error(self, file: str, line: int, msg: str) -> None:
        """Record what the preprocessor complains about."""
        lines = self.seen.get(file, [])
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        column = len(text) - len(text.lstrip()) + 1
        at = Position(file, line, column, max(1, len(text.strip())))
        self.problems.append(Diagnostic(ERROR, at, msg, "", text))

    def on_directive_handle(
        self,
        directive: Any,
        toks: Any,
        ifpassthru: bool,  # noqa: FBT001
        precedingtoks: Any,
    ) -> Any:
        """Turn #error into a diagnostic, and drop #pragma."""
        self._directive_at = (directive.source, directive.lineno)
        if directive.value == "error":
            text = "".join(token.value for token in toks).strip()
            self.on_error(directive.source, directive.lineno, f"#error {text}")
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
        if directive.value in {"pragma", "warning"}:
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)
