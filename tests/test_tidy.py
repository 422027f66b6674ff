"""The rules of the house that no other tool keeps."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "odradek"
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))

SHELLS = {"server", "api", "broker", "client"}
WORLDLY = {"asyncio", "time", "random", "socket", "os", "threading", "selectors", "subprocess"}
NAMELESS = {"utils", "util", "common", "helpers", "helper", "misc", "manager", "impl", "base"}


def imported(module: Path) -> Iterator[str]:
    """The top-level packages that a module imports."""
    for node in ast.walk(ast.parse((SOURCE / module).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def called(module: Path) -> Iterator[str]:
    """The dotted names that a module calls."""
    for node in ast.walk(ast.parse((SOURCE / module).read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def tier(module: Path) -> str:
    """Which of the three tiers a module of zookeeper or kafka is in; "" elsewhere."""
    if len(module.parts) < 3 or module.parts[0] not in ("zookeeper", "kafka"):
        return ""
    folder = module.parts[1]
    if folder in SHELLS:
        return "shell"
    return "disk" if folder == "storage" else "pure"


@pytest.mark.parametrize("module", [m for m in MODULES if tier(m) == "pure"], ids=str)
def test_a_pure_module_touches_nothing_of_the_world(module: Path) -> None:
    assert WORLDLY.isdisjoint(imported(module))


@pytest.mark.parametrize("module", [m for m in MODULES if tier(m) == "disk"], ids=str)
def test_storage_neither_waits_nor_talks(module: Path) -> None:
    assert (WORLDLY - {"os"}).isdisjoint(imported(module))


def test_only_the_runtime_opens_files() -> None:
    openers = {m for m in MODULES if {"open", "os.open", "io.open"} & set(called(m))}
    assert {m.parts[0] for m in openers} <= {"runtime"}, openers


def test_the_wall_clock_is_read_in_one_place() -> None:
    readers = {m for m in MODULES if {"time.time", "time.time_ns"} & set(called(m))}
    assert readers == {Path("runtime/clock.py")}


def test_a_name_says_something() -> None:
    nameless = {m for m in MODULES if NAMELESS & set(m.stem.split("_"))}
    assert nameless == set()
    for module in MODULES:
        for node in ast.walk(ast.parse((SOURCE / module).read_text())):
            if isinstance(node, ast.ClassDef):
                assert not node.name.endswith(("Manager", "Impl", "Helper", "Util")), module


def test_a_module_says_what_it_is_for() -> None:
    silent = {m for m in MODULES if not ast.get_docstring(ast.parse((SOURCE / m).read_text()))}
    assert silent == set()


def functions(module: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse((SOURCE / module).read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_functions_and_files_stay_small() -> None:
    large = [m for m in MODULES if len((SOURCE / m).read_text().splitlines()) > 500]
    assert large == []
    for module in MODULES:
        for function in functions(module):
            lines = (function.end_lineno or 0) - function.lineno + 1
            assert lines <= 60, f"{module}: {function.name} has {lines} lines"


def test_tests_wait_for_conditions() -> None:
    listed = subprocess.run(
        ["git", "grep", "-lE", r"time\.sleep\("], cwd=ROOT / "tests", capture_output=True, text=True
    )
    assert set(listed.stdout.split()) <= {"test_tidy.py"}


def test_architecture_names_every_package_and_only_what_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    packages = {".".join(m.parent.parts) for m in MODULES if m.name == "__init__.py"} - {""}
    missing = {name for name in packages if f"`{name.replace('.', '/')}/`" not in text}
    assert missing == set()
