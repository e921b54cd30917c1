"""Notifications of the students' app: switching them on and off, what keeps them from being on, and for which subjects they are."""

import json
import re

import pytest
from browsing.app import begin, begin_in_arabic, card, look, open_app, tab
from browsing.pushes import deliver, notifications, shown, stored, subscribe_at
from harness.push_service import Receiver
from harness.waiting import eventually
from playwright.sync_api import expect

TURN_ON = "Turn on notifications"
ON = "Notifications on this device"
ON_ITS_WAY = "The first notification is on its way."
HUB_STATUS = r"status of (404|503) .*/app/push\)"


@pytest.fixture(scope="module")
def product(push_product):
    return push_product


@pytest.fixture(scope="module")
def browser(whole_chromium):
    return whole_chromium


@pytest.fixture
def alerts(product):
    """A subject with Alerts that every app joins."""
    subject = product.new_subject("Storms", distribution="Alert", level="Forced")
    yield subject
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


@pytest.fixture
def hours(product):
    subject = product.new_subject("Opening hours", level="Recommended")
    yield subject
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


def first_visit(visit, script=None, **options):
    """The page of the first visit. `script` runs before the app's own ones."""
    # The script has to be there before the app's page is loaded for the first time.
    page = visit("/health", account=None, settled=False, narrow=True, **options)
    page.add_init_script(script or "")
    page.goto("/app/")
    expect(page.get_by_role("heading", name="Notifications", exact=True)).to_be_visible()
    return page


def receiver_of(product, push_service):
    return Receiver(push_service, product.api("GET", "/app/push")["key"])


def turn_on(page, receiver, *subjects):
    """As a person does at the first visit; the first push comes, and the hub has its code and knows of the subjects."""
    subscribe_at(page, receiver)
    page.reload()
    page.get_by_role("button", name=TURN_ON).click()
    expect(page.get_by_text(ON_ITS_WAY)).to_be_visible()
    first = eventually("the first push", lambda: receiver.pushes and receiver.pushes[0])
    expect(page.get_by_text("Notifications are on.")).to_have_count(0)
    deliver(page, first)
    eventually("the code is returned", lambda: row(page)["proven"])
    expect(page.get_by_text("Notifications are on.")).to_be_visible()
    wait_until_told(page, *subjects)
    return first


def wait_until_told(page, *subjects, information=()):
    """Waits until the hub knows that the browser is to get pushes of these subjects, and Information of others."""

    def told():
        known = json.loads(row(page)["told"])
        return {each.topic_key for each in subjects} <= set(known["alerts"]) and {each.topic_key for each in information} <= set(known["information"])

    eventually("the hub knows the subjects", told)


def pushed(receiver, title):
    """Waits for the push of a message, and returns it."""
    return eventually(f"the push {title}", lambda: next((each for each in receiver.pushes if each["notification"]["title"] == title), None))


def row(page):
    """What the app has stored about its subscription."""
    kept = stored(page, "memory", "push")
    return kept and kept["value"]


# Switching on

def test_turn_on_at_the_first_visit(product, push_service, visit, pictures, alerts):
    """A tap asks the browser, and nothing before it. The first push proves that pushes arrive, and from then on messages come."""
    page = first_visit(visit, permissions=["notifications"])
    expect(page.get_by_text("Without notifications, the app looks for new messages whenever you open it")).to_be_visible()
    pictures(page, "app-welcome-notifications", right_to_left=True)
    receiver = receiver_of(product, push_service)
    first = turn_on(page, receiver, alerts)
    assert first["web_push"] == 8030 and first["msi"]["code"], first
    assert first["notification"]["navigate"] == f"{product.url}/app/", first
    shown(page, first["notification"]["title"])
    expect(page.get_by_role("button", name=TURN_ON)).to_have_count(0)
    # What was true before is not said any more.
    for before in ("Your browser asks whether you agree", "Without notifications, the app looks for new messages"):
        expect(page.get_by_text(before)).to_be_hidden()
    pictures(page, "app-welcome-notifications-on", at_length=True)
    key = product.send(alerts, "Campus closed")
    push = pushed(receiver, "Campus closed")
    assert push["msi"]["msi_key"] == push["notification"]["tag"] == key
    assert push["notification"]["navigate"] == f"{product.url}/app/#message/{key}"
    assert all(post.status == 201 for post in push_service.posts_of(receiver.endpoint)), push_service.posts_of(receiver.endpoint)
    [message] = [each for each in receiver.messages if receiver.payload(each) == push]
    assert message.topic == key and message.urgency == "high" and message.ttl > 0
    begin(page)
    page.goto("/app/#settings/notifications")
    expect(page.get_by_role("switch", name=ON)).to_be_checked()


def test_nothing_is_asked_before_the_tap(visit):
    count = """window.asked = 0;
        Object.defineProperty(Notification, "permission", { get: () => "default" });
        Notification.requestPermission = async () => { window.asked += 1; return "default"; };"""
    page = first_visit(visit, count)
    assert page.evaluate("window.asked") == 0
    page.get_by_role("button", name=TURN_ON).click()
    expect(page.get_by_text("Your browser did not get an answer. Tap again, and allow notifications.")).to_be_visible()
    assert page.evaluate("window.asked") == 1
    # One may go on without them, and ask later.
    begin(page)
    page.goto("/app/#settings/notifications")
    expect(page.get_by_role("switch", name=ON)).not_to_be_checked()


def test_live_regions_are_there_before_their_texts(visit):
    """Some screen readers announce nothing in a region that comes together with its text. Without a text it takes no space."""
    page = first_visit(visit, """Object.defineProperty(Notification, "permission", { get: () => "default" });
        Notification.requestPermission = async () => "default";""")
    text = "Your browser did not get an answer. Tap again, and allow notifications."

    def said_by(place, control):
        region = page.locator(place).get_by_role("status")
        expect(region).to_be_empty()
        assert region.evaluate("one => one.offsetHeight") == 0
        known = region.element_handle()
        control.click()
        expect(region).to_have_text(text)
        expect(region).to_be_visible()
        assert known.inner_text() == text

    said_by(".welcome-push", page.get_by_role("button", name=TURN_ON))
    begin(page)
    page.goto("/app/#settings/notifications")
    said_by(".notices", page.get_by_role("switch", name=ON))


# Where a text begins on the screen.
START = "one => { const range = document.createRange(); range.selectNodeContents(one); return range.getBoundingClientRect().left; }"


def test_turn_on_in_the_settings(product, push_service, visit, pictures, hours):
    page = open_app(visit, worker=True, permissions=["notifications"], narrow=True)
    receiver = receiver_of(product, push_service)
    subscribe_at(page, receiver)
    page.goto("/app/#settings/notifications")
    page.reload()
    switch = page.get_by_role("switch", name=ON)
    expect(switch).not_to_be_checked()
    expect(page.get_by_role("heading", name="Information")).to_have_count(0)
    pictures(page, "app-notifications-off", arrange=begin_in_arabic)
    switch.click()
    expect(switch).to_be_checked()
    expect(page.get_by_text(ON_ITS_WAY)).to_be_visible()
    deliver(page, eventually("the first push", lambda: receiver.pushes and receiver.pushes[0]))
    expect(page.get_by_text(ON_ITS_WAY)).to_be_hidden()
    heading = page.get_by_role("heading", name="Information")
    expect(heading).to_be_visible()
    assert abs(heading.evaluate(START) - page.get_by_text("Choose the subjects whose Information").evaluate(START)) < 1
    pictures(page, "app-notifications-on")


@pytest.mark.at_length
def test_while_the_browser_asks(visit):
    """The page says what it waits for, at the first visit and in the settings."""
    page = first_visit(visit, """Object.defineProperty(Notification, "permission", { get: () => "default" });
        Notification.requestPermission = () => new Promise((resolve) => { window.answer = resolve; });""")

    def waits_for_the_answer(control):
        control.click()
        expect(page.get_by_text("Answer your browser's question: allow notifications.")).to_be_visible()
        page.evaluate("window.answer('default')")
        expect(page.get_by_text("Your browser did not get an answer.")).to_be_visible()

    waits_for_the_answer(page.get_by_role("button", name=TURN_ON))
    begin(page)
    page.goto("/app/#settings/notifications")
    waits_for_the_answer(page.get_by_role("switch", name=ON))


@pytest.mark.at_length
def test_turn_off(product, push_service, visit, alerts):
    """The hub sends nothing more to this browser, which has no subscription any more."""
    page = first_visit(visit, permissions=["notifications"])
    receiver, other = receiver_of(product, push_service), receiver_of(product, push_service)
    turn_on(page, receiver, alerts)
    end = other.subscribe(product, alerts)
    begin(page)
    page.goto("/app/#settings/notifications")
    page.get_by_role("switch", name=ON).click()
    expect(page.get_by_role("switch", name=ON)).not_to_be_checked()
    eventually("nothing is stored", lambda: row(page) is None)
    assert page.evaluate("localStorage.getItem('test.subscription')") is None
    product.send(alerts, "Campus closed")
    # By then the hub would have sent it to this one, too.
    pushed(other, "Campus closed")
    assert "Campus closed" not in receiver.titles
    end()


# What keeps them from being on

REFUSED = """Object.defineProperty(Notification, "permission", { get: () => "denied" });
    Notification.requestPermission = async () => "denied";"""


def test_the_person_refuses(visit, pictures):
    """Browsers ask only once. The page says how to change the answer."""
    page = first_visit(visit, REFUSED)
    page.get_by_role("button", name=TURN_ON).click()
    expect(page.get_by_text("open the site's settings by the icon before the address")).to_be_visible()
    pictures(page, "app-notifications-denied")
    begin(page)
    page.goto("/app/#settings/notifications")
    page.get_by_role("switch", name=ON).click()
    expect(page.get_by_text("open the site's settings by the icon before the address")).to_be_visible()
    expect(page.get_by_role("switch", name=ON)).not_to_be_checked()


IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1"


def standalone(is_it):
    return f"Object.defineProperty(Navigator.prototype, 'standalone', {{ get: () => {json.dumps(is_it)} }});"


@pytest.mark.at_length
def test_the_person_refuses_on_an_iphone(visit):
    page = first_visit(visit, REFUSED + standalone(True), user_agent=IPHONE)
    page.get_by_role("button", name=TURN_ON).click()
    expect(page.get_by_text("open the device's Settings, then Notifications, and choose this app")).to_be_visible()


@pytest.mark.parametrize("name,script,reason", [
    ("insecure", "Object.defineProperty(window, 'isSecureContext', { get: () => false });", "Notifications need a secure address (https)."),
    pytest.param(
        "ios", standalone(False) + "delete window.PushManager;", "On iPhone and iPad only the installed app has notifications.", marks=pytest.mark.at_length),
    pytest.param("none", "delete window.PushManager;", "This browser cannot show notifications of web apps.", marks=pytest.mark.at_length),
])
def test_not_available(visit, pictures, name, script, reason):
    """The page says why, by the platform, and offers nothing that cannot be."""
    page = first_visit(visit, script)
    expect(page.get_by_text(reason)).to_be_visible()
    expect(page.get_by_role("button", name=TURN_ON)).to_have_count(0)
    pictures(page, f"app-welcome-{name}")
    begin(page)
    page.goto("/app/#settings/notifications")
    expect(page.get_by_text(reason)).to_be_visible()
    expect(page.get_by_role("switch", name=ON)).to_have_count(0)
    expect(page.get_by_role("switch", name="Quiet hours")).to_be_visible()


@pytest.mark.at_length
def test_the_hub_sends_no_pushes(visit):
    visit.expect_errors(HUB_STATUS)
    page = first_visit(visit, permissions=["notifications"], routes={"**/app/push": lambda route: route.fulfill(status=404, json={})})
    expect(page.get_by_text("Your university does not send notifications to browsers.")).to_be_visible()
    expect(page.get_by_role("button", name=TURN_ON)).to_have_count(0)
    begin(page)
    page.goto("/app/#settings/notifications")
    page.get_by_role("switch", name=ON).click()
    expect(page.get_by_text("Your university does not send notifications to browsers.")).to_be_visible()
    expect(page.get_by_role("switch", name=ON)).not_to_be_checked()


@pytest.mark.at_length
def test_the_hub_sends_no_pushes_any_more(product, push_service, visit):
    """The settings say so, until it sends them again."""
    visit.expect_errors(HUB_STATUS)
    page = first_visit(visit, permissions=["notifications"])
    turn_on(page, receiver_of(product, push_service))
    begin(page)
    page.route("**/app/push", lambda route: route.fulfill(status=404, json={}))
    page.goto("/app/#settings/notifications")
    page.reload()
    ended = page.get_by_text("Your university no longer sends notifications to browsers.")
    expect(ended).to_be_visible()
    expect(page.get_by_role("switch", name=ON)).not_to_be_checked()
    page.unroute("**/app/push")
    page.reload()
    expect(page.get_by_role("switch", name=ON)).to_be_checked()
    expect(ended).to_be_hidden()


@pytest.mark.parametrize("status,problem,text", [
    (400, {"detail": "endpoint: push.example.edu is no known push service", "field": "endpoint"}, "cannot send notifications through the service of this browser"),
    pytest.param(
        409, {"detail": "the code of an earlier push to the same endpoint is awaited", "field": "endpoint"}, "Try again in an hour.",
        marks=pytest.mark.at_length),
    pytest.param(503, {"detail": "msi-webpush does not answer"}, "That did not work. Try again later.", marks=pytest.mark.at_length),
])
def test_the_hub_refuses(product, push_service, visit, status, problem, text):
    """People read what they can do. The hub's words are for operators, in the console."""
    visit.expect_errors(rf"status of {status} .*/app/push/subscriptions\)")
    page = first_visit(
        visit, permissions=["notifications"], routes={"**/app/push/subscriptions": lambda route: route.fulfill(status=status, json=problem)})
    warnings = []
    page.on("console", lambda message: message.type == "warning" and warnings.append(message.text))
    subscribe_at(page, receiver_of(product, push_service))
    page.reload()
    page.get_by_role("button", name=TURN_ON).click()
    expect(page.get_by_text(text)).to_be_visible()
    expect(page.get_by_text(problem["detail"])).to_have_count(0)
    assert problem["detail"] in warnings, warnings
    # Another attempt is possible.
    expect(page.get_by_role("button", name=TURN_ON)).to_be_visible()


@pytest.mark.at_length
def test_the_push_service_has_ended_the_subscription(product, push_service, visit):
    """The browser does not know, and the hub refuses it: the same tap gets another one."""
    visit.expect_errors(r"status of 400 .*/app/push/subscriptions\)")
    page = first_visit(visit, permissions=["notifications"])
    subscribe_at(page, receiver_of(product, push_service))
    page.reload()
    refused = []

    def refuse_once(route):
        if refused:
            route.continue_()
        else:
            refused.append(route.request.post_data_json["endpoint"])
            route.fulfill(status=400, json={"detail": "endpoint: the subscription has ended", "field": "endpoint"})

    page.route("**/app/push/subscriptions", refuse_once)
    page.get_by_role("button", name=TURN_ON).click()
    expect(page.get_by_text(ON_ITS_WAY)).to_be_visible()
    assert len(refused) == 1


@pytest.mark.at_length
def test_the_push_service_of_the_browser_is_away(visit):
    script = "PushManager.prototype.getSubscription = async () => null; PushManager.prototype.subscribe = async () => { throw new DOMException('away', 'AbortError'); };"
    page = first_visit(visit, script, permissions=["notifications"])
    page.get_by_role("button", name=TURN_ON).click()
    expect(page.get_by_text("The service that brings notifications to your browser cannot be reached.")).to_be_visible()
    # Another attempt is possible.
    expect(page.get_by_role("button", name=TURN_ON)).to_be_visible()


def test_an_older_browser(visit):
    """It takes no modules as service workers: the app works offline, and says that there are no notifications."""
    script = """const { register } = ServiceWorkerContainer.prototype;
        ServiceWorkerContainer.prototype.register = function (address, options) {
            return options.type === "module" ? Promise.reject(new TypeError("no modules")) : register.call(this, address, options);
        };"""
    page = first_visit(visit, script, permissions=["notifications"])
    page.wait_for_function("navigator.serviceWorker.ready")
    worker = page.evaluate("navigator.serviceWorker.ready.then(({ active }) => new URL(active.scriptURL).pathname)")
    assert worker == "/app/service-worker.js"
    page.get_by_role("button", name=TURN_ON).click()
    expect(page.get_by_text("This browser cannot show notifications of web apps.")).to_be_visible()


# Subjects

@pytest.mark.at_length
def test_information_of_chosen_subjects(product, push_service, visit, alerts, hours):
    """Alerts come of all subjects, Information only of those that the person has chosen, and quietly. Choices are told once."""
    page = first_visit(visit, permissions=["notifications"])
    receiver = receiver_of(product, push_service)
    turn_on(page, receiver, alerts, hours)
    begin(page)
    product.send(hours, "Not asked for")
    product.send(alerts, "Campus closed")
    pushed(receiver, "Campus closed")
    assert "Not asked for" not in receiver.titles
    told = []
    page.on("request", lambda request: request.method == "PUT" and "/app/push/" in request.url and told.append(request.post_data_json))
    page.goto("/app/#settings/notifications")
    choice = page.get_by_role("switch", name=re.compile(re.escape(hours.name)))
    choice.click()
    expect(choice).to_be_checked()
    wait_until_told(page, information=[hours])
    assert [each["information"] for each in told if each["information"]] == [[hours.topic_key]], told
    product.send(hours, "Library opens late")
    push = pushed(receiver, "Library opens late")
    assert push["notification"]["silent"] is True and push["msi"]["distribution"] == "Information", push
    [message] = [each for each in receiver.messages if receiver.payload(each) == push]
    assert message.urgency == "low"


@pytest.mark.at_length
def test_the_hub_is_told_of_subscriptions(product, push_service, visit):
    """Subjects that are joined or left shortly after each other are told once; after a failure the app tries again."""
    subjects = [product.new_subject("Jobs", distribution="Alert") for _ in range(3)]
    page = first_visit(visit, permissions=["notifications"])
    receiver = receiver_of(product, push_service)
    turn_on(page, receiver)
    begin(page)
    tab(page, "Subscriptions").click()
    told = []
    visit.expect_errors(r"net::ERR_FAILED", HUB_STATUS)

    def refuse_once(route):
        if route.request.method == "PUT" and not told:
            told.append(None)
            route.abort()
        else:
            if route.request.method == "PUT":
                told.append(route.request.post_data_json["alerts"])
            route.continue_()

    page.route("**/app/push/subscriptions/*", refuse_once)
    for subject in subjects:
        page.get_by_role("group", name="Channel").get_by_role("button", name=subject.channel["name"]).click()
        page.get_by_role("switch", name=subject.name).click()
        expect(page.get_by_role("switch", name=subject.name)).to_be_checked()
    wait_until_told(page, *subjects)
    assert told[0] is None and len(told) > 1, told
    product.send(subjects[2], "A new job")
    pushed(receiver, "A new job")
    for subject in subjects:
        product.api("DELETE", f"/channel/{subject.channel['_id']}")


@pytest.mark.at_length
def test_the_hub_has_lost_the_subscription(product, push_service, visit, alerts):
    """The app subscribes again when it tells the hub something."""
    page = first_visit(visit, permissions=["notifications"])
    receiver = receiver_of(product, push_service)
    turn_on(page, receiver, alerts)
    before = row(page)
    bearer = {"Authorization": f"Bearer {before['secret']}"}
    product.api("DELETE", f"/app/push/subscriptions/{before['id']}", headers=bearer)
    visit.expect_errors(r"status of 404 .*/app/push/subscriptions/")
    begin(page)
    page.evaluate("localStorage.setItem('msi.app.language', 'ar')")
    page.reload()
    after = eventually("another subscription", lambda: (found := row(page)) and found["id"] != before["id"] and found)
    assert after["language"] == "ar" and not after["proven"]
    first = eventually("its first push", lambda: next((each for each in receiver.pushes[1:] if "code" in each["msi"]), None))
    assert first["notification"]["lang"] == "ar" and first["notification"]["dir"] == "rtl", first
    deliver(page, first)
    eventually("the code is returned", lambda: row(page)["proven"])
    product.send(alerts, "Campus closed")
    pushed(receiver, "Campus closed")


@pytest.mark.at_length
def test_notifications_go_when_the_message_was_read(product, push_service, visit, alerts):
    page = first_visit(visit, permissions=["notifications"])
    receiver = receiver_of(product, push_service)
    turn_on(page, receiver, alerts)
    product.send(alerts, "Campus closed")
    deliver(page, pushed(receiver, "Campus closed"))
    shown(page, "Campus closed")
    begin(page)
    expect(card(page, "Campus closed")).to_be_visible()
    # What is seen for two seconds counts as read.
    expect(card(page, "Campus closed").locator(".dot")).to_be_hidden()
    eventually("the notification is gone", lambda: not [each for each in notifications(page) if each["title"] == "Campus closed"])


@pytest.mark.at_length
def test_an_alert_is_recalled_while_fcm_is_away(product, push_service, visit, alerts, hours):
    """Browsers have it, and phones do not: the communicator takes it back, and the app takes the notification away."""
    page = first_visit(visit, permissions=["notifications"])
    receiver = receiver_of(product, push_service)
    turn_on(page, receiver, alerts)
    with product.faults({"fault": "UNAVAILABLE", "topic": alerts.topic_key}):
        key = product.send(alerts, "By mistake")
        deliver(page, pushed(receiver, "By mistake"))
        shown(page, "By mistake")
        portal = visit(f"/portal/message/?key={key}")
        portal.get_by_role("button", name="Take back…").click()
        question = portal.get_by_role("dialog")
        expect(question).to_contain_text("It went out to 1 browser.")
        question.get_by_role("button", name="Take back").click()
        expect(portal.get_by_text("Taken back. The hub no longer sends it.")).to_be_visible()
    # FCM answers to another one, so that the hub knows that it is back.
    product.send(hours, "Library opens late")
    begin(page)

    def gone():
        look(page)
        return "By mistake" not in [each["title"] for each in notifications(page)]

    eventually("the notification is gone", gone, pause=0.5)
    expect(card(page, "By mistake")).to_have_count(0)
