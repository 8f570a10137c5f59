"""Headless Chromium for tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from places import ROOT

AXE = ROOT / ".pytest_cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
"""Script that checks the accessibility of a page; .ci/run installs it."""
FLAGS = (
    *(
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
    ),
    *(
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
    ),
)
"""Chromium's options: headless, and without background network requests."""


class Browser:
    """Chromium with an open page.

    Parameters
    ----------
    driver : Any
        Driver of selenium.
    """

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(
        self, page: Path, width: int = 1280, scheme: str = "light", medium: str = "screen"
    ) -> None:
        """Open a page and discard earlier console messages.

        The window has a width in pixels, a colour scheme, and the medium screen or
        print.
        """
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": medium, "features": features}
        )
        self.said()
        self.driver.get(page.as_uri())

    def said(self) -> list[str]:
        """Return the console messages since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def run(self, script: str, *arguments: Any) -> Any:
        """Return the result of a script."""
        return self.driver.execute_script(script, *arguments)

    def violations(self) -> list[str]:
        """Return the serious and critical accessibility faults that axe-core finds."""
        if not AXE.exists():
            pytest.skip(f"axe-core is not in {AXE.relative_to(ROOT)}: .ci/run installs it")
        self.run(AXE.read_text(encoding="utf-8"))
        told = "found.violations.map((each) => [each.impact, each.id, each.nodes[0].html])"
        found = self.driver.execute_async_script(
            f"const done = arguments[0]; axe.run().then((found) => done({told}))"
        )
        return [
            f"{name}: {html}" for impact, name, html in found if impact in ("serious", "critical")
        ]


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """Yield headless Chromium with its profile in an empty folder.

    The test is skipped if Chromium is not installed.
    """
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip(
            "there is no Chromium with its driver (Debian: chromium, chromium-driver): "
            ".ci/run installs both"
        )
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield Browser(started)
    finally:
        started.quit()
