"""The chapters in JupyterLab, as `make lab` opens them."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright import sync_api

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120
TOKEN = "only-for-this-test"


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab that shows a copy of the chapters: it saves what it opens."""
    chapters = shutil.copytree(ROOT / "chapters", tmp_path / "chapters")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        f"--IdentityProvider.token={TOKEN}",
    ]
    program = str(Path(sys.executable).parent / "jupyter")
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen([program, "lab", *options, chapters], stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + START_SECONDS
        while not answers(f"{address}/api"):
            assert server.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < end, (tmp_path / "log").read_text()
            time.sleep(0.2)
        yield f"{address}/lab/tree/{{}}?token={TOKEN}"
    finally:
        server.terminate()
        server.wait(30)


def answers(address):
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except OSError:
        return False


def test_lab_shows_formulas_theorems_and_charts(lab, chromium):
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        # As high as the chapter: JupyterLab draws only what is on the screen.
        page = browser.new_page(viewport={"width": 1400, "height": 12_000})
        page.set_default_timeout(1000 * START_SECONDS)
        page.goto(lab.format("04_known_distribution.ipynb"))
        boxes = page.locator("aside.myst-proof")
        for title in ("Lemma", "Proposition", "Example"):
            sync_api.expect(boxes.filter(has_text=title).first).to_be_visible(timeout=60_000)
        assert boxes.locator(".katex").count() > 10
        assert page.locator(".katex-error").count() == 0
        sync_api.expect(page.locator(".vega-embed").first).to_be_visible(timeout=60_000)
        browser.close()
