"""The product's main way without FCM (`MSI_FCM=off`): from a post to students' browsers, by Web Push and by what their apps fetch."""

import pytest
import requests
from browsing.app import card, fetch, open_app
from harness import processes
from harness.product import Product
from harness.push_service import Receiver
from harness.waiting import eventually
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def product(product_without_fcm):
    return product_without_fcm


@pytest.fixture
def alerts(product):
    """A subject with Alerts that every app joins."""
    subject = product.new_subject("Storms", distribution="Alert", level="Forced")
    yield subject
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


def subscribe(product, push_service, *subjects):
    """A browser that is subscribed to subjects, and has returned the code of its first push."""
    receiver = Receiver(push_service, product.api("GET", "/app/push")["key"])
    receiver.subscribe(product, *subjects)
    return receiver


def components(message):
    return [(each["component"], each["state"]) for each in message["relay"]["components"]]


def test_nothing_of_fcm_runs(product):
    for name in ("msi-fcm-relay", "msi-fcm-emulator", "msi-phone"):
        assert processes.child(product.up.pid, name) is None, name
    health = requests.get(product.url + "/health", timeout=20).json()
    assert health["status"] == "ok" and "fcm" not in str(health).lower(), health
    assert "relay" not in health["parts"].get("message-log", {}) and "webpush" in health["parts"]["message-log"], health


def test_an_alert(product, push_service, visit, alerts):
    """A browser gets its push, and an app fetches it."""
    receiver = subscribe(product, push_service, alerts)
    page = open_app(visit)
    key = product.send(alerts, "Campus closed", "All buildings stay closed.", account="ann")
    message = product.wait_for_state(key, "relayed")
    assert components(message) == [("webpush", "accepted")] and message["relay"]["accepted"], message
    eventually("its push", lambda: receiver.titles["Campus closed"] == 1)
    fetch(page, "Campus closed")
    expect(card(page, "Campus closed")).to_be_visible()


@pytest.mark.at_length
def test_information(product, visit):
    """It is not pushed to those who have not asked for it. Apps fetch it."""
    hours = product.new_subject("Opening hours", level="Forced")
    page = open_app(visit)
    key = product.send(hours, "Open until ten")
    assert components(product.wait_for_state(key, "relayed")) == [("webpush", "accepted")]
    fetch(page, "Open until ten")
    product.api("DELETE", f"/channel/{hours.channel['_id']}")


def test_a_recalled_one(product):
    """What has not gone out can be recalled, as with FCM."""
    subject = product.new_subject()
    key = product.send(subject, "Later", delay=3_600)
    assert components(product.api("DELETE", f"/message/{key}")) == [("webpush", "recalled")]


@pytest.mark.at_length
def test_the_web_push_service_is_away(product, push_service, visit, alerts):
    """Running apps fetch an Alert that waits, and browsers get it once afterwards."""
    receiver = subscribe(product, push_service, alerts)
    page = open_app(visit)
    with product.away("msi-webpush"):
        key = product.send(alerts, "Storm at noon")
        assert product.message(key)["relay"]["state"] == "pending"
        fetch(page, "Storm at noon")
    product.wait_for_state(key, "relayed")
    eventually("its push", lambda: receiver.titles["Storm at noon"] == 1)


@pytest.mark.at_length
def test_the_message_log_was_killed(product, push_service, alerts):
    receiver = subscribe(product, push_service, alerts)
    for number in range(5):
        product.send(alerts, f"Storm {number}")
    product.kill("msi-message-log")
    eventually("each push", lambda: all(receiver.titles[f"Storm {number}"] for number in range(5)))


@pytest.mark.at_length
def test_without_web_push_as_well(request):
    """Messages are stored, and apps fetch them."""
    product = Product(
        request.config.getoption("executables"), settings=lambda product: {"MSI_FCM": "off", "MSI_WEBPUSH_CONTACT": "off"})
    try:
        assert processes.child(product.up.pid, "msi-webpush") is None
        assert requests.get(product.url + "/app/push", timeout=60).status_code == 404
        subject = product.new_subject(distribution="Alert")
        key = product.send(subject, "Campus closed")
        assert components(product.wait_for_state(key, "relayed")) == []

        def fetched():
            answer = requests.post(product.url + "/message/since", json={"topics": [subject.topic_key]}, timeout=60)
            return key in [each["msi_key"] for each in answer.json()["messages"]]

        eventually("an app fetches it", fetched)
    finally:
        product.stop()
