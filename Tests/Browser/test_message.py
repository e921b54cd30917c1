"""The page of one message: its way to FCM, and what can be done about it."""

import json
import re
import time

from harness.waiting import eventually
from playwright.sync_api import expect


def test_correct_a_message(product, visit, pictures):
    """Two clicks: the text is there, and the subject is that of the message."""
    subject = product.new_subject("Exams", distribution="Alert")
    wrong = product.send(subject, "Exam on Friday", "The exam is on Friday.", desc="On Friday.")
    product.wait_for_state(wrong, "relayed")
    page = visit(f"/portal/message/?key={wrong}")
    page.get_by_role("link", name="Correct", exact=True).click()
    expect(page.get_by_role("heading", name="Correction", exact=True)).to_be_visible()
    title = page.get_by_role("textbox", name="Title")
    expect(title).to_have_value("Exam on Friday")
    expect(page.get_by_role("combobox", name="Subject")).to_have_count(0)
    pictures(page, "send-correction")
    title.fill("Exam on Monday")
    page.get_by_role("button", name="Send correction").click()
    # It can be taken back, and the text comes back as a correction.
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Correction", exact=True)).to_be_visible()
    expect(title).to_have_value("Exam on Monday")
    page.route("**/message", lambda route: route.continue_(post_data=json.dumps({**route.request.post_data_json, "delay": 1})))
    page.get_by_role("button", name="Send correction").click()
    expect(page.get_by_role("heading", name="Accepted by FCM")).to_be_visible()
    page.goto(page.url.split("/portal/")[0] + f"/portal/message/?key={wrong}")
    expect(page.get_by_text("This text was corrected:")).to_be_visible()
    pictures(page, "message-corrected")
    page.get_by_role("link", name="Exam on Monday").first.click()
    expect(page.get_by_text("Corrected message")).to_be_visible()
    pictures(page, "message-correction")
    right = page.url.split("key=")[1]
    assert product.data_sent(right)["corrects"] == wrong
    # A correction of the correction corrects the first message, and begins with the newest text.
    page.get_by_role("link", name="Correct", exact=True).click()
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Exam on Monday")
    expect(page).to_have_url(re.compile(f"follows={wrong}"))


def test_message_page(product, visit, pictures):
    subject = product.new_subject("Storms", distribution="Alert", level="Forced")
    key = product.send(subject, "Campus closed", "All lectures are cancelled.\n\nEmergency care stays open.", desc="Please stay at home", account="ann")
    product.wait_for_state(key, "relayed")
    page = visit(f"/portal/message/?key={key}")
    expect(page.get_by_text("The pop-up was accepted by FCM")).to_be_visible()
    expect(page.get_by_text("The message in the app was accepted by FCM")).to_be_visible()
    page.get_by_text("FCM's name for it").first.click()
    expect(page.get_by_text(re.compile(r"projects/.+/messages/")).first).to_be_visible()
    pictures(page, "message", right_to_left=True)


def test_live_state(product, visit):
    subject = product.new_subject("Live", distribution="Alert")
    key = product.send(subject, "Soon", delay=50)
    page = visit(f"/portal/message/?key={key}")
    expect(page.get_by_text("to undo")).to_be_visible()
    product.api("DELETE", f"/message/{key}", account="ben")
    expect(page.get_by_text("Taken back by ben")).to_be_visible()


def test_take_back(product, visit, pictures):
    subject = product.new_subject("Later", distribution="Alert")
    key = product.send(subject, "Planned", delay=900)
    page = visit(f"/portal/message/?key={key}")
    pictures(page, "message-scheduled")
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_text("Taken back by ann")).to_be_visible()
    assert product.message(key)["relay"]["state"] == "recalled"


def test_an_alert_that_phones_can_fetch_can_be_taken_back(spare_product, visit):
    """No relay has taken it."""
    subject = spare_product.new_subject("Storms", distribution="Alert")
    with spare_product.away("msi-fcm-relay"):
        key = spare_product.send(subject, "Campus closed", desc="Stay at home.")
        page = visit(f"/portal/message/?key={key}")
        expect(page.get_by_text("Running apps can fetch it").first).to_be_visible()
        expect(page.get_by_role("button", name="Take back")).to_be_visible()
        # Not while the hub looks for a relay.
        eventually("it is taken back", lambda: spare_product.api("DELETE", f"/message/{key}"), pause=0.5)
        expect(page.get_by_text(re.compile("^Taken back by"))).to_be_visible()


def test_failure_reason_and_retry(product, visit, pictures):
    subject = product.new_subject("Broken")
    with product.faults({"fault": "SENDER_ID_MISMATCH", "topic": subject.topic_key}):
        key = product.send(subject, "Refused")
        product.wait_for_state(key, "failed")
        page = visit(f"/portal/message/?key={key}")
        expect(page.get_by_text("may not send to this topic")).to_be_visible()
        page.get_by_text("Details for your operator").click()
        expect(page.locator("details code", has_text="SENDER_ID_MISMATCH")).to_be_visible()
        pictures(page, "message-failed")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Sent again by ann")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Accepted by FCM")).to_be_visible()


def test_corrected_failure_is_not_sent_again(product, visit):
    """The old pop-up would take the place of the correction's."""
    subject = product.new_subject("Half", distribution="Alert")
    with product.faults({"fault": "SENDER_ID_MISMATCH", "topic": subject.topic_key, "count": 1}):
        wrong = product.send(subject, "Exam on Friday", desc="On Friday.")
        product.wait_for_state(wrong, "failed")
    page = visit(f"/portal/message/?key={wrong}")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    product.send(subject, "Exam on Monday", desc="On Monday.", follows=wrong, correction=True)
    page.reload()
    expect(page.get_by_text("This text was corrected:")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)


def test_approval_by_a_second_person(product, visit, pictures):
    subject = product.new_subject("Held", distribution="Alert", approval=True)
    key = product.send(subject, "Needs two", account="ann")
    sender = visit(f"/portal/message/?key={key}", account="ann")
    expect(sender.get_by_text("waits until somebody other than ann approves it")).to_be_visible()
    expect(sender.get_by_role("button", name="Approve")).to_have_count(0)
    other = visit(f"/portal/message/?key={key}", account="ben")
    pictures(other, "message-held")
    # Wherever the others are, they see that something waits for them.
    expect(other.get_by_role("navigation").first.get_by_role("link", name="Messages", exact=True)).to_have_accessible_description(re.compile(r"\d+ held"))
    expect(other.get_by_role("button", name="Reject")).to_be_visible()
    other.get_by_role("button", name="Approve").click()
    other.get_by_role("dialog").get_by_role("button", name="Approve").click()
    expect(other.get_by_text("Approved by ben")).to_be_visible()
    # Its sender sees it at once.
    expect(sender.get_by_role("status").filter(has_text="Accepted by FCM")).to_be_visible()


def test_all_clear_and_follow_up(product, visit, pictures):
    subject = product.new_subject("Storms", distribution="Alert")
    key = product.send(subject, "Storm", account="ann")
    product.wait_for_state(key, "relayed")
    page = visit(f"/portal/message/?key={key}")
    page.get_by_role("link", name="All clear").click()
    visit.settle(page)
    expect(page.get_by_role("textbox", name="Title")).to_have_value("All clear: Storm")
    expect(page.get_by_role("combobox", name="Subject")).to_have_value(re.compile(subject.name))
    pictures(page, "send-follow-up")
    page.get_by_role("textbox", name="Notification text").fill("The storm has passed.")
    page.get_by_role("textbox", name="Message", exact=True).fill("Lectures begin again tomorrow.")
    page.get_by_role("button", name="Send alert…").click()
    page.get_by_role("dialog").get_by_role("button", name="Send alert", exact=True).click()
    page.get_by_role("link", name="Open message").click()
    expect(page.get_by_role("link", name="Storm", exact=True)).to_be_visible()
    page.goto(f"/portal/message/?key={key}")
    expect(page.get_by_role("link", name="All clear: Storm")).to_be_visible()


def test_send_again(product, visit):
    subject = product.new_subject("Again", distribution="Alert")
    key = product.send(subject, "Weekly siren test", "At noon.", desc="At noon", drill=True)
    page = visit(f"/portal/message/?key={key}")
    page.get_by_role("link", name="Send again").click()
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Weekly siren test")
    expect(page.get_by_role("switch", name="Drill")).to_be_checked()
    expect(page.get_by_role("combobox", name="Subject")).to_have_value(re.compile(subject.name))


def test_message_that_is_not_there(product, visit, pictures):
    visit.expect_errors(r"status of 40\d")
    page = visit("/portal/message/?key=6b0187feff0dafac2833f431")
    expect(page.get_by_role("heading", name="There is no such message")).to_be_visible()


def test_markup_in_a_message_is_text(product, visit, check):
    subject = product.new_subject("Markup", distribution="Alert")
    text = "<img src=x onerror=alert(1)>&amp;<script>alert(1)</script>"
    key = product.send(subject, text, text, desc=text)
    page = visit(f"/portal/message/?key={key}")
    expect(page.get_by_role("heading", level=1)).to_have_text(text)
    page.goto("/portal/messages/")
    expect(page.get_by_role("link", name=text)).to_be_visible()


def test_long_texts(product, visit, pictures):
    subject = product.new_subject("A subject with a name that is much longer than any designer has expected it to be", distribution="Alert")
    key = product.send(subject, "W" * 300, "wordwithoutspaces" * 80, desc="D" * 300)
    product.wait_for_state(key, "relayed")
    page = visit(f"/portal/message/?key={key}")
    pictures(page, "message-long")
    page.goto(f"/portal/messages/?subject={subject.document['id']}")
    visit.settle(page)
    pictures(page, "messages-long")


def test_own_message_of_a_deleted_subject_can_be_taken_back(product, visit):
    subject = product.new_subject("Deleted")
    key = product.send(subject, "Still planned", account="ann", send_at=int(time.time() * 1000) + 3_600_000)
    product.api("DELETE", f"/subject/{subject.channel['_id']}/{subject.area['id']}/{subject.document['id']}")
    page = visit("/portal/messages/?view=scheduled", account="ann")
    page.get_by_role("link", name="Still planned").click()
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".message-state")).to_have_text("Taken back")
    # What did not go out is not said to wait.
    expect(page.get_by_text("The message in the app did not go out")).to_be_visible()
    expect(page.get_by_role("link", name="Follow up")).to_have_count(0)


def test_scheduled_message_that_waits_for_approval_says_its_time(product, visit):
    subject = product.new_subject("Held", approval=True)
    at = int(time.time() * 1000) + 86_400_000
    key = product.send(subject, "Later", account="ann", send_at=at)
    page = visit(f"/portal/message/?key={key}", account="ben")
    expect(page.get_by_text(re.compile(r"It is scheduled for \w+"))).to_be_visible()
    expect(page.get_by_text(re.compile(r"It goes out on .*, if it is approved before"))).to_be_visible()
