"""Study sessions in the students' app by the keyboard alone: a session and its posts, the filter and the map, a new session and an invitation.

Every key is pressed. Nothing gets the focus but by Tab, by an arrow, or by what the page does itself.
"""

import re

import pytest
from browsing.study import bar, listed, on_map, open_study, pin, remover, row, says, sheet, tab_to
from browsing.study_fixtures import ann, ben, group, product, visit
from harness.study import CAMPUS, NORTH, SOUTH, WEST, Class, befriend
from harness.waiting import eventually
from playwright.sync_api import expect


def from_the_top(visit, person, **options):
    """Opens the page about study sessions with the focus at its beginning."""
    page = open_study(visit, person, **options)
    page.reload()
    expect(page.locator(".study-said")).to_have_text("")
    return page


def press(page, wanted, key="Enter"):
    """Comes to something by Tab, and presses a key there."""
    tab_to(page, wanted)
    page.keyboard.press(key)


def test_a_session_and_its_posts(visit, group, ann, ben):
    """From the list into a session, to its posts, back to the map, and out of it."""
    group.add(ann, ben)
    session = group.start(ben, "Heaps")
    page = from_the_top(visit, ann)
    expect(pin(page, session)).to_be_visible()
    press(page, row(page, session))
    expect(sheet(page).get_by_role("heading", name="Heaps")).to_be_focused()
    press(page, sheet(page).get_by_role("button", name="Join", exact=True))
    says(page, "You are in: Heaps.")
    press(page, sheet(page).get_by_role("link", name="Posts"))
    expect(sheet(page).get_by_role("heading", name="Posts: Heaps")).to_be_focused()
    tab_to(page, sheet(page).get_by_role("textbox", name="Write to all of the class"))
    page.keyboard.type("Is there a free chair?")
    press(page, sheet(page).get_by_role("button", name="Post", exact=True), "Space")
    press(page, remover(page, "Is there a free chair?"))
    question = page.get_by_role("alertdialog")
    press(page, question.get_by_role("button", name="Remove", exact=True))
    expect(question).to_have_count(0)
    expect(page.get_by_text("Is there a free chair?")).to_have_count(0)
    tab_to(page, sheet(page).get_by_role("link", name="Close"), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(sheet(page).get_by_role("heading", name="Heaps", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(sheet(page)).to_be_hidden()
    # The pin has the focus now.
    expect(pin(page, session)).to_be_focused()
    page.keyboard.press("Enter")
    expect(sheet(page)).to_be_visible()
    page.keyboard.press("Escape")
    press(page, bar(page).get_by_role("button", name="Leave"))
    expect(bar(page)).to_be_hidden()
    assert session.read()["attendants"] == [ben.account] and session.texts(ben) == []


@pytest.mark.at_length
def test_the_filter_and_the_map(product, visit, group, ann):
    """Arrows move the map, plus and minus zoom, and where somebody has moved it, it stays. Its pins come after it."""
    other = Class(product, "Compilers", professor=group.professor)
    for each in (group, other):
        each.add(ann)
    one, two = (each.start(each.professor, topic, place=place, sponsored=True)
                for each, topic, place in ((group, "Heaps", NORTH), (other, "Parsing", SOUTH)))
    # The map does not listen to a key while it moves.
    page = from_the_top(visit, ann, reduced_motion=True)

    def shows(*wanted):
        ids = {each.id for each in wanted}
        eventually("the chosen classes", lambda: set(listed(page)) == set(on_map(page)) == ids)

    shows(one, two)
    chips = page.get_by_role("group", name="Classes")
    press(page, chips.get_by_role("button", name=other.name), "Space")
    shows(two)
    expect(chips.get_by_role("button", name=other.name)).to_be_focused()
    tab_to(page, chips.get_by_role("button", name="All classes"), "Shift+Tab")
    page.keyboard.press("Enter")
    shows(one, two)
    tab_to(page, page.get_by_role("group", name=re.compile(r"^Map\.")))
    left = lambda: pin(page, one).bounding_box()["x"]
    gap = lambda: abs(pin(page, one).bounding_box()["y"] - pin(page, two).bounding_box()["y"])
    before = left()
    page.keyboard.press("ArrowRight")
    eventually("the map moves", lambda: left() < before - 40)
    three = group.start(group.professor, "Graphs", place=WEST, sponsored=True)
    shows(one, two, three)
    assert left() < before - 40
    before = gap()
    page.keyboard.press("+")
    eventually("the map comes nearer", lambda: gap() > 1.5 * before)
    # As long as Leaflet draws the zoom, it takes no other key.
    expect(page.locator(".leaflet-zoom-anim")).to_have_count(0)
    page.keyboard.press("-")
    eventually("the map goes further away", lambda: gap() < 1.2 * before)
    press(page, pin(page, two))
    expect(sheet(page).get_by_role("heading", name="Parsing")).to_be_focused()
    page.keyboard.press("Escape")
    expect(pin(page, two)).to_be_focused()


@pytest.mark.at_length
def test_a_new_session_and_an_invitation(visit, group, ann, ben):
    group.add(ann, ben)
    befriend(ann, ben)
    page = from_the_top(visit, ann, place=CAMPUS)
    press(page, page.get_by_role("link", name="New session"))
    form = sheet(page, "New session")
    expect(form.get_by_role("heading", name="New session")).to_be_focused()
    expect(form.get_by_text("At your position.")).to_be_visible()
    tab_to(page, form.get_by_label("Topics", exact=True))
    page.keyboard.type("Heaps, Trees")
    press(page, form.get_by_role("button", name="Middle of the map"), "Space")
    expect(form.get_by_text(re.compile("^In the middle of the map"))).to_be_visible()
    tab_to(page, form.get_by_role("button", name="Where I am"), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(form.get_by_text("At your position.")).to_be_visible()
    press(page, form.get_by_label("Minutes from now"), "Control+A")
    page.keyboard.type("45")
    press(page, form.locator("summary"))
    tab_to(page, form.get_by_role("textbox", name="Description"))
    page.keyboard.type("By the window")
    press(page, form.get_by_role("button", name="Start", exact=True))
    says(page, "The session has begun. Your classmates see it.")
    [session] = ben.request("GET", f"{group.path}/sessions")["sessions"]
    assert session["topics"] == ["Heaps", "Trees"] and session["description"] == "By the window", session
    assert session["ends"] - session["starts"] == 45 * 60_000, session
    press(page, sheet(page).get_by_role("link", name="Invite"))
    press(page, sheet(page, "Invite friends").get_by_role("checkbox", name=ben.account), "Space")
    expect(sheet(page).get_by_role("checkbox", name=ben.account)).to_be_checked()
    press(page, sheet(page).get_by_role("button", name="Invite", exact=True))
    says(page, "1 friend is invited.")
    # The gateway waits for the people service only for a moment, which may be too short on a busy machine.
    [invite] = eventually("the invitation", lambda: ben.request("GET", "/user/sessions")["invites"])
    assert invite["session"]["id"] == session["id"] and invite["by"] == ann.account, invite


@pytest.mark.at_length
def test_hand_over(visit, group, ann, ben):
    """An arrow chooses among the people, and Enter sends the form."""
    group.add(ann, ben)
    cleo = group.new_member("cleo")
    session = group.start(ann, "Heaps").join(ben, cleo)
    page = open_study(visit, ann, f"#study/host/{group.id}/{session.id}")
    people = sheet(page, "Hand over")
    press(page, people.get_by_role("radio", name=ben.account), "ArrowDown")
    expect(people.get_by_role("radio", name=cleo.account)).to_be_checked()
    page.keyboard.press("Enter")
    says(page, f"{cleo.account} hosts the session now.")
    assert session.read()["host"] == cleo.account
