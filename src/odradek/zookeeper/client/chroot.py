"""A client's own root: added to every path that leaves, taken off every path that comes."""

from __future__ import annotations

from odradek.zookeeper.client.errors import BadArguments


class Chroot:
    """The znode that a client calls "/"; "" if that is the true root."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix

    def add(self, path: str) -> str:
        """The path as servers know it."""
        # The server judges the rest of a path, but "a" below "/b" would come out as "/ba".
        if not path.startswith("/"):
            raise BadArguments(path)
        if not self.prefix:
            return path
        return self.prefix if path == "/" else self.prefix + path

    def remove(self, path: str) -> str:
        """The path as the caller knows it; one from elsewhere, such as the config, stays whole."""
        if not self.prefix or not self.holds(path):
            return path
        return path[len(self.prefix) :] or "/"

    def holds(self, path: str) -> bool:
        """Whether a path of the servers is at or below this root."""
        return path == self.prefix or path.startswith(self.prefix + "/")
