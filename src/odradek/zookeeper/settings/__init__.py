"""What a zoo.cfg says, and the flags of a JVM that is not there: checked, typed, refused whole."""

from odradek.zookeeper.settings.loading import load
from odradek.zookeeper.settings.members import Address, Endpoint, Member, Role
from odradek.zookeeper.settings.security import ClientAuth
from odradek.zookeeper.settings.server import ZooKeeperSettings
from odradek.zookeeper.settings.storage import Compression
from odradek.zookeeper.settings.without_effect import WITHOUT_EFFECT_YET

__all__ = [
    "WITHOUT_EFFECT_YET",
    "Address",
    "ClientAuth",
    "Compression",
    "Endpoint",
    "Member",
    "Role",
    "ZooKeeperSettings",
    "load",
]
