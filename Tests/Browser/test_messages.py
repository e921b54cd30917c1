"""The history: filters, search, saved views, CSV, live states."""

import csv
import re
import secrets
import time

import pytest
from harness.waiting import eventually
from playwright.sync_api import expect


def in_days(days):
    """A time, which has no seconds."""
    return int(time.time() / 60 + days * 1_440) * 60_000


def row(page, title):
    return page.get_by_role("listitem").filter(has=page.get_by_role("link", name=title, exact=True))


def complete_filters(page):
    """Waits until the filters have their words and numbers, so that nothing above the list changes any more."""
    expect(page.get_by_role("button", name="All", exact=True)).to_be_visible()


def test_view_messages(product, visit, pictures):
    subject = product.new_subject("Shuttles")
    title = product.unique("Shuttle 4 is late")
    key = product.send(subject, title, account="ann")
    product.wait_for_state(key, "relayed")
    page = visit("/portal/messages/")
    expect(row(page, title)).to_contain_text(f"{subject.channel['name']}")
    expect(row(page, title)).to_contain_text("Sent")
    expect(page.get_by_role("heading", name=re.compile("^Today, "))).to_be_visible()
    pictures(page, "messages", right_to_left=True)
    page.get_by_role("link", name=title).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


@pytest.mark.at_length
def test_new_messages_and_states_appear(product, visit):
    subject = product.new_subject("Live", distribution="Alert")
    page = visit("/portal/messages/")
    title, other = product.unique("Comes live"), product.unique("Comes later")
    product.send(subject, title)
    expect(row(page, title)).to_contain_text("Sent")
    key = product.send(subject, other, delay=50)
    expect(row(page, other)).to_contain_text("to undo")
    product.api("DELETE", f"/message/{key}")
    expect(row(page, other)).to_contain_text("Taken back")


def test_new_messages_wait_while_somebody_is_at_the_list(product, visit, pictures):
    subject = product.new_subject("Busy")
    first, *others = [product.unique("News") for _ in range(4)]
    product.wait_for_state(product.send(subject, first), "relayed")
    page = visit(f"/portal/messages/?subject={subject.document['id']}")
    complete_filters(page)
    expect(page.get_by_role("button", name="Save view")).to_be_visible()
    expect(page.get_by_role("button", name="Show messages from everywhere")).to_be_visible()
    row(page, first).hover()
    place = row(page, first).bounding_box()
    for title in others:
        product.send(subject, title)
    button = page.get_by_role("status").get_by_role("button", name="3 new messages")
    expect(button).to_be_visible()
    expect(page.get_by_role("link", name=others[0])).to_have_count(0)
    assert row(page, first).bounding_box() == place
    pictures(page, "messages-new", right_to_left=True)
    button.click()
    expect(page.get_by_role("link", name=re.compile("^News"))).to_have_count(4)
    expect(button).to_have_count(0)
    expect(page.get_by_role("link", name=others[-1])).to_be_focused()
    # The focus is in the list now, so that the next one waits as well.
    last = product.unique("News")
    product.send(subject, last)
    expect(page.get_by_role("button", name="1 new message")).to_be_visible()
    expect(page.get_by_role("link", name=last)).to_have_count(0)


@pytest.mark.at_length
def test_the_focus_stays_on_a_button_while_the_list_is_read(product, visit):
    subject = product.new_subject("Focused", distribution="Alert")
    title, other = product.unique("Waits"), product.unique("Comes")
    product.send(subject, title, delay=3_000)
    page = visit(f"/portal/messages/?subject={subject.document['id']}")
    for number, part in enumerate((row(page, title).get_by_role("button", name="Take back"), page.get_by_role("link", name=title)), 1):
        part.focus()
        product.send(subject, other)
        expect(page.get_by_role("button", name=f"{number} new message")).to_be_visible()
        expect(part).to_be_focused()


def test_rows_say_how_many_phones_have_reported(product, visit):
    subject = product.new_subject("Counted", distribution="Alert")
    title = product.unique("Counted")
    key = product.send(subject, title)
    product.wait_for_state(key, "relayed")
    for _ in range(2):
        product.api("POST", "/receipt", {"installation": secrets.token_hex(12), "report": 1, "received": [key], "opened": []})
    page = visit(f"/portal/messages/?subject={subject.document['id']}")
    expect(row(page, title)).to_contain_text("2 phones")
    expect(row(page, title).get_by_title(re.compile("2 phones have reported"))).to_be_visible()


def test_search_says_its_scope_and_places_are_searched(product, visit, pictures):
    """Three channels have an area and a subject of the same names."""
    channels = [product.new_channel(name) for name in ("Medicine", "Physics", "Music")]
    for channel in channels:
        area = product.api("POST", f"/area/{channel['_id']}", {"name": "Announcements", "desc": ""})
        product.api("POST", f"/subject/{channel['_id']}/{area['id']}", {"name": "Results", "desc": "", "opt": {"level": "", "distribution": "Information"}})
    page = visit("/portal/messages/")
    expect(page.get_by_role("searchbox", name="Search titles and texts of all messages", exact=True)).to_be_visible()
    place = page.get_by_role("combobox", name="Where")
    place.fill(f"results {channels[1]['name']}")
    expect(page.get_by_role("listbox", name="Places").get_by_role("option")).to_have_count(1)
    pictures(page, "messages-place")
    place.press("Enter")
    path = f"{channels[1]['name']} › Announcements › Results"
    expect(place).to_have_value(path)
    expect(page.get_by_role("searchbox", name=f"Search titles and texts in {path}", exact=True)).to_be_visible()
    assert "subject=" in page.url
    page.reload()
    expect(place).to_have_value(path)
    # What was typed and not chosen is not a place; an empty field is everywhere.
    place.fill("no such place")
    expect(page.get_by_text("No channel, area or subject has this name.")).to_be_visible()
    page.get_by_role("searchbox").focus()
    expect(place).to_have_value(path)
    place.fill("")
    page.get_by_role("searchbox").focus()
    expect(page.get_by_role("searchbox", name="Search titles and texts of all messages", exact=True)).to_be_visible()
    # A subject's name is enough where no other one has it.
    only = product.new_subject("Telescope")
    place.fill(only.name)
    page.get_by_role("option").filter(has_text=only.name).click()
    expect(place).to_have_value(only.name)
    page.get_by_role("button", name="Show messages from everywhere").click()
    expect(place).to_have_value("")
    page.get_by_role("button", name="Mine").click()
    page.get_by_label("When").select_option("week")
    expect(page.get_by_role("searchbox", name="Search titles and texts of my messages · Last 7 days", exact=True)).to_be_visible()


def test_search_and_filters(product, visit, pictures):
    subject, other = product.new_subject("Exams"), product.new_subject("Sports")
    word = product.unique("physics").replace(" ", "")
    mine = product.send(subject, f"{word} exam moves", account="ann")
    product.send(other, f"{word} match", account="ben")
    later = product.send(subject, f"{word} is planned", send_at=int(time.time() * 1000) + 86_400_000)
    page = visit("/portal/messages/")
    page.get_by_role("searchbox").fill(word)
    links = page.get_by_role("list").get_by_role("link", name=re.compile(word))
    expect(links).to_have_count(3)
    # The beginning of a word is enough, and ideographs are words.
    page.get_by_role("searchbox").fill(word[:-1])
    expect(links).to_have_count(3)
    page.get_by_role("searchbox").fill(f"{word} 会议")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    page.get_by_role("searchbox").fill(word)
    expect(links).to_have_count(3)
    page.get_by_role("button", name="Mine").click()
    expect(links).to_have_count(1)
    page.get_by_role("button", name=re.compile("^Scheduled")).click()
    expect(links).to_have_count(1)
    expect(links).to_have_text(f"{word} is planned")
    page.get_by_role("button", name="All", exact=True).click()
    place = page.get_by_role("combobox", name="Where")
    place.fill(other.name)
    page.get_by_role("option").filter(has_text=other.name).click()
    expect(links).to_have_text([f"{word} match"])
    # The address has the filters, so that it can be shared.
    assert word in page.url and other.document["id"] in page.url
    page.reload()
    expect(links).to_have_text([f"{word} match"])
    page.get_by_label("When").select_option("dates")
    page.get_by_label("Until").fill("2020-01-01")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    pictures(page, "messages-none")
    page.get_by_role("button", name="Clear the filters").click()
    expect(page.get_by_role("searchbox")).to_have_value("")
    product.api("DELETE", f"/message/{later}")
    assert product.message(mine)["sender"] == "ann"


def test_saved_views(product, visit, pictures):
    page = visit("/portal/messages/")
    expect(page.get_by_role("button", name="Save view")).to_be_hidden()
    page.get_by_role("button", name="Mine").click()
    page.get_by_label("When").select_option("week")
    page.get_by_role("button", name="Save view").click()
    page.get_by_role("dialog").get_by_role("textbox", name="Name").fill("My week")
    pictures(page, "messages-save-view", at_length=True)
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="My week")).to_have_attribute("aria-current", "true")
    page.goto("/portal/messages/")
    page.get_by_role("link", name="My week").click()
    expect(page.get_by_role("button", name="Mine")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("When")).to_have_value("week")
    page.get_by_role("button", name="Forget the view My week").click()
    expect(page.get_by_role("link", name="My week")).to_have_count(0)


def test_csv(product, visit):
    subject = product.new_subject("Table")
    for number in range(3):
        product.send(subject, f"=SUM({number})", message="one\ntwo, three")
    page = visit(f"/portal/messages/?subject={subject.document['id']}")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    rows = list(csv.reader(open(download.value.path(), encoding="utf-8", newline="")))
    assert len(rows) == 4
    assert rows[0][0] == "\ufeffid"
    titles = [cell for line in rows[1:] for cell in line if "SUM(" in cell]
    assert len(titles) == 3 and all(cell.startswith("'=") for cell in titles)


def test_take_back_in_the_list(product, visit):
    subject = product.new_subject("Later", distribution="Alert")
    title = product.unique("Planned")
    key = product.send(subject, title, delay=600)
    page = visit(f"/portal/messages/?subject={subject.document['id']}")
    row(page, title).hover()
    row(page, title).get_by_role("button", name="Take back").click()
    expect(row(page, title)).to_contain_text("Taken back")
    assert product.message(key)["relay"]["state"] == "recalled"


@pytest.mark.at_length
def test_seconds_to_undo_show_take_back(product, visit):
    subject = product.new_subject("Undo")
    title = product.unique("Soon")
    product.send(subject, title, delay=50, account="ann")
    page = visit(f"/portal/messages/?subject={subject.document['id']}")
    # Not only below the mouse.
    expect(row(page, title).locator(".row-actions")).to_have_css("opacity", "1")
    expect(row(page, title).get_by_role("button", name="Take back")).to_be_visible()


@pytest.mark.at_length
def test_actions_cover_nothing_of_a_scheduled_row(product, visit, pictures):
    subject = product.new_subject("Later")
    title = product.unique("Planned")
    key = product.send(subject, title, send_at=in_days(30), account="ann")
    page = visit(f"/portal/messages/?subject={subject.document['id']}")
    shown = row(page, title)
    take_back = shown.get_by_role("button", name="Take back…")
    tag = shown.get_by_text("Scheduled for")
    expect(shown.locator(":scope > time")).to_have_text(re.compile(r"^Stored \d\d:\d\d$"))

    def apart():
        """The buttons are visible, and beside or below the state and the title."""
        boxes = [part.bounding_box() for part in (shown.locator(".row-actions"), tag, shown.locator(".row-what"))]
        sides = [(box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]) for box in boxes]
        actions, *others = sides
        assert take_back.is_visible() and all(
            actions[0] >= other[2] or actions[2] <= other[0] or actions[1] >= other[3] or actions[3] <= other[1] for other in others), sides

    complete_filters(page)
    before = tag.bounding_box()
    shown.hover()
    expect(shown.locator(".row-actions")).to_have_css("opacity", "1")
    apart()
    assert tag.bounding_box() == before
    pictures(page, "messages-scheduled", right_to_left=True, arrange=lambda page: row(page, title).hover())
    page.mouse.move(0, 0)
    shown.get_by_role("link").focus()
    page.keyboard.press("Tab")
    apart()
    for page in (visit(page.url, narrow=True), visit(page.url, touch=True, is_mobile=True)):
        shown = row(page, title)
        take_back = shown.get_by_role("button", name="Take back…")
        complete_filters(page)
        apart()
        assert take_back.bounding_box()["height"] >= 44
    product.api("DELETE", f"/message/{key}")


def test_taking_back_a_scheduled_message_asks_and_can_be_undone(product, visit, pictures):
    subject = product.new_subject("Later", distribution="Alert")
    title = product.unique("Planned")
    at = in_days(30)
    key = product.send(subject, title, send_at=at, drill=True, ttl=3_600, account="ann", options={"image": "https://example.org/a.png"})
    page = visit(f"/portal/messages/?subject={subject.document['id']}")
    shown = row(page, f"[DRILL] {title}")
    shown.hover()
    shown.get_by_role("button", name="Take back…").click()
    question = page.get_by_role("dialog", name=f"Take back “[DRILL] {title}”?")
    expect(question).to_contain_text("It was to go out on")
    expect(question).to_contain_text(subject.name)
    pictures(page, "messages-take-back", at_length=True)
    question.get_by_role("button", name="Cancel").click()
    assert product.message(key)["relay"]["state"] == "pending"
    shown.hover()
    shown.get_by_role("button", name="Take back…").click()
    question.get_by_role("button", name="Take back").click()
    expect(shown).to_contain_text("Taken back")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("It is planned for")).to_be_visible()
    planned = [each for each in product.api("GET", f"/message?subject={subject.document['id']}")["messages"] if each["relay"]["state"] == "pending"]
    assert [(each["title"], each["send_at"], each["ttl"], each["options"], each["drill"]) for each in planned] == [
        (f"[DRILL] {title}", at, 3_600, {"image": "https://example.org/a.png"}, True)]
    product.api("DELETE", f"/message/{planned[0]['msi_key']}")


@pytest.mark.at_length
def test_undo_after_its_time_says_so(product, visit):
    subject = product.new_subject("Soon", approval=True)
    title = product.unique("Planned")
    # The question for Undo stays for 30 seconds at most while the pointer is on it.
    at = int(time.time() * 1000) + 15_000
    product.send(subject, title, send_at=at, account="ann")
    page = visit(f"/portal/messages/?subject={subject.document['id']}", account="ann")
    row(page, title).hover()
    row(page, title).get_by_role("button", name="Take back…").click()
    page.get_by_role("dialog").get_by_role("button", name="Take back").click()
    undo = page.get_by_role("button", name="Undo")
    undo.hover()
    page.wait_for_function("at => Date.now() > at", arg=at)
    undo.click()
    expect(page.get_by_text("It stays taken back: its time")).to_be_visible()
    assert [each["relay"]["state"] for each in product.api("GET", f"/message?subject={subject.document['id']}")["messages"]] == ["recalled"]


def test_approve_in_the_list(product, visit, pictures):
    subject = product.new_subject("Held", approval=True)
    title = product.unique("Needs approval")
    key = product.send(subject, title, account="ann")
    page = visit("/portal/messages/?view=held", account="ben")
    pictures(page, "messages-held", at_length=True)
    row(page, title).hover()
    row(page, title).get_by_role("button", name="Approve").click()
    expect(page.get_by_role("dialog")).to_contain_text(title)
    page.get_by_role("dialog").get_by_role("button", name="Approve").click()
    product.wait_for_state(key, "relayed")


def test_reject_with_a_reason(product, visit, pictures):
    subject = product.new_subject("Held", approval=True)
    title = product.unique("Has a mistake")
    key = product.send(subject, title, account="ann")
    sender = visit(f"/portal/messages/?subject={subject.document['id']}", account="ann")
    page = visit(f"/portal/messages/?subject={subject.document['id']}", account="ben")
    row(page, title).hover()
    row(page, title).get_by_role("button", name="Reject…").click()
    dialog = page.get_by_role("dialog", name="Reject this message?")
    dialog.get_by_role("textbox", name="Reason").fill("The room is B 12.")
    pictures(page, "message-reject", right_to_left=True)
    dialog.get_by_role("button", name="Reject").click()
    for each in (page, sender):
        expect(row(each, title)).to_contain_text("Rejected")
        expect(row(each, title)).to_contain_text(re.compile("By ben: .The room is B 12"))
    assert product.message(key)["relay"]["trace"][-1]["reason"] == "The room is B 12."
    sender.get_by_role("link", name=title).click()
    expect(sender.get_by_text("Rejected by ben")).to_be_visible()
    expect(sender.get_by_text("The room is B 12.", exact=True)).to_be_visible()


@pytest.mark.at_length
def test_rejected_messages_are_found(product, visit, pictures):
    subject = product.new_subject("Held", approval=True)
    rejected, taken_back = product.unique("Rejected"), product.unique("Taken back")
    product.api("DELETE", f"/message/{product.send(subject, rejected, account='ann')}", {"reason": "Too early."}, account="ben")
    product.api("DELETE", f"/message/{product.send(subject, taken_back, account='ann')}", account="ann")
    page = visit(f"/portal/messages/?subject={subject.document['id']}", account="ann")
    expect(row(page, taken_back)).to_be_visible()
    page.get_by_role("button", name="Rejected", exact=True).click()
    expect(row(page, taken_back)).to_have_count(0)
    expect(row(page, rejected)).to_contain_text("Too early.")
    expect(page.get_by_role("searchbox", name="Search titles and texts of rejected messages")).to_be_visible()
    pictures(page, "messages-rejected", right_to_left=True)
    assert "state=rejected" in page.get_by_role("link", name="CSV").get_attribute("href")


@pytest.mark.at_length
def test_senders_have_names(product, visit, pictures):
    """Communicators see what people are called now, and without a name the account."""
    subject = product.new_subject("Held", approval=True)
    account, title = product.new_account("lee"), product.unique("By somebody with a name")
    key = product.send(subject, title, account=account)
    page = visit(f"/portal/messages/?subject={subject.document['id']}")
    expect(row(page, title)).to_contain_text(account)
    product.api("PUT", f"/account/{account}", {"display_name": "Ann Lee"})
    page.reload()
    expect(row(page, title)).to_contain_text("Ann Lee")
    expect(row(page, title)).not_to_contain_text(account)
    row(page, title).hover()
    row(page, title).get_by_role("button", name="Approve").click()
    # Before a decision it matters who it is.
    expect(page.get_by_role("dialog")).to_contain_text(re.compile(f"Ann Lee. \\(.{account}.\\) then goes out"))
    page.get_by_role("dialog").get_by_role("button", name="Approve").click()
    product.wait_for_state(key, "relayed")
    product.api("PUT", f"/account/{account}", {"display_name": "آن لي"})
    page = visit(f"/portal/message/?key={key}")
    expect(page.locator(".facts")).to_contain_text(re.compile(f"آن لي. \\(.{account}"))
    pictures(page, "message-named-sender", right_to_left=True)
    product.api("DELETE", f"/account/{account}")
    page.reload()
    expect(page.locator(".facts")).to_contain_text(account)
    expect(page.locator(".facts")).not_to_contain_text("آن")


@pytest.mark.at_length
def test_the_button_for_the_file_is_beside_the_heading(product, visit):
    page = visit("/portal/messages/", narrow=True)
    heading, button = (page.get_by_role(role, name=name).bounding_box() for role, name in (("heading", "Messages"), ("link", "CSV")))
    assert button["y"] < heading["y"] + heading["height"] and button["y"] + button["height"] > heading["y"]
    assert button["x"] >= heading["x"] + heading["width"]


@pytest.mark.at_length
def test_failed_and_retried(product, visit, pictures):
    subject = product.new_subject("Broken")
    title = product.unique("Refused")
    with product.faults({"fault": "INVALID_ARGUMENT", "topic": subject.topic_key}):
        key = product.send(subject, title)
        product.wait_for_state(key, "failed")
        page = visit(f"/portal/messages/?subject={subject.document['id']}")
        expect(row(page, title)).to_contain_text("Failed")
        pictures(page, "messages-failed")
    row(page, title).hover()
    row(page, title).get_by_role("button", name="Try again").click()
    expect(row(page, title)).to_contain_text("Sent")


@pytest.mark.at_length
def test_many_messages(product, visit):
    subject = product.new_subject("Many")
    for number in range(120):
        product.send(subject, f"Number {number}")
    page = visit(f"/portal/messages/?subject={subject.document['id']}")
    expect(page.get_by_role("link", name="Number 119", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Number 0", exact=True)).to_have_count(0)

    def scrolled():
        page.mouse.wheel(0, 4_000)
        return page.get_by_role("link", name="Number 0", exact=True).count() == 1

    eventually("the oldest message", scrolled)
    keys = page.evaluate("[...document.querySelectorAll('[data-key]')].map((row) => row.dataset.key)")
    assert len(keys) == len(set(keys)) == 120


def test_no_messages_yet(empty_product, visit, pictures):
    page = visit("/portal/messages/")
    expect(page.get_by_role("heading", name="No messages yet")).to_be_visible()
    pictures(page, "messages-empty", right_to_left=True)
    page.get_by_role("link", name="Write a message").click()
    expect(page).to_have_url(re.compile("/portal/send/"))
