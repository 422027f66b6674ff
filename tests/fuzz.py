"""Hostile bytes for every reader, many of them: `make fuzz`.

Each case must give a value or a ProtocolError, and nothing else, and soon. What broke that is
printed with its bytes, ready to become a test.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import islice
from time import perf_counter, process_time
from typing import Any

from odradek.kafka.wire.codec import decode
from odradek.runtime.errors import ProtocolError
from tests.kafka.wire import hostile as kafka_messages
from tests.kafka.wire import hostile_records as kafka_records
from tests.zookeeper.wire import hostile as zookeeper

Case = tuple[Callable[[Any], object], bytes | memoryview]
SLOW_S = 2.0


def messages_of_kafka(seed: int) -> Iterator[Case]:
    for kind, version, data in kafka_messages.cases(seed):
        yield partial(decode, kind, version), data


def truncated_messages_of_kafka() -> Iterator[Case]:
    for golden in kafka_messages.GOLDENS:
        for kind, version, data in kafka_messages.truncated(golden):
            yield partial(decode, kind, version), data


def records_of_kafka(seed: int) -> Iterator[Case]:
    for data in kafka_records.hostile_sets(seed):
        for reader in kafka_records.READERS.values():
            yield reader, data


def records_for_spark(seed: int) -> Iterator[Case]:
    """Records on their way into Spark: the fast way is held against the plain one."""
    if not all(map(find_spec, ("pyarrow", "wasmtime"))):
        print("Records for Spark: left out, for pyarrow or wasmtime is not here", file=sys.stderr)
        return
    from tests.spark.arrow.both_ways import check_agreement

    for data in kafka_records.hostile_sets(seed):
        yield check_agreement, data


def run(what: str, cases: Iterator[Case]) -> tuple[int, int]:
    """Read all cases; count those that were read, and those that went wrong."""
    count = wrong = 0
    for reader, data in cases:
        start = process_time()  # Of ours alone: the machine may be busy.
        problem = ""
        try:
            reader(data)
        except ProtocolError:
            pass
        except Exception as error:
            problem = repr(error)
        if (spent := process_time() - start) > SLOW_S:
            problem = f"took {spent:.1f} s"
        if problem:
            wrong += 1
            print(f"{what}: {reader} of {data.hex()}: {problem}", file=sys.stderr)
        count += 1
    return count, wrong


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cases", type=int, default=200_000, help="for each kind of reader")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    kinds = {
        "Kafka messages, bent": islice(messages_of_kafka(given.seed), given.cases),
        "Kafka messages, truncated": truncated_messages_of_kafka(),
        "Kafka records": islice(records_of_kafka(given.seed), given.cases),
        "Records for Spark": islice(records_for_spark(given.seed), given.cases),
        "ZooKeeper": islice(zookeeper.cases(given.seed), given.cases),
    }
    all_wrong = 0
    for what, cases in kinds.items():
        start = perf_counter()
        count, wrong = run(what, cases)
        all_wrong += wrong
        print(f"{what}: {count} cases in {perf_counter() - start:.1f} s, {wrong} wrong")
    sys.exit(1 if all_wrong else 0)


if __name__ == "__main__":
    main()
