"""The Python that Spark's workers run on: this one, with Spark's modules as they are installed.

Spark puts an archive of its modules before everything else on the path of its workers. Nothing in
it is compiled, so each process compiles it anew: most of a second, for every kind of worker at the
first query and for each streaming query again. Where Spark was installed as a package, the same
modules lie compiled beside it. So workers are started by a script that leaves the archive out.

And they talk to Spark over Unix sockets (from Spark 4.1 on): over TCP each task takes some 35 ms
longer, which is most of a small one.

What they send, Spark reads value by value, and its Arrow tests at each whether it lies within its
column and is not null: an eighth of all that rows of 100 bytes cost. Arrow has made these batches
itself, and Spark asks for nulls before it asks for values, so the tests are left out.

Only for masters on this machine: elsewhere the script is not to be found. In a shell:

    export PYSPARK_PYTHON=$(python -m odradek.spark.python) PYSPARK_UDS_MODE=true
    export ARROW_ENABLE_UNSAFE_MEMORY_ACCESS=true ARROW_ENABLE_NULL_CHECK_FOR_GET=false
"""

from __future__ import annotations

import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

from odradek.spark import standby_call
from odradek.spark.java import cache_directory, write_script

VARIABLE = "PYSPARK_PYTHON"
STREAM_PLANNER = "pyspark.sql.streaming.python_streaming_source_runner"
UNIX_SOCKETS = "PYSPARK_UDS_MODE"  # What spark.python.unix.domain.socket.enabled is by default.
ARROW_CHECKS = {
    "ARROW_ENABLE_UNSAFE_MEMORY_ACCESS": "true",
    "ARROW_ENABLE_NULL_CHECK_FOR_GET": "false",
}
LAUNCHER = """#!/bin/sh
# Python without the archive of Spark's modules: they are installed, and compiled.
# Spark tells workers how many threads numpy may have, but not the processes that plan: there they
# would spin for longer than all the planning takes.
export OMP_NUM_THREADS="${{OMP_NUM_THREADS:-1}}"
kept=
IFS=:
for entry in $PYTHONPATH; do
  case "$entry" in
    {home}/*) ;;
    *) kept="$kept${{kept:+:}}$entry" ;;
  esac
done
unset IFS
export PYTHONPATH="$kept"
# Each streaming query starts one of these: they are forked, from one that has imported all.
if [ "$*" = "-m {stream_planner}" ]; then
  exec {python} -I -S {call} {python} "$@"
fi
exec {python} "$@"
"""


def prepare_python(cache: Path | None = None) -> Path:
    """Let Spark's workers run on this Python, unless the user has chosen one; say which it is."""
    if os.name == "posix":
        os.environ.setdefault(UNIX_SOCKETS, "true")
    for name, value in ARROW_CHECKS.items():
        os.environ.setdefault(name, value)
    chosen = os.environ.setdefault(VARIABLE, str(worker_python(cache)))
    return Path(chosen)


def worker_python(cache: Path | None = None) -> Path:
    """The launcher where it does any good, else this very Python."""
    installed = installed_spark()
    if installed is None or os.name != "posix":
        return Path(sys.executable)
    text = LAUNCHER.format(
        home=shlex.quote(str(installed)),
        python=shlex.quote(sys.executable),
        stream_planner=STREAM_PLANNER,
        call=shlex.quote(standby_call.__file__),
    )
    # One for each environment, told apart by where it is, and for each text: two versions of this
    # package may use one environment in turn, and each needs the modules that its own text names.
    name = f"python-{sys.prefix.strip('/').replace('/', '-')}-{crc32(text.encode()):08x}"
    return write_script((cache or cache_directory()) / name, text)


def installed_spark() -> Path | None:
    """The folder of the installed Spark, if that is the one that will run."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent
    other = os.environ.get("SPARK_HOME")
    if other is not None and Path(other).resolve() != home.resolve():
        return None
    return home if (home / "jars").is_dir() and find_spec("py4j") else None


if __name__ == "__main__":
    print(worker_python())
