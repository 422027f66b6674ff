"""AlterUserScramCredentials (key 51, version 0): set and remove the credentials of users."""

from __future__ import annotations

from odradek.kafka.admin.entities import Entity
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.admin.scram import Alteration, decide_credentials, refuse_alterations
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.clients import write_entity
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from odradek.zookeeper.client.errors import ZooKeeperError


async def alter_user_scram_credentials(
    message: AlterUserScramCredentialsRequest, request: Request, broker: Broker
) -> AlterUserScramCredentialsResponse:
    alterations: list[Alteration] = [*message.deletions, *message.upsertions]
    by_user: dict[str, list[Alteration]] = {}
    for it in alterations:
        by_user.setdefault(it.name, []).append(it)
    if broker.controller.is_active:
        outcomes = refuse_alterations(alterations)
    else:
        outcomes = dict.fromkeys(by_user, Refusal(ErrorCode.NOT_CONTROLLER))
    for user, theirs in by_user.items():
        if user not in outcomes:
            outcomes[user] = await alter_user(user, theirs, broker)
    return AlterUserScramCredentialsResponse(
        throttle_time_ms=0,
        results=[
            AlterUserScramCredentialsResult(user=user, error_code=it.code, error_message=it.message)
            for user, it in outcomes.items()
        ],
    )


async def alter_user(user: str, alterations: list[Alteration], broker: Broker) -> Refusal:
    entity = Entity(user=user)
    try:
        texts = await broker.configs.fetch(entity.path) or {}
        decided = decide_credentials(texts, alterations)
        if isinstance(decided, Refusal):
            return decided
        await write_entity(broker, entity, decided)
    except ZooKeeperError as error:
        broker.note.warning("the credentials of %s may not be altered: %s", user, error)
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
    return Refusal(ErrorCode.NONE, "")
