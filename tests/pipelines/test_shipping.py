from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from pyspark import cloudpickle

from odradek.pipelines.session import is_this_machine
from odradek.pipelines.shipping import SOURCES, stand_in, zip_package
from tests.pipelines.shipped import python_without_odradek


def test_the_zip_is_imported_where_nothing_is_installed(tmp_path: Path) -> None:
    package = zip_package(tmp_path / "odradek.zip")
    program = (
        "import sys; sys.path[:0] = sys.argv[1:];"
        "import odradek.pipelines.mirror_task, odradek; print(odradek.__file__)"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(package)]
    done = subprocess.run(
        [*command, *compiled_packages(tmp_path)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.strip() == f"{package}/odradek/__init__.py", done.stderr


def compiled_packages(tmp_path: Path) -> list[str]:
    """A folder with what executors must have themselves."""
    import cramjam
    import crc32c

    folder = tmp_path / "compiled"
    folder.mkdir()
    for module in (cramjam, crc32c):
        origin = Path(str(module.__file__)).parent
        (folder / origin.name).symlink_to(origin)
    return [str(folder)]


def test_equal_packages_make_equal_zips_with_all_that_is_in_them(tmp_path: Path) -> None:
    one, other = (zip_package(tmp_path / name).read_bytes() for name in ("one.zip", "other.zip"))
    assert one == other
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        names = set(archive.namelist())
    assert {"odradek/__init__.py", "pyspark_odradek/__init__.py", "odradek/py.typed"} <= names
    assert not any("__pycache__" in name for name in names)


def test_only_plain_local_masters_are_this_machine() -> None:
    assert is_this_machine("local") and is_this_machine("local[4]")
    assert not is_this_machine("local-cluster[2,1,1024]") and not is_this_machine("spark://a:7077")


def test_a_source_arrives_where_the_package_is_not(tmp_path: Path) -> None:
    package = zip_package(tmp_path / "odradek.zip").read_bytes()
    made = stand_in("odradek", *SOURCES["odradek"], package)({"columns": "value,offset"})
    dump: Any = cloudpickle.dumps
    (tmp_path / "pickled").write_bytes(dump(made))
    program = (
        "import pickle, sys; from importlib.util import find_spec; assert not find_spec('odradek');"
        "source = pickle.load(open(sys.argv[1], 'rb')); print(source.name(), source.schema())"
    )
    python = python_without_odradek(tmp_path / "python")
    done = subprocess.run(
        [str(python), "-c", program, str(tmp_path / "pickled")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"TMPDIR": str(tmp_path), "PYTHONPATH": ""},
    )
    assert done.stdout.strip() == "odradek value binary, offset bigint", done.stderr
