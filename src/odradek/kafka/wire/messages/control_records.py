"""Control records: the markers that end transactions, and what KRaft logs hold besides."""

from __future__ import annotations

from odradek.kafka.wire.schema import (
    Int16,
    Int32,
    Int64,
    Message,
    String,
    Struct,
    Uint16,
    Uuid,
    field,
)


class LeaderChangeMessageVoter(Struct):
    voter_id: Int32
    voter_directory_id: Uuid = field("1+")


class LeaderChangeMessage(Message, versions="0-1", flexible="0+"):
    version: Int16
    leader_id: Int32
    voters: list[LeaderChangeMessageVoter]
    granting_voters: list[LeaderChangeMessageVoter]


class SnapshotHeaderRecord(Message, versions="0", flexible="0+"):
    version: Int16
    last_contained_log_timestamp: Int64


class SnapshotFooterRecord(Message, versions="0", flexible="0+"):
    version: Int16


class KRaftVersionRecord(Message, versions="0", flexible="0+"):
    version: Int16
    kraft_version: Int16


class Endpoint(Struct):
    name: String
    host: String
    port: Uint16


class KRaftVersionFeature(Struct):
    min_supported_version: Int16
    max_supported_version: Int16


class VotersRecordVoter(Struct):
    voter_id: Int32
    voter_directory_id: Uuid
    endpoints: list[Endpoint]
    kraft_version_feature: KRaftVersionFeature


class VotersRecord(Message, versions="0", flexible="0+"):
    version: Int16
    voters: list[VotersRecordVoter]


class ControlRecordKey(Message, versions="0"):
    version: Int16
    type: Int16


class EndTransactionMarkerValue(Message, versions="0"):
    version: Int16
    coordinator_epoch: Int32
