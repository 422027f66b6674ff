"""Is this machine fit for brokers, and for Spark? What is asked of it comes in as numbers."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import odradek
from odradek.doctor.finding import Finding, good, note, warning, wrong
from odradek.doctor.interpreter import is_this_optimised
from odradek.runtime.clock import wall_clock_ms

MEBIBYTE = 1024 * 1024
GIBIBYTE = 1024 * MEBIBYTE
PYTHON_MIN = (3, 11)
OF_SPARK = ("pyspark", "pyarrow", "wasmtime", "pandas")
PANDAS_END = 3
FILES_MIN, FILES_FEW = 1024, 8192
MEMORY_MIN, MEMORY_FEW = 256 * MEBIBYTE, 2 * GIBIBYTE
DISK_MIN, DISK_FEW = 256 * MEBIBYTE, 5 * GIBIBYTE
MEMINFO = Path("/proc/meminfo")
Resolve = Callable[[str], list[str]]


def look_at_machine() -> Iterator[Finding]:
    """All that can be asked of a machine."""
    yield of_python(sys.version_info[:2], platform.platform(), is_this_optimised())
    yield from of_packages(installed_version)
    yield of_java()
    if (available := available_bytes()) is not None:
        yield of_memory(available)
    if (files := open_files_max()) is not None:
        yield of_open_files(files)
    yield of_disk(Path.cwd(), shutil.disk_usage(Path.cwd()).free)
    yield of_loopback(addresses_of)
    yield of_own_name(socket.gethostname(), addresses_of)
    yield of_clock(wall_clock_ms(), newest_file_ms())


def of_python(found: tuple[int, int], system: str, is_optimised: bool = True) -> Finding:
    text = f"Python {found[0]}.{found[1]} on {system}"
    if found < PYTHON_MIN:
        return wrong("python", f"{text}: Odradek needs {PYTHON_MIN[0]}.{PYTHON_MIN[1]} or newer")
    if not is_optimised:
        return note(
            "python",
            f"{text}, built without optimisations: on one of your distribution, of python.org or"
            " of uv servers run a quarter faster",
        )
    return good("python", text)


def of_packages(version_of: Callable[[str], str | None]) -> Iterator[Finding]:
    """What pipelines need besides; brokers need none of it."""
    versions = {name: version_of(name) for name in OF_SPARK}
    missing = [name for name in OF_SPARK[:3] if versions[name] is None]
    if missing:
        yield note(
            "spark",
            f"{', '.join(missing)} not installed: servers run without, pipelines need"
            " pip install 'odradek[spark]'",
        )
        return
    yield good("spark", ", ".join(f"{name} {v}" for name, v in versions.items() if v))
    pandas = versions["pandas"]
    if pandas is not None and int(pandas.partition(".")[0]) >= PANDAS_END:
        yield warning("spark", f"pandas {pandas}: Spark wants one below {PANDAS_END}")


def installed_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def of_java() -> Finding:
    """The Java that Spark would run on."""
    from odradek.spark.java import NoJava, find_java

    try:
        return good("java", f"Spark would run on {find_java()}")
    except NoJava as error:
        return warning("java", f"{error}; servers need none")


def available_bytes() -> int | None:
    """The memory that programs could have now; None where nobody says."""
    if not MEMINFO.exists():
        return None
    for line in MEMINFO.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def of_memory(available: int) -> Finding:
    text = f"{available / GIBIBYTE:.1f} GiB of memory are free"
    if available < MEMORY_MIN:
        return wrong("memory", f"{text}: a broker alone wants more")
    if available < MEMORY_FEW:
        return warning("memory", f"{text}: enough for a broker, and little for Spark")
    return good("memory", text)


def open_files_max() -> int | None:
    """How many files a server could open: it raises its own limit as far as it may."""
    try:
        import resource
    except ImportError:
        return None
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard


def of_open_files(limit: int) -> Finding:
    text = f"a process may open {limit:,} files" if limit < sys.maxsize else "files without limit"
    if limit < FILES_MIN:
        return wrong("open files", f"{text}: too few for connections and logs (ulimit -Hn)")
    if limit < FILES_FEW:
        return warning("open files", f"{text}: few for many partitions (ulimit -Hn)")
    return good("open files", text)


def of_disk(path: Path, free: int) -> Finding:
    text = f"{free / GIBIBYTE:.1f} GiB are free where {path} is"
    if free < DISK_MIN:
        return wrong("disk", f"{text}: logs will fill it soon")
    if free < DISK_FEW:
        return warning("disk", text)
    return good("disk", text)


def addresses_of(name: str) -> list[str]:
    """What a name resolves to; nothing if to nothing."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return sorted({str(entry[4][0]) for entry in found})


def of_loopback(resolve: Resolve) -> Finding:
    found = resolve("localhost")
    if not any(address == "::1" or address.startswith("127.") for address in found):
        there = ", ".join(found) or "nothing"
        return wrong(
            "localhost", f"localhost resolves to {there} and not to 127.0.0.1: /etc/hosts?"
        )
    return good("localhost", f"localhost is {', '.join(found)}")


def of_own_name(name: str, resolve: Resolve) -> Finding:
    """Brokers without advertised.listeners, and Spark's driver, tell others this name."""
    found = resolve(name)
    if not found:
        return warning(
            "host name",
            f"{name}, the name of this machine, resolves to nothing: give brokers"
            " advertised.listeners, and Spark spark.driver.host",
        )
    return good("host name", f"{name} is {', '.join(found)}")


def newest_file_ms() -> int:
    """When the newest file of this package was written: no right clock is before that."""
    root = Path(odradek.__file__).parent
    return int(max(os.stat(file).st_mtime for file in root.glob("*.py")) * 1000)


def of_clock(now_ms: int, installed_ms: int) -> Finding:
    if now_ms < installed_ms:
        behind_s = (installed_ms - now_ms) / 1000
        return wrong(
            "clock",
            f"the clock is behind files that exist, by {behind_s:,.0f} s at least: retention and"
            " timestamps will be off",
        )
    return good("clock", "the clock is after all files of this package")
