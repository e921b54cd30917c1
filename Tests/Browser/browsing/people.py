"""The students' app about people, as tests find things in it."""

from harness.product import PASSWORD
from playwright.sync_api import expect

from .app import begin, open_app
from .checks import dialogs

# What the fields and buttons of the way in are called.
ACCOUNT = {"en": "Account", "ar": "الحساب"}
SECRET = {"en": "Password", "ar": "كلمة المرور"}
SIGN_IN = {"en": "Sign in", "ar": "سجّل الدخول"}
FRIENDS = {"en": "Friends", "ar": "الأصدقاء"}


def open_people(visit, person=None, path="#people", language="en", **options):
    """Opens the app in a new browser, in which a person signs in with the password, at a page about people."""
    page = open_app(visit, "#people", language=language, **options)
    if person is not None:
        sign_in(page, person.account, language)
        page.goto(f"/app/{path}")
    return page


def sign_in(page, account, language="en", password=PASSWORD):
    page.get_by_role("textbox", name=ACCOUNT[language], exact=True).fill(account)
    page.get_by_label(SECRET[language], exact=True).filter(visible=True).fill(password)
    page.get_by_role("button", name=SIGN_IN[language], exact=True).click()
    expect(page.get_by_role("heading", name=FRIENDS[language], exact=True)).to_be_visible()


def in_arabic(person, path="#people", then=None):
    """For pictures: the page in Arabic is in another browser, where the person signs in as well. `then(page)` does the rest."""

    def arrange(page):
        begin(page, "ar")
        page.goto("/app/#people")
        if person is not None:
            sign_in(page, person.account, "ar")
            page.goto(f"/app/{path}")
        if then:
            then(page)

    return arrange


def opens(button):
    """For pictures: opens the dialog of a button."""

    def open_dialog(page):
        page.get_by_role("button", name=button, exact=True).first.click()
        expect(dialogs(page)).to_be_visible()

    return open_dialog


def row(page, name):
    """A person in a list."""
    return page.get_by_role("listitem").filter(has=page.get_by_role("link", name=name, exact=True))


def search(page, text):
    page.get_by_role("searchbox", name="Find people by account name").fill(text)


def stores(page):
    """The names of what the app has stored about a person."""
    return page.evaluate("""() => new Promise((resolve, reject) => {
        const opened = indexedDB.open("msi-app");
        opened.onerror = reject;
        opened.onsuccess = () => {
            const read = opened.result.transaction(["account", "people"]);
            const asked = ["account", "people"].map((store) => read.objectStore(store).getAllKeys());
            read.oncomplete = () => { opened.result.close(); resolve(asked.map(({ result }) => result)); };
        };
    })""")
