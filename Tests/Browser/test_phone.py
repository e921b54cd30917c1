"""The students' app on a simulated phone: the seed's "Mobile App Use Cases"."""

import datetime
import json
import re
import zoneinfo

import pytest
import requests
from browsing.app import out_of_sight
from browsing.visits import GATEWAY_AWAY
from harness.waiting import eventually
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def product(phones_product):
    return phones_product


@pytest.fixture
def alerts(product):
    """A subject with Alerts to which every phone is subscribed."""
    subject = product.new_subject("Storms", distribution="Alert", level="Forced")
    yield subject
    # Otherwise the phones of later tests would fetch its messages.
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


@pytest.fixture
def hours(product):
    subject = product.new_subject("Opening hours", level="Recommended")
    yield subject
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


def card(page, title):
    return page.get_by_role("article", name=title)


def tab(page, name):
    """The link in the bar below."""
    return page.get_by_role("navigation", name="Message Hub").get_by_role("link", name=name)


def pictured(pictures, phone, page, name, *, is_main=False, at_length=False):
    """Pictures in both languages. Without pictures, the page in Arabic is checked for a main one alone. `at_length` as for pictures."""
    pictures(page, f"phone-{name}", at_length=at_length)
    if not (is_main or pictures.takes):
        return
    phone.control(language="ar")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page).to_have_title("مركز الرسائل")
    expect(page.locator("h1:visible")).to_have_count(1)
    pictures(page, f"phone-{name}-arabic")
    phone.control(language="en")
    expect(page.locator("html")).to_have_attribute("dir", "ltr")


def test_initialize(product, phones, visit, alerts, hours):
    optional = product.new_subject("Jobs")
    phone = phones().set_up()
    subscribed = {
        subject["topic_key"] for channel in phone.state()["channels"] for area in channel["areas"] for subject in area["subjects"]
        if subject["subscribed"]}
    assert {alerts.topic_key, hours.topic_key} <= subscribed and optional.topic_key not in subscribed
    expect(visit.phone(phone).get_by_role("heading", name="Messages", exact=True)).to_be_visible()
    product.api("DELETE", f"/channel/{optional.channel['_id']}")


def test_initialize_on_ios(product, phones, visit, pictures, alerts):
    phone = phones(platform="ios")
    page = visit.phone(phone)
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("would like to send you notifications")
    expect(question).to_have_accessible_description("Notifications may include alerts, sounds and icon badges.")
    pictured(pictures, phone, page, "permission")
    question.get_by_role("button", name="Allow", exact=True).click()
    phone.set_up()
    expect(page.get_by_role("heading", name="Messages", exact=True)).to_be_visible()


def test_receive_on_ios(product, phones, visit, pictures, alerts):
    """The operating system shows the pop-up, even one with its own identifier, and it leads to its message."""
    phone = phones(platform="ios")
    page = visit.phone(phone)
    page.get_by_role("alertdialog").get_by_role("button", name="Allow", exact=True).click()
    phone.set_up()
    phone.control(foreground=False)
    product.send(alerts, "Campus closed", "An older message of the same title.", desc="Stay at home.")
    phone.wait("the first message", lambda state: len(state["messages"]) == 1 and len(state["popups"]) == 1)
    key = product.send(alerts, "Campus closed", "All buildings stay closed.", desc="Stay away.", options={"collapse_key": "storm"})
    phone.wait("both", lambda state: len(state["messages"]) == 2 and [popup["msi_key"] for popup in state["popups"]][0] == key)
    pictured(pictures, phone, page, "locked-ios", at_length=True)
    page.get_by_role("listitem").filter(has_text="Stay away.").get_by_role("button", name="Campus closed", exact=True).click()
    expect(card(page, "Campus closed").filter(has_text="All buildings")).to_be_focused()


def test_notifications_refused(product, phones, visit, pictures, alerts):
    """Messages still arrive."""
    phone = phones(platform="ios")
    page = visit.phone(phone)
    page.get_by_role("alertdialog").get_by_role("button", name="Don't allow").click()
    phone.set_up()
    expect(page.get_by_text("Messages still come, but Alerts do not pop up.")).to_be_visible()
    product.send(alerts, "Campus closed", "All buildings stay closed.", desc="Stay at home.")
    expect(card(page, "Campus closed")).to_be_visible()
    assert not phone.state()["popups"]
    pictured(pictures, phone, page, "refused", at_length=True)
    page.get_by_role("button", name="Allow", exact=True).click()
    expect(page.get_by_text("Messages still come, but Alerts do not pop up.")).to_have_count(0)


@pytest.mark.at_length
def test_notifications_refused_offline(product, phones, visit, pictures):
    """The set-up says what it waits for; that is not the permission."""
    phone = phones(platform="ios", offline=True)
    page = visit.phone(phone)
    page.get_by_role("alertdialog").get_by_role("button", name="Don't allow").click()
    expect(page.get_by_role("listitem").filter(has_text="Notifications")).to_contain_text("Not allowed")
    expect(page.get_by_role("status").filter(has_text="The phone is offline.")).to_be_visible()
    pictured(pictures, phone, page, "setting-up-refused")


def test_initialize_goes_on_by_itself(product, phones, visit, pictures, alerts):
    phone = phones(offline=True)
    page = visit.phone(phone)
    expect(page.get_by_role("heading", name="Setting up")).to_be_visible()
    pictured(pictures, phone, page, "setting-up")
    phone.control(offline=False)
    expect(page.get_by_role("heading", name="Messages", exact=True)).to_be_visible()


def test_receive(product, phones, visit, pictures, alerts, hours):
    phone = phones().set_up()
    page = visit.phone(phone)
    alert = product.send(alerts, "Campus closed", "All buildings stay closed until Tuesday, 6:00.", desc="Stay at home.")
    product.send(hours, "Library opens late", "The library opens at 10:00 tomorrow.")
    expect(card(page, "Campus closed")).to_contain_text("Alert")
    expect(card(page, "Library opens late")).to_contain_text(hours.name)
    # On Android the app itself shows the pop-up while it is on the screen.
    phone.wait("the pop-up", lambda state: [popup["id"] for popup in state["popups"]] == [alert])
    phone.request("DELETE", "/popups")
    pictured(pictures, phone, page, "messages", is_main=True)


@pytest.mark.at_length
def test_receipts(product, phones, visit, pictures, alerts):
    """The message's page in the portal counts the phones that report."""
    (first, second), silent = (phones(), phones()), phones()
    for phone in (first, second, silent):
        phone.set_up()
    silent.request("PUT", "/settings", {"receipts": False})
    key = product.send(alerts, "Campus closed", desc="Stay at home.")
    product.wait_for_state(key, "relayed")
    portal = visit(f"/portal/message/?key={key}", clock=True)
    for phone in (first, second, silent):
        phone.wait("the message", lambda state: any(message["msi_key"] == key for message in state["messages"]))
    page = visit.phone(first)
    card(page, "Campus closed").get_by_role("button").first.click()
    first.wait("it is read", lambda state: all(message["read"] for message in state["messages"]))
    for phone in (silent, first, second):
        # An app reports at once when it leaves the screen.
        phone.control(foreground=False)
    visit.after(portal, 10, "the phones' reports", lambda: "2 phones have received it" in portal.locator(".reach").inner_text())
    expect(portal.locator(".reach")).to_contain_text("1 student has opened it")
    assert product.message(key)["receipts"] == {"received": 2, "opened": 1}
    pictures(portal, "message-receipts", right_to_left=True)


def test_alert_while_fcm_is_away(product, phones, visit, pictures, alerts, hours):
    """The app fetches it and shows its pop-up, the history says so, and a recall takes it from the phone."""
    phone = phones().set_up()
    phone.control(foreground=False)
    with product.faults({"fault": "UNAVAILABLE", "topic": alerts.topic_key}):
        key = product.send(alerts, "Campus closed", desc="Stay at home.")
        portal = visit(f"/portal/message/?key={key}", clock=True)
        expect(portal.get_by_text("Running apps can fetch it").first).to_be_visible()

        def fetched():
            phone.request("POST", "/refresh")
            return phone.has(key)

        eventually("the phone has fetched it", fetched, pause=0.5)
        assert [popup["msi_key"] for popup in phone.state()["popups"]] == [key]
        # An app reports at once when it leaves the screen.
        for foreground in (True, False):
            phone.control(foreground=foreground)
        visit.after(portal, 10, "the phone's report", lambda: portal.get_by_text("On phones; Google has not confirmed it").first.is_visible())
        expect(portal.locator(".reach")).to_contain_text("1 phone has received it")
        pictures(portal, "message-fetched", right_to_left=True)
        eventually("it is recalled", lambda: product.api("DELETE", f"/message/{key}"), pause=0.5)
    # The recalled one does not find out that FCM is back, and until something does the hub is not healthy, for a quarter of an hour.
    product.send(hours, "Library opens late")

    def gone():
        # The hub's answer may be a moment old.
        phone.request("POST", "/refresh")
        return not phone.state()["popups"] and not phone.has(key)

    eventually("it is gone with its pop-up", gone, pause=0.5)


@pytest.mark.at_length
def test_receive_a_correction(product, phones, visit, pictures, alerts):
    phone = phones().set_up()
    phone.control(foreground=False)
    wrong = product.send(alerts, "Exam on Friday", "The exam is on Friday.", desc="On Friday.")
    phone.wait("the pop-up", lambda state: [popup["id"] for popup in state["popups"]] == [wrong])
    product.wait_for_state(wrong, "relayed")
    right = product.send(alerts, "Exam on Monday", "The exam is on Monday.", desc="On Monday.", follows=wrong, correction=True)
    phone.wait("the correction in its place", lambda state: [(popup["id"], popup["title"]) for popup in state["popups"]] == [(wrong, "Exam on Monday")])
    eventually("the correction", lambda: phone.has(right))
    page = visit.phone(phone)
    page.get_by_role("button", name="Exam on Monday", exact=True).click()
    expect(card(page, "Exam on Monday")).to_contain_text("Correction")
    expect(card(page, "Exam on Friday")).to_contain_text("Corrected")
    pictured(pictures, phone, page, "correction", at_length=True)
    card(page, "Exam on Friday").get_by_role("button", name="Show the correction").click()
    expect(card(page, "Exam on Monday")).to_be_focused()
    # The same in the list, where the message opens.
    page.get_by_role("button", name="List view").click()
    lines = {title: card(page, title).locator(".line") for title in ("Exam on Monday", "Exam on Friday")}
    lines["Exam on Monday"].click()
    card(page, "Exam on Monday").get_by_role("button", name="Show what it corrects").click()
    expect(lines["Exam on Friday"]).to_be_focused()
    expect(lines["Exam on Friday"]).to_have_attribute("aria-expanded", "true")
    expect(card(page, "Exam on Friday")).to_contain_text("The exam is on Friday.")


def test_alert_on_the_lock_screen(product, phones, visit, pictures, alerts, hours):
    phone = phones(foreground=False).set_up()
    page = visit.phone(phone)
    product.send(alerts, "Campus closed", "All buildings stay closed.", desc="Stay at home.")
    key = product.send(hours, "Library opens late")
    expect(page.get_by_role("list", name="Notifications")).to_contain_text("Stay at home.")
    eventually("the data message", lambda: phone.has(key))
    # Information comes silently.
    expect(page.get_by_role("list", name="Notifications").get_by_role("listitem")).to_have_count(1)
    pictured(pictures, phone, page, "locked")
    page.get_by_role("button", name="Campus closed", exact=True).click()
    expect(card(page, "Campus closed")).to_be_visible()
    expect(card(page, "Library opens late")).to_be_visible()


@pytest.mark.at_length
def test_receive_what_was_missed_while_killed(product, phones, visit, pictures, alerts, hours):
    phone = phones().set_up()
    phone.kill()
    page = visit.phone(phone)
    keys = [product.send(alerts, "Campus closed", desc="Stay at home."), product.send(hours, "Library opens late")]
    for key in keys:
        product.wait_for_state(key, "relayed")
    phone.wait("the pop-up of the operating system", lambda state: len(state["popups"]) == 1)
    assert not any(phone.has(key) for key in keys)
    pictured(pictures, phone, page, "killed")
    phone.control(foreground=False)
    expect(page.get_by_role("heading", name="Lock screen")).to_be_attached()
    # The pop-up leads to its message, which the app has yet to fetch.
    page.get_by_role("button", name="Campus closed", exact=True).click()
    expect(card(page, "Campus closed")).to_be_focused()
    expect(card(page, "Library opens late")).to_be_visible()


@pytest.mark.at_length
def test_open_an_old_pop_up(product, phones, visit, alerts):
    """Its message was deleted. The page says so, and shows no other one of the same title."""
    phone = phones().set_up()
    product.send(alerts, "Campus closed", "An older message.", desc="Stay at home.")
    phone.wait("the older one", lambda state: len(state["messages"]) == len(state["popups"]) == 1)
    phone.control(foreground=False)
    key = product.send(alerts, "Campus closed", "Deleted.", desc="Stay away.")
    phone.wait("the newer one", lambda state: len(state["messages"]) == len(state["popups"]) == 2)
    phone.request("DELETE", f"/messages/{key}")
    page = visit.phone(phone)
    page.clock.install()
    page.get_by_role("listitem").filter(has_text="Stay away.").get_by_role("button", name="Campus closed", exact=True).click()
    expect(card(page, "Campus closed")).to_be_visible()
    page.clock.fast_forward(20_000)
    expect(page.get_by_text("“Campus closed” is not on this phone.")).to_be_visible()
    expect(card(page, "Campus closed")).not_to_be_focused()


@pytest.mark.at_length
def test_look_for_new_messages(product, phones, visit, hours):
    """The page says what came of it, and not before."""
    phone = phones().set_up()
    page = visit.phone(phone, clock=True)
    button = page.get_by_role("button", name="Look for new messages")
    button.click()
    expect(page.get_by_text("Everything is up to date.")).to_be_visible()
    visit.after(page, 5, "no toast", lambda: page.get_by_text("Everything is up to date.").count() == 0)
    button.click()
    expect(page.get_by_text("Everything is up to date.")).to_be_visible()
    # It speaks of this page.
    page.locator(".tabs").get_by_role("link", name="Settings").click()
    expect(page.get_by_text("Everything is up to date.")).to_have_count(0)
    page.locator(".tabs").get_by_role("link", name="Messages").click()
    visit.expect_errors(r"status of 503")
    with product.away("msi-gateway"):
        button.click()
        expect(page.get_by_text("The university's server cannot be reached. Try again in a moment.")).to_be_visible()
        assert requests.post(phone.url + "/refresh", timeout=60).status_code == 503
    phone.control(offline=True)
    expect(page.get_by_text("Offline. New messages come when the phone is online again.")).to_be_visible()
    button.click()
    expect(page.get_by_text("The phone is offline.")).to_be_visible()
    expect(page.get_by_text("Everything is up to date.")).to_have_count(0)
    # It no longer runs.
    phone.kill()


def test_offline(product, phones, visit, pictures, hours):
    phone = phones().set_up()
    product.send(hours, "Before", "Seen offline, too.")
    page = visit.phone(phone)
    expect(card(page, "Before")).to_be_visible()
    phone.control(offline=True)
    expect(page.get_by_text("Offline.", exact=False).first).to_be_visible()
    key = product.send(hours, "While closed")
    product.wait_for_state(key, "relayed")
    expect(card(page, "Before")).to_be_visible()
    assert not phone.has(key)
    pictured(pictures, phone, page, "offline")
    phone.control(offline=False)
    expect(card(page, "While closed")).to_be_visible()


def test_pull_down(product, phones, visit, hours):
    """A finger that pulls the list down looks for new messages; a pull that the browser takes over does not."""
    phone = phones().set_up()
    page = visit.phone(phone)
    pull = """(view, last) => {
        const touches = (clientY) => [new Touch({ identifier: 1, target: view, clientX: 100, clientY })];
        view.dispatchEvent(new TouchEvent("touchstart", { touches: touches(100) }));
        view.dispatchEvent(new TouchEvent("touchmove", { touches: touches(400) }));
        view.dispatchEvent(new TouchEvent(last));
    }"""
    view, sign = page.locator(".view:visible"), page.locator(".pull").first
    view.evaluate(pull, "touchcancel")
    expect(sign).to_be_hidden()
    # A look sets it at once.
    assert page.get_by_role("button", name="Look for new messages").get_attribute("aria-busy") is None
    view.evaluate(pull, "touchend")
    expect(sign).to_be_hidden()
    expect(page.get_by_text("Everything is up to date.")).to_be_visible()


@pytest.mark.at_length
def test_receive_what_fcm_cannot_carry(product, phones, visit, hours):
    """1,500 characters of Chinese are more bytes than FCM carries: the phone fetches the text from the hub."""
    phone = phones().set_up()
    page = visit.phone(phone)
    text = "图书馆今天晚些时候开放。" * 125
    key = product.send(hours, title="Later today", message=text)
    assert product.data_sent(key)["omitted"] == "message"
    # The hub has it a moment after FCM. If the phone has asked before, it asks again after a minute.
    eventually("the whole text", lambda: phone.message(key)["message"] == text)
    page.get_by_role("button", name=re.compile("Show more.*Later today")).click()
    expect(card(page, "Later today")).to_contain_text(text)


@pytest.mark.at_length
def test_text_that_the_hub_no_longer_has(product, phones, visit, pictures, hours):
    phone = phones().set_up()
    page = visit.phone(phone)
    # It is not in the archive, and so old that it will not come there.
    data = {"msi_key": "0" * 24, "topic_key": hours.topic_key, "dist": "Alert", "title": "Much later", "desc": "", "omitted": "message",
            "timestamp": str(phone.state()["now"] - 3_600_000)}
    phone.push(hours.topic_key, data)
    expect(card(page, "Much later")).to_contain_text("The rest of this text is no longer available.")
    pictured(pictures, phone, page, "text-lost")
    exported = phone.request("GET", "/export?format=text")
    assert "The rest of the text is not on this phone." in exported.content.decode()
    phone.control(language="ar")
    arabic = phone.request("GET", "/export?format=text").content.decode()
    assert "تنبيه" in arabic and "بقية النص ليست على هذا الهاتف." in arabic and "Alert" not in arabic, arabic


@pytest.mark.at_length
def test_clear_old_messages(product, phones, visit, hours):
    phone = phones().set_up()
    old, kept = product.send(hours, "Old"), product.send(hours, "To keep")
    page = visit.phone(phone)
    expect(card(page, "Old")).to_be_visible()
    page.get_by_role("button", name="Actions for To keep").click()
    page.get_by_role("group", name="Actions").get_by_role("button", name="Keep").click()
    phone.wait("it is kept", lambda state: any(message["kept"] for message in state["messages"]))
    expect(card(page, "To keep").locator(".kept-mark")).to_contain_text("Kept")
    phone.reopen(clock_offset=8 * 86_400)
    eventually("the old one is cleared", lambda: not phone.has(old))
    assert phone.has(kept)
    expect(card(page, "To keep")).to_be_visible()
    # The hub still has it; it does not return.
    phone.request("POST", "/refresh")
    later = product.send(hours, "Later")
    eventually("the later one", lambda: phone.has(later))
    assert not phone.has(old)


@pytest.mark.at_length
def test_view_messages_by_time(product, phones, visit, pictures, alerts, hours):
    phone = phones().set_up()
    page = visit.phone(phone)
    out_of_sight(page)
    long = " ".join(f"Sentence {number} says what is open on this campus during the exams." for number in range(20))
    product.send(hours, "Rooms during exams", long)
    product.send(alerts, "Exam moves", "The exam of Friday, 9:00 takes place in hall B.", desc="To hall B.")
    moved, rooms = card(page, "Exam moves"), card(page, "Rooms during exams")
    badge = tab(page, "Messages").locator(".badge")
    expect(moved.locator(".dot")).to_be_visible()
    expect(moved.locator(".dot")).to_have_text("Unread")
    expect(badge).to_contain_text("2, 2 unread")
    page.reload()
    expect(moved.get_by_role("button", name="Friday, 9:00 (Add to calendar)")).to_be_visible()
    expect(moved).to_contain_text(alerts.name)
    # What was seen for a while has been read.
    expect(moved.locator(".dot")).to_be_hidden()
    expect(badge).to_be_hidden()
    # Expanded and collapsed; the text, the time, and on an open card the day.
    sent = next(message["timestamp"] for message in phone.state()["messages"] if message["title"] == "Rooms during exams")
    berlin = datetime.datetime.fromtimestamp(sent / 1_000, zoneinfo.ZoneInfo("Europe/Berlin"))
    expect(rooms.locator("time")).to_have_text(f"{berlin:%H:%M}")
    expect(rooms).not_to_contain_text("Sentence 19")
    expect(rooms).not_to_contain_text(f"{berlin:%A} {berlin.day} {berlin:%B}")
    page.get_by_role("button", name=re.compile("Show more.*Rooms during exams")).click()
    expect(rooms).to_contain_text("Sentence 19")
    expect(rooms).to_contain_text(f"{berlin:%A} {berlin.day} {berlin:%B}")
    # The heading of the day stays at the top.
    heading = page.get_by_role("heading").filter(has_text=f"{berlin:%A} {berlin.day} {berlin:%B}")
    expect(heading).to_contain_text(re.compile("Today|Yesterday"))
    rooms.get_by_role("button", name=re.compile("Show less")).scroll_into_view_if_needed()
    view = page.locator(".view:visible")
    eventually("the list is scrolled", lambda: view.evaluate("view => view.scrollTop") > 100)
    eventually("the heading is at the top", lambda: abs(heading.bounding_box()["y"] - view.bounding_box()["y"]) < 2)
    pictures(page, "phone-expanded")
    rooms.get_by_role("button", name=re.compile("Show less")).click()
    expect(rooms).not_to_contain_text("Sentence 19")
    page.get_by_role("button", name="List view").click()
    pictured(pictures, phone, page, "list")
    expect(moved).not_to_contain_text("takes place")
    line = moved.locator(".line")
    line.click()
    expect(moved).to_contain_text("takes place")
    expect(moved).to_contain_text(f"{berlin:%A} {berlin.day} {berlin:%B}")
    pictures(page, "phone-list-open")
    line.click()
    expect(moved).not_to_contain_text("takes place")


@pytest.mark.at_length
def test_long_text_without_spaces(product, phones, visit, hours):
    """It is cut between two characters."""
    phone = phones().set_up()
    product.send(hours, "Weather", "Now" + "🌧" * 300)
    page = visit.phone(phone)
    text = card(page, "Weather").locator(".text")
    expect(text).to_contain_text("🌧…")
    assert text.evaluate("text => text.textContent.isWellFormed()")


SENT = "2026-11-25T14:00"
DATES = [
    ("The exam is on 2030-07-15 at 09:30.", [("2030-07-15 at 09:30", "2030-07-15T09:30")]),
    ("From 2026-12-01T08:00 on", [("2026-12-01T08:00", "2026-12-01T08:00")]),
    ("On 24.12.2026, 18:00, or on 1/12/2026", [("24.12.2026, 18:00", "2026-12-24T18:00"), ("1/12/2026", "2026-12-01")]),
    ("On 31.02.2026, and at 25:00", []),
    ("Friday, 9:00 in hall B", [("Friday, 9:00", "2026-11-27T09:00")]),
    ("Wednesday at 13:00; Wednesday at 15:00", [("Wednesday at 13:00", "2026-12-02T13:00"), ("Wednesday at 15:00", "2026-11-25T15:00")]),
    ("Today at 13:00, or at 3 pm", [("Today at 13:00", "2026-11-25T13:00"), ("at 3 pm", "2026-11-25T15:00")]),
    ("Tomorrow from 10:00 to 11:30", [("Tomorrow from 10:00 to 11:30", "2026-11-26T10:00+90")]),
    ("The day after tomorrow, 8 am", [("The day after tomorrow, 8 am", "2026-11-27T08:00")]),
    ("9:00–10:30 on Tuesday", [("9:00–10:30 on Tuesday", "2026-12-01T09:00+90")]),
    ("Monday, November 30, 2026 at 7:15 p.m.", [("Monday, November 30, 2026 at 7:15 p.m.", "2026-11-30T19:15")]),
    ("the 3rd of December; Nov. 23, 10:00; 5 January", [("3rd of December", "2026-12-03"), ("Nov. 23, 10:00", "2026-11-23T10:00"), ("5 January", "2027-01-05")]),
    ("12 am on Friday; at 12:30 pm", [("12 am on Friday", "2026-11-27T00:00"), ("at 12:30 pm", "2026-11-26T12:30")]),
    ("Open 15:00 - 20:00", [("15:00 - 20:00", "2026-11-25T15:00+300")]),
    ("You may 5 times march 3 miles; sat down at 5; 1:10; 12:30:45; 192.168.1.1; 20261125; on Sunday", []),
    ("يوم الثلاثاء الساعة 6:00", [("يوم الثلاثاء الساعة 6:00", "2026-12-01T06:00")]),
    ("غدًا الساعة ٩:٣٠ صباحًا", [("غدًا الساعة ٩:٣٠ صباحًا", "2026-11-26T09:30")]),
    ("15 يناير 2027 الساعة 10:00 مساءً", [("15 يناير 2027 الساعة 10:00 مساءً", "2027-01-15T22:00")]),
    ("٢٤ ديسمبر؛ بعد غد", [("٢٤ ديسمبر", "2026-12-24"), ("بعد غد", "2026-11-27")]),
]


def test_dates_in_texts(product, phones, visit):
    """A table of what is found, in the phone's local time; `+90` is the length in minutes."""
    page = visit.phone(phones())
    found = page.evaluate("""async ([texts, sent]) => {
        const { findDates } = await import("/files/test/lib/dates.js");
        const written = ({ at, hasTime, minutes }) => new Date(at).toISOString().slice(0, hasTime ? 16 : 10) + (minutes ? `+${minutes}` : "");
        return texts.map((text) => findDates(text, Date.parse(sent)).map((date) => [text.slice(date.start, date.end), written(date)]));
    }""", [[text for text, _ in DATES], SENT + "Z"])
    for (text, expected), dates in zip(DATES, found, strict=True):
        assert [tuple(date) for date in dates] == expected, text


@pytest.mark.at_length
def test_summer_and_winter(product, phones, visit, hours):
    """Times are those of the phone's zone at their own moment, whatever the season is now."""
    phone = phones().set_up()
    product.send(hours, "Exams", "On 2030-01-15 at 09:30 and on 2030-07-15 at 09:30.")
    page = visit.phone(phone)
    for date, utc in (("2030-01-15", "20300115T083000Z"), ("2030-07-15", "20300715T073000Z")):
        card(page, "Exams").get_by_role("button", name=date).click()
        dialog = page.get_by_role("dialog", name="Add to calendar")
        expect(dialog.get_by_label("Time")).to_have_value("09:30")
        with page.expect_download() as download:
            dialog.get_by_role("button", name="Save event").click()
        text = download.value.path().read_text()
        assert f"DTSTART:{utc}" in text, text
    time = card(page, "Exams").locator("time")
    shown = time.inner_text()
    clock = page.get_by_label("Set the clock to")
    for date, weekday in (("2030-07-01", "Mon 1 Jul"), ("2030-12-02", "Mon 2 Dec")):
        clock.fill(f"{date}T12:00")
        page.get_by_role("button", name="Set", exact=True).click()
        expect(page.get_by_text(re.compile(f"The phone shows {weekday}, 12:0"))).to_be_visible()
        expect(time).to_have_text(shown)


@pytest.mark.at_length
def test_search(product, phones, visit, pictures, hours):
    phone = phones().set_up()
    product.send(hours, "Library opens late"), product.send(hours, "Wi-Fi in the library"), product.send(hours, "Canteen closed")
    page = visit.phone(phone)
    expect(card(page, "Canteen closed")).to_be_visible()
    page.get_by_role("button", name="Search all messages").click()
    page.get_by_role("searchbox", name="Search all messages").fill("canteen")
    expect(card(page, "Library opens late")).to_have_count(0)
    expect(card(page, "Canteen closed")).to_be_visible()
    expect(page.get_by_text("1 message found")).to_be_visible()
    pictured(pictures, phone, page, "search", is_main=True)
    page.get_by_role("button", name="Search all messages").click()
    page.get_by_role("searchbox", name="Search all messages").fill("wifi")
    expect(card(page, "Wi-Fi in the library")).to_be_visible()
    page.get_by_role("searchbox", name="Search all messages").fill("opens canteen")
    expect(page.get_by_text("0 messages found")).to_be_visible()
    page.get_by_role("searchbox", name="Search all messages").fill("nothing has this")
    expect(card(page, "Canteen closed")).to_have_count(0)
    pictures(page, "phone-no-result")


@pytest.mark.at_length
def test_view_messages_by_channel(product, phones, visit, pictures, alerts, hours):
    phone = phones().set_up()
    page = visit.phone(phone)
    # Otherwise a message counts as read that is in view for two seconds.
    out_of_sight(page)
    product.send(alerts, "Campus closed", desc="Stay at home."), product.send(hours, "Library opens late")
    expect(card(page, "Library opens late")).to_be_visible()
    page.get_by_role("group", name="View").get_by_role("button", name="By channel").click()

    def channel(subject):
        return page.get_by_role("link").filter(has=page.get_by_text(subject.channel["name"], exact=True))

    expect(channel(hours)).to_contain_text("Library opens late")
    expect(channel(hours)).to_contain_text("1 unread")
    pictured(pictures, phone, page, "channels", is_main=True)
    channel(hours).click()
    expect(page.get_by_role("heading", name=hours.channel["name"])).to_be_focused()
    expect(card(page, "Library opens late")).to_be_visible()
    expect(card(page, "Campus closed")).to_have_count(0)
    pictures(page, "phone-by-channel", at_length=True)
    page.get_by_role("link", name="Channels").click()
    # The way back leads to where it was.
    expect(channel(hours)).to_be_focused()
    channel(alerts).click()
    expect(card(page, "Campus closed")).to_be_visible()
    expect(card(page, "Library opens late")).to_have_count(0)
    # As a click beside all controls does.
    page.locator("main").focus()
    page.go_back()
    expect(channel(alerts)).to_be_focused()
    # Two channels of one name are two.
    twin = product.new_subject("Canteen", level="Recommended", channel=product.api("POST", "/channel", {"name": hours.channel["name"], "desc": ""}))
    phone.request("POST", "/refresh")
    product.send(twin, "Canteen closed")
    expect(channel(hours)).to_have_count(2)
    channel(hours).filter(has_text="Canteen closed").click()
    expect(card(page, "Canteen closed")).to_be_visible()
    expect(card(page, "Library opens late")).to_have_count(0)
    page.reload()
    expect(card(page, "Canteen closed")).to_be_visible()
    expect(card(page, "Library opens late")).to_have_count(0)
    product.api("DELETE", f"/channel/{twin.channel['_id']}")


@pytest.mark.at_length
def test_delete_message(product, phones, visit, pictures, hours):
    phone = phones().set_up()
    keys = {title: product.send(hours, title) for title in ("First", "Second")}
    page = visit.phone(phone)
    first = card(page, "First")
    expect(first).to_be_visible()
    # By key, and taken back by key.
    first.focus()
    page.keyboard.press("Delete")
    expect(page.get_by_text("“First” was deleted.")).to_be_visible()
    expect(first).to_have_count(0)
    # The next one has the focus.
    expect(card(page, "Second")).to_be_focused()
    page.keyboard.press("Control+z")
    expect(first).to_be_focused()
    expect(page.get_by_text("“First” was deleted.")).to_have_count(0)
    # By a swipe to the left, which asks, and taken back.
    question = page.get_by_role("alertdialog", name="Delete “First”?")
    for answer in ("Cancel", "Delete"):
        box = first.bounding_box()
        page.mouse.move(box["x"] + box["width"] - 30, box["y"] + 30)
        page.mouse.down()
        page.mouse.move(box["x"] + 20, box["y"] + 32, steps=12)
        page.mouse.up()
        if answer == "Cancel":
            pictures(page, "phone-delete-question", at_length=True)
        question.get_by_role("button", name=answer).click()
        expect(question).to_have_count(0)
        expect(first).to_have_count(1 if answer == "Cancel" else 0)
    eventually("it is deleted", lambda: not phone.has(keys["First"]))
    page.get_by_role("button", name="Undo").click()
    expect(first).to_be_focused()
    # A swipe that ends outside of the card is none.
    box = first.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 5, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 200, 2)
    page.mouse.up()
    page.mouse.move(box["x"] + box["width"] - 30, box["y"] + 30)
    page.mouse.move(box["x"] + 20, box["y"] + 32, steps=12)
    assert first.evaluate("card => card.style.translate") == ""
    # By the button, and for good: the hub's copy does not return.
    page.get_by_role("button", name="Actions for Second").click()
    page.get_by_role("group", name="Actions").get_by_role("button", name="Delete").click()
    expect(card(page, "Second")).to_have_count(0)
    expect(page.get_by_text("“Second” was deleted.")).to_be_visible()
    # Here nothing has to be done before the toast with the undo goes by itself.
    pictures(page, "phone-delete", at_length=True)
    # The page marks a card as read that was shown for a while. That may arrive after the deletion.
    phone.request("PATCH", f"/messages/{keys['Second']}", {"read": True})
    phone.request("POST", "/refresh")
    later = product.send(hours, "Later")
    eventually("the later one", lambda: phone.has(later))
    assert not phone.has(keys["Second"]) and phone.has(keys["First"])
    # To take back is not to read.
    page.goto("/#messages?form=list")
    product.send(hours, "Evening")
    line = page.locator(".line").filter(has_text="Evening")
    line.focus()
    page.keyboard.press("Delete")
    expect(line).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(line).to_be_focused()
    expect(line).to_have_attribute("aria-expanded", "false")
    expect(line).to_contain_text("Unread")


def choose_channel(page, channel):
    """Shows the subjects of one channel. There are so few that its areas are unfolded."""
    button = page.get_by_role("group", name="Channel").get_by_role("button", name=channel["name"])
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")


def test_subscriptions(product, phones, visit, pictures, alerts):
    channel = product.new_channel("Clubs")
    area = product.new_area(channel)
    chess = product.new_subject("Chess", channel=channel, area=area)
    choir = product.new_subject("Choir", channel=channel, area=area, level="Recommended")
    phone = phones().set_up()
    page = visit.phone(phone)
    tab(page, "Subscriptions").click()
    choose_channel(page, channel)
    switch = page.get_by_role("switch", name=chess.name)
    expect(switch).not_to_be_checked()
    pictured(pictures, phone, page, "subscriptions", is_main=True)
    # Subscribe: FCM and the hub know it, and this week's messages come.
    before = product.send(chess, "Chess on Monday")
    product.wait_for_state(before, "relayed")
    assert not phone.has(before)
    choose_channel(page, channel)
    switch.click()
    expect(switch).to_be_checked()
    eventually("FCM has the subscription", lambda: chess.topic_key in phone.topics())
    eventually("this week's message", lambda: phone.has(before))
    # Unsubscribe.
    page.get_by_role("switch", name=choir.name).click()
    eventually("FCM has no subscription", lambda: choir.topic_key not in phone.topics())
    product.send(choir, "Choir on Tuesday")
    key = product.send(chess, "Chess on Tuesday")
    eventually("the message of the chosen subject", lambda: phone.has(key))
    assert not any(message["title"] == "Choir on Tuesday" for message in phone.state()["messages"])
    # My subscriptions, which come from FCM. It has lost one, which the student has chosen: the app joins it again.
    phone.unsubscribe(chess.topic_key)
    assert chess.topic_key not in phone.topics()
    page.get_by_role("group", name="Which subjects").get_by_role("button", name="Mine").click()
    expect(page.get_by_role("switch", name=chess.name)).to_be_checked()
    expect(page.get_by_role("switch", name=choir.name)).to_have_count(0)
    eventually("FCM has the subscription again", lambda: chess.topic_key in phone.topics())
    pictured(pictures, phone, page, "my-subscriptions", at_length=True)
    # Otherwise later phones and apps would get the messages of its recommended subject.
    product.api("DELETE", f"/channel/{channel['_id']}")


def test_required_subject_cannot_be_left(product, phones, visit, alerts):
    phone = phones().set_up()
    refused = requests.put(f"{phone.url}/subscriptions/{alerts.topic_key}", json={"subscribed": False}, timeout=60)
    assert refused.status_code == 409, refused.text
    page = visit.phone(phone)
    tab(page, "Subscriptions").click()
    choose_channel(page, alerts.channel)
    switch = page.get_by_role("switch", name=alerts.name)
    expect(switch).to_be_checked()
    expect(switch).to_have_attribute("aria-disabled", "true")


def test_moved_subject_stays_subscribed(product, phones, hours):
    """A moved subject keeps its topic: a phone that does not know of the move yet gets its messages, and shows its new place later."""
    other = product.new_subject("Elsewhere")
    phone = phones().set_up()
    product.api("PUT", f"/place/{hours.path}", {"channel": other.channel["_id"], "area": other.area["id"]})
    key = product.send(hours, "After the move")
    phone.wait("the message has come", lambda state: any(message["msi_key"] == key for message in state["messages"]))
    phone.request("POST", "/refresh")
    names = [other.channel["name"], other.area["name"], hours.name]
    phone.wait("its new place", lambda state: [message["names"] for message in state["messages"] if message["msi_key"] == key] == [names])
    places = {
        subject["topic_key"]: (channel["id"], area["id"], subject["subscribed"])
        for channel in phone.state()["channels"] for area in channel["areas"] for subject in area["subjects"]}
    assert places[hours.topic_key] == (other.channel["_id"], other.area["id"], True)
    product.api("DELETE", f"/channel/{other.channel['_id']}")


@pytest.mark.at_length
def test_settings(product, phones, visit, pictures):
    phone = phones().set_up()
    page = visit.phone(phone)
    tab(page, "Settings").click()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    pictured(pictures, phone, page, "settings")
    page.get_by_role("switch", name="Read receipts").click()
    phone.wait("receipts are off", lambda state: not state["settings"]["receipts"])
    page.get_by_role("link", name="About").click()
    expect(page.get_by_text(phone.name)).to_be_visible()
    page.get_by_role("link", name="Settings").first.click()
    page.get_by_role("link", name="My subscriptions").click()
    expect(page.get_by_role("heading", name="Subscriptions")).to_be_visible()


@pytest.mark.at_length
def test_save_to_calendar(product, phones, visit, pictures, hours):
    phone = phones().set_up()
    key = product.send(hours, "Exam moves", "The exam is on 2030-01-15 at 09:30 in hall B; bring a pen.")
    page = visit.phone(phone)
    card(page, "Exam moves").get_by_role("button", name="Add to calendar").first.click()
    dialog = page.get_by_role("dialog", name="Add to calendar")
    expect(dialog.get_by_label("Date")).to_have_value("2030-01-15")
    expect(dialog.get_by_label("Time")).to_have_value("09:30")
    pictures(page, "phone-calendar", at_length=True)
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Save event").click()
    expect(page.get_by_text("The event was saved")).to_be_visible()
    text = download.value.path().read_text()
    # Berlin is an hour ahead of UTC in January.
    assert "DTSTART:20300115T083000Z" in text and "SUMMARY:Exam moves" in text, text
    # A file that was not made is not said to be saved.
    visit.expect_errors(r"status of 404")
    for start in (2**63 - 1, 253_402_300_800_000, -1):
        refused = requests.get(f"{phone.url}/messages/{key}/calendar.ics?start={start}", timeout=60)
        assert refused.status_code == 400, refused.text
    expect(page.get_by_text("The event was saved")).to_have_count(0)
    card(page, "Exam moves").get_by_role("button", name="Add to calendar").first.click()
    phone.request("DELETE", f"/messages/{key}")
    dialog.get_by_role("button", name="Save event").click()
    expect(page.get_by_text(re.compile("That did not work"))).to_be_visible()
    expect(page.get_by_text("The event was saved")).to_have_count(0)


@pytest.mark.at_length
def test_export_messages(product, phones, visit, pictures, hours):
    phone = phones().set_up()
    key = product.send(hours, "Library opens late", "At 10:00.")
    page = visit.phone(phone)
    expect(card(page, "Library opens late")).to_be_visible()
    tab(page, "Settings").click()
    page.get_by_role("link", name="Export messages").click()
    expect(page.get_by_role("button", name="Save file")).to_be_visible()
    pictures(page, "phone-export")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save file").click()
    assert "Library opens late" in download.value.path().read_text()
    assert download.value.suggested_filename == "messages.txt"
    page.get_by_role("group", name="Format").get_by_role("button", name="JSON").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save file").click()
    assert key in [message["msi_key"] for message in json.loads(download.value.path().read_text())]
    assert download.value.suggested_filename == "messages.json"
    # A file that was not made is not said to be saved.
    expect(page.get_by_text("The messages were saved")).to_have_count(0)
    visit.expect_errors(r"status of 500")
    page.route("**/export*", lambda route: route.fulfill(status=500, json={}))
    page.get_by_role("button", name="Save file").click()
    expect(page.get_by_text("That did not work. Try again.")).to_be_visible()
    expect(page.get_by_text("The messages were saved")).to_have_count(0)
    # One message alone.
    page.unroute("**/export*")
    tab(page, "Messages").click()
    page.get_by_role("button", name="Actions for Library opens late").click()
    with page.expect_download() as download:
        page.get_by_role("group", name="Actions").get_by_role("button", name="Export").click()
    expect(page.get_by_text("The message was saved as a file.")).to_be_visible()
    assert "Library opens late" in download.value.path().read_text()


@pytest.mark.at_length
def test_phone_restarts(product, phones, visit, hours):
    """Messages, marks and the registration outlive the process; a broken page says so and continues."""
    phone = phones().set_up()
    key = product.send(hours, "Before the restart")
    page = visit.phone(phone)
    expect(card(page, "Before the restart")).to_be_visible()
    visit.expect_errors(GATEWAY_AWAY)
    phone.process.kill()
    phone.process.wait()
    missed = product.send(hours, "During the restart")
    product.wait_for_state(missed, "relayed")
    phone.start()
    expect(card(page, "During the restart")).to_be_visible()
    messages = [message["msi_key"] for message in phone.state()["messages"] if message["msi_key"] in (key, missed)]
    assert sorted(messages) == sorted([key, missed])


def test_only_its_own_page(product, phones):
    phone = phones()
    assert requests.get(phone.url, headers={"Host": "evil.test"}, timeout=60).status_code == 403
    other = requests.put(phone.url + "/control", json={"offline": True}, headers={"Origin": "http://evil.test"}, timeout=60)
    assert other.status_code == 403 and "evil.test" in other.json()["error"]
    for body in ({"offline": "yes"}, {"colour": 1}, {"clock_offset": 10**12}, {"clock_offset": -2**63}, []):
        refused = requests.put(phone.url + "/control", json=body, timeout=60)
        assert refused.status_code == 400 and refused.json()["error"], refused.text
    assert not phone.state()["control"]["offline"]


def test_port_taken(product, phones):
    """A phone whose port is taken uses another one, and says where it is."""
    first = phones()
    second = phones(port=first.port)
    assert second.url != first.url
    assert {first.state()["name"], second.state()["name"]} == {first.name, second.name}
