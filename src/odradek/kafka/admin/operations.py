"""What may be done to a topic, a group or a cluster, as a field of bits: bit n is operation n.

Without an authorizer everybody may do everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

NOT_ASKED = -(2**31)


class AclOperation(IntEnum):
    """An operation, as a number that travels."""

    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


def bits(operations: Iterable[AclOperation]) -> int:
    return sum(1 << operation for operation in operations)


ALL_OF_A_TOPIC = bits(
    (
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.CREATE,
        AclOperation.DELETE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
    )
)
ALL_OF_A_GROUP = bits((AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE))
ALL_OF_A_CLUSTER = bits(
    (
        AclOperation.CREATE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.CLUSTER_ACTION,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
        AclOperation.IDEMPOTENT_WRITE,
    )
)
