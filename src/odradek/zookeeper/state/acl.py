"""Who may do what.

A connection has ids: `ip` from the start, others by authentication. An ACL entry that has the
permission and matches one of them grants it; an id of the scheme `super` passes everything.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha1

from odradek.zookeeper.state.tree import OPEN_ACL, OPEN_LIST, Acl
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.data import ACL, Id

SUPER = "super"
# Schemes by which a client proves who it is; `ip` it has by being where it is.
AUTHENTICATED = frozenset({"digest"})

# Schemes whose ids must have a name; the original does not get over one that is null.
WITH_NAMES = frozenset({"world", "digest", "ip"})


def digest_of(credentials: bytes) -> str:
    """What stands in an ACL for "user:password": the user, and a hash of the whole."""
    user = credentials.partition(b":")[0].decode(errors="replace")
    return f"{user}:{b64encode(sha1(credentials).digest()).decode()}"


def allows(acl: Acl, perms: int, ids: Iterable[Id]) -> bool:
    """Whether an ACL grants any of these permissions to one who has these ids."""
    if acl is OPEN_ACL:
        return True
    if any(each.scheme == SUPER for each in ids):
        return True
    return any(entry.perms & perms and _matches(entry.id, ids) for entry in acl)


def _matches(wanted: Id, ids: Iterable[Id]) -> bool:
    if wanted.scheme == "world" and wanted.id == "anyone":
        return True
    if wanted.scheme == "ip":
        return any(each.scheme == "ip" and _in_network(each.id, wanted.id) for each in ids)
    return wanted in ids


def _in_network(address: str | None, network: str | None) -> bool:
    """Whether an address is the one, or in the network, that an ACL names."""
    from ipaddress import ip_address  # Few ACLs need it, and no cold start.

    base, _, bits = (network or "").partition("/")
    try:
        ours, theirs = ip_address(address or ""), ip_address(base)
        kept = int(bits) if bits else ours.max_prefixlen
    except ValueError:
        return False
    if ours.version != theirs.version or not 0 <= kept <= ours.max_prefixlen:
        return False
    shift = ours.max_prefixlen - kept
    return int(ours) >> shift == int(theirs) >> shift


def fix(acl: list[ACL] | None, ids: Iterable[Id]) -> list[ACL] | Error:
    """Check an ACL that a client gave, and put its own ids in the place of `auth`."""
    if acl is OPEN_LIST:
        return OPEN_LIST
    if not acl:
        return Error.INVALID_ACL
    fixed: list[ACL] = []
    for entry in dict.fromkeys(acl):
        scheme, name = entry.id.scheme, entry.id.id
        if scheme == "auth":
            mine = [ACL(entry.perms, each) for each in ids if each.scheme in AUTHENTICATED]
            if not mine:
                return Error.INVALID_ACL
            fixed += mine
        elif name is None and scheme in WITH_NAMES:
            return Error.MARSHALLING_ERROR
        elif _is_well_formed(scheme, name):
            fixed.append(entry)
        else:
            return Error.INVALID_ACL
    return fixed


def _is_well_formed(scheme: str | None, name: str | None) -> bool:
    """Whether an id could be somebody's here; of other schemes this server knows nothing."""
    name = name or ""
    if scheme == "world":
        return name == "anyone"
    if scheme == "digest":
        return name.count(":") == 1
    return scheme == "ip" and _is_network(name)


def _is_network(name: str) -> bool:
    from ipaddress import ip_address

    base, slash, bits = name.partition("/")
    try:
        most = ip_address(base).max_prefixlen
        return not slash or 0 <= int(bits) <= most
    except ValueError:
        return False


def masked(acl: Acl) -> list[ACL]:
    """An ACL for one who may not administer it: the hashes of passwords are left out."""
    return [
        ACL(entry.perms, Id("digest", f"{(entry.id.id or '').partition(':')[0]}:x"))
        if entry.id.scheme == "digest"
        else entry
        for entry in acl
    ]


def user_of(who: Id) -> str:
    """The name in an id, without its secret."""
    name = who.id or ""
    return name.partition(":")[0] if who.scheme == "digest" else name
