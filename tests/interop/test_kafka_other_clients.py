"""kcat, franz-go and kafkajs see at our broker what they see at Apache's.

Whoever lacks one of them skips its tests, and is told which.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.interop.kafka_pair import Brokers
from tests.interop.kafka_text import Broker, shared
from tests.interop.maven import HERE

RUN_WITHIN_S = 150
FETCH_WITHIN_S = 300
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
VALUES = "".join(f"key{n % 3}:value {n}\n" for n in range(100))
PORT = re.compile(r'"port":\d+')


def need(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not here")


def told(command: list[str], broker: Broker, given: str = "") -> list[str]:
    """What a program says that has come to its end."""
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=RUN_WITHIN_S
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return shared(PORT.sub('"port":PORT', done.stdout), broker)


def kcat(brokers: Brokers, *arguments: str, given: str = "") -> list[str]:
    ours, theirs = (
        told(["kcat", "-b", broker.address, *arguments], broker, given)
        for broker in (brokers.ours, brokers.theirs)
    )
    assert ours == theirs
    return ours


@pytest.mark.parametrize("codec", CODECS)
def test_kcat(brokers: Brokers, codec: str) -> None:
    need("kcat")
    topic = f"kcat-{codec}"
    for idempotent in ("false", "true"):
        settings = ("-z", codec, "-X", f"enable.idempotence={idempotent}", "-H", "a=1", "-H", "b=")
        kcat(brokers, "-P", "-t", topic, "-p", "0", "-K:", *settings, given=VALUES)
    shown = ("-f", "%o %k %s %h\\n", "-e", "-q")
    read = kcat(brokers, "-C", "-t", topic, "-p", "0", "-o", "beginning", *shown)
    assert len(read) == 200
    assert read[150] == "150 key2 value 50 a=1,b="
    assert len(kcat(brokers, "-C", "-t", topic, "-p", "0", "-o", "-10", *shown)) == 10
    assert len(kcat(brokers, "-C", "-t", topic, "-p", "0", "-o", "s@1", *shown)) == 200
    for when in ("-2", "-1", "1"):
        kcat(brokers, "-Q", "-t", f"{topic}:0:{when}")
    assert any(topic in line for line in kcat(brokers, "-L", "-t", topic))


@pytest.fixture(scope="module")
def franz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our programs that use franz-go, built."""
    need("go")
    folder = tmp_path_factory.mktemp("go")
    build = ["go", "build", "-o", f"{folder}/", "./..."]
    done = subprocess.run(build, cwd=HERE / "go", capture_output=True, timeout=FETCH_WITHIN_S)
    if done.returncode:
        pytest.skip("Go could not fetch or build what tests/interop/go names")
    return folder


@pytest.mark.parametrize("codec", CODECS)
def test_franz_go(brokers: Brokers, franz: Path, codec: str) -> None:
    ours, theirs = (
        told([str(franz / "interop"), broker.address, codec], broker)
        for broker in (brokers.ours, brokers.theirs)
    )
    assert ours == theirs
    assert "low watermark 10" in ours


def test_groups_and_transactions_of_franz_go(brokers: Brokers, franz: Path) -> None:
    ours, theirs = (
        told([str(franz / "groups"), broker.address], broker)
        for broker in (brokers.ours, brokers.theirs)
    )
    assert ours == theirs
    assert "fenced true" in ours


@pytest.fixture(scope="module")
def kafkajs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our program and kafkajs."""
    need("node")
    need("npm")
    folder = tmp_path_factory.mktemp("node") / "kafkajs"
    shutil.copytree(HERE / "node", folder)
    install = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(install, cwd=folder, capture_output=True, timeout=FETCH_WITHIN_S)
    if done.returncode:
        pytest.skip("npm could not fetch what tests/interop/node names")
    return folder


def test_kafkajs(brokers: Brokers, kafkajs: Path) -> None:
    ours, theirs = (
        told(["node", str(kafkajs / "walk.js"), broker.address], broker)
        for broker in (brokers.ours, brokers.theirs)
    )
    assert ours == theirs
    assert '["kafkajs-gzip","kafkajs-none","kafkajs-snappy"]' in ours


def test_groups_and_transactions_of_kafkajs(brokers: Brokers, kafkajs: Path) -> None:
    ours, theirs = (
        told(["node", str(kafkajs / "groups.js"), broker.address], broker)
        for broker in (brokers.ours, brokers.theirs)
    )
    assert ours == theirs
    assert any("the last" in line for line in ours)
