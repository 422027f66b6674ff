"""Two servers that are told the same: ours, and Apache's as the judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.interop.apache import ApacheZooKeeper
from tests.interop.maven import class_path
from tests.zookeeper.server.running import running_server

SETTINGS: Mapping[str, object] = {
    "tickTime": 500,
    "maxSessionTimeout": 30_000,
    "extendedTypesEnabled": "true",
    "enforceQuota": "true",
    # The password is `admin`.
    "DigestAuthenticationProvider.superDigest": "super:xQJmxLMiHGwaqBvst5y6rkB6HQs=",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Where each of them listens."""

    ours: str
    theirs: str


@contextmanager
def both_servers(directory: Path, jvm_flags: str = "") -> Iterator[Pair]:
    """Both of them, new and empty, with the same settings, as long as the block."""
    class_path("clients-pom.xml", "javac")  # Nothing is started where no client could be.
    for name in ("ours", "theirs"):
        (directory / name).mkdir()
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("JAVA_TOOL_OPTIONS", jvm_flags)
            theirs = stack.enter_context(ApacheZooKeeper(directory / "theirs", SETTINGS))
        ours = stack.enter_context(running_server(directory / "ours", jvm_flags, **SETTINGS))
        yield Pair(ours.connect_string, theirs.connect_string)
