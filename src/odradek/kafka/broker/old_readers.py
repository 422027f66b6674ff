"""What clients from before today's formats get: batches made older, or a clear refusal.

Before v4 a fetch knows message sets alone, before v10 no zstd.
"""

from __future__ import annotations

import asyncio

from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.reads import Asked, Part
from odradek.kafka.storage.lookup import Fetched
from odradek.kafka.wire.batch import CODEC_MASK, MAGIC_POSITION, cut_entries
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.conversion import down_convert
from odradek.kafka.wire.errors import ErrorCode

FIRST_WITH_BATCHES = 4
FIRST_WITH_ZSTD = 10
ATTRIBUTES_POSITION = 22


async def adapt_all(asked: Asked, parts: list[Part]) -> None:
    """Give old clients what they can read, or say that they cannot."""
    for part in parts:
        fetched = part.fetched
        if isinstance(fetched, Fetched) and fetched.data and part.partition is not None:
            if has_zstd(memoryview(fetched.data)):
                part.fail(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
            elif asked.version < FIRST_WITH_BATCHES:
                await convert(asked, part, part.partition, fetched)


def has_zstd(data: memoryview) -> bool:
    return any(
        entry[MAGIC_POSITION] == 2 and entry[ATTRIBUTES_POSITION] & CODEC_MASK == Codec.ZSTD
        for entry in cut_entries(data)
    )


async def convert(asked: Asked, part: Part, partition: Partition, fetched: Fetched) -> None:
    magic = 0 if asked.version < 2 else 1
    data = memoryview(fetched.data)
    if all(entry[MAGIC_POSITION] <= magic for entry in cut_entries(data)):
        return
    settings = asked.broker.topic_settings(partition.where.topic)
    if not settings.message_downconversion_enable:
        part.fail(ErrorCode.UNSUPPORTED_VERSION)
        return
    partition.meter.fetch_conversions += 1
    in_thread = asyncio.get_running_loop().run_in_executor
    converted = await in_thread(None, down_convert, data, magic, part.entry.fetch_offset)
    part.fetched = fetched._replace(data=memoryview(converted))
