"""The students' app on a simulated phone: the seed's "Mobile App Use Cases"."""

import json
import re

import pytest
import requests
from conftest import running_product
from harness.visits import GATEWAY_AWAY
from harness.waiting import eventually
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def product(request):
    """A product without the other tests' subjects, to which every phone would be subscribed."""
    yield from running_product(request)


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


def opened(visit, phone, **options):
    """The phone's page, which shows its state."""
    page = visit("/", account=None, product=phone, settled=False, **options)
    expect(page.locator("h1:visible")).to_have_count(1)
    return page


def card(page, title):
    return page.get_by_role("article", name=title)


def pictured(pictures, phone, page, name):
    """Pictures in both languages."""
    pictures(page, f"phone-{name}")
    phone.control(language="ar")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.locator("h1:visible")).to_have_count(1)
    pictures(page, f"phone-{name}-arabic")
    phone.control(language="en")
    expect(page.locator("html")).to_have_attribute("dir", "ltr")


def test_initialize(product, phones, visit, alerts, hours):
    optional = product.new_subject("Jobs")
    phone = phones()
    phone.wait_until_set_up()
    subscribed = {
        subject["topic_key"] for channel in phone.state()["channels"] for area in channel["areas"] for subject in area["subjects"]
        if subject["subscribed"]}
    assert {alerts.topic_key, hours.topic_key} <= subscribed and optional.topic_key not in subscribed
    expect(opened(visit, phone).get_by_role("heading", name="Messages", exact=True)).to_be_visible()


def test_initialize_on_ios(product, phones, visit, pictures, alerts):
    phone = phones(platform="ios")
    page = opened(visit, phone)
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("would like to send you notifications")
    pictured(pictures, phone, page, "permission")
    question.get_by_role("button", name="Allow", exact=True).click()
    phone.wait_until_set_up()
    expect(page.get_by_role("heading", name="Messages", exact=True)).to_be_visible()


def test_initialize_goes_on_by_itself(product, phones, visit, pictures, alerts):
    phone = phones(offline=True)
    page = opened(visit, phone)
    expect(page.get_by_role("heading", name="Setting up")).to_be_visible()
    pictured(pictures, phone, page, "setting-up")
    phone.control(offline=False)
    expect(page.get_by_role("heading", name="Messages", exact=True)).to_be_visible(timeout=40_000)


def test_receive(product, phones, visit, pictures, alerts, hours):
    phone = phones()
    phone.wait_until_set_up()
    page = opened(visit, phone)
    alert = product.send(alerts, "Campus closed", "All buildings stay closed until Tuesday, 6:00.", desc="Stay at home.")
    product.send(hours, "Library opens late", "The library opens at 10:00 tomorrow.")
    expect(card(page, "Campus closed")).to_contain_text("Alert")
    expect(card(page, "Library opens late")).to_contain_text(hours.name)
    # On Android the app itself shows the pop-up while it is on the screen.
    phone.wait("the pop-up", lambda state: [popup["id"] for popup in state["popups"]] == [alert])
    phone.request("DELETE", "/popups")
    pictured(pictures, phone, page, "messages")


def test_receipts(product, phones, visit, pictures, alerts):
    """The message's page in the portal counts the phones that report."""
    (first, second), silent = (phones(), phones()), phones()
    for phone in (first, second, silent):
        phone.wait_until_set_up()
    silent.request("PUT", "/settings", {"receipts": False})
    key = product.send(alerts, "Campus closed", desc="Stay at home.")
    product.wait_for_state(key, "relayed")
    portal = visit(f"/portal/message/?key={key}")
    for phone in (first, second, silent):
        phone.wait("the message", lambda state: any(message["msi_key"] == key for message in state["messages"]))
    page = opened(visit, first)
    card(page, "Campus closed").get_by_role("button").first.click()
    first.wait("it is read", lambda state: all(message["read"] for message in state["messages"]))
    for phone in (first, second, silent):
        # An app reports at once when it leaves the screen.
        phone.control(foreground=False)
    expect(portal.locator(".reach")).to_contain_text("2 phones have received it", timeout=30_000)
    expect(portal.locator(".reach")).to_contain_text("1 student has opened it")
    assert product.message(key)["receipts"] == {"received": 2, "opened": 1}
    pictures(portal, "message-receipts", right_to_left=True)


def test_receive_a_correction(product, phones, visit, pictures, alerts):
    phone = phones()
    phone.wait_until_set_up()
    phone.control(foreground=False)
    wrong = product.send(alerts, "Exam on Friday", "The exam is on Friday.", desc="On Friday.")
    phone.wait("the pop-up", lambda state: [popup["id"] for popup in state["popups"]] == [wrong])
    product.wait_for_state(wrong, "relayed")
    right = product.send(alerts, "Exam on Monday", "The exam is on Monday.", desc="On Monday.", follows=wrong, correction=True)
    phone.wait("the correction in its place", lambda state: [(popup["id"], popup["title"]) for popup in state["popups"]] == [(wrong, "Exam on Monday")])
    eventually("the correction", lambda: phone.has(right))
    page = opened(visit, phone)
    page.get_by_role("button", name="Exam on Monday", exact=True).click()
    expect(card(page, "Exam on Monday")).to_contain_text("Correction")
    expect(card(page, "Exam on Friday")).to_contain_text("Corrected")
    pictured(pictures, phone, page, "correction")
    card(page, "Exam on Friday").get_by_role("button", name="Show the correction").click()
    expect(card(page, "Exam on Monday")).to_be_focused()


def test_alert_on_the_lock_screen(product, phones, visit, pictures, alerts, hours):
    phone = phones(foreground=False)
    phone.wait_until_set_up()
    page = opened(visit, phone)
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


def test_receive_what_was_missed_while_killed(product, phones, visit, pictures, alerts, hours):
    phone = phones()
    phone.wait_until_set_up()
    phone.control(killed=True)
    page = opened(visit, phone)
    keys = [product.send(alerts, "Campus closed", desc="Stay at home."), product.send(hours, "Library opens late")]
    for key in keys:
        product.wait_for_state(key, "relayed")
    phone.wait("the pop-up of the operating system", lambda state: len(state["popups"]) == 1)
    assert not any(phone.has(key) for key in keys)
    pictured(pictures, phone, page, "killed")
    page.get_by_role("button", name=re.compile("open the app")).click()
    for title in ("Campus closed", "Library opens late"):
        expect(card(page, title)).to_be_visible()


def test_offline(product, phones, visit, pictures, hours):
    phone = phones()
    phone.wait_until_set_up()
    product.send(hours, "Before", "Seen offline, too.")
    page = opened(visit, phone)
    expect(card(page, "Before")).to_be_visible()
    phone.control(offline=True)
    expect(page.get_by_text("Offline.", exact=False).first).to_be_visible()
    key = product.send(hours, "Meanwhile")
    product.wait_for_state(key, "relayed")
    expect(card(page, "Before")).to_be_visible()
    assert not phone.has(key)
    pictured(pictures, phone, page, "offline")
    phone.control(offline=False)
    expect(card(page, "Meanwhile")).to_be_visible()


def test_receive_what_fcm_cannot_carry(product, phones, visit, hours):
    """1,500 characters of Chinese are more bytes than FCM carries: the phone fetches the text from the hub."""
    phone = phones()
    phone.wait_until_set_up()
    page = opened(visit, phone)
    text = "图书馆今天晚些时候开放。" * 125
    key = product.send(hours, title="Later today", message=text)
    assert product.data_sent(key)["omitted"] == "message"
    page.get_by_role("button", name=re.compile("More.*Later today")).click(timeout=20_000)
    expect(card(page, "Later today")).to_contain_text(text)


def test_clear_old_messages(product, phones, visit, hours):
    phone = phones()
    phone.wait_until_set_up()
    old, kept = product.send(hours, "Old"), product.send(hours, "To keep")
    page = opened(visit, phone)
    expect(card(page, "Old")).to_be_visible()
    page.get_by_role("button", name="Actions for To keep").click()
    page.get_by_role("group", name="Actions").get_by_role("button", name="Keep").click()
    phone.wait("it is kept", lambda state: any(message["kept"] for message in state["messages"]))
    phone.control(clock_offset=8 * 86_400, killed=True)
    phone.control(killed=False)
    eventually("the old one is cleared", lambda: not phone.has(old))
    assert phone.has(kept)
    expect(card(page, "To keep")).to_be_visible()
    # The hub still has it; it does not return.
    phone.request("POST", "/refresh")
    later = product.send(hours, "Later")
    eventually("the later one", lambda: phone.has(later))
    assert not phone.has(old)


def test_view_messages_by_time(product, phones, visit, pictures, alerts, hours):
    phone = phones()
    phone.wait_until_set_up()
    long = " ".join(f"Sentence {number} says what is open on this campus during the exams." for number in range(20))
    product.send(hours, "Rooms during exams", long)
    product.send(alerts, "Exam moves", "The exam of Friday, 9:00 takes place in hall B.", desc="To hall B.")
    page = opened(visit, phone)
    moved = card(page, "Exam moves")
    expect(moved.get_by_role("button", name="Friday, 9:00 (Add to calendar)")).to_be_visible()
    expect(moved).to_contain_text(alerts.name)
    page.get_by_role("button", name=re.compile("More.*Rooms during exams")).click()
    expect(page.get_by_role("button", name=re.compile("Less.*Rooms during exams"))).to_be_visible()
    expect(page.get_by_text("Today", exact=True)).to_be_visible()
    page.get_by_role("button", name="List view").click()
    pictured(pictures, phone, page, "list")
    expect(card(page, "Exam moves")).not_to_contain_text("takes place")
    card(page, "Exam moves").get_by_role("button").first.click()
    expect(card(page, "Exam moves")).to_contain_text("takes place")


def test_search(product, phones, visit, pictures, hours):
    phone = phones()
    phone.wait_until_set_up()
    product.send(hours, "Library opens late"), product.send(hours, "Canteen closed")
    page = opened(visit, phone)
    expect(card(page, "Canteen closed")).to_be_visible()
    page.get_by_role("button", name="Search messages").click()
    page.get_by_role("searchbox", name="Search messages").fill("canteen")
    expect(card(page, "Library opens late")).to_have_count(0)
    expect(card(page, "Canteen closed")).to_be_visible()
    page.get_by_role("searchbox", name="Search messages").fill("nothing has this")
    expect(card(page, "Canteen closed")).to_have_count(0)
    pictures(page, "phone-no-result")


def test_view_messages_by_channel(product, phones, visit, pictures, alerts, hours):
    phone = phones()
    phone.wait_until_set_up()
    product.send(alerts, "Campus closed", desc="Stay at home."), product.send(hours, "Library opens late")
    page = opened(visit, phone)
    expect(card(page, "Library opens late")).to_be_visible()
    page.get_by_role("group", name="Order").get_by_role("button", name="By channel").click()
    channels = page.get_by_role("group", name="Channel")
    channels.get_by_role("button", name=hours.channel["name"]).click()
    expect(card(page, "Campus closed")).to_have_count(0)
    expect(card(page, "Library opens late")).to_be_visible()
    channels.get_by_role("button", name=alerts.channel["name"]).click()
    expect(card(page, "Campus closed")).to_be_visible()
    expect(card(page, "Library opens late")).to_have_count(0)
    pictures(page, "phone-by-channel")


def test_delete_message(product, phones, visit, pictures, hours):
    phone = phones()
    phone.wait_until_set_up()
    keys = {title: product.send(hours, title) for title in ("First", "Second")}
    page = opened(visit, phone)
    first = card(page, "First")
    expect(first).to_be_visible()
    # By key; the question is answered with no.
    first.focus()
    page.keyboard.press("Delete")
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("First")
    pictures(page, "phone-delete")
    question.get_by_role("button", name="Cancel").click()
    expect(first).to_be_visible()
    # By a swipe to the left, and taken back.
    box = first.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 30, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 32, steps=12)
    page.mouse.up()
    question.get_by_role("button", name="Delete").click()
    expect(first).to_have_count(0)
    eventually("it is deleted", lambda: not phone.has(keys["First"]))
    page.get_by_role("button", name="Undo").click()
    expect(first).to_be_visible()
    # By the button, and for good: the hub's copy does not return.
    page.get_by_role("button", name="Actions for Second").click()
    page.get_by_role("group", name="Actions").get_by_role("button", name="Delete").click()
    question.get_by_role("button", name="Delete").click()
    expect(card(page, "Second")).to_have_count(0)
    phone.request("POST", "/refresh")
    later = product.send(hours, "Later")
    eventually("the later one", lambda: phone.has(later))
    assert not phone.has(keys["Second"]) and phone.has(keys["First"])


def test_subscriptions(product, phones, visit, pictures, alerts):
    channel = product.new_channel("Clubs")
    area = product.new_area(channel)
    chess = product.new_subject("Chess", channel=channel, area=area)
    choir = product.new_subject("Choir", channel=channel, area=area, level="Recommended")
    phone = phones()
    phone.wait_until_set_up()
    page = opened(visit, phone)
    page.get_by_role("navigation", name="Message Hub").get_by_role("link", name="Subscriptions").click()
    page.get_by_role("group", name="Channel").get_by_role("button", name=channel["name"]).click()
    switch = page.get_by_role("switch", name=chess.name)
    if not switch.is_visible():
        page.locator("summary", has_text=area["name"]).click()
    expect(switch).not_to_be_checked()
    pictured(pictures, phone, page, "subscriptions")
    # Subscribe: FCM and the hub know it, and this week's messages come.
    before = product.send(chess, "Chess on Monday")
    product.wait_for_state(before, "relayed")
    page.get_by_role("group", name="Channel").get_by_role("button", name=channel["name"]).click()
    if not switch.is_visible():
        page.locator("summary", has_text=area["name"]).click()
    switch.click()
    expect(switch).to_be_checked()
    token = json.loads((product.folder / "phones" / f"{phone.name}.json").read_text())["token"]

    def topics():
        return requests.post(product.url + "/phone/topics", json={"token": token}, timeout=10).json()["topics"]

    eventually("FCM has the subscription", lambda: chess.topic_key in topics())
    # Unsubscribe.
    page.get_by_role("switch", name=choir.name).click()
    eventually("FCM has no subscription", lambda: choir.topic_key not in topics())
    product.send(choir, "Choir on Tuesday")
    key = product.send(chess, "Chess on Tuesday")
    eventually("the message of the chosen subject", lambda: phone.has(key))
    assert not any(message["title"] == "Choir on Tuesday" for message in phone.state()["messages"])
    # My subscriptions.
    page.get_by_role("group", name="Which subjects").get_by_role("button", name="Mine").click()
    expect(page.get_by_role("switch", name=chess.name)).to_be_visible()
    expect(page.get_by_role("switch", name=choir.name)).to_have_count(0)


def test_required_subject_cannot_be_left(product, phones, visit, alerts):
    phone = phones()
    phone.wait_until_set_up()
    refused = requests.put(f"{phone.url}/subscriptions/{alerts.topic_key}", json={"subscribed": False}, timeout=10)
    assert refused.status_code == 409, refused.text
    page = opened(visit, phone)
    page.get_by_role("navigation", name="Message Hub").get_by_role("link", name="Subscriptions").click()
    page.get_by_role("group", name="Channel").get_by_role("button", name=alerts.channel["name"]).click()
    switch = page.get_by_role("switch", name=alerts.name)
    if not switch.is_visible():
        page.locator("summary").first.click()
    expect(switch).to_be_checked()
    expect(switch).to_have_attribute("aria-disabled", "true")


def test_settings(product, phones, visit, pictures):
    phone = phones()
    phone.wait_until_set_up()
    page = opened(visit, phone)
    page.get_by_role("navigation", name="Message Hub").get_by_role("link", name="Settings").click()
    pictured(pictures, phone, page, "settings")
    page.get_by_role("switch", name="Receipts").click()
    phone.wait("receipts are off", lambda state: state["settings"] == {"receipts": False})
    page.get_by_role("link", name="About").click()
    expect(page.get_by_text(phone.name)).to_be_visible()
    page.get_by_role("link", name="Settings").first.click()
    page.get_by_role("link", name="My subscriptions").click()
    expect(page.get_by_role("heading", name="Subscriptions")).to_be_visible()


def test_save_to_calendar(product, phones, visit, pictures, hours):
    phone = phones()
    phone.wait_until_set_up()
    product.send(hours, "Exam moves", "The exam is on 2030-01-15 at 09:30 in hall B; bring a pen.")
    page = opened(visit, phone)
    card(page, "Exam moves").get_by_role("button", name="Add to calendar").first.click()
    dialog = page.get_by_role("dialog", name="Add to calendar")
    expect(dialog.get_by_label("Date")).to_have_value("2030-01-15")
    expect(dialog.get_by_label("Time")).to_have_value("09:30")
    pictures(page, "phone-calendar")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Save event").click()
    text = download.value.path().read_text()
    # Berlin is an hour ahead of UTC in January.
    assert "DTSTART:20300115T083000Z" in text and "SUMMARY:Exam moves" in text, text


def test_export_messages(product, phones, visit, pictures, hours):
    phone = phones()
    phone.wait_until_set_up()
    key = product.send(hours, "Library opens late", "At 10:00.")
    page = opened(visit, phone)
    expect(card(page, "Library opens late")).to_be_visible()
    page.get_by_role("navigation", name="Message Hub").get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Export messages").click()
    pictures(page, "phone-export")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save file").click()
    assert "Library opens late" in download.value.path().read_text()
    page.get_by_role("group", name="Format").get_by_role("button", name="JSON").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Save file").click()
    assert key in [message["msi_key"] for message in json.loads(download.value.path().read_text())]


def test_phone_restarts(product, phones, visit, hours):
    """Messages, marks and the registration outlive the process; a broken page says so and goes on."""
    phone = phones()
    phone.wait_until_set_up()
    key = product.send(hours, "Before the restart")
    page = opened(visit, phone)
    expect(card(page, "Before the restart")).to_be_visible()
    visit.expect_errors(GATEWAY_AWAY)
    phone.process.kill()
    phone.process.wait()
    missed = product.send(hours, "During the restart")
    product.wait_for_state(missed, "relayed")
    phone.start()
    expect(card(page, "During the restart")).to_be_visible(timeout=30_000)
    messages = [message["msi_key"] for message in phone.state()["messages"] if message["msi_key"] in (key, missed)]
    assert sorted(messages) == sorted([key, missed])


def test_only_its_own_page(product, phones):
    phone = phones()
    assert requests.get(phone.url, headers={"Host": "evil.test"}, timeout=10).status_code == 403
    other = requests.put(phone.url + "/control", json={"offline": True}, headers={"Origin": "http://evil.test"}, timeout=10)
    assert other.status_code == 403 and "evil.test" in other.json()["error"]
    for body in ({"offline": "yes"}, {"colour": 1}, {"clock_offset": 10**12}, []):
        refused = requests.put(phone.url + "/control", json=body, timeout=10)
        assert refused.status_code == 400 and refused.json()["error"], refused.text
    assert not phone.state()["control"]["offline"]


def test_port_taken(product, phones):
    """A phone whose port is taken uses another one, and says where it is."""
    first = phones()
    second = phones(port=first.port)
    assert second.url != first.url
    assert {first.state()["name"], second.state()["name"]} == {first.name, second.name}
