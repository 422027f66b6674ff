"""ApiVersions (key 18, versions 0-4): what this broker speaks.

From v3 on a client says what it is, and a name that no software has is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)

FIRST_WITH_NAMES = 3
SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?")


def answer_api_versions(
    message: ApiVersionsRequest, version: int, served: Iterable[int], features_epoch: int
) -> ApiVersionsResponse:
    """List the served apis with all versions that their messages have."""
    names = message.client_software_name, message.client_software_version
    if version >= FIRST_WITH_NAMES and not all(map(SOFTWARE.fullmatch, names)):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
    return ApiVersionsResponse(
        error_code=0,
        api_keys=[
            ApiVersion(
                api_key=key,
                min_version=APIS[key].versions.first,
                max_version=APIS[key].versions.last,
            )
            for key in sorted(served)
        ],
        finalized_features_epoch=features_epoch,
    )
