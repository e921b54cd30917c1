"""The stories of seed 002, each as somebody lives it in a browser: 16 of students, 8 of professors, and 15 of teaching assistants.

`STORIES` has the test of each by its number, which is in level one; a test fails if one is missing. Those of students and of teaching assistants
that say the same are one test with both roles: level one lives them as a student, and level two as an assistant as well. Level one also has an
assistant's form of a new session, in the test of T9, and one who joins, and writes and removes a post, in that of T15. Professors live most of
their stories in test_professor_page.py; here are those of level two.
"""

import importlib
import re

import pytest
from browsing.app import tab
from browsing.people import in_arabic, opens
from browsing.professor import open_classes, open_part
from browsing.study import bar, confirm, go, listed, move, on_map, open_study, pin, remover, row, says, sheet
from browsing.study_fixtures import ann, ben, group, product, visit
from harness.product import Refused
from harness.study import ACCURACY, AWAY, CAMPUS, NORTH, SOUTH, Class, Session, befriend, student
from harness.waiting import eventually
from playwright.sync_api import expect

STORIES = {
    # Students create and manage their study sessions.
    "S1": "test_start_a_session", "S2": "test_start_a_session", "S3": "test_start_a_session", "S4": "test_start_a_session",
    "S5": "test_it_ends_when_the_host_leaves", "S6": "test_hand_over",
    # Students view and join those of classmates.
    "S7": "test_filter_by_class", "S8": "test_sessions_near_me", "S9": "test_join", "S10": "test_join", "S11": "test_join", "S12": "test_invite_friends",
    "S13": "test_post_without_attending", "S14": "test_post_without_attending",
    # Students can also sign up, and have friends that look different.
    "S15": "test_people_app_pages.test_register_at_a_provider", "S16": "test_friends_look_different",
    # Professors see what was studied.
    "P1": "test_professor_page.test_history", "P2": "test_professor_page.test_history", "P3": "test_professor_page.test_history",
    "P4": "test_professor_page.test_sessions_and_posts", "P5": "test_professor_page.test_a_session_begins_while_the_page_is_open",
    # Professors have more power.
    "P6": "test_professor_page.test_sessions_and_posts", "P7": "test_professor_page.test_sponsor_a_session",
    "P8": "test_professor_page.test_sessions_and_posts",
    # Teaching assistants view and join sessions.
    "T1": "test_filter_by_class", "T2": "test_sessions_near_me", "T3": "test_join", "T4": "test_join", "T5": "test_join", "T6": "test_invite_friends",
    "T7": "test_post_without_attending", "T8": "test_post_without_attending",
    # Teaching assistants create and manage sessions.
    "T9": "test_an_assistant_sponsors", "T10": "test_start_a_session", "T11": "test_start_a_session", "T12": "test_start_a_session",
    "T13": "test_it_ends_when_the_host_leaves", "T14": "test_hand_over", "T15": "test_an_assistant_removes_students_posts",
}

# The time of grace, and how long the browser may say an earlier position, in milliseconds.
PATIENCE = 120_000

both_roles = pytest.mark.parametrize("role", ["student", pytest.param("ta", marks=pytest.mark.at_length)])
# A window as wide as a phone.
PHONE = {"width": 390, "height": 780}


def test_each_story_has_a_test():
    assert set(STORIES) == {f"{who}{number}" for who, count in (("S", 16), ("P", 8), ("T", 15)) for number in range(1, count + 1)}
    of_students = {name for story, name in STORIES.items() if story.startswith("S")}
    for story, name in STORIES.items():
        module, _, test = name.rpartition(".")
        found = getattr(importlib.import_module(module or __name__), test, None)
        assert callable(found), f"{story}: there is no {name}"
        marks = getattr(found, "pytestmark", [])
        assert "at_length" not in {mark.name for mark in marks}, f"{story}: {name} is in level two"
        if story.startswith("T") and name in of_students:
            # A role with a mark is the value of a parameter set.
            roles = {value for mark in marks for role in mark.args[1] for value in getattr(role, "values", [role])}
            assert "ta" in roles, f"{story}: {name} has no assistant"


@pytest.fixture
def on_a_phone(pictures):
    """Checks a sheet in a window as wide as a phone, light and dark: `on_a_phone(page, "invite", person, path)`. With pictures also in Arabic."""

    def see(page, name, person, path):
        size = page.viewport_size
        page.set_viewport_size(PHONE)
        pictures(page, f"study-{name}", arrange=in_arabic(person, path))
        page.set_viewport_size(size)

    return see


def started_from_the_form(page, group, *, topics="Heaps, Trees", place="Library, second floor", time="45"):
    """A session that somebody starts by the form."""
    page.get_by_role("link", name="New session").click()
    form = sheet(page, "New session")
    form.get_by_label("Topics", exact=True).fill(topics)
    form.get_by_label("Place, as people call it").fill(place)
    form.get_by_label("Minutes from now").fill(time)
    form.get_by_text("Description", exact=True).first.click()
    form.get_by_role("textbox", name="Description").fill("Chapter 6, by the window")
    expect(form.get_by_text("At your position.")).to_be_visible()
    form.get_by_role("button", name="Start", exact=True).click()
    says(page, "The session has begun. Your classmates see it.")
    [id] = group.open()
    return id


def sponsored_from_the_form(page, group, topics):
    """A session that somebody of the staff starts by the form, without being there."""
    page.get_by_role("link", name="New session").click()
    form = sheet(page, "New session")
    form.get_by_label("Topics", exact=True).fill(topics)
    form.get_by_role("switch", name="Sponsored by the class's staff").click()
    form.get_by_role("button", name="Middle of the map").click()
    form.get_by_role("button", name="Start", exact=True).click()
    says(page, "The session has begun. Your classmates see it.")
    [id] = group.open()
    return Session(group, id)


# Sessions of one's own

@both_roles
def test_start_a_session(product, visit, group, ann, ben, role):
    """With topics, a description, a time and a place, which classmates see."""
    group.add(ann, role=role).add(ben)
    page = open_study(visit, ann, place=CAMPUS)
    # A topic is one in any case.
    id = started_from_the_form(page, group, topics="Heaps, Trees, heaps")
    session = ben.request("GET", f"{group.path}/sessions/{id}")["session"]
    assert session["topics"] == ["Heaps", "Trees"] and session["host"] == ann.account and session["host_role"] == role, session
    assert session["place"] == {**CAMPUS, "name": "Library, second floor"} and not session["sponsored"], session
    assert session["ends"] - session["starts"] == 45 * 60_000, session
    assert session["description"] == "Chapter 6, by the window", session
    # The card, the list and the map have it. That those of others change without a look is in test_study_map.py.
    for text in ("Heaps and Trees", "Library, second floor", re.compile(r"4[345] min left"), "Chapter 6, by the window"):
        expect(sheet(page)).to_contain_text(text)
    eventually("the session in the list and on the map", lambda: listed(page) == on_map(page) == [id])
    # In two taps: the next one is like the last one, here and now.
    bar(page).get_by_role("button", name="End it").click()
    confirm(page, "End it")
    expect(bar(page)).to_be_hidden()
    page.goto("/app/#study")
    page.get_by_role("link", name="New session").click()
    expect(sheet(page).get_by_label("Topics", exact=True)).to_have_value("Heaps, Trees")
    sheet(page).get_by_role("button", name="Start", exact=True).click()
    eventually("the second session", lambda: len(group.open()) == 1)


@both_roles
def test_it_ends_when_the_host_leaves(visit, group, ann, ben, role):
    """Only after having been inside, and after a time in which the host may come back, as test_a_sponsor_comes_and_leaves does."""
    group.add(ann, role=role).add(ben)
    page = open_study(visit, ann, place=CAMPUS)
    id = started_from_the_form(page, group)
    ben.request("POST", f"{group.path}/sessions/{id}", {})
    other = open_study(visit, ben)
    expect(bar(other)).to_contain_text("Heaps and Trees")

    def noted():
        move(page, AWAY)
        return bar(page).get_by_text("You have left the place.").is_visible()

    eventually("the note", noted, pause=0.2)
    for each in (page, other):
        expect(bar(each)).to_be_hidden(timeout=PATIENCE)
        says(each, "The session is over, because its host has left the place")
    assert group.open() == [] and group.past()[0]["reason"] == "left"


def answers_to_positions(page):
    """What the hub answers from now on when the page tells where the device is."""
    answers = []
    page.on("response", lambda response: answers.append(response) if response.url.endswith("/position") else None)
    return answers


def tell(page, answers, where, state):
    """The device is somewhere, until the hub has said what that is to the session."""

    def is_so():
        move(page, where)
        return answers and answers[-1].json()["state"] == state

    eventually(f"the host is {state}", is_so, pause=1)


@pytest.mark.at_length
def test_a_sponsor_comes_and_leaves(product, visit, group, ann):
    """T9 with T13: a session that was sponsored from afar ends when its host leaves the place, having been there."""
    tim = student(product, "tim")
    group.add(ann).add(tim, role="ta")
    page = open_study(visit, tim, place=AWAY)
    answers = answers_to_positions(page)
    session = sponsored_from_the_form(page, group, "Question hour")
    place = {key: session.read()["place"][key] for key in ("latitude", "longitude")}
    other = open_study(visit, ann, session.link)
    sheet(other).get_by_role("button", name="Join", exact=True).click()
    expect(bar(other)).to_contain_text("Question hour")
    for where, state in ((place, "inside"), (AWAY, "outside"), (place, "inside")):
        tell(page, answers, where, state)
    expect(bar(page)).to_be_hidden()
    tell(page, answers, AWAY, "outside")
    expect(bar(other)).to_be_hidden(timeout=PATIENCE)
    says(other, "The session is over, because its host has left the place")
    expect(bar(page)).to_be_hidden()
    assert group.open() == [] and group.past()[0]["reason"] == "left"


@both_roles
def test_hand_over(visit, on_a_phone, pictures, group, ann, ben, role):
    group.add(ann, role=role).add(ben)
    session = group.start(ann, "Heaps").join(ben)
    page, other = open_study(visit, ann, session.link), open_study(visit, ben, session.link)
    expect(bar(other).get_by_role("button", name="Leave")).to_be_visible()
    sheet(page).get_by_role("link", name="Hand over").click()
    expect(sheet(page, "Hand over").get_by_role("radio", name=ben.account)).to_be_visible()
    on_a_phone(page, "hand-over", ann, f"#study/host/{group.id}/{session.id}")
    sheet(page, "Hand over").get_by_role("radio", name=ben.account).check()
    sheet(page, "Hand over").get_by_role("button", name="Hand over").click()
    says(page, f"{ben.account} hosts the session now.")
    says(other, "You host this session now: Heaps.")
    expect(bar(other).get_by_role("button", name="End it…")).to_be_visible()
    expect(bar(page).get_by_role("button", name="Leave")).to_be_visible()
    assert session.read()["host"] == ben.account and session.read()["attendants"] == [ann.account, ben.account]
    # The one who was host before is told of the end as everybody is.
    bar(other).get_by_role("button", name="End it…").click()
    pictures(other, "study-question-end", at_length=True, arabic=in_arabic(ben, session.link, opens("أنهِها…")))
    confirm(other, "End it")
    says(page, "Its host has ended the session: Heaps.")
    expect(bar(page)).to_be_hidden()


# Those of others

@both_roles
def test_filter_by_class(product, visit, group, ann, ben, role):
    """By any number of classes. The browser keeps the choice."""
    groups = [group, Class(product, "Compilers", professor=group.professor), Class(product, "Databases", professor=group.professor)]
    for each in groups:
        each.add(ann, role=role)
    sessions = [each.start(each.professor, sponsored=True, place=place) for each, place in zip(groups, (CAMPUS, NORTH, SOUTH))]
    page = open_study(visit, ann)
    chips = page.get_by_role("group", name="Classes")

    def shows(*wanted):
        ids = {each.id for each in wanted}
        eventually("the chosen classes", lambda: set(listed(page)) == set(on_map(page)) == ids)

    shows(*sessions)
    chips.get_by_role("button", name=groups[0].name).click()
    shows(sessions[0])
    chips.get_by_role("button", name=groups[2].name).click()
    shows(sessions[0], sessions[2])
    page.reload()
    shows(sessions[0], sessions[2])
    expect(chips.get_by_role("button", name=groups[2].name)).to_have_attribute("aria-pressed", "true")
    chips.get_by_role("button", name="All classes").click()
    shows(*sessions)


@both_roles
def test_sessions_near_me(visit, group, ann, role):
    """The person's place is on the map, and the nearest session is the first one."""
    group.add(ann, role=role)
    far, near = group.start(group.professor, "Graphs", sponsored=True, place=NORTH), group.start(group.professor, "Heaps", sponsored=True, place=SOUTH)
    page = open_study(visit, ann, place=SOUTH)
    page.get_by_role("button", name="Show where I am").click()
    expect(page.locator(".person-mark")).to_have_count(1)
    expect(pin(page, near)).to_be_in_viewport()
    eventually("the order", lambda: listed(page) == [near.id, far.id])
    expect(row(page, near)).to_contain_text("0 m")
    expect(row(page, far)).to_contain_text("710 m")
    found = ann.request("POST", "/user/sessions/near", {"position": {**SOUTH, "accuracy": ACCURACY}, "radius": 500})["sessions"]
    assert [each["session"]["id"] for each in found] == [near.id] and found[0]["distance"] < 5, found


@both_roles
def test_join(visit, on_a_phone, group, ann, ben, role):
    """Who joins sees who is there, and is seen by the others."""
    group.add(ann, role=role).add(ben)
    session = group.start(ben, "Heaps")
    page, other = open_study(visit, ann), open_study(visit, ben, f"#study/who/{group.id}/{session.id}")
    pin(page, session).click()
    on_a_phone(page, "session", ann, session.link)
    expect(sheet(page)).to_contain_text(ben.account)
    expect(sheet(page)).to_contain_text("Who joins is shown to the class by account name.")
    sheet(page).get_by_role("button", name="Join", exact=True).click()
    says(page, "You are in: Heaps.")
    expect(bar(page)).to_contain_text("Heaps")
    go(page, f"#study/who/{group.id}/{session.id}")
    for each in (page, other):
        people = sheet(each, "Who is there").get_by_role("listitem")
        expect(people).to_have_count(2)
        expect(people.filter(has_text=ann.account)).to_have_count(1)
        expect(people.filter(has_text=ben.account)).to_contain_text("Host")
    on_a_phone(page, "who", ann, f"#study/who/{group.id}/{session.id}")
    # A second one asks first.
    second = group.start(group.professor, "Graphs", sponsored=True, place=NORTH)
    go(page, second)
    sheet(page).get_by_role("button", name="Join", exact=True).click()
    expect(page.get_by_role("alertdialog", name="Leave Heaps?")).to_be_visible()
    confirm(page, "Join this one")
    says(page, "You are in: Graphs.")
    assert session.read()["attendants"] == [ben.account] and second.read()["attendants"] == [ann.account]


@both_roles
def test_invite_friends(product, visit, on_a_phone, group, ann, ben, role):
    """Friends of the class are told, and nobody else can be chosen."""
    cleo = student(product, "cleo")
    group.add(ann, role=role).add(ben, cleo)
    befriend(ann, ben)
    session = group.start(ann, "Heaps")
    page, other = open_study(visit, ann, session.link), open_study(visit, ben)
    sheet(page).get_by_role("link", name="Invite").click()
    asked = sheet(page, "Invite friends")
    expect(asked.get_by_role("checkbox")).to_have_count(1)
    on_a_phone(page, "invite", ann, f"#study/invite/{group.id}/{session.id}")
    asked.get_by_role("checkbox", name=ben.account).check()
    asked.get_by_role("button", name="Invite", exact=True).click()
    says(page, "1 friend is invited.")
    invitation = other.get_by_role("link", name=re.compile(f"{ann.account} invites you: Heaps"))
    expect(invitation).to_be_visible()
    expect(tab(other, "Study, 1 invitation")).to_be_visible()
    invitation.click()
    expect(sheet(other)).to_contain_text("Library, second floor")
    expect(sheet(other)).to_contain_text(re.compile(r"(59|60|1 h).* left"))
    assert cleo.request("GET", "/user/sessions")["invites"] == []


@both_roles
def test_post_without_attending(visit, on_a_phone, pictures, group, ann, ben, role):
    """Who removes an own post removes it from public view. It is still there for the professor."""
    group.add(ann, role=role).add(ben)
    session = group.start(ben, "Heaps")
    page = open_study(visit, ann, session.link)
    sheet(page).get_by_role("link", name="Posts").click()
    page.get_by_role("textbox", name="Write to all of the class").fill("Is there a free chair?")
    page.get_by_role("button", name="Post", exact=True).click()
    expect(sheet(page).get_by_role("listitem").filter(has_text="Is there a free chair?")).to_contain_text(ann.account)
    on_a_phone(page, "posts", ann, f"#study/posts/{group.id}/{session.id}")
    assert session.read()["attendants"] == [ben.account] and session.texts(ben) == ["Is there a free chair?"]
    session.post(ben, "By the window")
    # The event comes without a look.
    expect(sheet(page).get_by_role("listitem").filter(has_text="By the window")).to_be_visible()
    # That of somebody else only if the role allows it.
    expect(remover(page)).to_have_count(2 if role == "ta" else 1)
    remover(page, "Is there a free chair?").click()
    in_arabic_asked = in_arabic(ann, f"#study/posts/{group.id}/{session.id}", opens(re.compile("^أزل")))
    pictures(page, "study-question-remove", at_length=True, arabic=in_arabic_asked)
    confirm(page, "Remove")
    expect(page.get_by_text("Is there a free chair?")).to_have_count(0)
    assert session.texts(ann) == session.texts(ben) == ["By the window"]
    assert session.texts(group.professor) == ["By the window", "Is there a free chair?"]


def test_friends_look_different(product, visit, on_a_phone, group, ann, ben):
    """On pins and in lists, by a ring and by a word."""
    cleo = student(product, "cleo")
    group.add(ann, ben, cleo)
    befriend(ann, ben)
    with_friend, without = group.start(ben, "Heaps"), group.start(cleo, "Graphs", place=NORTH)
    page = open_study(visit, ann)
    expect(row(page, with_friend)).to_contain_text(f"friends: {ben.account}")
    expect(row(page, without)).not_to_contain_text("friends")
    expect(pin(page, with_friend).locator(".pin-ring")).to_have_count(1)
    expect(pin(page, without).locator(".pin-ring")).to_have_count(0)
    expect(pin(page, with_friend)).to_have_attribute("aria-label", re.compile(ben.account))
    # From the classmates to a friend: who shows a name can be asked.
    cleo.request("PUT", "/user/profile", {"first_name": "Cleo", "visibility": {"first_name": "classmates"}})
    go(page, "#study/find")
    found = sheet(page, "Find friends").get_by_role("listitem").filter(has_text=cleo.account)
    expect(found).to_contain_text("Cleo")
    on_a_phone(page, "find-friends", ann, "#study/find")
    found.get_by_role("button", name=re.compile("Ask to be friends")).click()
    expect(found).to_contain_text("Asked")
    cleo.ask(ann)
    go(page, "#study")
    expect(row(page, without)).to_contain_text(f"friends: {cleo.account}")
    expect(pin(page, without).locator(".pin-ring")).to_have_count(1)


# Teaching assistants

def test_an_assistant_sponsors(product, visit, group, ann):
    """Without being there. Students cannot. Of where the assistant is, the app tells nothing before they have come; who has come can leave."""
    tim = student(product, "tim")
    group.add(ann).add(tim, role="ta")
    page = open_study(visit, tim, place=AWAY)
    answers = answers_to_positions(page)
    sponsored_from_the_form(page, group, "Question hour")
    [session] = ann.request("GET", f"{group.path}/sessions")["sessions"]
    assert session["sponsored"] and session["host"] == tim.account and session["attendants"] == [], session
    other = open_study(visit, ann, place=AWAY)
    expect(other.locator(f".session-row[data-session='{session['id']}']")).to_contain_text("Sponsored")
    other.get_by_role("link", name="New session").click()
    expect(sheet(other).get_by_role("switch", name="Sponsored by the class's staff")).to_be_hidden()
    # In the middle of the map the student is not.
    sheet(other).get_by_label("Topics", exact=True).fill("Mine")
    sheet(other).get_by_role("button", name="Middle of the map").click()
    sheet(other).get_by_role("button", name="Start", exact=True).click()
    expect(sheet(other).get_by_role("alert").filter(has_text="You are too far from the place")).to_be_visible()
    assert group.open() == [session["id"]]
    move(page, AWAY)
    tell(page, answers, {key: session["place"][key] for key in ("latitude", "longitude")}, "inside")
    assert answers[0].json()["state"] == "inside"
    expect(bar(page)).to_be_hidden()
    tell(page, answers, AWAY, "outside")
    expect(bar(page)).to_contain_text("You have left the place.")


def test_an_assistant_removes_students_posts(product, visit, group, ann, ben):
    """Not those of the professor. What students do as well, the assistant does on the same page."""
    group.add(ann).add(ben, role="ta")
    session = group.start(ann, "Heaps")
    session.post(ann, "Something rude")
    kept = session.post(group.professor, "The exam is on Tuesday")
    page = open_study(visit, ben, f"#study/posts/{group.id}/{session.id}")
    expect(page.get_by_text("The exam is on Tuesday")).to_be_visible()
    expect(remover(page)).to_have_count(1)
    remover(page, "Something rude").click()
    expect(page.get_by_role("alertdialog")).to_contain_text("The university's log has that you did it.")
    confirm(page, "Remove")
    expect(page.get_by_text("Something rude")).to_have_count(0)
    assert session.texts(ann) == ["The exam is on Tuesday"]
    page.get_by_role("textbox", name="Write to all of the class").fill("Wrong room")
    page.get_by_role("button", name="Post", exact=True).click()
    remover(page, "Wrong room").click()
    confirm(page, "Remove")
    expect(page.get_by_text("Wrong room")).to_have_count(0)
    assert session.texts(ann) == ["The exam is on Tuesday"] and session.read()["attendants"] == [ann.account]
    go(page, session)
    sheet(page).get_by_role("button", name="Join", exact=True).click()
    says(page, "You are in: Heaps.")
    assert session.read()["attendants"] == [ann.account, ben.account]
    with pytest.raises(Refused) as refused:
        session.remove(ben, kept)
    assert refused.value.status == 403
    # Others remove posts of this product as well, and a service that was killed hands on its entries later.
    log = f"/audit?limit=200&action=study_post.remove&account={ben.account}"
    [entry] = eventually("the audit log", lambda: product.api("GET", log)["entries"])
    assert "rude" not in str(entry), entry


# Professors

@pytest.mark.at_length
def test_what_was_studied(visit, group, ann, ben):
    """By date, topic and attendance, as a table and in plots."""
    group.add(ann, ben)
    heaps = group.start(ann, "Heaps", "Trees").join(ben)
    heaps.leave(ann)
    group.start(ben, "Graphs").leave(ben)
    page = open_classes(visit, group.professor, f"#class/past?id={group.id}")
    rows = page.locator("table.past tbody tr")
    expect(rows).to_have_count(2)
    first = rows.filter(has_text="Heaps, Trees")
    expect(first.get_by_role("link", name="Heaps, Trees")).to_be_visible()
    expect(first.locator("time")).to_have_attribute("datetime", re.compile(r"^\d{4}-\d\d-\d\dT"))
    expect(first).to_contain_text("Ended by its host")
    first.get_by_text("2 people").click()
    for person in (ann, ben):
        expect(first.locator("details").get_by_text(person.account)).to_be_visible()
    page.get_by_label("Topic", exact=True).select_option("Graphs")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("1 person")
    topics = page.locator("table.topics")
    for topic in ("Heaps", "Trees", "Graphs"):
        expect(topics.get_by_role("rowheader", name=topic)).to_be_visible()


@pytest.mark.at_length
def test_the_professors_map(visit, group, ann, ben):
    """The active sessions, as they begin and end."""
    group.add(ann, ben)
    heaps = group.start(ann, "Heaps")
    page = open_classes(visit, group.professor, f"#class/sessions?id={group.id}")
    on_map_and_list = lambda: (set(on_map(page)), set(listed(page, ".sessions")))
    eventually("the session", lambda: on_map_and_list() == ({heaps.id}, {heaps.id}))
    graphs = group.start(ben, "Graphs", place=NORTH)
    eventually("another one", lambda: on_map_and_list() == ({heaps.id, graphs.id}, {heaps.id, graphs.id}))
    heaps.leave(ann)
    eventually("its end", lambda: on_map_and_list() == ({graphs.id}, {graphs.id}))
    pin(page, graphs).click()
    expect(page.get_by_role("heading", name="Graphs", level=1)).to_be_visible()


@pytest.mark.at_length
def test_the_professor_posts(visit, group, ann):
    """And reads what others post, as it comes."""
    group.add(ann)
    session = group.start(ann, "Heaps")
    session.post(ann, "What is a heap?")
    page = open_classes(visit, group.professor, session.link)
    # Its button says the same to readers.
    expect(page.get_by_text("What is a heap?", exact=True)).to_be_visible()
    page.get_by_role("textbox", name="Write to all of the class").fill("A tree in an array.")
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.get_by_role("listitem").filter(has_text="A tree in an array.")).to_contain_text("Professor")
    session.post(ann, "Thank you!")
    expect(page.get_by_text("Thank you!", exact=True)).to_be_visible()
    assert session.texts(ann) == ["Thank you!", "A tree in an array.", "What is a heap?"]


@pytest.mark.at_length
def test_the_professor_sponsors(visit, group, ann):
    """From a desk: the middle of the map is the place."""
    group.add(ann)
    page = open_classes(visit, group.professor, f"#class/sessions?id={group.id}")
    expect(page.locator(".leaflet-container")).to_be_visible()
    page.get_by_role("button", name="Sponsor a session…").click()
    form = page.locator("section").filter(has=page.get_by_role("heading", name="Sponsor a session"))
    form.get_by_label("Topics", exact=True).fill("Revision")
    form.get_by_role("button", name="Start", exact=True).click()
    says(page, "The session has begun. Your classmates see it.")
    [session] = ann.request("GET", f"{group.path}/sessions")["sessions"]
    assert session["sponsored"] and session["host_role"] == "professor" and session["attendants"] == [], session
    expect(page.locator(f".session-row[data-session='{session['id']}']")).to_contain_text("Revision")


@pytest.mark.at_length
def test_the_professor_removes_any_post(product, visit, group, ann):
    """Those of assistants as well. Who has removed what, and when, is seen by the professor alone."""
    tim = student(product, "tim")
    group.add(ann).add(tim, role="ta")
    session = group.start(ann, "Heaps")
    for person, text in ((ann, "Of a student"), (tim, "Of an assistant")):
        session.post(person, text)
    session.remove(tim, session.post(ann, "Of another student"))
    page = open_classes(visit, group.professor, session.link)
    for text in ("Of a student", "Of an assistant"):
        remover(page, text).click()
        confirm(page, "Remove")
        expect(page.get_by_role("listitem").filter(has=page.get_by_text(text, exact=True))).to_contain_text(f"Removed by {group.professor.account}")
    expect(page.get_by_role("listitem").filter(has_text="Of another student")).to_contain_text(f"Removed by {tim.account}")
    assert session.texts(ann) == []
    part_of_class = open_classes(visit, tim, f"#class/sessions?id={group.id}")
    open_part(part_of_class, "Sessions now")
    expect(part_of_class.get_by_role("link", name="Past sessions")).to_have_count(0)
