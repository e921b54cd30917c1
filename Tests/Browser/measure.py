"""Prints how long pages and interactions take, with many subjects and messages. It is not a test: machines differ."""

import argparse
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import requests
from browsing.visits import CHROMIUM
from harness.product import PASSWORD, SAME_ORIGIN, Product
from playwright.sync_api import sync_playwright

LOAD_GOAL, INTERACTION_GOAL = 300, 200
# The time from an event to the next picture that shows its effect, as the browser measures it.
OBSERVE = """
window.interactions = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (entry.interactionId) window.interactions.push(entry.duration);
}).observe({ type: "event", durationThreshold: 16, buffered: true });
"""


def fill(product, subject_count, message_count):
    """Adds subjects, in areas of ten and channels of a hundred, and then messages to all of them."""
    subjects = []
    while len(subjects) < subject_count:
        channel = product.new_channel()
        for _ in range(10):
            area = product.new_area(channel)
            subjects += [product.new_subject(channel=channel, area=area) for _ in range(10)]
    token = (product.folder / "token").read_text().strip()
    clients = [requests.Session() for _ in range(16)]

    def post(number):
        subject = subjects[number % len(subjects)]
        body = {
            "title": f"Message {number} about exams", "desc": "", "message": "All lectures are cancelled. " * 5,
            "topic_key": subject.topic_key, "distribution": "Information"}
        answer = clients[number % 16].post(product.url + "/message", json=body, headers={"Authorization": f"Bearer {token}"}, timeout=30)
        assert answer.status_code == 201, answer.text

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(post, range(message_count)))
    return subjects


class Browser:
    def __init__(self, browser, product):
        self.context = browser.new_context(base_url=product.url, viewport={"width": 1280, "height": 900}, locale="en-GB")
        self.context.add_init_script(OBSERVE)

    def sign_in(self):
        assert self.context.request.post("/session", data={"account": "admin", "password": PASSWORD}, headers=SAME_ORIGIN).ok
        return self

    def load(self, path, usable):
        """Milliseconds from the start of the navigation until an element is there."""
        page = self.context.new_page()
        start = time.perf_counter()
        page.goto(path, wait_until="commit")
        page.wait_for_selector(usable)
        spent = (time.perf_counter() - start) * 1_000
        page.close()
        return spent


def interact(page, name, act, shown):
    """Does something, and prints the slowest of its interactions."""
    page.evaluate("interactions.length = 0")
    act()
    page.wait_for_selector(shown)
    # The browser tells about an event after its picture.
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 150)))")
    # Durations under 16 ms are not told.
    slowest = max(page.evaluate("interactions"), default=16)
    print(f"{name:<45}{slowest:>7.0f} ms{'' if slowest <= INTERACTION_GOAL else '   over the goal'}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--executables", required=True)
    parser.add_argument("--loads", type=int, default=9)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--subjects", type=int, default=1_000)
    options = parser.parse_args()
    product = Product(options.executables)
    try:
        subjects = fill(product, options.subjects, options.messages)
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(**CHROMIUM)
            measure(chromium, product, options, subjects)
            chromium.close()
    finally:
        product.stop()


def measure(chromium, product, options, subjects):
    print(f"{options.subjects} subjects, {options.messages} messages; goals: {LOAD_GOAL} ms to a usable page, {INTERACTION_GOAL} ms an interaction")
    pages = [("sign-in page", "/", "input[name=username]", False), ("Send", "/portal/send/", "input[name=title]", True), ("Messages", "/portal/messages/", "[data-key]", True)]
    for name, path, usable, is_signed_in in pages:
        # Each load in a browser that has never been there; then in one that has.
        first = [(Browser(chromium, product).sign_in() if is_signed_in else Browser(chromium, product)).load(path, usable) for _ in range(options.loads)]
        known = Browser(chromium, product).sign_in() if is_signed_in else Browser(chromium, product)
        known.load(path, usable)
        later = [known.load(path, usable) for _ in range(options.loads)]
        print(f"{name + ', usable, first visit':<45}{statistics.median(first):>7.0f} ms   (slowest {max(first):.0f})")
        print(f"{name + ', usable, later visits':<45}{statistics.median(later):>7.0f} ms   (slowest {max(later):.0f})")

    page = Browser(chromium, product).sign_in().context.new_page()
    page.goto("/portal/send/")
    box = page.get_by_role("combobox", name="Subject")
    interact(page, "open the list of subjects", box.click, "[role=option]")
    interact(page, "search a subject, each key", lambda: box.press_sequentially(subjects[-1].name, delay=30), "[role=option]")
    interact(page, "choose it", lambda: box.press("Enter"), "subject-picker[chosen]")
    text = page.get_by_role("textbox", name="Message", exact=True)
    interact(page, "write, each key", lambda: text.press_sequentially("All lectures of today are cancelled.", delay=30), "form")
    page.goto("/portal/messages/")
    page.wait_for_selector("[data-key]")
    search = page.get_by_role("searchbox")
    interact(page, "search messages, each key", lambda: search.press_sequentially("exams", delay=30), "[data-key]")
    for _ in range(10):
        page.mouse.wheel(0, 6_000)
        page.evaluate("new Promise((done) => setTimeout(done, 200))")
    rows = page.locator("[data-key]").count()
    interact(page, f"press a filter with {rows} messages shown", lambda: page.get_by_role("button", name="Mine").click(), "[aria-pressed=true]")
    page.goto("/portal/cube/")
    page.wait_for_selector("h1")
    interact(page, "filter the cube, each key", lambda: page.get_by_role("searchbox").press_sequentially(subjects[-1].name, delay=30), "main")


main()
