"""Tokens one after the other, as the parser consumes them."""

from collections.abc import Callable
from typing import TypeVar

from p4.compiler.diagnostics import Abort, Diagnostics, Position
from p4.compiler.lexer import END, IDENTIFIER, KEYWORD, STRING, SYMBOL, Token

Result = TypeVar("Result")

DEPTH_LIMIT = 500
CHAIN_LIMIT = 1000


class TokenStream:
    """The parser's base: looks at tokens, takes them, complains about them."""

    def __init__(self, tokens: list[Token], diagnostics: Diagnostics) -> None:
        self._tokens = tokens
        self._place = 0
        self._diagnostics = diagnostics
        self._speculating = 0
        self._depth = 0

    @property
    def _token(self) -> Token:
        return self._tokens[self._place]

    @property
    def _at(self) -> Position:
        return self._token.at

    def _peek(self, distance: int = 1) -> Token:
        return self._tokens[min(self._place + distance, len(self._tokens) - 1)]

    def _is(self, *texts: str) -> bool:
        token = self._token
        return token.text in texts and token.kind not in {STRING, END}

    def _is_identifier(self) -> bool:
        return self._token.kind == IDENTIFIER

    def _next(self) -> Token:
        token = self._token
        if token.kind != END:
            self._place += 1
        return token

    def _accept(self, *texts: str) -> bool:
        if self._is(*texts):
            self._place += 1
            return True
        return False

    def _expect(self, text: str, what: str = "") -> Token:
        if self._is(text):
            return self._next()
        if text == ";" and self._starts_a_line() and not self._speculating:
            self._diagnostics.error(
                self._at, f"expected {text!r}{what} but found {self._found()}", self._hint(text)
            )
            return self._token
        raise self._fail(f"expected {text!r}{what} but found {self._found()}", self._hint(text))

    def _starts_a_line(self) -> bool:
        return self._place > 0 and self._tokens[self._place - 1].at.line < self._at.line

    def _identifier(self, what: str) -> Token:
        if self._is_identifier():
            return self._next()
        hint = f"{self._token.text!r} is a keyword" if self._token.kind == KEYWORD else ""
        raise self._fail(f"expected {what} but found {self._found()}", hint)

    def _found(self) -> str:
        return END if self._token.kind == END else repr(self._token.text)

    def _hint(self, text: str) -> str:
        if text == ";" and self._place:
            previous = self._tokens[self._place - 1]
            return f"a ';' is probably missing after {previous.text!r} on line {previous.at.line}"
        return ""

    def _fail(self, message: str, hint: str = "") -> Abort:
        if self._speculating:
            return Abort(message)
        return self._diagnostics.fail(self._at, message, hint)

    def _adjacent(self, text: str) -> bool:
        """Tell whether the next tokens are the characters of `text` without a gap (for `>>`)."""
        first = self._token
        return all(
            (token := self._peek(index)).kind == SYMBOL
            and token.text == part
            and token.offset == first.offset + index
            for index, part in enumerate(text)
        )

    def _attempt(self, parse: Callable[[], Result]) -> Result | None:
        """Return what `parse` gives, or None with nothing consumed if it fails."""
        place = self._place
        depth = self._depth
        self._speculating += 1
        try:
            return parse()
        except Abort:
            self._place = place
            self._depth = depth
            return None
        finally:
            self._speculating -= 1

    def _nested(self, parse: Callable[[], Result]) -> Result:
        """Parse one level deeper, refusing what is nested too deep to be a real program."""
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            raise self._fail("nested too deep")
        result = parse()
        self._depth -= 1
        return result

    def _skip_to(self, *texts: str) -> None:
        """Skip to after one of `texts` or a closed brace, at the depth of braces where we are."""
        depth = 0
        while self._token.kind != END:
            token = self._next()
            if token.kind != SYMBOL:
                continue
            if token.text == "{":
                depth += 1
            elif token.text == "}":
                depth -= 1
                if depth <= 0:
                    return
            elif depth == 0 and token.text in texts:
                return
