"""The page for sending: the use case Send Message, and what makes it safe."""

import calendar
import datetime
import json
import re

import pytest
from browsing.schedule import as_typed, next_march
from browsing.visits import GATEWAY_AWAY, SERVICE_AWAY
from playwright.sync_api import expect


def title(page):
    return page.get_by_role("textbox", name="Title")


def notification(page):
    return page.get_by_role("textbox", name="Notification text")


def text(page):
    return page.get_by_role("textbox", name="Message", exact=True)


def write(page, heading="Campus closed", desc=None, message="All lectures of today are cancelled."):
    title(page).fill(heading)
    if desc:
        notification(page).fill(desc)
    text(page).fill(message)


def compose(visit, subject, *texts, **fields):
    """Opens the form with a subject, and writes a message to it."""
    page = visit(f"/portal/send/?subject={subject.topic_key}")
    write(page, *texts, **fields)
    return page


def options(page):
    """Unfolds what is set for the delivery."""
    page.get_by_text("Options", exact=True).click()


def at_once(page):
    """Switches off the seconds in which a message can be undone."""
    page.evaluate("localStorage.setItem('msi.settings', JSON.stringify({ undo: false }))")


def without_the_seconds_to_undo(page):
    """The hub gets messages with one second in the place of those that the page wants, which are returned."""
    delays = []

    def shorten(route):
        body = route.request.post_data_json
        delays.append(body["delay"])
        route.continue_(post_data=json.dumps({**body, "delay": 1}))

    page.route("**/message", shorten)
    return delays


def sent(page):
    return page.get_by_role("heading", name="Sent", exact=True)


def send(page):
    at_once(page)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(sent(page)).to_be_visible()


def send_alert(page):
    page.get_by_role("button", name="Send alert…").click()
    page.get_by_role("dialog").get_by_role("button", name="Send alert", exact=True).click()


def messages_of(product, subject):
    return product.api("GET", f"/message?subject={subject.document['id']}")["messages"]


@pytest.fixture
def storms(product):
    return product.new_subject("Storms", distribution="Alert", level="Forced")


@pytest.fixture
def hours(product):
    return product.new_subject("Hours")


def test_send_message(product, visit, pictures, hours):
    """The communicator chooses a channel, an area and a subject, fills the form, and submits it."""
    page = visit("/portal/send/")
    page.get_by_role("button", name="Browse…").click()
    for name in (hours.channel["name"], hours.area["name"], hours.name):
        page.get_by_role("dialog").get_by_role("button", name=name).click()
    expect(page.get_by_role("combobox", name="Subject")).to_have_value(re.compile(hours.name + "$"))
    expect(notification(page)).to_be_hidden()
    write(page, "Library opens late", message="At ten instead of eight.")
    delays = without_the_seconds_to_undo(page)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(sent(page)).to_be_visible()
    pictures(page, "sent-accepted", right_to_left=True)
    [message] = messages_of(product, hours)
    assert (message["title"], message["desc"], message["sender"], message["relay"]["state"]) == ("Library opens late", "", "ann", "relayed")
    assert delays == [10]
    page.get_by_role("button", name="New message").click()
    expect(title(page)).to_have_value("")
    # It is the most recent subject now.
    expect(page.get_by_role("button", name=hours.name)).to_be_visible()


def test_send_alert(product, visit, pictures, storms):
    """An Alert asks, names the subject in words, and then waits ten seconds with Undo."""
    page = visit("/portal/send/")
    pictures(page, "send-empty", right_to_left=True)
    box = page.get_by_role("combobox", name="Subject")
    box.fill(storms.name)
    expect(page.get_by_role("option").first).to_contain_text(storms.name)
    pictures(page, "send-search")
    box.press("Enter")
    write(page, desc="Please stay at home.")
    pictures(page, "send-alert", right_to_left=True)
    page.get_by_role("button", name="Send alert…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(storms.name)
    expect(dialog).to_contain_text("Every student has this subject")
    expect(dialog).to_contain_text("Please stay at home.")
    # Enter pressed twice sends nothing.
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    pictures(page, "send-confirm", right_to_left=False)
    dialog.get_by_role("button", name="Send alert", exact=True).click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    pictures(page, "sent-undo")
    [message] = messages_of(product, storms)
    assert message["delay"] == 10


def test_undo_an_alert(product, visit, storms):
    page = compose(visit, storms, desc="Please stay at home.")
    send_alert(page)
    page.get_by_role("button", name="Undo").click()
    # The text is wanted again.
    expect(title(page)).to_have_value("Campus closed")
    expect(notification(page)).to_have_value("Please stay at home.")
    [message] = messages_of(product, storms)
    assert message["relay"]["state"] == "recalled"
    # It is a draft again: it survives another page.
    page.goto("/portal/messages/")
    page.goto("/portal/send/")
    expect(title(page)).to_have_value("Campus closed")


def test_pop_up_begins_like_the_message(product, visit, storms):
    page = compose(visit, storms, message="All lectures are cancelled.\nStay at home.")
    expect(page.get_by_role("tabpanel")).to_contain_text("All lectures are cancelled.")
    send_alert(page)
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    [message] = messages_of(product, storms)
    assert message["desc"] == "All lectures are cancelled."


@pytest.mark.at_length
def test_discard_and_undo(product, visit, hours):
    page = visit(f"/portal/send/?subject={hours.topic_key}")
    discard = page.get_by_role("button", name="Discard")
    expect(discard).to_be_hidden()
    write(page)
    discard.click()
    expect(title(page)).to_have_value("")
    expect(discard).to_be_hidden()
    page.get_by_role("button", name="Undo").click()
    expect(title(page)).to_have_value("Campus closed")
    expect(page.get_by_role("combobox", name="Subject")).to_have_value(re.compile(".*"))
    send(page)


def test_information_drill_has_no_pop_up(product, visit, hours):
    page = compose(visit, hours)
    options(page)
    page.get_by_role("switch", name="Drill").check()
    page.get_by_role("button", name="Send…", exact=True).click()
    question = page.get_by_role("dialog", name="Send this drill now?")
    expect(question).to_contain_text("no pop-up")
    expect(question).to_contain_text("[DRILL] Campus closed")


def test_undo_can_be_switched_off(product, visit, storms):
    page = visit(f"/portal/send/?subject={storms.topic_key}")
    at_once(page)
    write(page, desc="Please stay at home.")
    page.get_by_role("button", name="Send alert…").click()
    expect(page.get_by_role("dialog")).to_contain_text("cannot be taken back")
    page.get_by_role("dialog").get_by_role("button", name="Send alert", exact=True).click()
    expect(sent(page)).to_be_visible()
    assert "delay" not in messages_of(product, storms)[0]


def test_double_click_sends_once(product, visit, hours):
    page = compose(visit, hours)
    at_once(page)
    page.get_by_role("button", name="Send", exact=True).dblclick()
    expect(sent(page)).to_be_visible()
    assert len(messages_of(product, hours)) == 1


def test_missing_fields_are_named(product, visit, pictures, storms):
    page = visit("/portal/send/")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("Choose the subject whose subscribers get the message.")).to_be_visible()
    expect(page.get_by_role("combobox", name="Subject")).to_be_focused()
    page.get_by_role("combobox", name="Subject").fill(storms.name)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Send alert…").click()
    # The notification may do without a text: then it has the beginning of the message.
    expect(page.get_by_text("Please fill this in.")).to_have_count(2)
    expect(title(page)).to_be_focused()
    pictures(page, "send-missing")


def test_preview_and_bytes(product, visit, pictures, storms):
    page = compose(visit, storms, "Campus closed", "Please stay at home. " * 12, "ä" * 1_500)
    phone = page.get_by_role("tabpanel")
    expect(phone).to_contain_text("Campus closed")
    page.get_by_role("tab", name="In the app").click()
    expect(phone).to_contain_text("ä" * 100)
    pictures(page, "send-preview-app", at_length=True)
    page.get_by_role("tab", name="Android").click()
    pictures(page, "send-preview-android", at_length=True)
    expect(page.get_by_text("of 4,096 bytes")).to_be_visible()
    title(page).fill("ä" * 500)
    expect(page.get_by_text("phones fetch the rest of it")).to_be_visible()
    pictures(page, "send-too-long", at_length=True)
    send_alert(page)
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def test_bytes_are_those_that_the_relay_counts(product, visit, storms):
    """A message of as many bytes as FCM carries goes out whole; with one more, the page says that phones fetch the text."""
    page = compose(visit, storms, "t", "d", "€" * 1_300)
    shown = page.get_by_text(re.compile(r"of 4,096 bytes"))
    used = int(shown.inner_text().split(" of ")[0].replace(",", ""))
    length = 1 + 4_096 - used
    title(page).fill("t" * length)
    expect(shown).to_contain_text("4,096 of 4,096")
    whole = product.send(storms, "t" * length, "€" * 1_300, desc="d")
    assert "omitted" not in product.data_sent(whole)
    title(page).fill("t" * (length + 1))
    expect(page.get_by_text("phones fetch the rest of it")).to_be_visible()
    larger = product.send(storms, "t" * (length + 1), "€" * 1_300, desc="d")
    assert product.data_sent(larger)["omitted"] == "message"


def test_schedule(product, visit, pictures, storms):
    page = compose(visit, storms, desc="Please stay at home.")
    page.get_by_role("button", name="Schedule…", exact=True).click()
    at = page.get_by_label("Goes out at")
    time = next_march()
    at.fill(as_typed(time))
    expect(page.get_by_text("Europe/Berlin")).to_be_visible()
    pictures(page, "send-schedule")
    page.get_by_label("Deliver within").select_option("3600")
    page.get_by_role("button", name="Schedule alert…").click()
    page.get_by_role("dialog").get_by_role("button", name="Schedule alert").click()
    expect(page.get_by_role("heading", name=re.compile("Scheduled for"))).to_be_visible()
    [message] = messages_of(product, storms)
    assert message["send_at"] == int(time.timestamp() * 1_000) and message["ttl"] == 3_600
    product.api("DELETE", f"/message/{message['msi_key']}")


@pytest.mark.at_length
def test_hour_that_comes_twice(product, visit, storms):
    """The page says the offset in the hour in which clocks go back, and lets one choose."""
    today = datetime.date.today()
    # Each week of the calendar ends with Sunday.
    last_sundays = [datetime.date(year, 10, max(week[6] for week in calendar.monthcalendar(year, 10))) for year in (today.year, today.year + 1)]
    day = next(day for day in last_sundays if day > today)
    page = visit(f"/portal/send/?subject={storms.topic_key}")
    write(page, desc="x")
    page.get_by_role("button", name="Schedule…", exact=True).click()
    page.get_by_label("Goes out at").fill(f"{day}T02:30")
    which = page.get_by_label("This hour comes twice. Which one?")
    expect(which.get_by_role("option")).to_have_text([re.compile(r"02:30 GMT\+2$"), re.compile(r"02:30 GMT\+1$")])
    which.select_option("1")
    expect(page.get_by_text(re.compile(r"02:30 GMT\+1 \(Europe/Berlin\)"))).to_be_visible()
    page.get_by_role("button", name="Schedule alert…").click()
    page.get_by_role("dialog").get_by_role("button", name="Schedule alert").click()
    expect(page.get_by_role("heading", name=re.compile("Scheduled for"))).to_be_visible()
    [message] = messages_of(product, storms)
    assert message["send_at"] == datetime.datetime(day.year, day.month, day.day, 1, 30, tzinfo=datetime.UTC).timestamp() * 1_000
    product.api("DELETE", f"/message/{message['msi_key']}")


def test_time_in_the_past_is_refused_before_it_is_sent(product, visit, storms):
    page = compose(visit, storms, desc="x")
    page.get_by_role("button", name="Schedule…", exact=True).click()
    page.get_by_label("Goes out at").fill("2020-01-01T06:00")
    page.get_by_role("button", name="Schedule alert…").click()
    expect(page.get_by_text("This time has passed")).to_be_visible()
    assert messages_of(product, storms) == []


def test_picture_and_drill(product, visit, storms):
    page = compose(visit, storms, "Evacuation", "Leave building C", "This is only a drill.")
    options(page)
    page.get_by_label("Picture", exact=True).select_option("some")
    page.get_by_label("Address of the picture").fill("http://example.org/x.png")
    page.get_by_role("switch", name="Drill").check()
    expect(page.get_by_role("tabpanel")).to_contain_text("[DRILL] Evacuation")
    visit.expect_errors(r"status of 400", r"example\.org", r"ERR_")
    page.get_by_role("button", name="Send alert…").click()
    address = page.get_by_label("Address of the picture")
    expect(address).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("It must begin with https://")).to_be_visible()
    # The hub takes only ASCII characters, and says so.
    address.fill("https://bücher.example.org/x.png")
    expect(address).not_to_have_attribute("aria-invalid", "true")
    send_alert(page)
    expect(address).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Picture", exact=True).select_option("none")
    send_alert(page)
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    [message] = messages_of(product, storms)
    assert message["drill"] and message["title"] == "[DRILL] Evacuation"


def test_urgent_template(product, visit, pictures, storms):
    """In an emergency nobody composes text: an urgent template asks once and goes out at once."""
    name = product.unique("Campus closed")
    product.api("POST", "/template", {"name": name, "title": "Campus closed", "desc": "Until {{until}}", "message": "Closed until {{until}} because of {{reason}}.", "urgent": True})
    page = visit(f"/portal/send/?subject={storms.topic_key}")
    page.get_by_role("button", name="All templates…").click()
    pictures(page, "send-templates")
    page.get_by_role("dialog").get_by_role("button", name=name).click()
    expect(page.get_by_label("until", exact=False).first).to_be_focused()
    page.get_by_role("button", name="Send alert…").click()
    expect(page.get_by_text("Please fill this in.")).to_have_count(2)
    page.get_by_label("until").fill("Tuesday")
    page.get_by_label("reason").fill("the storm")
    expect(page.get_by_role("tabpanel")).to_contain_text("Until Tuesday")
    pictures(page, "send-template", at_length=True)
    page.get_by_role("button", name="Send alert…").click()
    expect(page.get_by_role("dialog")).to_contain_text("urgent")
    expect(page.get_by_role("dialog")).to_contain_text("in a second way as well")
    page.get_by_role("dialog").get_by_role("button", name="Send alert", exact=True).click()
    expect(sent(page)).to_be_visible()
    [message] = messages_of(product, storms)
    assert message["message"] == "Closed until Tuesday because of the storm." and message["template"] and "delay" not in message


@pytest.mark.at_length
def test_template_becomes_free_text(product, visit, hours):
    name = product.unique("Room change")
    product.api("POST", "/template", {"name": name, "title": "Moved to {{room}}", "desc": "", "message": "Now in {{room}}."})
    page = visit(f"/portal/send/?subject={hours.topic_key}")
    page.get_by_role("button", name="All templates…").click()
    page.get_by_role("dialog").get_by_role("button", name=name).click()
    page.get_by_label("room").fill("B 12")
    page.get_by_role("button", name="Edit the text").click()
    expect(title(page)).to_have_value("Moved to B 12")
    text(page).fill("Now in B 12. Bring your books.")
    send(page)
    assert messages_of(product, hours)[0]["message"] == "Now in B 12. Bring your books."


def test_draft_survives_a_closed_tab(product, visit, storms):
    page = compose(visit, storms, desc="Please stay at home.")
    options(page)
    page.get_by_label("Deliver within").select_option("21600")
    other = visit.tab(page, "/portal/send/")
    page.close()
    expect(other.get_by_text("Your draft is back")).to_be_visible()
    expect(other.get_by_role("combobox", name="Subject")).to_have_value(re.compile(storms.name))
    expect(title(other)).to_have_value("Campus closed")
    expect(notification(other)).to_have_value("Please stay at home.")
    expect(other.get_by_text("delivered within 6 hours")).to_be_visible()


def test_lost_network_loses_nothing_and_doubles_nothing(product, visit, pictures, hours):
    visit.expect_errors(GATEWAY_AWAY)
    page = compose(visit, hours)
    at_once(page)
    # The gateway stores the message, and its answer is lost.
    lost = []

    def lose(route):
        if not lost:
            lost.append(route.fetch())
            route.abort()
        else:
            route.continue_()

    page.route("**/message", lose)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("it will not be sent twice")).to_be_visible()
    pictures(page, "send-unanswered", at_length=True)
    expect(title(page)).to_have_value("Campus closed")
    page.reload()
    send(page)
    assert len(messages_of(product, hours)) == 1


def test_a_frozen_hub_takes_no_text(product, visit, pictures, hours):
    """While the hub does not answer, the page says that nothing is lost or sent twice."""
    waiting = []
    page = visit(f"/portal/send/?subject={hours.topic_key}", clock=True)
    write(page)
    at_once(page)
    page.route("**/message", lambda route: waiting.append(route))
    page.get_by_role("button", name="Send", exact=True).click()
    safe = page.get_by_role("alert").filter(has_text="Your text is safe: this browser keeps it. The hub takes long to answer. If you send it again as it is, it goes out only once.")
    visit.after(page, 3, "the words", safe.is_visible)
    expect(page.get_by_role("button", name="Sending…")).to_be_visible()
    pictures(page, "send-slow")
    waiting.pop().continue_()
    expect(sent(page)).to_be_visible()
    assert len(messages_of(product, hours)) == 1


@pytest.mark.at_length
def test_message_log_killed_while_the_form_is_open(spare_product, visit, pictures):
    visit.expect_errors(SERVICE_AWAY, r"status of 50\d")
    subject = spare_product.new_subject("Away")
    page = compose(visit, subject)
    at_once(page)
    with spare_product.away("msi-message-log"):
        expect(page.get_by_text("What you write stays here")).to_be_visible()
        page.get_by_role("button", name="Send", exact=True).click()
        # On a busy machine the gateway may still take the connection for a good one. Then the outcome is unknown.
        expect(page.get_by_role("alert").filter(has_text=re.compile("away|did not answer in time"))).to_be_visible()
        pictures(page, "send-away")
    expect(page.get_by_text("What you write stays here")).to_be_hidden()
    send(page)
    assert len(messages_of(spare_product, subject)) == 1


@pytest.mark.at_length
def test_cube_away_and_sending_works(spare_product, visit):
    visit.expect_errors(SERVICE_AWAY)
    subject = spare_product.new_subject("Copied")
    page = visit(f"/portal/send/?subject={subject.topic_key}")
    with spare_product.away("msi-cube"):
        expect(page.get_by_role("link", name="Sending works, channels and subjects cannot be changed")).to_be_visible()
        write(page)
        send(page)


@pytest.mark.at_length
def test_fcm_away_says_that_messages_are_kept(spare_product, visit, pictures):
    subject = spare_product.new_subject("Kept")
    page = compose(visit, subject)
    at_once(page)
    with spare_product.away("msi-fcm-emulator"):
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_role("heading", name="On its way")).to_be_visible()
        # The relay takes FCM for away after twenty failures in a row.
        kept = [spare_product.send(subject, f"Also kept {number}") for number in range(25)]
        other = visit.tab(page, "/portal/overview/")
        expect(other.get_by_role("link", name=re.compile("Messages are kept"))).to_be_visible()
        pictures(other, "overview-fcm-away")
        # The sender of an Alert is told before and after sending.
        expect(page.get_by_role("heading", name="It waits: not sent yet")).to_be_visible()
        pictures(page, "sent-stuck")
        storms = spare_product.new_subject("Storms", distribution="Alert")
        alert = visit(f"/portal/send/?subject={storms.topic_key}")
        write(alert, desc="Stay at home")
        expect(alert.get_by_role("link", name=re.compile("Messages are kept"))).to_be_visible()
        alert.get_by_role("button", name="Send alert…").click()
        expect(alert.get_by_role("dialog")).to_contain_text("use a second way as well")
        pictures(alert, "send-confirm-outage")
        alert.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    # The longer it was away, the later is the next attempt.
    for key in kept:
        spare_product.wait_for_state(key, "relayed")
    expect(sent(page)).to_be_visible(timeout=120_000)


@pytest.mark.at_length
def test_subject_is_deleted_before_sending(product, visit, pictures, hours):
    page = compose(visit, hours)
    product.api("DELETE", f"/subject/{hours.path}")
    expect(page.get_by_text("was deleted meanwhile")).to_be_visible()
    expect(title(page)).to_have_value("Campus closed")
    pictures(page, "send-subject-gone")


@pytest.mark.at_length
def test_subject_is_found_in_other_forms_of_its_letters(product, visit):
    product.new_subject("Straße gesperrt")
    page = visit("/portal/send/")
    page.get_by_role("combobox", name="Subject").fill("STRASSE GESPERRT")
    expect(page.get_by_role("option").filter(has_text="Straße gesperrt").first).to_be_visible()


def test_subject_is_found_with_and_without_a_hyphen(product, visit):
    product.new_subject("Campus Wi-Fi")
    page = visit("/portal/send/")
    for typed in ("campus wifi", "campus wi-", "wi-fi campus", "wi fi campus"):
        page.get_by_role("combobox", name="Subject").fill(typed)
        expect(page.get_by_role("option").filter(has_text="Campus Wi-Fi").first).to_be_visible()


def test_only_open_subjects(product, visit):
    account = product.new_account()
    closed = product.new_subject("Closed")
    product.api("PUT", f"/access/{closed.path}", {"access": ["ben"]})
    page = visit("/portal/send/", account=account)
    page.get_by_role("combobox", name="Subject").fill(closed.name)
    expect(page.get_by_text("No subject has these words.")).to_be_visible()


def test_approval_is_announced(product, visit):
    subject = product.new_subject("Approved", distribution="Alert", approval=True)
    page = visit(f"/portal/send/?subject={subject.topic_key}")
    expect(page.get_by_text("Another person must approve messages to this subject.")).to_be_visible()
    write(page, desc="x")
    page.get_by_role("button", name="Ask for approval…").click()
    question = page.get_by_role("dialog", name="Ask for approval of this alert?")
    expect(question).to_contain_text("It goes out when another person approves it.")
    question.get_by_role("button", name="Ask for approval").click()
    expect(page.get_by_role("heading", name="Waits for approval")).to_be_visible()


@pytest.mark.at_length
def test_keyboard_only(product, visit, hours):
    page = visit("/portal/send/")
    page.get_by_role("combobox", name="Subject").focus()
    page.keyboard.type(hours.name)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")

    def tab_to(name):
        for _ in range(25):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent.trim()") == name:
                return
        raise AssertionError(f"no way to {name} by Tab")

    tab_to("Title")
    page.keyboard.type("By keyboard")
    tab_to("Message")
    page.keyboard.type("Without a mouse.")
    tab_to("Send")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your message is about to go out")).to_be_visible()
    # A screen reader is where the news are.
    expect(page.get_by_role("heading", level=1)).to_be_focused()


@pytest.mark.at_length
def test_reduced_motion_and_touch(product, visit):
    page = visit("/portal/send/", narrow=True, touch=True, reduced_motion=True)
    page.get_by_role("button", name="Preview").tap()
    expect(page.get_by_role("tab", name="iPhone")).to_be_visible()
    assert page.evaluate("document.getAnimations().length") == 0


@pytest.mark.at_length
def test_template_changed_before_sending(product, visit):
    """The hub fills the template as it is when the message is sent, so the page shows that text first."""
    name = product.unique("Opening hours")
    text = {"name": name, "title": "Opening hours", "desc": "", "message": "Open until {{until}}."}
    template = product.api("POST", "/template", text)
    subject = product.new_subject("Hours")
    page = visit(f"/portal/send/?subject={subject.topic_key}")
    page.get_by_role("button", name="All templates…").click()
    page.get_by_role("dialog").get_by_role("button", name=name).click()
    page.get_by_label("until").fill("ten")
    product.api("PUT", f"/template/{template['_id']}", {**text, "message": "Closed until {{until}}."})
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("Somebody has changed this template meanwhile.")).to_be_visible()
    assert messages_of(product, subject) == []
    expect(page.get_by_label("until")).to_have_value("ten")
    with page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/message")) as posted:
        send(page)
    assert messages_of(product, subject)[0]["message"] == "Closed until ten."
    # The hub refuses the text of another revision.
    assert posted.value.post_data_json["template_revision"] == 2


@pytest.mark.at_length
def test_wrong_clock_of_the_browser(product, visit):
    """The seconds to undo are those of the hub."""
    subject = product.new_subject("Clock", distribution="Alert")
    key = product.send(subject, "Soon", delay=600)
    page = visit("/portal/send/", settled=False)
    page.clock.install(time="2027-06-01T12:00:00Z")
    page.goto(f"/portal/message/?key={key}")
    expect(page.get_by_role("button", name="Take back")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Scheduled for")).to_be_visible()


def test_a_wide_window_shows_pop_up_and_app(product, visit, check, storms):
    page = visit(f"/portal/send/?subject={storms.topic_key}")
    write(page)
    phones = page.locator("phone-preview .phone")
    expect(phones).to_have_count(1)
    page.set_viewport_size({"width": 1920, "height": 1080})
    expect(phones).to_have_count(2)
    expect(phones.nth(0).locator(".popup")).to_contain_text("Campus closed")
    expect(phones.nth(1).locator(".message-card")).to_contain_text("All lectures of today are cancelled.")
    check(page)
    page.get_by_role("tab", name="In the app").click()
    expect(phones.nth(1).locator(".popup")).to_contain_text("Campus closed")
