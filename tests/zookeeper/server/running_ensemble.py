"""An ensemble of ours, each server a process of its own, on free ports of loopback."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.processes import HOST, ServerProcess, free_port, properties_text
from tests.waiting import wait_until

DEFAULTS: dict[str, object] = {
    "tickTime": 500,
    "initLimit": 10,
    "syncLimit": 3,
    "clientPortAddress": HOST,
    "admin.enableServer": "false",
    "maxClientCnxns": 0,
    "4lw.commands.whitelist": "*",
    "preAllocSize": 64,
}


class RunningMember(ServerProcess):
    """One server of several."""

    def __init__(self, directory: Path, id_: int, members: dict[str, object]) -> None:
        file = directory / "zoo.cfg"
        super().__init__(directory, ["zookeeper", str(file)], free_port())
        data = directory / "data"
        data.mkdir()
        (data / "myid").write_text(f"{id_}\n")
        given = {"dataDir": data, "clientPort": self.port}
        file.write_text(properties_text({**DEFAULTS, **given, **members}))

    def say(self, word: str) -> str:
        """What the server answers to a four-letter word; nothing if it does not."""
        answer = b""
        with suppress(OSError), socket.create_connection((HOST, self.port), 1) as connection:
            connection.settimeout(2)
            connection.sendall(word.encode())
            while piece := connection.recv(65536):
                answer += piece
        return answer.decode()

    @property
    def mode(self) -> str:
        """leader, follower or observer; nothing while it does not serve."""
        return self.say("srvr").partition("Mode: ")[2].partition("\n")[0]

    @property
    def zxid(self) -> str:
        """Of the newest transaction that it shows its clients."""
        return self.say("srvr").partition("Zxid: ")[2].partition("\n")[0]

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)


class RunningEnsemble:
    """Servers 1, 2, 3 …, each of the kind that is given for it."""

    def __init__(
        self, directory: Path, kinds: Sequence[type[RunningMember]], more: Mapping[str, object]
    ) -> None:
        ids = range(1, len(kinds) + 1)
        members: dict[str, object] = {
            f"server.{id_}": f"{HOST}:{free_port()}:{free_port()}" for id_ in ids
        }
        self.servers = {
            id_: kind(directory / str(id_), id_, {**members, **more})
            for id_, kind in zip(ids, kinds, strict=True)
        }

    @property
    def connect_string(self) -> str:
        return ",".join(it.address for it in self.servers.values())

    def leader(self) -> RunningMember | None:
        return next((it for it in self.servers.values() if it.mode == "leader"), None)

    def until_led(self) -> RunningMember:
        """Wait for a leader."""
        wait_until(lambda: self.leader() is not None, 60)
        leader = self.leader()
        assert leader is not None
        return leader

    def is_even(self) -> bool:
        """Whether all have come equally far: then the biggest id among them is elected."""
        return len({it.zxid for it in self.servers.values()}) == 1

    def all_serve(self) -> bool:
        return all(it.mode for it in self.servers.values())


@contextmanager
def running_ensemble(
    directory: Path, *kinds: type[RunningMember], **more: object
) -> Iterator[RunningEnsemble]:
    """An ensemble that runs, and serves, as long as the block."""
    ensemble = RunningEnsemble(directory, kinds, more)
    with ExitStack() as stack:
        for server in ensemble.servers.values():
            server.spawn()
            stack.callback(server.stop)
        wait_until(ensemble.all_serve, 60)
        yield ensemble
