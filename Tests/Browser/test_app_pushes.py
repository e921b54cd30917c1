"""What the service worker of the students' app makes of a push, in Chromium: it is handed over as Chromium does, without a push service."""

import pytest
from browsing.app import begin, card, fetch, look, open_app
from browsing.pushes import deliver, notifications, push_of, shown, stored, worker_of
from browsing.visits import GATEWAY_AWAY
from harness.waiting import eventually
from playwright.sync_api import expect

NOBODY = "0" * 23


@pytest.fixture(scope="module")
def product(push_product):
    return push_product


@pytest.fixture(scope="module")
def browser(whole_chromium):
    return whole_chromium


@pytest.fixture
def alerts(product):
    subject = product.new_subject("Storms", distribution="Alert", level="Forced")
    yield subject
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


@pytest.fixture
def page(visit, alerts):
    """The app, which has joined the subject of Alerts."""
    page = open_app(visit, worker=True, permissions=["notifications"], narrow=True)
    eventually("the subject is joined", lambda: look(page) or stored(page, "subscriptions", alerts.topic_key), pause=0.5)
    return page


def has(page, key):
    """Whether the app has stored a message."""
    return page.evaluate("""(key) => new Promise((resolve, reject) => {
        const opened = indexedDB.open("msi-app");
        opened.onerror = reject;
        opened.onsuccess = () => {
            const asked = opened.result.transaction("messages").objectStore("messages").index("msi_key").count(key);
            asked.onsuccess = () => { opened.result.close(); resolve(asked.result > 0); };
        };
    })""", key)


def dismiss(page):
    """Closes the notifications, as a person does."""
    page.evaluate("navigator.serviceWorker.ready.then((known) => known.getNotifications()).then((all) => all.forEach((each) => each.close()))")
    eventually("they are dismissed", lambda: notifications(page) == [])


@pytest.mark.at_length
def test_a_message(page):
    """It is shown as the hub has written it: an Alert with a sound, Information without."""
    deliver(page, push_of(f"{NOBODY}1", "Campus closed", body="Stay at home."))
    notification = shown(page, "Campus closed")
    assert notification["body"] == "Stay at home." and notification["tag"] == notification["key"] == f"{NOBODY}1"
    assert notification["silent"] is False and notification["lang"] == "en" and notification["dir"] == "ltr", notification
    deliver(page, push_of(f"{NOBODY}2", "المكتبة", language="ar", silent=True))
    quiet = shown(page, "المكتبة")
    assert quiet["silent"] is True and quiet["lang"] == "ar" and quiet["dir"] == "rtl", quiet
    assert len(notifications(page)) == 2


@pytest.mark.at_length
def test_a_double(page):
    """A second copy shows the same notification once more, without a sound."""
    for _ in range(2):
        deliver(page, push_of(f"{NOBODY}3", "Campus closed"))
    eventually("the quiet copy", lambda: [each["silent"] for each in notifications(page)] == [True])


@pytest.mark.at_length
def test_a_double_of_a_dismissed_one(page):
    deliver(page, push_of(f"{NOBODY}4", "Campus closed"))
    shown(page, "Campus closed")
    dismiss(page)
    deliver(page, push_of(f"{NOBODY}4", "Campus closed"))
    assert shown(page, "Campus closed")["silent"] is True


def test_a_correction_replaces(page):
    """It has the tag of what it corrects, and makes a sound again."""
    deliver(page, push_of(f"{NOBODY}5", "Room 12"))
    shown(page, "Room 12")
    deliver(page, push_of(f"{NOBODY}6", "Room 21", tag=f"{NOBODY}5", corrects=f"{NOBODY}5"))
    notification = shown(page, "Room 21")
    assert [each["title"] for each in notifications(page)] == ["Room 21"]
    assert notification["silent"] is False and notification["key"] == f"{NOBODY}6", notification


def test_broken_pushes(page):
    """Something is shown, since browsers want to see it: that there are messages."""
    for data in ("", "{", "[]", '{"web_push":8030}', '{"notification":{"title":""},"msi":{}}', '{"notification":{"title":7},"msi":{}}'):
        deliver(page, data)
        shown(page, "There are new messages")
        # Several of them are one.
        deliver(page, data)
        assert [each["title"] for each in notifications(page)] == ["There are new messages"], data
        dismiss(page)


@pytest.mark.at_length
def test_a_broken_push_in_arabic(visit):
    page = open_app(visit, language="ar", worker=True, permissions=["notifications"], narrow=True)
    deliver(page, "{")
    shown(page, "وصلت رسائل جديدة")


@pytest.mark.at_length
def test_the_data_of_a_later_version(page):
    """This worker cannot open them, but shows the push."""
    page.goto("/app/service-worker.js")
    page.evaluate("""() => new Promise((resolve, reject) => Object.assign(indexedDB.open("msi-app", 99), {
        onsuccess: ({ target }) => { target.result.close(); resolve(); }, onerror: reject }))""")
    deliver(page, push_of(f"{NOBODY}0", "Campus closed"))
    assert shown(page, "Campus closed")["silent"] is False


@pytest.mark.at_length
def test_strange_values(page):
    """Fields with a wrong type or an unknown value are left out, and the rest is shown."""
    push = push_of(f"{NOBODY}7", "Campus closed")
    push["notification"] |= {"body": {"a": 1}, "dir": "up", "lang": 5, "silent": "yes", "tag": None}
    push["msi"] |= {"timestamp": "soon", "msi_key": "../x"}
    deliver(page, push)
    notification = shown(page, "Campus closed")
    assert notification["body"] == "" and notification["key"] is None and notification["silent"] is False, notification


def test_the_message_comes_with_the_push(product, visit, page, alerts):
    """The worker fetches it while no page of the app is open. So it is in the app even without a network later."""
    key = product.send(alerts, "Campus closed", "All buildings stay closed.")
    product.wait_for_state(key, "relayed")
    # Of the same origin, and not the app.
    page.goto("/app/service-worker.js")
    deliver(page, push_of(key, "Campus closed", topic=alerts.topic_key))
    eventually("the message is stored", lambda: has(page, key))
    visit.expect_errors(GATEWAY_AWAY, r"status of 50\d")
    with product.away("msi-gateway"):
        page.goto("/app/")
        expect(card(page, "Campus closed")).to_be_visible()


@pytest.mark.at_length
def test_the_hub_is_away(product, visit, page, alerts):
    """The notification is shown nevertheless, and the message comes with the next look."""
    visit.expect_errors(GATEWAY_AWAY, r"status of 50\d")
    # The gateway serves the worker.
    worker_of(page)
    with product.away("msi-gateway"):
        deliver(page, push_of(f"{NOBODY}8", "Campus closed"))
        shown(page, "Campus closed")


@pytest.mark.at_length
def test_a_message_that_is_gone(product, page, alerts):
    """The notification of a message that was deleted, or recalled, goes as well. A later copy makes no sound."""
    key = product.send(alerts, "By mistake")
    product.wait_for_state(key, "relayed")
    deliver(page, push_of(key, "By mistake", topic=alerts.topic_key))
    shown(page, "By mistake")
    fetch(page, "By mistake")
    card(page, "By mistake").focus()
    page.keyboard.press("Delete")
    expect(card(page, "By mistake")).to_have_count(0)
    eventually("the notification is gone", lambda: notifications(page) == [])
    deliver(page, push_of(key, "By mistake", topic=alerts.topic_key))
    assert shown(page, "By mistake")["silent"] is True


def test_a_tap_shows_the_message(product, visit, page, alerts):
    """The app that is open shows it, and it counts as read."""
    product.send(alerts, "Another one")
    key = product.send(alerts, "Campus closed")
    product.wait_for_state(key, "relayed")
    deliver(page, push_of(key, "Campus closed", topic=alerts.topic_key))
    shown(page, "Campus closed")
    page.goto("/app/#settings/about")
    worker = worker_of(page)
    # An event that a script makes cannot be waited for, and focuses no window. The rest is as after a tap.
    visit.expect_errors(r"focus", r"waitUntil|InvalidStateError")
    worker.evaluate("""async (key) => {
        const [notification] = (await registration.getNotifications()).filter(({ data }) => data.msi_key === key);
        try { dispatchEvent(new NotificationEvent("notificationclick", { notification })); } catch { /* it is not trusted */ }
    }""", key)
    expect(card(page, "Campus closed")).to_be_visible()
    expect(card(page, "Campus closed").locator(".dot")).to_be_hidden()
    eventually("the notification is gone", lambda: key not in [each["key"] for each in notifications(page)])


@pytest.mark.at_length
def test_the_address_of_a_message(product, visit, page, alerts):
    """What browsers open that show a push by themselves, and what the worker opens if the app is closed."""
    key = product.send(alerts, "Campus closed")
    product.wait_for_state(key, "relayed")
    page.close()
    other = page.context.new_page()
    other.goto(f"/app/#message/{key}")
    expect(card(other, "Campus closed")).to_be_visible()
    expect(card(other, "Campus closed").locator(".dot")).to_be_hidden()
    other.reload()
    expect(card(other, "Campus closed")).to_be_visible()


@pytest.mark.at_length
def test_the_address_of_a_message_at_the_first_visit(product, visit, alerts):
    """It comes first what the app is."""
    page = visit(f"/app/#message/{NOBODY}9", account=None, settled=False, narrow=True)
    begin(page)
    expect(page.get_by_role("heading", name="Messages", exact=True)).to_be_visible()
