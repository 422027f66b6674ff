"""What the admin server tells: one function a command, in the order of their names.

Each gives the fields of the answer beside `command` and `error`; a field `error` of its own says
that the command could not be done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from odradek.zookeeper.server import monitor
from odradek.zookeeper.server.connection import Connection
from odradek.zookeeper.server.environment import environment, system_properties
from odradek.zookeeper.server.overview import Overview, last_operation
from odradek.zookeeper.server.version import FULL_VERSION
from odradek.zookeeper.state.processor import DIGEST_VERSION
from odradek.zookeeper.zab.quorum import Membership
from odradek.zookeeper.zab.zxid import counter_of, epoch_of

UNSIGNED = 0xFFFFFFFFFFFFFFFF
LONG_BITS = 64

Query = Mapping[str, str]
Fields = dict[str, Any]


def configuration(overview: Overview, query: Query) -> Fields:
    settings = overview.settings
    return {
        "client_port": overview.port,
        "data_dir": overview.directories.snapshots,
        "data_log_dir": overview.directories.logs,
        "tick_time": settings.tick_time_ms,
        "max_client_cnxns": settings.max_client_cnxns,
        "min_session_timeout": settings.min_session_timeout_ms,
        "max_session_timeout": settings.max_session_timeout_ms,
        "server_id": settings.server_id or 0,
        "client_port_listen_backlog": settings.client_port_listen_backlog,
    }


def connection_stat_reset(overview: Overview, query: Query) -> Fields:
    overview.reset_connections()
    return {}


def connections(overview: Overview, query: Query) -> Fields:
    present = overview.clients.connections
    return {"connections": [*map(whole, present)], "secure_connections": []}


def brief(connection: Connection) -> Fields:
    return {
        "remote_socket_address": f"{connection.address}:{connection.port}",
        "interest_ops": int(connection.is_read_from),
        "outstanding_requests": connection.waiting_count,
        "packets_received": connection.tally.received,
        "packets_sent": connection.tally.sent,
    }


def whole(connection: Connection) -> Fields:
    latency, session = connection.tally.requests(), connection.session
    return brief(connection) | {
        "session_id": connection.asker.session_id,
        "last_operation": last_operation(connection),
        "established": connection.established_ms,
        "session_timeout": session.timeout_ms if session else 0,
        "last_cxid": connection.last_xid,
        "last_zxid": connection.last_zxid,
        "last_response_time": connection.last_reply_ms,
        "last_latency": connection.last_latency_ms,
        "min_latency": latency.least,
        "avg_latency": int(latency.mean),
        "max_latency": latency.most,
    }


def dirs(overview: Overview, query: Query) -> Fields:
    return {"datadir_size": overview.data_dir_bytes, "logdir_size": overview.log_dir_bytes}


def dump(overview: Overview, query: Query) -> Fields:
    owned = overview.clients.tree.ephemerals
    return {
        "expiry_time_to_session_ids": overview.expiries(),
        "session_id_to_ephemeral_paths": {key: sorted(paths) for key, paths in owned.items()},
    }


def get_trace_mask(overview: Overview, query: Query) -> Fields:
    return {"tracemask": overview.trace_mask}


def digests(overview: Overview, query: Query) -> Fields:
    found = overview.digests()
    return {
        "digests": [
            {"zxid": zxid, "digest": digest, "digest_version": DIGEST_VERSION}
            for zxid, digest in found
        ]
    }


def initial_configuration(overview: Overview, query: Query) -> Fields:
    """What the file said that is not the default; passwords are left out."""
    settings = overview.settings
    lines = [
        f"{it.key}={in_properties(value)}\n"
        for name, it in settings.declared.items()
        if (value := getattr(settings, name)) != it.default and not it.is_secret(it.key)
    ]
    return {"initial_configuration": "".join(lines)}


def in_properties(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(map(in_properties, value))
    return str(value.value if isinstance(value, Enum) else value)


def is_read_only(overview: Overview, query: Query) -> Fields:
    return {"read_only": overview.is_read_only}


def last_snapshot(overview: Overview, query: Query) -> Fields:
    zxid, timestamp = overview.last_snapshot()
    return {"zxid": f"{zxid & UNSIGNED:x}", "timestamp": timestamp}


def leader(overview: Overview, query: Query) -> Fields:
    standing = overview.standing
    if standing is None:
        return {"error": "server is not initialized"}  # So the original says: no ensemble.
    return {
        "is_leader": standing.is_leader,
        "leader_id": standing.leader_id,
        "leader_ip": standing.leader_host,
    }


def monitored(overview: Overview, query: Query) -> Fields:
    return dict(monitor.values(overview))


def nothing(overview: Overview, query: Query) -> Fields:
    return {}


def observers(overview: Overview, query: Query) -> Fields:
    standing = overview.standing
    return {"synced_observers": standing.synced_observer_count if standing else 0, "observers": []}


def server_stats(overview: Overview, query: Query) -> Fields:
    counts = overview.clients.stats.counts
    sizes = {
        "last_buffer_size": counts.last_response_bytes,
        "min_buffer_size": counts.least_response_bytes,
        "max_buffer_size": counts.most_response_bytes,
    }
    return {
        "version": FULL_VERSION,
        "read_only": overview.is_read_only,
        "server_stats": figures(overview, sizes),
        "client_response": sizes,
        "node_count": len(overview.clients.tree),
    }


def figures(overview: Overview, sizes: Fields) -> Fields:
    clients, tally = overview.clients, overview.tally()
    latency = tally.requests()
    slow_bound_ms = overview.settings.fsync_warning_threshold_ms
    return {
        "packets_sent": tally.sent,
        "packets_received": tally.received,
        "fsync_threshold_exceed_count": clients.pipeline.sync_ms.above(slow_bound_ms),
        "client_response_stats": sizes,
        "data_dir_size": overview.data_dir_bytes,
        "log_dir_size": overview.log_dir_bytes,
        "provider_null": False,
        "last_processed_zxid": clients.tree.last_zxid,
        "outstanding_requests": overview.outstanding,
        "server_state": overview.mode,
        "avg_latency": latency.mean,
        "max_latency": latency.most,
        "min_latency": latency.least,
        "num_alive_client_connections": len(clients.connections),
        "uptime": overview.uptime_ms,
        "auth_failed_count": clients.stats.auth_failed_count,
        "non_mtlsremote_conn_count": 0,
        "non_mtlslocal_conn_count": 0,
    }


def set_trace_mask(overview: Overview, query: Query) -> Fields:
    complaint = "setTraceMask requires long traceMask argument"
    if (given := query.get("traceMask")) is None:
        return {"error": complaint}
    try:
        mask = int(given)
    except ValueError:
        return {"error": f"{complaint}, got {given}"}
    if not -(1 << LONG_BITS - 1) <= mask < 1 << LONG_BITS - 1:
        return {"error": f"{complaint}, got {given}"}
    overview.trace_mask = mask
    return {"tracemask": mask}


def stat_reset(overview: Overview, query: Query) -> Fields:
    overview.reset()
    return {}


def stats(overview: Overview, query: Query) -> Fields:
    present = overview.clients.connections
    shown = {"connections": [*map(brief, present)], "secure_connections": []}
    return server_stats(overview, query) | shown


def voting_view(overview: Overview, query: Query) -> Fields:
    standing = overview.standing
    if standing is None:
        return {"current_config": {}}
    membership = standing.member.membership
    return {"current_config": {id_: shown(membership, id_) for id_ in sorted(membership.voters)}}


def shown(membership: Membership, server_id: int) -> Fields:
    member = membership.members[server_id]
    return {
        "server_addresses": [*map(str, member.quorum_addresses)],
        "election_addresses": [*map(str, member.election_addresses)],
        "client_address": str(member.client_address or ""),
        "learner_type": member.role.value,
    }


def watch_summary(overview: Overview, query: Query) -> Fields:
    held = overview.watched_paths()
    return {
        "num_connections": len(held),
        "num_paths": len(overview.watching_sessions()),
        "num_total_watches": sum(map(len, held.values())),
    }


def zabstate(overview: Overview, query: Query) -> Fields:
    standing = overview.standing
    if standing is None:
        return {"voting": False, "zabstate": ""}
    last_zxid = overview.clients.tree.last_zxid
    return {
        "myid": standing.member.peer.my_id,
        "is_leader": standing.is_leader,
        "voting": standing.is_voter,
        "last_zxid": f"{last_zxid:#x}",
        "zab_epoch": epoch_of(last_zxid),
        "zab_counter": counter_of(last_zxid),
        "zabstate": standing.phase,
    }


Command = Callable[[Overview, Query], Fields]
COMMANDS: dict[str, Command] = {
    "configuration": configuration,
    "connection_stat_reset": connection_stat_reset,
    "connections": connections,
    "dirs": dirs,
    "dump": dump,
    "environment": lambda overview, query: {**environment()},
    "get_trace_mask": get_trace_mask,
    "hash": digests,
    "initial_configuration": initial_configuration,
    "is_read_only": is_read_only,
    "last_snapshot": last_snapshot,
    "leader": leader,
    "monitor": monitored,
    "observer_connection_stat_reset": nothing,
    "observers": observers,
    "ruok": nothing,
    "server_stats": server_stats,
    "set_trace_mask": set_trace_mask,
    "stat_reset": stat_reset,
    "stats": stats,
    "system_properties": lambda overview, query: {**system_properties()},
    "voting_view": voting_view,
    "watch_summary": watch_summary,
    "watches": lambda it, query: {"session_id_to_watched_paths": it.watched_paths()},
    "watches_by_path": lambda it, query: {"path_to_session_ids": it.watching_sessions()},
    "zabstate": zabstate,
}
ALIASES = {
    "conf": "configuration",
    "config": "configuration",
    "cons": "connections",
    "crst": "connection_stat_reset",
    "env": "environment",
    "envi": "environment",
    "gtmk": "get_trace_mask",
    "icfg": "initial_configuration",
    "isro": "is_read_only",
    "lead": "leader",
    "lsnp": "last_snapshot",
    "mntr": "monitor",
    "obsr": "observers",
    "orst": "observer_connection_stat_reset",
    "rest": "restore",
    "snap": "snapshot",
    "srst": "stat_reset",
    "srvr": "server_stats",
    "stat": "stats",
    "stmk": "set_trace_mask",
    "sysp": "system_properties",
    "wchc": "watches",
    "wchp": "watches_by_path",
    "wchs": "watch_summary",
}
# These tell nothing of clients or of the tree, so they can be told at any time.
ALWAYS_ANSWERED = frozenset(
    {
        "environment",
        "get_trace_mask",
        "monitor",
        "set_trace_mask",
        "system_properties",
        "zabstate",
    }
)
