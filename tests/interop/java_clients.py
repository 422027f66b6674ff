"""Clients in Java: Apache's jars come by Maven, our programs under `java` through javac.

Whoever lacks one of the tools skips the tests that need it, and is told which.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.interop.maven import HERE, class_path

COMPILE_SECONDS = 120
RUN_SECONDS = 120
# Each of these lives for a second or two: what it saves at the start is most of its time.
SMALL = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


def compile_programs(
    directory: Path,
    packages: Iterable[str] = ("client", "curator"),
    pom: str = "clients-pom.xml",
) -> None:
    """Put the classes of our programs in these packages into a directory."""
    folders = (HERE / "java" / package for package in packages)
    sources = [str(path) for folder in folders for path in sorted(folder.rglob("*.java"))]
    command = [
        "javac",
        "-nowarn",
        "-cp",
        class_path(pom, "javac"),
        "-d",
        str(directory),
        *sources,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr


def java(main: str, *arguments: str, classes: Path | None = None) -> list[str]:
    """The command that runs a class with a main method."""
    jars = (
        f"{classes}:{class_path('clients-pom.xml', 'javac')}"
        if classes
        else class_path("clients-pom.xml", "javac")
    )
    logging = f"-Dlogback.configurationFile={HERE / 'clients-logback.xml'}"
    return ["java", *SMALL, logging, "-cp", jars, main, *arguments]


def told_by(classes: Path, program: str, connect_string: str) -> str:
    """What one of our programs prints; it must come to its end."""
    command = java(program, connect_string, classes=classes)
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
