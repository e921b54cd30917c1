"""The page Cube: channels, areas and subjects."""

import itertools
import re
import time

import pytest
from playwright.sync_api import expect

from browsing.processor_time import ProcessorTime
from browsing.visits import GATEWAY_AWAY, SERVICE_AWAY
from harness.product import PASSWORD
from harness.waiting import eventually

CUBE = "/portal/cube/"
# Somebody else was faster, or has deleted it.
CHANGED, DELETED = r"status of 412", r"status of 404"


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def row(page, name):
    return page.locator(".row").filter(has=page.get_by_role("button", name=name, exact=True))


def name_field(page):
    return page.get_by_role("textbox", name="Name")


def choose(page, thing, item):
    """Chooses an item of the menu of a channel, area or subject."""
    button(page, f"More for {thing}").click()
    page.get_by_role("menuitem", name=item).click()


def toast(page, text):
    return page.locator(".toast").filter(has_text=text)


def channels(product):
    return {channel["name"]: channel for channel in product.api("GET", "/channel")}


def areas(product, channel):
    return {area["name"]: area for each in product.api("GET", "/channel") if each["_id"] == channel["_id"] for area in each["areas"]}


def subjects(product, subject):
    area = areas(product, subject.channel)[subject.area["name"]]
    return {each["name"]: each for each in area["subjects"]}


def show_only(page, thing):
    """Filters the tree, so that pictures do not show what other tests have added."""
    page.get_by_role("searchbox").fill(thing["name"])


def order(page, names):
    """The names in the order in which the page shows them."""
    return [title for title in page.locator(".title .name").all_inner_texts() if title in names]


# The seed's use cases


def test_add_channel(product, visit):
    page, name = visit(CUBE, account="admin"), product.unique("Sports")
    button(page, "Add channel").click()
    name_field(page).fill(name)
    page.get_by_label("Description").fill("Teams and courses")
    page.get_by_role("region", name="Add channel").get_by_role("button", name="Add channel").click()
    # What stays the shortest comes first.
    expect(row(page, name)).to_have_class(re.compile("marked"))
    expect(toast(page, f"{name} was added.")).to_be_visible()
    expect(row(page, name)).to_be_in_viewport()
    expect(button(page, name)).to_be_focused()
    assert channels(product)[name]["desc"] == "Teams and courses"


def test_edit_channel(product, visit):
    channel, name = product.new_channel(), product.unique("Renamed")
    page = visit(CUBE, account="admin")
    choose(page, channel["name"], "Edit")
    name_field(page).fill(name)
    button(page, "Save").click()
    expect(toast(page, f"{name} was saved.")).to_be_visible()
    expect(row(page, name)).to_be_in_viewport()
    assert channels(product)[name]["_id"] == channel["_id"]


def test_delete_channel(product, visit):
    subject = product.new_subject()
    page = visit(CUBE, account="admin")
    choose(page, subject.channel["name"], "Delete")
    dialog = page.get_by_role("dialog", name=f"Delete {subject.channel['name']}?")
    expect(dialog).to_contain_text("Deleted with it: 1 area · 1 subject.")
    name = dialog.get_by_role("textbox", name=f"To delete it, type its name: {subject.channel['name']}")
    expect(name).to_be_focused()
    expect(dialog.get_by_role("button", name="Delete")).to_be_enabled()
    # Nothing is deleted before it is said what that means.
    dialog.get_by_role("button", name="Delete").evaluate("(button) => { button.disabled = true; }")
    name.fill(subject.channel["name"])
    name.press("Control+Enter")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Delete").evaluate("(button) => { button.disabled = false; }")
    name.fill(subject.channel["name"][:-1])
    name.press("Enter")
    expect(dialog.get_by_text("This is not its name.")).to_be_visible()
    expect(name).to_be_focused()
    assert subject.channel["name"] in channels(product)
    name.fill(f"  {subject.channel['name']} ")
    dialog.get_by_role("button", name="Delete").click()
    expect(toast(page, f"{subject.channel['name']} was deleted.")).to_be_visible()
    expect(row(page, subject.channel["name"])).to_have_count(0)
    assert subject.channel["name"] not in channels(product)


@pytest.mark.at_length
def test_delete_area_with_subjects_in_another_unicode_form(product, visit, pictures):
    channel = product.new_channel()
    area = product.new_area(channel, "Cafe\u0301 und Gärten")
    product.new_subject(channel=channel, area=area)
    page = visit(CUBE, account="admin")
    choose(page, area["name"], "Delete")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Deleted with it: 1 subject.")
    expect(dialog).to_contain_text(channel["name"])
    expect(dialog.get_by_role("button", name="Delete")).to_be_enabled()
    pictures(page, "cube-delete-typed")
    dialog.get_by_role("textbox").fill(area["name"].replace("e\u0301", "é"))
    dialog.get_by_role("textbox").press("Enter")
    expect(toast(page, f"{area['name']} was deleted.")).to_be_visible()
    assert areas(product, channel) == {}


def test_add_area(product, visit):
    channel, name = product.new_channel(), product.unique("Courses")
    page = visit(CUBE, account="admin")
    button(page, f"Add area to {channel['name']}").click()
    name_field(page).fill(name)
    button(page, "Add area").click()
    expect(toast(page, f"{name} was added.")).to_be_visible()
    expect(button(page, name)).to_be_focused()
    assert name in areas(product, channel)


def test_view_areas(product, visit):
    """The areas of a channel can be opened and closed, and each has its options."""
    channel = product.new_channel()
    names = [product.new_area(channel)["name"] for _ in range(2)]
    page = visit(CUBE, account="admin")
    for name in names:
        button(page, f"More for {name}").click()
        for option in ("Edit", "Delete"):
            expect(page.get_by_role("menuitem", name=option)).to_be_visible()
        page.keyboard.press("Escape")
    button(page, channel["name"]).click()
    expect(button(page, names[0])).to_be_hidden()
    button(page, channel["name"]).click()
    expect(button(page, names[0])).to_be_visible()


def test_view_subjects(product, visit):
    subject = product.new_subject("Seen", distribution="Alert", level="Forced")
    page = visit(CUBE, account="admin")
    expect(row(page, subject.name)).to_contain_text("Alert")
    expect(row(page, subject.name)).to_contain_text("Required")
    button(page, subject.area["name"]).click()
    expect(button(page, subject.name)).to_be_hidden()
    button(page, subject.area["name"]).click()
    button(page, f"More for {subject.name}").click()
    for option in ("Edit", "Delete"):
        expect(page.get_by_role("menuitem", name=option)).to_be_visible()


def test_edit_area(product, visit):
    channel = product.new_channel()
    area, name = product.new_area(channel), product.unique("Renamed")
    page = visit(CUBE, account="admin")
    choose(page, area["name"], "Edit")
    name_field(page).fill(name)
    page.get_by_label("Description").fill("What this is")
    button(page, "Save").click()
    expect(toast(page, f"{name} was saved.")).to_be_visible()
    expect(row(page, name)).to_contain_text("What this is")
    assert areas(product, channel)[name]["id"] == area["id"]


def test_delete_area(product, visit):
    channel = product.new_channel()
    area = product.new_area(channel)
    page = visit(CUBE, account="admin")
    choose(page, area["name"], "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(toast(page, f"{area['name']} was deleted.")).to_be_visible()
    expect(row(page, area["name"])).to_have_count(0)
    expect(button(page, channel["name"])).to_be_focused()
    assert areas(product, channel) == {}


def test_add_subject(product, visit):
    other, name = product.new_subject(), product.unique("Storms")
    page = visit(CUBE, account="admin")
    button(page, f"Add subject to {other.area['name']}").click()
    name_field(page).fill(name)
    # Each choice says what it means, where it is made.
    expect(page.get_by_role("radio", name="Students cannot unsubscribe.")).to_be_visible()
    page.get_by_role("radio", name="Required").check()
    page.get_by_role("radio", name="Alert").check()
    button(page, "Add subject").click()
    expect(toast(page, f"{name} was added.")).to_be_visible()
    expect(row(page, name)).to_contain_text("Required")
    expect(row(page, name)).to_contain_text("Alert")
    expect(button(page, name)).to_be_focused()
    assert subjects(product, other)[name]["opt"] == {"level": "Forced", "distribution": "Alert"}


@pytest.mark.at_length
def test_add_another(product, visit):
    """The form stays for the next one, says where it goes, and keeps the focus in the name."""
    channel = product.new_channel()
    area = product.new_area(channel)
    names = [product.unique(name) for name in ("First", "Second", "Third")]
    page = visit(CUBE, account="admin")
    button(page, f"Add subject to {area['name']}").click()
    form = page.get_by_role("region", name=f"Add subject to {channel['name']} › {area['name']}")
    expect(form.get_by_role("heading")).to_contain_text(re.compile(f"Add subject to {channel['name']}.*{area['name']}"))
    form.get_by_role("radio", name="Alert").check()
    form.get_by_role("checkbox", name="Add another").check()
    for name in names[:2]:
        name_field(page).fill(name)
        name_field(page).press("Enter")
        expect(row(page, name)).to_be_visible()
        expect(name_field(page)).to_have_value("")
        expect(name_field(page)).to_be_focused()
    form.get_by_role("checkbox", name="Add another").uncheck()
    name_field(page).fill(names[2])
    button(page, "Add subject").click()
    expect(button(page, names[2])).to_be_focused()
    expect(form).to_have_count(0)
    stored = next(each["subjects"] for each in areas(product, channel).values())
    assert [(each["name"], each["opt"]["distribution"]) for each in stored] == [(name, "Alert") for name in names]


@pytest.mark.at_length
def test_forms_say_where_a_thing_is(product, visit):
    subject = product.new_subject()
    page = visit(CUBE, account="admin")
    button(page, subject.name).click()
    path = re.compile(f"{subject.channel['name']}.*{subject.area['name']}")
    expect(page.get_by_role("region", name=f"Edit {subject.name}")).to_contain_text(path)
    page.keyboard.press("Escape")
    choose(page, subject.name, "Who may send")
    expect(page.get_by_role("region", name=f"Who may send to {subject.name}")).to_contain_text(path)
    page.keyboard.press("Escape")
    choose(page, subject.name, "Delete")
    expect(page.get_by_role("dialog")).to_contain_text(path)


def test_edit_subject(product, visit):
    subject, name = product.new_subject(), product.unique("Renamed")
    page = visit(CUBE, account="admin")
    button(page, subject.name).click()
    name_field(page).fill(name)
    page.get_by_role("radio", name="Recommended").check()
    button(page, "Save").click()
    expect(toast(page, f"{name} was saved.")).to_be_visible()
    expect(row(page, name)).to_contain_text("Recommended")
    stored = subjects(product, subject)[name]
    assert stored["topic_key"] == subject.topic_key and stored["opt"]["level"] == "Recommended"


def test_delete_subject_says_messages_first(product, visit, pictures):
    subject = product.new_subject()
    for number in range(3):
        product.wait_for_state(product.send(subject, f"Message {number}"), "relayed")
    page = visit(CUBE, account="admin")

    def ask(page):
        show_only(page, subject.channel)
        page.locator(f'[data-id="{subject.topic_key.split("-")[2]}"] [data-act="menu"]').click()
        page.get_by_role("menuitem").last.click()
        expect(page.get_by_role("dialog").get_by_role("button").last).to_be_enabled()

    ask(page)
    dialog = page.get_by_role("dialog", name=f"Delete {subject.name}?")
    expect(dialog).to_contain_text("3 messages stay in the archive.")
    expect(dialog).to_contain_text("Phones get no more messages from it.")
    # Enter alone deletes nothing, and no key does at "Cancel".
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    pictures(page, "cube-delete", arrange=ask)
    dialog.get_by_role("button", name="Cancel").press("Control+Enter")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert subject.name in subjects(product, subject)
    ask(page)
    dialog.get_by_role("button", name="Delete").click()
    expect(toast(page, f"{subject.name} was deleted.")).to_be_visible()
    assert subject.name not in subjects(product, subject)


@pytest.mark.at_length
def test_delete_says_what_still_goes_out(product, visit, pictures):
    subject = product.new_subject()
    product.wait_for_state(product.send(subject, "Sent"), "relayed")
    product.send(subject, "Tomorrow", send_at=int(time.time() * 1_000) + 86_400_000)
    page = visit(CUBE, account="admin")
    choose(page, subject.channel["name"], "Delete")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 messages stay in the archive.")
    expect(dialog).to_contain_text("1 message has not gone out yet, and can still go out.")
    expect(dialog).not_to_contain_text("Phones get no more messages from it.")
    pictures(page, "cube-delete-waiting")


# Order


def test_reorder_by_keyboard(product, visit):
    channel = product.new_channel()
    names = [product.new_area(channel)["name"] for _ in range(3)]
    page = visit(CUBE, account="admin")
    button(page, names[2]).press("Alt+ArrowUp")
    expect(page.get_by_text(f"{names[2]} is now number 2 of 3.")).to_have_attribute("role", "status")
    expect(button(page, names[2])).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    expect(toast(page, f"{names[2]} was moved.")).to_be_visible()
    moved = [names[2], names[0], names[1]]
    expect(button(page, names[2])).to_be_focused()
    eventually("the new order on the page", lambda: order(page, names) == moved)
    eventually("the new order in the cube", lambda: list(areas(product, channel)) == moved)
    page.keyboard.press("Alt+ArrowUp")
    expect(page.get_by_text(f"{names[2]} is already the first.")).to_be_attached()


@pytest.mark.at_length
def test_reorder_by_menu_and_undo(product, visit):
    channel = product.new_channel()
    names = [product.new_area(channel)["name"] for _ in range(2)]
    page = visit(CUBE, account="admin")
    choose(page, names[0], "Move down")
    expect(toast(page, f"{names[0]} was moved.")).to_be_visible()
    eventually("the new order in the cube", lambda: list(areas(product, channel)) == names[::-1])
    button(page, "Undo").click()
    expect(toast(page, f"{names[0]} was moved.")).to_have_count(0)
    expect(page.locator(".title .name").filter(has_text=re.compile(f"^({'|'.join(names)})$"))).to_have_text(names)
    eventually("the original order in the cube", lambda: list(areas(product, channel)) == names)


def test_reorder_by_pointer(product, visit):
    subject = product.new_subject()
    names = [subject.name] + [product.new_subject(channel=subject.channel, area=subject.area).name for _ in range(2)]
    page = visit(CUBE, account="admin")
    row(page, names[0]).hover()
    start, end = (row(page, name).locator(".grip").bounding_box() for name in (names[0], names[2]))
    page.mouse.move(start["x"] + 10, start["y"] + 10)
    page.mouse.down()
    steps = iter(range(5, 500))

    def is_dragged():
        page.mouse.move(start["x"] + 10, start["y"] + next(steps) % 20)
        return page.locator(".dragged").count() == 1

    eventually("the row follows the pointer", is_dragged)
    page.mouse.move(end["x"] + 10, end["y"] + end["height"], steps=8)
    expect(page.locator(".sorting > li").last).to_have_class(re.compile("dragged"))
    page.mouse.up()
    expect(toast(page, f"{names[0]} was moved.")).to_be_visible()
    assert list(subjects(product, subject)) == [names[1], names[2], names[0]]


@pytest.mark.at_length
def test_reorder_by_touch(product, visit):
    subject = product.new_subject()
    names = [subject.name, product.new_subject(channel=subject.channel, area=subject.area).name]
    page = visit(CUBE, account="admin", narrow=True, touch=True)
    # Not behind the bar at the bottom.
    row(page, names[1]).evaluate("(element) => element.scrollIntoView({ block: 'center', behavior: 'instant' })")
    grips = [row(page, name).locator(".grip").bounding_box() for name in names]
    fingers = page.context.new_cdp_session(page)

    def touch(kind, *points):
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    x, y = grips[1]["x"] + 10, grips[1]["y"] + 10
    touch("touchStart", (x, y))
    steps = iter(range(5, 500))

    def is_dragged():
        touch("touchMove", (x, y - next(steps) % 20))
        return page.locator(".dragged").count() == 1

    eventually("the row follows the finger", is_dragged)
    touch("touchMove", (x, grips[0]["y"] - 10))
    expect(page.locator(".sorting > li").first).to_have_class(re.compile("dragged"))
    touch("touchEnd")
    expect(toast(page, f"{names[1]} was moved.")).to_be_visible()
    assert list(subjects(product, subject)) == names[::-1]


def test_move_subject_to_another_channel(product, visit, pictures):
    """It stays the same subject: phones are subscribed by its topic key. Undo brings it back to where it was."""
    subject, other = product.new_subject("Moved"), product.new_subject("Other")
    after = product.new_subject(channel=subject.channel, area=subject.area)
    page = visit(CUBE, account="admin", confirmed=True)

    def ask(page):
        show_only(page, subject.channel)
        page.locator(f'[data-id="{subject.topic_key.split("-")[2]}"] [data-act="menu"]').click()
        page.get_by_role("menuitem").nth(4).click()
        expect(page.get_by_role("dialog")).to_be_visible()

    ask(page)
    dialog = page.get_by_role("dialog", name=f"Move {subject.name} to another area")
    expect(dialog).to_contain_text("Phones stay subscribed")
    pictures(page, "cube-move", arrange=ask)
    dialog.get_by_role("button", name="Move").click()
    expect(dialog.get_by_label("New area")).to_have_accessible_description("Choose an area")
    dialog.get_by_label("New area").select_option(label=other.area["name"])
    dialog.get_by_role("button", name="Move").click()
    expect(toast(page, f"{subject.name} is now in")).to_contain_text(re.compile(f"{other.channel['name']}.*{other.area['name']}"))
    expect(button(page, subject.name)).to_be_focused()
    moved = subjects(product, other)[subject.name]
    assert moved["topic_key"] == subject.topic_key and subject.name not in subjects(product, subject)
    # It can be edited at its new place, and gets messages by its topic key.
    product.send(subject, "After the move")
    button(page, subject.name).press("Enter")
    page.get_by_label("Description").fill("At its new place")
    button(page, "Save").click()
    expect(toast(page, f"{subject.name} was saved.")).to_be_visible()
    assert subjects(product, other)[subject.name]["desc"] == "At its new place"
    page.get_by_role("searchbox").fill("")
    choose(page, subject.name, "Move to another area")
    dialog.get_by_label("New area").select_option(label=subject.area["name"])
    dialog.get_by_role("button", name="Move").click()
    eventually("it is the last one", lambda: list(subjects(product, subject)) == [after.name, subject.name])
    button(page, "Undo").click()
    eventually("it is back", lambda: subject.name in subjects(product, other))


@pytest.mark.at_length
def test_undo_of_a_move_restores_the_order(product, visit):
    subject, other = product.new_subject(), product.new_subject()
    after = product.new_subject(channel=subject.channel, area=subject.area)
    page = visit(CUBE, account="admin", confirmed=True)
    choose(page, subject.name, "Move to another area")
    page.get_by_label("New area").select_option(label=other.area["name"])
    page.get_by_role("dialog").get_by_role("button", name="Move").click()
    expect(toast(page, f"{subject.name} is now in")).to_be_visible()
    button(page, "Undo").click()
    eventually("it is where it was", lambda: list(subjects(product, subject)) == [subject.name, after.name])
    expect(button(page, subject.name)).to_be_focused()


@pytest.mark.at_length
def test_move_by_somebody_else_keeps_the_form(product, visit):
    visit.expect_errors(CHANGED)
    subject, other = product.new_subject(), product.new_subject()
    page = visit(CUBE, account="admin")
    button(page, subject.name).click()
    page.get_by_label("Description").fill("Typed before the move")
    product.api("PUT", f"/place/{subject.path}", {"channel": other.channel["_id"], "area": other.area["id"]})
    expect(page.locator(f'[data-id="{other.area["id"]}"] [data-id="{subject.document["id"]}"]')).to_be_visible()
    button(page, "Save").click()
    expect(toast(page, f"{subject.name} was saved.")).to_be_visible()
    assert subjects(product, other)[subject.name]["desc"] == "Typed before the move"


# Who may send


def test_access_list_needs_password(product, visit, check):
    visit.expect_errors(r"status of 403")
    subject = product.new_subject()
    page = visit(CUBE, account="admin", fresh=True)
    choose(page, subject.name, "Who may send")
    expect(page.get_by_text("Nobody is named: every communicator may send.")).to_be_visible()
    page.get_by_role("combobox", name="Add an account").press_sequentially("an")
    # The accounts come after the form.
    expect(page.get_by_role("option", name="ann")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", name="ann")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.get_by_role("combobox", name="Add an account").fill("ben")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Only ann and ben and all super users may send.")).to_be_visible()
    page.get_by_role("checkbox", name="A second person approves each message").check()
    check(page)
    button(page, "Save").click()
    dialog = page.get_by_role("dialog", name="Confirm it is you")
    dialog.get_by_role("textbox", name="password").fill(PASSWORD)
    dialog.get_by_role("button", name="Confirm").click()
    expect(toast(page, f"Who may send to {subject.name} was saved.")).to_be_visible()
    expect(row(page, subject.name)).to_contain_text("Only ann and ben")
    expect(row(page, subject.name)).to_contain_text("Approval")
    stored = subjects(product, subject)[subject.name]
    assert stored["access"] == ["ann", "ben"] and stored["approval"] is True
    choose(page, subject.name, "Who may send")
    button(page, "Remove ann").click()
    page.get_by_role("checkbox", name="A second person approves each message").uncheck()
    button(page, "Save").click()
    expect(row(page, subject.name)).to_contain_text("Only ben")
    assert subjects(product, subject)[subject.name]["access"] == ["ben"]
    # Stored by a second request.
    eventually("no approval", lambda: not subjects(product, subject)[subject.name].get("approval"))


def test_inherited_access_list(product, visit, pictures):
    subject = product.new_subject()
    product.api("PUT", f"/access/{subject.channel['_id']}", {"access": ["ann"]})
    page = visit(CUBE, account="admin")
    expect(row(page, subject.name)).to_contain_text("Only ann")

    def open_list(page):
        show_only(page, subject.channel)
        page.locator(f'[data-id="{subject.topic_key.split("-")[2]}"] [data-act="menu"]').click()
        page.get_by_role("menuitem").nth(1).click()
        page.get_by_role("combobox").fill("b")
        page.get_by_role("option").first.wait_for()

    open_list(page)
    expect(page.get_by_text(f"The channel {subject.channel['name']} names ann, who may send here too.")).to_be_visible()
    pictures(page, "cube-access", arrange=open_list)


# Two administrators at once


def test_changes_of_others_appear(product, visit):
    subject, other = product.new_subject(), product.new_subject()
    page = visit(CUBE, account="admin")
    button(page, subject.name).click()
    page.get_by_label("Description").fill("Still typing")
    added = product.new_subject("Added", channel=other.channel, area=other.area)
    expect(row(page, added.name)).to_have_class(re.compile("marked"))
    product.api("DELETE", f"/subject/{other.topic_key.replace('-', '/')}")
    expect(row(page, other.name)).to_have_count(0)
    expect(page.get_by_label("Description")).to_be_focused()
    expect(page.get_by_label("Description")).to_have_value("Still typing")


def test_conflict_shows_both_versions(product, visit, pictures):
    subject = product.new_subject()
    visit.expect_errors(CHANGED)
    mine, theirs = visit(CUBE, account="admin"), visit(CUBE, account="admin")
    button(mine, subject.name).click()
    mine.get_by_label("Description").fill("My words")
    button(theirs, subject.name).click()
    theirs.get_by_label("Description").fill("Their words")
    theirs.get_by_role("radio", name="Required").check()
    button(theirs, "Save").click()
    expect(theirs.get_by_label("Description")).to_have_count(0)
    expect(row(mine, subject.name)).to_contain_text("Their words")
    expect(mine.get_by_text("Somebody else has changed this since you opened it.")).to_be_visible()
    button(mine, "Save").click()
    versions = mine.get_by_role("region", name="Theirs, stored now"), mine.get_by_role("region", name="Mine, not saved yet")
    expect(versions[0].locator(".differs")).to_have_text([re.compile("Their words"), re.compile("Required")])
    expect(versions[1].locator(".differs")).to_have_text([re.compile("My words"), re.compile("Chosen by students")])
    show_only(mine, subject.channel)
    pictures(mine, "cube-conflict")
    # Whatever they do next is in the comparison.
    theirs.get_by_role("button", name=subject.name, exact=True).click()
    theirs.get_by_label("Description").fill("Their later words")
    button(theirs, "Save").click()
    expect(versions[0]).to_contain_text("Their later words")
    button(mine, "Save mine").click()
    expect(toast(mine, f"{subject.name} was saved.")).to_be_visible()
    assert subjects(product, subject)[subject.name]["desc"] == "My words"
    expect(row(theirs, subject.name)).to_contain_text("My words")


@pytest.mark.at_length
def test_conflict_keep_theirs(product, visit):
    subject = product.new_subject()
    visit.expect_errors(CHANGED)
    page = visit(CUBE, account="admin")
    button(page, subject.name).click()
    page.get_by_label("Description").fill("My words")
    path, name = f"/subject/{subject.topic_key.replace('-', '/')}", product.unique("Theirs")
    product.api("PUT", path, {"name": name, "desc": "", "opt": {"level": "", "distribution": "Information"}})
    button(page, "Save").click()
    button(page, "Keep theirs").click()
    expect(button(page, name)).to_be_focused()
    expect(page.get_by_label("Description")).to_have_count(0)
    assert subjects(product, subject)[name]["desc"] == ""


@pytest.mark.at_length
def test_change_of_something_else_is_no_conflict(product, visit):
    subject = product.new_subject()
    page = visit(CUBE, account="admin")
    visit.expect_errors(CHANGED)
    button(page, subject.name).click()
    page.get_by_label("Description").fill("My words")
    product.api("PUT", f"/approval/{subject.topic_key.replace('-', '/')}", {"approval": True})
    expect(row(page, subject.name)).to_contain_text("Approval")
    button(page, "Save").click()
    expect(toast(page, f"{subject.name} was saved.")).to_be_visible()
    assert subjects(product, subject)[subject.name]["approval"] is True


def test_deletion_while_editing_keeps_text(product, visit, pictures):
    subject = product.new_subject()
    page = visit(CUBE, account="admin")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button(page, subject.name).click()
    page.get_by_label("Description").fill("Worth keeping")
    product.api("DELETE", f"/channel/{subject.channel['_id']}")
    expect(page.get_by_text(f"Somebody else has deleted {subject.name} meanwhile.")).to_be_visible()
    expect(page.get_by_label("Description")).to_have_value("Worth keeping")
    show_only(page, subject.channel)
    pictures(page, "cube-deleted-while-editing", at_length=True)
    button(page, "Copy my text").click()
    expect(toast(page, "Copied")).to_be_visible()
    assert "Worth keeping" in page.evaluate("navigator.clipboard.readText()")
    button(page, "Close").click()
    expect(row(page, subject.name)).to_have_count(0)


@pytest.mark.at_length
def test_delete_of_changed_asks_again(product, visit):
    visit.expect_errors(CHANGED)
    channel = product.new_channel()
    page = visit(CUBE, account="admin")
    choose(page, channel["name"], "Delete")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Delete")).to_be_enabled()
    expect(dialog).not_to_contain_text("Deleted with it")
    product.new_area(channel)
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody else has just changed it.")
    expect(dialog).to_contain_text("1 area")
    dialog.get_by_role("button", name="Delete").click()
    expect(toast(page, f"{channel['name']} was deleted.")).to_be_visible()


# Parts of the hub are away


@pytest.mark.at_length
def test_gateway_restart_keeps_text(spare_product, visit):
    visit.expect_errors(GATEWAY_AWAY, SERVICE_AWAY)
    page = visit(CUBE, account="admin")
    button(page, "Storms").click()
    page.get_by_label("Description").fill("Typed before the restart")
    with spare_product.away("msi-gateway"):
        button(page, "Save").click()
        expect(page.locator(".cube-panel").get_by_role("alert").filter(has_text="The hub does not answer.")).to_be_visible()
        expect(page.get_by_label("Description")).to_have_value("Typed before the restart")
    button(page, "Save").click()
    expect(toast(page, "Storms was saved.")).to_be_visible()
    assert "Typed before the restart" in str(spare_product.api("GET", "/channel"))


@pytest.mark.at_length
def test_cube_service_away(spare_product, visit, pictures):
    visit.expect_errors(SERVICE_AWAY)
    page = visit(CUBE, account="admin")
    button(page, "Add subject to Weather").click()
    name_field(page).fill("Floods")
    with spare_product.away("msi-cube"):
        expect(page.get_by_text("The cube can be read, but not changed now")).to_be_visible()
        button(page, "Add subject").click()
        expect(page.locator(".cube-panel").get_by_role("alert").filter(has_text=re.compile("."))).to_be_visible()
        expect(name_field(page)).to_have_value("Floods")
        pictures(page, "cube-service-away")
    expect(page.get_by_text("The cube can be read, but not changed now")).to_have_count(0)
    button(page, "Add subject").click()
    expect(toast(page, "Floods was added.")).to_be_visible()
    # What may have been done before is not done twice.
    assert str(spare_product.api("GET", "/channel")).count("'Floods'") == 1


# The page itself


def test_keyboard_only(product, visit):
    subject, name = product.new_subject(), product.unique("By keyboard")
    page = visit(CUBE, account="admin")
    button(page, subject.area["name"]).focus()
    page.keyboard.press("ArrowLeft")
    expect(button(page, subject.area["name"])).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(button(page, subject.name)).to_be_focused()
    page.keyboard.press("Enter")
    expect(name_field(page)).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(button(page, name)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Edit")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("menuitem", name="Delete")).to_be_focused()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Delete")).to_be_enabled()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button(page, f"More for {name}")).to_be_focused()


def test_tree_is_one_stop_of_tab(product, visit):
    subject = product.new_subject()
    page = visit(CUBE, account="admin")
    expect(page.locator("#main")).to_be_focused()
    # The last row of the tree: the page adds many rows one part after the other.
    expect(button(page, subject.name)).to_be_visible()
    for _ in range(6):
        page.keyboard.press("Tab")
        if button(page, "Close all").evaluate("(element) => element === document.activeElement"):
            break
    expect(button(page, "Close all")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(".channel .title").first).to_be_focused()
    expect(page.get_by_text("close and open")).to_be_visible()
    page.keyboard.press("End")
    expect(button(page, f"Add area to {subject.channel['name']}")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(button(page, f"Add subject to {subject.area['name']}")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(button(page, subject.name)).to_be_focused()
    page.keyboard.press("Tab")
    expect(button(page, f"More for {subject.name}")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    expect(button(page, "Close all")).to_be_focused()
    # Tab comes back to the row that was left, or to one that is shown.
    page.keyboard.press("Tab")
    expect(button(page, subject.name)).to_be_focused()
    button(page, "Close all").click()
    page.keyboard.press("Tab")
    expect(page.locator(".channel .title").first).to_be_focused()


@pytest.mark.at_length
def test_focus_stays_when_somebody_else_deletes(product, visit):
    subject = product.new_subject()
    other = product.new_subject(channel=subject.channel, area=subject.area)
    page = visit(CUBE, account="admin")
    button(page, f"More for {other.name}").click()
    expect(page.get_by_role("menuitem", name="Edit")).to_be_focused()
    product.api("DELETE", f"/subject/{other.topic_key.replace('-', '/')}")
    expect(row(page, other.name)).to_have_count(0)
    page.get_by_role("menuitem", name="Edit").click()
    expect(toast(page, f"Somebody else had already deleted {other.name}.")).to_be_visible()
    assert page.evaluate("document.activeElement !== document.body")
    button(page, subject.name).click()
    page.get_by_label("Description").fill("Worth keeping")
    button(page, "Save").focus()
    product.api("DELETE", f"/channel/{subject.channel['_id']}")
    expect(button(page, "Copy my text")).to_be_focused()


@pytest.mark.at_length
def test_name_is_checked(product, visit):
    channel = product.new_channel()
    area = product.new_area(channel)
    page = visit(CUBE, account="admin")
    button(page, f"Add area to {channel['name']}").click()
    button(page, "Add area").click()
    expect(page.get_by_text("Please fill this in.")).to_be_visible()
    expect(name_field(page)).to_be_focused()
    name_field(page).fill("x" * 201)
    button(page, "Add area").click()
    expect(page.get_by_text("Please shorten this to 200 characters.")).to_be_visible()
    name_field(page).fill(area["name"].upper())
    expect(page.get_by_text("Another one here has this name.")).to_be_visible()
    assert len(areas(product, channel)) == 1


@pytest.mark.at_length
def test_discarded_form_comes_back(product, visit):
    channel = product.new_channel()
    page = visit(CUBE, account="admin")
    choose(page, channel["name"], "Edit")
    page.get_by_label("Description").fill("A long text")
    button(page, "Cancel").click()
    expect(button(page, channel["name"])).to_be_focused()
    button(page, "Undo").click()
    expect(page.get_by_label("Description")).to_have_value("A long text")


@pytest.mark.at_length
def test_closed_areas_are_remembered(product, visit):
    subject = product.new_subject()
    page = visit(CUBE, account="admin")
    button(page, subject.area["name"]).click()
    expect(button(page, subject.name)).to_be_hidden()
    page.reload()
    visit.settle(page)
    expect(button(page, subject.area["name"])).to_have_attribute("aria-expanded", "false")
    expect(button(page, subject.name)).to_have_count(0)


def test_filter(product, visit):
    subject, other = product.new_subject("Needle"), product.new_subject("Hay")
    page = visit(CUBE, account="admin")
    page.get_by_role("searchbox", name="Filter by name").fill(f"{subject.channel['name']} needle")
    expect(row(page, subject.name)).to_be_visible()
    expect(row(page, other.name)).to_have_count(0)
    page.get_by_role("searchbox", name="Filter by name").fill("no such thing")
    expect(page.get_by_text("No channel, area or subject is named")).to_be_visible()
    button(page, "Clear the filter").click()
    expect(row(page, other.name)).to_be_visible()


@pytest.mark.at_length
def test_filter_marks_all_words_and_counts_what_it_finds(product, visit, pictures):
    channel = product.new_channel("Library")
    area = product.new_area(channel, "E-Mail news")
    for name in ("Early café closing", "Café news", "Other"):
        product.new_subject(name, channel=channel, area=area)
    page = visit(CUBE, account="admin")
    search = page.get_by_role("searchbox", name="Filter by name")
    total = sum(len(each["subjects"]) for every in product.api("GET", "/channel") for each in every["areas"])
    search.fill(f"{channel['name']} CAFE closing")
    found = page.locator(".subject:visible")
    expect(found).to_have_count(1)
    expect(found.locator("mark")).to_have_text(["café", "closing"])
    expect(page.locator(".totals")).to_have_text(f"1 of {total} subjects")
    search.fill(f"{channel['name']} cafe")
    expect(page.locator(".totals")).to_have_text(f"2 of {total} subjects")
    pictures(page, "cube-filter")
    # The focus moves from the field to what was found. What is opened or closed during the search is as before after it.
    search.press("ArrowDown")
    expect(button(page, channel["name"])).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(button(page, area["name"])).to_have_attribute("aria-expanded", "false")
    expect(found).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(found).to_have_count(2)
    page.keyboard.press("ArrowLeft")
    search.fill("")
    expect(button(page, area["name"])).to_have_attribute("aria-expanded", "true")
    expect(page.locator("mark")).to_have_count(0)


@pytest.mark.at_length
def test_targets_on_touch(product, visit):
    subject = product.new_subject()
    page = visit(CUBE, account="admin", narrow=True, touch=True)
    choose(page, subject.name, "Who may send")
    page.get_by_role("combobox").fill("nobody")
    page.get_by_role("combobox").press("Enter")
    for target in (button(page, f"More for {subject.name}"), button(page, "Remove nobody"), button(page, "Open all"), row(page, subject.name).locator(".grip")):
        box = target.bounding_box()
        assert box["width"] >= 44 and box["height"] >= 44, (target, box)


@pytest.mark.at_length
def test_long_account_name_stays_in_the_suggestions(product, visit):
    subject, name = product.new_subject(), product.new_account("a" * 30 + ".of.the.student.services")
    page = visit(CUBE, account="admin", narrow=True)
    choose(page, subject.name, "Who may send")
    page.get_by_role("combobox").fill("a" * 30)
    option = page.get_by_role("option", name=name)
    expect(option).to_be_visible()
    assert option.evaluate("(element) => element.scrollWidth <= element.clientWidth")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    box = button(page, f"Remove {name}").bounding_box()
    assert box["x"] + box["width"] <= 320


@pytest.mark.at_length
def test_long_names_stay_in_the_page(product, visit):
    channel = product.new_channel("x" * 150)
    subject = product.new_subject("z" * 150, channel=channel, area=product.new_area(channel, "y" * 150))
    product.api("PUT", f"/access/{channel['_id']}", {"access": ["q" * 64]})
    page = visit(CUBE, account="admin", narrow=True)
    show_only(page, subject.channel)
    choose(page, subject.name, "Who may send")
    expect(page.get_by_role("combobox")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    choose(page, subject.name, "Delete")
    assert page.get_by_role("dialog").evaluate("(element) => element.scrollWidth <= element.clientWidth")
    product.api("DELETE", f"/channel/{channel['_id']}")


@pytest.mark.at_length
def test_wide_windows_are_used(product, visit):
    page = visit(CUBE, account="admin")
    page.set_viewport_size({"width": 1920, "height": 1080})
    assert page.locator(".channel").first.bounding_box()["width"] > 1_400


def test_communicators_read_why_not(visit, check):
    page = visit(CUBE, account="ann")
    expect(page.get_by_role("heading", name="Only super users can change the cube")).to_be_visible()
    expect(page.get_by_role("button", name="Add channel")).to_have_count(0)
    check(page)


def test_tree_and_form(empty_product, visit, pictures):
    campus = empty_product.new_channel("Campus")
    weather, transport = (empty_product.new_area(campus, name) for name in ("Weather", "Transport"))
    storms = empty_product.new_subject("Storms", distribution="Alert", level="Forced", channel=campus, area=weather, approval=True)
    empty_product.new_subject("Shuttle buses", channel=campus, area=transport)
    empty_product.api("PUT", f"/access/{campus['_id']}/{weather['id']}", {"access": ["ann", "ben"]})
    long = "Wartungsarbeiten an der Fernwärmeversorgung der Laborgebäude und des Studierendenwerks " * 2
    empty_product.api("POST", f"/area/{campus['_id']}", {"name": long.strip(), "desc": long * 3})
    empty_product.api("POST", f"/area/{campus['_id']}", {"name": "الأحوال الجوية", "desc": "تحذيرات وإغلاقات"})
    page = visit(CUBE, account="admin")
    expect(row(page, storms.name)).to_contain_text("Approval")
    pictures(page, "cube-tree", right_to_left=True)

    def open_form(page):
        page.locator('.subject .title').first.click()
        page.get_by_role("textbox").nth(1).wait_for()

    open_form(page)
    pictures(page, "cube-form", arrange=open_form)


def test_empty_cube(empty_product, visit, pictures):
    for channel in empty_product.api("GET", "/channel"):
        empty_product.api("DELETE", f"/channel/{channel['_id']}")
    page = visit(CUBE, account="admin")
    expect(page.get_by_role("heading", name="There is nothing to send to yet")).to_be_visible()
    pictures(page, "cube-empty", right_to_left=True)
    button(page, "Add the first channel").click()
    name_field(page).fill("Campus")
    page.get_by_role("region", name="Add channel").get_by_role("button", name="Add channel").click()
    expect(button(page, "Campus")).to_be_focused()
    expect(button(page, "Add area to Campus")).to_be_visible()


def large_cube(subjects):
    """Four channels, each with five areas, each with so many subjects, as `GET /channel` answers."""
    ids = (f"{number:024x}" for number in itertools.count(1))

    def subject(channel, area, number):
        key = next(ids)
        return {"id": key, "name": f"Course {number}", "desc": "", "topic_key": f"{channel}-{area}-{key}", "opt": {"level": "", "distribution": "Information"}}

    def area(channel, number):
        key = next(ids)
        return {"id": key, "name": f"Institute {number}", "desc": "", "subjects": [subject(channel, key, each) for each in range(subjects)]}

    def channel(number):
        key = next(ids)
        return {"_id": key, "name": f"Faculty {number}", "desc": "", "areas": [area(key, each) for each in range(5)]}

    return [channel(number) for number in range(4)]


def work_with(cube, product, visit, pictures=None):
    """Does what people do with a large cube, and returns the processor time of the page."""
    page = visit(CUBE, account="admin", routes={
        "**/channel": lambda route: route.fulfill(json=cube, headers={"ETag": f'"{len(cube)}"'}),
        "**/order/**": lambda route: route.fulfill(json={})})
    subjects = sum(len(area["subjects"]) for channel in cube for area in channel["areas"])
    of_area = subjects // 20
    expect(page.get_by_text(f"{subjects:,} subjects")).to_be_visible()
    if pictures:
        pictures(page, "cube-many", at_length=True)
    button(page, "Close all").click()
    time = ProcessorTime(page)
    page.locator(".channel .title").first.click()
    page.locator(".area .title").first.click()
    expect(page.locator(".subject .title:visible")).to_have_count(of_area)
    page.locator(".subject .title:visible").nth(2).press("Alt+ArrowDown")
    expect(page.locator(".toast")).to_be_visible()
    page.get_by_role("searchbox").press_sequentially("course 4")
    expect(page.locator(".subject .title:visible").first).to_contain_text("Course 4")
    page.get_by_role("searchbox").fill("")
    button(page, "Open all").click()
    expect(page.locator(".subject")).to_have_count(subjects)
    page.locator(".subject .title").nth(subjects // 2).click()
    expect(name_field(page)).to_be_focused()
    page.get_by_label("Description").press_sequentially("quick")
    cube.append({"_id": "f" * 24, "name": "Somebody else's", "desc": "", "areas": []})
    product.new_channel()
    expect(page.locator(".channel > .row.marked")).to_have_count(1)
    button(page, "Close all").click()
    expect(page.locator(".subject .title:visible")).to_have_count(0)
    return time.spent()


@pytest.mark.at_length
def test_thousand_subjects_stay_quick(product, visit, pictures):
    """Ten times the subjects are about ten times the work, not a hundred times."""
    few, many = work_with(large_cube(5), product, visit), work_with(large_cube(50), product, visit, pictures)
    assert many < 25 * few, (few, many)
