"""The students' app in a browser: the seed's "Mobile App Use Cases"."""

import datetime
import json
import re
import zoneinfo

import pytest
from browsing.app import begin_in_arabic, card, fetch, look, open_app, reload, tab
from browsing.visits import GATEWAY_AWAY
from harness.waiting import eventually
from playwright.sync_api import expect

WEEK = 7 * 86_400
SETTINGS = ["Notifications", "Export messages", "Announcements", "Parts of the app", "Language", "Appearance", "About", "Install the app"]


@pytest.fixture(scope="module")
def product(phones_product):
    return phones_product


@pytest.fixture
def alerts(product):
    """A subject with Alerts that every app joins."""
    subject = product.new_subject("Storms", distribution="Alert", level="Forced")
    yield subject
    # Otherwise the apps of later tests would fetch its messages.
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


@pytest.fixture
def hours(product):
    subject = product.new_subject("Opening hours", level="Recommended")
    yield subject
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


def pictured(pictures, page, name):
    pictures(page, f"app-{name}", arrange=begin_in_arabic)


def later(page, seconds):
    """Opens the app again in the same browser, whose clock is ahead."""
    other = page.context.new_page()
    now = datetime.datetime.now(datetime.timezone.utc)
    page.close()
    other.clock.install(time=now + datetime.timedelta(seconds=seconds))
    other.goto("/app/")
    return other


def test_initialize(product, visit, pictures, alerts, hours):
    """The first visit shows what one gets without a choice, and asks for nothing."""
    optional = product.new_subject("Jobs")
    page = visit("/app/", account=None, settled=False)
    expect(page.get_by_role("heading", name="What your campus tells you, on this device")).to_be_visible()
    row = lambda subject: page.get_by_role("listitem").filter(has_text=subject.name)
    expect(row(alerts)).to_contain_text(f"{alerts.channel['name']} › {alerts.area['name']} › {alerts.name}")
    expect(row(alerts)).to_contain_text("Required")
    expect(row(hours)).to_contain_text("Recommended")
    expect(row(optional)).to_have_count(0)
    expect(page.get_by_text("Without notifications, the app looks for new messages")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)
    pictures(page, "app-welcome", right_to_left=True)
    page.get_by_role("button", name="Choose others…").click()
    expect(page.get_by_role("heading", name="Subscriptions")).to_be_visible()
    for subject, is_on in ((alerts, True), (hours, True), (optional, False)):
        page.get_by_role("group", name="Channel").get_by_role("button", name=subject.channel["name"]).click()
        expect(page.get_by_role("switch", name=subject.name)).to_be_checked(checked=is_on)
    # The next start shows the messages at once.
    page.goto("/app/")
    page.reload()
    expect(page.get_by_role("heading", name="Messages", exact=True)).to_be_visible()
    product.api("DELETE", f"/channel/{optional.channel['_id']}")


def test_receive_messages(product, visit, pictures, alerts, hours):
    """A new app begins with this week's messages; what comes later is there after a look."""
    before = product.send(hours, "Library opens late", "The library opens at 10:00 tomorrow.")
    product.wait_for_state(before, "relayed")
    page = open_app(visit, narrow=True)
    fetch(page, "Library opens late")
    product.send(alerts, "Campus closed", "All buildings stay closed until Tuesday, 6:00.", desc="Stay at home.")
    fetch(page, "Campus closed")
    expect(card(page, "Campus closed")).to_contain_text("Alert")
    expect(card(page, "Library opens late")).to_contain_text(hours.name)
    pictured(pictures, page, "messages")
    # Nothing is there twice.
    look(page)
    page.reload()
    expect(card(page, "Campus closed")).to_have_count(1)
    expect(card(page, "Library opens late")).to_have_count(1)


@pytest.mark.at_length
def test_receive_while_the_app_is_open(product, visit, hours):
    """The app looks each minute by itself, and when it comes to the front."""
    page = open_app(visit, narrow=True, clock=True)
    expect(page.get_by_role("heading", name="No messages yet")).to_be_visible()
    product.wait_for_state(product.send(hours, "After a minute"), "relayed")
    # The app gives up a request after 30 seconds by this clock.
    visit.after(page, 10, "the app's own look", lambda: card(page, "After a minute").count())
    product.wait_for_state(product.send(hours, "In front again"), "relayed")

    def in_front():
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        return card(page, "In front again").count()

    eventually("the look of an app that comes to the front", in_front, pause=0.5)


@pytest.mark.at_length
def test_look_for_new_messages(product, visit, hours):
    """The page says what came of it, and not before."""
    page = open_app(visit, narrow=True)
    look(page)
    expect(page.get_by_text("Everything is up to date.").first).to_be_visible()
    visit.expect_errors(r"status of 503", r"net::ERR_")
    with product.away("msi-gateway"):
        look(page)
        expect(page.get_by_text("The university's server cannot be reached. Try again in a moment.")).to_be_visible()
    page.context.set_offline(True)
    expect(page.get_by_text("New messages come when this device is online again.")).to_be_visible()
    look(page)
    expect(page.get_by_text("You are offline.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("New messages come when this device is online again.")).to_have_count(0)


@pytest.mark.at_length
def test_receive_what_fcm_cannot_carry(product, visit, hours):
    page = open_app(visit, narrow=True)
    text = "图书馆今天晚些时候开放。" * 125
    product.send(hours, title="Later today", message=text)
    fetch(page, "Later today")
    page.get_by_role("button", name=re.compile("Show more.*Later today")).click()
    expect(card(page, "Later today")).to_contain_text(text)


def test_receive_a_correction(product, visit, pictures, alerts):
    wrong = product.send(alerts, "Exam on Friday", "The exam is on Friday.", desc="On Friday.")
    product.wait_for_state(wrong, "relayed")
    page = open_app(visit, narrow=True)
    fetch(page, "Exam on Friday")
    product.send(alerts, "Exam on Monday", "The exam is on Monday.", desc="On Monday.", follows=wrong, correction=True)
    fetch(page, "Exam on Monday")
    expect(card(page, "Exam on Monday")).to_contain_text("Correction")
    expect(card(page, "Exam on Friday")).to_contain_text("Corrected")
    pictured(pictures, page, "correction")
    card(page, "Exam on Friday").get_by_role("button", name="Show the correction").click()
    expect(card(page, "Exam on Monday")).to_be_focused()
    # A line says it in words as well, until it is open.
    page.get_by_role("button", name="List view").click()
    line = card(page, "Exam on Friday").locator(".line")
    expect(line.get_by_text("Corrected")).to_be_visible()
    expect(line).to_have_accessible_name(re.compile(r"Exam on Friday\W+Corrected\b"))
    expect(card(page, "Exam on Monday").locator(".line")).not_to_contain_text("Corrected")
    pictures(page, "app-correction-list")
    line.click()
    expect(line.get_by_text("Corrected")).to_be_hidden()
    expect(card(page, "Exam on Friday").locator(".relation")).to_contain_text("Corrected")


@pytest.mark.at_length
def test_receipts(product, visit, check, alerts):
    """The message's page in the portal counts the apps that report."""
    page, silent = open_app(visit, narrow=True), open_app(visit, "#settings", narrow=True)
    silent.get_by_role("switch", name="Read receipts").click()
    expect(silent.get_by_role("switch", name="Read receipts")).not_to_be_checked()
    # An app may report at any moment what it has.
    key = product.send(alerts, "Campus closed", desc="Stay at home.")
    tab(silent, "Messages").click()
    fetch(silent, "Campus closed")
    fetch(page, "Campus closed")
    card(page, "Campus closed").get_by_role("button", name="Actions for Campus closed").click()
    expect(card(page, "Campus closed").locator(".dot")).to_be_hidden()
    hide = "Object.defineProperty(document, 'hidden', { configurable: true, get: () => true }); document.dispatchEvent(new Event('visibilitychange'))"
    for each in (silent, page):
        # An app reports at once when it leaves the screen.
        each.evaluate(hide)
    eventually("one report", lambda: product.message(key)["receipts"] == {"received": 1, "opened": 1})
    reach = visit(f"/portal/message/?key={key}").locator(".reach")
    expect(reach).to_contain_text("1 phone has received it")
    expect(reach).to_contain_text("1 student has opened it")
    check(reach.page)


@pytest.mark.at_length
def test_clear_old_messages(product, visit, hours):
    product.send(hours, "Old"), product.send(hours, "To keep")
    page = open_app(visit, narrow=True)
    fetch(page, "Old", "To keep")
    page.get_by_role("button", name="Actions for To keep").click()
    page.get_by_role("group", name="Actions").get_by_role("button", name="Keep").click()
    expect(card(page, "To keep").locator(".kept-mark")).to_contain_text("Kept")
    page = later(page, WEEK + 86_400)
    expect(card(page, "To keep")).to_be_visible()
    expect(card(page, "Old")).to_have_count(0)
    # The hub still has it; it does not return.
    look(page)
    reload(page)
    expect(card(page, "To keep")).to_be_visible()
    expect(card(page, "Old")).to_have_count(0)


def test_view_messages_by_time(product, visit, pictures, alerts, hours):
    long = " ".join(f"Sentence {number} says what is open on this campus during the exams." for number in range(20))
    key = product.send(hours, "Rooms during exams", long)
    product.send(alerts, "Exam moves", "The exam of Friday, 9:00 takes place in hall B.", desc="To hall B.")
    page = open_app(visit, narrow=True)
    fetch(page, "Rooms during exams", "Exam moves")
    moved, rooms = card(page, "Exam moves"), card(page, "Rooms during exams")
    expect(moved).to_contain_text("Alert")
    expect(moved.get_by_role("button", name="Friday, 9:00 (Add to calendar)")).to_be_visible()
    expect(moved).to_contain_text(f"{alerts.channel['name']} › {alerts.area['name']} › {alerts.name}")
    # What was seen for a while has been read.
    expect(moved.locator(".dot")).to_be_hidden()
    # Expanded and collapsed.
    sent = product.message(key)["timestamp"]
    berlin = datetime.datetime.fromtimestamp(sent / 1_000, zoneinfo.ZoneInfo("Europe/Berlin"))
    expect(rooms.locator("time")).to_have_text(f"{berlin:%H:%M}")
    expect(rooms).not_to_contain_text("Sentence 19")
    page.get_by_role("button", name=re.compile("Show more.*Rooms during exams")).click()
    expect(rooms).to_contain_text("Sentence 19")
    # The heading with the date and the weekday stays at the top.
    heading = page.get_by_role("heading").filter(has_text=f"{berlin:%A} {berlin.day} {berlin:%B}")
    expect(heading).to_contain_text(re.compile("Today|Yesterday"))
    rooms.get_by_role("button", name=re.compile("Show less")).scroll_into_view_if_needed()
    view = page.locator(".view:visible")
    eventually("the list is scrolled", lambda: view.evaluate("view => view.scrollTop") > 100)
    eventually("the heading is at the top", lambda: abs(heading.bounding_box()["y"] - view.bounding_box()["y"]) < 2)
    rooms.get_by_role("button", name=re.compile("Show less")).click()
    expect(rooms).not_to_contain_text("Sentence 19")
    # The list, whose lines open.
    page.get_by_role("button", name="List view").click()
    expect(moved).not_to_contain_text("takes place")
    pictured(pictures, page, "list")
    moved.locator(".line").click()
    expect(moved).to_contain_text("takes place")
    moved.locator(".line").click()
    expect(moved).not_to_contain_text("takes place")


@pytest.mark.at_length
def test_list_beside_the_message(product, visit, pictures, alerts, hours):
    """In a wide window the message is beside the list."""
    product.send(hours, "Library opens late", "The library is open on all floors. " * 20)
    product.send(alerts, "Campus closed", "All buildings stay closed.", desc="Stay at home.")
    page = open_app(visit)
    fetch(page, "Library opens late", "Campus closed")
    detail = page.get_by_role("region", name="Message", exact=True)
    expect(detail).to_contain_text("Choose a message to read it here.")
    expect(page.get_by_role("button", name="List view")).to_be_hidden()
    card(page, "Library opens late").get_by_role("button").click()
    shown = detail.get_by_role("article", name="Library opens late")
    expect(shown).to_contain_text("The library is open on all floors. " * 19)
    expect(shown.get_by_role("button", name="Show less")).to_have_count(0)
    expect(card(page, "Library opens late").get_by_role("button")).to_have_attribute("aria-current", "true")
    expect(card(page, "Library opens late").locator(".dot")).to_be_hidden()
    expect(card(page, "Campus closed").locator(".dot")).to_be_visible()
    pictured(pictures, page, "beside")
    # The address has it, and going back leaves the list, not the message before.
    page.reload()
    expect(detail.get_by_role("article", name="Library opens late")).to_be_visible()
    # After a deletion the next one is shown.
    detail.get_by_role("button", name="Delete").click()
    expect(detail.get_by_role("article", name="Campus closed")).to_be_visible()
    expect(card(page, "Campus closed").get_by_role("button")).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    expect(detail.get_by_role("article", name="Library opens late")).to_be_visible()
    # In a narrow window it is a card of the list.
    page.set_viewport_size({"width": 390, "height": 844})
    expect(detail).to_be_hidden()
    expect(card(page, "Library opens late").get_by_role("button", name=re.compile("Show more"))).to_be_visible()


def test_view_messages_by_channel(product, visit, pictures, alerts, hours):
    product.send(alerts, "Campus closed", desc="Stay at home."), product.send(hours, "Library opens late")
    page = open_app(visit, narrow=True)
    fetch(page, "Campus closed", "Library opens late")
    page.get_by_role("group", name="View").get_by_role("button", name="By channel").click()
    channel = lambda subject: page.get_by_role("link").filter(has=page.get_by_text(subject.channel["name"], exact=True))
    expect(channel(hours)).to_contain_text("Library opens late")
    pictured(pictures, page, "channels")
    channel(hours).click()
    expect(page.get_by_role("heading", name=hours.channel["name"])).to_be_focused()
    expect(card(page, "Library opens late")).to_be_visible()
    expect(card(page, "Campus closed")).to_have_count(0)
    page.get_by_role("link", name="Channels").click()
    expect(channel(hours)).to_be_focused()
    channel(alerts).click()
    expect(card(page, "Campus closed")).to_be_visible()
    expect(card(page, "Library opens late")).to_have_count(0)


def test_search(product, visit, hours):
    product.send(hours, "Library opens late"), product.send(hours, "Canteen closed")
    page = open_app(visit, narrow=True)
    fetch(page, "Library opens late", "Canteen closed")
    page.get_by_role("button", name="Search all messages").click()
    page.get_by_role("searchbox", name="Search all messages").fill("canteen")
    expect(card(page, "Library opens late")).to_have_count(0)
    expect(card(page, "Canteen closed")).to_be_visible()
    expect(page.get_by_text("1 message found")).to_be_visible()


def swipe(page, element):
    box = element.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 30, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 32, steps=12)
    page.mouse.up()


def test_delete_message(product, visit, pictures, hours):
    product.send(hours, "First"), product.send(hours, "Second")
    page = open_app(visit, narrow=True)
    fetch(page, "First", "Second")
    first = card(page, "First")
    # A swipe asks first.
    question = page.get_by_role("alertdialog", name="Delete “First”?")
    swipe(page, first)
    expect(question).to_be_visible()
    pictures(page, "app-delete")
    question.get_by_role("button", name="Cancel").click()
    expect(first).to_be_visible()
    swipe(page, first)
    question.get_by_role("button", name="Delete").click()
    expect(first).to_have_count(0)
    expect(page.get_by_text("“First” was deleted.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(first).to_be_focused()
    # By key, and taken back by key.
    first.focus()
    page.keyboard.press("Delete")
    expect(first).to_have_count(0)
    expect(card(page, "Second")).to_be_focused()
    page.keyboard.press("Control+z")
    expect(first).to_be_focused()
    # By the button, and for good: the hub's copy does not return.
    page.get_by_role("button", name="Actions for Second").click()
    page.get_by_role("group", name="Actions").get_by_role("button", name="Delete").click()
    expect(card(page, "Second")).to_have_count(0)
    product.send(hours, "Third")
    fetch(page, "Third")
    page.reload()
    expect(card(page, "Third")).to_be_visible()
    expect(card(page, "First")).to_be_visible()
    expect(card(page, "Second")).to_have_count(0)


def with_more_time(page):
    """Switches it on, and returns to the messages."""
    tab(page, "Settings").click()
    page.get_by_role("link", name="Appearance").click()
    switch = page.get_by_role("switch", name="More time")
    expect(switch).not_to_be_checked()
    switch.click()
    expect(switch).to_be_checked()
    tab(page, "Messages").click()


def test_short_notes_stay_with_more_time(product, visit, pictures, hours):
    """They have no time limit, and the last one without Undo takes the place of the one before."""
    product.send(hours, "First"), product.send(hours, "Second")
    page = open_app(visit, narrow=True, clock=True)
    fetch(page, "First", "Second")
    with_more_time(page)
    tab(page, "Settings").click()
    pictures(page, "app-more-time")
    # The browser keeps the choice.
    page.reload()
    expect(page.get_by_role("switch", name="More time")).to_be_checked()
    tab(page, "Messages").click()
    card(page, "First").focus()
    page.keyboard.press("Delete")
    deleted, current = page.get_by_text("“First” was deleted."), page.get_by_text("Everything is up to date.")
    expect(deleted).to_be_visible()
    for _ in range(2):
        look(page)
    # Otherwise Undo is offered for ten seconds. The app gives up a request after 30 seconds by this clock.
    page.clock.fast_forward(20_000)
    expect(deleted).to_be_visible()
    expect(current).to_have_count(1)
    pictures(page, "app-notes-stay")
    page.locator(".toast").filter(has=current).get_by_role("button", name="Hide").click()
    expect(current).to_have_count(0)
    card(page, "Second").focus()
    page.keyboard.press("Control+z")
    expect(card(page, "First")).to_be_focused()
    expect(deleted).to_have_count(0)


def offered(product, visit, page, subject, title):
    """Sends a message, and waits until the page offers to show new ones."""
    offer = page.locator(".toasts").filter(has_text="There are new messages.")
    product.wait_for_state(product.send(subject, title), "relayed")
    # The app gives up a request after 30 seconds by this clock.
    visit.after(page, 10, "the offer", lambda: offer.count())
    return offer


def test_new_messages_wait_with_more_time(product, visit, pictures, hours):
    """The list and the number of unread messages change only when the person has asked for it."""
    product.send(hours, "First")
    page = open_app(visit, narrow=True, clock=True)
    fetch(page, "First")
    with_more_time(page)
    badge = tab(page, "Messages").locator(".badge")
    # A message that was seen for a while is read.
    expect(badge).to_be_hidden()
    offer = offered(product, visit, page, hours, "Second")
    expect(badge).to_be_hidden()
    expect(page.get_by_role("article")).to_have_count(1)
    pictures(page, "app-messages-wait", at_length=True)
    offer.get_by_role("button", name="Show", exact=True).click()
    expect(card(page, "Second")).to_be_visible()
    expect(page.get_by_role("heading", name="Messages", exact=True)).to_be_focused()
    expect(offer).to_have_count(0)
    # A look that the person asks for shows what it finds.
    product.send(hours, "Third")
    fetch(page, "Third")
    expect(offer).to_have_count(0)


@pytest.mark.at_length
def test_a_view_that_is_opened_shows_new_messages_with_more_time(product, visit, hours):
    """On another page there is the offer as well."""
    product.send(hours, "First")
    page = open_app(visit, narrow=True, clock=True)
    fetch(page, "First")
    with_more_time(page)
    tab(page, "Settings").click()
    offer = offered(product, visit, page, hours, "Second")
    tab(page, "Messages").click()
    expect(card(page, "Second")).to_be_visible()
    expect(offer).to_have_count(0)


def test_save_to_calendar(product, visit, pictures, hours):
    product.send(hours, "Exam moves", "The exam is on 2030-01-15 at 09:30 in hall B; bring a pen.")
    page = open_app(visit, narrow=True)
    fetch(page, "Exam moves")
    card(page, "Exam moves").get_by_role("button", name="Add to calendar").first.click()
    dialog = page.get_by_role("dialog", name="Add to calendar")
    expect(dialog.get_by_label("Date")).to_have_value("2030-01-15")
    expect(dialog.get_by_label("Time")).to_have_value("09:30")
    pictures(page, "app-calendar")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Save event").click()
    expect(page.get_by_text("The event was saved")).to_be_visible()
    text = download.value.path().read_text()
    # Berlin is an hour ahead of UTC in January.
    assert "DTSTART:20300115T083000Z" in text and "SUMMARY:Exam moves" in text, text
    assert download.value.suggested_filename == "event.ics"


def test_export_messages(product, visit, pictures, hours):
    key = product.send(hours, "Library opens late", "At 10:00.")
    page = open_app(visit, narrow=True)
    fetch(page, "Library opens late")
    tab(page, "Settings").click()
    page.get_by_role("link", name="Export messages").click()
    expect(page.get_by_role("button", name="Save file")).to_be_visible()
    pictured(pictures, page, "export")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save file").click()
    assert "Library opens late" in download.value.path().read_text()
    assert download.value.suggested_filename == "messages.txt"
    page.get_by_role("group", name="Format").get_by_role("button", name="JSON").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save file").click()
    assert key in [message["msi_key"] for message in json.loads(download.value.path().read_text())]
    # One message alone.
    tab(page, "Messages").click()
    page.get_by_role("button", name="Actions for Library opens late").click()
    with page.expect_download() as download:
        page.get_by_role("group", name="Actions").get_by_role("button", name="Export").click()
    assert "Library opens late" in download.value.path().read_text()


@pytest.fixture
def clubs(product):
    """A channel with optional subjects only."""
    channel = product.new_channel("Clubs")
    games, music = product.new_area(channel, "Games"), product.new_area(channel, "Music")
    yield product.new_subject("Chess", channel=channel, area=games), product.new_subject("Choir", channel=channel, area=music, level="Recommended")
    product.api("DELETE", f"/channel/{channel['_id']}")


def open_subscriptions(page, subject):
    tab(page, "Subscriptions").click()
    page.get_by_role("group", name="Channel").get_by_role("button", name=subject.channel["name"]).click()


def test_view_subscriptions(product, visit, pictures, alerts, clubs):
    chess, choir = clubs
    page = open_app(visit, narrow=True)
    open_subscriptions(page, chess)
    # By channel, and by area, which can be folded.
    expect(page.get_by_role("switch", name=chess.name)).not_to_be_checked()
    expect(page.get_by_role("switch", name=choir.name)).to_be_checked()
    expect(page.get_by_role("switch", name=alerts.name)).to_have_count(0)
    page.locator("summary", has_text=chess.area["name"]).click()
    expect(page.get_by_role("switch", name=chess.name)).to_be_hidden()
    pictured(pictures, page, "subscriptions")
    # A required subject cannot be left.
    open_subscriptions(page, alerts)
    required = page.get_by_role("switch", name=alerts.name)
    expect(required).to_have_attribute("aria-disabled", "true")
    required.click(force=True)
    expect(page.get_by_text("It cannot be switched off.")).to_be_visible()
    expect(required).to_be_checked()
    # There is no muting without pop-ups.
    expect(page.get_by_role("button", name=re.compile("Mute"))).to_have_count(0)
    page.get_by_role("group", name="Channel").get_by_role("button", name="All channels").click()
    page.get_by_role("button", name="Search all subjects").click()
    page.get_by_role("searchbox", name="Search all subjects").fill(chess.name)
    expect(page.get_by_role("switch", name=chess.name)).to_be_visible()
    expect(page.get_by_text("1 subject found")).to_be_visible()


def test_subscribe(product, visit, clubs):
    """This week's messages of the subject come, and later ones."""
    chess, _ = clubs
    product.wait_for_state(product.send(chess, "Chess on Monday"), "relayed")
    page = open_app(visit, narrow=True)
    look(page)
    reload(page)
    expect(card(page, "Chess on Monday")).to_have_count(0)
    open_subscriptions(page, chess)
    # A tap on the line is enough.
    page.get_by_text(chess.name, exact=True).click()
    expect(page.get_by_role("switch", name=chess.name)).to_be_checked()
    tab(page, "Messages").click()
    expect(card(page, "Chess on Monday")).to_be_visible()
    product.send(chess, "Chess on Tuesday")
    fetch(page, "Chess on Tuesday")


@pytest.mark.at_length
def test_unsubscribe(product, visit, hours, clubs):
    """A choice counts at once, also without a network, and after the app was closed."""
    _, choir = clubs
    page = open_app(visit, narrow=True, worker=True)
    open_subscriptions(page, choir)
    # Then the service worker has all files, and answers this page.
    eventually("the app's service worker", lambda: page.evaluate("Boolean(navigator.serviceWorker.controller)"))
    # The app may look by itself at any moment.
    visit.expect_errors(GATEWAY_AWAY)
    page.context.set_offline(True)
    page.get_by_role("switch", name=choir.name).click()
    expect(page.get_by_role("switch", name=choir.name)).not_to_be_checked()
    page.context.set_offline(False)
    # The switch shows the choice before it is stored. These are the channels with a subject that the app gets.
    page.goto("/app/#settings/broadcasts")
    expect(page.get_by_role("switch", name=hours.channel["name"])).to_be_visible()
    expect(page.get_by_role("switch", name=choir.channel["name"])).to_have_count(0)
    page.goto("/app/#messages")
    page.reload()
    product.wait_for_state(product.send(choir, "Choir on Tuesday"), "relayed")
    product.send(hours, "Library opens late")
    fetch(page, "Library opens late")
    expect(card(page, "Choir on Tuesday")).to_have_count(0)
    open_subscriptions(page, choir)
    expect(page.get_by_role("switch", name=choir.name)).not_to_be_checked()


def test_view_my_subscriptions(product, visit, pictures, alerts, clubs):
    chess, choir = clubs
    page = open_app(visit, "#settings", narrow=True)
    page.get_by_role("link", name="My subscriptions").click()
    expect(page.get_by_role("switch", name=alerts.name)).to_be_checked()
    expect(page.get_by_role("switch", name=choir.name)).to_be_checked()
    expect(page.get_by_role("switch", name=chess.name)).to_have_count(0)
    pictured(pictures, page, "my-subscriptions")
    # One that is left stays in sight, so that a mistake can be corrected.
    page.get_by_role("switch", name=choir.name).click()
    expect(page.get_by_role("switch", name=choir.name)).not_to_be_checked()


def test_view_settings(product, visit, pictures):
    """Every setting is a page."""
    page = open_app(visit, "#settings", narrow=True)
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    pictured(pictures, page, "settings")
    for name in SETTINGS:
        page.get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", name=name, level=1)).to_be_focused()
        page.get_by_role("link", name="Settings").first.click()
        expect(page.get_by_role("link", name=name)).to_be_focused()
    receipts = page.get_by_role("switch", name="Read receipts")
    receipts.click()
    expect(receipts).not_to_be_checked()
    page.reload()
    expect(receipts).not_to_be_checked()


@pytest.mark.at_length
def test_settings_in_a_wide_window(visit, pictures):
    """They are beside the rows, the first one from the beginning."""
    wide = open_app(visit, "#settings")
    for name in SETTINGS[1:] + SETTINGS[:1]:
        wide.get_by_role("link", name=name).click()
        expect(wide.get_by_role("heading", name=name, level=2)).to_be_focused()
        expect(wide.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
        expect(wide.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    pictures(wide, "app-settings-beside", arrange=begin_in_arabic)


@pytest.mark.at_length
def test_quiet_hours(product, visit, hours):
    """They are about the number alone: nothing pops up."""
    page = open_app(visit, "#settings/notifications", narrow=True)
    expect(page.get_by_text("The app looks for new messages whenever you open it")).to_be_visible()
    expect(page.get_by_role("heading", name="Muted subjects")).to_have_count(0)
    page.get_by_role("switch", name="Quiet hours").click()
    # Some hours around now.
    now = datetime.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin"))
    for label, distance in (("From", -6), ("Until", 6)):
        page.get_by_label(label).fill(f"{now + datetime.timedelta(hours=distance):%H:%M}")
    page.get_by_label("Until").blur()
    product.send(hours, "Quietly")
    tab(page, "Messages").click()
    fetch(page, "Quietly")
    expect(tab(page, "Messages").locator(".badge")).to_be_hidden()


@pytest.fixture
def broadcast(product):
    """Sends broadcasts, of which the hub tells apps, and which are withdrawn at the end."""
    sent = []

    def is_told(identifier):
        return any(each["id"] == identifier for each in product.api("GET", "/broadcast/active")["broadcasts"])

    def send(kind=2, **action):
        content = {"translations": {"en": {"title": "Elections", "msg": "Vote until Friday."}, "ar": {"title": "انتخابات", "msg": "صوّت حتى الجمعة."}}, **action}
        sent.append(product.api("POST", "/broadcast", {"type": kind, "expiry": 60, "actiondata": action if kind == 4 else content})["id"])
        eventually("the hub tells of the broadcast", lambda: is_told(sent[-1]))
        return sent[-1]

    yield send
    for identifier in sent:
        if product.api("GET", f"/broadcast/{identifier}")["state"] == "active":
            product.api("DELETE", f"/broadcast/{identifier}")


def test_broadcasts(product, visit, pictures, broadcast):
    """A card is over the app, in its language. What cannot be closed stays as a strip, until it is withdrawn."""
    broadcast()
    stays = broadcast(kind=1, cancellable=False)
    page = open_app(visit, narrow=True)
    shown = lambda title: page.get_by_role("alertdialog", name=title)
    expect(page.get_by_role("alertdialog")).to_have_count(1)
    expect(page.get_by_role("alertdialog")).to_contain_text("and one more")
    expect(page.locator(".tabs")).to_have_attribute("inert", "")
    pictures(page, "app-broadcast", arrange=begin_in_arabic)
    for button in ("Continue to the app", "Close"):
        page.get_by_role("alertdialog").get_by_role("button", name=button).click()
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    strip = page.locator(".broadcast-strip")
    expect(strip).to_contain_text("Elections")
    strip.click()
    expect(shown("Elections")).to_contain_text("This notice stays until")
    shown("Elections").get_by_role("button", name="Continue to the app").click()
    # Closed for good, also after a new start; the other one is a card again.
    page.reload()
    expect(shown("Elections")).to_contain_text("This notice stays until")
    page.get_by_role("button", name="Continue to the app").click()
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    expect(strip).to_be_visible()
    # The app may learn of it by itself at any moment.
    product.api("DELETE", f"/broadcast/{stays}")

    def gone():
        look(page)
        return page.get_by_role("alertdialog").count() == 0 and strip.count() == 0

    eventually("the withdrawn one is gone", gone, pause=0.5)


def test_feature_switches(product, visit, broadcast):
    broadcast(kind=4, notificationtype="enable-feature", feature="exam-mode")
    page = open_app(visit, "#settings/features", narrow=True)
    expect(page.get_by_role("listitem").filter(has_text="exam-mode")).to_contain_text("On")


def test_change_the_language(product, visit, pictures, hours):
    """The page says before that it is loaded again, and the focus returns. The choice stays, and wins over the browser's language."""
    page = open_app(visit, "#settings/language", narrow=True)
    expect(page.get_by_role("group", name="Language")).to_have_accessible_description("The page is loaded again in the language that you choose.")
    pictures(page, "app-language")
    page.get_by_role("radio", name="العربية").check()
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.get_by_role("radio", name="العربية")).to_be_focused()
    expect(page).to_have_title("مركز الرسائل")
    manifest = page.evaluate("fetch(document.querySelector('link[rel=manifest]').href).then((answer) => answer.json())")
    assert (manifest["lang"], manifest["dir"], manifest["name"]) == ("ar", "rtl", "مركز الرسائل")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "ar")
    # Only the choice moves the focus.
    expect(page.get_by_role("radio", name="العربية")).to_be_checked()
    expect(page.get_by_role("radio", name="العربية")).not_to_be_focused()
    page.get_by_role("radio", name="English").check()
    expect(page.locator("html")).to_have_attribute("dir", "ltr")


def test_the_browsers_language(visit, check):
    """Without a choice the app speaks the browser's language."""
    page = open_app(visit, language="ar")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    rail, view = page.locator(".tabs").bounding_box(), page.locator(".view:visible").first.bounding_box()
    assert rail["x"] > view["x"]
    check(page)


def test_change_the_appearance(visit):
    page = open_app(visit, "#settings/appearance")
    ground, bar = "getComputedStyle(document.body).backgroundColor", "document.querySelector('meta[name=theme-color]').content"
    light = page.evaluate(ground)
    page.get_by_role("radio", name="Dark").check()
    dark = page.evaluate(ground)
    assert dark != light and page.evaluate(bar) == dark
    page.reload()
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    assert page.evaluate(ground) == dark
