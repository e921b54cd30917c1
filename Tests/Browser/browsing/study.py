"""Study sessions in the students' app, as tests find things in them."""

import re

from harness.study import ACCURACY
from harness.waiting import eventually
from playwright.sync_api import expect

from .people import open_people

# What the browser says about refusals that belong to a test.
REFUSED = r"status of 4\d\d .*/(class|classes|user|users)\b"
# What the map's parts may be, in bytes as transferred: the JavaScript of a page with it, beside that of the first page, and Leaflet's.
BUDGET, LEAFLET_BUDGET = 60_000, 41_000
# The browser has been allowed to say the position, and still seems to have to ask: a function.
UNASKED = """() => {
    const { query } = navigator.permissions;
    navigator.permissions.query = async (wanted) => (wanted.name === "geolocation" ? { state: "prompt" } : query.call(navigator.permissions, wanted));
}"""
# In no page are more things that Tab comes to.
MAX_TABS = 150


def at(place):
    """The options of a browser that says that it is at a place, and has been allowed to."""
    return {"geolocation": {**place, "accuracy": ACCURACY}, "permissions": ["geolocation"]}


def move(page, place):
    """The device is somewhere else now, and the app comes to the front."""
    page.context.set_geolocation({**place, "accuracy": ACCURACY})
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def open_study(visit, person, path="#study", place=None, **options):
    """Opens the app in a new browser, in which a person signs in, at a page about study sessions."""
    page = listen(open_people(visit, person, path, **(at(place) if place else {}), **options))
    expect(page.locator(".study-view")).to_be_visible()
    # The hub has told the classes.
    expect(page.locator(".study-said")).not_to_have_text(re.compile("Loading|جارٍ"))
    return page


def sheet(page, heading=None):
    """What is over the map."""
    found = page.locator(".study-sheet")
    return found.filter(has=page.get_by_role("heading", name=heading, level=2)) if heading else found


def go(page, session_or_hash):
    """Opens a place of the app, such as a session's card."""
    page.goto(f"/app/{getattr(session_or_hash, 'link', session_or_hash)}")


def row(page, session):
    """A session in the list."""
    return page.locator(f".session-row[data-session='{session.id}']")


def pin(page, session):
    """A session on the map, alone or in a group."""
    return page.locator(f".pin[data-sessions~='{session.id}']")


def listed(page, within=".study-list"):
    """The ids of the sessions of the list."""
    return page.locator(f"{within} .session-row").evaluate_all("(rows) => rows.map((each) => each.dataset.session)")


def on_map(page):
    """The ids of the sessions on the map, those of groups as well."""
    return page.locator(".pin").evaluate_all("(pins) => pins.flatMap((each) => each.dataset.sessions.split(' '))")


def tab_to(page, wanted, key="Tab"):
    """Presses Tab, or another key, until something has the focus that is on the page."""
    expect(wanted).to_be_visible()
    for _ in range(MAX_TABS):
        page.keyboard.press(key)
        if wanted.evaluate_all("(found) => found.includes(document.activeElement)"):
            return
    raise AssertionError(f"{key} does not come to {wanted}")


def scripts(page):
    """The scripts that a page has loaded: their paths, and their bytes as transferred."""
    return dict(page.evaluate("""performance.getEntriesByType("resource").map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize])
        .filter(([path]) => path.endsWith(".js"))"""))


def later_scripts(page, before):
    """What a page with the map has loaded since: all scripts, the bytes of the app's, and those of Leaflet."""
    after = {path: size for path, size in scripts(page).items() if path not in before}
    drawn = sum(size for path, size in after.items() if "/leaflet/" in path)
    return after, sum(after.values()) - drawn, drawn


def bar(page):
    """The person's own session, on every page."""
    return page.get_by_role("region", name="Your study session")


# What a page says for a moment stays here.
SAID = """
    window.said = [];
    new MutationObserver((records) => {
        for (const { addedNodes } of records) for (const node of addedNodes) if (node.classList?.contains("toast")) window.said.push(node.textContent);
    }).observe(document, { childList: true, subtree: true });
"""


def listen(page):
    """From now on what the page says for a moment is kept, for `says`."""
    page.add_init_script(SAID)
    page.evaluate(SAID)
    return page


def says(page, text):
    """Waits until the page has said something."""
    eventually(f"the page says {text}", lambda: any(text in each for each in page.evaluate("window.said")), pause=0.2)


def remover(page, text=""):
    """The buttons that remove posts, or the post with a text. What only readers hear of a button is an extra word."""
    return page.get_by_role("button", name=re.compile(f"^Remove.*{re.escape(text)}"))


def confirm(page, action):
    page.get_by_role("alertdialog").get_by_role("button", name=action, exact=True).click()
    expect(page.get_by_role("alertdialog")).to_have_count(0)
