"""Signing in and out, and what every page does about it. The use cases Log In, Log Out and View Menu of both roles."""

import pytest
from browsing.visits import GATEWAY_AWAY, SIGNED_OUT
from harness.product import PASSWORD
from playwright.sync_api import expect


def sign_in(page, account, password=PASSWORD):
    page.get_by_role("textbox", name="Account").fill(account)
    page.get_by_role("textbox", name="Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_communicator_log_in(product, visit, pictures):
    page = visit("/", account=None)
    pictures(page, "sign-in", right_to_left=True)
    sign_in(page, "ann")
    expect(page.get_by_role("heading", name="New message")).to_be_visible()
    cookies = {cookie["name"]: cookie for cookie in page.context.cookies()}
    assert cookies[product.cookie]["httpOnly"]
    navigation = page.get_by_role("navigation").first
    expect(navigation.get_by_role("link", name="Messages")).to_be_visible()
    expect(navigation.get_by_role("link", name="Cube")).to_have_count(0)


def test_wrong_password(product, visit, pictures):
    visit.expect_errors(r"status of 401")
    page = visit("/", account=None)
    sign_in(page, "ann", "not her password")
    expect(page.get_by_text("The account or the password is wrong.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Account")).to_have_value("ann")
    pictures(page, "sign-in-wrong")


def test_invitation_page(visit, pictures):
    """What the page says first, and what it says about a password that is refused, a lost hub and a link that has ended."""
    until = 1795262462399
    known = {"account": "nele", "display_name": "Nele Newcomer", "expires": until, "needs_code": False}
    answers = {"/session/invitation/check": (200, known), "/session/invitation": (503, {"type": "/problems/service-unavailable"})}

    def answer(route):
        status, document = answers["/session" + route.request.url.partition("/session")[2]]
        route.fulfill(status=status, json=document)

    visit.expect_errors(r"status of 401", r"status of 503")
    page = visit("/#invitation=nele.secret", account=None, routes={"**/session/invitation**": answer})
    expect(page.get_by_role("heading", name="Welcome, Nele Newcomer")).to_be_visible()
    password = page.get_by_role("textbox", name="New password")
    expect(password).to_be_focused()
    expect(page.get_by_text("8 characters or more.")).to_be_visible()
    pictures(page, "invitation", right_to_left=True)
    page.keyboard.type("short")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Use 8 to 256 characters")).to_be_visible()
    password.fill("violet-harbour-piano")
    page.get_by_role("button", name="Show password").click()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="A part of the hub is away.")).to_be_visible()
    expect(password).to_have_value("violet-harbour-piano")
    answers["/session/invitation"] = (401, {"type": "/problems/unauthenticated", "field": "invitation"})
    page.get_by_role("button", name="Set password and sign in").click()
    expect(page.get_by_role("heading", name="This link no longer works")).to_be_visible()
    expect(page.get_by_text("ask the person who sent you the link for a new one")).to_be_visible()
    assert "secret" not in page.url
    pictures(page, "invitation-ended", at_length=True)
    page.get_by_role("link", name="Go to the sign-in").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_admin_log_in_and_view_menu(product, visit):
    page = visit("/", account=None)
    sign_in(page, "admin")
    expect(page.get_by_role("heading", name="New message")).to_be_visible()
    for entry, heading in [("Messages", "Messages"), ("Templates", "Templates"), ("Overview", "Overview"), ("Cube", "Information cube"), ("People", "People"), ("Tokens", "Tokens"), ("Audit log", "Audit log")]:
        page.get_by_role("navigation").first.get_by_role("link", name=entry, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        expect(page.get_by_role("navigation").first.get_by_role("link", name=entry, exact=True)).to_have_attribute("aria-current", "page")


@pytest.mark.parametrize("account", ["ann", pytest.param("admin", marks=pytest.mark.at_length)])
def test_log_out(product, visit, account):
    visit.expect_errors(r"status of 401")
    page = visit("/portal/send/", account=account, fresh=True)
    page.get_by_role("button", name="Sign out").first.click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.url == product.url + "/"
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    assert product.cookie not in {cookie["name"] for cookie in page.context.cookies()}
    page.goto("/portal/send/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_page_that_needs_a_sign_in_comes_after_it(product, visit):
    visit.expect_errors(SIGNED_OUT)
    page = visit("/portal/messages/?q=storm", account=None, settled=False)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    sign_in(page, "ann")
    expect(page.get_by_role("searchbox", name="Search titles and texts of all messages")).to_have_value("storm")


def test_a_lost_sign_in_loses_no_text(product, visit, pictures):
    visit.expect_errors(r"status of 401")
    subject = product.new_subject("Lost", distribution="Information")
    page = visit(f"/portal/send/?subject={subject.topic_key}")
    page.get_by_role("textbox", name="Title").fill("Shuttle late")
    page.get_by_role("textbox", name="Message", exact=True).fill("Ten minutes.")
    page.context.clear_cookies()
    page.get_by_role("button", name="Send", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="Please sign in again")).to_be_visible()
    pictures(page, "sign-in-again")
    dialog.get_by_role("textbox", name="Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Your message is about to go out")).to_be_visible()


def test_gateway_restarted_under_an_open_page(spare_product, visit):
    visit.expect_errors(GATEWAY_AWAY, r"status of 50\d")
    page = visit("/portal/send/")
    page.get_by_role("textbox", name="Title").fill("Typed before the restart")
    spare_product.kill("msi-gateway")
    expect(page.get_by_role("link", name="Sending works")).to_be_visible()
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Typed before the restart")
    # The stream of events continues.
    page.goto("/portal/messages/")
    visit.settle(page)
    spare_product.send(spare_product.new_subject(), "After the restart")
    expect(page.get_by_role("link", name="After the restart")).to_be_visible()


def test_unknown_page(product, visit, pictures):
    visit.expect_errors(r"status of 404")
    page = visit("/portal/nowhere/")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    pictures(page, "not-found", right_to_left=False)
    page.get_by_role("link", name="Go to the hub").click()
    expect(page.get_by_role("heading", name="New message")).to_be_visible()


def test_navigation_by_keyboard(product, visit):
    page = visit("/portal/send/")
    page.keyboard.press("Tab")
    for _ in range(30):
        if page.evaluate("document.activeElement.getAttribute('href')") == "/portal/messages/":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Messages")).to_be_visible()


def test_narrow_navigation(product, visit, pictures):
    page = visit("/portal/send/", account="admin", narrow=True)
    page.get_by_role("button", name="More").click()
    page.get_by_role("link", name="Audit log").click()
    expect(page.get_by_role("heading", name="Audit log")).to_be_visible()


@pytest.mark.at_length
def test_sign_in_that_somebody_else_ends_is_told_over_the_page(product, visit):
    visit.expect_errors(r"status of 401")
    account = product.new_account("nina")
    page = visit("/portal/send/", account=account)
    page.get_by_role("textbox", name="Title").fill("Half a message")
    product.command("account", "password", account, typed="violet-harbour-piano")
    again = page.get_by_role("dialog", name="Please sign in again")
    expect(again).to_be_visible()
    again.get_by_role("textbox", name="Password").fill("violet-harbour-piano")
    again.get_by_role("button", name="Sign in", exact=True).click()
    expect(again).to_be_hidden()
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Half a message")
