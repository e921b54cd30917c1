"""The guides to study sessions (Services/Study/GUIDES.md) have a section for each screen.

With --pictures this shows each screen and makes its picture. test_study_map.py, test_study_stories.py and test_professor_page.py check the same
screens in level one.
"""

import pathlib
import re
from types import SimpleNamespace

import pytest
from browsing.app import open_app
from browsing.people import sign_in as sign_in_to_app
from browsing.professor import open_classes
from browsing.study import at
from harness.study import Class, new_professor
from playwright.sync_api import expect

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "Services" / "Study"
GUIDES, PICTURES = FOLDER / "GUIDES.md", FOLDER / "guides"
# In two buildings of the campus that comes with the product.
LIBRARY, HALL = {"latitude": 45.0029, "longitude": -30.0038}, {"latitude": 44.9993, "longitude": -30.0045}
# A phone, and a desk.
PHONE, DESK = {"width": 390, "height": 780}, {"width": 1280, "height": 860}
# The sheets of the student's app by the names of their pictures: their addresses, and what their headings begin with.
SHEETS = {
    "session": ("session/{group}/{session}", "Balanced trees"), "posts": ("posts/{group}/{session}", "Posts"),
    "people": ("who/{group}/{session}", "Who is there"), "invite": ("invite/{group}/{session}", "Invite friends"),
    "change": ("edit/{group}/{session}", "Change the session"), "hand-over": ("host/{group}/{session}", "Hand over"),
    "new-session": ("new", "New session"), "classes": ("classes", "Classes"), "class": ("class/{group}", "Algorithms"),
    "join": ("join", "Join a class"), "find-friends": ("find/{group}", "Find friends"), "past": ("past", "My earlier sessions"),
}
# The parts of a class on the professor's page: what is there when they are complete.
PARTS = {"keys": "For students", "roster": "5 people", "past": "Sessions a week", "settings": "Joining and sessions"}
# The names of all pictures.
SCREENS = sorted([
    "map", "list", *SHEETS, "own-session", *(f"professor-{name}" for name in PARTS), "professor-sign-in", "professor-classes", "professor-hall",
    "professor-sessions", "professor-sponsor", "professor-session"])


def student_screens(page, group, session, snap):
    """Shows each screen of who hosts a session, on a phone."""
    page.set_viewport_size(PHONE)
    page.goto("/app/#study")
    expect(page.locator(".map-view .pin").first).to_be_visible()
    snap(page, "map")
    page.get_by_role("button", name="List", exact=True).click()
    expect(page.locator(".session-row").first).to_be_visible()
    snap(page, "list")
    page.get_by_role("button", name="Map", exact=True).click()
    for name, (path, heading) in SHEETS.items():
        page.goto(f"/app/#study/{path.format(group=group, session=session)}")
        expect(page.get_by_role("heading", name=re.compile(f"^{heading}"), level=2)).to_be_visible()
        expect(page.get_by_text("Loading…")).to_have_count(0)
        snap(page, name)
    page.goto("/app/#messages")
    expect(page.get_by_role("region", name="Your study session")).to_be_visible()
    snap(page, "own-session")


def professor_screens(page, group, session, snap):
    """Shows each screen of a class to its professor, who is signed in."""
    page.set_viewport_size(DESK)
    page.goto("/portal/classes/#classes")
    expect(page.get_by_role("main").get_by_role("link", name="Algorithms")).to_be_visible()
    snap(page, "professor-classes")
    for name, text in PARTS.items():
        page.goto(f"/portal/classes/#class/{name}?id={group}")
        expect(page.get_by_role("main").get_by_text(text, exact=True).first).to_be_visible()
        snap(page, f"professor-{name}")
        if name == "keys":
            for_students = page.get_by_role("listitem").filter(has_text="For students")
            for_students.get_by_role("button", name="Show in the hall…").click()
            expect(page.get_by_role("img", name=re.compile("^QR code"))).to_be_visible()
            snap(page, "professor-hall")
            page.get_by_role("button", name="Done").click()
    page.goto(f"/portal/classes/#class/sessions?id={group}")
    expect(page.locator(".map-view .pin").first).to_be_visible()
    snap(page, "professor-sessions")
    page.get_by_role("button", name="Sponsor a session…").click()
    expect(page.get_by_role("heading", name="Sponsor a session")).to_be_visible()
    snap(page, "professor-sponsor")
    page.goto(f"/portal/classes/#session?id={group}&session={session}")
    expect(page.get_by_text("Removed by")).to_be_visible()
    snap(page, "professor-session")


@pytest.fixture
def snap(request, check):
    """Checks a screen, and with --pictures keeps it as a picture of the guides. `taken` has the names."""
    taken = []

    def keep(page, name):
        taken.append(name)
        check(page)
        if request.config.getoption("pictures"):
            PICTURES.mkdir(exist_ok=True)
            page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")

    keep.taken = taken
    return keep


@pytest.fixture
def world(empty_product):
    """A class with people whose names are those of the pictures, three sessions, posts, and a history."""
    named = SimpleNamespace(url=empty_product.url, api=empty_product.api, new_account=empty_product.add_account, unique=lambda name: name)
    course = Class(
        named, professor=new_professor(named, "alan.turing"), identification_key="CS251-F26",
        description="Trees, graphs, and what they are good for.")
    carla, ben, eve = (course.new_member(name) for name in ("carla.diaz", "ben.okafor", "eve.lindqvist"))
    course.new_member("tom.weber", "ta")
    for friend in (ben, eve):
        carla.ask(friend)
        friend.ask(carla)
        friend.request("PUT", "/user/profile", {"first_name": friend.account.split(".")[0].title(), "visibility": {"first_name": "classmates"}})
    for topics in (["Sorting"], ["Recursion", "Induction"]):
        course.start(carla, *topics).leave(carla)
    course.start(eve, "Graph search", place=HALL, name="Mathematics, hall 2", minutes=45)
    session = course.start(carla, "Balanced trees", "Heaps", place=LIBRARY, description="We solve sheet 4 together.").join(ben)
    session.post(ben, "How do I rotate twice?")
    session.remove(course.professor, session.post(ben, "Buy my notes"))
    return SimpleNamespace(course=course, carla=carla, session=session.id)


@pytest.mark.at_length
def test_every_screen(visit, world, snap):
    visit.expect_errors(r"favicon")
    group = world.course.id
    page = open_app(visit, "#people", **at(LIBRARY))
    sign_in_to_app(page, world.carla.account)
    student_screens(page, group, world.session, snap)
    page = open_classes(visit, **at(LIBRARY))
    page.set_viewport_size(DESK)
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    snap(page, "professor-sign-in")
    page = open_classes(visit, world.course.professor, **at(LIBRARY))
    professor_screens(page, group, world.session, snap)
    assert sorted(snap.taken) == SCREENS


def test_every_screen_has_its_section():
    """Each picture is shown once, and is there."""
    assert sorted(re.findall(r"!\[[^\]]+\]\(guides/([\w-]+)\.png\)", GUIDES.read_text())) == SCREENS
    assert sorted(path.stem for path in PICTURES.glob("*.png")) == SCREENS
