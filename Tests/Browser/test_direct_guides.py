"""The guides to messages, statuses and pictures (Services/Messaging/GUIDES.md) have a section for each screen.

With --pictures this shows each screen and makes its picture. test_app_direct_pages.py, test_app_status.py, test_people_app_pages.py,
test_reports_portal.py, test_overview_storage.py and test_send_upload.py check the same screens in level one.
"""

import re
from types import SimpleNamespace

import pytest
from browsing.app import tab
from browsing.guides import DESK, GuidePictures, PHONE, check_sections
from browsing.people import open_people
from browsing.uploads import chosen, png, upload
from harness.study import student
from harness.waiting import eventually
from playwright.sync_api import expect

INSULT = "You are a fool, and everybody knows it."
# Those of the portal.
ON_DESK = ["reports", "reported", "storage", "alert-picture"]
# Whether the friends' pictures are in their frames, and nothing is on its way that an element shows: a function.
SHOWN = """(friends) => [...document.querySelectorAll(".portrait")].filter((frame) => friends.includes(frame.account) && frame.checkVisibility())
    .every((frame) => frame.querySelector("img")) && [...document.images].every(({ complete }) => complete)"""
# The names of all pictures.
SCREENS = sorted([
    "people", "friends", "person", "before", "conversation", "picture", "report", "rules", "read-marks", "status", "own-status", "profile",
    *ON_DESK])


@pytest.fixture(scope="module")
def product(phones_product):
    return phones_product


@pytest.fixture
def guides(request, check, tmp_path):
    return GuidePictures("Messaging", check, tmp_path if request.config.getoption("pictures") else None)


@pytest.fixture
def world(product):
    """Dora with two friends, of whom one writes to her and one has a status, and somebody who asks."""
    named = SimpleNamespace(url=product.url, api=product.api, new_account=product.add_account, unique=lambda name: name)
    dora, finn, gina, gus = (student(named, name) for name in ("dora.klein", "finn.oduya", "gina.rossi", "gus.lund"))
    for friend in (finn, gina):
        dora.ask(friend)
        friend.ask(dora)
        friend.request("PUT", "/user/picture", {"picture": upload(friend, png(200, 200, colour=(200, 120, 60)))})
        friend.request("PUT", "/user/profile", {"first_name": friend.account.split(".")[0].title(), "visibility": {"first_name": "friends", "picture": "friends"}})
    finn.ask(gina)
    gina.ask(finn)
    gus.ask(dora)
    gina.request("POST", "/user/status", {"text": "In the library until six. Bring your notes!"})
    for text in ("Are you coming at three?", "We sit on the second floor."):
        finn.request("POST", "/user/messages", {"to": dora.account, "text": text})
    return SimpleNamespace(dora=dora, finn=finn, gina=gina)


def report(world):
    """Finn reports a message of Gina's as it was, and another one with a text that she has not written."""
    for text, claimed in ((INSULT, INSULT), ("See you at three.", "Give me your money.")):
        message = world.gina.request("POST", "/user/messages", {"to": world.finn.account, "text": text})["id"]
        world.finn.request("POST", "/user/reports", {"message": message, "account": world.gina.account, "text": claimed})


def wait_for_pictures(page, world):
    """Pictures come later than their places."""
    eventually("the pictures are shown", lambda: page.evaluate(SHOWN, [world.finn.account, world.gina.account]))


def people_screens(page, world, snap):
    """Shows the lists of people, and what one of them shows."""
    expect(page.get_by_role("link", name=re.compile("^All friends.*2"))).to_be_visible()
    # Frames that were there before the app knew of these friends have letters.
    page.reload()
    expect(page.get_by_role("link", name=re.compile(f"{world.finn.account}.*2 unread"))).to_be_visible()
    expect(page.get_by_text("asks to be your friend")).to_be_visible()
    expect(page.get_by_role("region", name="Statuses").get_by_text(world.gina.account)).to_be_visible()
    expect(tab(page, "Friends")).to_contain_text("3 new")
    wait_for_pictures(page, world)
    snap(page, "people")
    page.goto("/app/#people/friends")
    expect(page.get_by_role("link", name=world.gina.account, exact=True)).to_be_visible()
    wait_for_pictures(page, world)
    snap(page, "friends")
    page.goto(f"/app/#people/person?account={world.finn.account}")
    expect(page.get_by_text("Finn", exact=True)).to_be_visible()
    wait_for_pictures(page, world)
    snap(page, "person")


def message_screens(page, world, snap):
    """Shows a conversation from the first words on."""
    page.goto(f"/app/#people/with/{world.finn.account}")
    expect(page.get_by_text("We sit on the second floor.")).to_be_visible()
    expect(page.get_by_role("heading", name="Before you write")).to_be_visible()
    # What is shown is read.
    expect(tab(page, "Friends")).not_to_contain_text("new")
    wait_for_pictures(page, world)
    snap(page, "before")
    page.get_by_role("button", name="I understand").click()
    page.get_by_role("textbox", name="Message").fill("Yes, with the sheet.")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator(".letter-state").filter(has_text=re.compile("Sent|Delivered"))).to_be_visible()
    snap(page, "conversation")
    page.locator(".composer input[type=file]").set_input_files(chosen(png(320, 200)))
    expect(page.get_by_role("img", name="The picture that you are about to send")).to_be_visible()
    wait_for_pictures(page, world)
    snap(page, "picture")
    page.get_by_role("button", name="Remove the picture").click()
    page.get_by_role("button", name="Report: Are you coming").click()
    expect(page.get_by_role("dialog", name=f"Report this message from {world.finn.account}?")).to_be_visible()
    snap(page, "report")
    page.keyboard.press("Escape")
    page.goto("/app/#people/rules")
    expect(page.get_by_role("heading", name="What may be sent where", level=1)).to_be_visible()
    snap(page, "rules")
    page.goto("/app/#settings/messages")
    expect(page.get_by_role("switch", name="Read marks")).to_be_visible()
    snap(page, "read-marks")


def status_screens(page, world, snap):
    page.goto(f"/app/#people/status/{world.gina.account}")
    expect(page.get_by_text("Bring your notes!")).to_be_visible()
    wait_for_pictures(page, world)
    snap(page, "status")
    page.goto("/app/#people/status")
    page.get_by_role("textbox", name="What is up?").fill("Exams are over!")
    page.get_by_role("button", name="Show it for 24 hours").click()
    expect(page.get_by_role("region", name="Your status").get_by_text("Exams are over!")).to_be_visible()
    expect(page.get_by_role("textbox", name="What is up?")).to_have_value("")
    expect(page.locator(".toast")).to_have_count(0)
    snap(page, "own-status")
    page.goto("/app/#settings/profile")
    page.locator(".own-picture input[type=file]").set_input_files(chosen(png(400, 400, colour=(60, 140, 110))))
    expect(page.get_by_text("Your picture is changed.")).to_be_visible()
    expect(page.get_by_role("textbox", name="First name", exact=True)).to_be_visible()
    expect(page.locator(".toast")).to_have_count(0)
    wait_for_pictures(page, world)
    snap(page, "profile")


def at_desk(page):
    """Shows a page of the portal on a desk, where it also says how the hub is."""
    page.set_viewport_size(DESK)
    expect(page.get_by_role("link", name="Sending works")).to_be_visible()
    return page


def portal_screens(visit, product, world, snap):
    page = at_desk(visit("/portal/reports/", account="admin"))
    rows = page.get_by_role("listitem").filter(has_text=f"{world.finn.account} reports a message of {world.gina.account}")
    expect(rows).to_have_count(2)
    snap(page, "reports")
    row = rows.filter(has_text="Verified")
    row.locator("summary").click()
    row.get_by_role("button", name="Show the message").click()
    expect(row.get_by_text(INSULT)).to_be_visible()
    snap(page, "reported")
    page = at_desk(visit("/portal/overview/", account="admin"))
    for name in ("messaging", "pictures", "calls"):
        expect(page.locator(f"[data-store={name}]")).to_contain_text("Enough left")
    page.locator("[data-store=calls]").scroll_into_view_if_needed()
    snap(page, "storage")
    subject = product.new_subject("Storms", distribution="Alert")
    page = at_desk(visit(f"/portal/send/?subject={subject.topic_key}", account="ann"))
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Picture", exact=True).select_option("some")
    page.get_by_role("button", name="Upload a picture…").scroll_into_view_if_needed()
    snap(page, "alert-picture")
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


@pytest.mark.at_length
def test_every_screen(visit, product, world, guides):
    visit.expect_errors(r"favicon", r"status of 404 .*/picture")
    report(world)
    page = open_people(visit, world.dora)
    page.set_viewport_size(PHONE)
    people_screens(page, world, guides.snap)
    message_screens(page, world, guides.snap)
    status_screens(page, world, guides.snap)
    portal_screens(visit, product, world, guides.snap)
    assert sorted(guides.taken) == SCREENS
    guides.publish()


def test_every_screen_has_its_section():
    check_sections("Messaging", SCREENS, ON_DESK)
