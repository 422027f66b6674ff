"""The API reference has what users import, as it is declared, and nothing of its own."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from docs.reference import PAGES, escaped, page, paragraph, prose

NEEDS_SPARK = {"spark"}


@pytest.mark.parametrize("name", PAGES)
def test_each_page_can_be_made_and_shows_nothing_raw(name: str) -> None:
    if name in NEEDS_SPARK and find_spec("pyspark") is None:
        pytest.skip("the extra spark is not there")
    text = page(*PAGES[name])
    assert text.startswith(f"# `{PAGES[name][0]}`\n")
    assert " at 0x" not in text and "<factory>" not in text and "/home/" not in text


def test_a_function_is_shown_as_it_is_called_with_its_parameters_as_a_list() -> None:
    text = page(*PAGES["pipelines"])
    assert "## `report_progress`" in text
    assert "def report_progress(spark: SparkSession, servers: Servers) -> Reporter" in text
    assert "* `checkpoint`: where progress is kept, by default in the folder itself;" in text
    assert "    progress: Listener = nobody,\n" in text
    assert "    *,\n" in text


def test_a_class_is_shown_with_what_it_inherits_from_ours_and_without_self() -> None:
    text = page(*PAGES["zookeeper-client"])
    assert "async def connect(timeout_s: float | None = None) -> None" in text
    assert "get_children(" in text and "(self" not in text
    testing = page(*PAGES["testing"])
    assert "def kill(server: Name) -> None" in testing
    assert "bootstrap -> str  # a property" in testing


def test_a_docstring_means_what_it_says() -> None:
    assert escaped("a * of `*args` <b>") == r"a \* of `*args` &lt;b>"
    assert paragraph("one, two   text\n           goes on\nmore       x") == (
        "* `one`, `two`: text goes on\n* `more`: x"
    )
    assert prose("A rule.\n\n    code * here") == "A rule.\n\n    code * here"
