"""The students' app in a browser, as tests find things in it."""

from harness.waiting import eventually
from playwright.sync_api import expect

BEGIN = {"en": "Show my messages", "ar": "اعرض رسائلي"}

# The body of an asynchronous function, which makes all messages of the app older, by `args[0]` milliseconds.
AGE = """const opened = await new Promise((resolve, reject) => {
        const request = indexedDB.open("msi-app");
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    await new Promise((resolve, reject) => {
        const changes = opened.transaction("messages", "readwrite");
        const store = changes.objectStore("messages");
        const read = store.getAll();
        read.onsuccess = () => {
            for (const row of read.result) {
                row.timestamp -= args[0];
                store.put(row);
            }
        };
        [changes.oncomplete, changes.onabort] = [resolve, () => reject(changes.error)];
    });
    opened.close();"""


def open_app(visit, path="#messages", language="en", worker=False, **options):
    """Opens the app in a new browser, ends the first visit, and returns the page. `worker`: with the service worker, which fetches all files
    of the app."""
    page = visit("/app/", account=None, settled=False, language=language, service_workers="allow" if worker else "block", **options)
    begin(page, language)
    if path != "#messages":
        page.goto(f"/app/{path}")
    return page


def begin(page, language="en"):
    """Ends the first visit."""
    page.get_by_role("button", name=BEGIN[language]).click()
    expect(page.get_by_role("navigation")).to_be_visible()


def begin_in_arabic(page):
    """For pictures: the page in Arabic is in another browser, for which it is the first visit."""
    begin(page, "ar")


def card(page, title):
    """A message in the list, as a card or a line."""
    return page.locator(".days").get_by_role("article", name=title)


def tab(page, name):
    return page.get_by_role("navigation", name="Message Hub").get_by_role("link", name=name)


def look(page):
    """Looks for new messages, and waits for what comes of it."""
    button = page.get_by_role("button", name="Look for new messages")
    button.click()
    expect(button).not_to_have_attribute("aria-busy", "true")


def fetch(page, *titles):
    """Looks for new messages until the app has them: the hub tells of a message a moment after FCM has accepted it."""

    def found():
        look(page)
        return all(card(page, title).count() for title in titles)

    eventually(f"the app has {titles}", found, pause=0.2)


def reload(page):
    """Loads the page again, which then shows all that the app has stored."""
    page.reload()
    expect(page.get_by_role("button", name="Look for new messages")).to_be_visible()


def out_of_sight(page):
    """From now on, until it is loaded again, the page is as in a hidden tab: it marks nothing as read after two seconds."""
    page.evaluate("Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })")


def controlled(page):
    """Waits until the service worker has all files, and loads the page from it."""
    page.wait_for_function("navigator.serviceWorker.ready")
    page.reload()
    eventually("the app's service worker", lambda: page.evaluate("Boolean(navigator.serviceWorker.controller)"))
