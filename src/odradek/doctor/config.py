"""Is a config file right? What is unknown, without effect, refused or dangerous in it.

The servers' own settings read it, so what is said here is what would happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import environ, path

from odradek.doctor.finding import Finding, good, note, warning, wrong
from odradek.kafka.settings import BrokerSettings
from odradek.kafka.settings import load as load_broker
from odradek.runtime.disk import Disk
from odradek.runtime.properties import Problem, Properties
from odradek.runtime.settings import SettingsRefused
from odradek.zookeeper.settings import ZooKeeperSettings
from odradek.zookeeper.settings import load as load_zookeeper

ZOOKEEPER_KEYS = {"dataDir", "clientPort", "tickTime", "dataLogDir", "initLimit", "syncLimit"}
KAFKA_KEYS = {"broker.id", "node.id", "log.dirs", "log.dir", "listeners", "zookeeper.connect"}
# Whoever sets these means to keep others out.
OF_SECURITY = ("ssl.", "sasl.", "authorizer.", "secureClientPort", "authProvider.", "quorum.auth.")
EVERYWHERE = ("", "0.0.0.0", "::")


def look_at_config(disk: Disk, file: str) -> Iterator[Finding]:
    """A server.properties or a zoo.cfg, told apart by what is in it."""
    keys = set(Properties.load(disk, file).entries)
    is_zookeeper = len(keys & ZOOKEEPER_KEYS) > len(keys & KAFKA_KEYS)
    kind = "a zoo.cfg" if is_zookeeper else "a server.properties"
    yield note(file, f"read as {kind}")
    try:
        if is_zookeeper:
            settings = load_zookeeper(disk, file, environ.get("SERVER_JVMFLAGS", ""))
            yield from of_zookeeper(disk, file, settings)
        else:
            yield from of_broker(disk, file, load_broker(disk, file))
    except SettingsRefused as refused:
        for problem in refused.problems:
            yield wrong(place(problem), f"{said(problem)}: a server would not start")


def of_broker(disk: Disk, file: str, settings: BrokerSettings) -> Iterator[Finding]:
    yield from of_problems(settings.warnings, settings.without_effect)
    yield from dangers_of_broker(file, settings)
    if not settings.zookeeper_connect:
        yield note(
            file, "there is no zookeeper.connect: the broker will bring a ZooKeeper of its own"
        )
    for directory in settings.log_dirs:
        yield from of_directory(disk, directory)


def of_zookeeper(disk: Disk, file: str, settings: ZooKeeperSettings) -> Iterator[Finding]:
    yield from of_problems(settings.warnings, settings.without_effect)
    yield from dangers_of_zookeeper(file, settings)
    for directory in dict.fromkeys((settings.data_dir, settings.data_log_dir)):
        yield from of_directory(disk, directory)


def of_problems(
    warnings: Iterable[Problem], without_effect: Iterable[Problem]
) -> Iterator[Finding]:
    for problem in warnings:
        yield warning(place(problem), said(problem))
    for problem in without_effect:
        is_security = any(part in problem.key for part in OF_SECURITY)
        level = wrong if is_security else note
        more = ": nobody is kept out by it" if is_security else ""
        yield level(place(problem), f"{said(problem)}{more}")


def dangers_of_broker(file: str, settings: BrokerSettings) -> Iterator[Finding]:
    """Values that are right, and that someone may come to regret."""
    replicas, in_sync = settings.default_replication_factor, settings.min_insync_replicas
    if settings.unclean_leader_election_enable:
        yield warning(
            file,
            "unclean.leader.election.enable: a replica that lacks records may lead,"
            " and they are lost",
        )
    if in_sync > replicas:
        yield wrong(
            file,
            f"min.insync.replicas={in_sync} is more than default.replication.factor"
            f"={replicas}: no producer with acks=all could write to a new topic",
        )
    elif in_sync == replicas > 1:
        yield warning(
            file, f"min.insync.replicas={in_sync} is all replicas: writes stop when any broker does"
        )
    for listener, told in zip(settings.listeners, settings.advertised_listeners, strict=False):
        if listener.host in EVERYWHERE and told.host in EVERYWHERE:
            yield warning(
                file,
                f"listener {listener.name} is on all addresses, and there is no"
                " advertised.listeners: clients are told this machine's own name",
            )
    for directory in settings.log_dirs:
        yield from of_temporary(file, "log.dirs", directory)


def dangers_of_zookeeper(file: str, settings: ZooKeeperSettings) -> Iterator[Finding]:
    voters = len(settings.voters)
    if not settings.force_sync:
        yield warning(file, "forceSync=no: a loss of power loses what was acknowledged")
    if settings.purge_interval_hours == 0:
        yield warning(file, "autopurge.purgeInterval is 0: snapshots and logs are never removed")
    if settings.snapshot_trust_empty:
        yield warning(
            file, "snapshot.trust.empty: a directory whose snapshots were lost is trusted"
        )
    if voters > 1 and voters % 2 == 0:
        yield note(file, f"{voters} voters survive no more failures than {voters - 1} would")
    yield from of_temporary(file, "dataDir", settings.data_dir)


def of_temporary(file: str, key: str, directory: str) -> Iterator[Finding]:
    if path.abspath(directory).startswith(("/tmp/", "/var/tmp/")):
        yield warning(file, f"{key} is {directory}: what is in there is removed by many systems")


def of_directory(disk: Disk, directory: str) -> Iterator[Finding]:
    """Whether a server could use a directory; its parents may not be there yet."""
    there = path.abspath(directory)
    while not disk.exists(there):
        there = path.dirname(there)
    if not disk.is_directory(there):
        yield wrong(directory, f"{there} is no directory")
        return
    free = disk.free_bytes(there)
    yield good(directory, f"{free / 1024**3:.1f} GiB are free there")


def place(problem: Problem) -> str:
    return problem.file if problem.line is None else f"{problem.file}:{problem.line}"


def said(problem: Problem) -> str:
    value = "" if problem.value is None else f"={problem.value}"
    return f"{problem.key}{value}: {problem.reason}"
