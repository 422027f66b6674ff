"""Secrets are never shown: what is taken out before a page gets to see it; pure.

SCRAM's salted passwords are in `/config/users`, passwords of key stores in `/config/brokers`,
tokens under `/delegation_token`, hashes of passwords in ACLs. Where such a thing may be and cannot
be told from the rest, all of it is hidden.
"""

from __future__ import annotations

import json
import re
from typing import Any

HIDDEN = "••••••"
SECRET = re.compile(r"password|passwd|secret|jaas|credential|token|scram|\.key$|_key$|salt", re.I)
HIDES_ALL = re.compile(r"/delegation_token(/.*)?")
HIDES_UNLESS_JSON = re.compile(r"/config/(users|brokers|clients)(/.*)?")


def masked_znode(path: str, data: bytes) -> bytes:
    """What may be shown of a znode's data."""
    if not data:
        return data
    if HIDES_ALL.fullmatch(path):
        return HIDDEN.encode()
    try:
        value = json.loads(data)
    except ValueError:
        return HIDDEN.encode() if HIDES_UNLESS_JSON.fullmatch(path) else data
    masked = masked_value(value)
    return data if masked == value else json.dumps(masked, ensure_ascii=False).encode()


def masked_value(value: Any) -> Any:
    """JSON without what stands under a name that tells of a secret."""
    if isinstance(value, dict):
        return {
            key: HIDDEN if is_secret(key, it) else masked_value(it) for key, it in value.items()
        }
    if isinstance(value, list):
        return [masked_value(it) for it in value]
    return value


def is_secret(key: str, value: Any) -> bool:
    return isinstance(value, str) and bool(SECRET.search(key))


def masked_acl(scheme: str, identity: str) -> str:
    """Who an ACL is about, without the hash of his password."""
    if scheme in ("digest", "super"):
        return f"{identity.partition(':')[0]}:{HIDDEN}"
    return identity


def masked_setting(name: str, value: str | None, *, is_sensitive: bool) -> str:
    """A setting's value; brokers say which are sensitive, and are not believed blindly."""
    if is_sensitive or (value and re.search(r"password|jaas|secret", name, re.I)):
        return HIDDEN
    return "" if value is None else value
