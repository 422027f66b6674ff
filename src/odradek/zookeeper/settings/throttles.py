"""How a crowd is slowed down."""

from __future__ import annotations

from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import Alias, setting
from odradek.runtime.kinds import BOOLEAN, DOUBLE
from odradek.zookeeper.settings.kinds import PROPERTY_INT


class ThrottleSettings(Chapter):
    """The manual's names are not those that the server reads: we take both."""

    request_throttle_limit: int = setting(
        "request_throttle_max_requests",
        PROPERTY_INT,
        default=0,
        otherwise=[Alias("requestThrottleLimit")],
    )
    request_throttle_stall_time_ms: int = setting(
        "request_throttle_stall_time",
        PROPERTY_INT,
        default=100,
        otherwise=[Alias("requestThrottleStallTime")],
    )
    request_throttle_drop_stale: bool = setting(
        "request_throttle_drop_stale",
        BOOLEAN,
        default=True,
        otherwise=[Alias("requestThrottleDropStale")],
    )
    request_stale_latency_check: bool = setting(
        "request_stale_latency_check",
        BOOLEAN,
        default=False,
        otherwise=[Alias("requestStaleLatencyCheck")],
    )
    request_stale_connection_check: bool = setting(
        "request_stale_connection_check",
        BOOLEAN,
        default=True,
        otherwise=[Alias("requestStaleConnectionCheck")],
    )
    throttled_op_wait_time_ms: int = setting(
        "throttled_op_wait_time", PROPERTY_INT, default=0, otherwise=[Alias("throttledOpWaitTime")]
    )
    connection_max_tokens: int = setting(
        "connection_throttle_tokens",
        PROPERTY_INT,
        default=0,
        otherwise=[Alias("connectionMaxTokens")],
    )
    connection_token_fill_time_ms: int = setting(
        "connection_throttle_fill_time",
        PROPERTY_INT,
        default=1,
        otherwise=[Alias("connectionTokenFillTime")],
    )
    connection_token_fill_count: int = setting(
        "connection_throttle_fill_count",
        PROPERTY_INT,
        default=1,
        otherwise=[Alias("connectionTokenFillCount")],
    )
    connection_freeze_time_ms: int = setting(
        "connection_throttle_freeze_time",
        PROPERTY_INT,
        default=-1,
        otherwise=[Alias("connectionFreezeTime")],
    )
    connection_drop_increase: float = setting(
        "connection_throttle_drop_increase",
        DOUBLE.between(0, 1),
        default=0.02,
        otherwise=[Alias("connectionDropIncrease")],
    )
    connection_drop_decrease: float = setting(
        "connection_throttle_drop_decrease",
        DOUBLE.between(0, 1),
        default=0.002,
        otherwise=[Alias("connectionDropDecrease")],
    )
    connection_decrease_ratio: float = setting(
        "connection_throttle_decrease_ratio",
        DOUBLE.between(0, 1),
        default=0.0,
        otherwise=[Alias("connectionDecreaseRatio")],
    )
    connection_weight_enabled: bool = setting(
        "connection_throttle_weight_enabled", BOOLEAN, default=False
    )
    connection_global_session_weight: int = setting(
        "connection_throttle_global_session_weight", PROPERTY_INT, default=3
    )
    connection_local_session_weight: int = setting(
        "connection_throttle_local_session_weight", PROPERTY_INT, default=1
    )
    connection_renew_session_weight: int = setting(
        "connection_throttle_renew_session_weight", PROPERTY_INT, default=2
    )
