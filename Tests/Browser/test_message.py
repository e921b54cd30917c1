"""The page of one message: its way to the phones, and what can be done about it."""

import json
import re
import time

import pytest
from harness.waiting import eventually
from playwright.sync_api import expect


def unfold(page, *shown):
    """Unfolds the details of a step. A page that reads the message again, as when its events begin, folds them again."""

    def is_unfolded():
        if not shown[0].is_visible():
            page.get_by_text("Details for your operator").first.click()
        return all(each.is_visible() for each in shown)

    eventually("the details", is_unfolded)


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
    expect(page.get_by_role("heading", name="Sent", exact=True)).to_be_visible()
    page.goto(page.url.split("/portal/")[0] + f"/portal/message/?key={wrong}")
    expect(page.get_by_text("This text was corrected:")).to_be_visible()
    pictures(page, "message-corrected", at_length=True)
    page.get_by_role("link", name="Exam on Monday").first.click()
    expect(page.get_by_text("Corrected message")).to_be_visible()
    pictures(page, "message-correction", at_length=True)
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
    expect(page.get_by_text("The pop-up went out")).to_be_visible()
    expect(page.get_by_text("The message in the app went out")).to_be_visible()
    expect(page.locator(".message-state")).to_have_text("SentGoogle has it and brings it to the phones.")
    # FCM's words are folded away.
    expect(page.get_by_text("FCM").and_(page.locator(":visible"))).to_have_count(0)
    unfold(page, page.get_by_text(re.compile(r"projects/.+/messages/")).first)
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
    pictures(page, "message-scheduled", at_length=True)
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_text("Taken back by ann")).to_be_visible()
    assert product.message(key)["relay"]["state"] == "recalled"


@pytest.mark.at_length
def test_an_alert_that_phones_can_fetch_can_be_taken_back(spare_product, visit):
    """No relay has taken it, and no push to browsers has gone out."""
    subject = spare_product.new_subject("Storms", distribution="Alert")
    with spare_product.away("msi-fcm-relay", "msi-webpush"):
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
        expect(page.get_by_text("Google does not take it as it is.")).to_be_visible()
        unfold(page, page.get_by_text("may not send to this topic"), page.locator("details code", has_text="SENDER_ID_MISMATCH"))
        pictures(page, "message-failed")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Sent again by ann")).to_be_visible()
    expect(page.locator(".message-state")).to_contain_text("Sent")


@pytest.mark.at_length
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
    expect(other.get_by_role("button", name="Reject…")).to_be_visible()
    other.get_by_role("button", name="Approve").click()
    other.get_by_role("dialog").get_by_role("button", name="Approve").click()
    expect(other.get_by_text("Approved by ben")).to_be_visible()
    # Its sender sees it at once.
    expect(sender.locator(".message-state")).to_contain_text("Sent")


def test_all_clear_and_follow_up(product, visit, pictures):
    subject = product.new_subject("Storms", distribution="Alert")
    key = product.send(subject, "Storm", account="ann")
    product.wait_for_state(key, "relayed")
    page = visit(f"/portal/message/?key={key}")
    page.get_by_role("link", name="All clear").click()
    visit.settle(page)
    expect(page.get_by_role("textbox", name="Title")).to_have_value("All clear: Storm")
    expect(page.get_by_role("combobox", name="Subject")).to_have_value(re.compile(subject.name))
    pictures(page, "send-follow-up", at_length=True)
    page.get_by_role("textbox", name="Notification text").fill("The storm has passed.")
    page.get_by_role("textbox", name="Message", exact=True).fill("Lectures begin again tomorrow.")
    page.get_by_role("button", name="Send alert…").click()
    page.get_by_role("dialog").get_by_role("button", name="Send alert", exact=True).click()
    page.get_by_role("link", name="Open message").click()
    expect(page.get_by_role("link", name="Storm", exact=True)).to_be_visible()
    page.goto(f"/portal/message/?key={key}")
    expect(page.get_by_role("link", name="All clear: Storm")).to_be_visible()


def in_days(days):
    """A time that a field can show: it has no seconds."""
    return int(time.time() / 60 + days * 1_440) * 60_000


def test_edit_a_scheduled_message(product, visit, pictures):
    subject = product.new_subject("Later", distribution="Alert")
    # The field has no seconds, and they stay.
    at = in_days(30) + 31_000
    key = product.send(subject, "Exam on Friday", "In room A 1.", desc="In room A 1.", send_at=at, ttl=7_200, account="ann", options={"analytics_label": "exams"})
    page = visit(f"/portal/message/?key={key}")
    page.get_by_role("button", name="Edit…").click()
    expect(page.get_by_role("heading", name="Edit message")).to_be_visible()
    title = page.get_by_role("textbox", name="Title")
    expect(title).to_have_value("Exam on Friday")
    expect(page.get_by_role("combobox", name="Subject")).to_have_count(0)
    # The pop-up begins like the message, and that was not typed.
    expect(page.get_by_role("textbox", name="Notification text")).to_have_value("")
    # The key finds the first field that is shown.
    page.get_by_role("heading", level=1).focus()
    page.keyboard.press("c")
    expect(title).to_be_focused()
    pictures(page, "send-edit", right_to_left=True)
    title.fill("Exam on Monday")
    # A closed tab loses nothing.
    page.reload()
    expect(title).to_have_value("Exam on Monday")
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("dialog", name="Discard your changes?").get_by_role("button", name="Cancel").click()
    page.get_by_role("textbox", name="Message", exact=True).fill("In room B 2.")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_role("heading", level=1, name="Exam on Monday")).to_be_visible()
    expect(page.get_by_text("Edited by ann")).to_be_visible()
    message = product.message(key)
    assert (message["title"], message["desc"], message["message"], message["send_at"], message["ttl"], message["options"]) == (
        "Exam on Monday", "In room B 2.", "In room B 2.", at, 7_200, {"analytics_label": "exams"})
    product.api("DELETE", f"/message/{key}")
    # What was taken back cannot be edited.
    page.goto(f"/portal/send/?edit={key}")
    expect(page.get_by_text("It is too late to edit it")).to_be_visible()


def test_two_people_edit_a_message(product, visit):
    subject = product.new_subject("Later")
    key = product.send(subject, "Exam on Friday", send_at=in_days(30), account="ann")
    visit.expect_errors(r"status of 409")
    page = visit(f"/portal/send/?edit={key}")
    page.get_by_role("textbox", name="Title").fill("Exam on Monday")
    product.api("PUT", f"/message/{key}", {
        "title": "Exam on Sunday", "desc": "", "message": "A text.", "topic_key": subject.topic_key, "distribution": "Information", "send_at": in_days(30)}, account="ben")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_text("Somebody else has edited it since you opened it.")).to_be_visible()
    assert product.message(key)["title"] == "Exam on Sunday"
    page.get_by_role("button", name="Save mine").click()
    expect(page.get_by_role("heading", level=1, name="Exam on Monday")).to_be_visible()
    product.api("DELETE", f"/message/{key}")


def test_move_a_scheduled_message(product, visit, pictures):
    subject = product.new_subject("Later")
    key = product.send(subject, "Exam on Friday", send_at=in_days(30), account="ann")
    page = visit(f"/portal/message/?key={key}")
    page.get_by_role("button", name="Move…").click()
    dialog = page.get_by_role("dialog", name="When is it to go out?")
    expect(dialog.get_by_label("Time")).to_be_focused()
    pictures(page, "message-move", right_to_left=True)
    dialog.get_by_label("Time").fill("2020-01-01T08:00")
    dialog.get_by_role("button", name="Move").click()
    expect(dialog.get_by_text("Choose a time that is still to come.")).to_be_visible()
    later = in_days(60)
    dialog.get_by_label("Time").fill(page.evaluate("(at) => new Date(at - new Date(at).getTimezoneOffset() * 60000).toISOString().slice(0, 16)", later))
    dialog.get_by_role("button", name="Move").click()
    expect(page.get_by_text("It goes out at its new time.")).to_be_visible()
    assert product.message(key)["send_at"] == later
    product.api("DELETE", f"/message/{key}")


def test_links_can_be_tapped(product, visit, pictures):
    subject = product.new_subject("Links", distribution="Alert")
    text = "See https://uni.example/a_(b). Call +49 (0)30 123-4567, or write to help@uni.example!\njavascript:alert(1) http://uni.example https://xn--pple-43d.example/ https://\u0430pple.example/"
    key = product.send(subject, "Where to go", text, desc="www.uni.example")
    page = visit(f"/portal/message/?key={key}")
    links = page.locator(".message-text a")
    assert links.evaluate_all("(all) => all.map((one) => [one.textContent, one.getAttribute('href'), one.rel])") == [
        ["www.uni.example", "https://www.uni.example/", "noopener noreferrer"],
        ["https://uni.example/a_(b)", "https://uni.example/a_(b)", "noopener noreferrer"],
        ["+49 (0)30 123-4567", "tel:+49301234567", ""],
        ["help@uni.example", "mailto:help@uni.example", ""],
        ["https://xn--pple-43d.example/", "https://xn--pple-43d.example/", "noopener noreferrer"],
        ["https://xn--pple-43d.example/", "https://xn--pple-43d.example/", "noopener noreferrer"],
    ]
    pictures(page, "message-links", right_to_left=True)


LINKIFIED = """async (texts) => {
    const module = new URL("lib/linkify.js", document.querySelector("script[type=module]").src.replace(/[^/]+[/][^/]+$/, ""));
    const { linkified } = await import(module);
    return texts.map((text) => linkified(text).map((piece) => (typeof piece === "string" ? piece : `[${piece.textContent}|${piece.getAttribute("href")}]`)).join(""));
}"""


def test_what_becomes_a_link(product, visit):
    expected = {
        "(https://uni.example/x), “https://uni.example/y”.": "([https://uni.example/x|https://uni.example/x]), “[https://uni.example/y|https://uni.example/y]”.",
        "https://good.example@evil.example https://": "https://good.example@evil.example https://",
        "data:text/html,x ftp://uni.example uni.example": "data:text/html,x ftp://uni.example uni.example",
        "https://b\u00fccher.example": "[https://b\u00fccher.example|https://xn--bcher-kva.example/]",
        "https://\u0430\u0440\u0440\u04cf\u0435.example": "[https://xn--80ak6aa92e.example|https://xn--80ak6aa92e.example/]",
        "زوروا https://uni.example/صفحة؟": "زوروا [https://uni.example/صفحة|https://uni.example/%D8%B5%D9%81%D8%AD%D8%A9]؟",
        "اتصل على +٩٦٦ ٥٠ ١٢٣ ٤٥٦٧، من فضلك": "اتصل على [+٩٦٦ ٥٠ ١٢٣ ٤٥٦٧|tel:+966501234567]، من فضلك",
        "(030 1234567) or (555) 123-4567": "([030 1234567|tel:0301234567]) or [(555) 123-4567|tel:5551234567]",
        "on 01.02.2025, 01-02-2025, 0900-1130, ISBN 978-3-16-148410-0, 0123456": "on 01.02.2025, 01-02-2025, 0900-1130, ISBN 978-3-16-148410-0, 0123456",
        "a@b, info@ex\u0430mple.example": "a@b, info@ex\u0430mple.example",
    }
    page = visit("/portal/messages/")
    assert page.evaluate(LINKIFIED, list(expected)) == list(expected.values())


def test_main_links(product, visit):
    subject = product.new_subject("Links")
    page = visit("/portal/messages/")
    for link, shown in (
        ("https://uni.example/exams", "https://uni.example/exams"), ("tel:+49301234567", "+49301234567"),
        ("mailto:help@uni.example?subject=Exams", "help@uni.example?subject=Exams"),
    ):
        key = product.send(subject, "Where to go", options={"link": link})
        page.goto(f"/portal/message/?key={key}")
        visit.settle(page)
        expect(page.get_by_role("link", name=shown, exact=True)).to_have_attribute("href", link)


def test_send_again_keeps_the_time(product, visit):
    subject = product.new_subject("Again")
    at = in_days(30)
    key = product.send(subject, "Planned", send_at=at, account="ann")
    page = visit(f"/portal/message/?key={key}")
    page.get_by_role("link", name="Send again").click()
    visit.settle(page)
    expect(page.get_by_label("Goes out at")).to_have_value(page.evaluate("(at) => new Date(at - new Date(at).getTimezoneOffset() * 60000).toISOString().slice(0, 16)", at))
    product.api("DELETE", f"/message/{key}")


def test_send_again(product, visit):
    subject = product.new_subject("Again", distribution="Alert")
    key = product.send(subject, "Weekly siren test", "At noon.", desc="At noon", drill=True)
    page = visit(f"/portal/message/?key={key}")
    page.get_by_role("link", name="Send again").click()
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Weekly siren test")
    page.get_by_text("Options", exact=True).click()
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


@pytest.mark.at_length
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
    expect(page.get_by_role("heading", level=1, name="Still planned")).to_be_visible()
    expect(page.get_by_role("button", name="Take back…")).to_be_visible()
    expect(page.get_by_role("button", name="Edit…")).to_have_count(0)
    page.get_by_role("button", name="Take back…").click()
    expect(page.get_by_role("dialog")).to_contain_text("This cannot be undone")
    page.get_by_role("dialog").get_by_role("button", name="Take back").click()
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


@pytest.mark.at_length
def test_a_text_begins_at_its_own_side(product, visit):
    """An English text in an Arabic page, where its place is wider than a text may be."""
    key = product.send(product.new_subject("Texts"), "Campus closed", "All lectures are cancelled. " * 20)
    page = visit(f"/portal/message/?key={key}", language="ar")
    page.set_viewport_size({"width": 1580, "height": 900})
    text = page.locator(".message-text .body")
    expect(text).to_be_visible()
    # What is free at both sides of the text in its panel, from which the padding is taken.
    # The page may replace the text in between, so it is looked up in the same step.
    left, right = page.evaluate("""() => {
        const element = document.querySelector(".message-text .body");
        const [own, panel] = [element, element.closest(".panel")].map((each) => each.getBoundingClientRect());
        const padding = parseFloat(getComputedStyle(element.closest(".panel")).paddingLeft);
        return [own.left - panel.left - padding, panel.right - own.right - padding];
    }""")
    assert left < 3 and right > 50, (left, right)


def test_a_wide_window_has_room_for_what_is_known(product, visit, check):
    key = product.send(product.new_subject("Wide"), "Campus closed", "All lectures are cancelled. " * 20)
    page = visit(f"/portal/message/?key={key}")
    page.set_viewport_size({"width": 1920, "height": 1080})
    expect(page.locator(".timeline")).to_be_visible()
    boxes = [page.locator(part).bounding_box() for part in (".message-text", ".facts", ".timeline")]
    assert [box["x"] for box in boxes] == sorted(box["x"] for box in boxes) and abs(boxes[0]["y"] - boxes[1]["y"]) < 3
    assert page.locator(".message-text .body").bounding_box()["width"] < 700
    check(page)
