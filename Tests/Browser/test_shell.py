"""The frame of every page: whether the hub is there, short messages, keys, what waits for approval, and where things are."""

import re
import time

import pytest
from browsing.visits import GATEWAY_AWAY, SIGNED_OUT
from harness.product import PASSWORD
from harness.waiting import eventually
from playwright.sync_api import expect

PAGES = ["send", "messages", "templates", "broadcasts", "overview", "cube", "people", "tokens", "audit", "account", "app"]
DOUBT = re.compile(r"No answer from the hub since \d\d:\d\d:\d\d")


def pill(page):
    return page.locator("health-pill a")


def works(page):
    expect(pill(page)).to_have_text("Sending works")


# Whether the hub is there

def test_frozen_gateway(spare_product, visit, pictures):
    """Nothing ends the connections of a gateway that is frozen. All tabs notice its silence, and its return."""
    visit.expect_errors(GATEWAY_AWAY, r"status of 50\d", r"ERR_|timed out")
    page = visit("/portal/messages/", clock=True)
    other = visit.tab(page, "/portal/send/")
    for each in (page, other):
        works(each)
    with spare_product.frozen("msi-gateway"):
        # The clock is that of both tabs. How long they wait for the answer to a question is real time.
        visit.after(page, 4, "the doubt in all tabs", lambda: all(DOUBT.search(pill(each).inner_text()) for each in (page, other)))
        expect(page.locator("health-pill").get_by_role("status")).to_contain_text("No answer from the hub")
        # Without the mirrored one: a frozen gateway serves no other page.
        pictures(other, "hub-silent")
    for each in (page, other):
        works(each)


def test_network_of_the_browser_is_gone(product, visit):
    visit.expect_errors(GATEWAY_AWAY)
    page = visit("/portal/send/")
    works(page)
    page.context.set_offline(True)
    expect(pill(page)).to_have_text(DOUBT)
    page.context.set_offline(False)
    works(page)


@pytest.mark.at_length
def test_request_without_an_answer(product, visit):
    """The pill asks at once, without waiting for the stream's silence."""
    visit.expect_errors(GATEWAY_AWAY)
    page = visit("/portal/overview/")
    works(page)
    page.route("**/health", lambda route: route.abort())
    page.route("**/session", lambda route: route.abort())
    page.evaluate("""async () => {
        const path = document.querySelector('script[type=module]').src.replace(/overview.overview.js$/, "lib/api.js");
        await (await import(path)).get("/session").catch(() => {});
    }""")
    expect(pill(page)).to_have_text(DOUBT)
    page.unroute("**/health")
    works(page)


def test_frozen_tab_reads_the_stream(product, visit):
    """The tab that reads the stream for the others may be frozen by the browser: another one takes its place."""
    first = visit("/portal/messages/")
    works(first)
    second = visit.tab(first, "/portal/messages/")
    works(second)
    first.context.new_cdp_session(first).send("Page.setWebLifecycleState", {"state": "frozen"})
    subject = product.new_subject()
    numbers = iter(range(1_000))

    def appears():
        title = f"While a tab is frozen {next(numbers)}"
        product.send(subject, title)
        expect(second.get_by_role("link", name=title, exact=True)).to_be_visible(timeout=5_000)
        return True

    eventually("live events", appears)
    works(second)


def test_pages_take_the_focus_and_have_a_quiet_pill_in_one_place(product, visit):
    boxes = set()
    page = visit("/portal/send/", account="admin")
    for name in PAGES:
        page.goto(f"/portal/{name}/")
        visit.settle(page)
        works(page)
        # The keys begin in the page, not before the navigation.
        eventually(f"the focus in {name}", lambda: page.evaluate("document.querySelector('main').contains(document.activeElement)"))
        box = pill(page).bounding_box()
        boxes.add((box["x"], box["y"]))
        assert pill(page).evaluate("(link) => getComputedStyle(link).backgroundColor") == "rgba(0, 0, 0, 0)"
    assert len(boxes) == 1, boxes
    narrow = visit("/portal/messages/", narrow=True)
    works(narrow)
    expect(pill(narrow)).to_be_in_viewport()
    assert pill(narrow).bounding_box()["height"] >= 44


# Where things are

def test_touch_targets(product, visit):
    page = visit(f"/portal/{PAGES[0]}/", account="admin", narrow=True, touch=True)
    find = """() => [...document.querySelectorAll("button, .button, .chip, select, summary, [role=tab], .rail a, .bar a")]
        // The target of a cube's title is its row.
        .filter((each) => each.checkVisibility() && !each.closest(".unseen, .title"))
        .map((each) => [each.outerHTML.slice(0, 120), each.getBoundingClientRect()])
        .filter(([, box]) => box.width > 1 && (box.height < 43.5 || box.width < 43.5)).map(([text, box]) => `${box.width}x${box.height} ${text}`)"""

    def are_large():
        """Some get their words only after the page has its content."""
        small = page.evaluate(find)
        assert not small, "\n".join(small)
        return True

    for name in PAGES:
        page.goto(f"/portal/{name}/")
        visit.settle(page)
        eventually(f"a small target on {name}", are_large, 45)


@pytest.mark.at_length
def test_lists_use_a_wide_window(product, visit):
    page = visit("/portal/messages/", account="admin")
    page.set_viewport_size({"width": 1920, "height": 1000})
    for name, least in {"messages": 1_690, "audit": 1_690, "people": 1_690, "cube": 1_690, "overview": 1_690, "send": 1_400}.items():
        page.goto(f"/portal/{name}/")
        visit.settle(page)
        assert page.locator("main").bounding_box()["width"] >= least, name


# Short messages

def toast(page, text):
    return page.locator(".toast").filter(has_text=text)


def setting(page, name):
    return page.get_by_role("checkbox", name=name)


@pytest.mark.at_length
def test_toast_is_closed(product, visit, check):
    page = visit("/portal/account/")
    setting(page, "Wait ten seconds").click()
    message = toast(page, "Messages go out at once.")
    # Under the pointer it stays longer than five seconds, which the check may take.
    message.hover()
    check(page)
    message.get_by_role("button", name="Hide").click()
    expect(message).to_have_count(0)
    setting(page, "Wait ten seconds").click()
    expect(toast(page, "Messages wait ten seconds.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".toast")).to_have_count(0)


@pytest.mark.at_length
def test_toast_under_the_pointer_ends(product, visit):
    page = visit("/portal/account/", clock=True)
    setting(page, "Wait ten seconds").click()
    message = toast(page, "Messages go out at once.")
    message.hover()
    page.clock.fast_forward(15_000)
    expect(message).to_be_visible()
    visit.after(page, 5, "no message", lambda: message.count() == 0)


def test_focus_returns_from_a_toast(product, visit):
    page = visit("/portal/account/")
    setting(page, "Wait ten seconds").click()
    button = toast(page, "Messages").get_by_role("button", name="Hide")
    button.focus()
    page.keyboard.press("Enter")
    expect(setting(page, "Wait ten seconds")).to_be_focused()


def test_toast_covers_no_action(product, visit):
    page = visit("/portal/account/")
    # A button where the message would appear.
    page.evaluate("""() => document.body.append(Object.assign(document.createElement("button"),
        { className: "button", textContent: "Delete", style: "position: fixed; inset-block-end: 96px; inset-inline: 40%; z-index: 5" }))""")
    for width, height in ((1280, 800), (390, 844), (320, 640)):
        page.set_viewport_size({"width": width, "height": height})
        setting(page, "Wait ten seconds").click()
        box, action = toast(page, "Messages").bounding_box(), page.get_by_role("button", name="Delete").bounding_box()
        assert box["y"] + box["height"] <= action["y"] or box["y"] >= action["y"] + action["height"], (box, action)
        toast(page, "Messages").get_by_role("button", name="Hide").click()
        expect(page.locator(".toast")).to_have_count(0)


@pytest.mark.at_length
def test_toast_is_above_a_bar(product, visit):
    page = visit("/portal/account/")
    setting(page, "Wait ten seconds").click()
    low = toast(page, "Messages").bounding_box()["y"]
    page.evaluate("document.documentElement.style.setProperty('--bar-block-size', '80px')")
    eventually("the message above the bar", lambda: toast(page, "Messages").bounding_box()["y"] == low - 80)


# Keys

def test_keys_lead_to_search_and_new_message(product, visit):
    page = visit("/portal/overview/")
    page.keyboard.press("/")
    search = page.get_by_role("searchbox")
    expect(search).to_be_focused()
    assert page.url.endswith("/portal/messages/#search")
    # While somebody types they are text.
    search.press_sequentially("/c?")
    expect(search).to_have_value("/c?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("heading", level=1).focus()
    page.keyboard.press("/")
    expect(search).to_be_focused()
    page.get_by_role("heading", level=1).focus()
    page.keyboard.press("c")
    page.wait_for_url("**/portal/send/")


def test_all_keys_are_shown(product, visit, pictures):
    page = visit("/portal/messages/")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("Write a new message")
    pictures(page, "keys", right_to_left=True)
    # A dialog is open: no other key counts.
    page.keyboard.press("c")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert page.url.endswith("/portal/messages/")


@pytest.mark.at_length
def test_keys_of_an_arabic_keyboard(product, visit):
    page = visit("/portal/overview/", language="ar")
    page.evaluate("""document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ؤ", code: "KeyC", bubbles: true, cancelable: true }))""")
    page.wait_for_url("**/portal/send/")


def test_keys_are_switched_off(product, visit):
    page = visit("/portal/account/")
    setting(page, "Keys without Ctrl").click()
    expect(toast(page, "The keys are off.")).to_be_visible()
    page.goto("/portal/overview/")
    visit.settle(page)
    page.keyboard.press("?")
    page.keyboard.press("c")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url.endswith("/portal/overview/")
    page.goto("/portal/account/")
    page.get_by_role("button", name="Show all keys").click()
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("switched off")


def test_arrows_move_between_rows(product, visit):
    subject = product.new_subject("Rows")
    titles = [product.unique("Row of the history") for _ in range(3)]
    for title in titles:
        product.wait_for_state(product.send(subject, title), "relayed")
    page = visit(f"/portal/messages/?subject={subject.path.rpartition('/')[2]}")
    links = [page.get_by_role("link", name=title, exact=True) for title in reversed(titles)]

    def leads(start, keys, end):
        """The history may read its rows again in between."""
        start.focus()
        for key in keys:
            page.keyboard.press(key)
        return end.evaluate("(link) => link === document.activeElement")

    eventually("the next row", lambda: leads(links[0], ["ArrowDown"], links[1]))
    eventually("the last row", lambda: leads(links[0], ["ArrowDown"] * 4, links[2]))
    eventually("the row before", lambda: leads(links[2], ["ArrowUp"], links[1]))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(titles[1])


def test_control_enter_submits_a_dialog(product, visit):
    visit.expect_errors(r"status of 40\d")
    page = visit("/portal/people/", account="admin", fresh=True)
    page.get_by_role("button", name="Invite…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").first.focus()
    page.evaluate("document.addEventListener('submit', () => { window.submits = (window.submits ?? 0) + 1; })")
    # A key that is held submits once.
    page.keyboard.down("Control")
    for _ in range(3):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    page.keyboard.up("Control")
    expect(dialog.locator("[aria-invalid=true]").first).to_be_visible()
    assert page.evaluate("window.submits") == 1


# What waits for approval

def held_for(page):
    """The number in the title of the overview: how many messages this person can approve."""
    found = re.match(r"\((\d+)\) Overview · Message Hub$", page.title())
    return int(found.group(1)) if found else 0


def wait_for_count(product, *pages):
    """The count comes after the page, and other tests have left messages that wait."""
    if product.api("GET", "/statistics")["states"].get("held"):
        for page in pages:
            expect(page.locator("nav .badge").first).to_be_visible()


@pytest.mark.at_length
def test_title_counts_what_waits_for_approval(product, visit):
    subject = product.new_subject("Held", approval=True)
    page = visit("/portal/overview/", account="ben")
    sender = visit("/portal/overview/", account="ann")

    wait_for_count(product, page, sender)
    before, own = held_for(page), held_for(sender)
    key = product.send(subject, "Waits", account="ann")
    eventually("one more in the title", lambda: held_for(page) == before + 1)
    # Its sender cannot approve it.
    assert held_for(sender) == own
    product.api("DELETE", f"/message/{key}")
    eventually("the number of before", lambda: held_for(page) == before)


@pytest.mark.at_length
def test_title_does_not_count_what_the_person_has_edited(product, visit):
    """Who has edited a message cannot approve it either."""
    subject = product.new_subject("Held", approval=True)
    page = visit("/portal/overview/", account="ben")
    wait_for_count(product, page)
    before = held_for(page)
    key = product.send(subject, "Planned", account="ann", send_at=int(time.time() / 60 + 1_440) * 60_000)
    eventually("the planned one in the title", lambda: held_for(page) == before + 1)
    product.api("POST", f"/message/{key}/approve", account="ben")
    product.api("PUT", f"/message/{key}", {
        "title": "Edited", "desc": "", "message": "A text.", "topic_key": subject.topic_key, "distribution": "Information", "send_at": product.message(key)["send_at"]}, account="ben")
    assert product.message(key)["relay"]["state"] == "held"
    page.reload()
    eventually("the badge", lambda: page.locator("nav .badge").first.is_visible())
    assert held_for(page) == before
    product.api("DELETE", f"/message/{key}")


def test_notification_of_what_waits(product, visit):
    """One of the tabs shows it, once, and only if somebody has switched it on."""
    subject = product.new_subject("Held", approval=True)
    page = visit("/portal/account/", account="ben", settled=False)
    page.context.grant_permissions(["notifications"])
    page.context.add_init_script("""window.Notification = class {
        static permission = "granted";
        static requestPermission() { return Promise.resolve("granted"); }
        constructor(title) { localStorage.setItem("shown", (localStorage.getItem("shown") ?? "") + `[${title}]`); }
    };""")
    page.reload()
    visit.settle(page)
    other = visit.tab(page, "/portal/overview/")
    works(other)
    shown = lambda: page.evaluate("localStorage.getItem('shown')")
    wait_for_count(product, other)
    before = held_for(other)
    title = product.unique("Quiet")
    product.send(subject, title, account="ann")
    # The tabs have got the event by then.
    eventually("the first one in the title", lambda: held_for(other) == before + 1)
    assert shown() is None
    setting(page, "Tell me about messages").click()
    expect(toast(page, "Notifications are on.")).to_be_visible()
    title = product.unique("Loud")
    product.send(subject, title, account="ann")
    eventually("the notification", shown)
    assert shown() == f"[Waits for approval: {title}]"
    # Another account of the same browser decides for itself.
    page.context.clear_cookies()
    page.context.add_cookies([{"name": name, "value": value, "url": product.url} for name, value in product.session("admin").cookies.items()])
    page.reload()
    expect(setting(page, "Tell me about messages")).not_to_be_checked()


# The kept cube

def cube_sizes(page):
    return page.evaluate("performance.getEntriesByType('resource').filter((each) => each.name.endsWith('/channel')).map((each) => each.decodedBodySize)")


def kept_cubes(page):
    """How many cubes the browser keeps."""
    return page.evaluate("""() => new Promise((resolve) => { indexedDB.open("msi", 1).onsuccess = ({ target: { result } }) => {
        const counting = result.transaction("cube").objectStore("cube").count();
        counting.onsuccess = () => { result.close(); resolve(counting.result); }; }; })""")


def test_cube_is_read_once(product, visit):
    page = visit("/portal/send/", account="ben", fresh=True)
    eventually("the cube", lambda: max(cube_sizes(page), default=0) > 0)
    eventually("a kept cube", lambda: kept_cubes(page) == 1)

    def is_confirmed():
        """A page does not wait for long for what a busy machine keeps, and reads the cube again then."""
        page.goto("/portal/messages/")
        visit.settle(page)
        eventually("an answer about the cube", lambda: cube_sizes(page))
        return max(cube_sizes(page)) == 0

    eventually("an answer without the cube", is_confirmed)
    expect(page.get_by_role("combobox", name="Place").or_(page.locator("select.chip").first)).to_be_visible()
    # After a change it is read again.
    name = product.new_subject("Fresh").name
    page.goto("/portal/send/")
    page.get_by_role("combobox", name="Subject").fill(name)
    expect(page.get_by_role("option").filter(has_text=name)).to_be_visible()
    # Nothing stays for whoever comes next.
    page.get_by_role("button", name="Sign out").first.click()
    expect(page.get_by_role("textbox", name="Account")).to_be_visible()
    assert kept_cubes(page) == 0


@pytest.mark.at_length
def test_another_version_of_the_portal_reads_the_cube_again(product, visit):
    page = visit("/portal/send/", account="ben")
    eventually("the cube", lambda: max(cube_sizes(page), default=0) > 0)
    eventually("a kept cube", lambda: kept_cubes(page) == 1)
    # As after an upgrade: the paths of the files name another version.
    page.route("**/portal/messages/", lambda route: route.fulfill(body=re.sub("files/[^/]+/", "files/other/", (answer := route.fetch()).text()), response=answer))
    page.goto("/portal/messages/")
    visit.settle(page)
    eventually("the cube", lambda: cube_sizes(page) and max(cube_sizes(page)) > 0)


@pytest.mark.parametrize("broken", [
    "Object.defineProperty(window, 'indexedDB', { get() { throw new Error('blocked'); } })",
    pytest.param("indexedDB.open = () => ({})", marks=pytest.mark.at_length),
])
def test_pages_work_without_a_database(product, visit, broken):
    page = visit("/", account=None, settled=False)
    visit.expect_errors(SIGNED_OUT)
    page.context.add_init_script(broken)
    page.reload()
    page.get_by_role("textbox", name="Account").fill("ann")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("combobox", name="Subject")).to_be_visible()
