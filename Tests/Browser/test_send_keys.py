"""The page for messages by keys alone."""
import re

import pytest
from playwright.sync_api import expect

from test_send import messages_of, title, write


def subject_field(page):
    return page.get_by_role("combobox", name="Subject")


@pytest.mark.at_length
def test_typing_begins_in_the_subject_and_tab_accepts(product, visit):
    subject = product.new_subject("Campus keys")
    page = visit("/portal/send/")
    expect(subject_field(page)).to_be_focused()
    page.keyboard.type("campus no such subject")
    expect(subject_field(page)).to_have_value("campus no such subject")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Choose the subject whose subscribers get the message.")).to_be_visible()
    subject_field(page).fill(subject.name)
    expect(page.get_by_role("listbox", name="Subject").get_by_role("option")).to_have_count(1)
    page.keyboard.press("Tab")
    expect(subject_field(page)).to_have_value(re.compile(subject.name))
    expect(title(page)).to_be_focused()
    expect(page.get_by_text("Choose the subject whose subscribers get the message.")).to_have_count(0)


def test_an_alert_is_written_with_few_keys(product, visit):
    """Besides its texts: one key for the subject, two to move on, one to send, and one for the question."""
    subject = product.new_subject("Storms", distribution="Alert")
    page = visit("/portal/send/")
    for words, key in ((subject.name, "Enter"), ("Campus closed", "Enter"), ("", "Enter"), ("Stay at home.", "Control+Enter")):
        page.keyboard.type(words)
        if words == subject.name:
            expect(page.get_by_role("listbox", name="Subject").get_by_role("option")).to_have_count(1)
        page.keyboard.press(key)
    expect(page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    [message] = messages_of(product, subject)
    assert (message["title"], message["desc"], message["message"]) == ("Campus closed", "Stay at home.", "Stay at home.")


def test_a_chosen_subject_leads_to_the_title(product, visit):
    """Also a recent one, a pressed one and one of Browse: nothing is passed key by key."""
    subject = product.new_subject("Leads on")
    page = visit("/portal/send/")
    subject_field(page).fill(subject.name)
    page.get_by_role("listbox", name="Subject").get_by_role("option").filter(has_text=subject.name).click()
    expect(title(page)).to_be_focused()
    page.get_by_role("button", name="Browse…").click()
    for name in (subject.channel["name"], subject.area["name"], subject.name):
        page.get_by_role("dialog").get_by_role("button", name=name).press("Enter")
    expect(title(page)).to_be_focused()
    page.evaluate("(key) => { localStorage.setItem('msi.ann.recent', JSON.stringify([key])); localStorage.removeItem('msi.ann.draft'); }", subject.topic_key)
    page.reload()
    page.get_by_role("button", name=subject.name).press("Enter")
    expect(title(page)).to_be_focused()


def test_question_and_seconds_to_undo_by_keys(product, visit):
    subject = product.new_subject("Storms", distribution="Alert")
    page = visit(f"/portal/send/?subject={subject.topic_key}")
    write(page, desc="Please stay at home.")
    page.keyboard.press("Control+Enter")
    question = page.get_by_role("dialog")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Not sent.")).to_be_visible()
    # Nothing is sent from the button that discards.
    discard = page.get_by_role("button", name="Discard")
    discard.press("Control+Enter")
    expect(question).to_have_count(0)
    expect(title(page)).to_have_value("Campus closed")
    title(page).press("Control+Enter")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Control+Enter")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    # The page with the seconds stays.
    page.keyboard.press("c")
    page.keyboard.press("/")
    expect(undo).to_be_visible()
    assert "#sent=" in page.url
    undo.press("Enter")
    expect(title(page)).to_have_value("Campus closed")
    [message] = messages_of(product, subject)
    assert message["relay"]["state"] == "recalled"


@pytest.mark.at_length
def test_template_by_keys(product, visit):
    subject = product.new_subject("Storms", distribution="Alert")
    name = product.unique("Storm")
    product.api("POST", "/template", {
        "name": name, "title": "Campus closed", "desc": "", "message": "Closed until {{until}}.", "urgent": True, "topic_key": subject.topic_key})
    page = visit("/portal/send/")
    page.get_by_role("button", name="All templates…").click()
    page.get_by_role("dialog").get_by_role("button", name=name).click()
    card = page.get_by_role("region", name="Template")
    expect(card).to_contain_text("Urgent")
    expect(card).to_contain_text("Closed until until.")
    expect(page.get_by_text("Goes out at once")).to_be_visible()
    page.get_by_label("until").fill("Tuesday")
    page.get_by_label("until").press("Enter")
    expect(page.get_by_role("button", name="Send alert…")).to_be_focused()
    page.get_by_role("button", name="Remove").press("Enter")
    expect(page.locator(".template-part .chip").first).to_be_focused()
    expect(page.get_by_text("Goes out at once")).to_be_hidden()
