"""What stands between a slip of the hand and many phones: the question before sending, the keys that send, and the bar that stays in sight."""

import re

import pytest
from browsing.schedule import as_typed, next_march
from playwright.sync_api import expect

from test_send import at_once, messages_of, options, sent, title, write


def reach(phones, sure="reported"):
    """The hub's answer about the reach of every subject."""
    answer = {"topic_key": "x", **({"phones": phones} if phones else {}), "sure": sure, "installations": 2_031, "running": 120, "ask_above": 1_000}
    return {"**/reach?*": lambda route: route.fulfill(json=answer)}


def below_subject(page):
    return page.locator("#subject-below")


def test_reach_is_said_and_many_phones_are_asked_about(product, visit, pictures):
    subject = product.new_subject("Cafeteria")
    page = visit(f"/portal/send/?subject={subject.topic_key}", routes=reach(1_001))
    expect(below_subject(page)).to_have_text("At least 1,001 phones, which have received an earlier message.")
    write(page)
    page.get_by_role("button", name="Send…", exact=True).click()
    question = page.get_by_role("dialog", name="Send this message now?")
    path = (subject.channel["name"], subject.area["name"], subject.name)
    for words in (*path, "At least 1,001 phones", "Campus closed", "no pop-up", "It goes out in 10 seconds."):
        expect(question).to_contain_text(words)
    pictures(page, "send-confirm-information", right_to_left=True)
    question.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def test_the_number_of_apps_is_said_to_be_that(product, visit):
    subject = product.new_subject("Fees", level="Forced")
    page = visit(f"/portal/send/?subject={subject.topic_key}", routes=reach(2_031, "estimated"))
    expect(below_subject(page)).to_have_text("About 2,031 phones: so many apps have reported within nine days. An app that was installed again may count twice.")


@pytest.mark.at_length
def test_an_unknown_reach_is_no_alarm(product, visit):
    subject = product.new_subject("Fees", level="Forced")
    page = visit(f"/portal/send/?subject={subject.topic_key}", routes=reach(None, "unknown"))
    write(page)
    page.get_by_role("button", name="Send…", exact=True).click()
    words = page.get_by_role("dialog").get_by_text("The hub does not know how many phones this subject reaches.")
    expect(words).to_have_css("font-weight", "400")


def test_few_phones_are_not_asked_about(product, visit):
    subject = product.new_subject("Chess")
    page = visit(f"/portal/send/?subject={subject.topic_key}", routes=reach(1_000, "estimated"))
    expect(below_subject(page)).to_have_text("About 1,000 phones, as an estimate.")
    write(page)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def test_required_information_asks(product, visit):
    subject = product.new_subject("Fees", level="Forced")
    page = visit(f"/portal/send/?subject={subject.topic_key}")
    write(page)
    page.get_by_role("button", name="Send…", exact=True).click()
    question = page.get_by_role("dialog", name="Send this message now?")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(question).to_have_count(0)
    assert messages_of(product, subject) == []


def test_sending_does_not_wait_for_the_reach(product, visit):
    """A hub that cannot tell the reach is not an obstacle."""
    visit.expect_errors(r"status of 503")
    subject = product.new_subject("Unknown")
    page = visit(f"/portal/send/?subject={subject.topic_key}", routes={"**/reach?*": lambda route: route.fulfill(status=503, json={})})
    write(page)
    expect(below_subject(page)).to_be_empty()
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def test_enter_moves_on_and_control_enter_sends(product, visit):
    subject = product.new_subject("Keys")
    page = visit(f"/portal/send/?subject={subject.topic_key}")
    write(page)
    title(page).press("Enter")
    expect(page.get_by_role("textbox", name="Message", exact=True)).to_be_focused()
    options(page)
    page.get_by_role("textbox", name="Link").press("Enter")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    assert messages_of(product, subject) == []
    # From anywhere on the page.
    subject_field = page.get_by_role("combobox", name="Subject")
    other = product.new_subject("Keys of another")
    page.reload()
    subject_field.fill(other.name)
    choices = page.get_by_role("listbox", name="Subject").get_by_role("option")
    expect(choices).to_have_count(1)
    # It chooses from the open list, and sends only when that was seen.
    subject_field.press("Control+Enter")
    expect(choices).to_have_count(0)
    expect(subject_field).to_have_value(re.compile(other.name))
    assert messages_of(product, other) == []
    subject_field.fill(subject.name)
    subject_field.press("Enter")
    page.get_by_role("tab", name="Android").press("Control+Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    assert len(messages_of(product, subject)) == 1


def test_send_now_instead(product, visit):
    """The button sends. If the question is answered with no, the message keeps its time."""
    subject = product.new_subject("Storms", distribution="Alert")
    page = visit(f"/portal/send/?subject={subject.topic_key}")
    write(page, desc="Please stay at home.")
    page.get_by_role("button", name="Schedule…", exact=True).click()
    time = as_typed(next_march())
    page.get_by_label("Goes out at").fill(time)
    page.get_by_role("button", name="Send now instead").click()
    question = page.get_by_role("dialog", name="Send this alert now?")
    question.get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("Goes out at")).to_have_value(time)
    at_once(page)
    page.get_by_role("button", name="Send now instead").click()
    expect(question).to_be_visible()
    # The keys are for the dialog, and the button behind it waits.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+Enter")
    page.get_by_text("Schedule…", exact=True).evaluate("(button) => button.click()")
    expect(question).to_have_count(1)
    question.get_by_role("button", name="Send alert").click()
    expect(sent(page)).to_be_visible()
    [message] = messages_of(product, subject)
    assert "send_at" not in message


def test_options_are_folded_and_say_what_is_set(product, visit, pictures):
    subject = product.new_subject("Options")
    page = visit(f"/portal/send/?subject={subject.topic_key}")
    expect(page.get_by_text("Now · delivered within 4 weeks")).to_be_visible()
    expect(page.get_by_label("Deliver within")).to_be_hidden()
    write(page)
    options(page)
    page.get_by_role("switch", name="Drill").check()
    link = page.get_by_role("textbox", name="Link")
    link.fill("http://example.org/storm")
    options(page)
    page.get_by_role("button", name="Send…", exact=True).click()
    # What is wrong is unfolded.
    expect(link).to_be_focused()
    expect(page.get_by_text("Write https:// with a host")).to_be_visible()
    pictures(page, "send-link-wrong", at_length=True)
    link.fill("https://example.org/storm?of=2026")
    expect(page.get_by_role("tabpanel").get_by_text("Open example.org", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile("with a link · Drill$"))).to_be_visible()
    page.get_by_role("button", name="Send…", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    [message] = messages_of(product, subject)
    assert message["options"]["link"] == "https://example.org/storm?of=2026"


def test_the_bar_that_sends_stays_in_sight(product, visit):
    subject = product.new_subject("Storms", distribution="Alert")
    page = visit(f"/portal/send/?subject={subject.topic_key}")
    write(page)
    button = page.get_by_role("button", name="Send alert…")
    for size in ({"width": 1280, "height": 800}, {"width": 390, "height": 664}, {"width": 320, "height": 568}):
        page.set_viewport_size(size)
        for end in ("0", "document.documentElement.scrollHeight"):
            page.evaluate(f"scrollTo(0, {end})")
            expect(button).to_be_in_viewport(ratio=1)
            covered = button.evaluate("(one) => { const { left, top, width, height } = one.getBoundingClientRect(); return !one.contains(document.elementFromPoint(left + width / 2, top + height - 2)); }")
            assert not covered, size


def test_a_template_brings_its_subject(product, visit):
    """From the sign-in to an Alert it is three actions and one field."""
    subject = product.new_subject("Storms", distribution="Alert", level="Forced")
    name = product.unique("Storm")
    product.api("POST", "/template", {
        "name": name, "title": "Campus closed", "desc": "Until {{until}}", "message": "Closed until {{until}}.", "urgent": True, "topic_key": subject.topic_key})
    page = visit("/portal/send/")
    page.get_by_role("button", name="All templates…").click()
    page.get_by_role("dialog").get_by_role("button", name=name).click()
    expect(page.get_by_role("combobox", name="Subject")).to_have_value(re.compile(subject.name))
    expect(page.get_by_label("until")).to_be_focused()
    page.keyboard.type("Tuesday")
    page.keyboard.press("Control+Enter")
    question = page.get_by_role("dialog", name="Send this alert now?")
    expect(question).to_contain_text("Until Tuesday")
    question.get_by_role("button", name="Send alert").click()
    expect(sent(page)).to_be_visible()
    assert messages_of(product, subject)[0]["message"] == "Closed until Tuesday."


@pytest.mark.at_length
def test_the_subject_of_a_template_is_gone(product, visit):
    subject = product.new_subject("Gone")
    template = product.api("POST", "/template", {"name": product.unique("Gone"), "title": "t", "desc": "", "message": "m", "topic_key": subject.topic_key})
    product.api("DELETE", f"/subject/{subject.path}")
    page = visit(f"/portal/send/?template={template['_id']}")
    expect(below_subject(page)).to_have_text("The subject of this template was deleted, or is closed to you. Choose another one.")
    expect(page.get_by_role("combobox", name="Subject")).to_be_focused()
