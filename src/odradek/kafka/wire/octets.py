"""Octets: bytes in whatever they came."""

from __future__ import annotations

Octets = bytes | bytearray | memoryview
