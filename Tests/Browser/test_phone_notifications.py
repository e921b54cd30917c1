"""What tells of new messages on a simulated phone, and what the student does without: muted subjects and quiet hours."""

import datetime
import zoneinfo

import pytest
import requests
from harness.waiting import eventually
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def product(phones_product):
    return phones_product


@pytest.fixture
def subject(product):
    """Makes subjects, which are deleted at the end."""
    made = []

    def make(name, **options):
        made.append(product.new_subject(name, **options))
        return made[-1]

    yield make
    for one in made:
        product.api("DELETE", f"/channel/{one.channel['_id']}")


def card(page, title):
    return page.get_by_role("article", name=title)


def settings(page):
    page.get_by_role("navigation", name="Message Hub").get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Notifications").click()


def subject_of(phone, subject):
    """The subject as the phone knows it."""
    subjects = [one for channel in phone.state()["channels"] for area in channel["areas"] for one in area["subjects"]]
    return next(one for one in subjects if one["topic_key"] == subject.topic_key)


@pytest.mark.at_length
def test_muted_subject(product, phones, visit, pictures, subject):
    """No pop-up of it, whether FCM is there or not; its messages are kept and counted. It is muted from a message, and unmuted in the settings."""
    storms = subject("Storms", distribution="Alert", level="Recommended")
    phone = phones().set_up()
    first = product.send(storms, "Storm", desc="Stay at home.")
    phone.wait("the pop-up", lambda state: [popup["msi_key"] for popup in state["popups"]] == [first] and phone.has(first))
    phone.request("DELETE", "/popups")
    page = visit.phone(phone)
    page.get_by_role("button", name="Actions for Storm").click()
    page.get_by_role("group", name="Actions").get_by_role("button", name="Mute").click()
    expect(page.locator(".toast")).to_contain_text(f"› {storms.name}” is muted.")
    eventually("FCM sends nothing of it", lambda: storms.topic_key not in phone.topics())
    phone.control(foreground=False)

    def fetched(key):
        # The hub's answer may be a moment old.
        phone.request("POST", "/refresh")
        return phone.has(key)

    second = product.send(storms, "Storm again", desc="Stay at home.")
    product.wait_for_state(second, "relayed")
    eventually("the phone has fetched it", lambda: fetched(second), pause=0.5)
    assert not phone.state()["popups"]
    with product.faults({"fault": "UNAVAILABLE", "topic": storms.topic_key}):
        third = product.send(storms, "Storm while FCM is away", desc="Stay at home.")
        eventually("the phone has fetched it", lambda: fetched(third), pause=0.5)
    assert not phone.state()["popups"] and phone.state()["badge"] >= 2
    phone.control(foreground=True)
    expect(card(page, "Storm again")).to_be_visible()
    settings(page)
    row = page.get_by_role("listitem").filter(has_text=storms.name)
    expect(row).to_contain_text(storms.channel["name"])
    pictures(page, "phone-muted", right_to_left=False)
    row.get_by_role("button", name="Unmute").click()
    expect(page.get_by_text("No subject is muted.")).to_be_visible()
    eventually("FCM has the subscription again", lambda: storms.topic_key in phone.topics())
    fourth = product.send(storms, "Storm at last", desc="Stay at home.")
    phone.wait("the pop-up", lambda state: fourth in [popup["msi_key"] for popup in state["popups"]])


def test_mute_in_the_subscriptions(phones, visit, subject):
    """Only for Alerts that the student gets and could leave."""
    storms, hours = subject("Storms", distribution="Alert", level="Recommended"), subject("Opening hours", level="Recommended")
    required = subject("Fire", distribution="Alert", level="Forced")
    phone = phones().set_up()
    page = visit.phone(phone)
    page.get_by_role("navigation", name="Message Hub").get_by_role("link", name="Subscriptions").click()
    page.get_by_role("button", name="Search all subjects").click()
    for one, count in ((hours, 0), (required, 0), (storms, 1)):
        page.get_by_role("searchbox").fill(one.name)
        expect(page.get_by_role("switch", name=one.name)).to_be_visible()
        expect(page.get_by_role("button", name="Mute")).to_have_count(count)
    page.get_by_role("button", name="Mute").click()
    expect(page.get_by_role("button", name="Mute")).to_have_attribute("aria-pressed", "true")
    assert subject_of(phone, storms)["muted"]
    # What is left is muted no longer.
    page.get_by_role("switch", name=storms.name).click()
    expect(page.get_by_role("button", name="Mute")).to_have_count(0)
    # The page shows a choice before the phone has it.
    eventually("it is left", lambda: not subject_of(phone, storms)["subscribed"])
    page.get_by_role("switch", name=storms.name).click()
    expect(page.get_by_role("button", name="Mute")).to_have_attribute("aria-pressed", "false")
    for one, reason in ((required, "required"), (subject("Jobs", distribution="Alert"), "subscribed")):
        phone.request("POST", "/refresh")
        refused = requests.put(f"{phone.url}/subscriptions/{one.topic_key}/mute", json={"muted": True}, timeout=60)
        assert refused.status_code == 409 and reason in refused.json()["error"], refused.text


def test_quiet_hours(product, phones, visit, pictures, subject):
    """New Information is not on the badge before they end; an Alert is."""
    hours, storms = subject("Opening hours", level="Recommended"), subject("Storms", distribution="Alert", level="Recommended")
    phone = phones().set_up()
    page = visit.phone(phone)
    settings(page)
    page.get_by_role("switch", name="Quiet hours").click()
    expect(page.get_by_label("From")).to_have_value("22:00")
    assert phone.state()["settings"]["quiet_hours"] == {"from": "22:00", "to": "07:00"}
    pictures(page, "phone-quiet-hours")
    # An hour around now, by the phone's clock.
    now = datetime.datetime.fromtimestamp(phone.state()["now"] / 1_000, zoneinfo.ZoneInfo("Europe/Berlin"))
    around = [f"{now + datetime.timedelta(minutes=minutes):%H:%M}" for minutes in (-30, 30)]
    page.get_by_label("Until").fill("22:00")
    expect(page.get_by_text("Enter two different times.")).to_be_visible()
    for label, key, time in zip(("From", "Until"), ("from", "to"), around, strict=True):
        page.get_by_label(label).fill(time)
        phone.wait("the time", lambda state: state["settings"]["quiet_hours"][key] == time)
    key = product.send(hours, "Library opens late")
    phone.wait("the Information, which waits", lambda state: phone.has(key) and state["badge"] == 0)
    alert = product.send(storms, "Campus closed", desc="Stay at home.")
    phone.wait("the Alert", lambda state: phone.has(alert) and state["badge"] == 1 and [popup["msi_key"] for popup in state["popups"]] == [alert])
    # They end.
    phone.control(clock_offset=1_900)
    # Messages of other tests may be there as well.
    unread = lambda state: sum(not message["read"] for message in state["messages"])
    phone.wait("all are counted", lambda state: state["badge"] == unread(state) >= 2)
    phone.control(clock_offset=0)
    page.get_by_role("switch", name="Quiet hours").click()
    phone.wait("no quiet hours", lambda state: state["settings"]["quiet_hours"] is None and state["badge"] == unread(state) >= 2)
    for period in ({"from": "22:00", "to": "22:00"}, {"from": "24:00", "to": "07:00"}, {"from": "22:00", "to": "7"}, {"from": "22:00"}):
        refused = requests.put(f"{phone.url}/quiet-hours", json=period, timeout=60)
        assert refused.status_code == 400 and refused.json()["error"], refused.text
