"""What a browser adds to the students' app: installation, starts without a network, new versions, and what it may refuse."""

import json
import pathlib

import pytest
from browsing.app import begin, card, controlled, fetch, look, open_app, tab
from browsing.copies import copy_of
from browsing.visits import GATEWAY_AWAY
from harness.product import Product
from harness.waiting import eventually
from playwright.sync_api import expect

VERSION = "fetch('/app/').then((answer) => answer.text()).then((text) => /app\\/files\\/(\\w+)/.exec(text)[1])"
BROKEN = "fetch(document.querySelector('script[type=module]').src).then((answer) => answer.text()).then((text) => text.includes('throw new Error'))"
KEPT = "caches.keys().then((names) => Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)))).then((all) => all.flat())"


@pytest.fixture(scope="module")
def product(phones_product):
    return phones_product


@pytest.fixture
def hours(product):
    subject = product.new_subject("Opening hours", level="Recommended")
    yield subject
    product.api("DELETE", f"/channel/{subject.channel['_id']}")


# The first visit

def test_first_visit_without_the_hub(visit, pictures):
    """The page says what it waits for, and continues by itself."""
    visit.expect_errors(GATEWAY_AWAY, r"status of 50\d")
    hub = ["**/channel", "**/broadcast/active*", "**/message/since"]
    page = visit("/app/", account=None, settled=False, narrow=True, clock=True, routes={path: lambda route: route.abort() for path in hub})
    expect(page.get_by_text("The university's server cannot be reached. Its subjects appear here when it answers.")).to_be_visible()
    pictures(page, "app-welcome-hub")
    # Screen readers announce the next text, since its region stays.
    region = page.locator(".welcome-subjects").get_by_role("status").element_handle()
    page.context.set_offline(True)
    offline = "You are offline. The subjects of your university appear here when you are online."
    expect(page.get_by_text(offline)).to_be_visible()
    assert region.inner_text() == offline
    # One may begin anyway.
    begin(page)
    expect(page.get_by_text("Offline. New messages come when this device is online again.")).to_be_visible()
    pictures(page, "app-offline", at_length=True)
    page.context.set_offline(False)
    expect(page.get_by_text("The university's server cannot be reached. New messages come when it answers again.")).to_be_visible()
    for path in hub:
        page.unroute(path)
    # The app gives up a request after 30 seconds by this clock.
    visit.after(page, 10, "the subjects", lambda: page.get_by_text("cannot be reached").count() == 0)


def test_the_browser_is_asked_to_keep_the_messages(visit):
    """Some browsers ask the person, so it comes after what the first visit says about it."""
    count = """const { persist } = StorageManager.prototype; window.asked = 0;
        StorageManager.prototype.persist = async () => { window.asked += 1; return true; };
        StorageManager.prototype.persisted = async () => window.asked > 0;"""
    page = visit("/app/", account=None, settled=False)
    page.add_init_script(count)
    page.reload()
    expect(page.get_by_text("It may ask whether it may keep them.")).to_be_visible()
    assert page.evaluate("window.asked") == 0
    begin(page)
    page.goto("/app/#settings/about")
    expect(page.get_by_text("The browser keeps them")).to_be_visible()
    assert page.evaluate("window.asked") == 1


@pytest.mark.at_length
def test_a_long_list_of_required_subjects_is_counted(product, visit):
    channel = product.new_channel("Departments")
    area = product.new_area(channel)
    for _ in range(11):
        product.new_subject("Department", level="Forced", channel=channel, area=area)
    page = visit("/app/", account=None, settled=False)
    expect(page.get_by_text("more", exact=False).filter(has_text="and").first).to_be_visible()
    assert page.locator(".welcome-subjects li").count() == 10
    product.api("DELETE", f"/channel/{channel['_id']}")


# Installation

def test_manifest(product, visit):
    """Chromium finds no mistake in it, and nothing that keeps it from installing the app."""
    page = open_app(visit, worker=True)
    session = page.context.new_cdp_session(page)
    manifest = session.send("Page.getAppManifest")
    assert manifest["errors"] == [], manifest["errors"]
    assert manifest["url"].startswith(f"{product.url}/app/manifest.webmanifest")
    page.wait_for_function("navigator.serviceWorker.ready")
    obstacles = {each["errorId"] for each in session.send("Page.getInstallabilityErrors")["installabilityErrors"]}
    # Each test has a private window.
    assert obstacles <= {"in-incognito"}, obstacles
    icons = json.loads(manifest["data"])["icons"]
    sizes = page.evaluate("""(icons) => Promise.all(icons.map(async ({ src, sizes }) => {
        const picture = new Image();
        picture.src = src;
        await picture.decode();
        return [sizes, `${picture.naturalWidth}x${picture.naturalHeight}`];
    }))""", [icon for icon in icons if icon["sizes"] != "any"])
    assert len(sizes) == 3 and all(said == drawn for said, drawn in sizes), sizes


OFFER = """() => {
    const event = new Event("beforeinstallprompt", { cancelable: true });
    event.prompt = async () => { window.prompted = true; };
    dispatchEvent(event);
    return event.defaultPrevented;
}"""
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1"
FIREFOX = "Mozilla/5.0 (Android 16; Mobile; rv:147.0) Gecko/147.0 Firefox/147.0"


def test_install_by_a_button(visit, pictures):
    page = visit("/app/", account=None, settled=False, narrow=True)
    expect(page.get_by_role("heading", name="Install the app")).to_be_visible()
    expect(page.get_by_role("button", name="Install", exact=True)).to_have_count(0)
    assert page.evaluate(OFFER)
    expect(page.get_by_role("button", name="Install", exact=True)).to_be_visible()
    pictures(page, "app-welcome-install", at_length=True)
    begin(page)
    page.goto("/app/#settings/install")
    page.get_by_role("button", name="Install", exact=True).click()
    assert page.evaluate("window.prompted")
    expect(page.get_by_role("button", name="Install", exact=True)).to_have_count(0)


@pytest.mark.parametrize("agent,standalone,hint", [
    (IPHONE, False, "Tap Share, then Add to Home Screen."),
    pytest.param(IPHONE, True, "The app is installed on this device.", marks=pytest.mark.at_length),
    pytest.param(FIREFOX, None, "Open Firefox's menu (⋮), then choose Add app to Home screen.", marks=pytest.mark.at_length),
    pytest.param(None, None, "Open the browser's menu", marks=pytest.mark.at_length),
])
def test_how_to_install(visit, agent, standalone, hint):
    page = visit("/app/", account=None, settled=False, narrow=True, **({"user_agent": agent} if agent else {}))
    if standalone is not None:
        page.add_init_script(f"Object.defineProperty(Navigator.prototype, 'standalone', {{ get: () => {json.dumps(standalone)} }})")
        page.reload()
    begin(page)
    page.goto("/app/#settings/install")
    expect(page.get_by_text(hint)).to_be_visible()


def test_without_a_secure_connection(visit, pictures):
    """The app says what does not work and why, and works while it is open."""
    page = visit("/app/", account=None, settled=False, narrow=True)
    page.add_init_script("""Object.defineProperty(window, "isSecureContext", { get: () => false });
        for (const name of ["serviceWorker", "storage", "locks"]) Object.defineProperty(Navigator.prototype, name, { get: () => undefined });""")
    page.reload()
    expect(page.get_by_text("This address begins with http, not https.")).to_be_visible()
    begin(page)
    expect(page.get_by_text("This address is not secure (https).")).to_be_visible()
    pictures(page, "app-insecure")
    look(page)
    expect(page.get_by_text("Everything is up to date.").first).to_be_visible()
    page.get_by_role("link", name="What does not work").click()
    expect(page.get_by_text("This address begins with http, not https.")).to_be_visible()
    tab(page, "Settings").click()
    page.get_by_role("link", name="About").click()
    expect(page.get_by_text("The app does not start")).to_be_visible()


# Starts without a network

def test_start_without_the_hub(product, visit, hours, pictures):
    """The page and its files come from the service worker, and messages from this browser."""
    visit.expect_errors(GATEWAY_AWAY, r"status of 503")
    product.send(hours, "Library opens late")
    page = open_app(visit, narrow=True, worker=True)
    fetch(page, "Library opens late")
    controlled(page)
    with product.away("msi-gateway"):
        page.reload()
        expect(card(page, "Library opens late")).to_be_visible()
        expect(page.get_by_text("The university's server cannot be reached. New messages come when it answers again.")).to_be_visible()
        pictures(page, "app-hub-away", at_length=True)
        # Pages that this browser has never opened are there as well.
        tab(page, "Settings").click()
        page.get_by_role("link", name="About").click()
        expect(page.get_by_text("The app starts")).to_be_visible()
        tab(page, "Subscriptions").click()
        expect(page.get_by_role("heading", name="Subscriptions")).to_be_visible()
        # In another language, too.
        page.goto("/app/#settings/language")
        page.get_by_role("radio", name="العربية").check()
        expect(page.locator("html")).to_have_attribute("dir", "rtl")
        page.get_by_role("radio", name="English").check()
        expect(page.locator("html")).to_have_attribute("dir", "ltr")
    tab(page, "Messages").click()
    product.send(hours, "Library opens again")
    fetch(page, "Library opens again")


def test_offline_since_the_first_visit(visit):
    """The page of the first visit was loaded without the service worker. Its further pages are there nevertheless."""
    page = open_app(visit, narrow=True, worker=True)
    eventually("the page has the service worker", lambda: page.evaluate("Boolean(navigator.serviceWorker.controller)"))
    # The app may look by itself at any moment.
    visit.expect_errors(GATEWAY_AWAY)
    page.context.set_offline(True)
    tab(page, "Settings").click()
    expect(page.get_by_role("link", name="About")).to_be_visible()


def test_only_the_files_of_the_app_are_kept(product, visit, hours):
    product.send(hours, "Library opens late")
    page = open_app(visit, worker=True)
    fetch(page, "Library opens late")
    controlled(page)
    look(page)
    version = page.evaluate(VERSION)
    kept = page.evaluate(KEPT)
    assert "/app/" in kept and f"/app/files/{version}/core/app.js" in kept and f"/app/files/{version}/text/ar/app.json" in kept
    assert all(path == "/app/" or path.startswith(f"/app/files/{version}/") for path in kept), kept
    # The portal and the API are none of the app's business.
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.map(({ scope }) => scope))") == [f"{product.url}/app/"]


# Versions

@pytest.fixture(scope="module")
def changing_product(request, tmp_path_factory):
    """A product whose app a test may change: `product.change(path, old, new)` also restarts the gateway. The changes stay."""
    folder = copy_of(pathlib.Path(request.config.getoption("executables")), tmp_path_factory.mktemp("executables"))
    files = folder / "mobile-student-intranet_Gateway.resources" / "AppFiles"
    product = Product(folder)

    def change(path, old, new):
        text = (files / path).read_text()
        assert old in text
        (files / path).write_text(text.replace(old, new))
        product.kill("msi-gateway")

    product.change, product.app_files = change, files
    yield product
    product.stop()


def waits(page):
    """Whether a newer version is complete; looks for one."""
    return page.evaluate("navigator.serviceWorker.getRegistration('/app/').then(async (known) => { await known.update().catch(() => {}); return Boolean(known.waiting); })")


def has_started(page, text):
    """Waits until the page about the app has a text. A page that was just closed may still count as open: then the next start shows it."""

    def found():
        expect(page.get_by_text("shows the messages")).to_be_visible()
        if page.get_by_text(text).count():
            return True
        page.reload()
        return False

    eventually(f"the version with “{text}”", found, pause=0.5)


def with_a_newer_version(product, visit, old, new):
    """A page of the app whose text about itself is another one in the newer version, which is complete and waits."""
    visit.expect_errors(GATEWAY_AWAY, r"status of 50\d")
    page = open_app(visit, product=product, narrow=True, worker=True)
    controlled(page)
    product.change("text/en/common.json", old, new)
    eventually("the newer version waits", lambda: waits(page), pause=0.5)
    return page


def test_a_new_version_takes_over_at_the_next_start(changing_product, visit):
    """The old one works until then. Messages and choices stay."""
    product = changing_product
    hours = product.new_subject("Opening hours", level="Recommended")
    page = with_a_newer_version(product, visit, "Message Hub shows the messages", "This newer app shows the messages")
    # The old one still works, with pages that it has not shown yet.
    product.send(hours, "During the upgrade")
    fetch(page, "During the upgrade")
    page.goto("/app/#settings/about")
    expect(page.get_by_text("Message Hub shows the messages")).to_be_visible()
    expect(page.get_by_text("(a newer one starts next time)")).to_be_visible()
    # Another page of the old one is open: loading one again does not replace the files of the other.
    other = visit.tab(page, "/app/#settings/about", settled=False)
    expect(other.get_by_text("Message Hub shows the messages")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Message Hub shows the messages")).to_be_visible()
    # The only page that is open starts again.
    other.close()
    page.reload()
    has_started(page, "This newer app shows the messages")
    expect(page.get_by_text("(a newer one starts next time)")).to_have_count(0)
    tab(page, "Messages").click()
    expect(card(page, "During the upgrade")).to_have_count(1)
    eventually("the old files are gone", lambda: len(page.evaluate("caches.keys()")) == 1)


@pytest.mark.at_length
def test_a_new_version_takes_over_when_the_app_is_opened_later(changing_product, visit):
    """The last page was closed."""
    page = with_a_newer_version(changing_product, visit, "shows the messages", "shows the messages and the version")
    context = page.context
    page.close()
    page = context.new_page()
    page.goto("/app/#settings/about")
    has_started(page, "shows the messages and the version")


@pytest.mark.at_length
def test_a_broken_version_is_withdrawn(changing_product, visit):
    """Its page does not even start. As README.md of the app says, another worker takes the place of the first one.

    It is the last test of this product, whose app has no worker after it.
    """
    product = changing_product
    hours = product.new_subject("Opening hours", level="Recommended")
    visit.expect_errors(GATEWAY_AWAY, r"status of 50\d", r"uncaught: .*broken", r"broken")
    product.send(hours, "Library opens late")
    page = open_app(visit, product=product, narrow=True, worker=True)
    fetch(page, "Library opens late")
    controlled(page)
    product.change("app.js", "await startNewest();", 'throw new Error("broken");')
    eventually("the broken version waits", lambda: waits(page), pause=0.5)
    context = page.context
    page.close()
    page = context.new_page()

    def is_broken():
        page.goto("/app/")
        return page.evaluate(BROKEN)

    eventually("the broken version starts", is_broken, pause=0.5)
    eventually("the app's service worker", lambda: page.evaluate("Boolean(navigator.serviceWorker.controller)"))
    expect(page.get_by_role("navigation")).to_have_count(0)
    # The next release is good, and it is withdrawn what browsers have kept.
    (product.app_files / "worker" / "service-worker.js").write_text((product.app_files / "worker" / "withdrawal.js").read_text())
    (product.app_files / "worker" / "push-worker.js").write_text("")
    product.change("app.js", 'throw new Error("broken");', "await startNewest();")

    def works():
        page.goto("/app/")
        return page.get_by_role("navigation").count() or eventually("a page", lambda: page.get_by_role("navigation").count(), 5)

    eventually("the page comes from the gateway", works, pause=0.5)
    expect(card(page, "Library opens late")).to_be_visible()
    eventually("nothing is kept", lambda: page.evaluate("caches.keys()") == [] and page.evaluate("navigator.serviceWorker.getRegistration('/app/')") is None)


# What a browser may refuse

@pytest.mark.at_length
def test_a_newer_version_in_another_tab(visit, pictures):
    """Its data have another form, so the older page stops, and says what to do."""
    page = open_app(visit, narrow=True)
    other = visit.tab(page, "/app/service-worker.js", settled=False)
    other.evaluate("() => new Promise((resolve, reject) => Object.assign(indexedDB.open('msi-app', 99), { onsuccess: resolve, onerror: reject }))")
    expect(page.get_by_role("heading", name="A newer version is open")).to_be_visible()
    pictures(page, "app-outdated")


def test_a_browser_that_keeps_nothing(visit, pictures):
    page = visit("/app/", account=None, settled=False, narrow=True)
    page.add_init_script("IDBFactory.prototype.open = () => { throw new DOMException('blocked', 'SecurityError'); };")
    page.reload()
    expect(page.get_by_role("heading", name="The app cannot keep messages here")).to_be_visible()
    pictures(page, "app-no-storage")


def test_the_certificate_is_not_trusted(visit):
    """The browser refuses the service worker. The app works online, and does not promise more."""
    page = open_app(visit, narrow=True, worker=False)
    page.goto("/app/#settings/about")
    expect(page.get_by_text("The app does not start")).to_be_visible()


# By keys

def test_keyboard(product, visit, hours, check):
    """Everything is reached in the order in which it is seen, and the focus is visible."""
    product.send(hours, "Library opens late")
    page = open_app(visit)
    fetch(page, "Library opens late")
    page.locator("h1").first.focus()
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        name = page.evaluate("(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim().slice(0, 30)")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", (name, outline)
        reached.append(name)
        if name == "Settings":
            break
    order = ["Look for new messages", "Search all messages", "By time", "By channel", "Unread only"]
    places = [reached.index(name) for name in order]
    assert places == sorted(places), reached
    assert any("Library opens late" in name for name in reached) and reached[-1] == "Settings", reached
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    check(page)
