"""Files to read settings from: a sample, an ensemble, and every key that there is."""

from __future__ import annotations

import pytest

from odradek.runtime.properties import Properties
from odradek.runtime.settings import SettingsRefused
from odradek.zookeeper.settings import ZooKeeperSettings
from odradek.zookeeper.settings.system_properties import beneath, from_file, from_jvm_flags

SAMPLE = """\
# How long a tick is, in milliseconds.
tickTime=2000
# How many ticks a follower may take to join, and to answer.
initLimit=10
syncLimit=5
dataDir=/var/lib/zookeeper
clientPort=2181
#maxClientCnxns=60
#autopurge.snapRetainCount=3
#metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider
"""

# Each key, a value that is not its default, and the field that holds it.
CORE = """\
tickTime                                  500          tick_time_ms
dataDir                                   /data        data_dir
dataLogDir                                /log         data_log_dir
clientPort                                2181         client_port
clientPortAddress                         ::1          client_port_address
secureClientPort                          2182         secure_client_port
secureClientPortAddress                   ::1          secure_client_port_address
clientPortListenBacklog                   7            client_port_listen_backlog
maxClientCnxns                            0            max_client_cnxns
maxCnxns                                  9            max_cnxns
minSessionTimeout                         600          min_session_timeout_ms
maxSessionTimeout                         700          max_session_timeout_ms
autopurge.snapRetainCount                 5            snap_retain_count
autopurge.purgeInterval                   24           purge_interval_hours
4lw.commands.whitelist                    ruok,mntr    given_four_letter_words
extendedTypesEnabled                      true         extended_types_enabled
globalOutstandingLimit                    10           global_outstanding_limit
preAllocSize                              64           pre_alloc_size_kib
snapCount                                 1000         snap_count
commitLogCount                            600          commit_log_count
snapSizeLimitInKb                         2            snap_size_limit_kib
txnLogSizeLimitInKb                       3            txn_log_size_limit_kib
forceSync                                 no           force_sync
fsync.warningthresholdms                  20           fsync_warning_threshold_ms
jute.maxbuffer                            4194303      jute_max_buffer_bytes
maxResponseCacheSize                      1            max_response_cache_size
maxGetChildrenResponseCacheSize           2            max_get_children_response_cache_size
flushDelay                                4            flush_delay_ms
maxWriteQueuePollTime                     3            max_write_queue_poll_time_ms
maxBatchSize                              2            max_batch_size
enforceQuota                              true         enforce_quota
digest.enabled                            false        digest_enabled
serializeLastProcessedZxid.enabled        false        serialize_last_processed_zxid_enabled
closeSessionTxn.enabled                   false        close_session_txn_enabled
snapshot.compression.method               gz           snapshot_compression
snapshot.trust.empty                      true         snapshot_trust_empty
skipACL                                   yes          skip_acl
readonlymode.enabled                      true         read_only_mode_enabled
znode.container.checkIntervalMs           100          container_check_interval_ms
znode.container.maxPerMinute              60           container_max_per_minute
znode.container.maxNeverUsedIntervalMs    5            container_max_never_used_interval_ms
audit.enable                              true         audit_enabled
largeRequestMaxBytes                      99           large_request_max_bytes
largeRequestThreshold                     98           large_request_threshold_bytes
watchManagerName                          a.B          watch_manager_name
tcpKeepAlive                              true         tcp_keep_alive
clientTcpKeepAlive                        true         client_tcp_keep_alive
serverCnxnFactory                         a.Netty      server_cnxn_factory
requestThrottleLimit                      5            request_throttle_limit
requestThrottleStallTime                  6            request_throttle_stall_time_ms
requestThrottleDropStale                  false        request_throttle_drop_stale
connectionMaxTokens                       7            connection_max_tokens
connectionTokenFillTime                   8            connection_token_fill_time_ms
connectionTokenFillCount                  9            connection_token_fill_count
connectionFreezeTime                      10           connection_freeze_time_ms
connectionDropIncrease                    0.5          connection_drop_increase
connectionDropDecrease                    0.25         connection_drop_decrease
admin.enableServer                        false        admin_enabled
admin.serverAddress                       ::1          admin_address
admin.serverPort                          8888         admin_port
admin.idleTimeout                         9            admin_idle_timeout_ms
"""
ENSEMBLE = """\
initLimit                                 10           init_limit
syncLimit                                 5            sync_limit
connectToLearnerMasterLimit               4            connect_to_learner_master_limit
electionAlg                               3            election_alg
leaderServes                              no           leader_serves
cnxTimeout                                100          cnx_timeout_ms
quorumCnxnTimeoutMs                       200          quorum_cnxn_timeout_ms
electionPortBindRetry                     0            election_port_bind_retry
peerType                                  observer     given_peer_type
observerMasterPort                        2191         observer_master_port
syncEnabled                               false        sync_enabled
standaloneEnabled                         false        standalone_enabled
reconfigEnabled                           true         reconfig_enabled
localSessionsEnabled                      true         local_sessions_enabled
localSessionsUpgradingEnabled             true         local_sessions_upgrading_enabled
quorumListenOnAllIPs                      true         quorum_listen_on_all_ips
multiAddress.enabled                      true         multi_address_enabled
sslQuorum                                 true         ssl_quorum
portUnification                           true         port_unification
quorum.auth.enableSasl                    true         quorum_sasl_enabled
quorum.auth.learnerRequireSasl            true         quorum_learner_require_sasl
quorum.auth.serverRequireSasl             true         quorum_server_require_sasl
quorum.auth.kerberos.servicePrincipal     zk/me        quorum_service_principal
fastleader.minNotificationInterval        20           min_notification_interval_ms
fastleader.maxNotificationInterval        600          max_notification_interval_ms
leader.maxConcurrentSnapSyncs             1            max_concurrent_snap_syncs
leader.maxConcurrentDiffSyncs             2            max_concurrent_diff_syncs
learner.asyncSending                      true         learner_async_sending
observer.reconnectDelayMs                 3            observer_reconnect_delay_ms
observer.election.DelayMs                 4            observer_election_delay_ms
"""
SECURITY = """\
ssl.keyStore.location                     /k.jks       ssl_key_store_location
ssl.keyStore.password                     hunter1      ssl_key_store_password
ssl.keyStore.type                         JKS          ssl_key_store_type
ssl.trustStore.location                   /t.jks       ssl_trust_store_location
ssl.trustStore.password                   hunter2      ssl_trust_store_password
ssl.trustStore.type                       PEM          ssl_trust_store_type
ssl.protocol                              TLSv1.2      ssl_protocol
ssl.clientAuth                            want         ssl_client_auth
ssl.hostnameVerification                  false        ssl_hostname_verification
ssl.crl                                   true         ssl_crl
ssl.ocsp                                  true         ssl_ocsp
client.portUnification                    true         client_port_unification
DigestAuthenticationProvider.superDigest  hunter3      super_digest
DigestAuthenticationProvider.digestAlg    SHA256       digest_algorithm
sessionRequireClientSASLAuth              true         session_require_client_sasl_auth
enforce.auth.enabled                      true         enforce_auth_enabled
enforce.auth.schemes                      digest,sasl  enforce_auth_schemes
metricsProvider.className                 a.Metrics    metrics_provider_class
metricsProvider.httpPort                  7001         metrics_http_port
"""
PREFIXED = "group.1=1\ngroup.2=2\nweight.1=2\nauthProvider.sasl=a.Sasl\n"
OBSERVER_AND_VOTER = "server.1=a:1:2:observer|b:1:2\nserver.2=c:1:2\ndataDir/myid=1\n"
ROWS = [line.split() for line in (CORE + ENSEMBLE + SECURITY).splitlines()]
MEANINGS = {"yes": {"true"}, "no": {"false"}}
KEYS = ["dynamicConfigFile", *(row[0] for row in ROWS)] + [
    line.partition("=")[0] for line in PREFIXED.splitlines()
]

THREE = """\
initLimit=10
syncLimit=5
server.1=a:2888:3888
server.2=b:2888:3888
server.3=c:2888:3888
dataDir/myid=2
"""


def read(text: str, jvm_flags: str = "") -> ZooKeeperSettings:
    file = from_file(Properties.parse(text.encode(), "zoo.cfg"))
    return ZooKeeperSettings(beneath(from_jvm_flags(jvm_flags), file))


def small(text: str = "", jvm_flags: str = "") -> ZooKeeperSettings:
    """Settings that could be used; what matters begins on line 3."""
    return read("dataDir=/data\nclientPort=2181\n" + text, jvm_flags)


def refused(text: str, jvm_flags: str = "") -> list[str]:
    with pytest.raises(SettingsRefused) as caught:
        small(text, jvm_flags)
    return [str(problem) for problem in caught.value.problems]
