"""Paths of znodes.

The root is known as "/" and as "", so that the parent of "/a" is what stands before its slash.
"""

from __future__ import annotations

import re

# The original looks at UTF-16 units: a character beyond the first 65,536 is two surrogates to it,
# and so refused.
_FORBIDDEN = r"/\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\U0010ffff"
_NAME = rf"(?!\.{{1,2}}(?:/|\Z))[^{_FORBIDDEN}]+"
_VALID = re.compile(rf"/(?:{_NAME}(?:/{_NAME})*)?").fullmatch
_VALID_NAME = re.compile(_NAME).fullmatch

ROOT = "/"
SYSTEM = "/zookeeper"
CONFIG = "/zookeeper/config"
QUOTA = "/zookeeper/quota"
UNDELETABLE = frozenset({"", ROOT, SYSTEM, CONFIG, QUOTA})


def is_valid(path: str) -> bool:
    """Whether a znode could have this path."""
    return _VALID(path) is not None


def is_valid_below(path: str, slash: int) -> bool:
    """The same for a path whose parent, all before its last slash, is there: its name counts."""
    if _VALID_NAME(path, slash + 1) is None:
        return path == ROOT
    return not path.startswith("//")  # Its parent is the root, with one slash too many.


def parent_of(path: str) -> str:
    return path[: path.rfind("/")]


def name_of(path: str) -> str:
    return path[path.rfind("/") + 1 :]


def ancestors_of(path: str) -> list[str]:
    """The path itself and all above it, the root last."""
    found = [path]
    while len(path) > 1:
        path = parent_of(path) or ROOT
        found.append(path)
    return found
