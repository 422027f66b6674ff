"""Errors of one conversation as another must hear them.

A coordinator's client does not know of replicas and logs, an old client does not know the newer
errors, and a producer does not know that its leader asked a coordinator.
"""

from __future__ import annotations

from odradek.kafka.wire.errors import ErrorCode

_OF_APPENDS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
_UNVERIFIED_FOR_NOW = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
# InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn: since when clients know error 90.
_KNOW_FENCED_FROM = {22: 4, 24: 2, 25: 2, 26: 2}

# What brokers answer to WriteTxnMarkers. A partition of an old format has no transactions.
MARKER_NOT_NEEDED = frozenset(
    {ErrorCode.NONE, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.UNSUPPORTED_VERSION}
)
MARKER_FENCED = frozenset(
    {ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED}
)


def of_append(code: ErrorCode) -> ErrorCode:
    """A failed append to `__transaction_state`, as the coordinator's client hears it."""
    return _OF_APPENDS.get(code, code)


def for_version(code: ErrorCode, api_key: int, version: int) -> ErrorCode:
    """An answer of the coordinator, as a client of this version of the API understands it."""
    if code is ErrorCode.PRODUCER_FENCED and version < _KNOW_FENCED_FROM.get(api_key, 0):
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code


def of_verification(code: ErrorCode, *, knows_abortable: bool) -> ErrorCode:
    """A verification's error, as the leader of the partition takes it."""
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        return ErrorCode.INVALID_TXN_STATE  # That is between the brokers.
    if code is ErrorCode.TRANSACTION_ABORTABLE and not knows_abortable:
        return ErrorCode.INVALID_TXN_STATE
    return code


def for_producer(code: ErrorCode) -> ErrorCode:
    """That error in the answer to Produce: one on which every client tries again, if it may."""
    return ErrorCode.NOT_ENOUGH_REPLICAS if code in _UNVERIFIED_FOR_NOW else code
