"""Passwords and keys: held, handed on, and never shown."""

from __future__ import annotations

HIDDEN = "[hidden]"


class Secret:
    """A text that no log, no report and no repr shows; `reveal` is the one way to it."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text

    def reveal(self) -> str:
        return self.__text

    def __repr__(self) -> str:
        return HIDDEN

    def __format__(self, spec: str) -> str:
        return format(HIDDEN, spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.__text == other.__text

    def __hash__(self) -> int:
        return hash(self.__text)
