"""The rendered book in a real browser: what is wrong with a page, and pictures of all of them.

The tests ask for the first, `make screenshots` for the second.
"""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
PAGES = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]

NAMES = ["chromium", "chromium-browser", "google-chrome"]
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
NO_CHROMIUM = f"no browser: none of {', '.join(NAMES)} is installed"

WIDE, PHONE = 1280, 375
# In each view of a page: the checks of checks.js, and the rules of axe-core.
# Dark differs from light in colours only, narrow from wide in boxes that scroll.
VIEWS = [
    (
        "light",
        WIDE,
        "icon mathematics figures links headings tables",
        "wcag2a wcag2aa wcag21a wcag21aa",
    ),
    ("dark", WIDE, "pictures", "color-contrast"),
    ("light", PHONE, "width labels", "scrollable-region-focusable"),
]


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """What is not found, the browser tells."""


@contextmanager
def browse(site: Path) -> Iterator[BrowserContext]:
    """A browser whose addresses begin at the site, and for which no other host exists."""
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=site)) as server,
        sync_playwright() as playwright,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        with playwright.chromium.launch(executable_path=CHROMIUM, args=[alone]) as browser:
            address = f"http://127.0.0.1:{server.server_port}/"
            context = browser.new_context(base_url=address, reduced_motion="reduce")
            context.set_default_timeout(120_000)  # a slow machine is no fault of the page
            context.add_init_script(path=Path(__file__).with_name("checks.js"))
            yield context
        server.shutdown()


def visit(page: Page, name: str, theme: str, width: int) -> None:
    """Open a page in one of its views, and wait until everything is in place."""
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{name}.html")
    page.evaluate("() => window.MathJax?.startup?.promise?.then(() => null)")
    page.evaluate("() => document.fonts.ready.then(() => null)")
    page.wait_for_function("() => checks.settled()", polling=50)


def listen(page: Page) -> list[str]:
    """A list that grows by whatever the page's scripts and requests complain of."""
    heard: list[str] = []

    def say(kind: str, what: object, wrong: bool = True) -> None:
        if wrong:
            heard.append(f"{kind}: {what}")

    def ask(url: str) -> None:
        place = urlsplit(url)
        say(
            "elsewhere", url, place.scheme not in ("data", "blob") and place.hostname != "127.0.0.1"
        )

    page.on("pageerror", lambda error: say("script", error))
    page.on("console", lambda line: say("console", line.text, line.type in ("error", "warning")))
    page.on("request", lambda request: ask(request.url))
    # A request is aborted when the page is left before it is answered: nothing is wrong with it.
    page.on("requestfailed", lambda r: say("request", r.url, r.failure != "net::ERR_ABORTED"))
    page.on("response", lambda answer: say("request", answer.url, answer.status >= 400))
    return heard


def accessibility(page: Page, rules: str) -> list[str]:
    """What axe-core calls serious or critical."""
    # With `preload`, axe asks for style sheets at addresses that do not exist.
    options = {
        "runOnly": rules.split(),
        "resultTypes": ["violations"],
        "preload": False,
        "selectors": False,
    }
    return [
        f"{violation['id']}: {node['html'][:120]}"
        for violation in Axe().run(page, options=options).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def complaints(context: BrowserContext, name: str) -> list[str]:
    """All that is wrong with a page, each with the view and the check that found it."""
    with context.new_page() as page:
        found = listen(page)
        for theme, width, checks, rules in VIEWS:
            visit(page, name, theme, width)
            view = "phone" if width == PHONE else theme
            for check in checks.split():
                wrong = page.evaluate("check => checks[check]()", check)
                found += [f"{view} {check}: {what}" for what in wrong]
            found += [f"{view} accessibility: {what}" for what in accessibility(page, rules)]
        return list(found)


def keyboard(context: BrowserContext, name: str) -> list[str]:
    """What the Tab key does not reach, or reaches without showing where it is."""
    with context.new_page() as page:
        visit(page, name, "light", WIDE)
        stops = {}
        page.keyboard.press("Tab")
        while stop := page.evaluate("() => checks.focus()"):
            stops[stop[0]] = stops.get(stop[0], True) and stop[1]
            page.keyboard.press("Tab")
    wanted = ["Skip to main content", "Search", "Color mode"]
    missed = [f"not reached: {name}" for name in wanted if name not in stops]
    return missed + [f"not shown: {name}" for name, shown in stops.items() if not shown]


def screenshots(site: Path, folder: Path) -> None:
    """Every page, wide and narrow, light and dark, and one page that shows them all."""
    views = [(theme, width) for width in (WIDE, PHONE) for theme in ("light", "dark")]
    rows = []
    with browse(site) as context, context.new_page() as page:
        for name in PAGES:
            cells = ""
            for theme, width in views:
                visit(page, name, theme, width)
                picture = f"{name.replace('/', '-')}-{width}-{theme}.png"
                # Not `full_page`: for that the window shrinks for a moment, and the charts with it.
                height = page.evaluate("() => document.scrollingElement.scrollHeight")
                page.set_viewport_size({"width": width, "height": height})
                page.screenshot(path=folder / picture, animations="disabled")
                cells += f'<td><a href="{picture}"><img src="{picture}" alt="{picture}"></a></td>'
            rows.append(f"<tr><th>{name}</th>{cells}</tr>")
            print(name, flush=True)
    head = "".join(f"<th>{theme}, {width} pixels</th>" for theme, width in views)
    style = "img {height: 24em; width: 16em; object-fit: cover; object-position: top}"
    (folder / "index.html").write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Screenshots</title>'
        f"<style>{style}</style><table><tr><th>page</th>{head}</tr>{''.join(rows)}</table></html>"
    )


if __name__ == "__main__":
    site = ROOT / "_build" / "html"
    if not (site / "index.html").exists():
        sys.exit("There is no book in _build/html yet: run `make book` first.")
    if not CHROMIUM:
        sys.exit(NO_CHROMIUM)
    screenshots(site, ROOT / "_build" / "screenshots")
    print(f"The screenshots are at {ROOT / '_build' / 'screenshots' / 'index.html'}")
