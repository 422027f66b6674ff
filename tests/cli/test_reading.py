"""What users write: times, numbers, payloads, lines, and what is none of that."""

from __future__ import annotations

import pytest
import typer

from odradek.cli.payloads import Format, Unreadable, read_header, shown, to_bytes
from odradek.cli.reading import read_numbers, read_placement, read_settings, read_time_ms, time_text
from odradek.cli.writing import LineReader, NewRecord

NOW_MS = 1_000_000_000


def test_times_are_milliseconds_dates_or_so_long_ago() -> None:
    assert read_time_ms("1234", NOW_MS) == 1234
    assert read_time_ms("5m", NOW_MS) == NOW_MS - 300_000
    assert read_time_ms("2026-11-15T12:00+00:00", NOW_MS) == 1_794_744_000_000
    with pytest.raises(typer.BadParameter, match="is no time"):
        read_time_ms("noon", NOW_MS)


def test_a_time_is_shown_in_utc_and_none_as_nothing() -> None:
    assert time_text(1_794_744_000_123) == "2026-11-15T12:00:00.123Z"
    assert time_text(-1) is None


def test_lists_name_each_once() -> None:
    assert read_numbers("3,1,2", "--to") == [3, 1, 2]
    assert read_placement("1:2,2:3") == [[1, 2], [2, 3]]
    for text in ("1,1", "one", ""):
        with pytest.raises(typer.BadParameter):
            read_numbers(text, "--to")


def test_a_setting_may_hold_what_separates_it() -> None:
    assert read_settings(["a=b=c", "d="]) == {"a": "b=c", "d": ""}
    with pytest.raises(typer.BadParameter, match="KEY=VALUE"):
        read_settings(["=x"])


@pytest.mark.parametrize(
    ("form", "written", "data"),
    [
        (Format.TEXT, "grün", "grün".encode()),
        (Format.HEX, "00ff", b"\0\xff"),
        (Format.BASE64, "AP8=", b"\0\xff"),
        (Format.JSON, {"a": [1, None]}, b'{"a":[1,null]}'),
    ],
)
def test_payloads_come_back_as_they_were_written(form: Format, written: str, data: bytes) -> None:
    assert to_bytes(written, form) == data
    assert shown(data, form) == written
    assert to_bytes(None, form) is None
    assert shown(None, form) is None


def test_bytes_that_are_no_text_are_shown_with_backslashes() -> None:
    assert shown(b"a\xff", Format.TEXT) == "a\\xff"
    assert shown(b"a\xff", Format.JSON) == "a\\xff"


@pytest.mark.parametrize(("form", "text"), [("hex", "xyz"), ("base64", "!"), ("json", "{")])
def test_what_is_not_in_its_format_is_refused(form: str, text: str) -> None:
    with pytest.raises(Unreadable, match=f"is not {form}"):
        to_bytes(text, Format(form))


def test_a_header_has_a_name() -> None:
    assert read_header("a=b=c") == ("a", b"b=c")
    with pytest.raises(Unreadable, match="NAME=VALUE"):
        read_header("=b")


def test_lines_are_values_or_keys_and_values() -> None:
    assert LineReader(key=b"k").read("a:b") == NewRecord(b"k", b"a:b")
    reader = LineReader(separator=":", key=b"k")
    assert reader.read("a:b:c") == NewRecord(b"a", b"b:c")
    assert reader.read("abc") == NewRecord(b"k", b"abc")


def test_an_object_has_all_of_a_record() -> None:
    reader = LineReader(is_object=True)
    line = '{"key": "k", "value": null, "headers": [["a", "b"]], "partition": 1, "timestamp": 5}'
    assert reader.read(line) == NewRecord(b"k", None, (("a", b"b"),), 1, 5)
    assert reader.read('{"value": "v", "headers": {"a": "b"}}').headers == (("a", b"b"),)
    for bad in ("{", "[]", '{"key": 1}', '{"value": 1, "headers": [1]}'):
        with pytest.raises(Unreadable):
            reader.read(bad)
