"""Brokers with a network each: namespaces of the kernel, joined by a bridge, cut as one likes.

Who has no rights to make them skips the tests that need them, and is told so. A cut is silent, as
that of a cable: what one sends to the other goes to a hardware address that nobody has.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.kafka.server.running import RunningBroker

NOBODY = "02:00:00:00:00:99"
PORT = 9092


def run(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Network:
    """A bridge whose first address is the test's own; each broker has a namespace behind it."""

    def __init__(self, number: int) -> None:
        self.name = f"odk{number}"
        self._prefix = f"10.{200 + number % 50}.{number // 50 % 250}"
        self.own_address = self.address(254)

    def address(self, host: int) -> str:
        return f"{self._prefix}.{host}"

    def namespace(self, host: int) -> str:
        return f"{self.name}-{host}"

    @contextmanager
    def up(self) -> Iterator[None]:
        with ExitStack() as stack:
            run("link", "add", self.name, "type", "bridge")
            stack.callback(run, "link", "del", self.name)
            run("addr", "add", f"{self.own_address}/24", "dev", self.name)
            run("link", "set", self.name, "up")
            for host in (1, 2, 3):
                run("netns", "add", self.namespace(host))
                stack.callback(run, "netns", "del", self.namespace(host))
                self._plug_in(host)
            yield

    def _plug_in(self, host: int) -> None:
        space, plug = self.namespace(host), f"{self.name}p{host}"
        run("link", "add", plug, "type", "veth", "peer", "name", "eth0", "netns", space)
        run("link", "set", plug, "master", self.name, "up")
        inside = ("-n", space)
        run(*inside, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
        run(*inside, "link", "set", "eth0", "up")
        run(*inside, "link", "set", "lo", "up")

    # What can be done to it

    @contextmanager
    def isolated(self, host: int) -> Iterator[None]:
        """One hears nobody and is heard by nobody."""
        plug = f"{self.name}p{host}"
        run("link", "set", plug, "down")
        try:
            yield
        finally:
            run("link", "set", plug, "up")

    @contextmanager
    def cut(self, host: int, *others: int) -> Iterator[None]:
        """What one sends to some others does not arrive; 254 is who runs ZooKeeper and clients."""
        space = ("-n", self.namespace(host))
        for other in others:
            place = (self.address(other), "dev", "eth0")
            run(*space, "neigh", "replace", *place, "lladdr", NOBODY, "nud", "permanent")
        try:
            yield
        finally:
            for other in others:
                run(*space, "neigh", "del", self.address(other), "dev", "eth0")


@contextmanager
def a_network() -> Iterator[Network]:
    """Namespaces for brokers 1, 2 and 3, as long as the block."""
    if shutil.which("ip") is None:
        pytest.skip("namespaces need ip (iproute2), which is not here")
    network = Network(os.getpid() % 10_000)
    with ExitStack() as stack:
        try:
            stack.enter_context(network.up())
        except subprocess.CalledProcessError as error:
            pytest.skip(f"the kernel gives us no namespaces: {error.stderr.strip()}")
        yield network


class DistantBroker(RunningBroker):
    """A broker in a namespace of its own."""

    def __init__(self, network: Network, directory: Path, settings: Mapping[str, object]) -> None:
        host = settings["broker.id"]
        assert isinstance(host, int)
        self.host = network.address(host)
        listener = {"listeners": f"PLAINTEXT://{self.host}:{PORT}"}
        super().__init__(directory, {**settings, **listener})
        self.port = PORT
        self._command = ["ip", "netns", "exec", network.namespace(host), *self._command]

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"the server did not start:\n{self.log}"
        with suppress(OSError), socket.create_connection((self.host, self.port), 1):
            return True
        return False
