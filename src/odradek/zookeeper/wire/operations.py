"""What each operation looks like: asked, answered and logged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages import requests, responses, session, txn
from odradek.zookeeper.wire.multi import MultiReadRequest, MultiRequest, MultiResponse

Body = Record | MultiRequest | MultiResponse


class Operation(NamedTuple):
    """The bodies of one operation; None is no body at all."""

    request: type[Record] | type[MultiRequest] | None = None
    response: type[Record] | type[MultiResponse] | None = None
    txn: type[Record] | None = None


BY_CLIENTS: Mapping[int, Operation] = {
    Op.CREATE: Operation(requests.CreateRequest, responses.CreateResponse, txn.CreateTxn),
    Op.DELETE: Operation(requests.DeleteRequest, None, txn.DeleteTxn),
    Op.EXISTS: Operation(requests.ExistsRequest, responses.ExistsResponse),
    Op.GET_DATA: Operation(requests.GetDataRequest, responses.GetDataResponse),
    Op.SET_DATA: Operation(requests.SetDataRequest, responses.SetDataResponse, txn.SetDataTxn),
    Op.GET_ACL: Operation(requests.GetACLRequest, responses.GetACLResponse),
    Op.SET_ACL: Operation(requests.SetACLRequest, responses.SetACLResponse, txn.SetACLTxn),
    Op.GET_CHILDREN: Operation(requests.GetChildrenRequest, responses.GetChildrenResponse),
    Op.SYNC: Operation(requests.SyncRequest, responses.SyncResponse),
    Op.PING: Operation(),
    Op.GET_CHILDREN2: Operation(requests.GetChildren2Request, responses.GetChildren2Response),
    Op.MULTI: Operation(MultiRequest, MultiResponse, txn.MultiTxn),
    Op.CREATE2: Operation(requests.CreateRequest, responses.Create2Response, txn.CreateTxn),
    Op.RECONFIG: Operation(requests.ReconfigRequest, responses.GetDataResponse, txn.SetDataTxn),
    Op.CHECK_WATCHES: Operation(requests.CheckWatchesRequest),
    Op.REMOVE_WATCHES: Operation(requests.RemoveWatchesRequest),
    Op.CREATE_CONTAINER: Operation(
        requests.CreateRequest, responses.Create2Response, txn.CreateContainerTxn
    ),
    Op.CREATE_TTL: Operation(
        requests.CreateTTLRequest, responses.Create2Response, txn.CreateTTLTxn
    ),
    Op.MULTI_READ: Operation(MultiReadRequest, MultiResponse),
    Op.AUTH: Operation(session.AuthPacket),
    Op.SET_WATCHES: Operation(requests.SetWatches),
    Op.SASL: Operation(session.GetSASLRequest, session.SetSASLResponse),
    Op.GET_EPHEMERALS: Operation(requests.GetEphemeralsRequest, responses.GetEphemeralsResponse),
    Op.GET_ALL_CHILDREN_NUMBER: Operation(
        requests.GetAllChildrenNumberRequest, responses.GetAllChildrenNumberResponse
    ),
    Op.SET_WATCHES2: Operation(requests.SetWatches2),
    Op.ADD_WATCH: Operation(requests.AddWatchRequest, responses.ErrorResponse),
    Op.WHO_AM_I: Operation(None, responses.WhoAmIResponse),
    Op.CLOSE_SESSION: Operation(None, None, txn.CloseSessionTxn),
}

# A client that sends one of these is told that there is no such operation.
BY_SERVERS: Mapping[int, Operation] = {
    # A check has its place in a multi, and only there.
    Op.CHECK: Operation(requests.CheckVersionRequest, None, txn.CheckVersionTxn),
    # A learner hands a new session on to its leader as the time-out alone.
    Op.CREATE_SESSION: Operation(
        txn.CreateSessionTxn, session.ConnectResponse, txn.CreateSessionTxn
    ),
    Op.DELETE_CONTAINER: Operation(None, None, txn.DeleteTxn),
    Op.ERROR: Operation(None, None, txn.ErrorTxn),
}

OPERATIONS: Mapping[int, Operation] = {**BY_CLIENTS, **BY_SERVERS}
