"""The history: filters, search, saved views, CSV, live states."""

import csv
import re
import time

from harness.waiting import eventually
from playwright.sync_api import expect


def row(page, title):
    return page.get_by_role("listitem").filter(has=page.get_by_role("link", name=title, exact=True))


def test_view_messages(product, visit, pictures):
    subject = product.new_subject("Shuttles")
    title = product.unique("Shuttle 4 is late")
    key = product.send(subject, title, account="ann")
    product.wait_for_state(key, "relayed")
    page = visit("/portal/messages/")
    expect(row(page, title)).to_contain_text(f"{subject.channel['name']}")
    expect(row(page, title)).to_contain_text("Accepted by FCM")
    expect(page.get_by_role("heading", name=re.compile("^Today, "))).to_be_visible()
    pictures(page, "messages", right_to_left=True)
    page.get_by_role("link", name=title).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def test_new_messages_and_states_appear(product, visit):
    subject = product.new_subject("Live", distribution="Alert")
    page = visit("/portal/messages/")
    title, other = product.unique("Comes live"), product.unique("Comes later")
    product.send(subject, title)
    expect(row(page, title)).to_contain_text("Accepted by FCM")
    key = product.send(subject, other, delay=50)
    expect(row(page, other)).to_contain_text("to undo")
    product.api("DELETE", f"/message/{key}")
    expect(row(page, other)).to_contain_text("Taken back")


def test_search_and_filters(product, visit, pictures):
    subject, other = product.new_subject("Exams"), product.new_subject("Sports")
    word = product.unique("physics").replace(" ", "")
    mine = product.send(subject, f"{word} exam moves", account="ann")
    product.send(other, f"{word} match", account="ben")
    later = product.send(subject, f"{word} is planned", send_at=int(time.time() * 1000) + 86_400_000)
    page = visit("/portal/messages/")
    page.get_by_role("searchbox", name="Search title and text").fill(word)
    links = page.get_by_role("list").get_by_role("link", name=re.compile(word))
    expect(links).to_have_count(3)
    # The beginning of a word is enough, and ideographs are words.
    page.get_by_role("searchbox", name="Search title and text").fill(word[:-1])
    expect(links).to_have_count(3)
    page.get_by_role("searchbox", name="Search title and text").fill(f"{word} 会议")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    page.get_by_role("searchbox", name="Search title and text").fill(word)
    expect(links).to_have_count(3)
    page.get_by_role("button", name="Mine").click()
    expect(links).to_have_count(1)
    page.get_by_role("button", name=re.compile("^Scheduled")).click()
    expect(links).to_have_count(1)
    expect(links).to_have_text(f"{word} is planned")
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_label("Where").select_option(f"subject:{other.document['id']}")
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
    pictures(page, "messages-save-view")
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


def test_approve_in_the_list(product, visit, pictures):
    subject = product.new_subject("Held", approval=True)
    title = product.unique("Needs approval")
    key = product.send(subject, title, account="ann")
    page = visit("/portal/messages/?view=held", account="ben")
    pictures(page, "messages-held")
    row(page, title).hover()
    row(page, title).get_by_role("button", name="Approve").click()
    expect(page.get_by_role("dialog")).to_contain_text(title)
    page.get_by_role("dialog").get_by_role("button", name="Approve").click()
    product.wait_for_state(key, "relayed")


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
    expect(row(page, title)).to_contain_text("Accepted by FCM")


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
