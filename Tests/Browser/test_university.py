"""Signing in at the university's provider, in a browser."""

import pytest
from browsing.visits import SIGNED_OUT
from harness.waiting import eventually
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def product(university_product):
    return university_product


@pytest.fixture
def visit(visit):
    # The provider's own page looks for a style sheet in the internet.
    visit.expect_errors(r"cdn\.jsdelivr\.net", r"favicon")
    return visit


def begin(page):
    page.get_by_role("link", name="Sign in at the university").click()


def test_sign_in_at_the_university(product, university, visit, pictures):
    visit.expect_errors(SIGNED_OUT)
    university.add("17", "ida", "staff")
    page = visit("/portal/messages/?q=storm", account=None, settled=False)
    expect(page.get_by_role("link", name="Sign in at the university")).to_be_visible()
    pictures(page, "sign-in-university")
    begin(page)
    university.sign_in(page, "17")
    # The way over the university comes back to the page that was wanted.
    expect(page.get_by_role("heading", name="Messages", level=1)).to_be_visible()
    assert page.url == product.url + "/portal/messages/?q=storm"
    expect(page.get_by_role("navigation").first).to_contain_text("ida")


def test_who_has_no_role_is_told(product, university, visit, pictures):
    visit.expect_errors(SIGNED_OUT)
    university.add("18", "otto", "guest")
    page = visit("/", account=None)
    begin(page)
    university.sign_in(page, "18")
    expect(page.get_by_role("alert").first).to_contain_text("there is no account for you here")
    pictures(page, "sign-in-university-refused", at_length=True)
    begin(page)
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_role("alert").first).to_contain_text("The university did not sign you in.")
    # A name that somebody has already is not taken over.
    university.add("19", "ann", "staff")
    begin(page)
    university.sign_in(page, "19")
    expect(page.get_by_role("alert").first).to_contain_text("An account with your name exists already.")
    # A password still works.
    page.get_by_role("textbox", name="Account").fill("ann")
    page.get_by_role("textbox", name="Password").fill("copper-lantern-orchard")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="New message")).to_be_visible()


def test_university_id_of_an_account(product, university, visit):
    visit.expect_errors(SIGNED_OUT, r"status of 40[09]")
    page = visit("/portal/people/", account="admin", confirmed=True)
    dialog = page.get_by_role("dialog", name="Invite somebody")
    way = dialog.get_by_role("radio", name="At the university's sign-in")

    def asks_for_the_way():
        """The page may have opened it before the hub has told that there is a provider."""
        page.get_by_role("button", name="Invite…").click()
        if way.count():
            return True
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_have_count(0)
        return False

    eventually("a dialog with the university", asks_for_the_way)
    dialog.get_by_role("textbox", name="Account").fill("nora")
    way.check()
    dialog.get_by_role("textbox", name="University ID").fill("21")
    dialog.get_by_role("button", name="Add person").click()
    nora = page.get_by_role("row").filter(has_text="nora")
    expect(nora).to_contain_text("21")
    # Another account cannot have the same.
    page.get_by_role("row").filter(has_text="ben").get_by_role("button", name="Edit").click()
    editor = page.get_by_role("region", name="Edit ben")
    editor.get_by_role("textbox", name="University ID").fill("21")
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_text("Another account has this ID.")).to_be_visible()
    university.add("21", "whoever", "staff")
    other = visit("/", account=None)
    begin(other)
    university.sign_in(other, "21")
    expect(other.get_by_role("navigation").first).to_contain_text("nora")


@pytest.mark.at_length
def test_confirmation_at_the_university_loses_no_text(product, university, visit):
    visit.expect_errors(SIGNED_OUT, r"status of 403")
    university.add("22", "olga", "chief")
    page = visit("/", account=None)
    begin(page)
    university.sign_in(page, "22")
    expect(page.get_by_role("heading", name="New message")).to_be_visible()
    page.goto("/portal/people/")
    page.get_by_role("button", name="Invite…").click()
    dialog = page.get_by_role("dialog", name="Invite somebody")
    dialog.get_by_role("textbox", name="Account").fill("pia")
    dialog.get_by_role("radio", name="With a password that you set").check()
    dialog.get_by_role("button", name="Suggest one").click()
    dialog.get_by_role("button", name="Add person").click()
    question = page.get_by_role("dialog", name="Confirm it is you")
    with page.context.expect_page() as opened:
        question.get_by_role("link", name="Confirm at the university").click()
    tab = opened.value
    university.sign_in(tab, "22")
    expect(tab.get_by_role("heading", name="You can go on in the other tab")).to_be_visible()
    tab.close()
    page.bring_to_front()
    # The short message may have ended before the other tab was closed.
    expect(page.get_by_role("row").filter(has_text="pia")).to_be_visible()
