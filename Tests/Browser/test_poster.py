"""The portal's page about the students' app: its address, the QR code, and the poster."""

import re

import pytest
from playwright.sync_api import expect

MATRIX = "async (text) => { const { qrCode } = await import(`${document.querySelector('script[type=module]').src}/../../lib/qr.js`); return qrCode(text); }"


@pytest.mark.at_length
def test_find_the_page(product, visit):
    """A communicator finds it in the navigation, also in that of a phone."""
    page = visit("/portal/send/")
    page.get_by_role("link", name="Students' app").click()
    expect(page.get_by_role("heading", name="Students' app", level=1)).to_be_visible()
    narrow = visit("/portal/send/", narrow=True)
    narrow.get_by_role("button", name="More").click()
    narrow.get_by_role("link", name="Students' app").click()
    expect(narrow.get_by_role("heading", name="Students' app", level=1)).to_be_visible()


def test_address(product, visit, pictures):
    page = visit("/portal/app/")
    expect(page.get_by_role("textbox", name="Tell students to open it")).to_have_text(f"{product.url}/app/")
    # This portal is open at an address that no phone can reach.
    expect(page.get_by_text("Phones cannot reach this address")).to_be_visible()
    expect(page.get_by_role("img", name="QR code of the app's address")).to_be_visible()
    pictures(page, "students-app", right_to_left=True)
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open the app").click()
    expect(opened.value).to_have_url(f"{product.url}/app/")


def test_qr_code_of_the_address(product, visit):
    page = visit("/portal/app/")
    drawn = page.get_by_role("img", name="QR code of the app's address").locator("path").get_attribute("d")
    dark = {(int(y) - 4, int(x) - 4) for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", drawn)}
    rows = page.evaluate(MATRIX, f"{product.url}/app/")
    assert dark == {(y, x) for y, row in enumerate(rows) for x, is_dark in enumerate(row) if is_dark}


def test_poster(visit, check):
    """It is on one sheet alone, in either language, and dark on light even if the page is dark."""
    page = visit("/portal/app/", dark=True)
    poster = page.get_by_role("article", name="A poster")
    expect(poster).to_contain_text("Scan the code with your phone's camera.")
    expect(poster).to_contain_text("tap Turn on notifications")
    page.get_by_role("button", name="العربية").click()
    expect(poster).to_contain_text("امسح الرمز")
    expect(poster).to_contain_text("شغّل الإشعارات")
    assert poster.evaluate("poster => [poster.dir, poster.lang]") == ["rtl", "ar"]
    check(page)
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", name="Students' app", level=1)).to_be_hidden()
    expect(page.get_by_role("button", name="Print the poster…")).to_be_hidden()
    expect(poster).to_be_visible()
    assert poster.evaluate("poster => getComputedStyle(poster).backgroundColor") == "rgb(255, 255, 255)"
    sheet = page.pdf(format="A4", print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", sheet)) == 1
    # The button asks the browser to print.
    page.emulate_media(media="screen")
    page.evaluate("window.print = () => { window.printed = true; }")
    page.get_by_role("button", name="Print the poster…").click()
    assert page.evaluate("window.printed")


def test_notifications(visit):
    """The page and the poster speak of them where the hub pushes to browsers."""
    page = visit("/portal/app/")
    expect(page.get_by_text("The app shows Alerts as notifications, even while it is closed")).to_be_visible()

    def without_web_push(route):
        health = route.fetch().json()
        health["parts"]["message-log"].pop("webpush", None)
        route.fulfill(json=health)

    page = visit("/portal/app/", routes={"**/health": without_web_push})
    expect(page.get_by_text("It has no notifications.")).to_be_visible()
    expect(page.get_by_role("article", name="A poster")).to_contain_text("iPhone")
    expect(page.get_by_role("article", name="A poster")).not_to_contain_text("notifications")


def test_a_student_at_the_portal(product, visit):
    """The sign-in page leads students to their app."""
    page = visit("/", account=None)
    page.get_by_role("link", name="Open your app").click()
    expect(page).to_have_url(f"{product.url}/app/")
