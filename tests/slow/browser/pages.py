from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Locator, Page, Request, expect

WIDE, NARROW = {"width": 1400, "height": 1000}, {"width": 390, "height": 844}
PHONE: dict[str, Any] = {"viewport": NARROW, "has_touch": True, "is_mobile": True}
COPYING: dict[str, Any] = {"permissions": ["clipboard-read", "clipboard-write"]}


class Visits:
    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.faults: list[str] = []

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def __call__(self, url: str, **options: Any) -> Page:
        page = self.context(**options).new_page()
        page.goto(url)
        return page

    def context(self, *, served: str = "", **options: Any) -> BrowserContext:
        """Return a new context, offline unless its pages are served.

        A served page may report violations of its policy in the console.
        """
        given: dict[str, Any] = {"viewport": WIDE, "offline": not served, "service_workers": "block", **options}
        context = self._browser.new_context(**given)
        # Nothing waits for so long but where the machine is busy.
        context.set_default_timeout(30_000)
        self._contexts.append(context)
        context.on("request", lambda request: self._requested(request, served))
        context.on("dialog", self._dialog)
        context.on("weberror", lambda error: self.faults.append(f"error: {error.error}"))
        if not served:
            context.on("console", self._said)
        return context

    def _requested(self, request: Request, served: str) -> None:
        document = request.is_navigation_request() and request.url.startswith(served or "file://")
        if not document and not request.url.startswith("data:"):
            self.faults.append(f"request: {request.url}")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text}")

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def come_back(page: Page, **stored: str) -> None:
    """Reload a page until it sees what other pages have stored, because the browser shares that with a delay."""
    other = page.context.new_page()
    other.goto(page.url)
    for name, value in stored.items():
        asked = f"value => localStorage.getItem('duvet.{name}') === value"
        # Frames may not come to a page that nobody sees.
        other.wait_for_function(asked, arg=value, polling=50)
    other.close()
    page.reload()


def go(page: Page, fragment: str) -> None:
    page.evaluate("hash => { location.hash = hash }", fragment)
    view = fragment.lstrip("#").partition("?")[0].partition("/")[0] or "overview"
    expect(page.locator(f'[id="{view}"]')).to_be_visible()


def add_style(page: Page, css: str) -> None:
    # The page forbids others' elements of style, but not what tools adopt.
    page.evaluate("async css => document.adoptedStyleSheets.push(await new CSSStyleSheet().replace(css))", css)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def attributes(locator: Locator, name: str) -> list[str]:
    return list(locator.evaluate_all("(all, name) => all.map(one => one.getAttribute(name))", name))


def quote_of(page: Page) -> str:
    return page.locator("#panel blockquote").inner_text()


def views(page: Page) -> list[str]:
    return attributes(page.locator("main > .view").filter(visible=True), "id")


def address(page: Page) -> str:
    return str(page.evaluate("location.hash"))


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def count_elements(page: Page) -> int:
    return int(page.evaluate("document.querySelectorAll('*').length"))


def locators(page: Page) -> dict[str, str]:
    pairs = "articles => articles.map(article => [article.id, article.dataset.locator])"
    return dict(page.locator("article.view").evaluate_all(pairs))
