"""The members on disk: found at the next start, and the rest of the zoo.cfg as it was."""

from __future__ import annotations

from odradek.zookeeper.settings import load
from odradek.zookeeper.storage.dynamic_config import write_members
from tests.zookeeper.storage.disks import get_file, new_disk, put_file

STATIC = """\
# Who we are
tickTime=2000
initLimit=5
syncLimit=2
dataDir=/data
clientPort=2181
server.1=one:2888:3888
server.2=two:2888:3888
server.3=three:2888:3888
"""
MEMBERS = """\
server.1=one:2888:3888:participant;0.0.0.0:2181
server.4=four:2888:3888:observer;0.0.0.0:2181
server.5=five:2888:3888:participant;0.0.0.0:2181
version=100000007"""


def test_a_new_membership_is_what_is_loaded_next() -> None:
    disk = new_disk()
    put_file(disk, "/zoo.cfg", STATIC.encode())
    put_file(disk, "/data/myid", b"1")
    path = write_members(disk, "/zoo.cfg", MEMBERS, 0x100000007)
    assert path == "/zoo.cfg.dynamic.100000007"
    settings = load(disk, "/zoo.cfg")
    assert sorted(settings.members) == [1, 4, 5]
    assert sorted(settings.observers) == [4]
    assert settings.config_version == 0x100000007
    assert settings.tick_time_ms == 2000
    assert get_file(disk, "/zoo.cfg").startswith(b"# Who we are\n")


def test_the_next_one_takes_its_place_beside_it() -> None:
    disk = new_disk()
    put_file(disk, "/zoo.cfg", STATIC.encode())
    put_file(disk, "/data/myid", b"1")
    write_members(disk, "/zoo.cfg", MEMBERS, 0x100000007)
    path = write_members(disk, "/zoo.cfg", MEMBERS.replace("five", "V"), 0x200000001)
    assert path == "/zoo.cfg.dynamic.200000001"
    settings = load(disk, "/zoo.cfg")
    assert settings.members[5].endpoints[0].host == "V"
    assert get_file(disk, "/zoo.cfg").count(b"dynamicConfigFile") == 1
