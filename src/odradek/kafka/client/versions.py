"""Which version of an API to speak: the newest that both sides know.

Some APIs change their meaning from a version on; a client that was not written for it stays
below. Fetch names topics by id from 13 on, and the ids of a deleted topic help nobody who
holds offsets by name. From 4 on FindCoordinator asks about many keys, from 8 on OffsetFetch about
many groups, and AddPartitionsToTxn is for brokers from 4 on.
"""

from __future__ import annotations

from collections.abc import Iterable

from odradek.kafka.client.errors import UnsupportedApi
from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from odradek.kafka.wire.messages.api_versions import ApiVersion
from odradek.kafka.wire.messages.fetch import FetchRequest
from odradek.kafka.wire.messages.find_coordinator import FindCoordinatorRequest
from odradek.kafka.wire.messages.offset_fetch import OffsetFetchRequest
from odradek.kafka.wire.schema import Message

VERSION_MAX: dict[type[Message], int] = {
    FetchRequest: 12,
    FindCoordinatorRequest: 3,
    AddPartitionsToTxnRequest: 3,
    OffsetFetchRequest: 7,
}


class ApiVersions:
    """What one broker has said that it speaks."""

    def __init__(self, advertised: Iterable[ApiVersion]) -> None:
        self._advertised = {api.api_key: (api.min_version, api.max_version) for api in advertised}

    def version_of(self, request: type[Message]) -> int:
        """The version in which to send a request, or `UnsupportedApi`."""
        key = request.__wire__.api_key
        assert key is not None
        ours = APIS[key].versions
        least, most = self._advertised.get(key, (0, -1))
        version = min(most, VERSION_MAX.get(request, ours.last), ours.last)
        if version < max(least, ours.first):
            raise UnsupportedApi(
                f"the broker speaks {APIS[key].name} {least} to {most}, we speak {ours}"
            )
        return version
