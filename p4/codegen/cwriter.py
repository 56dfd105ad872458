"""Text of C with its indentation: the writer owns it, generators only give lines."""

from __future__ import annotations

from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WIDTH = 100
INDENT = "    "


class Writer:
    """Collects the lines of a C file."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str = "") -> None:
        """Add a line at the current depth; a long one is broken at its last outer commas."""
        if not text:
            self._lines.append("")
            return
        self._lines.extend(_fold(text, INDENT * self._depth))

    def label(self, name: str) -> None:
        """Add a goto label, one level out."""
        self._lines.append(f"{INDENT * max(self._depth - 1, 0)}{name}:;")

    def comment(self, text: str) -> None:
        """Add a comment, wrapped."""
        clean = " ".join(text.replace("*/", "* /").replace("/*", "/ *").split())
        indent = INDENT * self._depth
        parts = wrap(clean, WIDTH - len(indent) - 6, break_long_words=False)
        if len(parts) == 1:
            self._lines.append(f"{indent}/* {parts[0]} */")
            return
        self._lines.append(f"{indent}/*")
        self._lines.extend(f"{indent} * {part}" for part in parts)
        self._lines.append(f"{indent} */")

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """Open a braced block after `head`, and close it with `tail`."""
        self.line(f"{head} {{".lstrip())
        self._depth += 1
        yield
        self._depth -= 1
        self.line(tail)

    @contextmanager
    def function(self, head: str) -> Iterator[None]:
        """Open a function's body, brace on its own line, and an empty line after it.

        A parameter `packet` that the body does not name is marked as unused.
        """
        self.line(head)
        self.line("{")
        start = len(self._lines)
        self._depth += 1
        yield
        self._depth -= 1
        if "*packet" in head and not any("packet" in line for line in self._lines[start:]):
            self._lines.insert(start, f"{INDENT}(void)packet;")
        self.line("}")
        self.line()

    def reopen(self, head: str) -> None:
        """Close the block and open the next one of an if chain: `} else ... {`."""
        self._depth -= 1
        self.line(f"}} {head} {{")
        self._depth += 1

    def case(self, label: str) -> None:
        """Add a case label of the enclosing switch, at its depth."""
        self._depth -= 1
        self.line(label)
        self._depth += 1

    def items(self, head: str, items: Iterable[str], tail: str = "};") -> None:
        """Add an initialiser with one item a line."""
        with self.block(head, tail):
            for item in items:
                self.line(f"{item},")

    def text(self) -> str:
        """Return the file."""
        return "\n".join(self._lines).rstrip("\n") + "\n"


def _fold(text: str, indent: str) -> list[str]:
    """Break a line that is too long at spaces outside of string literals."""
    lines = []
    prefix = indent
    while len(prefix) + len(text) > WIDTH:
        cut = _cut(text, WIDTH - len(prefix))
        if cut <= 0:
            break
        lines.append(prefix + text[:cut].rstrip())
        text = text[cut:].lstrip()
        prefix = indent + INDENT * 2
    return [*lines, prefix + text]


def _cut(text: str, limit: int) -> int:
    """Return the last space before `limit` that is not inside a string literal."""
    inside, best, escaped = False, 0, False
    for number, character in enumerate(text):
        if number > limit and best:
            break
        if character == '"' and not escaped:
            inside = not inside
        escaped = character == "\\" and not escaped
        if character == " " and not inside:
            best = number
    return best
