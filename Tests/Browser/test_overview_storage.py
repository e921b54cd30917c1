"""What is stored and the calls of the month, on the overview of super users."""

import pytest
from playwright.sync_api import expect

STORES = [
    {"name": "message-log", "bytes": 3_400_000, "free": 90_000_000_000, "percent": 40},
    {"name": "messaging", "bytes": 920_000_000, "limit": 1_000_000_000, "free": 80_000_000, "percent": 92},
    {"name": "pictures", "bytes": 5_000_000_000, "limit": 5_000_000_000, "free": 0, "percent": 100},
]
CALLS = {
    "messages": 12, "reports": 1, "pictures": 5_000_000_000, "picture_limit": 5_000_000_000, "month": "2026-05",
    "calls": {"getMessage": 1_700_000, "sendMessage": 150_000, "others": 50_000}, "call_limit": 2_000_000, "now": 1_780_000_000_000,
}


def answers(stores=STORES, calls=CALLS, away=()):
    return {"**/storage": lambda route: route.fulfill(json={"stores": stores, "away": away}), "**/calls": lambda route: route.fulfill(json=calls)}


def row(page, name):
    return page.locator(f"[data-store='{name}']")


def test_storage_and_calls(visit, pictures):
    """Of the running hub: each store says how much of what it uses."""
    page = visit("/portal/overview/", account="admin")
    expect(page.get_by_role("heading", name="Storage, and calls of the month")).to_be_visible()
    for name in ("message-log", "cube", "people", "broadcast", "study", "webpush", "messaging", "pictures"):
        expect(row(page, name)).to_contain_text("Enough left")
    expect(row(page, "calls")).to_contain_text("No number is set")
    pictures(page, "overview-storage", right_to_left=True)


@pytest.mark.parametrize("language,words", [
    ("en", {"message-log": ["3.4 MB", "90 GB free on the disk", "Enough left"], "messaging": ["920 MB of 1 GB. 92 % of the room is used.", "Nearly used up"],
            "pictures": ["5 GB of 5 GB. 100 % of the room is used.", "Used up"], "calls": ["1,900,000 calls of 2,000,000 in May 2026 (95 %)", "Nearly used up"]}),
    pytest.param("ar", {"messaging": ["يوشك أن ينفد"], "pictures": ["نفد"]}, marks=pytest.mark.at_length),
])
def test_what_is_nearly_used_up_is_told(visit, pictures, language, words):
    page = visit("/portal/overview/", account="admin", language=language, routes=answers())
    for name, texts in words.items():
        for text in texts:
            expect(row(page, name)).to_contain_text(text)
    if language == "en":
        row(page, "calls").get_by_text("Show the kinds of calls").click()
        expect(row(page, "calls")).to_contain_text("1,700,000")
        pictures(page, "overview-storage-full")


def test_the_rest_is_shown_while_a_part_is_away(visit):
    visit.expect_errors(r"status of 503")
    away = {**answers(away=["study"]), "**/calls": lambda route: route.fulfill(status=503, json={"type": "/problems/service-unavailable"})}
    page = visit("/portal/overview/", account="admin", routes=away)
    expect(row(page, "messaging")).to_be_visible()
    expect(page.get_by_text("A part of the hub is away. Try again in a moment.")).to_be_visible()
    expect(page.get_by_text("No answer about: Classes and study sessions")).to_be_visible()
    expect(row(page, "calls")).to_have_count(0)


def test_communicators_see_no_storage(visit):
    page = visit("/portal/overview/")
    expect(page.get_by_role("heading", name="Parts of the hub")).to_be_visible()
    expect(page.locator(".services .service").first).to_be_visible()
    expect(page.locator("[data-store]")).to_have_count(0)
