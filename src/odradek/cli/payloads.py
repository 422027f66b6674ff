"""Keys, values and headers as people write and read them; pure.

text    UTF-8; what is none is shown with backslashes
json    any JSON value, written as short as can be
hex     two digits a byte
base64  as in RFC 4648
"""

from __future__ import annotations

import base64
import json
from enum import StrEnum
from typing import Any

from odradek.runtime.errors import OdradekError


class Format(StrEnum):
    """How bytes are written."""

    TEXT = "text"
    JSON = "json"
    HEX = "hex"
    BASE64 = "base64"


class Unreadable(OdradekError):
    """What a user wrote is not in the format that it should be in."""


def to_bytes(value: Any, form: Format) -> bytes | None:
    """What is written, as bytes; None stands for none."""
    if value is None:
        return None
    if form is Format.JSON:
        return json.dumps(parsed(value), ensure_ascii=False, separators=(",", ":")).encode()
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    try:
        if form is Format.HEX:
            return bytes.fromhex(value)
        if form is Format.BASE64:
            return base64.b64decode(value, validate=True)
    except ValueError as error:
        raise Unreadable(f"{value[:60]!r} is not {form}: {error}") from error
    return value.encode(errors="surrogateescape")


def parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise Unreadable(f"{value[:60]!r} is not json: {error}") from error


def shown(data: bytes | None, form: Format) -> Any:
    """Bytes as they are written: a string, or with json whatever they say, if they say anything."""
    if data is None:
        return None
    if form is Format.HEX:
        return data.hex()
    if form is Format.BASE64:
        return base64.b64encode(data).decode()
    text = data.decode(errors="backslashreplace")
    if form is Format.JSON:
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def read_header(text: str) -> tuple[str, bytes]:
    """NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise Unreadable(f"the header {text!r} is not of the form NAME=VALUE")
    return name, value.encode()
