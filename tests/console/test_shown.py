"""What pages show: bytes, lines, figures, offsets to be edited."""

from __future__ import annotations

from odradek.console.decoding import SHOWN_MAX, Form, clipped, shown
from odradek.console.drawing import amount, sparkline
from odradek.console.figures import Figures, Rates, rates_between, read_figures
from odradek.console.offset_edits import Edit, Place, edits_of
from odradek.console.reading import is_match
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.wire.records import Record

METRICS = """# HELP odradek_loop_stall_seconds_max The longest time
kafka_server_brokertopicmetrics_messagesin_total{topic=""} 120.0
kafka_server_brokertopicmetrics_messagesin_total{topic="orders"} 100.0
kafka_server_brokertopicmetrics_bytesin_total{topic=""} 4000.0
odradek_loop_stall_seconds_max 0.25
"""


def test_bytes_are_shown_as_what_they_look_like() -> None:
    assert shown(b'{"a": [1, 2]}') == '{"a": [1, 2]}'
    assert shown("grüße 5".encode()) == "grüße 5"
    assert shown(b"5") == "5"
    assert shown(b"\x00\xff") == "00 ff"
    assert shown(b"a\x00b") == "61 00 62"
    assert (shown(None), shown(b"")) == ("null", "")


def test_bytes_are_shown_as_one_wants_them() -> None:
    assert shown(b"ab", Form.HEX) == "61 62"
    assert shown(b"\xff", Form.TEXT) == "\\xff"
    assert shown(b"[1]", Form.JSON, is_pretty=True) == "[\n  1\n]"
    assert shown(b"nope", Form.JSON) == "nope"


def test_what_is_too_long_is_cut_and_said_so() -> None:
    text = shown("ä".encode() * SHOWN_MAX)
    assert text.startswith("ää") and text.endswith(f"… ({2 * SHOWN_MAX:,} bytes in all)")
    assert clipped("a\n b" * 100, 10) == "a ba ba b…"


def test_a_line_goes_from_left_to_right_and_zero_is_at_the_bottom() -> None:
    drawn = sparkline([0, 10], width=100, height=46)
    assert 'points="0.0,44.0 100.0,4.0"' in drawn
    assert 'points="0.0,44.0 100.0,44.0"' in sparkline([], width=100, height=46)
    assert 'points="0.0,4.0 100.0,4.0"' in sparkline([7], width=100, height=46)
    assert [amount(it) for it in (0, 950, 1234, 56_000_000)] == ["0", "950", "1.2 k", "56.0 M"]


def test_figures_become_rates() -> None:
    figures = read_figures(METRICS, 10.0)
    assert figures == Figures(10.0, 120.0, 4000.0, 0.0, 0.25)
    before = Figures(8.0, 100.0, 0.0, 0.0, None)
    assert rates_between(before, figures) == Rates(10.0, 2000.0, 0.0)
    assert rates_between(figures._replace(messages_in=500.0, at_s=8.0), figures) == Rates()
    assert read_figures("", 1.0).stall_s is None


A, B = TopicPartition("t", 0), TopicPartition("t", 1)
PLACES = [Place(A, 10, 100, 50), Place(B, 0, 20, None)]


def test_an_edit_is_what_differs_from_what_is_committed() -> None:
    assert edits_of(PLACES, {A: "50", B: ""}) == ([], [])
    assert edits_of(PLACES, {A: "40", B: "latest"}) == (
        [Edit(A, 50, 40, 60), Edit(B, None, 20, 0)],
        [],
    )
    assert edits_of(PLACES, {A: "-5"})[0] == [Edit(A, 50, 45, 55)]
    assert edits_of(PLACES, {A: " earliest "})[0] == [Edit(A, 50, 10, 90)]


def test_what_is_no_offset_of_the_log_is_refused_in_words() -> None:
    edits, problems = edits_of(PLACES, {A: "5", B: "many"})
    assert edits == []
    assert problems == ["t-0: 5 is not within the log, 10 to 100", "t-1: 'many' is no offset"]
    assert [it.lag for it in PLACES] == [50, None]


def test_a_filter_looks_into_keys_values_and_headers() -> None:
    record = Record(0, 0, b"Key", b"\xffValue", (("Name", b"Head"), ("none", None)))
    assert all(is_match(record, it) for it in ("key", "value", "name", "head", "none"))
    assert not is_match(record, "other")
