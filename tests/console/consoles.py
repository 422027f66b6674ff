"""A console as users run it, and a browser that looks at it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.waiting import wait_until

STOP_WITHIN_S = 20


@contextmanager
def console(*arguments: str) -> Iterator[str]:
    """A console that runs as long as the block; its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "odradek.cli", "console", "--json", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield str(json.loads(line)["console"])
    finally:
        process.terminate()
        _, said = process.communicate(timeout=STOP_WITHIN_S)
        assert "Traceback" not in said, said


class Page:
    """A browser at one console."""

    def __init__(self, driver: WebDriver, base: str) -> None:
        self.driver = driver
        self.base = base

    def open(self, path: str) -> None:
        self.driver.get(self.base + path)
        self.see("Odradek", ".brand")

    def texts(self, selector: str = "body") -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map(it => it.innerText)"
        found: list[str] = self.driver.execute_script(script, selector)
        return found

    def shows(self, text: str, selector: str = "body") -> bool:
        return any(text in it for it in self.texts(selector))

    def see(self, text: str, selector: str = "body") -> None:
        """Wait until a text is shown."""
        wait_until(lambda: self.shows(text, selector))

    def see_no(self, text: str, selector: str = "body") -> None:
        wait_until(lambda: not self.shows(text, selector))

    def button(self, text: str) -> WebElement:
        return self.driver.find_element(By.XPATH, f"//button[contains(., '{text}')]")

    def click(self, text: str) -> None:
        wait_until(lambda: self._clicked(text))

    def _clicked(self, text: str) -> bool:
        try:
            found = [
                it
                for it in self.driver.find_elements(By.XPATH, f"//button[contains(., '{text}')]")
                if it.is_displayed() and it.is_enabled()
            ]
            if found:
                self.driver.execute_script("arguments[0].click()", found[-1])
        except StaleElementReferenceException:
            return False
        return bool(found)

    def follow(self, text: str) -> None:
        """Go where a link in a table leads; rows may be drawn anew at any moment."""
        script = """
            const links = [...document.querySelectorAll('td a')];
            const found = links.find(it => it.innerText == arguments[0]);
            found?.click();
            return !!found;
        """
        wait_until(lambda: self.driver.execute_script(script, text))

    def choose(self, label: str, text: str) -> None:
        """Pick an option of the select that now shows `label`."""
        xpath = f"//label[contains(@class,'q-select')][contains(., '{label}')]"
        self.driver.find_element(By.XPATH, xpath).click()
        wait_until(lambda: self.shows(text, ".q-menu .q-item"))
        option = f"//*[contains(@class,'q-menu')]//*[@role='option'][contains(., '{text}')]"
        self.driver.find_element(By.XPATH, option).click()
        wait_until(lambda: not self.texts(".q-menu .q-item"))

    def write(self, selector: str, text: str, *, end: str = "") -> None:
        """Replace what stands in a field."""
        wait_until(lambda: self._written(selector, text + end))

    def _written(self, selector: str, text: str) -> bool:
        try:
            fields = self.driver.find_elements(By.CSS_SELECTOR, selector)
            if fields:
                fields[0].send_keys(Keys.CONTROL, "a")
                fields[0].send_keys(text)
        except StaleElementReferenceException:
            return False
        return bool(fields)

    def value(self, selector: str) -> str:
        script = "return document.querySelector(arguments[0])?.value ?? ''"
        return str(self.driver.execute_script(script, selector))

    def errors(self) -> list[str]:
        """What the browser has complained about since it was asked last."""
        said: list[dict[str, Any]] = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [it["message"] for it in said if it["level"] == "SEVERE"]
