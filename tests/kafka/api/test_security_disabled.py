"""Without an authorizer there are no access rules, and without logins no tokens."""

from __future__ import annotations

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
)
from odradek.kafka.wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from odradek.kafka.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from odradek.kafka.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from odradek.kafka.wire.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from odradek.kafka.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from odradek.kafka.wire.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from tests.kafka.api.administered import Administered, administered

DISABLED = ErrorCode.SECURITY_DISABLED
NOT_ALLOWED = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


@administered()
async def test_rules_are_refused_in_every_version(stage: Administered) -> None:
    creation = AclCreation(
        resource_type=2,
        resource_name="t",
        principal="User:a",
        host="*",
        operation=3,
        permission_type=3,
    )
    wanted = DeleteAclsFilter(
        resource_type_filter=1,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    describe = DescribeAclsRequest(
        resource_type_filter=1,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    for version in range(4):
        described = await stage.ask(describe, version, DescribeAclsResponse)
        assert (described.error_code, described.resources) == (DISABLED, [])
        assert described.error_message
        create = CreateAclsRequest(creations=[creation, creation])
        created = await stage.ask(create, version, CreateAclsResponse)
        assert [it.error_code for it in created.results] == [DISABLED, DISABLED]
        delete = DeleteAclsRequest(filters=[wanted])
        deleted = await stage.ask(delete, version, DeleteAclsResponse)
        assert [it.error_code for it in deleted.filter_results] == [DISABLED]


@administered()
async def test_tokens_are_refused_to_who_has_not_logged_in(stage: Administered) -> None:
    for version in range(4):
        create = CreateDelegationTokenRequest(
            owner_principal_type="User" if version > 2 else "",
            owner_principal_name="alice" if version > 2 else "",
            renewers=[],
            max_lifetime_ms=1,
        )
        created = await stage.ask(create, version, CreateDelegationTokenResponse)
        assert (created.error_code, created.hmac) == (NOT_ALLOWED, b"")
        describe = DescribeDelegationTokenRequest(owners=None)
        described = await stage.ask(describe, version, DescribeDelegationTokenResponse)
        assert (described.error_code, described.tokens) == (NOT_ALLOWED, [])
    for version in range(3):
        renew = RenewDelegationTokenRequest(hmac=b"x", renew_period_ms=1)
        renewed = await stage.ask(renew, version, RenewDelegationTokenResponse)
        assert (renewed.error_code, renewed.expiry_timestamp_ms) == (NOT_ALLOWED, -1)
        expire = ExpireDelegationTokenRequest(hmac=b"x", expiry_time_period_ms=1)
        expired = await stage.ask(expire, version, ExpireDelegationTokenResponse)
        assert (expired.error_code, expired.expiry_timestamp_ms) == (NOT_ALLOWED, -1)
