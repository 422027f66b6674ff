"""Requests of every kind, drawn at random: those that a server grants and those that it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from odradek.zookeeper.wire.codes import Op, Xid
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages import requests
from odradek.zookeeper.wire.messages.session import AuthPacket
from odradek.zookeeper.wire.multi import MultiReadRequest, MultiRequest
from odradek.zookeeper.wire.operations import Body
from odradek.zookeeper.wire.requests import encode_request
from tests.zookeeper.server.random_values import OPEN, SUPER_PASSWORD, USERS, RandomValues

QUOTA = "/zookeeper/quota/q"
QUOTA_PATHS = [QUOTA, f"{QUOTA}/zookeeper_limits", f"{QUOTA}/zookeeper_stats"]
LIMITS = [
    b"count=3,bytes=40",
    b"count=-1,bytes=-1=;byteHardLimit=20;countHardLimit=3",
    b"count=2,bytes=-1=;byteHardLimit=-1;countHardLimit=2",
    b"count=1,bytes=1=;byteHardLimit=4",
    b"",
]
ORDINARY_MODES = [0, 0, 0, 0, 1, 1, 2, 3]
MODES = [*ORDINARY_MODES, 4, 5, 6, 7, -1]
TTL_MODES = [5, 6]
OTHER_MODES = [0, 1, 2, 4, 9]
TTLS = [1, 1000, 2**40 - 1, 2**40, 0, -1, -5]
WATCHER_TYPES = [1, 2, 3, 3, 4, 5, 0, 6]
WATCH_MODES = [0, 0, 0, 1, 1, 1, 2, -1]

Made = tuple[int, Body | None]
Part = tuple[int, Record]


class RandomRequests:
    """Draws requests; the type and the body of each."""

    def __init__(self, values: RandomValues, *, is_crowd: bool = False) -> None:
        self._values = values
        self._is_crowd = is_crowd  # Whether many are sent at once.

    def any(self) -> Made:
        draw = self._writes() if self._values.happens(0.6) else self._reads()
        return self._values.pick(draw)()

    def about_quota(self) -> Made:
        """Limits make sense here: the original refuses all writes, or falls, where they do not."""
        path = self._values.pick(QUOTA_PATHS)
        data = b"" if path == QUOTA else self._values.pick(LIMITS)
        create = (Op.CREATE, requests.CreateRequest(path, data, OPEN, 0))
        choices: list[Made] = [
            create,
            create,
            (Op.SET_DATA, requests.SetDataRequest(path, data, -1)),
            (Op.GET_DATA, requests.GetDataRequest(path, True)),
            (Op.DELETE, requests.DeleteRequest(path, -1)),
        ]
        return self._values.pick(choices)

    def set_watches(self) -> bytes:
        """What a client sends when it is back: the watches that it had, and what it saw last."""
        values, zxid = self._values, self._values.pick([0, 5, 50, 500, 1 << 40])
        data, exist, child = values.paths(), values.paths(), values.paths()
        if values.happens():
            watches = requests.SetWatches(zxid, data, exist, child)
            return encode_request(Xid.SET_WATCHES, Op.SET_WATCHES, watches)
        all_watches = requests.SetWatches2(zxid, data, exist, child, values.paths(), values.paths())
        return encode_request(Xid.SET_WATCHES, Op.SET_WATCHES2, all_watches)

    def good_auth(self) -> bytes:
        odd = [SUPER_PASSWORD, b"", b"x", b":"]
        return auth("digest", self._values.pick([*USERS, *USERS, *odd]))

    # Writes

    def _writes(self) -> list[Callable[[], Made]]:
        rare = [self._create_without_acl, self._reconfig]
        often = [self._create, self._create, self._set_data, self._delete, self._multi]
        # To the original a new ACL does not hold for what comes before it is committed, so what
        # it grants to a crowd depends on which of its threads is faster.
        locks = [] if self._is_crowd else [self._set_acl, self._set_acl]
        return [*often, *often, *often, *locks, *rare]

    def _create(self) -> Part:
        values = self._values
        op = values.pick([Op.CREATE, Op.CREATE, Op.CREATE2, Op.CREATE_CONTAINER, Op.CREATE_TTL])
        if op == Op.CREATE_TTL:
            return op, self._create_ttl()
        mode = values.pick(ORDINARY_MODES if values.happens(0.7) else MODES)
        if op == Op.CREATE_CONTAINER:
            mode = values.pick([4, 4, 4, 0])
        return op, requests.CreateRequest(values.path(), values.data(), values.acl(), mode)

    def _create_ttl(self) -> Record:
        values = self._values
        mode, ttl_ms = values.pick(TTL_MODES), values.pick(TTLS)
        if values.happens(0.3):
            # Without a mode for it the original does not survive a negative time to live.
            mode, ttl_ms = values.pick(OTHER_MODES), abs(ttl_ms)
        return requests.CreateTTLRequest(values.path(), values.data(), values.acl(), mode, ttl_ms)

    def _create_without_acl(self) -> Made:
        return Op.CREATE, requests.CreateRequest(self._values.path(), b"", None, 0)

    def _delete(self) -> Part:
        return Op.DELETE, requests.DeleteRequest(self._values.path(), self._values.version())

    def _set_data(self) -> Part:
        values = self._values
        return Op.SET_DATA, requests.SetDataRequest(values.path(), values.data(), values.version())

    def _set_acl(self) -> Made:
        values = self._values
        return Op.SET_ACL, requests.SetACLRequest(values.path(), values.acl(), values.version())

    def _check(self) -> Part:
        return Op.CHECK, requests.CheckVersionRequest(self._values.path(), self._values.version())

    def _multi(self) -> Made:
        kinds = [self._create, self._create, self._delete, self._set_data, self._check]
        return Op.MULTI, MultiRequest(self._several(kinds))

    def _several(self, kinds: Sequence[Callable[[], Part]]) -> list[Part]:
        return [self._values.pick(kinds)() for _ in range(self._values.random.randint(0, 6))]

    def _reconfig(self) -> Made:
        return Op.RECONFIG, requests.ReconfigRequest(None, "3", None, self._values.pick([-1, 0]))

    # Reads

    def _reads(self) -> list[Callable[[], Made]]:
        once = [self._get_acl, self._sync, self._get_ephemerals, self._count_all, self._who_am_i]
        often = [self._exists, self._get_data, self._get_children, self._get_children2]
        watches = [self._add_watch, self._add_watch, self._check_watches, self._remove_watches]
        return [*often, *often, *watches, *once, self._multi_read]

    def _exists(self) -> Made:
        return Op.EXISTS, requests.ExistsRequest(self._values.path(), self._values.happens())

    def _get_data(self) -> Part:
        return Op.GET_DATA, requests.GetDataRequest(self._values.path(), self._values.happens())

    def _get_children(self) -> Part:
        request = requests.GetChildrenRequest(self._values.path(), self._values.happens())
        return Op.GET_CHILDREN, request

    def _get_children2(self) -> Made:
        request = requests.GetChildren2Request(self._values.path(), self._values.happens())
        return Op.GET_CHILDREN2, request

    def _get_acl(self) -> Made:
        return Op.GET_ACL, requests.GetACLRequest(self._values.path())

    def _sync(self) -> Made:
        return Op.SYNC, requests.SyncRequest(self._values.path())

    def _get_ephemerals(self) -> Made:
        prefix = self._values.pick(["", "/", "/a", " /", "/e "])
        return Op.GET_EPHEMERALS, requests.GetEphemeralsRequest(prefix)

    def _count_all(self) -> Made:
        request = requests.GetAllChildrenNumberRequest(self._values.path())
        return Op.GET_ALL_CHILDREN_NUMBER, request

    def _who_am_i(self) -> Made:
        return Op.WHO_AM_I, None

    def _add_watch(self) -> Made:
        mode = self._values.pick(WATCH_MODES)
        return Op.ADD_WATCH, requests.AddWatchRequest(self._values.path(), mode)

    def _check_watches(self) -> Made:
        kind = self._values.pick(WATCHER_TYPES)
        return Op.CHECK_WATCHES, requests.CheckWatchesRequest(self._values.path(), kind)

    def _remove_watches(self) -> Made:
        kind = self._values.pick(WATCHER_TYPES)
        return Op.REMOVE_WATCHES, requests.RemoveWatchesRequest(self._values.path(), kind)

    def _multi_read(self) -> Made:
        kinds = [self._get_data, self._get_children]
        return Op.MULTI_READ, MultiReadRequest(self._several(kinds))


def auth(scheme: str, credentials: bytes) -> bytes:
    return encode_request(Xid.AUTH, Op.AUTH, AuthPacket(0, scheme, credentials))
