"""Runs of effects taken apart: a disk may have come to any entry of them when it fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from odradek.zookeeper.zab import effects as fx


def singles(effects: Iterable[fx.Effect]) -> Iterator[fx.Effect]:
    """The same effects, each of one packet or one entry."""
    for effect in effects:
        match effect:
            case fx.Send(links, packets):
                yield from (fx.Send(links, [each]) for each in packets)
            case fx.Log(last_mark, entries):
                first_mark = last_mark - len(entries) + 1
                yield from (fx.Log(mark, [it]) for mark, it in enumerate(entries, first_mark))
            case fx.Commit(entries):
                yield from (fx.Commit([it]) for it in entries)
            case _:
                yield effect
