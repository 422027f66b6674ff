"""Tables in files: which formats there are, and how an archive is read whatever its topics' names.

Parquet is at hand; Delta and Iceberg are packages of their own, and are refused by name where Spark
does not have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.runtime.errors import OdradekError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARQUET, DELTA, ICEBERG = "parquet", "delta", "iceberg"
FORMATS = (PARQUET, DELTA, ICEBERG)
PACKAGES = {
    DELTA: "io.delta:delta-spark_<Spark's version>_2.13",
    ICEBERG: "org.apache.iceberg:iceberg-spark-runtime-<Spark's version>_2.13",
}
NOWHERE = "odradek-asks-whether-there-is-such-a-format"
INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"


class FormatRefused(OdradekError):
    """A format of files that there is not, or not here."""


def check_format(spark: SparkSession, file_format: str) -> None:
    """Refuse a format that this session cannot write."""
    if file_format not in FORMATS:
        raise FormatRefused(f"there is no format {file_format}: choose {', '.join(FORMATS)}")
    if file_format != PARQUET and not has_source(spark, file_format):
        raise FormatRefused(
            f"this Spark has no format {file_format}: start it with the package"
            f" {PACKAGES[file_format]} (spark.jars.packages), or archive to {PARQUET}"
        )


def has_source(spark: SparkSession, name: str) -> bool:
    """Whether Spark knows a data source of this name: it complains of that before all else."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        spark.read.format(name).load(NOWHERE).schema  # noqa: B018
    except (PySparkException, Py4JError) as error:
        return "DATA_SOURCE_NOT_FOUND" not in str(error)
    return True


def read_files(spark: SparkSession, path: str, file_format: str = PARQUET) -> DataFrame:
    """An archive as a table. Topics keep their names, though one may look like a number."""
    check_format(spark, file_format)
    if file_format != PARQUET:
        return spark.read.format(file_format).load(path)
    before = spark.conf.get(INFERENCE)
    spark.conf.set(INFERENCE, "false")
    try:
        frame = spark.read.parquet(path)
        frame.schema  # noqa: B018  # Connect would look only later.
    finally:
        spark.conf.set(INFERENCE, before or "true")
    return frame
