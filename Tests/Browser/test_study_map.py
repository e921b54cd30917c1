"""The map of study sessions, and the list that says the same: with and without Leaflet, pictures, and a position."""

import base64
import re

import pytest
from browsing.app import tab
from browsing.people import in_arabic, open_people, opens
from browsing.study import (
    BUDGET, LEAFLET_BUDGET, UNASKED, at, bar, confirm, go, later_scripts, listed, listen, on_map, open_study, pin, row, says, scripts, sheet)
from browsing.study_fixtures import ann, ben, group, product, visit
from browsing.visits import NARROW, SERVICE_AWAY
from harness.study import CAMPUS, NORTH, SOUTH, WEST, Class, befriend, student
from harness.waiting import eventually
from playwright.sync_api import expect

PICTURE = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
KINDS = ["friend_request", "friend_accepted", "session_invite", "session_join", "session_post", "session_host", "session_ending", "session_ended", "session_new"]
# The address of what the hub says about the map.
INFORMATION = re.compile(r"/study$")
# What the list and the map say of each session, read at the same time: the parts of its row, what readers hear of its pin, and all sessions of that.
SAID = """() => Object.fromEntries([...document.querySelectorAll(".study-list .session-row")].map((row) => {
    const texts = (selector) => [...row.querySelectorAll(selector)].map((each) => each.textContent);
    const pin = document.querySelector(`.pin[data-sessions~='${row.dataset.session}']`);
    return [row.dataset.session, { row: texts(".row-label bdi, .row-label .tag, .hint > bdi, .friends-there, .session-left"),
        friends: texts(".friends-there"), pin: pin?.ariaLabel, sessions: pin?.dataset.sessions.split(" ") }];
}))"""
# The rows of the list, and of the sheet over the map, by their sessions.
ROWS = """() => [".study-list", ".study-sheet"].map((place) => Object.fromEntries([...document.querySelectorAll(`${place} .session-row`)]
    .map((row) => [row.dataset.session, row.textContent])))"""


def sponsored(group, *places):
    """Sessions of the professor at some places, one with each of these topics."""
    return [group.start(group.professor, f"Topic {number}", place=place, sponsored=True) for number, place in enumerate(places, 1)]


def with_map(page, change):
    """From now on, the hub's answer about the map is changed by `change(map)`."""

    def answer(route):
        document = route.fetch().json()
        change(document["map"])
        route.fulfill(json=document)

    page.route(INFORMATION, answer)


def opened_with(visit, person, change, **options):
    """The app in a new browser that gets another answer about the map."""
    page = open_people(visit, person, **options)
    with_map(page, change)
    go(page, "#study")
    expect(page.locator(".study-view")).to_be_visible()
    return page


def say_the_same(page, *sessions):
    """The map and the list have these sessions, with the same words: topics, class, place, people, the time that is left, friends, and what they are
    for the person. Pins in one place say how many they are, and whether a friend is there."""
    ids = {each.id for each in sessions}
    eventually("the same sessions", lambda: set(on_map(page)) == set(listed(page)) == ids)
    assert len(on_map(page)) == len(listed(page)) == len(ids)
    said = page.evaluate(SAID)
    for session in sessions:
        found, read = said[session.id], session.read()
        for text in (*read["topics"], session.group.name, read["place"]["name"], f"{len(read['attendants'])} pe", " left"):
            assert any(text in part for part in found["row"]), (text, found)
        if len(found["sessions"]) == 1:
            assert sorted(found["pin"].split(" · ")) == sorted(found["row"]), found
        else:
            has_friend = any(said[each]["friends"] for each in found["sessions"])
            assert found["pin"] == f"{len(found['sessions'])} sessions{' · friend' if has_friend else ''}", found


# The map and the list

def test_list_equals_map(product, visit, group, ann, ben, pictures):
    """Whatever is filtered, begins, changes or ends."""
    other = Class(product, "Compilers", professor=group.professor)
    group.add(ann, ben)
    other.add(ann)
    befriend(ann, ben)
    one, two, three = (*sponsored(group, NORTH, SOUTH), *sponsored(other, WEST))
    page = open_study(visit, ann)
    say_the_same(page, one, two, three)
    chips = page.get_by_role("group", name="Classes")
    chips.get_by_role("button", name=other.name).click()
    say_the_same(page, three)
    chips.get_by_role("button", name=group.name).click()
    say_the_same(page, one, two, three)
    chips.get_by_role("button", name=other.name).click()
    say_the_same(page, one, two)
    one.join(ben)
    expect(row(page, one)).to_contain_text("1 person")
    expect(row(page, one)).to_contain_text(f"friends: {ben.account}")
    say_the_same(page, one, two)
    two.leave(group.professor)
    say_the_same(page, one)
    four = group.start(ben, "Heaps", place=CAMPUS, leave=True)
    say_the_same(page, one, four)
    chips.get_by_role("button", name="All classes").click()
    say_the_same(page, one, three, four)
    pictures(page, "study-map", arrange=in_arabic(ann, "#study"))
    ben.request("POST", f"{four.path}/invite", {"accounts": [ann.account]})
    three.join(ann)
    expect(row(page, four)).to_contain_text("Invited")
    expect(row(page, three)).to_contain_text("You are here")
    say_the_same(page, one, three, four)
    # Both lead to who hosts it.
    for session in (pin(page, four), row(page, four)):
        session.click()
        expect(sheet(page)).to_contain_text(f"Host: {ben.account}")
        page.keyboard.press("Escape")
        expect(sheet(page)).to_be_hidden()
    # In a narrow window one of the two is there.
    page.set_viewport_size(NARROW)
    expect(page.locator(".study-list")).to_be_hidden()
    page.get_by_role("group", name="Show sessions as").get_by_role("button", name="List").click()
    expect(page.get_by_role("region", name="Map of study sessions")).to_be_hidden()
    assert set(listed(page)) == {one.id, three.id, four.id}

    def as_a_list(other):
        other.set_viewport_size(NARROW)
        other.get_by_role("button", name="قائمة", exact=True).click()
        expect(row(other, one)).to_be_visible()

    pictures(page, "study-list", arabic=in_arabic(ann, "#study", as_a_list))
    page.reload()
    expect(row(page, one)).to_be_visible()


def test_pins_in_one_place(visit, group, ann, ben, pictures):
    """They are one pin with their number, which a zoom parts if it can."""
    group.add(ann, ben)
    befriend(ann, ben)
    here, there, far = CAMPUS, {**CAMPUS, "longitude": CAMPUS["longitude"] + 0.0004}, NORTH
    sessions = sponsored(group, here, here, there, far)
    sessions[0].join(ben)
    page = open_study(visit, ann)
    expect(row(page, sessions[0])).to_contain_text(f"friends: {ben.account}")
    say_the_same(page, *sessions)
    expect(page.locator(".pin")).to_have_count(2)
    many = page.get_by_role("button", name="3 sessions")
    expect(many).to_have_text("3")
    pictures(page, "study-group", at_length=True)
    many.click()
    expect(page.get_by_role("button", name="2 sessions")).to_be_visible()
    say_the_same(page, *sessions)
    # Those at the same place are a list: no zoom parts them.
    page.get_by_role("button", name="2 sessions").click()
    expect(sheet(page, "Sessions at this place").locator(".session-row")).to_have_count(2)
    listed_rows, rows = page.evaluate(ROWS)
    assert rows == {each.id: listed_rows[each.id] for each in sessions[:2]}, rows

    def at_this_place(other):
        """It has no address: taps on the pin lead to it."""
        in_arabic(ann, "#study")(other)
        eventually("the sessions at this place", lambda: sheet(other).is_visible() or pin(other, sessions[0]).click())

    pictures(page, "study-many", arrange=at_this_place)
    sheet(page).locator(f"[data-session='{sessions[0].id}']").click()
    expect(sheet(page, "Topic 1")).to_be_visible()


@pytest.mark.at_length
def test_a_card_over_the_map(visit, group, ann, ben, pictures):
    """It leaves the map in sight, and its pin as well."""
    group.add(ann, ben)
    session = group.start(ben, "Heaps", "Trees", description="Chapter 6", place=SOUTH)
    page = open_study(visit, ann, narrow=True)
    pin(page, session).click()
    expect(sheet(page)).to_contain_text("Chapter 6")
    pictures(page, "study-card", arrange=in_arabic(ann, session.link))

    def is_in_sight():
        place, over = pin(page, session).bounding_box(), sheet(page).bounding_box()
        return place["y"] + place["height"] <= over["y"] and place["y"] >= 0 and over["y"] > 120

    eventually("the pin is above the card", is_in_sight)
    size = page.viewport_size
    page.set_viewport_size({"width": size["height"], "height": size["width"]})
    eventually("the map is low, and the pin in sight", lambda: page.locator(".map-view").bounding_box()["height"] < size["width"]
               and pin(page, session).bounding_box()["y"] >= 0)
    page.set_viewport_size(size)
    eventually("the pin is above the card after the phone was turned", is_in_sight)
    # The focus comes back to the pin.
    page.keyboard.press("Escape")
    expect(sheet(page)).to_be_hidden()
    expect(pin(page, session)).to_be_focused()


@pytest.mark.at_length
def test_the_map_makes_room(visit, group, ann, ben):
    """What is over it does not cover its pins, and after a sheet is closed it is whole again."""
    group.add(ann, ben)
    session = group.start(ben, "Heaps", place=NORTH)
    page = open_study(visit, ann, "#study/classes", narrow=True)
    expect(sheet(page, "Classes")).to_be_visible()
    buildings = page.locator(".plan-building")

    def is_between(lower):
        """Whether the pin is below the buttons, and above something else."""
        place, line = pin(page, session).bounding_box(), page.locator(".study-line").bounding_box()
        return place and place["y"] >= line["y"] + line["height"] and place["y"] + place["height"] <= lower

    eventually("the pin is above the sheet", lambda: is_between(sheet(page).bounding_box()["y"]))
    page.keyboard.press("Escape")
    expect(sheet(page)).to_be_hidden()
    middle = page.locator(".map-view").bounding_box()["height"] / 2
    eventually("the pin is on the whole map", lambda: is_between(page.viewport_size["height"]))
    boxes = lambda: [box for box in (each.bounding_box() for each in buildings.all()) if box]
    eventually("the plan fills the map", lambda: max(box["y"] + box["height"] for box in boxes()) > middle)


def test_the_plan_of_the_campus(visit, group, ann):
    """It is drawn without any picture of another server, and its names are in the language of the page."""
    group.add(ann)
    asked = []
    page = open_people(visit, ann)
    page.on("request", lambda request: asked.append(request.url))
    go(page, "#study")
    expect(page.locator(".plan-building").first).to_be_attached()
    expect(page.locator(".plan-name").first).to_be_attached()
    assert all(url.startswith((page.url.split("/app/")[0], "blob:", "data:")) for url in asked), asked
    page.evaluate("localStorage.setItem('msi.app.language', 'ar')")
    page.reload()
    expect(page.locator(".plan-name", has_text="النهر")).to_be_attached()


def test_pictures_of_a_server(visit, group, ann):
    """If the operator names one. What its licence demands is on the map."""
    group.add(ann)
    asked = []

    def picture(route):
        asked.append(route.request.url)
        route.fulfill(body=PICTURE, content_type="image/png")

    def change(about):
        about |= {"tiles": "https://tiles.example.edu/{z}/{x}/{y}.png", "attribution": "Made by https://maps.example.edu"}

    page = open_people(visit, ann)
    page.route("https://tiles.example.edu/**", picture)
    with_map(page, change)
    with page.expect_response(re.compile(r"^https://tiles\.example\.edu/")):
        go(page, "#study")
    assert asked and all(re.fullmatch(r"https://tiles\.example\.edu/\d+/\d+/\d+\.png", each) for each in asked), asked
    expect(page.get_by_role("link", name="maps.example.edu")).to_be_visible()
    expect(page.locator(".plan-building")).to_have_count(0)


@pytest.mark.parametrize("is_installed", [False, pytest.param(True, marks=pytest.mark.at_length)])
def test_without_leaflet(visit, group, ann, ben, pictures, is_installed):
    """It is not installed, or it cannot be loaded: the list has everything, in one sentence."""
    visit.expect_errors(r"leaflet", r"net::ERR_FAILED|Failed to fetch")
    group.add(ann, ben)
    session = group.start(ben, "Heaps")
    page = listen(open_people(visit, ann, narrow=True))
    if is_installed:
        page.route("**/leaflet.min.js", lambda route: route.abort())
    else:
        with_map(page, lambda about: about.pop("leaflet"))
    go(page, "#study")
    expect(page.get_by_text("The map cannot be shown here. The list has all sessions.")).to_be_visible()
    expect(page.get_by_role("group", name="Show sessions as")).to_be_hidden()
    expect(page.get_by_role("region", name="Map of study sessions")).to_be_hidden()
    if not is_installed:

        def in_arabic_without_map(other):
            with_map(other, lambda about: about.pop("leaflet"))
            in_arabic(ann, "#study")(other)
            expect(other.get_by_text("لا يمكن عرض الخريطة هنا. في القائمة كل الجلسات.")).to_be_visible()

        pictures(page, "study-without-map", arabic=in_arabic_without_map)
    row(page, session).click()
    sheet(page).get_by_role("button", name="Join", exact=True).click()
    says(page, "You are in: Heaps.")


# The position

def test_a_sentence_comes_before_the_question(visit, group, ann, pictures):
    """Why, and what becomes of it. Who says no is not asked by the browser."""
    group.add(ann)
    page = open_people(visit, ann, narrow=True, **at(CAMPUS))
    page.add_init_script(f"({UNASKED})()")
    page.add_init_script("navigator.geolocation.getCurrentPosition = ((ask) => function (...given) { window.asked = (window.asked ?? 0) + 1; return ask.apply(this, given); })(navigator.geolocation.getCurrentPosition);")
    go(page, "#study")
    page.reload()
    page.get_by_role("button", name="Show where I am").click()
    dialog = page.get_by_role("dialog", name="Use your position?")
    expect(dialog).to_contain_text("can be forged")

    def asked_in_arabic(other):
        other.evaluate(UNASKED)
        opens("أظهر مكاني")(other)

    pictures(page, "study-position", arabic=in_arabic(ann, "#study", asked_in_arabic))
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert page.evaluate("window.asked ?? 0") == 0
    expect(page.locator(".person-mark")).to_have_count(0)
    page.get_by_role("button", name="Show where I am").click()
    page.get_by_role("dialog").get_by_role("button", name="Use my position").click()
    expect(page.locator(".person-mark")).to_have_count(1)
    assert page.evaluate("window.asked") == 1


def test_without_a_position(visit, group, ann, ben, pictures):
    """Everything but a student's new session works, and the form says why not."""
    group.add(ann, ben)
    session = group.start(ben, "Heaps")
    page = open_study(visit, ann, narrow=True)
    page.evaluate("() => { navigator.geolocation.getCurrentPosition = (done, failed) => failed({ code: 1 }); }")
    page.get_by_role("link", name="New session").click()
    form = sheet(page, "New session")
    expect(form.get_by_text("Who starts a session as a student has to be there.")).to_be_visible()
    form.get_by_label("Topics", exact=True).fill("Mine")
    form.get_by_role("button", name="Start", exact=True).click()
    expect(form.get_by_role("alert").filter(has_text="has to be there")).to_be_visible()
    pictures(page, "study-new-without-position")
    form.get_by_role("button", name="Use my position…").click()
    # The browser may have said no already, in which case there is nothing to explain.
    allow = page.get_by_role("dialog").get_by_role("button", name="Use my position")
    denied = lambda: any("does not tell this page where you are" in each for each in page.evaluate("window.said"))
    eventually("a question, or the answer", lambda: allow.is_visible() or denied())
    if allow.is_visible():
        allow.click()
    says(page, "Your browser does not tell this page where you are.")
    go(page, session)
    sheet(page).get_by_role("button", name="Join", exact=True).click()
    says(page, "You are in: Heaps.")
    assert group.open() == [session.id] and session.read()["attendants"] == [ben.account, ann.account]


@pytest.mark.at_length
def test_the_position_is_kept_nowhere(visit, group, ann):
    """Neither in the app's data nor in any storage of the browser."""
    group.add(ann)
    secret = {"latitude": 45.000123, "longitude": -30.000456}
    page = open_study(visit, ann, place=secret)
    expect(page.locator(".person-mark")).to_have_count(1)
    page.get_by_role("link", name="New session").click()
    sheet(page).get_by_role("button", name="Middle of the map").click()
    sheet(page).get_by_label("Topics", exact=True).fill("Heaps")
    sheet(page).get_by_role("button", name="Start", exact=True).click()
    expect(bar(page)).to_be_visible()
    stored = page.evaluate("""async () => {
        const opened = await new Promise((resolve) => { const asked = indexedDB.open("msi-app"); asked.onsuccess = () => resolve(asked.result); });
        const stores = [...opened.objectStoreNames];
        const read = opened.transaction(stores);
        const all = await Promise.all(stores.map((name) => new Promise((resolve) => { const asked = read.objectStore(name).getAll(); asked.onsuccess = () => resolve(asked.result); })));
        opened.close();
        return JSON.stringify([all, { ...localStorage }, { ...sessionStorage }]);
    }""")
    # Its digits, in whatever form; the place of the session has others.
    assert "000123" not in stored and "000456" not in stored, stored


# Everything else

@pytest.mark.at_length
def test_what_is_loaded(visit, group, ann):
    """Nothing of it before somebody opens the page, and then less than the budget. Leaflet has its own, and comes after the first paint."""
    group.add(ann)
    page = open_people(visit, ann, "#messages")
    page.reload()
    expect(tab(page, "Study")).to_be_visible()
    before = scripts(page)
    assert not [path for path in before if "/study/" in path or "leaflet" in path], before
    tab(page, "Study").click()
    expect(page.locator(".plan-building").first).to_be_attached()
    after, own, drawn = later_scripts(page, before)
    print(f"study: {own} bytes transferred, and {drawn} of Leaflet")
    assert own < BUDGET and 0 < drawn < LEAFLET_BUDGET, after
    painted, began = page.evaluate("""[performance.getEntriesByName("first-contentful-paint")[0].startTime,
        performance.getEntriesByType("resource").find(({ name }) => name.endsWith("/leaflet.min.js")).startTime]""")
    assert began > painted


@pytest.mark.at_length
def test_the_service_is_away(product, visit, group, ann, ben):
    """What the app knows is there; the rest of it works as ever."""
    visit.expect_errors(SERVICE_AWAY, r"status of 504")
    group.add(ann, ben)
    session = group.start(ben, "Heaps")
    page = open_study(visit, ann)
    expect(row(page, session)).to_be_visible()
    with product.away("msi-study"):
        page.reload()
        expect(row(page, session)).to_be_visible()
        go(page, f"#study/posts/{group.id}/{session.id}")
        page.get_by_role("textbox", name="Write to all of the class").fill("Are you there?")
        page.get_by_role("button", name="Post", exact=True).click()
        expect(page.get_by_text("Not sent yet.").first).to_be_visible()
        tab(page, "Messages").click()
        expect(page.get_by_role("heading", name="Messages", exact=True)).to_be_visible()
    eventually("the post is sent by itself", lambda: session.texts(ben) == ["Are you there?"])


def test_classes(product, visit, ann, pictures):
    """Joined by a key, which a link may have, looked at, and left."""
    group = Class(product, "Databases", description="Tuesdays at nine")
    page = open_study(visit, ann, narrow=True)
    expect(page.get_by_text("You are in no class yet.")).to_be_visible()
    pictures(page, "study-no-classes", arrange=in_arabic(ann, "#study"))
    # The heading of the page has the focus then, and stays unseen.
    go(page, "#study/join")
    expect(sheet(page, "Join a class").get_by_role("heading")).to_be_focused()
    page.keyboard.press("Escape")
    heading = page.get_by_role("heading", name="Study", level=1)
    expect(heading).to_be_focused()
    assert heading.bounding_box()["width"] <= 1
    page.get_by_role("button", name="List", exact=True).click()
    expect(page.locator(".study-list")).to_contain_text("Join one first.")
    page.get_by_role("button", name="Map", exact=True).click()
    page.get_by_role("link", name="Join a class").click()
    key = sheet(page, "Join a class").get_by_label("Key of the class")
    key.fill("AAAA-AAAA")
    sheet(page).get_by_role("button", name="Join", exact=True).click()
    expect(sheet(page).get_by_role("alert").filter(has_text="This key does not count.")).to_be_visible()
    pictures(page, "study-join", arabic=in_arabic(ann, "#study/join"))
    # As a professor's QR code has it.
    go(page, f"#study/join?key={group.key()}")
    expect(key).to_have_value(group.key())
    # As people type it.
    key.fill(group.key().lower().replace("-", " "))
    sheet(page).get_by_role("button", name="Join", exact=True).click()
    says(page, f"You are in the class {group.name}.")
    expect(sheet(page, group.name)).to_contain_text("Tuesdays at nine")
    pictures(page, "study-class", arrange=in_arabic(ann, f"#study/class/{group.id}"))
    pushes = sheet(page).get_by_role("switch", name="Tell me about new sessions")
    expect(pushes).not_to_be_checked()
    pushes.click()
    expect(pushes).to_be_checked()
    eventually("the hub knows", lambda: ann.request("GET", group.path)["new_sessions"])
    go(page, "#study/classes")
    expect(sheet(page, "Classes")).to_contain_text(group.name)
    pictures(page, "study-classes", arabic=in_arabic(ann, "#study/classes"))
    go(page, f"#study/class/{group.id}")
    sheet(page).get_by_role("button", name="Leave the class…").click()
    pictures(page, "study-question-leave", at_length=True, arabic=in_arabic(ann, f"#study/class/{group.id}", opens("غادر المادة…")))
    confirm(page, "Leave the class")
    says(page, f"You have left the class {group.name}.")
    assert ann.request("GET", "/user/classes")["classes"] == []


@pytest.mark.at_length
def test_a_link_with_a_key(product, visit, group, ann):
    """As a professor's QR code has it, for who has never opened the app. A second link counts, too."""
    page = open_people(visit, ann, f"#study/join?key={Class(product, professor=group.professor).key()}", narrow=True)
    expect(sheet(page, "Join a class")).to_be_visible()
    go(page, f"#study/join?key={group.key()}")
    expect(sheet(page, "Join a class").get_by_label("Key of the class")).to_have_value(group.key())
    sheet(page).get_by_role("button", name="Join", exact=True).click()
    expect(sheet(page, group.name)).to_be_visible()


def test_change_a_session(visit, group, ann, ben, pictures):
    """What it says, and until when."""
    group.add(ann, ben)
    session = group.start(ann, "Heaps").join(ben)
    page = open_study(visit, ann, session.link, place=CAMPUS, narrow=True)
    pictures(page, "study-own", arrange=in_arabic(ann, session.link))
    sheet(page).get_by_role("link", name="Change").click()
    form = sheet(page, "Change the session")
    form.get_by_label("Topics", exact=True).fill("Heaps, Tries")
    form.get_by_label("Minutes in all").fill("120")
    form.get_by_label("Place, as people call it").fill("Cafeteria")
    pictures(page, "study-edit", arabic=in_arabic(ann, f"#study/edit/{group.id}/{session.id}"))
    form.get_by_role("button", name="Save").click()
    says(page, "The session is changed.")
    expect(sheet(page)).to_contain_text("Heaps and Tries")
    expect(sheet(page)).to_contain_text("Cafeteria")
    read = session.read()
    assert read["ends"] - read["starts"] == 120 * 60_000 and read["topics"] == ["Heaps", "Tries"], read


def test_earlier_sessions(visit, group, ann, ben, pictures):
    """Where one was, and not with whom. Each leads to its posts."""
    group.add(ann, ben)
    session = group.start(ann, "Heaps").join(ben)
    session.post(ann, "Chapter 6")
    for person in (ben, ann):
        session.leave(person)
    page = open_study(visit, ben, "#study/past", narrow=True)
    expect(sheet(page, "My earlier sessions").get_by_role("listitem")).to_contain_text("Heaps")
    expect(sheet(page)).not_to_contain_text(ann.account)
    pictures(page, "study-past", arrange=in_arabic(ben, "#study/past"))
    sheet(page).get_by_role("link", name=re.compile("^Heaps")).click()
    expect(sheet(page, "Posts: Heaps")).to_contain_text("Chapter 6")
    sheet(page).get_by_role("link", name="Close").click()
    expect(sheet(page, "My earlier sessions")).to_be_visible()


@pytest.mark.at_length
def test_a_session_becomes_an_earlier_one(visit, group, ann, ben):
    """When it is over, and not before. Its card leads to its posts as well."""
    group.add(ann, ben)
    session = group.start(ann, "Heaps").join(ben)
    session.post(ann, "Chapter 6")
    session.leave(ben)
    page = open_study(visit, ben, "#study/past", narrow=True)
    expect(sheet(page, "My earlier sessions")).to_contain_text("appears here when it has ended")
    session.leave(ann)
    page.reload()
    expect(sheet(page, "My earlier sessions").get_by_role("listitem")).to_contain_text("Heaps")
    go(page, session)
    expect(sheet(page, "Heaps")).to_contain_text("This session is over.")
    sheet(page).get_by_role("link", name="Posts").click()
    expect(sheet(page, "Posts: Heaps")).to_contain_text("Chapter 6")


@pytest.mark.at_length
def test_kinds_of_pushes(visit, ann):
    """Each can be switched off."""
    page = open_people(visit, ann, "#settings/kinds", narrow=True)
    switches = page.get_by_role("switch")
    expect(switches).to_have_count(len(KINDS))
    for number in range(len(KINDS)):
        switches.nth(number).click()
        expect(switches.nth(number)).not_to_be_checked()
    eventually("the hub knows", lambda: ann.request("GET", "/user/preferences")["pushes"] == dict.fromkeys(KINDS, False))
