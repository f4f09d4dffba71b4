"""A place in a token list, and the questions a parser asks there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .lexer import ParseError, Source, unquoted

T = TypeVar("T")


class Cursor:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.kinds = source.kinds
        self.texts = source.texts
        self.i = 0

    @property
    def kind(self) -> str:
        return self.kinds[self.i]

    @property
    def text(self) -> str:
        return self.texts[self.i]

    def step_back(self) -> None:
        self.i -= 1

    def error(self, message: str, token: int | None = None) -> ParseError:
        """A fault at a token, the current one when none is given."""
        index = self.i if token is None else token
        return self.source.error(message, self.source.starts[index])

    def found(self) -> str:
        """The current token in words."""
        return "the end of the text" if self.kind == "end" else repr(self.text)

    def accept(self, text: str) -> bool:
        """Step over the token `text` if it is next."""
        if self.texts[self.i] == text:
            self.i += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if self.texts[self.i] != text:
            raise self.error(f"{text!r} is expected, found {self.found()}")
        self.i += 1

    def take(self, kind: str, said: str) -> str:
        """The text of the next token, which must be of `kind`."""
        if self.kinds[self.i] != kind:
            raise self.error(f"{said} is expected, found {self.found()}")
        self.i += 1
        return self.texts[self.i - 1]

    def keyword(self) -> str:
        return self.take("id", "a word")

    def string(self) -> str:
        return unquoted(self.take("str", "a string"))

    def integer(self) -> int:
        if self.kinds[self.i] not in ("int", "hex"):
            raise self.error(f"an integer is expected, found {self.found()}")
        self.i += 1
        return int(self.texts[self.i - 1], 0)

    def boolean(self) -> bool:
        word = self.texts[self.i]
        if word not in ("true", "false"):
            raise self.error(f"true or false is expected, found {self.found()}")
        self.i += 1
        return word == "true"

    def symbol_name(self) -> str:
        word = self.take("sym", "a symbol (@name)")
        return unquoted(word[1:]) if word[1] == '"' else word[1:]

    def items(self, opening: str, closing: str, one: Callable[[], T]) -> list[T]:
        """A list in brackets, its members parted by commas."""
        self.expect(opening)
        out: list[T] = []
        if self.accept(closing):
            return out
        while True:
            out.append(one())
            if not self.accept(","):
                self.expect(closing)
                return out

    def balanced(self) -> str:
        """The text from here to the bracket that closes the one at the cursor, both included."""
        first = self.i
        depth = 0
        while True:
            kind = self.kinds[self.i]
            if kind == "end":
                raise self.error("this bracket is not closed", first)
            if kind in ("<", "(", "[", "{"):
                depth += 1
            elif kind in (">", ")", "]", "}"):
                depth -= 1
            self.i += 1
            if depth == 0:
                return self.raw(first, self.i)

    def raw(self, first: int, last: int) -> str:
        """The text of the tokens ``first`` to ``last - 1``, comments and line ends taken out."""
        starts, texts = self.source.starts, self.texts
        out = [texts[first]]
        for k in range(first + 1, last):
            gap = starts[k] - (starts[k - 1] + len(texts[k - 1]))
            out.append(" " * min(gap, 1))
            out.append(texts[k])
        return "".join(out)
