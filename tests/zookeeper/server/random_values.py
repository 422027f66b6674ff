"""What requests are made of: few paths, so that clients meet; values on both sides of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from odradek.zookeeper.wire.messages.data import ACL, Id

FREE_PATHS = ["/a", "/a/b", "/a/b/c", "/a/d", "/e", "/e/f"]
PATHS = [*FREE_PATHS, "/q", "/q/x", "/q/x/y"]  # What is under /q may have a quota.
SYSTEM_PATHS = ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"]
BAD_PATHS = ["", "a", "//", "/a/", "/a//b", "/./a", "/a/..", "/a\0", "/a\x1f", "/\ue000"]

ANYONE = Id("world", "anyone")
OPEN = [ACL(31, ANYONE)]
USERS = [b"ann:secret", b"bob:word"]
ANN = Id("digest", "ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=")
SUPER_PASSWORD = b"super:test"
SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU="
IDS = [
    ANYONE,
    ANYONE,
    ANN,
    ANN,
    Id("auth", ""),
    Id("ip", "127.0.0.1"),
    Id("ip", "127.0.0.0/8"),
    Id("ip", "10.0.0.0/8"),
]
BAD_IDS = [
    Id("ip", "127.0.0.1/33"),
    Id("ip", "nowhere"),
    Id("ip", ""),
    Id("ip", "::1"),
    Id("world", "someone"),
    Id("world", None),
    Id("digest", "ann"),
    Id("digest", "a:b:c"),
    Id("nobody", "knows"),
    Id("super", ""),
    Id("sasl", "someone"),
    Id("x509", "CN=a"),
    Id("", ""),
]
PERMS = [31, 31, 31, 31, 1, 2, 4, 8, 16, 5, 30, 15, 0, 64, -1]
VERSIONS = [-1, -1, -1, -1, 0, 0, 1, 2, 7, -2]

T = TypeVar("T")


class RandomValues:
    """Draws values; the same generator gives the same values."""

    def __init__(self, random: Random, paths: Sequence[str] = PATHS) -> None:
        self.random = random
        self._paths = paths

    def pick(self, choices: Sequence[T]) -> T:
        return self.random.choice(choices)

    def happens(self, probability: float = 0.5) -> bool:
        return self.random.random() < probability

    def path(self) -> str:
        chance = self.random.random()
        if chance < 0.92:
            return self.pick(self._paths)
        return self.pick(SYSTEM_PATHS if chance < 0.97 else BAD_PATHS)

    def paths(self) -> list[str]:
        return [self.path() for _ in range(self.random.randint(0, 3))]

    def data(self) -> bytes | None:
        return self.pick([b"", b"x", b"data", b"a longer piece of data", None])

    def version(self) -> int:
        return self.pick(VERSIONS)

    def acl(self) -> list[ACL]:
        """Mostly open; else a few entries, which may lock everybody out."""
        chance = self.random.random()
        if chance < 0.8:
            return OPEN
        if chance < 0.82:
            return []
        if chance < 0.96:
            count = self.random.randint(1, 3)
            return [ACL(self.pick(PERMS), self.pick(IDS)) for _ in range(count)]
        return [*self.pick([[], OPEN]), ACL(self.pick(PERMS), self.pick(BAD_IDS))]
