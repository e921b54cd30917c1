"""Statuses and profile pictures in the students' app."""

import re

import pytest
from browsing.people import in_arabic, open_people, row
from browsing.uploads import chosen, png, upload
from browsing.visits import GATEWAY_AWAY
from harness.study import student
from harness.waiting import eventually
from playwright.sync_api import expect

DAY = 86_400
TEXT = "In the library until six. Bring your notes!"
# Most people here have no picture, and who asks for it learns that.
NO_PICTURE = r"status of 404 .*/picture"


@pytest.fixture(scope="module")
def product(phones_product):
    return phones_product


@pytest.fixture
def visit(visit):
    visit.expect_errors(NO_PICTURE)
    return visit


@pytest.fixture
def pair(product):
    """Ann and Ben are friends."""
    ann, ben = student(product, "ann"), student(product, "ben")
    ann.ask(ben)
    ben.ask(ann)
    return ann, ben


def entry(page, name):
    """Somebody's entry in the row of statuses."""
    return page.get_by_role("region", name="Statuses").get_by_role("link", name=re.compile(name))


def choose(page, picture, place=""):
    page.locator(f"{place} input[type=file]".strip()).set_input_files(picture)


def has_picture(locator, width=None):
    """Waits until a picture is drawn."""
    eventually("the picture is drawn", lambda: locator.evaluate("(each) => each.naturalWidth") == width if width
        else locator.evaluate("(each) => each.naturalWidth") > 0)


def field(page):
    return page.get_by_role("textbox", name="What is up?")


def show_text(page, text):
    field(page).fill(text)
    page.get_by_role("button", name=re.compile("^(Show it for 24 hours|Replace your status)$")).click()
    expect(page.get_by_text("Your friends see your status for 24 hours.")).to_be_visible()


def test_a_status_of_text(visit, pair, pictures):
    ann, ben = pair
    page = open_people(visit, ann, narrow=True)
    other = open_people(visit, ben, narrow=True)
    entry(page, "Add a status").click()
    expect(page.get_by_role("heading", name="Your status", level=1)).to_be_focused()
    pictures(page, "status-none", arrange=in_arabic(ann, "#people/status"), at_length=True)
    show_text(page, TEXT)
    own = page.get_by_role("region", name="Your status")
    expect(own).to_contain_text(TEXT)
    expect(own).to_contain_text("Seen by 0 friends")
    expect(own).to_contain_text(re.compile("Ends in (23|24) hours"))
    expect(field(page)).to_have_value("")
    # Ben's app asks by itself.
    expect(entry(other, ann.account)).to_contain_text("New")
    pictures(other, "status-row", arrange=in_arabic(ben))
    entry(other, ann.account).press("Enter")
    expect(other.get_by_role("heading", name=ann.account, level=1)).to_be_focused()
    expect(other.get_by_text(TEXT)).to_be_visible()
    pictures(other, "status-friend", arrange=in_arabic(ben, f"#people/status/{ann.account}"))
    expect(own).to_contain_text("Seen by 1 friend")
    pictures(page, "status-own", arrange=in_arabic(ann, "#people/status"))
    other.get_by_role("link", name="Friends").first.click()
    expect(entry(other, ann.account)).to_contain_text("Seen")
    # Another one takes its place, and nobody has seen that.
    show_text(page, "On the lawn")
    expect(own).to_contain_text("Seen by 0 friends")
    expect(entry(other, ann.account)).to_contain_text("New")
    own.get_by_role("button", name="Remove the status").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Remove the status").click()
    expect(page.get_by_text("You have no status.")).to_be_visible()
    expect(entry(other, ann.account)).to_have_count(0)


def test_a_status_with_a_picture(visit, pair, pictures):
    """It is shown before it is sent, and can be taken out again: what was written is still there."""
    ann, ben = pair
    page = open_people(visit, ann, "#people/status", narrow=True)
    field(page).fill("Written before")
    choose(page, chosen(png(1_600, 900)), ".picture-field")
    preview = page.get_by_role("img", name="The picture that you have chosen")
    has_picture(preview, 1_600)
    expect(field(page)).to_have_count(0)
    pictures(page, "status-picture-chosen")
    page.get_by_role("button", name="Without the picture").click()
    expect(field(page)).to_have_value("Written before")
    expect(page.get_by_role("button", name="Use a picture…")).to_be_focused()
    choose(page, chosen(png(1_600, 900)), ".picture-field")
    has_picture(preview, 1_600)
    page.get_by_role("button", name="Show it for 24 hours").click()
    expect(page.get_by_role("region", name="Your status")).to_contain_text("Seen by 0 friends")
    has_picture(page.get_by_role("img", name="The picture of your status"), 1_600)
    other = open_people(visit, ben, f"#people/status/{ann.account}", narrow=True)
    picture = other.get_by_role("img", name=f"The picture in the status of {ann.account}")
    has_picture(picture, 1_600)
    pictures(other, "status-friend-picture", at_length=True)
    # It is kept on the device, also for the time without a network.
    other.context.set_offline(True)
    visit.expect_errors(GATEWAY_AWAY)
    other.goto("/app/#people")
    entry(other, ann.account).click()
    has_picture(picture, 1_600)
    other.context.set_offline(False)


@pytest.mark.at_length
def test_a_status_ends_without_a_network(visit, pair):
    """After 24 hours, by the device's clock: in the row, and while it is shown."""
    ann, ben = pair
    ann.request("POST", "/user/status", {"text": TEXT})
    visit.expect_errors(GATEWAY_AWAY)
    page = open_people(visit, ben, narrow=True, clock=True)
    visit.after(page, 1, "the status", lambda: entry(page, ann.account).count() == 1)
    entry(page, ann.account).click()
    expect(page.get_by_text(TEXT)).to_be_visible()
    page.context.set_offline(True)
    page.clock.fast_forward((DAY - 600) * 1_000)
    page.clock.run_for(2_000)
    expect(page.get_by_text(TEXT)).to_be_visible()
    expect(page.get_by_text(re.compile("Ends in ([5-9]|10) minutes"))).to_be_visible()
    page.clock.fast_forward(600_000)
    page.clock.run_for(2_000)
    expect(page.get_by_text("There is no status here any more.")).to_be_visible()
    expect(page.get_by_text(TEXT)).to_have_count(0)
    page.get_by_role("link", name="Friends").first.click()
    expect(entry(page, ann.account)).to_have_count(0)


def test_friends_alone_see_a_status(product, visit, pair):
    """Who is blocked sees nothing any more, neither does a stranger."""
    ann, ben = pair
    cleo = student(product, "cleo")
    ann.request("POST", "/user/status", {"text": TEXT})
    page = open_people(visit, ben, narrow=True)
    expect(entry(page, ann.account)).to_be_visible()
    page.goto(f"/app/#people/status/{ann.account}")
    expect(page.get_by_text(TEXT)).to_be_visible()
    ann.request("PUT", f"/user/blocked/{ben.account}")
    expect(page.get_by_text("There is no status here any more.")).to_be_visible()
    expect(page.get_by_text(TEXT)).to_have_count(0)
    stranger = open_people(visit, cleo, f"#people/status/{ann.account}", narrow=True)
    expect(stranger.get_by_text("There is no status here any more.")).to_be_visible()


@pytest.mark.at_length
def test_what_was_not_sent_is_sent_again_with_the_same_key(visit, pair):
    """The hub has set the status, and its answer was lost."""
    ann, _ = pair
    visit.expect_errors(GATEWAY_AWAY)
    keys = []

    def lose_the_first_answer(route):
        if route.request.method != "POST":
            return route.continue_()
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            route.fetch()
            return route.abort()
        return route.continue_()

    page = open_people(visit, ann, "#people/status", narrow=True)
    page.route("**/user/status", lose_the_first_answer)
    field(page).fill(TEXT)
    page.get_by_role("button", name="Show it for 24 hours").click()
    expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
    expect(field(page)).to_have_value(TEXT)
    page.get_by_role("button", name=re.compile("^(Show it for 24 hours|Replace your status)$")).click()
    expect(page.get_by_text("Your friends see your status for 24 hours.")).to_be_visible()
    assert len(keys) == 2 and len(set(keys)) == 1, keys


def test_long_texts_and_bad_files(visit, pair, pictures):
    ann, _ = pair
    visit.expect_errors(r"status of (400|503|507)")
    page = open_people(visit, ann, "#people/status", narrow=True)
    field(page).fill("ب" * 501)
    expect(page.get_by_text("501 of 500")).to_be_visible()
    page.get_by_role("button", name="Show it for 24 hours").click()
    assert field(page).evaluate("(each) => each.validationMessage") == "Shorten this to 500 characters."
    field(page).fill("   ")
    page.get_by_role("button", name="Show it for 24 hours").click()
    expect(field(page)).to_be_focused()
    choose(page, chosen(b"<svg/>", "drawing.png"), ".picture-field")
    expect(page.get_by_text("Your browser makes no picture of this file.")).to_be_visible()
    pictures(page, "status-picture-refused", at_length=True)
    for status, body, words in (
            (507, {"detail": "no room", "status": 507}, "has no room for pictures"),
            (400, {"detail": "it is animated", "status": 400, "field": "picture"}, "does not take this picture: it is animated")):
        page.route("**/user/pictures", lambda route: route.fulfill(status=status, json=body))
        choose(page, chosen(png()), ".picture-field")
        page.get_by_role("button", name="Show it for 24 hours").click()
        expect(page.get_by_text(words)).to_be_visible()
        page.unroute("**/user/pictures")
        page.get_by_role("button", name="Without the picture").click()
    # What was not sent is sent again with the same key.
    keys = []

    def refuse(route):
        if route.request.method != "POST":
            return route.continue_()
        keys.append(route.request.headers["idempotency-key"])
        return route.fulfill(status=503, json={"detail": "away", "status": 503})

    page.route("**/user/status", refuse)
    field(page).fill(TEXT)
    for _ in range(2):
        page.get_by_role("button", name="Show it for 24 hours").click()
        expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
    assert len(keys) == 2 and len(set(keys)) == 1, keys


def test_the_picture_of_the_profile(visit, pair, pictures):
    """Nobody sees it unless the person chooses that; then it is beside the name."""
    ann, ben = pair
    page = open_people(visit, ann, "#settings/profile", narrow=True)
    # The file says where it was taken.
    choose(page, chosen(png(900, 900)), ".own-picture")
    expect(page.get_by_text("Your picture is changed.")).to_be_visible()
    own = page.locator(".own-picture img")
    has_picture(own, 900)
    assert "picture" not in ben.request("GET", f"/users/{ann.account}")
    page.get_by_label("Who sees this: Picture").select_option("Friends")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Your profile is saved.")).to_be_visible()
    pictures(page, "profile-picture", arrange=in_arabic(ann, "#settings/profile"))
    other = open_people(visit, ben, "#people/friends", narrow=True)
    has_picture(row(other, ann.account).locator("img"), 900)
    other.goto(f"/app/#people/person?account={ann.account}")
    has_picture(other.locator(".portrait.huge img:visible"), 900)
    pictures(other, "person-picture", arrange=in_arabic(ben, f"#people/person?account={ann.account}"), at_length=True)
    page.get_by_role("button", name="Remove the picture").click()
    expect(page.get_by_text("Your picture is removed.")).to_be_visible()
    expect(own).to_have_count(0)
    expect(page.get_by_role("button", name="Choose a picture…")).to_be_focused()


@pytest.mark.at_length
def test_nothing_of_statuses_is_left_after_signing_out(visit, pair):
    ann, ben = pair
    ann.request("POST", "/user/status", {"picture": upload(ann, png(40, 30))})
    page = open_people(visit, ben, f"#people/status/{ann.account}", narrow=True)
    has_picture(page.get_by_role("img", name=f"The picture in the status of {ann.account}"), 40)
    ben.request("DELETE", f"/user/devices/{page.evaluate(DEVICE)}")
    expect(page.get_by_text("You were signed out on this device.")).to_be_visible()
    assert page.evaluate(LEFT) == [[], []]


STORES = """(names) => new Promise((resolve, reject) => {
    const opened = indexedDB.open("msi-app");
    opened.onerror = reject;
    opened.onsuccess = () => {
        const read = opened.result.transaction(names);
        const asked = names.map((store) => read.objectStore(store).getAll());
        read.oncomplete = () => { opened.result.close(); resolve(asked.map(({ result }) => result)); };
    };
})"""
DEVICE = f"({STORES})(['account']).then(([rows]) => rows.find(({{ name }}) => name === 'device').id)"
LEFT = f"({STORES})(['direct', 'pictures'])"
