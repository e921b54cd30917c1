"""Two students and a professor side by side, each in their own browser: from the first key of a class to what is in its history.

Level two: test_study_stories.py, test_study_map.py and test_professor_page.py have its parts in level one. The steps are one story, so that
each begins where the one before has ended. Every step is seen by all three without a look, since events bring it. Each has its pictures,
`study-<step>-<who>-…`: in English and in Arabic, in the light and in the dark, wide and 320 pixels wide.
"""

import re

import pytest
from browsing.people import in_arabic
from browsing.professor import in_arabic as professor_in_arabic
from browsing.professor import open_classes, open_part
from browsing.study import bar, confirm, go, listed, on_map, open_study, remover, says, sheet
from browsing.study_fixtures import product, visit
from harness.study import CAMPUS, new_professor, student
from harness.waiting import eventually
from playwright.sync_api import expect


class Three:
    """The professor, Ann and Ben with their pages."""

    def __init__(self, product, visit, pictures):
        self.product, self.pictures = product, pictures
        self.turing, self.ann, self.ben = new_professor(product, "turing"), student(product, "ann"), student(product, "ben")
        self.ann.ask(self.ben)
        self.ben.ask(self.ann)
        self.desk = open_classes(visit, self.turing)
        self.hers, self.his = (open_study(visit, person, place=CAMPUS, narrow=True) for person in (self.ann, self.ben))
        self.group = self.session = None

    def see(self, step, *, desk=None, hers=None, his=None):
        """Pictures of a step. A path is where the same is in Arabic; `""` is a page that has no address."""
        for who, page, path, arrange in (
            ("professor", self.desk, desk, lambda path: professor_in_arabic(self.turing, path)),
            ("ann", self.hers, hers, lambda path: in_arabic(self.ann, path)), ("ben", self.his, his, lambda path: in_arabic(self.ben, path)),
        ):
            if path is not None:
                self.pictures(page, f"study-{step}-{who}", arrange=arrange(path) if path else None)


@pytest.fixture
def three(product, visit, pictures):
    return Three(product, visit, pictures)


@pytest.mark.at_length
def test_three_people(three):
    make_a_class(three)
    join_by_key(three)
    start(three)
    come(three)
    post(three)
    moderate(three)
    hand_over(three)
    end(three)
    look_back(three)


def make_a_class(three):
    """The professor makes a class, and shows the key in the hall."""
    page = three.desk
    page.get_by_role("button", name="New class…").click()
    asked = page.get_by_role("dialog", name="New class")
    three.name = three.product.unique("Algorithms")
    asked.get_by_label("Name", exact=True).fill(three.name)
    asked.get_by_label("Identification key").fill(three.name.replace(" ", "-"))
    three.see("new-class", desk="")
    asked.get_by_role("button", name="Create the class").click()
    page.get_by_role("button", name="New key…").click()
    page.get_by_role("button", name="Make the key").click()
    hall = page.get_by_role("dialog", name="For students")
    expect(hall.get_by_role("img", name=re.compile("QR code"))).to_be_visible()
    three.key = hall.locator(".hall-code").inner_text()
    three.see("hall", desk="")
    hall.get_by_role("button", name="Done").click()
    [three.group] = [each["id"] for each in three.turing.request("GET", "/user/classes")["classes"]]
    three.see("keys", desk=f"#class/keys?id={three.group}")


def join_by_key(three):
    for page, person in ((three.hers, three.ann), (three.his, three.ben)):
        page.get_by_role("link", name="Join a class").click()
        sheet(page, "Join a class").get_by_label("Key of the class").fill(three.key)
        sheet(page).get_by_role("button", name="Join", exact=True).click()
        says(page, f"You are in the class {three.name}.")
    open_part(three.desk, "People")
    for person in (three.turing, three.ann, three.ben):
        expect(three.desk.get_by_role("rowheader", name=person.account)).to_be_visible()
    three.see("joined", desk=f"#class/roster?id={three.group}", hers=f"#study/class/{three.group}")
    for page in (three.hers, three.his):
        go(page, "#study")
    open_part(three.desk, "Sessions now")
    expect(three.desk.get_by_role("heading", name="No sessions now")).to_be_visible()


def start(three):
    """Ann starts a session where she is. The others see it on the map."""
    page = three.hers
    page.get_by_role("link", name="New session").click()
    form = sheet(page, "New session")
    form.get_by_label("Topics", exact=True).fill("Balanced trees, Heaps")
    form.get_by_label("Place, as people call it").fill("Library, second floor")
    three.see("new-session", hers="#study/new")
    form.get_by_role("button", name="Start", exact=True).click()
    says(page, "The session has begun. Your classmates see it.")
    expect(bar(page)).to_contain_text("Balanced trees and Heaps")
    [three.session] = [each["id"] for each in three.turing.request("GET", f"/classes/{three.group}/sessions")["sessions"]]
    for other in (three.desk, three.his):
        eventually("the session on the map", lambda: on_map(other) == [three.session])
    eventually("the session in the list", lambda: listed(three.desk, ".sessions") == [three.session])
    expect(three.his.locator(".pin .pin-ring")).to_have_count(1)
    three.see("began", desk=f"#class/sessions?id={three.group}", hers="#study", his="#study")


def path_of(three, name="session"):
    return f"#study/{name}/{three.group}/{three.session}"


def come(three):
    three.his.locator(f".pin[data-sessions='{three.session}']").click()
    three.see("card", his=path_of(three))
    sheet(three.his).get_by_role("button", name="Join", exact=True).click()
    says(three.his, "You are in: Balanced trees and Heaps.")
    go(three.hers, path_of(three, "who"))
    expect(sheet(three.hers, "Who is there").get_by_role("listitem").filter(has_text=three.ben.account)).to_contain_text("friend")
    three.see("there", hers=path_of(three, "who"), his=path_of(three))


def post(three):
    """Whoever writes, the others read it at once."""
    three.desk.goto(f"/portal/classes/{path_of(three)}")
    for page in (three.hers, three.his):
        go(page, path_of(three, "posts"))
    for page, text in ((three.his, "How do I rotate twice?"), (three.desk, "Look at the left child first."), (three.his, "Who sells notes?")):
        page.get_by_role("textbox", name="Write to all of the class").fill(text)
        page.get_by_role("button", name="Post", exact=True).click()
        for each in (three.desk, three.hers, three.his):
            expect(each.get_by_role("listitem").filter(has_text=text)).to_be_visible()
    three.see("posts", desk=path_of(three), hers=path_of(three, "posts"))


def moderate(three):
    remover(three.desk, "Who sells notes?").click()
    confirm(three.desk, "Remove")
    expect(three.desk.get_by_text(f"Removed by {three.turing.account}")).to_be_visible()
    for page in (three.hers, three.his):
        expect(page.get_by_text("Who sells notes?")).to_have_count(0)
        expect(page.get_by_text("Look at the left child first.")).to_be_visible()
    three.see("removed", desk=path_of(three), his=path_of(three, "posts"))


def hand_over(three):
    go(three.hers, path_of(three, "host"))
    sheet(three.hers, "Hand over").get_by_role("radio", name=three.ben.account).check()
    three.see("hand-over", hers="")
    sheet(three.hers).get_by_role("button", name="Hand over").click()
    says(three.his, "You host this session now: Balanced trees and Heaps.")
    expect(bar(three.his).get_by_role("button", name="End it…")).to_be_visible()
    expect(bar(three.hers).get_by_role("button", name="Leave")).to_be_visible()
    expect(three.desk.locator(".session-facts")).to_contain_text(three.ben.account)


def end(three):
    bar(three.his).get_by_role("button", name="End it…").click()
    expect(three.his.get_by_role("alertdialog", name="End Balanced trees and Heaps?")).to_be_visible()
    three.see("end", his="")
    confirm(three.his, "End it")
    says(three.hers, "Its host has ended the session: Balanced trees and Heaps.")
    for page in (three.hers, three.his):
        expect(bar(page)).to_be_hidden()
    expect(three.desk.get_by_text("Ended by its host")).to_be_visible()
    expect(three.desk.get_by_role("textbox", name="Write to all of the class")).to_be_hidden()


def look_back(three):
    """The professor sees who was there. Each of them sees where they were, and nothing of the other."""
    three.desk.goto(f"/portal/classes/#class/past?id={three.group}")
    found = three.desk.locator("table.past tbody tr")
    expect(found).to_contain_text("Balanced trees, Heaps")
    found.get_by_text("2 people").click()
    for person in (three.ann, three.ben):
        expect(found.locator("details").get_by_text(person.account)).to_be_visible()
    go(three.hers, "#study/past")
    expect(sheet(three.hers, "My earlier sessions").get_by_role("listitem")).to_contain_text("Balanced trees and Heaps")
    expect(sheet(three.hers)).not_to_contain_text(three.ben.account)
    three.see("past", desk=f"#class/past?id={three.group}", hers="#study/past")
    assert three.ann.request("GET", f"/classes/{three.group}/sessions")["sessions"] == []
