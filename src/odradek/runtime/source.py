"""Python source under construction: how both protocols compile their messages.

What is declared once is written out as one straight function per message, in which neighbours of
fixed size are packed and unpacked by one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import count
from struct import Struct
from typing import Any


@cache
def format_of(codes: str) -> Struct:
    """A big-endian struct, made once."""
    return Struct(">" + codes)


class Source:
    """The text of one function, and the names that it sees."""

    def __init__(self, names: Mapping[str, Any] | None = None) -> None:
        self.names: dict[str, Any] = dict(names or {})
        self._lines: list[str] = []
        self._depth = 0
        self._numbers = count()

    def line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Indent what is written inside under `head`."""
        self.line(head)
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self.line("pass")
        self._depth -= 1

    def fresh(self, prefix: str) -> str:
        """A name that no other part of the function uses."""
        return f"{prefix}{next(self._numbers)}"

    def see(self, kind: type) -> str:
        """Make a class visible to the function, under its own name."""
        self.names[kind.__name__] = kind
        return kind.__name__

    def constant(self, value: Any, prefix: str) -> str:
        """Plain text for a value, or the name under which the function sees it."""
        if value is None or isinstance(value, bool | int | str):
            return repr(value)
        for name, known in self.names.items():
            if known is value:
                return name
        name = self.fresh(prefix)
        self.names[name] = value
        return name

    def unpack(self, codes: str) -> str:
        """The name of a function that reads these struct codes at a position."""
        return self._see_format("unpack", codes, format_of(codes).unpack_from)

    def pack(self, codes: str) -> str:
        """The name of a function that writes these struct codes."""
        return self._see_format("pack", codes, format_of(codes).pack)

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def compile(self, name: str, title: str) -> Callable[..., Any]:
        """Run the text, return the function of that name; tracebacks show `title` as its file."""
        exec(compile(self.text(), f"<{title}>", "exec"), self.names)
        function: Callable[..., Any] = self.names[name]
        return function

    def _see_format(self, verb: str, codes: str, function: Callable[..., Any]) -> str:
        name = f"{verb}_{codes.replace('?', 'o')}"
        self.names[name] = function
        return name
