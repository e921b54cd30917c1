"""The guides to study sessions (Services/Study/GUIDES.md) have a section for each screen.

With --pictures this shows each screen and makes its picture: all of them, of one class in the middle of its term. test_study_map.py,
test_study_stories.py and test_professor_page.py check the same screens in level one.
"""

import pathlib
import re
import shutil
import struct

import pytest
from browsing.app import open_app
from browsing.people import sign_in as sign_in_to_app
from browsing.professor import open_classes
from browsing.study import UNASKED, at
from harness.term import LIBRARY, seed_term
from harness.waiting import eventually
from playwright.sync_api import expect

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "Services" / "Study"
GUIDES, PICTURES = FOLDER / "GUIDES.md", FOLDER / "guides"
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
PARTS = {"keys": "For students", "roster": "7 people", "past": "Sessions a week", "settings": "Joining and sessions"}
# The names of all pictures.
SCREENS = sorted([
    "map", "position", "many", "list", *SHEETS, "own-session", "kinds", *(f"professor-{name}" for name in PARTS), "professor-sign-in",
    "professor-access-code", "professor-classes", "professor-new-class", "professor-new-key", "professor-hall", "professor-sessions",
    "professor-sponsor", "professor-session"])


def student_screens(page, group, session, snap):
    """Shows each screen of who hosts a session, on a phone."""
    page.set_viewport_size(PHONE)
    page.goto("/app/#study")
    expect(page.locator(".map-view .pin").first).to_be_visible()
    snap(page, "map")
    ask_for_the_position(page, snap)
    page.get_by_role("button", name="2 sessions").click()
    expect(page.get_by_role("heading", name="Sessions at this place")).to_be_visible()
    snap(page, "many")
    page.get_by_role("link", name="Close").click()
    page.get_by_role("button", name="List", exact=True).click()
    expect(page.locator(".study-list .session-row").first).to_be_visible()
    snap(page, "list")
    page.get_by_role("button", name="Map", exact=True).click()
    for name, (path, heading) in SHEETS.items():
        page.goto(f"/app/#study/{path.format(group=group, session=session)}")
        expect(page.get_by_role("heading", name=re.compile(f"^{heading}"), level=2)).to_be_visible()
        expect(page.get_by_text("Loading…")).to_have_count(0)
        if "session" in path:
            chosen, cover = page.locator(".map-view .pin.is-chosen"), page.locator(".study-sheet")
            eventually("its pin is over the sheet", lambda: chosen.count() and chosen.bounding_box()["y"] < cover.bounding_box()["y"])
        snap(page, name)
    page.goto("/app/#messages")
    expect(page.get_by_role("region", name="Your study session")).to_be_visible()
    snap(page, "own-session")
    page.goto("/app/#settings/kinds")
    expect(page.get_by_role("switch").first).to_be_visible()
    snap(page, "kinds")


def ask_for_the_position(page, snap):
    """Shows the question of a browser that has not been asked. Afterwards it is one that has allowed it, as before."""
    page.evaluate(UNASKED)
    page.get_by_role("button", name="Show where I am").click()
    question = page.get_by_role("dialog", name="Use your position?")
    expect(question).to_be_visible()
    snap(page, "position")
    question.get_by_role("button", name="Cancel").click()
    page.reload()
    expect(page.locator(".person-mark")).to_have_count(1)


def professor_screens(page, group, session, snap):
    """Shows each screen of a class to its professor, who is signed in."""
    page.set_viewport_size(DESK)
    page.goto("/portal/classes/#classes")
    expect(page.get_by_role("main").get_by_role("link", name="Algorithms")).to_be_visible()
    snap(page, "professor-classes")
    in_dialog(page, "New class", snap, "professor-new-class")
    for name, text in PARTS.items():
        page.goto(f"/portal/classes/#class/{name}?id={group}")
        expect(page.get_by_role("main").get_by_text(text, exact=True).first).to_be_visible()
        snap(page, f"professor-{name}")
        if name == "keys":
            in_dialog(page, "New key", snap, "professor-new-key")
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


def in_dialog(page, heading, snap, name):
    """Shows the dialog that the button with its heading opens."""
    page.get_by_role("button", name=f"{heading}…").click()
    dialog = page.get_by_role("dialog", name=heading)
    expect(dialog).to_be_visible()
    snap(page, name)
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)


@pytest.fixture
def snap(request, check, tmp_path):
    """Checks a screen, and with --pictures takes its picture. `taken` has the names. `publish()` puts the pictures in the place of all earlier
    ones: a test that fails leaves those."""
    taken, takes = [], request.config.getoption("pictures")

    def keep(page, name):
        taken.append(name)
        check(page)
        if takes:
            page.screenshot(path=tmp_path / f"{name}.png", animations="disabled")

    def publish():
        if not takes:
            return
        PICTURES.mkdir(exist_ok=True)
        for earlier in PICTURES.glob("*.png"):
            earlier.unlink()
        for picture in tmp_path.glob("*.png"):
            shutil.move(picture, PICTURES / picture.name)

    keep.taken, keep.publish = taken, publish
    return keep


@pytest.mark.at_length
def test_every_screen(visit, empty_product, snap):
    visit.expect_errors(r"favicon")
    term = seed_term(empty_product)
    group, session, place = term.course.id, term.session.id, at(LIBRARY[0])
    page = open_app(visit, "#people", **place)
    sign_in_to_app(page, term.people["carla"].account)
    student_screens(page, group, session, snap)
    page = open_classes(visit, **place)
    page.set_viewport_size(DESK)
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    snap(page, "professor-sign-in")
    page = open_classes(visit, term.newcomer)
    page.set_viewport_size(DESK)
    expect(page.get_by_role("textbox", name="Access code")).to_be_visible()
    snap(page, "professor-access-code")
    page = open_classes(visit, term.course.professor, **place)
    professor_screens(page, group, session, snap)
    assert sorted(snap.taken) == SCREENS
    snap.publish()


def test_every_screen_has_its_section():
    """Each picture is shown once, is there, and has the size of what it shows."""
    assert sorted(re.findall(r"!\[[^\]]+\]\(guides/([\w-]+)\.png\)", GUIDES.read_text())) == SCREENS
    assert sorted(path.stem for path in PICTURES.glob("*.png")) == SCREENS
    for path in PICTURES.glob("*.png"):
        window = DESK if path.stem.startswith("professor-") else PHONE
        # A PNG begins with its size.
        assert struct.unpack(">II", path.read_bytes()[16:24]) == (window["width"], window["height"]), path
