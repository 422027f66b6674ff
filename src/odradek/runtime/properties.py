"""Java properties files, as a JVM reads them, and where in the file each key stands.

Comments begin with `#` or `!`; `=`, `:` or blanks part key from value; a backslash escapes, and
at the end of a line continues it. A key given twice has its last value. We read UTF-8 where the
file is that, else Latin-1, and hand on `${...}` untouched.

Hand-made although there is a library, which takes 20 ms to import: a server should start in 80.
The tests hold us to what it reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from odradek.runtime.disk import Disk
from odradek.runtime.secret import Secret

BLANKS = " \t\f"
LINE_END = re.compile(r"\r\n|\r|\n")
ENTRY = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
SHOWN_MAX = 80
NAMED_ESCAPES = {"t": "\t", "n": "\n", "f": "\f", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One value, the key it was given under, and the place; `line` is None outside of files."""

    key: str
    value: str = field(repr=False)  # It may be a secret; only the settings know.
    file: str
    line: int | None = None

    def problem(self, reason: str, *, is_secret: bool = False) -> Problem:
        value = Secret(self.value) if is_secret else self.value
        return Problem(reason, self.key, self.file, self.line, value)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and where, for the person who wrote the file. Never shows a secret."""

    reason: str
    key: str
    file: str
    line: int | None = None
    value: str | Secret | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        value = "" if self.value is None else f"={shortened(repr(self.value))}"
        return f"{place}: {self.key}{value}: {self.reason}"


@dataclass(slots=True)
class Properties:
    """The entries of a file, and what was to be said about it."""

    file: str
    entries: dict[str, Entry] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    @classmethod
    def load(cls, disk: Disk, path: str) -> Properties:
        with disk.open(path, read_only=True) as file:
            return cls.parse(file.pread(0, file.size()), path)

    @classmethod
    def parse(cls, data: bytes, file: str) -> Properties:
        """Read a file's bytes. Lines that cannot be read become `problems`; the rest is there."""
        properties = cls(file)
        for line, text in logical_lines(decode(data)):
            properties._take(line, text)
        return properties

    @classmethod
    def of(cls, values: Mapping[str, str], source: str) -> Properties:
        """Values that come from elsewhere: a command line, a znode, a request."""
        return cls(source, {key: Entry(key, value, source) for key, value in values.items()})

    def overridden_by(self, other: Properties) -> Properties:
        return Properties(
            self.file,
            self.entries | other.entries,
            self.problems + other.problems,
            self.warnings + other.warnings,
        )

    def under(self, prefix: str) -> Properties:
        """The entries whose keys begin so, by the rest of the key; they remember the whole."""
        return Properties(
            self.file,
            {
                key.removeprefix(prefix): entry
                for key, entry in self.entries.items()
                if key.startswith(prefix)
            },
        )

    def _take(self, line: int, text: str) -> None:
        match = ENTRY.fullmatch(text)
        assert match is not None
        raw_key, raw_value = match.groups()
        try:
            entry = Entry(unescape(raw_key), unescape(raw_value), self.file, line)
        except ValueError as error:
            # Without the value, which may be a secret.
            self.problems.append(Problem(str(error), raw_key, self.file, line))
            return
        if earlier := self.entries.get(entry.key):
            reason = f"given before, on line {earlier.line}; the last one counts"
            self.warnings.append(Problem(reason, entry.key, self.file, line))
        self.entries[entry.key] = entry


def shortened(text: str) -> str:
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 3] + "..."


def decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that hold an entry, continued ones joined, each with its first line's number."""
    numbered = enumerate(LINE_END.split(text), start=1)
    for number, line in numbered:
        line = line.lstrip(BLANKS)
        if line in ("", "\\") or line.startswith(("#", "!")):
            continue
        while is_continued(line):
            _, more = next(numbered, (0, ""))
            line = line[:-1] + more.lstrip(BLANKS)
        yield number, line


def is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def unescape(text: str) -> str:
    if "\\" not in text:
        return text
    plain = ESCAPE.sub(_unescaped, text)
    # Beyond the first plane Java writes two escapes, the halves of a UTF-16 pair.
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _unescaped(match: re.Match[str]) -> str:
    escape = match[1]
    if escape == "u":
        raise ValueError(r"\u wants four hexadecimal digits; a backslash itself is written \\")
    if escape[0] == "u":
        return chr(int(escape[1:], 16))
    return NAMED_ESCAPES.get(escape, escape)
