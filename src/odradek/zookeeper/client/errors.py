"""What a request may fail with: one class for each code, all under `ZooKeeperError`.

The class statements below are the table. A server may answer a code that is not in it; then
the error is a bare `ZooKeeperError` that carries the number.
"""

from __future__ import annotations

from collections.abc import Sequence

from odradek.runtime.errors import OdradekError
from odradek.zookeeper.wire.errors import Error

BY_CODE: dict[int, type[ZooKeeperError]] = {}


class ZooKeeperError(OdradekError):
    """A request was refused or its outcome is unknown; `path` says what it was about."""

    code: int = Error.SYSTEM_ERROR

    def __init__(self, path: str | None = None, code: int | None = None) -> None:
        self.path = path
        if code is not None:
            self.code = code
        super().__init__(path)

    def __init_subclass__(cls, code: Error | None = None) -> None:
        if code is not None:
            cls.code = code
            BY_CODE[code] = cls

    def __str__(self) -> str:
        name = type(self).__name__
        name = name if self.code in BY_CODE else f"{name} {self.code}"
        return name if self.path is None else f"{name}: {self.path}"


def error_of(code: int, path: str | None = None) -> ZooKeeperError:
    """The error that a code stands for."""
    kind = BY_CODE.get(code, ZooKeeperError)
    return kind(path, code)


class SystemFailed(ZooKeeperError, code=Error.SYSTEM_ERROR):
    """The server failed in a way it has no word for."""


class RuntimeInconsistency(ZooKeeperError, code=Error.RUNTIME_INCONSISTENCY):
    """Not tried, because an earlier part of the same multi failed."""


class DataInconsistency(ZooKeeperError, code=Error.DATA_INCONSISTENCY):
    """The server found its data at odds with itself."""


class ConnectionLoss(ZooKeeperError, code=Error.CONNECTION_LOSS):
    """The connection went away: the request may have been done or not, or was never sent."""


class MarshallingError(ZooKeeperError, code=Error.MARSHALLING_ERROR):
    """The server could not read the request."""


class Unimplemented(ZooKeeperError, code=Error.UNIMPLEMENTED):
    """The server does not know the operation, or has it switched off."""


class OperationTimeout(ZooKeeperError, code=Error.OPERATION_TIMEOUT):
    """The server did not get it done in time."""


class BadArguments(ZooKeeperError, code=Error.BAD_ARGUMENTS):
    """No such path, mode or time-to-live can be."""


class UnknownSession(ZooKeeperError, code=Error.UNKNOWN_SESSION):
    """The server has never heard of the session."""


class NewConfigNoQuorum(ZooKeeperError, code=Error.NEW_CONFIG_NO_QUORUM):
    """Too few servers of the new configuration are connected and in step."""


class ReconfigInProgress(ZooKeeperError, code=Error.RECONFIG_IN_PROGRESS):
    """Another change of the configuration is under way."""


class ApiError(ZooKeeperError, code=Error.API_ERROR):
    """The request makes no sense to the server."""


class NoNode(ZooKeeperError, code=Error.NO_NODE):
    """There is no such znode, or no parent for a new one."""


class NoAuth(ZooKeeperError, code=Error.NO_AUTH):
    """The ACL does not allow it."""


class BadVersion(ZooKeeperError, code=Error.BAD_VERSION):
    """The znode is not at the version that was expected."""


class NoChildrenForEphemerals(ZooKeeperError, code=Error.NO_CHILDREN_FOR_EPHEMERALS):
    """An ephemeral znode cannot have children."""


class NodeExists(ZooKeeperError, code=Error.NODE_EXISTS):
    """The znode is there already."""


class NotEmpty(ZooKeeperError, code=Error.NOT_EMPTY):
    """The znode has children."""


class SessionExpired(ZooKeeperError, code=Error.SESSION_EXPIRED):
    """The session is over, and its ephemerals and watches with it."""


class InvalidCallback(ZooKeeperError, code=Error.INVALID_CALLBACK):
    """Known to the protocol, sent by no server."""


class InvalidAcl(ZooKeeperError, code=Error.INVALID_ACL):
    """The ACL is empty, or names what the server does not know."""


class AuthFailed(ZooKeeperError, code=Error.AUTH_FAILED):
    """The server did not believe who we are."""


class SessionMoved(ZooKeeperError, code=Error.SESSION_MOVED):
    """The session went on by way of another server; this request came too late."""


class NotReadOnly(ZooKeeperError, code=Error.NOT_READ_ONLY):
    """A write on a server that can only be read from now."""


class EphemeralOnLocalSession(ZooKeeperError, code=Error.EPHEMERAL_ON_LOCAL_SESSION):
    """A session that one server keeps to itself cannot own ephemerals."""


class NoWatcher(ZooKeeperError, code=Error.NO_WATCHER):
    """This connection has no such watch."""


class RequestTimeout(ZooKeeperError, code=Error.REQUEST_TIMEOUT):
    """The request took longer than its sender wanted to wait."""


class ReconfigDisabled(ZooKeeperError, code=Error.RECONFIG_DISABLED):
    """The servers do not allow their configuration to be changed."""


class SaslRequired(ZooKeeperError, code=Error.SESSION_CLOSED_REQUIRE_SASL_AUTH):
    """The server closed the session: it talks only to those who authenticated by SASL."""


class QuotaExceeded(ZooKeeperError, code=Error.QUOTA_EXCEEDED):
    """The branch has as many znodes or bytes as it may have."""


class ThrottledOp(ZooKeeperError, code=Error.THROTTLED_OP):
    """The request waited so long in the server that it was dropped."""


class ClientClosed(ZooKeeperError):
    """The client has no session: it was not connected yet, or is closed."""

    code = Error.SESSION_EXPIRED


class MultiFailed(ZooKeeperError):
    """A transaction was refused and nothing of it was done; `errors` has one for each part.

    None is a part that would have been fine. `code` and `path` are those of the culprit.
    """

    def __init__(self, errors: Sequence[ZooKeeperError | None]) -> None:
        self.errors = list(errors)
        found = [error for error in errors if error is not None]
        blamed = [error for error in found if not isinstance(error, RuntimeInconsistency)]
        culprit = (blamed or found)[0]
        super().__init__(culprit.path, culprit.code)
        self.__cause__ = culprit

    def __str__(self) -> str:
        position = self.errors.index(self.__cause__)  # type: ignore[arg-type]
        return f"part {position}: {self.__cause__}"
