"""Pushes about people and their study sessions in Chromium: that the hub knows how a signed-in browser is reached, and what the service worker
makes of a push."""

import re

import pytest
from browsing.people import open_people, row
from browsing.pushes import deliver, notifications, shown, stored, subscribe_at, worker_of
from browsing.study import sheet
from harness.person import Person
from harness.push_service import Receiver
from harness.study import Class, befriend
from harness.waiting import eventually
from playwright.sync_api import expect

# A page of the same origin that is not the app.
ASIDE = "/app/service-worker.js"


@pytest.fixture(scope="module")
def product(push_product):
    return push_product


@pytest.fixture(scope="module")
def browser(whole_chromium):
    return whole_chromium


@pytest.fixture
def ann(product):
    return Person(product, "ann")


@pytest.fixture
def ben(product):
    return Person(product, "ben")


@pytest.fixture
def page(visit, ann):
    """The app, in which ann is signed in."""
    return open_people(visit, ann, worker=True, permissions=["notifications"], narrow=True)


def push_about(kind, number, title, link):
    tag = f"{kind}-{number}"
    return {"web_push": 8030, "notification": {"title": title, "lang": "en", "dir": "auto", "navigate": link, "tag": tag},
            "msi": {"kind": kind, "id": number, "link": link}}


REQUEST = push_about("friend_request", "6b0187feff0dafac2833f431", "You have a friend request", "#people/requests")


def tap(visit, page):
    """Taps on the only notification."""
    # An event that a script makes cannot be waited for, and focuses no window. The rest is as after a tap.
    visit.expect_errors(r"focus", r"waitUntil|InvalidStateError")
    worker_of(page).evaluate("""async () => {
        const [notification] = await registration.getNotifications();
        try { dispatchEvent(new NotificationEvent("notificationclick", { notification })); } catch { /* it is not trusted */ }
    }""")


def test_a_request_while_the_app_is_closed(page, ann, ben):
    """It is shown as it is, and what it is about is there when the app is opened."""
    page.goto(ASIDE)
    ben.ask(ann)
    deliver(page, REQUEST)
    notification = shown(page, "You have a friend request")
    assert notification["tag"] == "friend_request-6b0187feff0dafac2833f431" and notification["silent"] is False and notification["key"] is None
    kept = lambda: stored(page, "people", "requests")
    eventually("the worker has read the requests", lambda: kept() and [each["account"] for each in kept()["value"]["received"]] == [ben.account])
    page.goto("/app/#people/requests")
    expect(row(page, ben.account)).to_be_visible()


@pytest.mark.at_length
def test_a_double_makes_no_sound(page):
    for _ in range(2):
        deliver(page, REQUEST)
    eventually("the quiet copy", lambda: [each["silent"] for each in notifications(page)] == [True])


@pytest.mark.at_length
def test_a_tap_shows_what_it_is_about(visit, page, ann, ben):
    ben.ask(ann)
    deliver(page, REQUEST)
    shown(page, "You have a friend request")
    page.goto("/app/#settings/about")
    tap(visit, page)
    expect(row(page, ben.account)).to_be_visible()
    assert page.url.endswith("/app/#people/requests")


@pytest.mark.at_length
def test_an_invitation_to_a_session(product, visit, page, ann, ben):
    """What the push is about is read while the app is closed. A tap leads to the session's card, with the place and the time that is left."""
    befriend(ann, ben)
    session = Class(product).add(ann, ben).start(ben, "Heaps")
    ben.request("POST", f"{session.path}/invite", {"accounts": [ann.account]})
    page.goto(ASIDE)
    read = lambda: (stored(page, "study", "own") or {"value": {"read": 0}})["value"]["read"]
    before, title = read(), "You are invited to a study session"
    deliver(page, push_about("session_invite", session.id, title, session.link))
    assert shown(page, title)["tag"] == f"session_invite-{session.id}"
    eventually("the worker has read the person's sessions", lambda: read() > before)
    page.goto("/app/#settings/about")
    tap(visit, page)
    card = sheet(page, "Heaps")
    expect(card).to_contain_text("Library, second floor")
    expect(card).to_contain_text(re.compile(r"(59|60|1 h).* left"))
    assert page.url.endswith(f"/app/{session.link}")


def test_nobody_is_signed_in(visit):
    """A push that comes late is shown, since browsers want to see something, and reads nothing."""
    page = open_people(visit, None, worker=True, permissions=["notifications"], narrow=True)
    deliver(page, REQUEST)
    shown(page, "You have a friend request")
    assert stored(page, "people", "requests") is None


def test_links_to_somewhere_else(page):
    """Each push is shown, and leads to the app alone."""
    for number, link in enumerate((7, "https://example.org"), 1):
        title = f"Something new {number}"
        push = push_about("later_kind", str(number), title, "#people")
        push["msi"]["link"] = link
        deliver(page, push)
        shown(page, title)
        data = page.evaluate("""(title) => navigator.serviceWorker.ready.then((known) => known.getNotifications())
            .then((all) => all.find((one) => one.title === title).data.link ?? null)""", title)
        assert data is None, link


def test_the_hub_knows_how_the_browser_is_reached(product, push_service, visit, ann, ben):
    """From when notifications are on until they are off; a request comes by the push service, for this person alone."""
    receiver = Receiver(push_service, product.api("GET", "/app/push")["key"])
    page = open_people(visit, ann, worker=True, permissions=["notifications"], narrow=True)
    subscribe_at(page, receiver)
    page.reload()
    page.goto("/app/#settings/notifications")
    page.get_by_role("switch", name="Notifications on this device").click()
    first = eventually("the first push", lambda: receiver.pushes and receiver.pushes[0])
    deliver(page, first)

    def reached():
        return [each.get("push") for each in ann.request("GET", "/user/devices")["devices"] if each["id"] != ann.device]

    eventually("the hub knows", lambda: reached() == ["webpush"])
    ben.ask(ann)
    push = eventually("the request", lambda: next((each for each in receiver.pushes if each["msi"].get("kind")), None))
    assert push["msi"]["kind"] == "friend_request" and push["msi"]["link"] == "#people/requests", push
    assert ben.account not in str(push) and ann.account not in str(push), push
    page.get_by_role("switch", name="Notifications on this device").click()
    eventually("the hub knows", lambda: reached() == [None])
