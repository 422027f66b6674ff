"""DescribeUserScramCredentials (key 50, version 0): which users have credentials, not which.

Of all users only those that have some are told; a user that was asked for by name and has none is
an error.
"""

from __future__ import annotations

from collections import Counter

from odradek.kafka.admin.entities import escaped, unescaped
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.admin.scram import iterations_of
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from odradek.zookeeper.client.errors import ZooKeeperError


async def describe_user_scram_credentials(
    message: DescribeUserScramCredentialsRequest, request: Request, broker: Broker
) -> DescribeUserScramCredentialsResponse:
    names = [it.name for it in message.users or ()]
    code = ErrorCode.NONE
    try:
        results = await describe(names, broker) if names else await describe_all(broker)
    except ZooKeeperError as error:
        broker.note.warning("credentials cannot be described: %s", error)
        results, code = [], ErrorCode.UNKNOWN_SERVER_ERROR
    return DescribeUserScramCredentialsResponse(
        throttle_time_ms=0, error_code=code, error_message="", results=results
    )


async def describe_all(broker: Broker) -> list[DescribeUserScramCredentialsResult]:
    names = [unescaped(it) for it in await broker.keeper.children("/config/users")]
    users = [await user(name, broker) for name in sorted(it for it in names if it is not None)]
    return [it for it in users if it.error_code != ErrorCode.RESOURCE_NOT_FOUND]


async def describe(names: list[str], broker: Broker) -> list[DescribeUserScramCredentialsResult]:
    results = []
    for name, times in Counter(names).items():
        if not name:
            refusal = Refusal(ErrorCode.RESOURCE_NOT_FOUND, "Username must not be empty")
        elif times > 1:
            reason = f"The same user is asked for twice in a single request: {name}"
            refusal = Refusal(ErrorCode.DUPLICATE_RESOURCE, reason)
        else:
            results.append(await user(name, broker))
            continue
        results.append(result(name, {}, refusal))
    return results


async def user(name: str, broker: Broker) -> DescribeUserScramCredentialsResult:
    texts = await broker.configs.fetch(f"users/{escaped(name)}") or {}
    try:
        iterations = iterations_of(texts)
    except ValueError as error:
        broker.note.warning("user %s has credentials that are none: %s", name, error)
        return result(name, {}, Refusal(ErrorCode.UNKNOWN_SERVER_ERROR))
    if iterations:
        return result(name, iterations, Refusal(ErrorCode.NONE, ""))
    reason = f"Attempt to describe a user credential that does not exist: {name}"
    return result(name, {}, Refusal(ErrorCode.RESOURCE_NOT_FOUND, reason))


def result(
    name: str, iterations: dict[int, int], refusal: Refusal
) -> DescribeUserScramCredentialsResult:
    infos = [CredentialInfo(mechanism=it, iterations=times) for it, times in iterations.items()]
    return DescribeUserScramCredentialsResult(
        user=name,
        error_code=refusal.code,
        error_message=refusal.message,
        credential_infos=infos,
    )
