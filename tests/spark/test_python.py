"""Workers are started on this Python, with Spark's modules compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from odradek.spark.python import (
    ARROW_CHECKS,
    UNIX_SOCKETS,
    VARIABLE,
    installed_spark,
    prepare_python,
    worker_python,
)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    for name in (VARIABLE, UNIX_SOCKETS, *ARROW_CHECKS):
        monkeypatch.setenv(name, "")  # So that it is put back as it was.
        monkeypatch.delenv(name)


def ask(python: Path, code: str, **environment: str) -> str:
    command = [str(python), "-c", code]
    done = subprocess.run(
        command, env={**os.environ, **environment}, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_the_archives_of_spark_are_left_out_and_nothing_else_is(tmp_path: Path) -> None:
    home = installed_spark()
    assert home is not None
    path = f"/one place:{home}/python/lib/pyspark.zip:{home}/jars/spark-core.jar:/other"
    python = worker_python(tmp_path)
    told = ask(python, "import os; print(os.environ['PYTHONPATH'])", PYTHONPATH=path)
    assert told == "/one place:/other"
    archive = f"{home}/python/lib/pyspark.zip"
    found = ask(python, "import pyspark; print(pyspark.__file__)", PYTHONPATH=archive)
    assert found == str(home / "__init__.py")


def test_it_is_the_same_python(tmp_path: Path) -> None:
    told = ask(worker_python(tmp_path), "import sys; print(sys.executable, sys.prefix)")
    assert told == f"{sys.executable} {sys.prefix}"


def test_another_spark_keeps_its_own_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert worker_python(tmp_path) == Path(sys.executable)


def test_workers_talk_over_unix_sockets_unless_the_user_has_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_python(tmp_path)
    assert os.environ[UNIX_SOCKETS] == "true"
    monkeypatch.setenv(UNIX_SOCKETS, "false")
    prepare_python(tmp_path)
    assert os.environ[UNIX_SOCKETS] == "false"


def test_arrow_tests_no_value_twice_unless_the_user_has_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsafe, nulls = ARROW_CHECKS
    monkeypatch.setenv(unsafe, "false")
    prepare_python(tmp_path)
    assert (os.environ[unsafe], os.environ[nulls]) == ("false", "false")


def test_spark_reads_arrow_without_these_tests(spark: SparkSession) -> None:
    """The session of the tests is started with it."""
    assert spark.sparkContext._jvm is not None
    arrow = spark.sparkContext._jvm.org.apache.arrow
    assert not arrow.memory.BoundsChecking.BOUNDS_CHECKING_ENABLED
    assert not arrow.vector.NullCheckingForGet.NULL_CHECKING_ENABLED


def test_numpy_has_one_thread_where_spark_does_not_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    python, question = worker_python(tmp_path), "import os; print(os.environ['OMP_NUM_THREADS'])"
    assert ask(python, question) == "1"
    assert ask(python, question, OMP_NUM_THREADS="3") == "3"


def test_who_has_chosen_a_python_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/usr/bin/python3")
    assert prepare_python(tmp_path) == Path("/usr/bin/python3")
    monkeypatch.delenv(VARIABLE)
    assert os.environ.get(VARIABLE) is None
    assert prepare_python(tmp_path) == Path(os.environ[VARIABLE])


def test_spark_runs_its_tasks_on_it(spark: SparkSession) -> None:
    """The session of the tests is started with it."""

    def where(_: object) -> list[str]:
        import pyspark

        return [str(pyspark.__file__)]

    found = spark.sparkContext.parallelize([1], 1).mapPartitions(where).collect()
    assert found == [str(Path(str(installed_spark())) / "__init__.py")]
