"""How a failed append is told to a client: as something that it knows what to do about."""

from __future__ import annotations

from odradek.kafka.wire.errors import ErrorCode

_UNAVAILABLE = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    }
)
_ELSEWHERE = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR})
_TOO_LARGE = frozenset(
    {
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.INVALID_FETCH_SIZE,
    }
)


def store_group_error(error: ErrorCode) -> ErrorCode:
    """For members whose group could not be stored."""
    if error is ErrorCode.REQUEST_TIMED_OUT:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return _store_error(error, too_large=ErrorCode.UNKNOWN_SERVER_ERROR)


def commit_error(error: ErrorCode) -> ErrorCode:
    """For offsets that could not be stored."""
    if error is ErrorCode.NETWORK_EXCEPTION:
        # From asking the transaction coordinator. Older clients know how to wait for a load.
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return _store_error(error, too_large=ErrorCode.INVALID_COMMIT_OFFSET_SIZE)


def _store_error(error: ErrorCode, *, too_large: ErrorCode) -> ErrorCode:
    if error in _UNAVAILABLE:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if error in _ELSEWHERE:
        return ErrorCode.NOT_COORDINATOR
    return too_large if error in _TOO_LARGE else error
