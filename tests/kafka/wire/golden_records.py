"""Record sets that Apache Kafka 3.9.2 wrote, and what is in them."""

from __future__ import annotations

from pathlib import Path

from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import NO_TIMESTAMP, Record
from tests.kafka.wire.golden import golden_files

GOLDEN = golden_files(Path(__file__).parent / "data" / "golden-records.txt")
LOGS = {name: data for name, data in GOLDEN.items() if name.endswith(".log")}
TRANSACTIONS = GOLDEN["kafka t2-0/00000000000000000000.log"]
LIBRDKAFKA = GOLDEN["kafka t2-1/00000000000000000000.log"]

LEGACY_CODECS = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]
LEGACY = [(magic, codec) for magic in (0, 1) for codec in LEGACY_CODECS]
JAVA_RECORDS = [Record(5, 1000, b"k", b"v"), Record(6, 1001, None, bytes(100))]


def java_set(magic: int, codec: Codec) -> memoryview:
    """`JAVA_RECORDS` as Java writes them."""
    return memoryview(GOLDEN[f"kafka java records codec={codec.name.lower()} magic={magic}"])


def java_records(magic: int) -> list[Record]:
    """`JAVA_RECORDS` as far as this magic can say them."""
    if magic > 0:
        return JAVA_RECORDS
    return [record._replace(timestamp=NO_TIMESTAMP) for record in JAVA_RECORDS]
