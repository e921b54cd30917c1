"""Broadcasts at app launch on a simulated phone: cards over the app, and feature switches."""

import base64
import json

import pytest
import requests
from browsing.visits import GATEWAY_AWAY
from playwright.sync_api import expect

# A picture of one pixel.
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
POSTER = "https://posters.invalid/eid.png"


@pytest.fixture(scope="module")
def product(phones_product):
    return phones_product


@pytest.fixture
def broadcast(product):
    """Sends broadcasts, which are withdrawn at the end."""
    sent = []

    def send(title="Maintenance", text="The hub is down until noon.", kind=1, **action):
        content = {"translations": {"en": {"title": title, "msg": text}, "ar": {"title": "صيانة", "msg": "المركز متوقف حتى الظهر."}}, **action}
        members = {"type": kind, "expiry": 60, "actiondata": content} if kind != 4 else {"type": 4, "expiry": 60, "actiondata": action}
        document = product.api("POST", "/broadcast", members)
        sent.append(document["id"])
        return document

    yield send
    for identifier in sent:
        if product.api("GET", f"/broadcast/{identifier}")["state"] == "active":
            product.api("DELETE", f"/broadcast/{identifier}")


def card(page, title):
    return page.get_by_role("alertdialog", name=title)


def test_a_phone_that_registers_late_shows_it_in_its_language(phones, visit, pictures, broadcast):
    broadcast()
    phone = phones()
    phone.wait("the broadcast", lambda state: len(state["broadcasts"]) == 1)
    page = visit.phone(phone)
    expect(card(page, "Maintenance")).to_contain_text("The hub is down until noon.")
    expect(page.get_by_text("Downtime")).to_be_visible()
    pictures(page, "phone-broadcast")
    phone.control(language="ar")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(card(page, "صيانة")).to_be_visible()
    pictures(page, "phone-broadcast-arabic", at_length=True)
    phone.control(language="en")


def test_the_popup_of_a_downtime_comes_while_the_app_is_killed(phones, visit, pictures, broadcast):
    phone = phones().set_up()
    phone.kill(foreground=False)
    broadcast("Network maintenance")
    phone.wait("the pop-up", lambda state: any(popup["title"] == "Network maintenance" for popup in state["popups"]))
    assert phone.state()["broadcasts"] == []
    page = visit.phone(phone)
    pictures(page, "phone-broadcast-popup", at_length=True)
    page.get_by_role("button", name="Network maintenance", exact=True).click()
    expect(card(page, "Network maintenance")).to_contain_text("The hub is down until noon.")


def test_close_it_for_good(product, phones, visit, broadcast):
    phone = phones().set_up()
    page = visit.phone(phone)
    first = broadcast("Elections", kind=2)
    expect(card(page, "Elections")).to_be_visible()
    # The card is over the app.
    expect(page.locator(".tabs")).to_have_attribute("inert", "")
    card(page, "Elections").get_by_role("button", name="Close").click()
    expect(card(page, "Elections")).to_have_count(0)
    expect(page.locator(".tabs")).not_to_have_attribute("inert", "")
    phone.reopen()
    assert phone.state()["broadcasts"] == []
    # A new version is shown again.
    action = first["actiondata"]
    action["translations"]["en"]["title"] = "Elections moved"
    product.api("PUT", f"/broadcast/{first['id']}", {"type": 2, "expiry": 60, "actiondata": action})
    expect(card(page, "Elections moved")).to_be_visible()


@pytest.mark.at_length
def test_closing_is_of_the_version_that_was_read(product, phones, visit, broadcast):
    phone = phones().set_up()
    page = visit.phone(phone)
    document = broadcast("Elections", kind=2)
    expect(card(page, "Elections")).to_be_visible()
    action = document["actiondata"]
    action["translations"]["en"]["title"] = "Elections moved"
    product.api("PUT", f"/broadcast/{document['id']}", {"type": 2, "expiry": 60, "actiondata": action})
    expect(card(page, "Elections moved")).to_be_visible()
    [shown] = phone.state()["broadcasts"]
    assert shown["version"] == 2
    close = f"{phone.url}/broadcasts/hub-{document['id']}/close"
    assert requests.post(close, json={"version": 1}, timeout=60).status_code == 409
    assert requests.post(close, timeout=60).status_code == 400
    expect(card(page, "Elections moved")).to_be_visible()
    card(page, "Elections moved").get_by_role("button", name="Close").click()
    expect(card(page, "Elections moved")).to_have_count(0)
    assert phone.state()["broadcasts"] == []


@pytest.mark.at_length
def test_an_edit_of_what_was_put_aside_is_a_card_again(product, phones, visit, broadcast):
    phone = phones().set_up()
    page = visit.phone(phone)
    document = broadcast(cancellable=False)
    card(page, "Maintenance").get_by_role("button", name="Continue to the app").click()
    expect(card(page, "Maintenance")).to_have_count(0)
    action = document["actiondata"]
    action["translations"]["en"]["title"] = "Maintenance until 18:00"
    product.api("PUT", f"/broadcast/{document['id']}", {"type": 1, "expiry": 60, "actiondata": action})
    expect(card(page, "Maintenance until 18:00")).to_be_visible()
    expect(page.get_by_role("button", name="Maintenance", exact=True)).to_have_count(0)


def test_what_cannot_be_closed_stays_until_it_is_withdrawn(product, phones, visit, pictures, broadcast):
    phone = phones().set_up()
    page = visit.phone(phone)
    document = broadcast(cancellable=False)
    expect(card(page, "Maintenance")).to_contain_text("This notice stays until")
    expect(card(page, "Maintenance").get_by_role("button", name="Close")).to_have_count(0)
    card(page, "Maintenance").get_by_role("button", name="Continue to the app").click()
    strip = page.get_by_role("button", name="Maintenance")
    expect(strip).to_be_visible()
    pictures(page, "phone-broadcast-strip")
    strip.click()
    expect(card(page, "Maintenance")).to_be_visible()
    close = f"{phone.url}/broadcasts/hub-{document['id']}/close"
    assert requests.post(close, json={"version": 1}, timeout=60).status_code == 409
    product.api("DELETE", f"/broadcast/{document['id']}")
    expect(card(page, "Maintenance")).to_have_count(0)
    expect(strip).to_have_count(0)


def test_a_poster_that_cannot_load_is_left_out(phones, visit, pictures, broadcast):
    broadcast("Eid Mubarak", "To all of you.", kind=3, poster=POSTER)
    phone = phones()
    phone.wait("the broadcast", lambda state: len(state["broadcasts"]) == 1)
    page = visit.phone(phone)
    visit.expect_errors(GATEWAY_AWAY)
    expect(card(page, "Eid Mubarak")).to_be_visible()
    expect(card(page, "Eid Mubarak").locator("img")).to_have_count(0)
    page.route(POSTER, lambda route: route.fulfill(body=PIXEL, content_type="image/png"))
    page.reload()
    expect(card(page, "Eid Mubarak").locator("img")).to_be_visible()
    pictures(page, "phone-broadcast-poster")


@pytest.mark.at_length
def test_it_expires_by_itself(phones, visit, broadcast):
    phone = phones().set_up()
    page = visit.phone(phone)
    broadcast()
    expect(card(page, "Maintenance")).to_be_visible()
    phone.control(clock_offset=3_700)
    expect(card(page, "Maintenance")).to_have_count(0)
    phone.control(clock_offset=0)


def test_features_are_in_the_settings_and_survive_a_restart(phones, visit, pictures, broadcast):
    phone = phones().set_up()
    page = visit.phone(phone)
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Parts of the app").click()
    expect(page.get_by_text("The university has switched nothing on or off.")).to_be_visible()
    broadcast(kind=4, notificationtype="enable-feature", feature="maps")
    broadcast(kind=4, notificationtype="disable-feature", feature="chat")
    expect(page.get_by_role("listitem").filter(has_text="maps")).to_contain_text("On")
    expect(page.get_by_role("listitem").filter(has_text="chat")).to_contain_text("Off")
    pictures(page, "phone-features")
    phone.control(offline=True)
    phone.stop()
    phone.start()
    assert {feature["name"]: feature["on"] for feature in phone.state()["features"]} == {"maps": True, "chat": False}
    phone.control(offline=False)


def test_a_channel_can_be_switched_off_in_the_settings(phones, visit, pictures):
    phone = phones().set_up()
    [channel] = [each for each in phone.state()["channels"] if any(s["subscribed"] for area in each["areas"] for s in area["subjects"])][:1]
    page = visit.phone(phone)
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Announcements").click()
    switch = page.get_by_role("switch", name=channel["name"])
    expect(switch).to_be_checked()
    pictures(page, "phone-broadcast-channels")
    for is_on in (False, True):
        switch.click()
        expect(switch).to_be_checked(checked=is_on)
        phone.wait("the switch", lambda state, is_on=is_on: {each["id"]: each["broadcasts"] for each in state["channels"]}[channel["id"]] is is_on)


def test_data_for_the_app_is_in_the_settings(phones, visit, pictures, broadcast):
    phone = phones().set_up()
    page = visit.phone(phone)
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Parts of the app").click()
    expect(page.get_by_role("heading", name="Data for the app")).to_have_count(0)
    sent = broadcast(kind=4, notificationtype="enable-feature", data="free form string data")
    broadcast(kind=4, notificationtype="disable-feature", data='{"map":{"tiles":"https://tiles.invalid/campus/2026/winter/{z}/{x}/{y}.png"}}')
    broadcast(kind=4, notificationtype="enable-feature", feature="maps")
    expect(page.get_by_role("heading", name="Data for the app")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="free form string data")).to_contain_text("Enable")
    expect(page.get_by_role("listitem").filter(has_text="tiles")).to_contain_text("Disable")
    expect(page.get_by_role("listitem").filter(has_text="maps")).to_contain_text("On")
    pictures(page, "phone-broadcast-data", at_length=True)
    [first] = [data for data in phone.state()["broadcast_data"] if data["id"] == sent["id"]]
    assert first["data"] == "free form string data" and first["notificationtype"] == "enable-feature" and first["expires"] > 0


def phone_with_own_broadcast(product, phones, folder, hours):
    """A phone whose app ships with a broadcast, shown so many hours after the installation."""
    local = folder / "broadcasts.json"
    local.write_text(json.dumps([
        {"id": 1, "type": 3, "relativetime": hours, "actiondata": {"translations": {"en": {"title": "Welcome", "msg": "This is your campus."}}}}]))
    product.environment["MSI_PHONE_BROADCASTS_FILE"] = str(local)
    try:
        phone = phones()
    finally:
        del product.environment["MSI_PHONE_BROADCASTS_FILE"]
    phone.set_up()
    return phone


def test_a_broadcast_of_the_app_shows_once_some_hours_after_the_installation(product, phones, visit, tmp_path):
    phone = phone_with_own_broadcast(product, phones, tmp_path, hours=2)
    assert phone.state()["broadcasts"] == []
    phone.control(clock_offset=7_260)
    page = visit.phone(phone)
    card(page, "Welcome").get_by_role("button", name="Close").click()
    expect(card(page, "Welcome")).to_have_count(0)
    phone.control(clock_offset=86_400)
    assert phone.state()["broadcasts"] == []


def test_a_broadcast_of_the_app_that_was_shown_does_not_come_at_the_next_start(product, phones, visit, tmp_path):
    phone = phone_with_own_broadcast(product, phones, tmp_path, hours=0)
    # The first run has shown nothing on a screen.
    phone.reopen()
    page = visit.phone(phone)
    with page.expect_response(lambda response: response.url.endswith("/shown")) as told:
        page.reload()
    assert told.value.status == 204
    expect(card(page, "Welcome")).to_be_visible()
    phone.kill()
    page.get_by_role("button", name="Open the app").click()
    expect(page.locator(".tabs")).to_be_visible()
    expect(card(page, "Welcome")).to_have_count(0)
    assert phone.state()["broadcasts"] == []
