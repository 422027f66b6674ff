"""Arrow batches into records of partitions, by the machine where there can be one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from odradek.spark.arrow.encoding_reference import encode_plainly
from odradek.spark.arrow.rows import Destination, Encoded, Rows

Encode = Callable[[Rows, Sequence[Destination], int], Iterator[Encoded]]


@cache
def find_encoder() -> Encode:
    """The fast way, or the plain one where there is no WebAssembly."""
    try:
        from odradek.spark.arrow.encoding_machine import encoding_machine
    except ImportError:
        return encode_plainly
    return encoding_machine().encode
