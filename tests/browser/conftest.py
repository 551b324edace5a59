"""One real browser for all tests of pages; machines that cannot have one say so, CI never skips."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ARTEFACTS = Path(__file__).resolve().parents[2] / "artefacts"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def unavailable(reason: str) -> None:
    """Skip, or fail where a missing browser would hide a broken page."""
    if os.environ.get("PULENS_BROWSER") == "required" or os.environ.get("CI"):
        pytest.fail(f"the pages must be tested in a browser here, but {reason}")
    pytest.skip(f"pages not tested in a browser: {reason}; 'make browser' installs one")


@pytest.fixture(scope="session")
def chromium():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        unavailable("playwright is not installed")
    result = next((place for name in BROWSERS if (place := shutil.which(name))), None)
    if result is None:
        unavailable(f"none of {', '.join(BROWSERS)} is installed")
    ARTEFACTS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=result, args=FLAGS)
        yield browser
        browser.close()


class Tabs:
    """Pages of the one browser, lent again once they are blank: a new one costs twice what opening a file does."""

    def __init__(self, browser):
        self.browser = browser
        self.free: dict[str, list] = {}

    def lend(self, viewport: dict, color_scheme: str, **options):
        """A blank page of this size and scheme; other options, as the density of its dots, are its own for good."""
        free = self.free.setdefault(repr(options), [])
        page = free.pop() if free else self.browser.new_context(**options).new_page()
        page.set_viewport_size(viewport)
        page.emulate_media(media="null", color_scheme=color_scheme)
        return page

    def take_back(self, page, **options) -> None:
        """Forget what the page kept, so that the next test finds a browser that has seen nothing."""
        page.goto("about:blank")
        session = page.context.new_cdp_session(page)
        session.send("Storage.clearDataForOrigin", {"origin": "file://", "storageTypes": "all"})
        session.detach()
        self.free[repr(options)].append(page)

    def close(self) -> None:
        for page in (page for pages in self.free.values() for page in pages):
            page.context.close()


@pytest.fixture(scope="session")
def tabs(chromium):
    tabs = Tabs(chromium)
    yield tabs
    tabs.close()


class Opened:
    """A page opened from disk, with everything it said and asked for."""

    def __init__(self, tabs: Tabs, path: Path, fragment: str = "", *, folded: bool = False, **options):
        shape = {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light"}
        self.tabs, self.options = tabs, {name: value for name, value in options.items() if name not in shape}
        self.page = tabs.lend(**{**shape, **options})
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.listeners = {
            "console": lambda message: self.messages.append(f"{message.type}: {message.text}"),
            "pageerror": lambda error: self.messages.append(f"error: {error}"),
            "dialog": lambda dialog: (self.messages.append(f"dialog: {dialog.message}"), dialog.dismiss()),
            "request": lambda request: self.requests.append(request.url),
        }
        for event, listener in self.listeners.items():
            self.page.on(event, listener)
        self.is_closed = False
        self.address = path.resolve().as_uri()
        self.page.goto(self.address + fragment)
        if not folded:
            self.unfold()

    def unfold(self) -> None:
        """Open what a page folds away until somebody asks."""
        self.page.evaluate("for (const fold of document.querySelectorAll('details.fold')) fold.open = true")
        self.settle()

    def close(self) -> None:
        """Give the page back, after a look at what it said; where it complained, it is not lent again."""
        self.check_quiet()
        for event, listener in self.listeners.items():
            self.page.remove_listener(event, listener)
        self.tabs.take_back(self.page, **self.options)
        self.is_closed = True

    def number(self, metric: str) -> float:
        """A metric as the page holds it, to the last digit."""
        return float(self.page.locator(f"td[data-live='{metric}']").get_attribute("data-value"))

    def cell(self, name: str) -> float:
        return float(self.page.locator(f"[data-cell='{name}']").get_attribute("data-value"))

    def settle(self) -> None:
        """Wait until what was asked for is drawn and kept in the address."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 160)))")

    def keep(self, name: str) -> None:
        """A picture of the whole page for people to look at, where they ask for it: PULENS_SCREENSHOTS=1."""
        if not os.environ.get("PULENS_SCREENSHOTS"):
            return
        self.page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True)

    def on_paper(self, name: str) -> bytes:
        return self.page.pdf(path=ARTEFACTS / f"{name}.pdf", format="A4", print_background=True)

    def check_quiet(self) -> None:
        """Nothing but the file itself was loaded, and nothing was complained about."""
        outside = [url for url in self.requests if not url.startswith((self.address, "data:", "blob:"))]
        assert outside == []
        assert self.messages == []


@pytest.fixture
def open_page(tabs):
    opened = []

    def opener(path: Path, fragment: str = "", **options) -> Opened:
        opened.append(Opened(tabs, path, fragment, **options))
        return opened[-1]

    yield opener
    for one in opened:
        if not one.is_closed:
            one.close()
