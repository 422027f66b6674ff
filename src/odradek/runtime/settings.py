"""Settings: read from properties whole, or refused with everything that is wrong.

A class of declarations is what can be set; an instance is what was, checked and typed, and does
not change. A key that nobody declared is a warning by name: files outlive versions, and other
programs' keys may stand in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, NoReturn

from odradek.runtime.declarations import Declaration, PrefixDeclaration
from odradek.runtime.errors import OdradekError
from odradek.runtime.properties import Entry, Problem, Properties


class SettingsRefused(OdradekError):
    """All that is wrong with the settings, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(problems, key=lambda it: (it.line is None, it.line or 0))
        super().__init__("\n  ".join(["these settings cannot be used:", *map(str, self.problems)]))


class Settings:
    """The base of all classes of settings. Their fields are made by `setting` and `prefixed`."""

    declared: ClassVar[Mapping[str, Declaration]] = {}
    prefixes: ClassVar[Mapping[str, PrefixDeclaration]] = {}
    warnings: Sequence[Problem]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        fields = {**cls.declared, **cls.prefixes, **vars(cls)}.items()
        cls.declared = {name: it for name, it in fields if isinstance(it, Declaration)}
        cls.prefixes = {name: it for name, it in fields if isinstance(it, PrefixDeclaration)}
        keys = [it.key for it in cls.declared.values()]
        assert len(keys) == len(set(keys)), f"{cls.__name__} declares a key twice"

    def __init__(self, properties: Properties) -> None:
        problems = list(properties.problems)
        known = {key for it in self.declared.values() for key in it.all_keys}
        others = {key: it for key, it in properties.entries.items() if key not in known}
        fields = vars(self)  # The front door, `__setattr__`, is closed for good.
        fields.update((name, it.read(properties, problems)) for name, it in self.declared.items())
        fields.update((name, it.read(others, problems)) for name, it in self.prefixes.items())
        fields["warnings"] = [*properties.warnings, *self._unknown(others, known)]
        problems = problems or list(self._disagreements(properties))
        if problems:
            raise SettingsRefused(problems)

    def disagreements(self) -> Iterable[tuple[str, str]]:
        """Override to check values against each other: pairs of a key and what is wrong there.

        Asked only when each value is good by itself.
        """
        return ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"settings do not change; {name} would")

    def __repr__(self) -> str:
        changed = (
            f"{it.key}={getattr(self, name)!r}"
            for name, it in self.declared.items()
            if getattr(self, name) != it.default
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def _unknown(self, others: Mapping[str, Entry], known: Iterable[str]) -> Iterator[Problem]:
        prefixes = tuple(it.prefix for it in self.prefixes.values())
        for key, entry in others.items():
            if not key.startswith(prefixes):
                # Without the value: a misspelt key may well be a password's.
                reason = f"unknown, not used{suggestion(key, known)}"
                yield Problem(reason, entry.key, entry.file, entry.line)

    def _disagreements(self, properties: Properties) -> Iterator[Problem]:
        for key, reason in self.disagreements():
            entry = properties.entries.get(key)
            if entry is None:
                yield Problem(reason, key, properties.file)
            else:
                yield entry.problem(reason, is_secret=self._is_secret(key))

    def _is_secret(self, key: str) -> bool:
        fields: list[Declaration | PrefixDeclaration] = [
            *self.declared.values(),
            *self.prefixes.values(),
        ]
        return any(it.is_secret(key) for it in fields)


def suggestion(key: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # Seldom needed, and slow to import.

    return "".join(f"; is {it} meant?" for it in get_close_matches(key, known, n=1, cutoff=0.85))
