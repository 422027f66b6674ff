"""Pipelines on a Spark whose workers lack this package, as a program of its own.

python -m tests.pipelines.shipped local-cluster[2,1,1024] SERVERS TARGET TOPIC FOLDER
python -m tests.pipelines.shipped connect SERVERS TARGET TOPIC FOLDER
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from odradek.pipelines import archive, audit, mirror, replay
from odradek.pipelines.session import session
from odradek.pipelines.shipping import is_connect, ship

LAUNCHER = """#!/bin/sh
PYTHONPATH="{site}:$PYTHONPATH" exec "{python}" -S "$@"
"""


def python_without_odradek(directory: Path) -> Path:
    """An interpreter that has all packages of this one but ours."""
    import pyspark

    site = directory / "site"
    site.mkdir(parents=True)
    for entry in Path(pyspark.__file__).parent.parent.iterdir():
        if "odradek" not in entry.name and entry.suffix != ".pth":
            (site / entry.name).symlink_to(entry)
    launcher = directory / "python"
    launcher.write_text(LAUNCHER.format(site=site, python=sys.executable))
    launcher.chmod(0o755)
    return launcher


def main(where: str, servers: str, target: str, topic: str, folder: str) -> None:
    if where == "connect":
        from pyspark.sql import SparkSession

        spark = SparkSession.builder.remote("local").getOrCreate()
        ship(spark)
        run(spark, servers, target, topic, folder)
        return
    with session(master=where) as made:
        run(made, servers, target, topic, folder)


def run(spark: object, servers: str, target: str, topic: str, folder: str) -> None:
    def can_import(numbers: object) -> object:
        import importlib.util

        import pyarrow as pa

        for batch in numbers:  # type: ignore[attr-defined]
            spec = importlib.util.find_spec("odradek")
            found = [str(spec.origin if spec else None)] * batch.num_rows
            yield pa.RecordBatch.from_arrays([pa.array(found, pa.string())], ["origin"])

    origin = spark.range(1).mapInArrow(can_import, "origin string").head()  # type: ignore[attr-defined]
    mirrored = mirror(servers, target, [topic], spark=spark)  # type: ignore[arg-type]
    audited = audit(target, [topic], spark=spark)  # type: ignore[arg-type]
    counts = {"mirrored": mirrored.records, "audited": audited.records, "origin": origin.origin}
    if not is_connect(spark):  # type: ignore[arg-type]
        path = f"{folder}/archive"
        archived = archive(servers, [topic], path, spark=spark)  # type: ignore[arg-type]
        replayed = replay(path, target, spark=spark, to=f"{topic}-again")  # type: ignore[arg-type]
        counts |= {"archived": archived.rows, "replayed": replayed.records}
    print(json.dumps(counts), flush=True)


if __name__ == "__main__":
    os.environ["PYSPARK_PYTHON"] = str(python_without_odradek(Path(sys.argv[-1]) / "python"))
    main(*sys.argv[1:])
