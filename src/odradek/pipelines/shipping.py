"""How executors that lack this package get it: as a zip, and the sources by registration.

Spark puts the zip on the path of the workers that run tasks, but not of those that plan streams on
the driver's side; and classes are sent by name. So what is registered is a stand-in, sent by value,
that brings the zip along and unpacks it where the package is not to be had. What the package needs
in turn is not shipped: executors must have pyarrow (which Spark itself needs for this), crc32c and
cramjam, and wasmtime for the fast decoder.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import odradek

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource

PACKAGES = ("odradek", "pyspark_odradek", "pyspark_odradek_log")
SOURCES = {
    "odradek": ("odradek.spark.source", "OdradekSource"),
    "odradek-log": ("odradek.spark.log_source", "OdradekLogSource"),
}
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
    package = zip_package(Path(mkdtemp(prefix="odradek-ship-")) / "odradek.zip")
    if is_connect(spark):
        spark.addArtifacts(str(package), pyfile=True)
    else:
        spark.sparkContext.addPyFile(str(package))
    for name, (module, kind) in SOURCES.items():
        spark.dataSource.register(stand_in(name, module, kind, package.read_bytes()))


def stand_in(format_name: str, module: str, kind: str, package: bytes) -> type[DataSource]:
    """A data source that becomes the real one where it is used.

    Defined in here it has no name to be imported by, so it is pickled whole; it must not use
    anything of this module.
    """
    from pyspark.sql.datasource import DataSource

    class StandIn(DataSource):
        @classmethod
        def name(cls) -> str:
            return format_name

        def schema(self) -> Any:
            return self._real().schema()

        def reader(self, schema: Any) -> Any:
            return self._real().reader(schema)

        def writer(self, schema: Any, overwrite: bool) -> Any:
            return self._real().writer(schema, overwrite)

        def streamReader(self, schema: Any) -> Any:  # noqa: N802
            return self._real().streamReader(schema)

        def streamWriter(self, schema: Any, overwrite: bool) -> Any:  # noqa: N802
            return self._real().streamWriter(schema, overwrite)

        def _real(self) -> Any:
            import importlib
            import os
            import sys
            import tempfile
            from importlib.util import find_spec

            if find_spec(module.partition(".")[0]) is None:
                descriptor, path = tempfile.mkstemp(suffix="-odradek.zip")
                os.write(descriptor, package)
                os.close(descriptor)
                sys.path.insert(0, path)
            return getattr(importlib.import_module(module), kind)(self.options)

    return StandIn


def is_connect(spark: SparkSession) -> bool:
    """Whether Spark is at the other end of a wire, and not under our hands."""
    return type(spark).__module__.startswith("pyspark.sql.connect")
