"""The three ways in which a key is given, made one.

ZooKeeper has keys of its own, read from the file alone, and everything else is a system property
of its JVM: `snapCount` in the file and `-Dzookeeper.snapCount` among the flags are the same, and
the file wins. We call both by the name in the file. A few properties lack the `zookeeper.`, and
ZooKeeper reads those from the flags alone; we read them from either, and say so.
"""

from __future__ import annotations

import shlex
from dataclasses import replace

from odradek.runtime.properties import Entry, Problem, Properties

FLAGS_SOURCE = "SERVER_JVMFLAGS"
PREFIX = "zookeeper."

OWN_KEYS = frozenset(
    {
        "dataDir",
        "dataLogDir",
        "clientPort",
        "clientPortAddress",
        "secureClientPort",
        "secureClientPortAddress",
        "clientPortListenBacklog",
        "maxClientCnxns",
        "tickTime",
        "minSessionTimeout",
        "maxSessionTimeout",
        "localSessionsEnabled",
        "localSessionsUpgradingEnabled",
        "initLimit",
        "syncLimit",
        "connectToLearnerMasterLimit",
        "electionAlg",
        "quorumListenOnAllIPs",
        "peerType",
        "syncEnabled",
        "observerMasterPort",
        "dynamicConfigFile",
        "version",
        "standaloneEnabled",
        "reconfigEnabled",
        "oraclePath",
        "autopurge.snapRetainCount",
        "autopurge.purgeInterval",
        "sslQuorum",
        "portUnification",
        "sslQuorumReloadCertFiles",
        "quorum.auth.enableSasl",
        "quorum.auth.serverRequireSasl",
        "quorum.auth.learnerRequireSasl",
        "quorum.auth.learner.saslLoginContext",
        "quorum.auth.server.saslLoginContext",
        "quorum.auth.kerberos.servicePrincipal",
        "quorum.cnxn.threads.size",
        "jvm.pause.monitor",
        "jvm.pause.sleep.time.ms",
        "jvm.pause.warn-threshold.ms",
        "jvm.pause.info-threshold.ms",
    }
)
OWN_PREFIXES = ("server.", "group.", "weight.", "metricsProvider.")

# Without the prefix ZooKeeper does not find these in the file, which adds it to all.
FLAGS_ONLY = frozenset(
    {
        "jute.maxbuffer",
        "readonlymode.enabled",
        "java.security.auth.login.config",
        "znode.container.checkIntervalMs",
        "znode.container.maxPerMinute",
        "znode.container.maxNeverUsedIntervalMs",
        "leader.nodelay",
        "follower.nodelay",
    }
)
UNPREFIXED = FLAGS_ONLY | frozenset(
    {
        "fsync.warningthresholdms",
        "learner.asyncSending",
        "learner.closeSocketAsync",
        "leader.closeSocketAsync",
    }
)


def from_file(properties: Properties) -> Properties:
    """The entries of a zoo.cfg by their short names."""
    named = Properties(properties.file, problems=properties.problems)
    named.warnings += properties.warnings
    for key, entry in properties.entries.items():
        if reason := why_unseen(key):
            named.warnings.append(Problem(reason, entry.key, entry.file, entry.line))
        put(named, short_name(key), entry)
    return named


def from_jvm_flags(flags: str) -> Properties:
    """The `-Dname=value` among the flags; others are the JVM's own business."""
    named = Properties(FLAGS_SOURCE)
    try:
        words = split_words(flags)
    except ValueError as error:
        named.problems.append(Problem(str(error), "-D", FLAGS_SOURCE))
        return named
    given = [word[2:].partition("=") for word in words if word.startswith("-D")]
    # Given both ways, the name with the prefix wins, so it comes last.
    for name, _, value in sorted(given, key=lambda it: it[0].startswith(PREFIX)):
        named.entries[flag_key(name)] = Entry(f"-D{name}", value, FLAGS_SOURCE)
    return named


def flag_key(name: str) -> str:
    """A property that nobody reads keeps its -D, lest it be taken for a key of the file."""
    if name in UNPREFIXED:
        return name
    return short_name(name) if name.startswith(PREFIX) else f"-D{name}"


def beneath(flags: Properties, file: Properties) -> Properties:
    """Both together; the file wins, and gives its name."""
    return replace(flags.overridden_by(file), file=file.file)


def split_words(flags: str) -> list[str]:
    """Words as a shell would part them. A backslash is left alone, for zkServer.sh does so."""
    lexer = shlex.shlex(flags, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = lexer.escape = ""
    try:
        return list(lexer)
    except ValueError:
        raise ValueError("a quotation mark among the flags is not closed") from None


def short_name(key: str) -> str:
    short = key.removeprefix(PREFIX)
    return key if short in OWN_KEYS or short.startswith(OWN_PREFIXES) else short


def why_unseen(key: str) -> str:
    """Why ZooKeeper itself would not see what this key in the file means to us, if so."""
    if key in FLAGS_ONLY:
        return f"ZooKeeper itself takes this only from {FLAGS_SOURCE}, as -D{key}"
    if key.startswith(PREFIX) and short_name(key) != key:
        return f"ZooKeeper itself knows this in the file only as {short_name(key)}"
    return ""


def put(properties: Properties, key: str, entry: Entry) -> None:
    if earlier := properties.entries.get(key):
        reason = f"given before as {earlier.key}, on line {earlier.line}; the last one counts"
        properties.warnings.append(Problem(reason, entry.key, entry.file, entry.line))
    properties.entries[key] = entry
