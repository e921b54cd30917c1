"""Study sessions in the students' app: addresses that lead nowhere or to the sign-in, names in narrow windows and of another direction, and refusals."""

import re

import pytest
from browsing.app import begin
from browsing.people import open_people
from browsing.study import go, open_study, remover, says, sheet
from browsing.study_fixtures import ann, group, product, visit
from harness.study import CAMPUS, student
from playwright.sync_api import expect


# Addresses

def test_a_first_visit_for_study(product, visit):
    """It leads to the sign-in for Study, and not to messages."""
    page = visit("/app/#study", account=None, settled=False)
    begin(page)
    expect(page.get_by_text("Sign in to study with your classmates.")).to_be_visible()


@pytest.mark.at_length
def test_an_address_of_nothing(visit, group, ann):
    """The app says so, and shows the map."""
    group.add(ann)
    page = open_study(visit, ann)
    go(page, "#study/session/1/2")
    says(page, "There is nothing at this address.")
    expect(page).to_have_url(re.compile("#study$"))
    go(page, f"#study/edit/{group.id}/{'0' * 24}")
    expect(sheet(page)).to_contain_text("This session is over, or you are not in its class.")


# Answers in another order

def test_the_classes_are_known_after_the_posts(visit, group, ann):
    """What an assistant may remove is shown once the app knows the role."""
    ben = group.new_member("ben", role="ta")
    session = group.add(ann).start(ann, "Heaps")
    session.post(ann, "Something rude")
    held = []
    page = open_people(visit, ben, f"#study/posts/{group.id}/{session.id}",
                       routes={"**/user/classes": lambda route: held.append(route)})
    expect(page.locator(".post .text")).to_have_text("Something rude")
    assert held
    expect(remover(page)).to_have_count(0)
    # It also answers what waits.
    page.unroute("**/user/classes")
    expect(remover(page)).to_have_count(1)


# Names

@pytest.mark.at_length
def test_names_in_arabic(visit, group, ann):
    """Latin names keep their own direction, and the line in which they are has that of the page."""
    group.add(ann)
    session = group.start(group.new_member("ben"), "Heaps", name="Hall")
    page = open_study(visit, ann, session.link, place=CAMPUS, language="ar")
    where = sheet(page).locator(".session-where bdi")
    expect(where).to_have_text([group.name, "Hall", "0 م"])
    first, last = where.first.bounding_box(), where.last.bounding_box()
    assert last["x"] + last["width"] <= first["x"], (first, last)
    # The title begins at the right, away from the button that closes the sheet.
    title = sheet(page).get_by_role("heading", level=2)
    begins = title.evaluate("(each) => { const text = new Range(); text.selectNodeContents(each); return text.getBoundingClientRect().right; }")
    place = title.bounding_box()
    assert abs(begins - place["x"] - place["width"]) < 1
    sheet(page).get_by_role("button", name="انضم", exact=True).click()
    expect(page.locator(".toast bdi").filter(has_text="Heaps")).to_be_visible()


@pytest.mark.at_length
def test_names_of_posts_in_a_narrow_window(product, visit, group, ann):
    """A role and a time leave the name its line."""
    tess = student(product, "tess")
    group.add(ann).add(tess, role="ta")
    session = group.start(ann, "Heaps")
    session.post(tess, "Welcome!")
    page = open_study(visit, ann, f"#study/posts/{group.id}/{session.id}", narrow=True)
    author = page.locator(".post-author")
    expect(author).to_have_text(tess.account)
    assert author.bounding_box()["height"] < 30


# Refusals

@pytest.mark.at_length
def test_a_refusal_in_arabic(visit, group, ann):
    """The class is closed while somebody fills in a new session. What the hub says of it is in English."""
    group.add(ann)
    page = open_study(visit, ann, "#study/new", place=CAMPUS, language="ar")
    form = sheet(page, "جلسة جديدة")
    expect(form.get_by_text("عند موقعك.")).to_be_visible()
    form.get_by_label("الموضوعات", exact=True).fill("Heaps")
    group.professor.request("PUT", group.path, {"closed": True})
    form.get_by_role("button", name="ابدأ", exact=True).click()
    expect(form.get_by_role("alert").filter(has_text="المادة مغلقة، فلا يبدأ أحد جلسة فيها.")).to_be_visible()
