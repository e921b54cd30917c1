"""Pages of the portal that people have open, and what their browsers complain about."""

import re

from harness.waiting import eventually
from playwright.sync_api import expect

# How Playwright launches Debian's Chromium: the one without windows, which needs little more than half of the processor time. Its sandbox
# needs rights that a container does not have, and only our own pages are opened. A container's shared memory is small.
CHROMIUM = {"executable_path": "/usr/bin/chromium-headless-shell", "args": ["--no-sandbox", "--disable-dev-shm-usage"]}
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 320, "height": 720}

# What a browser says while the gateway does not answer, while it answers for a service that is away, and when the first page asks who
# is signed in.
GATEWAY_AWAY = r"net::ERR_"
SERVICE_AWAY = r"status of 503"
SIGNED_OUT = r"status of 401 .*/session\)"


class Visits:
    """Opens pages, and keeps every error that a browser reports. A test fails at its end if it has not said that it expects them."""

    def __init__(self, browser, product):
        self.browser, self.product = browser, product
        self.contexts, self.products, self.errors, self.expected = [], {}, [], []

    def __call__(self, path="/portal/send/", account="ann", *, product=None, confirmed=False, fresh=False, settled=True, routes=None, clock=False, **options):
        """Opens a page in a new browser, and returns it. `account` is signed in, nobody if it is `None`.

        `confirmed`: its password has just been confirmed, as changes of accounts need it. `fresh`: with a sign-in that no other test
        uses, for a test that ends or confirms it. `settled`: waits until the page shows its content. `routes`: the test's own answers to
        requests, by their addresses. `clock`: the test sets the page's clock forward, with `after`. The other options are those of
        `context`.
        """
        product = product or self.product
        context = self.context(product, **options)
        if account is not None:
            session = product.sign_in(account) if fresh else product.session(account, confirmed)
            context.add_cookies([{"name": name, "value": value, "url": product.url, "httpOnly": True} for name, value in session.cookies.items()])
        page = context.new_page()
        if clock:
            page.clock.install()
        for address, answer in (routes or {}).items():
            page.route(address, answer)
        page.goto(path)
        if settled:
            self.settle(page)
        return page

    def phone(self, phone, **options):
        """Opens a phone's page, which shows its state, and returns it."""
        page = self("/", account=None, product=phone, settled=False, **options)
        expect(page.locator("h1:visible")).to_have_count(1)
        return page

    def context(self, product, *, narrow=False, dark=False, language="en", reduced_motion=False, touch=False, **options):
        context = self.browser.new_context(
            base_url=product.url, viewport=NARROW if narrow else WIDE, color_scheme="dark" if dark else "light",
            locale={"en": "en-GB"}.get(language, language), timezone_id="Europe/Berlin", has_touch=touch,
            reduced_motion="reduce" if reduced_motion else "no-preference", **options)
        context.set_default_timeout(60_000)
        self.contexts.append(context)
        self.products[context] = product
        context.on("console", lambda message: message.type == "error" and self.errors.append(f"{message.text} ({message.location.get('url')})"))
        context.on("weberror", lambda error: self.errors.append(f"uncaught: {error.error}"))
        context.on("requestfailed", self.keep_failure)
        return context

    def keep_failure(self, request):
        # A page that is left ends its requests.
        if request.failure and "ERR_ABORTED" not in request.failure:
            self.errors.append(f"{request.failure} ({request.method} {request.url})")

    def settle(self, page):
        """Waits until a page shows its content instead of the shape of what comes."""
        expect(page.locator("h1:visible").first).to_be_visible()
        expect(page.locator(".skeleton")).to_have_count(0)

    def after(self, page, seconds, what, condition):
        """Sets the page's clock forward by seconds, again and again until `condition()` is true."""
        eventually(what, lambda: page.clock.fast_forward(seconds * 1_000) or condition(), pause=0.5)

    def tab(self, page, path, settled=True):
        """Opens another tab beside a page."""
        other = page.context.new_page()
        other.goto(path)
        if settled:
            self.settle(other)
        return other

    def expect_errors(self, *patterns):
        """The browsers of this test may complain about these things: `visit.expect_errors(r"status of 412")`."""
        self.expected.extend(patterns)

    def product_of(self, page):
        return self.products[page.context]

    def unexpected_errors(self):
        return [error for error in self.errors if not any(re.search(pattern, error) for pattern in self.expected)]

    def close(self):
        for context in self.contexts:
            context.close()
