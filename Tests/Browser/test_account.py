"""One's own account, and what the browser keeps."""

import re

import pytest
import requests
from playwright.sync_api import expect

from browsing.totp import totp
from harness.product import PASSWORD

SIGNED_OUT = r"status of 401"


def part(page, name):
    return page.get_by_role("region", name=name, exact=True)


def sign_in(product, account, password=PASSWORD, **fields):
    return requests.post(product.url + "/session", json={"account": account, "password": password, **fields}, timeout=60)


def set_up(page):
    """Sets up a second factor in the page, and returns its secret."""
    factor = part(page, "Second factor")
    factor.get_by_role("button", name="Set up…").click()
    expect(factor.get_by_role("heading", name="1. Add the hub to your app")).to_be_focused()
    secret = factor.get_by_role("group", name="Secret").inner_text()
    factor.get_by_role("textbox", name="Code").fill(totp(secret))
    factor.get_by_role("button", name="Turn on").click()
    return secret


def test_who_i_am(product, visit, pictures):
    account, other = product.new_account("quin"), product.new_account("rosa")
    closed = product.new_subject("Closed")
    product.api("PUT", f"/access/{closed.channel['_id']}", {"access": [other]})
    page = visit("/portal/account/", account=account)
    me = part(page, "You")
    expect(me).to_contain_text("Communicator")
    expect(me).to_contain_text("You can send messages, and take them back")
    expect(me).to_contain_text("You cannot change the cube")
    expect(me).to_contain_text(re.compile(r"You may send to \d+ of \d+ subjects\."))
    me.get_by_text("Show them").click()
    expect(me).to_contain_text("Storms")
    expect(me).not_to_contain_text(closed.name)
    pictures(page, "account", right_to_left=True)
    page = visit("/portal/account/", account="admin")
    expect(part(page, "You")).to_contain_text("You may send to every subject.")
    expect(part(page, "Tokens")).to_contain_text(re.compile("You have .* token"))
    part(page, "Tokens").get_by_role("link", name="Your tokens").click()
    expect(page.get_by_role("heading", name="Tokens", level=1)).to_be_visible()


def test_change_password(product, visit, pictures):
    visit.expect_errors(SIGNED_OUT)
    account = product.new_account("sara")
    elsewhere = product.sign_in(account)
    page = visit("/portal/account/", account=account)
    password = part(page, "Password")
    expect(password).to_contain_text("Your sign-ins on other devices and all your tokens end at once.")
    current, new, again = (password.get_by_role("textbox", name=name, exact=True) for name in ("Current password", "New password", "New password again"))
    button = password.get_by_role("button", name="Change password")
    button.click()
    expect(password.get_by_text("Please fill this in.")).to_be_visible()
    current.fill("not my password")
    new.fill("short")
    button.click()
    expect(password.get_by_text("Use 8 to 256 characters")).to_be_visible()
    new.fill("violet-harbour-piano")
    again.fill("violet-harbour-pian")
    button.click()
    expect(password.get_by_text("The two new passwords differ.")).to_be_visible()
    expect(again).to_be_focused()
    again.fill("violet-harbour-piano")
    button.click()
    expect(password.get_by_text("This is not your current password.")).to_be_visible()
    pictures(page, "account-password-wrong", at_length=True)
    current.fill(PASSWORD)
    button.click()
    expect(page.get_by_text("Your password was changed.")).to_be_visible()
    expect(current).to_have_value("")
    # Here one stays signed in; elsewhere not.
    page.reload()
    expect(part(page, "You")).to_contain_text(account)
    assert elsewhere.get(product.url + "/session", timeout=60).status_code == 401
    assert sign_in(product, account).status_code == 401
    assert sign_in(product, account, "violet-harbour-piano").status_code == 201


def test_display_name(product, visit, pictures):
    account = product.new_account("tara")
    page = visit("/portal/account/", account=account)
    me = part(page, "You")
    me.get_by_role("textbox", name="Name").fill("Tara Ünal")
    me.get_by_role("button", name="Save name").click()
    expect(page.get_by_text("Your name was saved.")).to_be_visible()
    expect(page.get_by_role("navigation").first).to_contain_text("Tara Ünal")
    expect(me).to_contain_text(account)
    pictures(page, "account-name", right_to_left=True)
    page.reload()
    expect(me.get_by_role("textbox", name="Name")).to_have_value("Tara Ünal")
    visit.expect_errors(r"status of 400")
    me.get_by_role("textbox", name="Name").fill("T\u0430ra")
    me.get_by_role("button", name="Save name").click()
    expect(me.get_by_text("Use one kind of letters in each word")).to_be_visible()
    me.get_by_role("textbox", name="Name").fill("")
    me.get_by_role("button", name="Save name").click()
    expect(page.get_by_role("navigation").first).to_contain_text(account)
    assert "display_name" not in product.api("GET", f"/account/{account}")


@pytest.mark.at_length
def test_show_password(product, visit):
    page = visit("/portal/account/", account=product.new_account("ugo"))
    password = part(page, "Password")
    fresh, show = password.get_by_role("textbox", name="New password", exact=True), password.get_by_role("button", name="Show password").nth(1)
    fresh.fill("violet-harbour")
    expect(show).to_have_attribute("aria-pressed", "false")
    show.press("Enter")
    expect(show).to_have_attribute("aria-pressed", "true")
    expect(fresh).to_have_attribute("type", "text")
    # What is sent is hidden again.
    password.get_by_role("button", name="Change password").click()
    expect(fresh).to_have_attribute("type", "password")


def test_second_factor(product, visit, pictures):
    visit.expect_errors(SIGNED_OUT)
    account = product.new_account("theo")
    page = visit("/portal/account/", account=account, confirmed=True)
    factor = part(page, "Second factor")
    expect(factor).to_contain_text("Not set up")
    factor.get_by_role("button", name="Set up…").click()
    code = factor.get_by_role("textbox", name="Code")
    picture = factor.get_by_role("img", name="QR code")
    expect(picture).to_be_visible()
    pictures(page, "account-factor", right_to_left=True, arrange=lambda other: other.locator("#second-factor button").first.click())
    # The page in the other language has begun again, with another secret.
    factor.get_by_role("button", name="Cancel").click()
    factor.get_by_role("button", name="Set up…").click()
    secret = factor.get_by_role("group", name="Secret").inner_text()
    code.fill("12345")
    factor.get_by_role("button", name="Turn on").click()
    expect(factor.get_by_text("Type the six digits.")).to_be_visible()
    code.fill(f"{(int(totp(secret)) + 500_000) % 1_000_000:06}")
    visit.expect_errors(r"status of 40[0-9]")
    factor.get_by_role("button", name="Turn on").click()
    expect(factor.get_by_text("This code is wrong.")).to_be_visible()
    code.fill(totp(secret))
    factor.get_by_role("button", name="Turn on").click()
    codes = factor.get_by_role("list", name="Recovery codes").get_by_role("listitem")
    expect(codes).to_have_count(10)
    recovery = codes.first.inner_text()
    with page.expect_download() as download:
        factor.get_by_role("link", name="Download").click()
    assert recovery in download.value.path().read_text()
    pictures(page, "account-recovery-codes", at_length=True)
    factor.get_by_role("button", name="I have kept them").click()
    expect(factor.get_by_text("Set up", exact=True)).to_be_visible()
    pictures(page, "account-factor-on", at_length=True)

    # Signing in asks for a code of the app now.
    other = visit("/portal/account/", account=None, settled=False)
    other.get_by_role("textbox", name="Account").fill(account)
    other.get_by_role("textbox", name="Password").fill(PASSWORD)
    other.get_by_role("button", name="Sign in", exact=True).click()
    other.get_by_role("textbox", name="Code").fill(totp(secret, 1))
    other.get_by_role("button", name="Sign in", exact=True).click()
    expect(part(other, "Second factor")).to_contain_text("Set up")
    assert sign_in(product, account).status_code == 401
    assert sign_in(product, account, code=recovery).status_code == 201

    factor.get_by_role("button", name="Remove…").click()
    question = page.get_by_role("dialog", name="Remove your second factor?")
    pictures(page, "account-factor-remove", at_length=True)
    question.get_by_role("button", name="Remove second factor").click()
    expect(factor).to_contain_text("Not set up")
    assert sign_in(product, account).status_code == 201


@pytest.mark.at_length
def test_change_password_with_a_second_factor(product, visit):
    visit.expect_errors(SIGNED_OUT)
    account = product.new_account("sven")
    page = visit("/portal/account/", account=account, confirmed=True)
    secret = set_up(page)
    part(page, "Second factor").get_by_role("button", name="I have kept them").click()
    password = part(page, "Password")
    password.get_by_role("textbox", name="Current password").fill(PASSWORD)
    for name in ("New password", "New password again"):
        password.get_by_role("textbox", name=name, exact=True).fill("violet-harbour-piano")
    password.get_by_role("button", name="Change password").click()
    # A new password ends all sign-ins. The page cannot know the code, so it asks.
    again = page.get_by_role("dialog", name="Please sign in again")
    again.get_by_role("textbox", name="Password").fill("violet-harbour-piano")
    again.get_by_role("button", name="Sign in", exact=True).click()
    again.get_by_role("textbox", name="Code").fill(totp(secret, 1))
    again.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_text("Your password was changed.")).to_be_visible()
    assert sign_in(product, account).status_code == 401


def test_required_second_factor_comes_first(product, visit, pictures):
    account = product.new_account("uma")
    product.api("PUT", f"/account/{account}", {"second_factor_required": True})
    # The page for sending asks for its templates before it knows.
    visit.expect_errors(r"status of 403 .*/template")
    page = visit("/portal/send/", account=account, confirmed=True, settled=False)
    expect(page.get_by_text("Your account needs a second factor.")).to_be_visible()
    expect(page).to_have_url(re.compile("/portal/account/"))
    expect(page.get_by_role("heading", name="Password")).to_have_count(0)
    pictures(page, "account-required", right_to_left=True)
    set_up(page)
    page.get_by_role("button", name="I have kept them").click()
    expect(page).to_have_url(re.compile("/portal/send/"))
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_qr_code(product, visit):
    """The code's finder patterns, timing and format are those of a version that the address fits. An encoder of others gave the same
    matrices when lib/qr.js was written."""
    page = visit("/portal/account/", account=product.new_account("vera"), confirmed=True)
    text = "otpauth://totp/MSI:vera?secret=CBAE4F2WKL3JPUWB7OBEGALL77WG36N3&issuer=MSI"
    folder = page.evaluate("document.querySelector('script[type=module]').src").rpartition("/")[0]
    qr_of = "async ([folder, text, mask]) => { const { qrCode } = await import(`${folder}/../lib/qr.js`); return qrCode(text, mask ?? undefined); }"
    rows = page.evaluate(qr_of, [folder, text, None])
    assert len(rows) == 17 + 4 * 5                  # Version 5 has 84 bytes, and version 4 has 62.
    finder = ["#######", "#     #", "# ### #", "# ### #", "# ### #", "#     #", "#######"]
    drawn = ["".join("#" if dark else " " for dark in row) for row in rows]
    for top, left in ((0, 0), (0, -7), (-7, 0)):
        assert [line[left:][:7] for line in drawn[top:][:7]] == finder
    assert drawn[6][6:-6] == "# " * 12 + "#"
    formats = {tuple(page.evaluate(qr_of, [folder, text, mask])[8][:6]) for mask in range(8)}
    assert len(formats) == 8
    assert len(page.evaluate(qr_of, [folder, "x" * 213, None])) == 57
    assert page.evaluate(qr_of, [folder, "x" * 214, None]) is None


def test_arabic_mirrors_the_page(product, visit, pictures):
    page = visit("/portal/account/", account="ann")
    rail = page.locator(".rail").bounding_box()
    assert rail["x"] == 0
    page.get_by_role("button", name="العربية").click()
    expect(page.get_by_role("heading", name="حسابي", level=1)).to_be_visible()
    assert page.evaluate("[document.documentElement.dir, document.documentElement.lang]") == ["rtl", "ar"]
    rail = page.locator(".rail").bounding_box()
    assert rail["x"] + rail["width"] == page.viewport_size["width"]
    # The other pages have the language as well.
    page.goto("/portal/messages/")
    expect(page.get_by_role("heading", name="الرسائل", level=1)).to_be_visible()
    page.goto("/portal/account/")
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", name="My account", level=1)).to_be_visible()


def test_appearance_applies_at_once(visit):
    page = visit("/portal/account/", account="ann")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark", exact=True).click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    expect(page.get_by_role("button", name="Dark", exact=True)).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="System").click()
    assert page.evaluate(ground) == light


def test_undo_is_a_setting(visit):
    page = visit("/portal/account/", account="ann")
    box = page.get_by_role("checkbox", name="Wait ten seconds before a message goes out")
    expect(box).to_be_checked()
    box.uncheck()
    expect(page.get_by_text("Messages go out at once.")).to_be_visible()
    assert page.evaluate("JSON.parse(localStorage.getItem('msi.settings')).undo") is False
    page.reload()
    expect(box).not_to_be_checked()


def test_sign_out(visit):
    visit.expect_errors(SIGNED_OUT)
    page = visit("/portal/account/", account="ann", fresh=True)
    part(page, "Sign out").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
