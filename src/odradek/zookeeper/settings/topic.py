"""Topics: classes of settings that are read together, as one."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.runtime.settings import Settings


class Topic(Settings):
    """Settings on one subject; a class made from several topics has the fields of all."""

    def __init_subclass__(cls) -> None:
        topics = [base for base in cls.__bases__ if issubclass(base, Settings)]
        cls.declared = {name: it for topic in topics for name, it in topic.declared.items()}
        cls.prefixes = {name: it for topic in topics for name, it in topic.prefixes.items()}
        super().__init_subclass__()

    def cautions(self) -> Iterable[tuple[str, str]]:
        """Override to warn of what is allowed but unwise: pairs of a key and what is odd there."""
        return ()
