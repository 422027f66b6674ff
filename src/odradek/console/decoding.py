"""Bytes as people read them: JSON, text or hex; pure.

`auto` takes the first of the three that fits: what is JSON (an object or a list), what is UTF-8
without control characters, and else hex.
"""

from __future__ import annotations

import json
from enum import StrEnum

SHOWN_MAX = 64 * 1024  # A page is no place for more.
LINE_FEEDS = {"\n", "\r", "\t"}


class Form(StrEnum):
    """How bytes are shown."""

    AUTO = "auto"
    JSON = "json"
    TEXT = "utf-8"
    HEX = "hex"


def shown(data: bytes | None, form: Form = Form.AUTO, *, is_pretty: bool = False) -> str:
    """Bytes as text; "null" for none."""
    if data is None:
        return "null"
    cut = data[:SHOWN_MAX]
    text = (
        as_json(cut, is_pretty=is_pretty, is_strict=form is Form.AUTO)
        if form in (Form.AUTO, Form.JSON)
        else None
    )
    if text is None:
        is_text = form is not Form.HEX and (form is not Form.AUTO or is_readable(cut))
        text = cut.decode(errors="backslashreplace") if is_text else cut.hex(" ")
    return text if len(data) <= SHOWN_MAX else f"{text} … ({len(data):,} bytes in all)"


def as_json(data: bytes, *, is_pretty: bool, is_strict: bool) -> str | None:
    """JSON written anew; None if it is none, or (strict) no more than a word or a number."""
    try:
        value = json.loads(data)
    except ValueError:
        return None
    if is_strict and not isinstance(value, dict | list):
        return None
    return json.dumps(value, ensure_ascii=False, indent=2 if is_pretty else None)


def is_readable(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        # A character that was cut in two at the end is no reason to show all in hex.
        if error.start < len(data) - 3 or len(data) < SHOWN_MAX:
            return False
        text = data[: error.start].decode()
    return all(it.isprintable() or it in LINE_FEEDS for it in text)


def clipped(text: str, length: int = 160) -> str:
    """One line of it, no longer than this."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
