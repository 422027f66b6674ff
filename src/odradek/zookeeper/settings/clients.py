"""How clients are served: ports, sessions, limits, four-letter words."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import BOOLEAN, INT, LIST, STRING
from odradek.zookeeper.settings.kinds import PORT, PROPERTY_INT, PROPERTY_LONG
from odradek.zookeeper.settings.throttles import ThrottleSettings

SESSION_TICKS_MIN = 2
SESSION_TICKS_MAX = 20
ALL_WORDS = "*"


class ListeningSettings(Chapter):
    """Where clients connect, and how many may."""

    client_port: int | None = setting("clientPort", PORT, default=None)
    client_port_address: str | None = setting("clientPortAddress", STRING, default=None)
    secure_client_port: int | None = setting("secureClientPort", PORT, default=None)
    secure_client_port_address: str | None = setting(
        "secureClientPortAddress", STRING, default=None
    )
    # -1 leaves the length of the queue to the system.
    client_port_listen_backlog: int = setting("clientPortListenBacklog", INT, default=-1)
    max_client_cnxns: int = setting("maxClientCnxns", INT, default=60)  # An address; 0 is no limit.
    max_cnxns: int = setting("maxCnxns", PROPERTY_INT, default=0)  # In all; 0 is no limit.
    client_tcp_keep_alive: bool = setting("clientTcpKeepAlive", BOOLEAN, default=False)
    sessionless_cnxn_timeout_ms: int = setting(
        "nio.sessionlessCnxnTimeout", PROPERTY_INT, default=10_000
    )
    server_cnxn_factory: str | None = setting("serverCnxnFactory", STRING, default=None)

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if self.client_port_address is not None and self.client_port is None:
            yield "clientPortAddress", "needs a clientPort"
        if self.secure_client_port_address is not None and self.secure_client_port is None:
            yield "secureClientPortAddress", "needs a secureClientPort"


class SessionSettings(Chapter):
    """How long a silent client is believed to be alive."""

    tick_time_ms: int = setting("tickTime", INT.at_least(1), default=3000)
    given_min_session_timeout_ms: int = setting("minSessionTimeout", INT, default=-1)
    given_max_session_timeout_ms: int = setting("maxSessionTimeout", INT, default=-1)
    local_sessions_enabled: bool = setting("localSessionsEnabled", BOOLEAN, default=False)
    local_sessions_upgrading_enabled: bool = setting(
        "localSessionsUpgradingEnabled", BOOLEAN, default=False
    )
    close_session_txn_enabled: bool = setting("closeSessionTxn.enabled", BOOLEAN, default=True)

    @property
    def min_session_timeout_ms(self) -> int:
        given = self.given_min_session_timeout_ms
        return SESSION_TICKS_MIN * self.tick_time_ms if given == -1 else given

    @property
    def max_session_timeout_ms(self) -> int:
        given = self.given_max_session_timeout_ms
        return SESSION_TICKS_MAX * self.tick_time_ms if given == -1 else given

    def disagreements(self) -> Iterator[tuple[str, str]]:
        low, high = self.min_session_timeout_ms, self.max_session_timeout_ms
        if low > high:
            yield "minSessionTimeout", f"is {low}, larger than maxSessionTimeout, which is {high}"


class RequestSettings(Chapter):
    """What a request may weigh, and how many may be under way."""

    jute_max_buffer_bytes: int = setting(
        "jute.maxbuffer", PROPERTY_INT.at_least(1), default=0xFFFFF
    )
    given_jute_extra_bytes: int | None = setting(
        "jute.maxbuffer.extrasize", PROPERTY_INT, default=None
    )
    global_outstanding_limit: int = setting("globalOutstandingLimit", PROPERTY_INT, default=1000)
    large_request_max_bytes: int = setting(
        "largeRequestMaxBytes", PROPERTY_INT, default=100 * 1024 * 1024
    )
    large_request_threshold_bytes: int = setting("largeRequestThreshold", PROPERTY_INT, default=-1)
    max_response_cache_size: int = setting("maxResponseCacheSize", PROPERTY_INT, default=400)
    max_get_children_response_cache_size: int = setting(
        "maxGetChildrenResponseCacheSize", PROPERTY_INT, default=400
    )
    flush_delay_ms: int = setting("flushDelay", PROPERTY_LONG, default=0)
    given_max_write_queue_poll_time_ms: int | None = setting(
        "maxWriteQueuePollTime", PROPERTY_LONG, default=None
    )
    max_batch_size: int = setting("maxBatchSize", PROPERTY_INT, default=1000)
    watch_manager_name: str | None = setting("watchManagerName", STRING, default=None)

    @property
    def jute_extra_bytes(self) -> int:
        """What our own records may add to a client's data before a frame is too long."""
        given = self.given_jute_extra_bytes
        return max(1024, self.jute_max_buffer_bytes if given is None else given)

    @property
    def max_write_queue_poll_time_ms(self) -> int:
        given = self.given_max_write_queue_poll_time_ms
        return self.flush_delay_ms // 3 if given is None else given


class FourLetterSettings(Chapter):
    """Which four-letter words are answered, and whether a cut-off server is read from."""

    given_four_letter_words: tuple[str, ...] = setting("4lw.commands.whitelist", LIST, default=())
    read_only_mode_enabled: bool = setting("readonlymode.enabled", BOOLEAN, default=False)

    def is_word_allowed(self, word: str) -> bool:
        """Two are always needed: `srvr` by zkServer.sh, `isro` by clients that read only."""
        given = self.given_four_letter_words
        if word == "srvr" or (word == "isro" and self.read_only_mode_enabled):
            return True
        return ALL_WORDS in given or word in given


class ClientSettings(
    ListeningSettings, SessionSettings, RequestSettings, ThrottleSettings, FourLetterSettings
):
    """All that a client may notice."""

    def disagreements(self) -> Iterator[tuple[str, str]]:
        yield from ListeningSettings.disagreements(self)
        yield from SessionSettings.disagreements(self)
