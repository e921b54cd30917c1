"""The page that edits templates, and cannot send."""

import pytest
from playwright.sync_api import expect


def fill(page, name, title="Moved to {{room}}", message="The lecture is in {{room}} at {{time}}."):
    editor = page.locator(".template-editor")
    editor.get_by_role("textbox", name="Name").fill(name)
    editor.get_by_role("textbox", name="Title").fill(title)
    editor.get_by_role("textbox", name="Message").fill(message)


def test_add_edit_delete_template(product, visit, pictures):
    name = product.unique("Room change")
    page = visit("/portal/templates/")
    page.get_by_role("button", name="Add template").click()
    fill(page, name)
    expect(page.get_by_text("2 blanks to fill in: room, time")).to_be_visible()
    pictures(page, "templates-editor", right_to_left=False)
    page.get_by_role("button", name="Add template").click()
    card = page.get_by_role("article", name=name)
    expect(card).to_be_visible()
    expect(card).to_be_focused()
    pictures(page, "templates", right_to_left=True)
    card.get_by_role("button", name="Edit").click()
    page.locator(".template-editor").get_by_role("textbox", name="Title").fill("Now in {{room}}")
    page.get_by_role("button", name="Save").click()
    expect(card).to_contain_text("Now in")
    card.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_contain_text(f"Delete {name}?")
    pictures(page, "templates-delete", at_length=True)
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(card).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(card).to_be_visible()
    expect(page.get_by_role("button", name="Send", exact=True)).to_have_count(0)


def test_the_subject_of_a_template(product, visit, pictures):
    """A template names a subject, which can be removed and comes back with Undo after a deletion."""
    subject = product.new_subject("Storms", distribution="Alert")
    name = product.unique("Storm")
    page = visit("/portal/templates/")
    page.get_by_role("button", name="Add template").click()
    fill(page, name)
    box = page.get_by_role("combobox", name="Subject")
    box.fill(subject.name)
    box.press("Enter")
    pictures(page, "templates-subject", right_to_left=True)
    page.get_by_role("button", name="Add template").click()
    card = page.get_by_role("article", name=name)
    expect(card).to_contain_text(subject.name)

    def stored():
        [template] = [template for template in product.api("GET", "/template?limit=200")["items"] if template["name"] == name]
        return template.get("topic_key")

    assert stored() == subject.topic_key
    card.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").click()
    expect(card).to_contain_text(subject.name)
    card.get_by_role("button", name="Edit").click()
    page.get_by_role("button", name="Remove the subject").click()
    page.get_by_role("button", name="Save").click()
    expect(card).not_to_contain_text(subject.name)
    assert stored() is None


def test_template_needs_text_and_a_free_name(product, visit):
    visit.expect_errors(r"status of 409")
    name = product.unique("Taken")
    product.api("POST", "/template", {"name": name, "title": "t", "desc": "", "message": "m"})
    page = visit("/portal/templates/")
    page.get_by_role("button", name="Add template").click()
    page.get_by_role("button", name="Add template").click()
    expect(page.get_by_text("Please fill this in.")).to_be_visible()
    fill(page, name)
    page.get_by_role("button", name="Add template").click()
    expect(page.get_by_text("Another template has this name.")).to_be_visible()


def test_urgent_templates_are_the_administrators(product, visit):
    name = product.unique("Evacuation")
    product.api("POST", "/template", {"name": name, "title": "t", "desc": "d", "message": "m", "urgent": True})
    page = visit("/portal/templates/", account="ann")
    expect(page.get_by_role("article", name=name)).to_contain_text("Only administrators change urgent templates.")
    expect(page.get_by_role("article", name=name)).to_contain_text("prohibit emergency use (Section 4. a. 7)")
    expect(page.get_by_role("article", name=name)).to_contain_text("Second ways that are set up here: none.")
    page = visit("/portal/templates/", account="admin")
    page.get_by_role("article", name=name).get_by_role("button", name="Edit").click()
    expect(page.get_by_role("checkbox", name="Urgent")).to_be_checked()


@pytest.mark.at_length
def test_two_people_edit_a_template(product, visit, pictures):
    visit.expect_errors(r"status of 412")
    name = product.unique("Both")
    template = product.api("POST", "/template", {"name": name, "title": "t", "desc": "", "message": "m"})
    page = visit("/portal/templates/")
    page.get_by_role("article", name=name).get_by_role("button", name="Edit").click()
    editor = page.locator(".template-editor")
    editor.get_by_role("textbox", name="Title").fill("Mine")
    product.api("PUT", f"/template/{template['_id']}", {"name": name, "title": "Theirs", "desc": "", "message": "m"}, account="ben")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="Theirs, stored now")).to_be_visible()
    pictures(page, "templates-conflict")
    page.get_by_role("button", name="Save mine").click()
    expect(page.get_by_role("article", name=name)).to_contain_text("Mine")
    assert product.api("GET", f"/template/{template['_id']}")["title"] == "Mine"


def test_typed_template_survives_a_closed_tab(product, visit):
    name = product.unique("Half")
    page = visit("/portal/templates/")
    page.get_by_role("button", name="Add template").click()
    fill(page, name)
    other = visit.tab(page, "/portal/templates/")
    page.close()
    expect(other.locator(".template-editor").get_by_role("textbox", name="Name")).to_have_value(name)


def test_no_templates_yet(empty_product, visit, pictures):
    page = visit("/portal/templates/", account="admin")
    pictures(page, "templates-empty", right_to_left=True)
    page.get_by_role("button", name="Write the first template").click()
    expect(page.locator(".template-editor").get_by_role("textbox", name="Name")).to_be_focused()


def test_use_a_template_and_wrong_blanks(product, visit):
    page = visit("/portal/templates/", account="admin")
    page.get_by_role("button", name="Add template").click()
    name = product.unique("Room")
    page.get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("textbox", name="Title").fill("Moved to {{new room}}")
    page.get_by_role("textbox", name="Message").fill("Now in {{room}}.")
    page.get_by_role("button", name="Add template").click()
    expect(page.get_by_text("{{new room}} is no blank.")).to_be_visible()
    page.get_by_role("textbox", name="Title").fill("Moved to {{room}}")
    page.get_by_role("button", name="Add template").click()
    page.get_by_role("link", name=f"Use… {name}").click()
    expect(page.get_by_role("region", name="Template")).to_contain_text(name)
    page.get_by_label("room").fill("A 17")
    expect(page.get_by_role("tabpanel")).to_contain_text("Moved to A 17")
