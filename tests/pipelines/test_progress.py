from __future__ import annotations

from odradek.pipelines.progress import Progress, of_query

SAID = {
    "numInputRows": 30,
    "processedRowsPerSecond": 12.5,
    "sources": [{"endOffset": {"t": {"0": 10, "1": 5}}, "latestOffset": {"t": {"0": 14, "1": 5}}}],
}


def test_what_a_query_says_becomes_rows_pace_and_lag() -> None:
    assert of_query("archive", 100, SAID) == Progress("archive", 130, 4, 12.5)


def test_offsets_may_be_text_as_older_sparks_have_them() -> None:
    source = {"endOffset": '{"t":{"0":1}}', "latestOffset": '{"t":{"0":4}}'}
    assert of_query("a", 0, {**SAID, "sources": [source]}).left == 3


def test_where_nothing_is_said_nothing_is_known() -> None:
    assert of_query("a", 7, {"sources": [{"endOffset": None}]}) == Progress("a", 7, None, 0.0)
    assert of_query("a", 7, {"sources": [{"endOffset": "-", "latestOffset": "-"}]}).left is None


def test_progress_is_a_sentence() -> None:
    assert str(Progress("mirror", 1200, 30, 99.6)) == "mirror: 1,200 rows, 100 rows/s, 30 behind"
    assert str(Progress("mirror", 1, None)) == "mirror: 1 rows, 0 rows/s"
