"""Chapters: classes of settings on one subject, read together as one book."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.runtime.settings import Settings


class Chapter(Settings):
    """Settings on one subject; a class made from several chapters has the fields of all."""

    def __init_subclass__(cls) -> None:
        chapters = [base for base in cls.__bases__ if issubclass(base, Settings)]
        cls.declared = {name: it for chapter in chapters for name, it in chapter.declared.items()}
        cls.prefixes = {name: it for chapter in chapters for name, it in chapter.prefixes.items()}
        super().__init_subclass__()

    @classmethod
    def chapters(cls) -> list[type[Chapter]]:
        return [base for base in cls.__bases__ if issubclass(base, Chapter)]

    def disagreements(self) -> Iterator[tuple[str, str]]:
        """Override to check values against each other: pairs of a key and what is wrong there."""
        yield from ()

    def cautions(self) -> Iterator[tuple[str, str]]:
        """Override to warn of what is allowed but unwise, or not as it seems."""
        yield from ()
