"""Keys that are read, checked and then not acted upon; the server names each that was given.

Whoever makes one of them work takes it out of the set. A name that ends in a dot stands for all
keys that begin so. A server alone need not act upon what is said of an ensemble: nobody is told.
"""

from __future__ import annotations

OF_THE_ENSEMBLE = frozenset(
    {
        "quorumCnxnTimeoutMs",
        "electionPortBindRetry",
        "observerMasterPort",
        "observerMaster.sizeLimit",
        "observer.syncEnabled",
        "syncEnabled",
        "multiAddress.",
        "oraclePath",
        "tcpKeepAlive",
        "leader.maxTimeToWaitForEpoch",
        "leader.maxConcurrentSnapSyncs",
        "leader.maxConcurrentDiffSyncs",
        "forceSnapshotSync",
        "learner.asyncSending",
        "observer.reconnectDelayMs",
        "observer.election.DelayMs",
    }
)

OF_QUORUM_TLS = frozenset(
    {"sslQuorum", "portUnification", "sslQuorumReloadCertFiles", "ssl.quorum."}
)

WITHOUT_EFFECT_YET = OF_THE_ENSEMBLE | frozenset(
    {
        # TLS.
        "secureClientPort",
        "secureClientPortAddress",
        "ssl.",
        "fips-mode",
        "client.certReload",
        "client.portUnification",
        "sslQuorum",
        "portUnification",
        "sslQuorumReloadCertFiles",
        "admin.portUnification",
        "admin.forceHttps",
        "admin.needClientAuth",
        "X509AuthenticationProvider.superUser",
        # SASL, and what else says who a client is.
        "authProvider.",
        "quorum.auth.",
        "quorum.cnxn.threads.size",
        "superUser",
        "allowSaslFailedClients",
        "SASLAuthenticationProvider.superPassword",
        "sessionRequireClientSASLAuth",
        "ensembleAuthName",
        "enforce.auth.enabled",
        "enforce.auth.schemes",
        "java.security.auth.login.config",
        "IPAuthenticationProvider.usexforwardedfor",
    }
)

# What steers the threads, buffers and classes of a JVM has nothing to steer here, and never will.
OF_THE_JVM = frozenset(
    {
        "serverCnxnFactory",
        "watchManagerName",
        "watcherCleanThreadsNum",
        "watcherCleanThreshold",
        "watcherCleanIntervalInSeconds",
        "maxInProcessingDeadWatchers",
        "bitHashCacheSize",
        "netty.",
        "nio.numSelectorThreads",
        "nio.numWorkerThreads",
        "nio.directBufferBytes",
        "nio.shutdownTimeout",
        "commitProcessor.",
        "intBufferStartingSizeBytes",
        "request_throttler.shutdownTimeout",
        "jvm.pause.",
        "jmx.",
        "pathStats.",
        "messageTracker.",
        "leader.nodelay",
        "follower.nodelay",
        "leader.ackLoggingFrequency",
        "leader.closeSocketAsync",
        "learner.closeSocketAsync",
        "follower.skipLearnerRequestToNextProcessor",
        "audit.impl.class",
        "kerberos.",
        "security.",
        "sasl.",
        "forward_learner_requests_to_commit_processor_disabled",
        "requireKerberosConfig",
        "kinit",
        "letAnySaslUserDoX",
        "admin.httpVersion",
        "log.",
        "root.logger",
        "console.threshold",
    }
)


def why_without_effect(key: str, *, is_alone: bool) -> str:
    """Why this key changes nothing; "" if it does, or if a server alone has no use for it."""
    if is_among(key, OF_THE_JVM):
        return "has no effect: it steers the inside of a JVM"
    if is_alone and is_among(key, OF_THE_ENSEMBLE):
        return ""
    if is_among(key, OF_QUORUM_TLS):
        return "has no effect yet: members of an ensemble speak to each other in the clear"
    if is_among(key, WITHOUT_EFFECT_YET):
        return "has no effect yet"
    return ""


def is_among(key: str, names: frozenset[str]) -> bool:
    return key in names or any(name.endswith(".") and key.startswith(name) for name in names)
