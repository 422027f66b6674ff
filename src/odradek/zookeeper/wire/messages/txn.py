"""What is logged, proposed and applied.

An ACL list that is null stands for `world:anyone` with all permissions: such entries are in old
logs.
"""

from __future__ import annotations

from odradek.zookeeper.wire.jute import Bool, Buffer, Int, Long, Record, String, Vector
from odradek.zookeeper.wire.messages.data import AclList


class TxnDigest(Record):
    """The digest of the whole tree once this transaction is applied."""

    version: Int
    tree_digest: Long


class TxnHeader(Record):
    client_id: Long
    cxid: Int
    zxid: Long
    time: Long
    type: Int


class CreateTxnV0(Record):
    path: String
    data: Buffer | None
    acl: AclList
    ephemeral: Bool


class CreateTxn(Record):
    path: String
    data: Buffer | None
    acl: AclList
    ephemeral: Bool
    parent_cversion: Int


class CreateTTLTxn(Record):
    path: String
    data: Buffer | None
    acl: AclList
    parent_cversion: Int
    ttl: Long


class CreateContainerTxn(Record):
    path: String
    data: Buffer | None
    acl: AclList
    parent_cversion: Int


class DeleteTxn(Record):
    path: String


class SetDataTxn(Record):
    path: String
    data: Buffer | None
    version: Int


class CheckVersionTxn(Record):
    path: String
    version: Int


class SetACLTxn(Record):
    path: String
    acl: AclList
    version: Int


class SetMaxChildrenTxn(Record):
    path: String
    max: Int


class CreateSessionTxn(Record):
    time_out: Int


class CloseSessionTxn(Record):
    paths_to_delete: Vector[String]


class ErrorTxn(Record):
    err: Int


class Txn(Record):
    """One part of a multi: `data` is the record that `type` names."""

    type: Int
    data: Buffer


class MultiTxn(Record):
    txns: Vector[Txn]
