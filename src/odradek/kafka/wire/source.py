"""Source text under construction, for the compiled readers and writers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from struct import Struct as Format
from typing import Any

FORMATS = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}


@cache
def format_of(codes: str) -> Format:
    """Neighbours of fixed size are packed and unpacked by one call."""
    return Format(">" + codes)


class Source:
    """Lines of one function, and the names that it uses."""

    def __init__(self, signature: str, scope: dict[str, Any]) -> None:
        self.lines = [signature]
        self.scope = scope
        self._depth = 1
        self._numbers = count()

    def add(self, line: str) -> None:
        self.lines.append("    " * self._depth + line)

    @contextmanager
    def block(self, line: str) -> Iterator[None]:
        """Add a line that ends in a colon, and what follows below it."""
        self.add(line)
        self._depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.add("pass")
        self._depth -= 1

    def fresh(self, prefix: str) -> str:
        """A name that no other part of the function uses."""
        return f"{prefix}{next(self._numbers)}"

    def constant(self, value: Any, prefix: str = "constant") -> str:
        """A name, or plain text, for a value."""
        if value is None or isinstance(value, bool | int | str):
            return repr(value)
        for name, known in self.scope.items():
            if known is value:
                return name
        name = self.fresh(prefix)
        self.scope[name] = value
        return name

    def compile(self, title: str) -> Any:
        """Turn the lines into a function."""
        exec(compile("\n".join(self.lines) + "\n", f"<{title}>", "exec"), self.scope)
        name = self.lines[0].removeprefix("def ").partition("(")[0]
        return self.scope[name]
