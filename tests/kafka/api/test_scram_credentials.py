"""Users get credentials, lose them, and are told to have them."""

from __future__ import annotations

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.kafka.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
    UserName,
)
from tests.kafka.api.administered import Administered, administered


def upsertion(name: str, mechanism: int = 1, iterations: int = 4096) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=name,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"salt",
        salted_password=b"hashed",
    )


def deletion(name: str, mechanism: int = 1) -> ScramCredentialDeletion:
    return ScramCredentialDeletion(name=name, mechanism=mechanism)


async def alter(
    stage: Administered, *alterations: ScramCredentialUpsertion | ScramCredentialDeletion
) -> dict[str, ErrorCode]:
    message = AlterUserScramCredentialsRequest(
        deletions=[it for it in alterations if isinstance(it, ScramCredentialDeletion)],
        upsertions=[it for it in alterations if isinstance(it, ScramCredentialUpsertion)],
    )
    response = await stage.ask(message, 0, AlterUserScramCredentialsResponse)
    return {it.user: ErrorCode(it.error_code) for it in response.results}


async def describe(
    stage: Administered, *names: str
) -> dict[str, DescribeUserScramCredentialsResult]:
    users = [UserName(name=name) for name in names] or None
    message = DescribeUserScramCredentialsRequest(users=users)
    response = await stage.ask(message, 0, DescribeUserScramCredentialsResponse)
    assert response.error_code == ErrorCode.NONE
    return {it.user: it for it in response.results}


@administered()
async def test_credentials_are_kept_and_told_without_being_shown(stage: Administered) -> None:
    done = await alter(stage, upsertion("bob"), upsertion("al ice"), upsertion("bob", 2, 5000))
    assert done == {"bob": ErrorCode.NONE, "al ice": ErrorCode.NONE}
    described = await describe(stage)
    assert list(described) == ["al ice", "bob"]
    infos = [(it.mechanism, it.iterations) for it in described["bob"].credential_infos]
    assert infos == [(1, 4096), (2, 5000)]
    assert await stage.broker.keeper.children("/config/users") == ["al%20ice", "bob"]
    kept = await stage.broker.configs.fetch("users/bob")
    assert kept is not None and kept.keys() == {"SCRAM-SHA-256", "SCRAM-SHA-512"}


@administered()
async def test_credentials_are_taken_away(stage: Administered) -> None:
    await alter(stage, upsertion("bob"))
    assert await alter(stage, deletion("bob")) == {"bob": ErrorCode.NONE}
    assert await describe(stage) == {}
    assert await alter(stage, deletion("bob")) == {"bob": ErrorCode.RESOURCE_NOT_FOUND}


@administered()
async def test_each_user_is_refused_for_its_own_reason(stage: Administered) -> None:
    done = await alter(
        stage,
        upsertion(""),
        upsertion("few", 1, 1),
        upsertion("odd", 9),
        upsertion("twice"),
        deletion("twice"),
        upsertion("good"),
    )
    assert done == {
        "": ErrorCode.UNACCEPTABLE_CREDENTIAL,
        "few": ErrorCode.UNACCEPTABLE_CREDENTIAL,
        "odd": ErrorCode.UNSUPPORTED_SASL_MECHANISM,
        "twice": ErrorCode.DUPLICATE_RESOURCE,
        "good": ErrorCode.NONE,
    }
    assert list(await describe(stage)) == ["good"]


@administered()
async def test_who_is_asked_for_by_name_and_has_none_is_an_error(stage: Administered) -> None:
    await alter(stage, upsertion("bob"))
    described = await describe(stage, "bob", "nobody", "me", "me", "")
    assert {name: ErrorCode(it.error_code) for name, it in described.items()} == {
        "bob": ErrorCode.NONE,
        "nobody": ErrorCode.RESOURCE_NOT_FOUND,
        "me": ErrorCode.DUPLICATE_RESOURCE,
        "": ErrorCode.RESOURCE_NOT_FOUND,
    }
