"""The portal where FCM is switched off (`MSI_FCM=off`): nothing speaks of FCM or Google, and a message says to how many browsers it goes."""

import re

import pytest
from browsing.visits import SERVICE_AWAY
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def product(product_without_fcm):
    return product_without_fcm


@pytest.fixture
def storms(product):
    subject = product.new_subject("Storms", distribution="Alert", level="Forced")
    yield subject
    # Otherwise the apps of other tests would fetch its messages.
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


def says_nothing_of_fcm(page):
    expect(page.get_by_text(re.compile("FCM|Google|Firebase")).and_(page.locator(":visible"))).to_have_count(0)


def test_the_overview(product, visit):
    page = visit("/portal/overview/")
    row = page.get_by_role("listitem").filter(has_text="Pushes to browsers")
    expect(row).to_contain_text("Works")
    expect(page.get_by_role("listitem").filter(has_text="The way to")).to_have_count(0)
    says_nothing_of_fcm(page)


def test_a_message(product, visit, storms):
    key = product.send(storms, "Campus closed", desc="Please stay at home")
    product.wait_for_state(key, "relayed")
    page = visit(f"/portal/message/?key={key}")
    expect(page.get_by_text("The push to browsers went out")).to_be_visible()
    expect(page.get_by_text("To 0 browsers that have subscribed.")).to_be_visible()
    expect(page.locator(".message-state")).to_have_text("SentIt is on its way to the subscribed browsers, and apps that run fetch it.")
    expect(page.get_by_text(re.compile("The pop-up|The message in the app"))).to_have_count(0)
    says_nothing_of_fcm(page)


def test_a_scheduled_message_says_when_it_goes_out(product, visit):
    """And not when it expires."""
    subject = product.new_subject("Later", distribution="Alert")
    key = product.send(subject, "Soon", delay=50)
    page = visit(f"/portal/message/?key={key}")
    expect(page.get_by_text("to undo")).to_be_visible()
    says_nothing_of_fcm(page)


def test_an_urgent_template(product, visit):
    product.api("POST", "/template", {"name": "Campus closed", "title": "t", "desc": "d", "message": "m", "urgent": True})
    page = visit("/portal/templates/")
    expect(page.get_by_role("article", name="Campus closed")).to_contain_text("It goes by the push services of browsers")
    says_nothing_of_fcm(page)


def test_a_downtime(product, visit):
    """Broadcasts are not pushed. The dialog, the form and the list say what the app does."""
    page = visit("/portal/broadcasts/", account="admin")
    # The list comes after the health.
    expect(page.get_by_text("Phones show nothing now.").or_(page.get_by_role("heading", name="No broadcasts yet"))).to_be_visible()
    page.get_by_role("button", name="The system is going down…").click()
    dialog = page.get_by_role("dialog", name="The system is going down")
    expect(dialog).to_contain_text("It is not pushed: the app shows it when it is opened")
    says_nothing_of_fcm(page)
    dialog.get_by_role("button", name="Show it in the app now").click()
    notice = page.get_by_role("status").filter(has_text="The app shows")
    expect(notice).to_be_visible()
    row = page.get_by_role("listitem", name="Our systems are down for maintenance")
    expect(row).to_be_visible()
    expect(row).not_to_contain_text(re.compile("pushed", re.IGNORECASE))
    notice.get_by_role("button", name="Withdraw").click()
    expect(row).to_contain_text("Withdrawn")


def test_the_form_of_broadcasts_has_no_pushes(product, visit):
    page = visit("/portal/broadcasts/#new", account="admin")
    form = page.locator(".broadcast-editor")
    form.get_by_role("radio", name="Downtime").check()
    expect(page.get_by_text("It is not pushed: the app shows it when it is opened")).to_be_visible()
    expect(form.get_by_role("combobox", name="Lasts")).to_be_visible()
    expect(form.get_by_role("switch", name="Can be closed")).to_be_visible()
    expect(form.get_by_role("switch", name="Pop-up")).to_have_count(0)
    expect(form.get_by_role("combobox", name="Push again")).to_have_count(0)
    form.get_by_role("textbox", name="Title").fill("Maintenance")
    form.get_by_role("textbox", name="Text").fill("Until noon.")
    page.get_by_role("button", name="Send broadcast…", exact=True).click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("It goes to every phone with the app.")
    says_nothing_of_fcm(page)
    question.get_by_role("button", name="Cancel").click()


def test_the_way_to_browsers_is_interrupted(product, visit):
    # The page may ask for the number of browsers before it learns that nobody answers.
    visit.expect_errors(SERVICE_AWAY)
    page = visit("/portal/overview/")
    with product.away("msi-webpush"):
        expect(page.get_by_role("link", name=re.compile("Messages are kept: the way to browsers is interrupted"))).to_be_visible()
        expect(page.get_by_role("listitem").filter(has_text="Pushes to browsers")).to_contain_text("Needs a look")
    expect(page.get_by_role("link", name="Sending works")).to_be_visible()
