"""One cluster and one browser for all tests of the console."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

from odradek.testing import Cluster

CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")
DRIVER = which("chromedriver")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-extensions", "--window-size=1360,940",
)  # fmt: skip


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the cluster is."""
    return tmp_path_factory.mktemp("console")


@pytest.fixture(scope="session")
def cluster(directory: Path) -> Iterator[Cluster]:
    """Two brokers: enough for an election."""
    quick = {"zookeeper.session.timeout.ms": "2000", "group.initial.rebalance.delay.ms": "0"}
    with Cluster(2, 1, settings=quick, faults=False, data=directory) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    pytest.importorskip("selenium", reason="selenium drives the browser")
    pytest.importorskip("nicegui", reason="the console is made with nicegui")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("needs chromium and chromedriver on the PATH")
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()
