"""The HTTP API's page, which shows what `/openapi.json` says, to everybody."""

import re

import pytest
from playwright.sync_api import expect


def search(page, words):
    page.get_by_role("searchbox", name="Search").fill(words)


def test_shows_every_route(product, visit):
    page = visit("/api", account=None)
    expect(page.get_by_role("heading", name="HTTP API")).to_be_visible()
    document = product.api("GET", "/openapi.json")
    routes = [f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods]
    assert sorted(page.locator("article .path").all_inner_texts()) == sorted(routes)
    names = page.locator("#documents h3").all_inner_texts()
    assert names == list(document["components"]["schemas"])
    # Nothing leads nowhere.
    assert page.evaluate("[...document.querySelectorAll('a[href^=\"#\"]')].filter((link) => !document.getElementById(link.hash.slice(1))).map((link) => link.hash)") == []


def test_a_route(visit):
    """What a route takes and answers, with an example and its errors."""
    page = visit("/api#sendMessage", account=None)
    route = page.locator("#sendMessage")
    expect(route).to_be_in_viewport()
    for text in ("POST /message", "right: send", "Body", "topic_key", "Answers", "201", "invalid-field", 'curl -X POST "$hub/message"', "-H @authorization"):
        expect(route).to_contain_text(text)
    route.get_by_role("link", name=re.compile("^Distribution")).first.click()
    expect(page.locator(":target h3")).to_have_text(re.compile("^Distribution"))


def test_search(visit, pictures):
    """The words of a route's path, summary, fields and errors find it, with the keyboard alone."""
    page = visit("/api", account=None)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    page.keyboard.insert_text("post /message topic_key")
    expect(page.locator("#sendMessage")).to_be_visible()
    expect(page.locator("article:visible")).not_to_have_count(0)
    expect(page.get_by_role("status")).to_contain_text("Found:")
    expect(page.locator("#documents")).to_be_hidden()
    pictures(page, "api-search", arabic=lambda page: page.get_by_role("searchbox").fill("/display-name"))
    # A link leads also to what the search has hidden, and does so again.
    for _ in range(2):
        search(page, "post /message topic_key")
        expect(page.locator("#documents")).to_be_hidden()
        page.locator("#sendMessage").get_by_role("link", name=re.compile("^Distribution")).first.click()
        expect(page.locator(":target")).to_be_in_viewport()
    search(page, "no such words")
    expect(page.get_by_text("Nothing has all of these words.")).to_be_visible()
    expect(page.locator("article:visible")).to_have_count(0)


@pytest.mark.at_length
def test_the_key_of_the_search(visit):
    """It is where a keyboard of another script has it, and *My account* switches it off."""
    page = visit("/api", account=None)
    expect(page.locator("#sendMessage")).to_be_attached()
    field = page.get_by_role("searchbox", name="Search")
    press = lambda: page.evaluate("""document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ظ", code: "Slash", bubbles: true, cancelable: true }))""")
    press()
    expect(field).to_be_focused()
    field.blur()
    page.evaluate("localStorage.setItem('msi.settings', JSON.stringify({ keys: false }))")
    press()
    page.keyboard.press("/")
    expect(field).not_to_be_focused()


@pytest.mark.at_length
def test_right_to_left(visit, check):
    page = visit("/api", account=None, language="ar")
    page.get_by_role("searchbox").fill("/display-name")
    expect(page.locator("article:visible").first).to_be_visible()
    check(page)


@pytest.mark.at_length
def test_without_an_answer(visit):
    """The page says that it has no document, and reads it when asked to."""
    visit.expect_errors("ERR_FAILED")
    page = visit("/api", account=None, routes={"**/openapi.json": lambda route: route.abort()})
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute("**/openapi.json")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#sendMessage")).to_be_attached()
