"""CRC-32C, by the native function of the package `crc32c`.

The package asks for its own version when it is imported, and what that takes to import is a tenth
of a broker's start. So only the extension in it is loaded; where it cannot be found so, all is.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec

PACKAGE, EXTENSION = "crc32c", "_crc32c"


def load() -> Callable[..., int]:
    """The function: of bytes, and of the checksum of what came before them."""
    package = find_spec(PACKAGE)
    locations = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec(EXTENSION, list(locations)) if locations else None
    if spec is None or spec.loader is None:
        from crc32c import crc32c

        return crc32c  # type: ignore[no-any-return, unused-ignore]
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., int] = module.crc32c
    return function


crc32c = load()
