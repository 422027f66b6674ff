"""Four-letter words: what an operator says to the client port, and what is answered.

A word that the whitelist lacks is refused by name. Those that tell of clients or of the tree have
nothing to say while the server does not serve. Each answer is the last thing on its connection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from struct import unpack
from typing import TypeVar

from odradek.runtime.clock import wall_clock_ms
from odradek.zookeeper.server import monitor
from odradek.zookeeper.server.connection import Connection
from odradek.zookeeper.server.environment import environment
from odradek.zookeeper.server.overview import Overview, last_operation, wall_ms_of
from odradek.zookeeper.server.version import FULL_VERSION
from odradek.zookeeper.wire.words import FourLetterWord

NOT_SERVING = "This ZooKeeper instance is not currently serving requests"
NOT_ALLOWED = "{} is not executed because it is not in the whitelist."
UNSIGNED = 0xFFFFFFFFFFFFFFFF

Lines = Iterable[str]
Member = TypeVar("Member")


class FourLetterWords:
    """Answers words about one server."""

    def __init__(self, overview: Overview) -> None:
        self._overview = overview

    def hear(self, heard: FourLetterWord, connection: Connection) -> bytes:
        """What to say to a word; `connection` is the one that it came on."""
        word, overview = heard.word, self._overview
        if not overview.settings.is_word_allowed(word):
            return in_lines([NOT_ALLOWED.format(word)])
        if word == "stmk":
            (overview.trace_mask,) = unpack(">q", heard.argument)
        if word in PHRASES:
            return PHRASES[word](overview).encode()
        if word not in ALWAYS_ANSWERED and not overview.has_answers:
            return in_lines([NOT_SERVING])
        return in_lines(ANSWERS[word](overview))


def in_lines(lines: Lines) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


# The server


def version_line() -> str:
    return f"Zookeeper version: {FULL_VERSION}"


def srvr(overview: Overview) -> Lines:
    return [version_line(), *figures(overview), *proposal_sizes(overview)]


def stat(overview: Overview) -> Lines:
    clients = (f" {brief(each)})" for each in overview.clients.connections)
    shown = [*figures(overview), *proposal_sizes(overview)]
    return [version_line(), "Clients:", *clients, "", *shown]


def proposal_sizes(overview: Overview) -> Lines:
    standing = overview.standing
    if standing is None or not standing.is_leader:
        return []
    return [f"Proposal sizes last/min/max: {standing.proposal_sizes}"]


def figures(overview: Overview) -> Lines:
    tally, tree = overview.tally(), overview.clients.tree
    latency = tally.requests()
    return [
        f"Latency min/avg/max: {latency.least}/{latency.mean}/{latency.most}",
        f"Received: {tally.received}",
        f"Sent: {tally.sent}",
        f"Connections: {len(overview.clients.connections)}",
        f"Outstanding: {overview.outstanding}",
        f"Zxid: {tree.last_zxid:#x}",
        f"Mode: {overview.mode}",
        f"Node count: {len(tree)}",
    ]


def conf(overview: Overview) -> Lines:
    settings, directories = overview.settings, overview.directories
    return [
        f"clientPort={overview.port}",
        f"secureClientPort={settings.secure_client_port or -1}",
        f"dataDir={directories.snapshots}",
        f"dataDirSize={overview.data_dir_bytes}",
        f"dataLogDir={directories.logs}",
        f"dataLogSize={overview.log_dir_bytes}",
        f"tickTime={settings.tick_time_ms}",
        f"maxClientCnxns={settings.max_client_cnxns}",
        f"minSessionTimeout={settings.min_session_timeout_ms}",
        f"maxSessionTimeout={settings.max_session_timeout_ms}",
        f"clientPortListenBacklog={settings.client_port_listen_backlog}",
        f"serverId={settings.server_id or 0}",
        *(overview.standing.configuration() if overview.standing else ()),
    ]


def dirs(overview: Overview) -> Lines:
    return [
        f"datadir_size: {overview.data_dir_bytes}",
        f"logdir_size: {overview.log_dir_bytes}",
    ]


def envi(overview: Overview) -> Lines:
    return ["Environment:", *(f"{key}={value}" for key, value in environment().items())]


def mntr(overview: Overview) -> Lines:
    return (f"zk_{name}\t{value}" for name, value in monitor.values(overview))


def digest_lines(overview: Overview) -> Lines:
    return (f"{zxid:x}: {digest}" for zxid, digest in overview.digests())


# Connections and sessions


def brief(connection: Connection) -> str:
    """All but the closing bracket. The number is 1 while we read from it, as Java's selectors."""
    tally, where = connection.tally, f"/{connection.address}:{connection.port}"
    waiting = f"queued={connection.waiting_count},recved={tally.received},sent={tally.sent}"
    return f"{where}[{int(connection.is_read_from)}]({waiting}"


def whole(connection: Connection) -> str:
    session = connection.session
    if session is None:
        return f" {brief(connection)})"
    latency = connection.tally.requests()
    last_cxid = f"lcxid={connection.last_xid:#x}," if connection.last_xid >= 0 else ""
    return (
        f" {brief(connection)},sid={in_hex(session.session_id)},lop={last_operation(connection)},"
        f"est={connection.established_ms},to={session.timeout_ms},{last_cxid}"
        f"lzxid={in_hex(connection.last_zxid)},lresp={connection.last_reply_ms},"
        f"llat={connection.last_latency_ms},minlat={latency.least},"
        f"avglat={int(latency.mean)},maxlat={latency.most})"
    )


def cons(overview: Overview) -> Lines:
    return [*map(whole, overview.clients.connections), ""]


def dump(overview: Overview) -> Lines:
    yield "SessionTracker dump:"
    yield from expiry_sets("Session", overview.expiries(), in_hex)
    yield "ephemeral nodes dump:"
    owned = overview.clients.tree.ephemerals
    yield f"Sessions with Ephemerals ({len(owned)}):"
    for session_id, paths in owned.items():
        yield f"{in_hex(session_id)}:"
        yield from (f"\t{path}" for path in sorted(paths))
    yield "Connections dump:"
    yield from expiry_sets("Connections", overview.connection_expiries(), place)


def expiry_sets(kind: str, sets: dict[int, list[Member]], show: Callable[[Member], str]) -> Lines:
    wall_ms = wall_clock_ms()
    yield f"{kind} Sets ({len(sets)})/({sum(map(len, sets.values()))}):"
    for expires_ms, members in sets.items():
        yield f"{len(members)} expire at {date(wall_ms_of(expires_ms, wall_ms))}:"
        yield from (f"\t{show(each)}" for each in members)


def place(connection: Connection) -> str:
    session_id = in_hex(connection.asker.session_id)
    return f"ip: /{connection.address}:{connection.port} sessionId: {session_id}"


def date(wall_ms: int) -> str:
    return time.strftime("%a %b %d %H:%M:%S UTC %Y", time.gmtime(wall_ms // 1000))


def in_hex(number: int) -> str:
    """As Java shows a long: a negative one as what its bits would be without a sign."""
    return f"{number & UNSIGNED:#x}"


# Watches


def wchs(overview: Overview) -> Lines:
    held = overview.watched_paths()
    paths = overview.watching_sessions()
    return [
        f"{len(held)} connections watching {len(paths)} paths",
        f"Total watches:{sum(map(len, held.values()))}",
    ]


def wchc(overview: Overview) -> Lines:
    for session_id, paths in overview.watched_paths().items():
        yield in_hex(session_id)
        yield from (f"\t{path}" for path in paths)
    yield ""


def wchp(overview: Overview) -> Lines:
    for path, session_ids in overview.watching_sessions().items():
        yield path
        yield from (f"\t{in_hex(session_id)}" for session_id in session_ids)
    yield ""


# What can be told to a server


def crst(overview: Overview) -> Lines:
    overview.reset_connections()
    return ["Connection stats reset."]


def srst(overview: Overview) -> Lines:
    overview.reset()
    return ["Server stats reset."]


# Said as they are, without the end of a line, whether the server serves or not.
PHRASES: dict[str, Callable[[Overview], str]] = {
    "ruok": lambda overview: "imok",
    "isro": lambda overview: "ro" if overview.is_read_only else "rw",
    "gtmk": lambda overview: str(overview.trace_mask),
    "stmk": lambda overview: str(overview.trace_mask),
}
ANSWERS: dict[str, Callable[[Overview], Lines]] = {
    "conf": conf,
    "cons": cons,
    "crst": crst,
    "dirs": dirs,
    "dump": dump,
    "envi": envi,
    "hash": digest_lines,
    "mntr": mntr,
    "srst": srst,
    "srvr": srvr,
    "stat": stat,
    "wchc": wchc,
    "wchp": wchp,
    "wchs": wchs,
}
ALWAYS_ANSWERED = {"envi"}
