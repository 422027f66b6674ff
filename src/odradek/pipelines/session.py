"""The Spark session of a pipeline: the caller's, or the one that is active (in a notebook, under
spark-submit), or one made for it and stopped after it.

Where the master is this machine the package is importable anyway; for any other it is shipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from odradek.pipelines.shipping import ship
from odradek.spark.java import prepare_java
from odradek.spark.python import prepare_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
CONNECT = "sc://"
SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "ERROR",
}
# With no cluster there is nobody to hear of; a laptop's own name may not even resolve.
SETTINGS_LOCAL = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}


@contextmanager
def session(
    spark: SparkSession | None = None,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """The session that is given, or one on `master` for as long as the block.

    `sc://host` is Spark Connect; `local[n]`, `spark://…`, `yarn` and `k8s://…` are what they are
    for spark-submit. Under spark-submit leave it out: the session there is the one.
    """
    if spark is None and master is None and not settings:
        spark = active()
    if spark is not None:
        yield spark
        return
    made = start(master, settings or {})
    try:
        yield made
    finally:
        made.stop()


def active() -> SparkSession | None:
    """The session that this program has already."""
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def start(master: str | None, settings: Mapping[str, str]) -> SparkSession:
    """A new session, whose workers know this package."""
    from pyspark.sql import SparkSession

    where = master or LOCAL
    if where.startswith(CONNECT):
        remote = SparkSession.builder.remote(where).getOrCreate()
        ship(remote)
        return remote
    if is_this_machine(where):
        prepare_python()
    prepare_java()
    builder = SparkSession.builder.master(where).appName("odradek")
    more = SETTINGS_LOCAL if where.startswith("local") else {}
    for key, value in {**SETTINGS, **more, **settings}.items():
        builder = builder.config(key, value)
    made = builder.getOrCreate()
    if not is_this_machine(where):
        ship(made)
    return made


def is_this_machine(master: str) -> bool:
    """Whether tasks run in the driver's own process, beside the installed package."""
    return master == "local" or master.startswith("local[")
