"""How many requests a second one client gets answered, pipelined, by a server that is running.

python -m benchmarks.zookeeper_client 127.0.0.1:2181
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from random import Random
from time import perf_counter, process_time

import uvloop

from odradek.zookeeper.client.aio import ZooKeeperClient

ROOT = "/odradek-benchmark"
DATA = bytes(100)
REQUESTS = 20_000
IN_FLIGHT = 5_000
ROUNDS = 3

Ask = Callable[[str], Awaitable[object]]


async def measure(ask: Ask, paths: list[str]) -> str:
    """Time all requests, so many in flight together as a broker would have at most."""
    start, start_of_work = perf_counter(), process_time()
    for first in range(0, len(paths), IN_FLIGHT):
        await asyncio.gather(*map(ask, paths[first : first + IN_FLIGHT]))
    rate = len(paths) / (perf_counter() - start)
    cost_us = (process_time() - start_of_work) / len(paths) * 1e6
    return f"{rate:,.0f}/s ({cost_us:.0f} us)"


async def compare(client: ZooKeeperClient) -> None:
    paths = [f"{ROOT}/{number:06d}" for number in range(REQUESTS)]
    asks: dict[str, Ask] = {
        "create": lambda path: client.create(path, DATA),
        "set_data": lambda path: client.set_data(path, DATA),
        "get_data": client.get_data,
        "exists": client.exists,
        "delete": client.delete,
    }
    await client.create(ROOT)
    for number in range(ROUNDS):
        told = [f"{name} {await measure(ask, paths)}" for name, ask in asks.items()]
        print(f"round {number + 1}:  {'  '.join(told)}")
    await client.delete(ROOT)


async def main(connect_string: str) -> None:
    async with ZooKeeperClient(connect_string, random=Random()) as client:
        await compare(client)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
