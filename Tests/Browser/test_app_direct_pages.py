"""Messages between persons in the students' app, each page by itself. test_direct_two.py has two students side by side."""

import re

import pytest
from browsing.app import controlled, tab
from browsing.direct import NO_PICTURE, conversation, field, in_list, letter, letters, open_conversation, pair, path_to, removed, send, take, write
from browsing.people import in_arabic, open_people, row
from browsing.uploads import chosen, download, png, upload
from browsing.visits import GATEWAY_AWAY
from harness.waiting import eventually
from playwright.sync_api import expect

REFUSED = r"status of 40[49] .*/user"
LONG = "A long message that needs several lines, and an address: https://example.edu/library. " * 3


@pytest.fixture(scope="module")
def product(phones_product):
    return phones_product


@pytest.fixture
def visit(visit):
    visit.expect_errors(NO_PICTURE)
    return visit


@pytest.fixture
def friends(product):
    """Ann and Ben."""
    return pair(product)


def test_the_first_message(visit, friends, pictures):
    """The rules come first. Then a message is there at once, is sent, delivered and read."""
    ann, ben = friends
    page = open_conversation(visit, ann, ben, accepts=False, narrow=True)
    expect(page.get_by_text("Messages are not end-to-end encrypted")).to_be_visible()
    expect(field(page)).to_be_hidden()
    pictures(page, "direct-rules-first", arrange=in_arabic(ann, path_to(ben)))
    page.get_by_role("button", name="I understand").click()
    expect(field(page)).to_be_focused()
    write(page, "Are you coming at three?")
    expect(letter(page, "Are you coming at three?")).to_contain_text("Sent")
    assert take(ben) == ["Are you coming at three?"]
    expect(letter(page, "Are you coming at three?")).to_contain_text("Delivered")
    take(ben, reads=True)
    expect(letter(page, "Are you coming at three?")).to_contain_text("Read")
    send(ben, ann, LONG)
    expect(letter(page, "A long message").get_by_role("link", name="https://example.edu/library").first).to_be_visible()
    send(ben, ann, "أراك في المكتبة")
    expect(letter(page, "المكتبة")).to_be_visible()
    pictures(page, "direct-conversation", arrange=in_arabic(ann, path_to(ben)))
    # Once is enough on this device.
    page.reload()
    expect(field(page)).to_be_visible()
    expect(page.locator(".letter")).to_have_count(3)


def test_messages_come_by_themselves(visit, friends, pictures):
    """The badge counts them on every page, the list shows the last one, and who opens the conversation has read them."""
    ann, ben = friends
    page = open_people(visit, ann, "#messages", narrow=True)
    send(ben, ann, "one")
    expect(tab(page, "Friends")).to_contain_text("1 unread")
    send(ben, ann, "two")
    expect(tab(page, "Friends")).to_contain_text("2 unread")
    tab(page, "Friends").click()
    expect(in_list(page, ben)).to_contain_text("two")
    expect(in_list(page, ben)).to_contain_text("2 unread")
    pictures(page, "direct-list", arrange=in_arabic(ann))
    in_list(page, ben).click()
    expect(page.get_by_role("heading", name=ben.account, level=1)).to_be_focused()
    expect(letter(page, "two")).to_be_visible()
    assert letters(page) == ["one", "two"]
    expect(tab(page, "Friends")).not_to_contain_text("unread")
    eventually("the hub knows", lambda: conversation(ben, ann)["conversation"].get("read") == conversation(ben, ann)["conversation"]["last"])
    # While it is in front, what comes is read at once, and readers hear it.
    send(ben, ann, "three")
    expect(page.get_by_role("status").filter(has_text=f"{ben.account}: three")).to_be_attached()
    eventually("the hub knows", lambda: conversation(ann, ben)["conversation"]["unread"] == 0)
    page.get_by_role("link", name="Friends", exact=True).first.click()
    write_to = in_list(page, ben)
    expect(write_to).to_contain_text("three")
    expect(write_to).not_to_contain_text("unread")


def test_what_waits_for_the_network(visit, friends, pictures):
    """It says so, in the list as well, outlasts a start, and is sent in its order when the network is there."""
    visit.expect_errors(GATEWAY_AWAY)
    ann, ben = friends
    page = open_conversation(visit, ann, ben, narrow=True, worker=True)
    write(page, "first")
    expect(letter(page, "first")).to_contain_text("Sent")
    controlled(page)
    expect(letter(page, "first")).to_be_visible()
    page.context.set_offline(True)
    for text in ("same", "same", "last"):
        write(page, text)
    expect(letter(page, "last")).to_contain_text("Waits for the network")
    assert letters(page) == ["first", "same", "same", "last"]
    pictures(page, "direct-waits", at_length=True)
    page.reload()
    expect(letter(page, "last")).to_contain_text("Waits for the network")
    page.goto("/app/#people")
    expect(in_list(page, ben)).to_contain_text("Waits for the network last")
    page.context.set_offline(False)
    eventually("the hub has them", lambda: [each["text"] for each in reversed(conversation(ben, ann)["messages"])] == ["first", "same", "same", "last"])
    in_list(page, ben).click()
    expect(letter(page, "last")).to_contain_text("Sent")
    expect(page.get_by_text("Waits for the network")).to_have_count(0)


def test_a_message_that_is_refused(visit, friends, pictures):
    """It stays with the reason until it is discarded. Whoever is no friend any more reads that."""
    visit.expect_errors(REFUSED)
    ann, ben = friends
    page = open_conversation(visit, ann, ben, narrow=True)
    refusal = '{"detail":"no friend","status":404,"field":"to"}'
    page.route("**/user/messages", lambda route: route.fulfill(status=404, content_type="application/problem+json", body=refusal))
    write(page, "hello")
    expect(letter(page, "hello")).to_contain_text("Not sent. You can no longer write to each other.")
    pictures(page, "direct-refused")
    page.unroute("**/user/messages")
    letter(page, "hello").get_by_role("button", name=re.compile("^Try again")).click()
    expect(letter(page, "hello")).to_contain_text("Sent")
    page.route("**/user/messages", lambda route: route.fulfill(status=404, content_type="application/problem+json", body=refusal))
    write(page, "again")
    letter(page, "again").get_by_role("button", name=re.compile("^Discard")).click()
    expect(letter(page, "again")).to_have_count(0)
    ben.request("DELETE", f"/user/friends/{ann.account}")
    expect(page.get_by_text("You can write to each other while you are friends.")).to_be_visible()
    expect(field(page)).to_be_hidden()
    expect(letter(page, "hello")).to_be_visible()


@pytest.mark.at_length
def test_removed_before_another_device_got_them(visit, friends, pictures):
    """The conversation says so, on the recipient's and on the sender's other device; what is here stays."""
    ann, ben = friends
    page = open_conversation(visit, ann, ben, narrow=True)
    send(ben, ann, "only on one device")
    expect(letter(page, "only on one device")).to_be_visible()
    removed(ben, ann)
    other = open_conversation(visit, ann, ben, narrow=True)
    expect(other.get_by_text("Messages here were removed before this device got them")).to_be_visible()
    expect(letter(other, "only on one device")).to_have_count(0)
    expect(tab(other, "Friends")).not_to_contain_text("unread")
    pictures(other, "direct-removed", at_length=True)
    page.reload()
    expect(letter(page, "only on one device")).to_be_visible()
    sender = open_conversation(visit, ben, ann, narrow=True)
    expect(sender.get_by_text("Messages here were removed before this device got them")).to_be_visible()


@pytest.mark.at_length
def test_many_messages(visit, friends):
    """The last ones are shown, and more on demand. Who reads earlier ones stays there when another one comes."""
    ann, ben = friends
    for number in range(55):
        send(ben, ann, f"message {number}.")
    page = open_conversation(visit, ann, ben, narrow=True)
    expect(letter(page, "message 54.")).to_be_in_viewport()
    eventually("all have come", lambda: page.get_by_role("button", name="Show earlier messages").is_visible() and len(letters(page)) == 50)
    page.get_by_role("button", name="Show earlier messages").click()
    expect(letter(page, "message 0.")).to_be_attached()
    expect(page.get_by_role("button", name="Show earlier messages")).to_be_hidden()
    page.locator(".letters-place").evaluate("(place) => { place.scrollTop = 0; }")
    expect(letter(page, "message 0.")).to_be_in_viewport()
    send(ben, ann, "the newest")
    page.get_by_role("button", name="New messages").click()
    expect(letter(page, "the newest")).to_be_in_viewport()
    eventually("the hub knows", lambda: conversation(ann, ben)["conversation"]["unread"] == 0)


def image(place, text):
    return place.locator(f"img[alt='{text}']")


def test_a_picture(visit, friends, pictures):
    """It is shown before it is sent, comes as it was sent, and opens in full."""
    ann, ben = friends
    page = open_conversation(visit, ann, ben, narrow=True)
    page.locator(".composer input[type=file]").set_input_files(chosen(png()))
    expect(image(page, "The picture that you are about to send")).to_be_visible()
    pictures(page, "direct-picture-chosen", at_length=True)
    page.get_by_role("button", name="Remove the picture").click()
    expect(image(page, "The picture that you are about to send")).to_have_count(0)
    page.locator(".composer input[type=file]").set_input_files(chosen(png()))
    field(page).fill("Look")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(image(page, "Your picture")).to_be_visible()
    expect(letter(page, "Look")).to_contain_text("Sent")
    text, picture = conversation(ben, ann)["messages"]
    assert text["text"] == "Look" and "text" not in picture and download(ben, f"/user/messages/{picture['id']}/picture")
    ben.request("POST", "/user/messages", {"to": ann.account, "picture": upload(ben, png(colour=(23, 105, 58)))})
    expect(image(page, f"Picture from {ben.account}")).to_be_visible()
    page.get_by_role("button", name=f"Picture from {ben.account}").click()
    expect(image(page.get_by_role("dialog", name=f"Picture from {ben.account}"), f"Picture from {ben.account}")).to_be_visible()
    pictures(page, "direct-picture")
    page.keyboard.press("Escape")
    # It stays on this device after the hub has removed it.
    eventually("the hub has removed it", lambda: all(each["from"] == ann.account for each in conversation(ann, ben)["messages"]))
    page.reload()
    expect(image(page, f"Picture from {ben.account}")).to_be_visible()


def test_report(visit, friends, pictures):
    ann, ben = friends
    send(ben, ann, "something rude")
    page = open_conversation(visit, ann, ben, narrow=True)
    letter(page, "something rude").get_by_role("button", name=re.compile("^Report")).click()
    dialog = page.get_by_role("dialog", name=f"Report this message from {ben.account}?")
    expect(dialog).to_contain_text("something rude")
    pictures(page, "direct-report")
    dialog.get_by_role("textbox", name="Why").fill("x" * 501)
    dialog.get_by_role("button", name="Report the message").click()
    expect(dialog).to_be_visible()
    dialog.get_by_role("textbox", name="Why").fill("It is rude.")
    dialog.get_by_role("button", name="Report the message").click()
    expect(page.get_by_text("Reported. The server has found that it was sent so.")).to_be_visible()
    # One's own messages cannot be reported.
    write(page, "mine")
    expect(letter(page, "mine").get_by_role("button")).to_have_count(0)


def test_read_marks_and_rules(visit, friends, pictures):
    """Who switches the marks off tells nobody, and is told nothing. Another page says what may be sent."""
    ann, ben = friends
    send(ben, ann, "one")
    page = open_people(visit, ann, "#settings/messages", narrow=True)
    marks = page.get_by_role("switch", name="Read marks")
    expect(marks).to_be_checked()
    pictures(page, "direct-settings", arrange=in_arabic(ann, "#settings/messages"))
    marks.click()
    expect(marks).not_to_be_checked()
    eventually("the hub knows", lambda: ann.request("GET", "/user/messaging")["choices"] == {"read_marks": False})
    page.goto(f"/app/{path_to(ben)}")
    expect(letter(page, "one")).to_be_visible()
    eventually("it is read", lambda: conversation(ann, ben)["conversation"]["unread"] == 0)
    assert "read" not in conversation(ben, ann)["conversation"]
    page.goto("/app/#people/rules")
    for heading in ("Not end-to-end encrypted", "Who sees reports", "Messages between friends", "Statuses", "Messages of the university"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    expect(page.get_by_text("a message waits for at most 28 days, and for 14 while the storage is nearly full")).to_be_visible()
    pictures(page, "direct-rules", arrange=in_arabic(ann, "#people/rules"))


def test_the_page_about_a_friend(visit, friends):
    """It leads to the conversation and back; whoever is blocked has none here any more."""
    visit.expect_errors(REFUSED)
    ann, ben = friends
    send(ben, ann, "hello")
    page = open_people(visit, ann, f"#people/person?account={ben.account}", narrow=True)
    page.get_by_role("link", name="Write", exact=True).click()
    expect(letter(page, "hello")).to_be_visible()
    page.get_by_role("link", name="About this person").click()
    expect(page.get_by_role("link", name="Report a message")).to_be_visible()
    page.get_by_role("button", name="Block").click()
    expect(page.get_by_role("alertdialog")).to_contain_text("Report a message first")
    page.get_by_role("alertdialog").get_by_role("button", name="Block").click()
    expect(page.get_by_role("heading", name="No friends yet")).to_be_visible()
    expect(in_list(page, ben)).to_have_count(0)


def test_requests_are_on_the_first_page(product, visit, pictures):
    visit.expect_errors(REFUSED)
    ann, ben = pair(product, "ann"), pair(product, "ben")
    ben[0].ask(ann[0])
    page = open_people(visit, ann[0], narrow=True)
    expect(page.get_by_text(f"{ben[0].account} asks to be your friend")).to_be_visible()
    pictures(page, "direct-request", arrange=in_arabic(ann[0]))
    page.get_by_role("button", name=re.compile(f"^Accept.*{ben[0].account}")).click()
    expect(page.get_by_text("asks to be your friend")).to_have_count(0)
    page.get_by_role("link", name="Choose a friend").click()
    row(page, ben[0].account).get_by_role("link", name=f"Write: {ben[0].account}").click()
    expect(page.get_by_role("heading", name=ben[0].account, level=1)).to_be_focused()


def test_keyboard(visit, friends, check):
    """Enter sends, Shift and Enter begin another line, and everything is reached without a pointer."""
    ann, ben = friends
    send(ben, ann, "hello")
    page = open_conversation(visit, ann, ben)
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    expect(letter(page, "one")).to_contain_text("Sent")
    assert letters(page)[-1] == "one\ntwo"
    expect(field(page)).to_be_focused()
    # What is too long is not sent, and stays.
    field(page).fill("x" * 2_001)
    page.keyboard.press("Enter")
    expect(page.get_by_text("2,001 of 2,000")).to_be_visible()
    assert field(page).evaluate("(each) => each.validationMessage") == "Shorten this to 2,000 characters."
    expect(field(page)).to_have_value("x" * 2_001)
    field(page).fill("")
    # The only conversation in a wide window.
    check(page)
    page.get_by_role("region", name=f"Messages with {ben.account}").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Report: hello")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Report: hello")).to_be_focused()


@pytest.mark.at_length
def test_a_text_that_is_too_long(visit, friends):
    """Nothing is sent, and what was written stays, also on another page."""
    ann, ben = friends
    page = open_conversation(visit, ann, ben, narrow=True)
    field(page).fill("😀" * 2_001)
    expect(page.get_by_text("2,001 of 2,000")).to_be_visible()
    page.get_by_role("button", name="Send", exact=True).click()
    assert field(page).evaluate("(each) => each.validationMessage") == "Shorten this to 2,000 characters."
    page.goto("/app/#people")
    expect(page.get_by_role("heading", name="Friends", exact=True)).to_be_visible()
    page.goto(f"/app/{path_to(ben)}")
    expect(field(page)).to_have_value("😀" * 2_001)
    write(page, "😀" * 2_000)
    expect(letter(page, "😀")).to_contain_text("Sent")


@pytest.mark.at_length
def test_two_tabs(visit, friends):
    """What is sent and read in one is so in the other. Signing out removes it from both."""
    visit.expect_errors(r"status of 401")
    ann, ben = friends
    page = open_conversation(visit, ann, ben, narrow=True)
    other = visit.tab(page, "/app/#people")
    write(page, "hello")
    expect(in_list(other, ben)).to_contain_text("hello")
    ann.request("DELETE", f"/user/devices/{device_of(page)}")
    for each in (page, other):
        expect(each.get_by_text("You were signed out on this device.")).to_be_visible()
    assert kept(page) == [0, 0, 0]


def device_of(page):
    return page.evaluate("""() => new Promise((resolve) => {
        const opened = indexedDB.open("msi-app");
        opened.onsuccess = () => {
            const asked = opened.result.transaction("account").objectStore("account").get("device");
            asked.onsuccess = () => { opened.result.close(); resolve(asked.result.id); };
        };
    })""")


def kept(page):
    """How much the app has stored of messages."""
    return page.evaluate("""() => new Promise((resolve) => {
        const opened = indexedDB.open("msi-app");
        opened.onsuccess = () => {
            const names = ["direct", "letters", "pictures"];
            const read = opened.result.transaction(names);
            const asked = names.map((name) => read.objectStore(name).count());
            read.oncomplete = () => { opened.result.close(); resolve(asked.map(({ result }) => result)); };
        };
    })""")


@pytest.mark.at_length
def test_wide_windows(visit, friends, pictures):
    ann, ben = friends
    send(ben, ann, "hello")
    page = open_conversation(visit, ann, ben)
    expect(letter(page, "hello")).to_be_visible()
    write(page, LONG)
    expect(letter(page, "A long message")).to_contain_text("Sent")
    pictures(page, "direct-wide", arrange=in_arabic(ann, path_to(ben)))
