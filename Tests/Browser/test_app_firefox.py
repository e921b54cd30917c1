"""From a post at the hub to a notification in the real Firefox, by the push service of the tests: nothing on the way is made up.

Level one has the whole way. Chromium's tests (test_app_notifications.py, test_app_pushes.py) have what needs no
push service, the core's tests (test_app_push_core.py) have subscriptions that end, and the chaos run and Tests/WebPushTests have faults on the way.
"""

import json

import pytest
from harness.push_service import decoded
from harness.waiting import eventually

# How long a loaded machine may take, in seconds.
PATIENCE = 60

# A page of the same origin that is not the app.
ASIDE = "/app/service-worker.js"

# Reads the app's data: `read(store, ask)`.
STORED = """const opened = await new Promise((resolve, reject) => {
        const request = indexedDB.open("msi-app");
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const read = (store, ask) => new Promise((resolve, reject) => {
        const request = ask(opened.transaction(store).objectStore(store));
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    }).finally(() => opened.close());
    """


@pytest.fixture
def product(push_product):
    return push_product


@pytest.fixture
def alerts(product):
    subject = product.new_subject("Storms", distribution="Alert", level="Forced")
    yield subject
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


@pytest.fixture
def site(product):
    """The origin by which Firefox reaches the gateway."""
    return f"http://localhost:{product.gateway_port}"


@pytest.fixture
def app(firefox, site, alerts):
    """A Firefox with the app, whose notifications are on and proven, and which gets the Alerts of a subject."""
    firefox.permit(site)
    firefox.go(f"{site}/app/")
    firefox.click_button("Turn on notifications")
    firefox.wait_for_text("Notifications are on.")
    eventually("the code of the first push is returned", lambda: row(firefox)["proven"])
    firefox.click_button("Show my messages")
    firefox.wait_for_text("Messages")
    eventually("the hub knows the subject", lambda: alerts.topic_key in json.loads(row(firefox)["told"])["alerts"])
    return firefox


def row(firefox):
    """What the app has stored about its subscription."""
    return firefox.run(STORED + "return (await read('memory', (store) => store.get('push')))?.value ?? null;")


def has(firefox, key):
    """Whether the app has stored a message."""
    return firefox.run(STORED + "return (await read('messages', (store) => store.index('msi_key').count(args[0]))) > 0;", key)


def wait_for(firefox, *titles):
    eventually(f"notifications {titles}", lambda: set(titles) <= set(firefox.titles()), PATIENCE, pause=0.1)


def posts(push_service, firefox):
    return push_service.posts_of(row(firefox)["endpoint"])


def test_a_notification(product, push_service, app, alerts, site):
    """The whole way: encrypted, signed, pushed, decrypted, shown, fetched."""
    first = app.notifications()
    assert [each["title"] for each in first] == ["Notifications are on"], first
    key = product.send(alerts, "Campus closed", "All buildings stay closed until Tuesday. " * 20, desc="Stay at home.")
    wait_for(app, "Campus closed")
    [notification] = [each for each in app.notifications() if each["title"] == "Campus closed"]
    assert notification["tag"] == notification["key"] == key and notification["body"], notification
    app.wait_for_text("Campus closed")
    taken = posts(push_service, app)
    assert [post.status for post in taken] == [201] * len(taken), taken
    assert taken[-1].headers["topic"] == key and taken[-1].headers["urgency"] == "high" and int(taken[-1].headers["ttl"]) > 0
    # It says nothing of what it carries.
    assert b"Campus" not in taken[-1].body and "Campus" not in str(taken[-1].headers)
    assert {code for message, code in push_service.acknowledged} == {100}
    assert len(decoded(row(app)["key"])) == 65


@pytest.mark.at_length
def test_the_subscription_is_lost(product, push_service, app, alerts, site):
    """The push service has forgotten the browser, which tells the worker. It subscribes again while no page is open."""
    before = row(app)
    app.go("about:blank")
    push_service.forget_browsers()
    app.go(site + ASIDE)
    after = eventually("another subscription", lambda: (found := row(app))["endpoint"] != before["endpoint"] and found["proven"] and found)
    assert after["id"] != before["id"] and after["key"] == before["key"]
    product.send(alerts, "After the loss")
    wait_for(app, "After the loss")


@pytest.mark.at_length
def test_the_app_is_closed(product, app, alerts, site):
    """No page of it is open. The message is in the app when it is opened without the hub."""
    app.go("about:blank")
    key = product.send(alerts, "While it is closed")
    app.go(site + ASIDE)
    wait_for(app, "While it is closed")
    eventually("the worker has fetched it", lambda: has(app, key), pause=0.2)
    with product.away("msi-gateway"):
        app.go(f"{site}/app/")
        app.wait_for_text("While it is closed")


@pytest.mark.at_length
def test_firefox_was_closed(product, push_service, app, alerts, site):
    """The push service keeps what comes. A correction replaces what it corrects, and what is recalled before does not come."""
    endpoint = row(app)["endpoint"]
    app.quit()
    product.send(alerts, "While it was closed")
    wrong = product.send(alerts, "Room 12")
    eventually("both are pushed", lambda: len([post for post in push_service.posts_of(endpoint) if post.status == 201]) >= 3)
    product.wait_for_state(wrong, "relayed")
    product.send(alerts, "Room 21", follows=wrong, correction=True)
    recalled = product.send(alerts, "By mistake", delay=3600)
    product.api("DELETE", f"/message/{recalled}")
    eventually("the correction is pushed", lambda: len([post for post in push_service.posts_of(endpoint) if post.status == 201]) >= 4)
    app.start()
    app.go(site + ASIDE)
    wait_for(app, "While it was closed", "Room 21")
    assert "Room 12" not in app.titles() and "By mistake" not in app.titles()


@pytest.mark.at_length
def test_the_push_service_fails_for_a_while(product, push_service, app, alerts):
    """Each answer that is no end is tried again, and nothing is shown twice."""
    endpoint = row(app)["endpoint"]
    for status, headers in ((503, {"Retry-After": "1"}), (429, {"Retry-After": "1"}), (500, {})):
        title = f"After {status}"
        with push_service.answers(status=status, headers=headers, count=1, endpoint=endpoint):
            product.send(alerts, title)
            wait_for(app, title)
        assert app.titles().count(title) == 1
    statuses = [post.status for post in push_service.posts_of(endpoint)]
    assert [status for status in statuses if status != 201] == [503, 429, 500], statuses


@pytest.mark.at_length
def test_the_web_push_service_is_killed(product, app, alerts):
    """Subscriptions and keys are stored, and what was on its way is not lost."""
    product.send(alerts, "Before the kill")
    product.kill("msi-webpush")
    product.send(alerts, "After the kill")
    wait_for(app, "Before the kill", "After the kill")


@pytest.mark.at_length
def test_the_subscription_has_ended(product, push_service, app, alerts, site):
    """The push service says that it is gone. The hub forgets it, and the app subscribes again when it tells the hub something."""
    def subscribed():
        return product.api("GET", "/app/push/count")["proven"]

    before, count = row(app), subscribed()
    push_service.end(before["endpoint"])
    product.send(alerts, "Into the void")
    eventually("the hub knows", lambda: [post.status for post in push_service.posts_of(before["endpoint"])][-1:] == [410])
    # It answers the app as long as it has not removed it.
    eventually("the hub has forgotten it", lambda: subscribed() < count)
    # Another subject to tell.
    other = product.new_subject("Floods", distribution="Alert", level="Forced", channel=alerts.channel)
    app.reload()
    after = eventually("another subscription", lambda: (found := row(app))["endpoint"] != before["endpoint"] and found["proven"] and found, pause=0.5)
    assert after["id"] != before["id"]
    product.send(other, "Water is rising")
    wait_for(app, "Water is rising")


@pytest.mark.at_length
def test_the_person_withdraws_the_permission(push_service, app, site):
    """The browser ends its subscription. The settings say why there are no notifications, and how to have them again."""
    before = row(app)
    app.permit(site, is_allowed=False)
    eventually("the subscription has ended", lambda: before["endpoint"].rsplit("/", 1)[1] in push_service.gone)
    app.go(f"{site}/app/#settings/notifications")
    app.reload()
    app.wait_for_text("Your browser does not allow notifications from this address.")
    app.permit(site)
    app.reload()
    eventually("another subscription", lambda: (found := row(app))["endpoint"] != before["endpoint"] and found["proven"], pause=0.5)
