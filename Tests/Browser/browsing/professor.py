"""The professor's page, as tests find things in it."""

from harness.product import PASSWORD
from playwright.sync_api import expect

from .people import ACCOUNT, SECRET, SIGN_IN
from .study import listen

CLASSES = {"en": "Classes", "ar": "المواد"}


def address(group, part=""):
    """The address of a part of a class on the page."""
    return f"#class/{part}?id={group.id}"


def address_of(session):
    return f"#session?id={session.group.id}&session={session.id}"


def open_classes(visit, person=None, path="", language="en", **options):
    """Opens the page in a new browser, in which a person signs in."""
    page = listen(visit("/portal/classes/", account=None, settled=False, language=language, **options))
    expect(page.get_by_role("heading", name=CLASSES[language], level=1)).to_be_visible()
    if person is not None:
        sign_in(page, person, language)
        page.goto(f"/portal/classes/{path}")
        visit.settle(page)
    return page


def sign_in(page, person, language="en"):
    page.get_by_role("textbox", name=ACCOUNT[language], exact=True).fill(person.account)
    page.get_by_label(SECRET[language], exact=True).filter(visible=True).fill(PASSWORD)
    page.get_by_role("button", name=SIGN_IN[language], exact=True).click()
    expect(page.locator(".who").get_by_text(person.account)).to_be_attached()


def in_arabic(person, path="", then=None):
    """For pictures: the page in Arabic is in another browser, where the person signs in as well. `then(page)` does the rest."""

    def arrange(page):
        sign_in(page, person, "ar")
        page.goto(f"/portal/classes/{path}")
        # Until the page has followed its address, the one before is shown.
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        expect(page.locator(".skeleton, main [aria-busy=true]")).to_have_count(0)
        expect(page.locator("main h1").first).to_be_visible()
        if then:
            then(page)

    return arrange


def part(page, name):
    """The link to a part of the class that the page shows."""
    return page.get_by_role("navigation", name="Parts of the class").get_by_role("link", name=name, exact=True)


def open_part(page, name):
    part(page, name).click()
    expect(page.locator(".skeleton")).to_have_count(0)
