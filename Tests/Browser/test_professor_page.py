"""The page for professors and teaching assistants at /portal/classes/, screen by screen."""

import csv
import io
import re
import time

import pytest
from browsing.checks import check_width
from browsing.people import opens
from browsing.professor import CLASSES, address, address_of, in_arabic, open_classes, part, sign_in
from browsing.study import BUDGET, LEAFLET_BUDGET, at, later_scripts, on_map, scripts
from browsing.visits import GATEWAY_AWAY, NARROW, WIDE
from harness.identity import Identity
from harness.study import Class, new_professor, student
from harness.waiting import eventually
from playwright.sync_api import expect

# What the browser says about refusals that belong to a test.
REFUSED = r"status of 40[1349] "
DAY = 86_400_000


@pytest.fixture(scope="module")
def product(study_product):
    return study_product


@pytest.fixture
def visit(visit):
    # The emulator's pages have no icon.
    visit.expect_errors(r"favicon")
    return visit


@pytest.fixture
def course(product):
    return Class(product)


def key_card(page, code):
    return page.get_by_role("listitem").filter(has_text=code)


def member(page, account):
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=account, exact=True))


# The way in

def test_sign_in_and_a_first_class(product, visit, pictures):
    visit.expect_errors(REFUSED)
    professor, taken = new_professor(product), Class(product)
    page = open_classes(visit)
    expect(page.get_by_text("Sign in to look after your classes.")).to_be_visible()
    pictures(page, "professor-landing", right_to_left=True)
    sign_in(page, professor)
    expect(page.get_by_role("heading", name="No classes yet")).to_be_visible()
    expect(page).to_have_title("Classes · Message Hub")
    pictures(page, "professor-none", arrange=in_arabic(professor))
    page.get_by_role("button", name="New class…").click()
    dialog = page.get_by_role("dialog", name="New class")
    expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    pictures(page, "professor-new-class", arabic=in_arabic(professor, then=opens("مادة جديدة…")))
    name = product.unique("Linear algebra")
    dialog.get_by_role("textbox", name="Name").fill(name)
    # Upper and lower case make no difference.
    dialog.get_by_role("textbox", name="Identification key").fill(taken.identification_key.lower())
    dialog.get_by_role("button", name="Create the class").click()
    expect(dialog.get_by_role("alert")).to_have_text("Another class has this identification key. Choose another one.")
    # What the browser itself refuses is another thing.
    dialog.get_by_role("textbox", name="Identification key").fill("two words")
    dialog.get_by_role("button", name="Create the class").click()
    expect(dialog.get_by_role("alert")).to_have_count(0)
    dialog.get_by_role("textbox", name="Identification key").fill(f"{taken.identification_key}-b")
    dialog.get_by_role("button", name="Create the class").click()
    # The first thing that a class needs is a key.
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    expect(page.get_by_role("heading", name="No keys yet")).to_be_visible()
    expect(part(page, "Keys")).to_have_attribute("aria-current", "page")
    made = professor.request("GET", "/user/classes")["classes"]
    assert [(each["name"], each["role"], each["name_days"]) for each in made] == [(name, "professor", 365)]
    page.get_by_role("link", name="Classes").last.click()
    expect(page.get_by_role("main").get_by_role("link", name=name)).to_be_visible()


@pytest.mark.at_length
def test_a_provider_leads_back_to_the_page(product, visit):
    visit.expect_errors(REFUSED)
    Identity(product).add("professor-1", "Ada Byron")
    page = open_classes(visit)
    page.get_by_role("button", name="Continue with Google").click()
    page.get_by_role("button", name="Ada Byron").click()
    # Providers know the app's address alone. There a new person chooses a name.
    page.get_by_role("textbox", name="Account name").fill(account := product.unique("ada").replace(" ", "."))
    page.get_by_role("button", name="Make the account").click()
    expect(page).to_have_url(f"{product.url}/portal/classes/")
    expect(page.get_by_role("heading", name="For professors", level=1)).to_be_visible()
    expect(page.locator(".who").get_by_text(account)).to_be_visible()


def test_who_is_no_professor_uses_an_access_code(product, visit, pictures):
    visit.expect_errors(REFUSED)
    person = student(product, "grace")
    page = open_classes(visit, person)
    expect(page.get_by_role("heading", name="For professors", level=1)).to_be_visible()
    pictures(page, "professor-entry", arrange=in_arabic(person))
    page.get_by_role("textbox", name="Access code").fill("K7QF-2M9X-ZB4T")
    page.get_by_role("button", name="Use the code").click()
    expect(page.get_by_text("This code does not count.")).to_be_visible()
    code = product.api("POST", "/access-codes", {"grants": "professor", "uses": 1, "expires": int(time.time() * 1_000) + DAY})["code"]
    page.get_by_role("textbox", name="Access code").fill(code)
    page.get_by_role("button", name="Use the code").click()
    # The device's token is from before.
    page.get_by_role("button", name="New class…").click()
    dialog = page.get_by_role("dialog", name="New class")
    dialog.get_by_role("textbox", name="Name").fill(name := product.unique("Compilers"))
    dialog.get_by_role("textbox", name="Identification key").fill(name.replace(" ", "-"))
    dialog.get_by_role("button", name="Create the class").click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()


@pytest.mark.at_length
def test_a_student_sees_no_class_here(course, visit):
    page = open_classes(visit, course.new_member())
    expect(page.get_by_role("heading", name="For professors", level=1)).to_be_visible()
    page.goto(f"/portal/classes/{address(course, 'keys')}")
    expect(page.get_by_role("heading", name="For professors", level=1)).to_be_visible()


def test_sign_out(course, visit):
    # What was asked for before may be answered later.
    visit.expect_errors(r"status of 401")
    page = open_classes(visit, course.professor)
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(page.get_by_text(course.name)).to_have_count(0)


@pytest.mark.at_length
def test_links_from_the_portal_and_the_app(course, visit):
    portal = visit("/portal/send/")
    portal.get_by_role("navigation").get_by_role("link", name="Classes").first.click()
    expect(portal.get_by_role("heading", name="Classes", level=1)).to_be_visible()
    page = open_classes(visit, course.professor)
    page.goto("/app/#settings/account")
    page.get_by_role("button", name="Show my messages").click()
    page.goto("/app/#settings/account")
    page.get_by_role("link", name="Your classes").click()
    expect(page.get_by_role("main").get_by_role("link", name=course.name)).to_be_visible()


@pytest.mark.at_length
def test_the_other_language(course, visit):
    page = open_classes(visit, course.professor)
    page.get_by_role("button", name="العربية").click()
    expect(page.get_by_role("heading", name=CLASSES["ar"], level=1)).to_be_visible()
    assert page.evaluate("document.documentElement.dir") == "rtl"


# Keys

def test_keys(course, visit, pictures):
    page = open_classes(visit, course.professor, address(course, "keys"))
    page.get_by_role("button", name="New key…").click()
    dialog = page.get_by_role("dialog", name="New key")
    dialog.get_by_role("spinbutton", name="How often it can be used").fill("2")
    pictures(page, "professor-new-key", arabic=in_arabic(course.professor, address(course, "keys"), opens("مفتاح جديد…")))
    dialog.get_by_role("button", name="Make the key").click()
    hall = page.get_by_role("dialog", name="For students")
    expect(hall).to_be_visible()
    [key] = course.professor.request("GET", f"{course.path}/keys")["keys"]
    code = key["code"]
    assert re.fullmatch("[A-Z2-9]{4}-[A-Z2-9]{4}", code) and key["uses"] == 2
    expect(hall.get_by_text(code, exact=True)).to_be_visible()
    expect(hall.get_by_role("img", name=f"QR code of the key {code}")).to_be_visible()
    pictures(page, "professor-hall", arabic=in_arabic(course.professor, address(course, "keys"), opens(re.compile("اعرض في القاعة…"))))
    hall.get_by_role("button", name="Done").click()
    expect(key_card(page, code)).to_contain_text("0 of 2 uses")
    student(course.product, "carla").request("POST", "/user/classes", {"key": code})

    page.reload()
    expect(key_card(page, code)).to_contain_text("1 of 2 uses")
    key_card(page, code).get_by_role("button", name="Replace…").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Replace", exact=True).click()
    expect(key_card(page, code)).to_have_count(0)
    [key] = course.professor.request("GET", f"{course.path}/keys")["keys"]
    assert key["code"] != code and key["used"] == 0
    pictures(page, "professor-keys", arrange=in_arabic(course.professor, address(course, "keys")))
    key_card(page, key["code"]).get_by_role("button", name="Revoke…").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("heading", name="No keys yet")).to_be_visible()
    assert course.professor.request("GET", f"{course.path}/keys")["keys"] == []
    # For assistants.
    page.get_by_role("button", name="New key…").click()
    page.get_by_role("combobox", name="Who joins with it").select_option("For teaching assistants")
    page.get_by_role("button", name="Make the key").click()
    expect(page.get_by_role("dialog", name="For teaching assistants")).to_be_visible()


@pytest.mark.at_length
def test_the_key_for_assistants(course, visit):
    page = open_classes(visit, course.professor, address(course, "keys"))
    page.get_by_role("button", name="New key…").click()
    page.get_by_role("combobox", name="Who joins with it").select_option("For teaching assistants")
    page.get_by_role("button", name="Make the key").click()
    expect(page.get_by_role("dialog", name="For teaching assistants")).to_be_visible()
    [key] = course.professor.request("GET", f"{course.path}/keys")["keys"]
    assistant = student(course.product, "tom")
    assert assistant.request("POST", "/user/classes", {"key": key["code"]})["role"] == "ta"


# People, settings

def test_roster(course, visit, pictures):
    carla, dora = course.new_member("carla"), course.new_member("dora")
    page = open_classes(visit, course.professor, address(course, "roster"))
    expect(page.get_by_text("3 people", exact=True)).to_be_visible()
    expect(member(page, course.professor.account).get_by_role("button")).to_have_count(0)
    pictures(page, "professor-roster", arrange=in_arabic(course.professor, address(course, "roster")))
    page.get_by_role("searchbox", name="Find people by account name").fill(carla.account)
    expect(page.get_by_text("1 person", exact=True)).to_be_visible()
    member(page, carla.account).get_by_role("button", name="Make assistant").click()
    expect(member(page, carla.account)).to_contain_text("Teaching assistant")
    assert carla.request("GET", course.path)["role"] == "ta"
    member(page, carla.account).get_by_role("button", name="Make student").click()
    expect(member(page, carla.account)).to_contain_text("Student")
    page.get_by_role("searchbox").fill("")
    member(page, dora.account).get_by_role("button", name="Remove…").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Remove", exact=True).click()
    expect(member(page, dora.account)).to_have_count(0)
    assert dora.request("GET", "/user/classes")["classes"] == []


def test_an_assistant_looks_after_sessions_alone(course, visit):
    assistant = course.new_member("tom", "ta")
    page = open_classes(visit, assistant, address(course))
    expect(page.get_by_role("heading", name=course.name, level=1)).to_be_visible()
    for name, count in (("Sessions now", 1), ("People", 1), ("Keys", 0), ("Past sessions", 0), ("Class", 0)):
        expect(part(page, name)).to_have_count(count)
    part(page, "People").click()
    expect(member(page, assistant.account)).to_be_visible()
    expect(page.get_by_role("button", name="Remove…")).to_have_count(0)
    page.get_by_role("link", name="Classes").first.click()
    expect(page.get_by_role("button", name="New class…")).to_have_count(0)


def test_settings(course, visit, pictures):
    page = open_classes(visit, course.professor, address(course, "settings"))
    pictures(page, "professor-settings", arrange=in_arabic(course.professor, address(course, "settings")))
    page.get_by_role("textbox", name="Name").fill(name := f"{course.name}, again")
    page.get_by_role("textbox", name="Description").fill("Trees and graphs")
    page.get_by_role("spinbutton", name="Days for which the history has names").fill("30")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    found = course.professor.request("GET", course.path)
    assert (found["name"], found["description"], found["name_days"]) == (name, "Trees and graphs", 30)
    page.get_by_role("button", name="Close the class").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Close the class").click()
    expect(page.get_by_role("button", name="Open the class again")).to_be_focused()
    assert "closed" in course.professor.request("GET", course.path)
    part(page, "Keys").click()
    expect(page.get_by_text("The class is closed, so nobody joins it with these keys.")).to_be_visible()
    part(page, "Class").click()
    page.get_by_role("button", name="Open the class again").click()
    expect(page.get_by_role("button", name="Close the class")).to_be_visible()
    assert "closed" not in course.professor.request("GET", course.path)


# Sessions

def test_sessions_and_posts(course, visit, pictures):
    carla, tom = course.new_member("carla"), course.new_member("tom", "ta")
    session = course.start(carla, "Balanced trees", "Heaps")
    session.post(carla, "How do I rotate twice?")
    session.remove(tom, session.post(carla, "Buy my notes"))
    page = open_classes(visit, course.professor, address(course))
    shown = page.get_by_role("region", name="Sessions as a list").get_by_role("button", name="Balanced trees and Heaps")
    expect(shown).to_contain_text("Library, second floor")
    pictures(page, "professor-sessions", arrange=in_arabic(course.professor, address(course)))
    shown.click()
    expect(page.get_by_role("heading", name="Balanced trees and Heaps", level=1)).to_be_visible()
    expect(page.get_by_text(f"Removed by {tom.account}")).to_be_visible()
    page.get_by_role("textbox", name="Write to all of the class").fill("Think of the left child")
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.get_by_role("listitem").filter(has_text="Think of the left child")).to_contain_text("Professor")
    assert session.texts(carla)[0] == "Think of the left child"
    pictures(page, "professor-session", arrange=in_arabic(course.professor, address_of(session)))
    page.get_by_role("listitem").filter(has_text="How do I rotate twice?").get_by_role("button", name="Remove").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text(f"Removed by {course.professor.account}")).to_be_visible()
    assert session.texts(carla) == ["Think of the left child"]
    page.get_by_role("button", name="End the session…").click()
    page.get_by_role("alertdialog").get_by_role("button", name="End the session").click()
    expect(page.get_by_text("Ended by the class's staff")).to_be_visible()
    expect(page.locator(".session-facts")).to_contain_text("Who was there at the end1 person")
    expect(page.get_by_role("button", name="End the session…")).to_have_count(0)
    assert carla.request("GET", "/user/sessions").get("current") is None


def test_a_session_begins_while_the_page_is_open(course, visit):
    """And ends, in the list and on the map."""
    page = open_classes(visit, course.professor, address(course))
    expect(page.get_by_role("heading", name="No sessions now")).to_be_visible()
    carla = course.new_member()
    session = course.start(carla, "Hashing")
    expect(page.get_by_role("region", name="Sessions as a list").get_by_role("button", name="Hashing")).to_be_visible()
    eventually("its pin", lambda: on_map(page) == [session.id])
    session.leave(carla)
    expect(page.get_by_role("heading", name="No sessions now")).to_be_visible()
    eventually("no pin", lambda: on_map(page) == [])


def test_sponsor_a_session(course, visit, pictures):
    page = open_classes(visit, course.professor, address(course), **at({"latitude": 45.001, "longitude": -30.001}))
    page.get_by_role("button", name="Sponsor a session…").click()
    form = page.locator("form")
    form.get_by_role("textbox", name="Topics").fill("Exam of 2025")
    expect(form.get_by_text("At your position.")).to_be_visible()
    form.get_by_role("switch", name="I am there, if my position says so").click()

    def sponsors_in_arabic(other):
        other.get_by_role("button", name="ارعَ جلسة…", exact=True).click()
        expect(other.get_by_role("heading", name="رعاية جلسة")).to_be_visible()

    pictures(page, "professor-sponsor", arabic=in_arabic(course.professor, address(course), sponsors_in_arabic))
    form.get_by_role("button", name="Start", exact=True).click()
    shown = page.get_by_role("region", name="Sessions as a list").get_by_role("button", name="Exam of 2025")
    expect(shown).to_contain_text("Sponsored")
    [session] = course.professor.request("GET", f"{course.path}/sessions")["sessions"]
    assert session["sponsored"] and session["host"] == course.professor.account and session["attendants"] == []
    shown.click()
    page.get_by_role("button", name="End the session…").click()
    page.get_by_role("alertdialog").get_by_role("button", name="End the session").click()
    expect(page.get_by_text("Ended by its host")).to_be_visible()


# The history

def past_sessions(count):
    """A term of sessions, the latest first."""
    now = int(time.time() * 1_000)
    topics = [["Balanced trees"], ["Heaps", "balanced trees"], ["Hashing"]]
    return [{
        "id": f"{number:024x}", "topics": topics[number % 3], "starts": now - number * DAY - 5_400_000, "ended": now - number * DAY, "reason": "time",
        "sponsored": number % 4 == 0, "host": {"account": "c" * 64 if number == 5 else "carla", "number": 2} if number < 60 else {"number": 2}, "posts": number % 5,
        "attendants": [{"person": {"number": 3 + other}, "joined": now - number * DAY, "minutes": 30} for other in range(number % 4)],
        **({"place_name": "Library"} if number % 2 else {}),
    } for number in range(1, count + 1)]


def test_history(course, visit, pictures):
    """120 sessions come in two pages. The table, the plots, the filter and the orders are of all of them."""
    sessions, asked = past_sessions(120), []

    def answer(route):
        asked.append(route.request.url)
        start = 100 if "after=x" in route.request.url else 0
        more = {} if start else {"next": "x"}
        route.fulfill(json={"sessions": sessions[start:start + 100], **more})

    page = open_classes(visit, course.professor, address(course, "past"), routes={f"**{course.path}/sessions/past?**": answer})
    expect(page.get_by_text("120 sessions", exact=True)).to_be_visible()
    assert len(asked) == 2 and "from=" in asked[0], asked
    rows = page.locator("tr.thing")
    expect(rows).to_have_count(120)
    expect(page.get_by_role("img", name=re.compile("Sessions a week: 120 in all"))).to_be_visible()
    expect(page.locator(".topics").get_by_role("row").nth(1)).to_contain_text("alanced trees")
    # A name that the class has forgotten is a number.
    expect(rows.nth(119)).to_contain_text("Number 2")
    pictures(page, "professor-history", at_length=True)
    # A tablet, where the navigation is beside the page.
    for width in (900, 1201):
        page.set_viewport_size({"width": width, "height": 640})
        check_width(page)
    page.set_viewport_size(WIDE)
    page.get_by_role("combobox", name="Order").select_option("Most people first")
    expect(rows.first).to_contain_text("3 people")
    rows.first.get_by_text("3 people").click()
    expect(rows.first.get_by_role("listitem")).to_have_text(["Number 330 min", "Number 430 min", "Number 530 min"])
    page.get_by_role("combobox", name="Topic").select_option("Hashing")
    expect(rows).to_have_count(40)
    page.get_by_label("Until").fill("2001-01-01")
    eventually("the page asks for another time", lambda: page.evaluate("1") and any("until=" in url for url in asked))


@pytest.mark.at_length
def test_a_time_that_ends_before_it_begins(course, visit):
    visit.expect_errors(r"status of 400 ")
    page = open_classes(visit, course.professor, address(course, "past"))
    expect(page.get_by_role("heading", name="No session in this time")).to_be_visible()
    page.get_by_label("Until").fill("2001-01-01")
    said = page.get_by_role("alert").filter(has_text="The last day is before the first one. Choose another time.")
    expect(said).to_be_visible()
    page.get_by_label("Until").fill("")
    expect(said).to_have_count(0)


def test_history_as_a_file(course, visit, pictures):
    carla = course.new_member("carla")
    for topic in ("Sorting", "Heaps, again"):
        course.start(carla, topic).leave(carla)
    page = open_classes(visit, course.professor, address(course, "past"))
    expect(page.locator("table.past").get_by_role("rowheader", name="Sorting")).to_be_visible()
    pictures(page, "professor-history-few", arrange=in_arabic(course.professor, address(course, "past")))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    assert download.value.suggested_filename == f"{course.identification_key}-sessions.csv"
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert [(row["topics"], row["person"], row["reason"]) for row in rows] == [("Heaps, again", carla.account, "host"), ("Sorting", carla.account, "host")]
    page.get_by_role("combobox", name="Topic").select_option("Sorting")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    assert len(download.value.path().read_text().splitlines()) == 2
    page.get_by_role("link", name="Sorting").click()
    expect(page.get_by_role("heading", name="Sorting", level=1)).to_be_visible()
    expect(page.get_by_text("The session is over. Nobody posts to it any more.")).to_be_visible()


# The hub and the browser

@pytest.mark.at_length
def test_the_hub_is_away(course, visit):
    visit.expect_errors(GATEWAY_AWAY)
    page = open_classes(visit, course.professor, address(course, "settings"))
    page.route(f"**{course.path}/keys", lambda route: route.abort())
    part(page, "Keys").click()
    said = page.get_by_role("alert").filter(has_text="The university's server cannot be reached.")
    expect(said).to_be_visible()
    page.unroute(f"**{course.path}/keys")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="No keys yet")).to_be_visible()
    expect(said).to_have_count(0)


@pytest.mark.at_length
def test_an_address_of_nothing(course, visit):
    visit.expect_errors(REFUSED)
    page = open_classes(visit, course.professor, f"#class/keys?id={'0' * 24}")
    expect(page.get_by_role("heading", name="There is no such class")).to_be_visible()
    page.goto(f"/portal/classes/#session?id={course.id}&session={'0' * 24}")
    expect(page.get_by_role("heading", name="There is no such session")).to_be_visible()
    page.goto("/portal/classes/#class/keys?id=nothing")
    expect(page.get_by_role("heading", name="Classes", level=1)).to_be_visible()


@pytest.mark.at_length
def test_keyboard_and_narrow_window(course, visit, check):
    page = open_classes(visit, course.professor, narrow=True)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.get_by_role("main").get_by_role("link", name=course.name).press("Enter")
    expect(page.get_by_role("heading", name=course.name, level=1)).to_be_focused()
    part(page, "People").press("Enter")
    expect(part(page, "People")).to_be_focused()
    expect(member(page, course.professor.account)).to_be_visible()
    check(page)
    assert page.viewport_size == NARROW
    page.get_by_role("button", name="More").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_javascript_of_the_page(course, visit):
    """The parts of a class are loaded when somebody opens them."""
    page = open_classes(visit, course.professor)
    page.reload()
    expect(page.get_by_role("main").get_by_role("link", name=course.name)).to_be_visible()
    sizes = scripts(page)
    assert sizes and not [path for path in sizes if "/study/map" in path or "/professor/past" in path or "/leaflet/" in path], sizes
    assert sum(sizes.values()) < BUDGET, sizes
    # The open sessions have the app's map.
    page.goto(f"/portal/classes/{address(course)}")
    expect(page.locator(".plan-building").first).to_be_attached()
    after, own, drawn = later_scripts(page, sizes)
    print(f"sessions now: {own} bytes transferred, and {drawn} of Leaflet")
    assert own < BUDGET and 0 < drawn < LEAFLET_BUDGET, after
