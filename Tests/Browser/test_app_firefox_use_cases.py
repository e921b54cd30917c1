"""The seed's "Mobile App Use Cases" in Firefox, by real clicks. test_app.py has them in Chromium, with more of each.

Level one has those that depend most on the browser: what it shows and stores, drags and saves. Level two has all of them.
"""

import json

import pytest
from browsing.app import AGE
from harness.waiting import eventually

DAY = 86_400_000
# The app shows a list and the message beside it from 900 pixels on.
NARROW = 600, 1000
# A page of the same origin that is not the app.
ASIDE = "/app/service-worker.js"


@pytest.fixture(scope="module")
def product(phones_product):
    return phones_product


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


@pytest.fixture
def jobs(product):
    """A subject that nobody gets without a choice."""
    subject = product.new_subject("Jobs")
    yield subject
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


@pytest.fixture
def clubs(product):
    """A channel with an optional subject and a recommended one."""
    channel = product.new_channel("Clubs")
    games, music = product.new_area(channel, "Games"), product.new_area(channel, "Music")
    yield product.new_subject("Chess", channel=channel, area=games), product.new_subject("Choir", channel=channel, area=music, level="Recommended")
    product.api("DELETE", f"/channel/{channel['_id']}")


@pytest.fixture
def site(product):
    """The origin by which Firefox reaches the gateway."""
    return f"http://localhost:{product.gateway_port}"


@pytest.fixture
def first_visit(shared_firefox, site):
    """A Firefox that has never seen the app, and opens it."""
    shared_firefox.resize(*NARROW)
    shared_firefox.forget()
    shared_firefox.go(f"{site}/app/")
    return shared_firefox


@pytest.fixture
def app(first_visit):
    """The app after its first visit. Subjects stand before it in a test's parameters: of later ones it learns with a look, up to a minute later."""
    first_visit.tap("button", "Show my messages")
    first_visit.the("button", "Look for new messages")
    return first_visit


def card(app, title):
    return app.the("article", title)


def has(app, title):
    """How often the app shows a message."""
    return len(app.all("article", title))


def tab(app, name):
    app.tap("link", text=name, within=app.the("navigation"))


def look(app):
    app.tap("button", "Look for new messages")
    eventually("the look has ended", lambda: app.attribute(app.the("button", "Look for new messages"), "aria-busy") != "true")


def fetch(app, *titles):
    """Looks for new messages until the app has them."""

    def found():
        look(app)
        return all(has(app, title) for title in titles)

    eventually(f"the app has {titles}", found, pause=0.2)


def open_subscriptions(app, subject):
    tab(app, "Subscriptions")
    app.tap("button", subject.channel["name"])


def is_on(app, name):
    return app.attribute(app.the("switch", name), "aria-checked") == "true"


def switch(app, name):
    """Clicks on a switch, which then shows the other state."""
    before = is_on(app, name)
    app.tap("switch", name)
    eventually(f"another state of {name}", lambda: is_on(app, name) != before)


@pytest.mark.at_length
def test_initialize(alerts, hours, jobs, first_visit):
    """Required and recommended subjects are there without a choice, and others are not."""
    app = first_visit
    app.the("heading", "What your campus tells you, on this device")
    for subject, level in ((alerts, "Required"), (hours, "Recommended")):
        assert level in app.text_of(app.the("listitem", text=subject.name))
    assert not app.all("listitem", text=jobs.name)
    app.tap("button", "Choose others…")
    for subject, expected in ((alerts, True), (hours, True), (jobs, False)):
        app.tap("button", subject.channel["name"])
        assert is_on(app, subject.name) == expected, subject.name


def test_receive_messages(app, product, alerts, hours):
    product.send(hours, "Library opens late", "The library opens at 10:00 tomorrow.")
    product.send(alerts, "Campus closed", "All buildings stay closed.", desc="Stay at home.")
    fetch(app, "Library opens late", "Campus closed")
    assert "Alert" in app.text_of(card(app, "Campus closed"))
    assert "Alert" not in app.text_of(card(app, "Library opens late"))
    # They are stored, each once.
    app.reload()
    card(app, "Campus closed")
    assert has(app, "Campus closed") == has(app, "Library opens late") == 1


@pytest.mark.at_length
def test_clear_old_messages(app, site, product, hours):
    """When the app starts, it removes messages that are older than a week and are not kept."""
    product.send(hours, "Old"), product.send(hours, "To keep")
    fetch(app, "Old", "To keep")
    app.tap("button", "Actions for To keep")
    app.tap("button", "Keep", within=card(app, "To keep"))
    app.wait_for_text("Kept. It stays until you delete it.")
    app.go(site + ASIDE)
    app.run(AGE, 8 * DAY)
    app.go(f"{site}/app/")
    card(app, "To keep")
    app.wait_until_gone("article", "Old")
    # The hub still has it; it does not return.
    look(app)
    assert not has(app, "Old")


@pytest.mark.at_length
def test_view_messages_by_time(app, product, alerts, hours):
    """The newest first, under their day; long ones fold; the list has a line for each."""
    long = " ".join(f"Sentence {number} says what is open on this campus during the exams." for number in range(20))
    product.wait_for_state(product.send(hours, "Rooms during exams", long), "relayed")
    product.send(alerts, "Exam moves", "The exam of Friday, 9:00 takes place in hall B.", desc="To hall B.")
    fetch(app, "Rooms during exams", "Exam moves")
    order = [app.text_of(article).find("Exam moves") >= 0 for article in app.all("article")]
    assert order.index(True) == 0, order
    assert app.all("heading", text="Today") or app.all("heading", text="Yesterday")
    shown = app.text_of(card(app, "Exam moves"))
    for part in ("Alert", alerts.channel["name"], alerts.area["name"], alerts.name):
        assert part in shown, shown
    # The date in it can be tapped.
    app.the("button", text="Friday, 9:00", within=card(app, "Exam moves"))
    assert "Sentence 19" not in app.text_of(card(app, "Rooms during exams"))
    app.tap("button", text="Show more", within=card(app, "Rooms during exams"))
    app.wait_for_text("Sentence 19")
    app.tap("button", text="Show less", within=card(app, "Rooms during exams"))
    app.wait_until_gone("button", text="Show less")
    app.tap("button", "List view")
    eventually("a line", lambda: "takes place" not in app.text_of(card(app, "Exam moves")))
    app.tap("button", within=card(app, "Exam moves"))
    app.wait_for_text("takes place in hall B.")


@pytest.mark.at_length
def test_view_messages_by_channel(app, product, alerts, hours):
    product.send(alerts, "Campus closed", desc="Stay at home."), product.send(hours, "Library opens late")
    fetch(app, "Campus closed", "Library opens late")
    app.tap("button", "By channel")
    app.tap("link", text=hours.channel["name"])
    app.the("heading", hours.channel["name"])
    card(app, "Library opens late")
    assert not has(app, "Campus closed")
    app.tap("link", "Channels")
    app.tap("link", text=alerts.channel["name"])
    card(app, "Campus closed")
    assert not has(app, "Library opens late")


@pytest.mark.at_length
def test_delete_message(app, product, hours):
    """By a swipe, which asks first, and by the button; both can be taken back for a while."""
    product.send(hours, "First"), product.send(hours, "Second")
    fetch(app, "First", "Second")
    question = "Delete “First”?"
    app.swipe(card(app, "First"), -200)
    app.tap("button", "Cancel", within=app.the("alertdialog", question))
    card(app, "First")
    app.swipe(card(app, "First"), -200)
    app.tap("button", "Delete", within=app.the("alertdialog", question))
    app.wait_until_gone("article", "First")
    app.wait_for_text("“First” was deleted.")
    app.tap("button", "Undo")
    card(app, "First")
    app.tap("button", "Actions for Second")
    app.tap("button", "Delete", within=card(app, "Second"))
    app.wait_until_gone("article", "Second")
    app.reload()
    card(app, "First")
    look(app)
    assert not has(app, "Second")


@pytest.mark.at_length
def test_save_to_calendar(app, product, hours):
    product.send(hours, "Exam moves", "The exam is on 2030-01-15 at 09:30 in hall B; bring a pen.")
    fetch(app, "Exam moves")
    app.tap("button", text="Add to calendar", within=card(app, "Exam moves"))
    dialog = app.the("dialog", "Add to calendar")
    assert app.run("return [...args[0].querySelectorAll('input')].map(({ value }) => value)", dialog) == ["2030-01-15", "09:30"]
    app.tap("button", "Save event", within=dialog)
    app.wait_for_text("The event was saved")
    saved = app.downloaded("event.ics")
    # Berlin is an hour ahead of UTC in January.
    assert "DTSTART:20300115T083000Z" in saved and "SUMMARY:Exam moves" in saved, saved


@pytest.mark.at_length
def test_export_messages(app, product, hours):
    key = product.send(hours, "Library opens late", "At 10:00.")
    fetch(app, "Library opens late")
    tab(app, "Settings")
    app.tap("link", text="Export messages")
    app.tap("button", "Save file")
    assert "Library opens late" in app.downloaded("messages.txt")
    app.tap("button", "JSON")
    app.tap("button", "Save file")
    assert key in [message["msi_key"] for message in json.loads(app.downloaded("messages.json"))]


@pytest.mark.at_length
def test_view_subscriptions(alerts, clubs, app):
    """By channel and area, which folds. A required subject says that it cannot be left."""
    chess, choir = clubs
    open_subscriptions(app, chess)
    assert not is_on(app, chess.name) and is_on(app, choir.name)
    assert not app.all("switch", alerts.name)
    app.tap("summary", text=chess.area["name"])
    app.wait_until_gone("switch", chess.name)
    app.tap("button", alerts.channel["name"])
    assert "Required" in app.text_of(app.the("listitem", text=alerts.name))
    app.tap("switch", alerts.name)
    app.wait_for_text("It cannot be switched off.")
    assert is_on(app, alerts.name)
    app.tap("button", "All channels")
    app.tap("button", "Search all subjects")
    app.type(app.the("searchbox"), chess.name)
    app.wait_for_text("1 subject found")
    app.the("switch", chess.name)


@pytest.mark.at_length
def test_subscribe(app, product, clubs):
    """This week's messages of the subject come, and later ones."""
    chess, _ = clubs
    product.wait_for_state(product.send(chess, "Chess on Monday"), "relayed")
    look(app)
    assert not has(app, "Chess on Monday")
    open_subscriptions(app, chess)
    switch(app, chess.name)
    tab(app, "Messages")
    card(app, "Chess on Monday")
    product.send(chess, "Chess on Tuesday")
    fetch(app, "Chess on Tuesday")


@pytest.mark.at_length
def test_unsubscribe(product, hours, clubs, app, site):
    _, choir = clubs
    open_subscriptions(app, choir)
    switch(app, choir.name)
    # The switch shows the choice before it is stored. These are the channels with a subject that the app gets.
    app.go(f"{site}/app/#settings/broadcasts")
    app.the("switch", hours.channel["name"])
    app.wait_until_gone("switch", choir.channel["name"])
    product.wait_for_state(product.send(choir, "Choir on Tuesday"), "relayed")
    product.send(hours, "Library opens late")
    tab(app, "Messages")
    fetch(app, "Library opens late")
    assert not has(app, "Choir on Tuesday")
    app.reload()
    open_subscriptions(app, choir)
    assert not is_on(app, choir.name)


@pytest.mark.at_length
def test_view_settings(app):
    """Every setting is a page, from which one comes back."""
    tab(app, "Settings")
    for name in ("Notifications", "Export messages", "Announcements", "Parts of the app", "Language", "Appearance", "About", "Install the app"):
        app.tap("link", text=name)
        app.the("heading", name)
        # The way back stands above the tabs.
        app.tap("link", "Settings")
        app.the("heading", "Settings")
    switch(app, "Read receipts")
    app.reload()
    assert not is_on(app, "Read receipts")


@pytest.mark.at_length
def test_view_my_subscriptions(alerts, clubs, app):
    chess, choir = clubs
    tab(app, "Settings")
    app.tap("link", text="My subscriptions")
    assert is_on(app, alerts.name) and is_on(app, choir.name)
    assert not app.all("switch", chess.name)
    # One that is left stays in sight, so that a mistake can be corrected.
    switch(app, choir.name)


@pytest.mark.at_length
def test_in_arabic(app, product, hours):
    """Everything is mirrored, and the messages stay as they were written."""
    product.send(hours, "Library opens late")
    fetch(app, "Library opens late")
    tab(app, "Settings")
    app.tap("link", text="Language")
    app.tap("radio", "العربية")
    eventually("the other direction", lambda: app.run("return document.documentElement.dir") == "rtl")
    tab(app, "الرسائل")
    card(app, "Library opens late")
    app.the("heading", "الرسائل")
    left = [app.run("return args[0].getBoundingClientRect().left", link) for link in app.all("link", within=app.the("navigation"))]
    assert left == sorted(left, reverse=True) and len(left) == 4, left
