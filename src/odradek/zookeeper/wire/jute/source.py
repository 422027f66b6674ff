"""Python source under construction: lines, indentation, and the names it will see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct
from typing import Any


class Source:
    """The text of one function and the globals it runs with."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Indent what is written inside under `head`."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def see(self, thing: type) -> str:
        """Make a class visible to the function, under its own name."""
        self.names[thing.__name__] = thing
        return thing.__name__

    def unpack(self, codes: str) -> str:
        """The name of a function that reads these struct codes at a position."""
        return self._see_struct("unpack", codes, Struct(">" + codes).unpack_from)

    def pack(self, codes: str) -> str:
        """The name of a function that writes these struct codes."""
        return self._see_struct("pack", codes, Struct(">" + codes).pack)

    def compile(self, name: str, title: str) -> Callable[..., Any]:
        """Run the text, return the function of that name; tracebacks show `title` as its file."""
        exec(compile("\n".join(self._lines), f"<{title}>", "exec"), self.names)
        function: Callable[..., Any] = self.names[name]
        return function

    def _see_struct(self, verb: str, codes: str, function: Callable[..., Any]) -> str:
        name = f"{verb}_{codes.replace('?', 'b')}"
        self.names[name] = function
        return name
