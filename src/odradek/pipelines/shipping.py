"""How executors that lack this package get it: as a zip, and the sources by registration.

Spark puts the zip on the path of every Python worker, of executors and of those that plan on the
driver's side; classes are sent by name, so registration alone would not do. What the package needs
in turn is not shipped: executors must have pyarrow (which Spark itself needs for this), crc32c and
cramjam, and wasmtime for the fast decoder.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import odradek

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGES = ("odradek", "pyspark_odradek", "pyspark_odradek_log")
FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # Equal contents make equal zips.


def zip_package(target: Path) -> Path:
    """Write the installed package into a zip that Python can import from."""
    root = Path(odradek.__file__).parent.parent
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in _modules(root):
            name = file.relative_to(root).as_posix()
            archive.writestr(zipfile.ZipInfo(name, FIXED_TIME), file.read_bytes())
    return target


def _modules(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file


def ship(spark: SparkSession) -> None:
    """Have the workers of a session import this package, and know its data sources."""
    from odradek.spark.log_source import OdradekLogSource
    from odradek.spark.source import OdradekSource

    package = zip_package(Path(mkdtemp(prefix="odradek-ship-")) / "odradek.zip")
    if is_connect(spark):
        spark.addArtifacts(str(package), pyfile=True)
    else:
        spark.sparkContext.addPyFile(str(package))
    for source in (OdradekSource, OdradekLogSource):
        spark.dataSource.register(source)


def is_connect(spark: SparkSession) -> bool:
    """Whether Spark is at the other end of a wire, and not under our hands."""
    return type(spark).__module__.startswith("pyspark.sql.connect")
