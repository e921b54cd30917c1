"""The budget of each page: less than 60,000 bytes of JavaScript, as they come over the network."""

import pytest
from playwright.sync_api import expect

BUDGET = 60_000
PAGES = ["send", "messages", "message", "templates", "broadcasts", "overview", "cube", "people", "tokens", "audit", "account"]


def loaded(page):
    """The number of scripts that a page has loaded, their bytes as transferred, and as decompressed."""
    scripts = page.evaluate(
        """performance.getEntriesByType("resource").filter((entry) => new URL(entry.name).pathname.endsWith(".js"))
           .map((entry) => [entry.name, entry.encodedBodySize, entry.decodedBodySize])""")
    assert scripts and all(size for _, size, _ in scripts), scripts
    return len(scripts), sum(size for _, size, _ in scripts), sum(size for *_, size in scripts)


@pytest.mark.parametrize("name", PAGES)
def test_javascript(product, visit, name):
    path = f"/portal/{name}/"
    if name == "message":
        path += f"?key={product.send(product.new_subject('Weighed'))}"
    page = visit(path, account="admin")
    expect(page.get_by_role("link", name="Sending works")).to_be_attached() if name != "message" else None
    count, transferred, decompressed = loaded(page)
    print(f"{name}: {count} scripts, {transferred} bytes transferred, {decompressed} decompressed")
    assert transferred < BUDGET, f"{name}: {transferred}"


def test_javascript_of_the_first_page(product, visit):
    _, transferred, _ = loaded(visit("/", account=None))
    assert transferred < BUDGET


def test_files_come_from_the_browsers_cache_the_second_time(product, visit):
    transferred = """Object.fromEntries(performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/portal/files/"))
        .map((entry) => [entry.name, entry.transferSize]))"""
    page = visit("/portal/send/")
    first = page.evaluate(transferred)
    page.goto("/portal/messages/")
    visit.settle(page)
    again = {name: size for name, size in page.evaluate(transferred).items() if name in first}
    assert again and not any(again.values()), again
