"""What a host has stored: it outlives every process, and lies in all the ways real disks do.

What a process wrote is in memory, and safe from that process's death. From a loss of power only
what was synced is safe, and what had been in memory for so long that the kernel wrote it back.
"""

from __future__ import annotations

from random import Random

from odradek.runtime.disk import DirectoryLocked, DiskBroken, DiskError
from odradek.simulation.clocks import HostClock
from odradek.simulation.disk.device import Device
from odradek.simulation.disk.directories import Directory, Entry
from odradek.simulation.disk.inodes import Inode
from odradek.simulation.disk.tree import Tree
from odradek.simulation.schedule import SECOND_NS, Schedule
from odradek.simulation.trace import Trace

WRITE_BACK_NS = 35 * SECOND_NS  # Linux: after 30 seconds, looked at every 5.
WRITE_BACK_EVERY_NS = 5 * SECOND_NS
EVICTION_CHANCE = 0.01


class Storage:
    """Files and names of one host, and what becomes of them."""

    def __init__(
        self, name: str, schedule: Schedule, clock: HostClock, trace: Trace, random: Random
    ) -> None:
        self.device = Device(random)
        self.tree = Tree()
        self._name = name
        self._schedule = schedule
        self._clock = clock
        self._trace = trace
        self._random = random
        self._dirty: dict[Inode, None] = {}
        self._owners: dict[Directory, object] = {}
        self._written_back_ns = 0

    @property
    def now_ns(self) -> int:
        return self._schedule.now_ns

    def create(self, path: str) -> Inode:
        inode = Inode()
        inode.modified_ms = self._clock.wall_ms()
        self.tree.add(path, inode, self.now_ns)
        return inode

    def write(self, path: str, inode: Inode, position: int, data: bytes) -> None:
        """Write all of it, or raise. Of what fails, a part may have replaced what was there."""
        if not data:
            return
        try:
            self.device.check("write", path)
            self._take_room(path, inode, position + len(data))
        except DiskError:
            replaced = max(0, min(inode.size - position, len(data)))
            self._write(inode, position, data[: self._random.randint(0, replaced)])
            raise
        self._write(inode, position, data)

    def resize(self, path: str, inode: Inode, size: int) -> None:
        self.device.check("write", path)
        self._take_room(path, inode, size, can_shrink=True)
        inode.resize(size, self.now_ns)
        self._touch(inode)

    def sync(self, path: str, inode: Inode) -> None:
        try:
            self.device.check("sync", path)
        except DiskBroken:
            inode.fail_sync()
            self._note(f"fails to sync {path}")
            raise
        inode.sync()
        if not inode.is_dirty:
            self._dirty.pop(inode, None)
        self._note(f"syncs {path}, {inode.size} bytes")

    def sync_directory(self, path: str) -> None:
        self.device.check("sync", path)
        self.tree.journal.sync(self.tree.directory(path))
        self._note(f"syncs {path}")

    def rename(self, source: str, target: str) -> None:
        self._drop(self.tree.rename(source, target, self.now_ns))

    def remove(self, path: str) -> None:
        self._drop(self.tree.remove(path, self.now_ns))

    def is_cached(self, inode: Inode) -> bool:
        """Whether memory holds this file, which nobody can rely on."""
        if self._random.random() < EVICTION_CHANCE:
            inode.is_cached = False
        return inode.is_cached

    def lock(self, path: str, owner: object) -> Directory:
        directory = self.tree.directory(path)
        if directory in self._owners:
            raise DirectoryLocked(path, "another server owns it (.lock)")
        self._owners[directory] = owner
        return directory

    def unlock(self, directory: Directory, owner: object) -> None:
        if self._owners.get(directory) is owner:
            del self._owners[directory]

    def unlock_all(self, owner: object) -> None:
        """Free what this owner has locked."""
        self._owners = {place: one for place, one in self._owners.items() if one is not owner}

    def crash(self) -> None:
        """Lose power: each change that was not synced survives whole, in part, or not at all."""
        self._write_back()
        for inode in self._dirty:
            inode.crash(self._random)
        self._dirty.clear()
        self.tree.journal.crash(self._random)
        self._owners.clear()
        self._take_stock()

    def flip_bit(self, path: str) -> None:
        """Change one bit of a file that has any."""
        inode = self.tree.file(path)
        position = self._random.randrange(inode.size)
        inode.flip_bit(position, self._random.randrange(8))
        self._note(f"has a flipped bit in {path} at {position}")

    def _write(self, inode: Inode, position: int, data: bytes) -> None:
        if data:
            inode.write(position, data, self.now_ns)
            self._touch(inode)

    def _touch(self, inode: Inode) -> None:
        inode.modified_ms = self._clock.wall_ms()
        self._dirty[inode] = None
        if self.now_ns - self._written_back_ns >= WRITE_BACK_EVERY_NS:
            self._write_back()

    def _write_back(self) -> None:
        self._written_back_ns = self.now_ns
        until_ns = self.now_ns - WRITE_BACK_NS
        self.tree.journal.write_back(until_ns)
        for inode in self._dirty:
            inode.write_back(until_ns)
        self._dirty = {inode: None for inode in self._dirty if inode.is_dirty}

    def _take_room(self, path: str, inode: Inode, size: int, can_shrink: bool = False) -> None:
        """Use or give back what a file of this size needs."""
        growth = size - inode.size
        if inode.is_linked and (growth > 0 or can_shrink):
            self.device.take_room(path, growth)

    def _drop(self, entry: Entry | None) -> None:
        if isinstance(entry, Inode):
            entry.is_linked = False
            self.device.used_bytes -= entry.size

    def _take_stock(self) -> None:
        """Count anew what is there: a removed file may be back, a new one gone."""
        self.device.used_bytes = 0
        for inode in self.tree.files():
            inode.is_linked = True
            inode.is_cached = False
            self.device.used_bytes += inode.size

    def _note(self, text: str) -> None:
        if self._trace.is_on:
            self._trace.note(f"{self._name} {text}")
