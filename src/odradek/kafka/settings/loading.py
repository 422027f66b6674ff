"""A broker's settings, from its file and from what was said besides."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from odradek.kafka.settings.broker import BrokerSettings
from odradek.runtime.disk import Disk
from odradek.runtime.properties import Properties

OVERRIDES = "--override"
NONE: Mapping[str, str] = MappingProxyType({})


def load(disk: Disk, path: str, overrides: Mapping[str, str] = NONE) -> BrokerSettings:
    """Read a server.properties; what is overridden wins. Raises `SettingsRefused`, `OSError`."""
    properties = Properties.load(disk, path)
    return BrokerSettings(properties.overridden_by(Properties.of(overrides, OVERRIDES)))
