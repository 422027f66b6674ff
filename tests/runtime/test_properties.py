"""Properties files, as a JVM reads them."""

from __future__ import annotations

import re
from pathlib import Path

import javaproperties
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from odradek.runtime.os_disk import OsDisk
from odradek.runtime.properties import Problem, Properties
from odradek.runtime.secret import Secret

SERVER_PROPERTIES = rb"""
# A comment = not an entry
  ! neither is this
broker.id=1
log.dirs = /var/lib/a,\
           /var/lib/b
listeners:PLAINTEXT://:9092
zookeeper.connect   zk1:2181/kafka
path=C:\\data\t${env}
empty
 caf\u00e9\ au\=lait = yes\u0021 """

PIECES = st.sampled_from(
    [*"ab=: \t\f\n\r#!u\\", "\r\n", "\\\\", "\\\n ", "\\u0041", "\\u00e9", "\\u12", "\\t", "${v}"]
)


def parse(text: str | bytes) -> Properties:
    return Properties.parse(text.encode() if isinstance(text, str) else text, "f")


def values(properties: Properties) -> dict[str, str]:
    return {key: entry.value for key, entry in properties.entries.items()}


def test_an_entry_is_read_as_java_reads_it_and_knows_its_line() -> None:
    properties = parse(SERVER_PROPERTIES)
    assert [(it.line, it.key, it.value) for it in properties.entries.values()] == [
        (4, "broker.id", "1"),
        (5, "log.dirs", "/var/lib/a,/var/lib/b"),
        (7, "listeners", "PLAINTEXT://:9092"),
        (8, "zookeeper.connect", "zk1:2181/kafka"),
        (9, "path", "C:\\data\t${env}"),
        (10, "empty", ""),
        (11, "café au=lait", "yes! "),
    ]
    assert not properties.problems and not properties.warnings


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_what_the_library_writes_is_read_back(entries: dict[str, str]) -> None:
    assert values(parse(javaproperties.dumps(entries, timestamp=None))) == entries


@given(st.lists(PIECES, max_size=30).map("".join))
def test_odd_files_are_read_as_the_library_reads_them(text: str) -> None:
    # Here the library differs from Java 17, for which a comment after that is a comment.
    assume(not re.search(r"(^|[\r\n])[ \t\f]*\\(\r\n|\r|\n)", text))
    properties = parse(text)
    try:
        assert values(properties) == javaproperties.loads(text)
    except javaproperties.InvalidUEscapeError:
        assert properties.problems


@given(st.binary())
def test_no_bytes_are_too_odd_to_be_read(data: bytes) -> None:
    properties = parse(data)
    lines = len(re.split(rb"\r\n|\r|\n", data))
    assert all(0 < (entry.line or 0) <= lines for entry in properties.entries.values())


@pytest.mark.parametrize(
    "data", ["k=é".encode(), "k=é".encode("latin-1"), "\ufeffk=é".encode(), rb"k=\u00E9"]
)
def test_utf_8_latin_1_and_escapes_say_the_same(data: bytes) -> None:
    assert values(parse(data)) == {"k": "é"}


def test_two_escapes_may_be_one_character() -> None:
    assert values(parse(r"k=\uD83D\uDE00 \uD83D")) == {"k": "\U0001f600 \ud83d"}


def test_the_last_of_two_counts_and_a_warning_names_both() -> None:
    properties = parse("password=first\nb=2\npassword=second\n")
    assert values(properties) == {"password": "second", "b": "2"}
    (warning,) = map(str, properties.warnings)
    assert warning == "f:3: password: given before, on line 1; the last one counts"


def test_a_broken_escape_is_a_problem_of_its_line_alone() -> None:
    properties = parse("a=1\npassword=hunter\\u12zz\nb=2\nc:\\user\n")
    assert values(properties) == {"a": "1", "b": "2"}
    first, second = map(str, properties.problems)
    assert first.startswith(r"f:2: password: \u wants four hexadecimal digits")
    assert second.startswith("f:4: c:")
    assert "hunter" not in first


@pytest.mark.parametrize("torn", ["a=1\\", "a=1\\\n", "a=1\\\r\n", "a=1\\\n   ", "a=1"])
def test_a_file_torn_after_a_backslash_keeps_what_was_before(torn: str) -> None:
    assert values(parse(torn)) == {"a": "1"}


def test_later_sources_override_earlier_ones_and_keep_their_names() -> None:
    file = parse("a=1\nb=2\n")
    both = file.overridden_by(Properties.of({"b": "3"}, "the command line"))
    assert values(both) == {"a": "1", "b": "3"}
    assert str(both.entries["b"].problem("is odd")) == "the command line: b='3': is odd"
    assert values(file) == {"a": "1", "b": "2"}


def test_entries_under_a_prefix_remember_their_whole_key() -> None:
    internal = parse("listener.name.internal.ssl.protocol=TLS\nother=1").under(
        "listener.name.internal."
    )
    assert values(internal) == {"ssl.protocol": "TLS"}
    assert internal.entries["ssl.protocol"].key == "listener.name.internal.ssl.protocol"


def test_a_problem_shows_the_value_but_never_a_secret_nor_too_much() -> None:
    assert str(Problem("is odd", "k", "f", 3, "a\nb")) == "f:3: k='a\\nb': is odd"
    assert str(Problem("is odd", "k", "f", 3, Secret("x"))) == "f:3: k=[hidden]: is odd"
    assert len(str(Problem("is odd", "k", "f", 3, "x" * 1000))) < 100


def test_an_entry_does_not_show_its_value_by_accident() -> None:
    assert "hunter2" not in repr(parse("ssl.key.password=hunter2"))


def test_a_file_is_loaded_from_a_disk(tmp_path: Path) -> None:
    path = f"{tmp_path}/server.properties"
    with OsDisk().open(path, create=True) as file:
        file.append(SERVER_PROPERTIES)
    properties = Properties.load(OsDisk(), path)
    assert properties.entries["broker.id"].file == path
    assert values(properties) == values(parse(SERVER_PROPERTIES))
