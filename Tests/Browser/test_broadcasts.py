"""The page that writes broadcasts, and shows which ones are active."""

import email.utils
import re
import time

import pytest
from playwright.sync_api import expect

MINUTE = 60_000


def now():
    return int(time.time() * 1000)


def epoch(seconds):
    """A time so many seconds from now, as broadcasts write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S+0000", time.gmtime(time.time() + seconds))


def new_broadcast(product, title="Elections", **fields):
    """Sends a broadcast for an hour, and returns its document."""
    content = {"translations": {"en": {"title": product.unique(title), "msg": "Vote until Friday."}}}
    return product.api("POST", "/broadcast", {"type": 2, "expiry": 60, "actiondata": content, **fields})


def new_switch(product, feature="dark-cards", direction="enable-feature", **content):
    name = product.unique(feature).replace(" ", "-")
    return product.api("POST", "/broadcast", {"type": 4, "expiry": 60, "actiondata": {"notificationtype": direction, "feature": name, **content}})


def title_of(broadcast):
    return broadcast["actiondata"]["translations"]["en"]["title"]


def row(page, title):
    return page.get_by_role("listitem", name=title, exact=True)


def group(page, name):
    return page.get_by_role("region", name=name, exact=True)


def find(product, title):
    """The stored broadcast that has this English title or feature."""
    for broadcast in product.api("GET", "/broadcast?limit=100")["items"]:
        content = broadcast["actiondata"]
        if title in (content.get("feature"), content.get("translations", {}).get("en", {}).get("title")):
            return broadcast
    return None


def form(page):
    return page.locator(".broadcast-editor")


def fill(page, title, text="Lectures start on Monday at 8:15."):
    form(page).get_by_role("textbox", name="Title").fill(title)
    form(page).get_by_role("textbox", name="Text").fill(text)


def add_language(page, name, title, text):
    page.get_by_role("button", name="Add a language…").click()
    dialog = page.get_by_role("dialog", name="Add a language…")
    dialog.get_by_role("combobox", name="Language").select_option(label=name)
    dialog.get_by_role("button", name="Add language").click()
    # The fields below the dialog are those of the previous language until it is closed.
    expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
    fill(page, title, text)


def send(page, action="Send broadcast"):
    """Sends to everyone, which is asked about."""
    page.get_by_role("button", name=f"{action}…", exact=True).click()
    question = page.get_by_role("dialog")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    question.get_by_role("button", name=action, exact=True).click()


def choose_switch(page, feature, share=""):
    form(page).get_by_role("radio", name="Feature switch").check()
    form(page).get_by_role("textbox", name="Feature").fill(feature)
    form(page).get_by_role("spinbutton", name="Share of phones in percent").fill(share)


def test_no_broadcasts_yet(empty_product, visit, pictures):
    page = visit("/portal/broadcasts/", account="admin")
    expect(page.get_by_role("heading", name="No broadcasts yet")).to_be_visible()
    pictures(page, "broadcasts-empty", right_to_left=True)
    page.get_by_role("button", name="Write the first broadcast").click()
    expect(page.get_by_role("heading", name="New broadcast")).to_be_focused()


def test_communicators_do_not_see_the_page(product, visit, pictures):
    page = visit("/portal/broadcasts/", account="ann")
    expect(page.get_by_role("heading", name="Only super users send broadcasts")).to_be_visible()
    expect(page.get_by_role("navigation", name="Message Hub").get_by_role("link", name="Broadcasts")).to_have_count(0)
    expect(page.get_by_role("button", name="New broadcast")).to_have_count(0)
    pictures(page, "broadcasts-forbidden")


def test_write_a_broadcast_in_two_languages(product, visit, pictures):
    title = product.unique("Welcome back")
    page = visit("/portal/broadcasts/", account="admin")
    page.get_by_role("button", name="New broadcast").click()
    form(page).get_by_role("radio", name="Greeting").check()
    fill(page, title)
    preview = page.get_by_role("complementary", name="Preview")
    expect(preview.locator(".launch-card")).to_contain_text(title)
    add_language(page, "Arabic", "أهلاً بعودتكم", "تبدأ المحاضرات يوم الإثنين.")
    expect(preview.locator(".launch-card")).to_contain_text("أهلاً بعودتكم")
    expect(preview).to_contain_text("When the app opens, on a phone in Arabic")
    pictures(page, "broadcasts-write-arabic", at_length=True)
    page.get_by_role("tab", name="English").click()
    expect(form(page).get_by_role("textbox", name="Title")).to_have_value(title)
    expect(preview.locator(".launch-card")).to_contain_text(title)
    # The default language stays.
    expect(page.get_by_role("button", name=re.compile("^Remove"))).to_have_count(0)
    expect(page.get_by_text(re.compile(r"bytes of what FCM carries, all languages together"))).to_be_visible()
    pictures(page, "broadcasts-write", right_to_left=True, arrange=lambda page: page.locator(".language-texts input").fill("أهلاً"))
    send(page)

    expect(row(page, title)).to_be_focused()
    expect(group(page, "Now").get_by_role("listitem", name=title)).to_contain_text("English and Arabic")
    stored = find(product, title)
    assert stored["type"] == 3 and stored["actiondata"]["translations"]["ar"]["title"] == "أهلاً بعودتكم" and stored["actiondata"]["cancellable"]
    assert abs(stored["starts"] - now()) < 60_000 and stored["expires"] - stored["starts"] == 1440 * MINUTE


def test_a_broadcast_to_everyone_asks(product, visit, pictures):
    """The question shows the card, and Enter sends nothing, neither in a field nor at once in the question."""
    title = product.unique("Festival")
    page = visit("/portal/broadcasts/#new", account="admin")
    fill(page, title)
    form(page).get_by_role("textbox", name="Title").press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    question = page.get_by_role("dialog", name="Send this broadcast to every phone?")
    for words in (title, "Lectures start on Monday", "It goes to every phone with the app."):
        expect(question).to_contain_text(words)
    pictures(page, "broadcasts-confirm", right_to_left=True)
    page.keyboard.press("Enter")
    expect(question).to_have_count(0)
    assert find(product, title) is None


def test_a_switch_for_everyone_asks(product, visit, pictures):
    feature = product.unique("calendar").replace(" ", "-")
    page = visit("/portal/broadcasts/#new", account="admin")
    choose_switch(page, feature)
    page.get_by_role("button", name="Send broadcast…").click()
    question = page.get_by_role("dialog", name="Send this feature switch?")
    expect(question).to_contain_text(f"Turns {feature} on.")
    pictures(page, "broadcasts-confirm-switch", at_length=True)
    question.get_by_role("button", name="Cancel").click()
    assert find(product, feature) is None


@pytest.mark.at_length
def test_remove_a_language(product, visit):
    page = visit("/portal/broadcasts/#new", account="admin")
    fill(page, "English")
    add_language(page, "German", "Deutsch", "Text")
    page.get_by_role("button", name="Remove German").click()
    expect(page.get_by_role("tab", name="English")).to_be_focused()
    expect(page.get_by_role("tab")).to_have_count(1)
    page.get_by_role("button", name="Add a language…").click()
    dialog = page.get_by_role("dialog", name="Add a language…")
    dialog.get_by_role("combobox", name="Language").select_option(label="Another one…")
    dialog.get_by_role("textbox", name="Language tag").fill("no tag")
    dialog.get_by_role("button", name="Add language").click()
    expect(dialog.get_by_text("This is no language tag.")).to_be_visible()
    dialog.get_by_role("textbox", name="Language tag").fill("pt-br")
    dialog.get_by_role("button", name="Add language").click()
    expect(page.get_by_role("tab", name="Brazilian Portuguese")).to_have_attribute("aria-selected", "true")


@pytest.mark.at_length
def test_what_is_missing_is_said_in_every_language(product, visit, pictures):
    page = visit("/portal/broadcasts/#new", account="admin")
    page.get_by_role("button", name="Send broadcast").click()
    expect(page.get_by_text("Please fill this in.")).to_have_count(2)
    expect(form(page).get_by_role("textbox", name="Title")).to_be_focused()
    fill(page, "Only in English")
    add_language(page, "French", "", "")
    page.get_by_role("tab", name="English").click()
    page.get_by_role("button", name="Send broadcast").click()
    expect(page.get_by_role("tab", name="French needs a correction")).to_have_attribute("aria-selected", "true")
    expect(form(page).get_by_role("textbox", name="Title")).to_be_focused()
    pictures(page, "broadcasts-missing")


def test_size_limit_counts_all_languages(product, visit, pictures):
    page = visit("/portal/broadcasts/#new", account="admin")
    fill(page, "Long", "x" * 1_500)
    expect(page.get_by_text(re.compile(r"^1,\d{3} of 4,096 bytes"))).to_be_visible()
    add_language(page, "Arabic", "طويل", "ش" * 1_400)
    alert = page.get_by_text("More than FCM carries. Shorten the texts, or remove a language.")
    expect(alert).to_be_visible()
    pictures(page, "broadcasts-too-large", at_length=True)
    page.get_by_role("button", name="Send broadcast").click()
    expect(form(page).get_by_role("textbox", name="Text")).to_be_focused()
    assert find(product, "Long") is None
    form(page).get_by_role("textbox", name="Text").fill("ش" * 200)
    expect(alert).to_have_count(0)


@pytest.mark.at_length
def test_the_hub_counts_the_same_bytes(product, visit):
    """A broadcast just below the limit on the page is accepted."""
    title = product.unique("Full")
    page = visit("/portal/broadcasts/#new", account="admin")
    fill(page, title, "é" * 1_500)
    add_language(page, "French", "F", "x")
    count = int(re.search(r"([\d,]+) of", page.get_by_text("bytes of what FCM carries").inner_text()).group(1).replace(",", ""))
    form(page).get_by_role("textbox", name="Text").fill("x" * (4_096 - count + 1))
    expect(page.get_by_text("4,096 of 4,096 bytes")).to_be_visible()
    send(page)
    expect(row(page, title)).to_be_visible()


def test_downtime_in_two_clicks(product, visit, pictures):
    page = visit("/portal/broadcasts/", account="admin")
    before = {broadcast["id"] for broadcast in product.api("GET", "/broadcast?limit=100")["items"]}
    page.get_by_role("button", name="The system is going down…").click()
    dialog = page.get_by_role("dialog", name="The system is going down")
    expect(dialog.get_by_role("textbox", name="Title")).to_have_value("Our systems are down for maintenance")
    pictures(page, "broadcasts-downtime", right_to_left=True, arrange=lambda page: page.locator(".head-action > .button").first.click())
    dialog.get_by_role("button", name="Tell every phone now").click()
    notice = page.get_by_role("status").filter(has_text="goes out to every phone")
    expect(notice).to_be_visible()
    expect(notice.get_by_role("button", name="Withdraw")).to_be_focused()
    pictures(page, "broadcasts-downtime-sent")
    [sent] = [broadcast for broadcast in product.api("GET", "/broadcast?limit=100")["items"] if broadcast["id"] not in before]
    assert sent["type"] == 1 and sent["expiry"] == 60 and sent["actiondata"]["cancellable"] is False and "channels" not in sent
    assert set(sent["actiondata"]["translations"]) == {"en", "ar"}
    notice.get_by_role("button", name="Withdraw").click()
    expect(notice).to_have_count(0)
    expect(page.locator(f"[data-id='{sent['id']}']")).to_contain_text("Withdrawn")
    assert product.api("GET", f"/broadcast/{sent['id']}")["state"] == "withdrawn"


@pytest.mark.at_length
def test_downtime_with_another_length_and_text(product, visit):
    title = product.unique("The network is down")
    page = visit("/portal/broadcasts/", account="admin")
    page.get_by_role("button", name="The system is going down…").click()
    dialog = page.get_by_role("dialog", name="The system is going down")
    expect(dialog.get_by_role("radio", name="1 hour")).to_be_focused()
    text = dialog.get_by_role("textbox", name="Text").input_value()
    dialog.get_by_role("radio", name="4 hours").check(force=True)
    # The time in the prepared text follows.
    expect(dialog.get_by_role("textbox", name="Text")).not_to_have_value(text)
    dialog.get_by_role("textbox", name="Title").fill(title)
    dialog.get_by_role("textbox", name="Text").fill("")
    dialog.get_by_role("button", name="Tell every phone now").click()
    expect(dialog.get_by_text("Please fill this in.")).to_be_visible()
    dialog.get_by_role("textbox", name="Text").fill("Use your phone's data.")
    dialog.get_by_role("button", name="Tell every phone now").click()
    expect(row(page, title)).to_contain_text("Cannot be closed")
    assert find(product, title)["expiry"] == 240


def test_only_a_downtime_has_a_switch_for_its_popup(product, visit, pictures):
    title = product.unique("Maintenance")
    page = visit("/portal/broadcasts/#new", account="admin")
    popup = form(page).get_by_role("switch", name="Pop-up")
    expect(form(page).get_by_role("switch", name="Can be closed")).to_be_visible()
    expect(popup).to_have_count(0)
    form(page).get_by_role("radio", name="Downtime").check()
    fill(page, title)
    expect(popup).to_be_checked()
    pictures(page, "broadcasts-popup", right_to_left=True)
    popup.uncheck()
    send(page)
    expect(row(page, title)).to_contain_text("Without a pop-up")
    stored = find(product, title)
    assert stored["actiondata"]["popup"] is False
    # It is on again in the next version.
    row(page, title).get_by_role("button", name="Edit").click()
    expect(popup).not_to_be_checked()
    popup.check()
    send(page, "Send version 2")
    expect(row(page, title)).to_contain_text("Version 2")
    expect(row(page, title)).not_to_contain_text("Without a pop-up")
    assert "popup" not in find(product, title)["actiondata"]


def test_schedule_a_broadcast_for_channels(product, visit, pictures):
    channel, title = product.new_channel("Library"), product.unique("Opening hours")
    page = visit("/portal/broadcasts/#new", account="admin")
    fill(page, title)
    form(page).get_by_role("radio", name="Channels").check()
    page.get_by_role("button", name="Send broadcast").click()
    expect(page.get_by_text("Choose at least one channel.")).to_be_visible()
    form(page).get_by_role("checkbox", name=channel["name"]).check()
    form(page).get_by_role("combobox", name="Begins").select_option(label="At a time…")
    page.get_by_label("Date and time").fill("2020-01-02T03:04")
    page.get_by_role("button", name="Schedule broadcast").click()
    expect(page.get_by_text("This time has passed.")).to_be_visible()
    year = time.gmtime().tm_year + 1
    page.get_by_label("Date and time").fill(f"{year}-07-01T06:00")
    expect(page.get_by_text("(Europe/Berlin, UTC+02:00)")).to_be_visible()
    form(page).get_by_role("combobox", name="Lasts").select_option(label="Another length…")
    form(page).get_by_role("spinbutton", name="Number").fill("3")
    form(page).get_by_role("combobox", name="Unit").select_option(label="Days")
    form(page).get_by_role("combobox", name="Push again").select_option(label="Every 6 hours")
    form(page).get_by_role("switch", name="Can be closed").uncheck()
    expect(page.locator(".launch-card")).to_contain_text("Stays until")
    pictures(page, "broadcasts-schedule")
    page.get_by_role("button", name="Schedule broadcast").click()
    expect(group(page, "Scheduled").get_by_role("listitem", name=title)).to_contain_text(channel["name"])
    stored = find(product, title)
    assert stored["epoch"] == f"{year}-07-01T06:00:00+0200" and stored["expiry"] == 3 * 1440 and stored["repeat"] == 360
    assert stored["channels"] == [channel["_id"]] and stored["actiondata"]["cancellable"] is False and stored["state"] == "scheduled"


def test_feature_switch_for_a_share_of_phones(product, visit, pictures):
    feature = product.unique("dark-cards").replace(" ", "-")
    page = visit("/portal/broadcasts/#new", account="admin")
    form(page).get_by_role("radio", name="Feature switch").check()
    page.get_by_role("button", name="Send broadcast").click()
    expect(page.get_by_text("Name a feature, or give the app data below.")).to_be_visible()
    expect(form(page).get_by_role("radio", name="A", exact=True)).to_be_disabled()
    choose_switch(page, feature, "101")
    page.get_by_role("button", name="Send broadcast").click()
    expect(page.get_by_text("Write a whole number from 1 to 100, or nothing.")).to_be_visible()
    choose_switch(page, feature, "10")
    form(page).get_by_role("radio", name="A", exact=True).check(force=True)
    expect(page.get_by_role("complementary", name="Preview")).to_contain_text(f"Turns {feature} on for 10% of the phones, group A.")
    pictures(page, "broadcasts-switch", at_length=True)
    send(page)
    expect(row(page, feature)).to_contain_text(f"Turns {feature} on for 10% of the phones, group A.")
    assert find(product, feature)["actiondata"] == {"notificationtype": "enable-feature", "feature": feature, "share": 10, "group": "A"}


def test_the_list_says_what_is_active(product, visit, pictures):
    channel = product.new_channel("Exams")
    active = new_broadcast(product, channels=[channel["_id"]], repeat=15)
    switch = new_switch(product, "calendar", "disable-feature", share=25)
    scheduled = new_broadcast(product, "Holidays", type=3, epoch=epoch(86_400))
    withdrawn = new_broadcast(product, "Mistake")
    product.api("DELETE", f"/broadcast/{withdrawn['id']}")
    condition = new_broadcast(product, "Both", condition=f"'general' in topics && !('{channel['_id']}' in topics)")
    page = visit("/portal/broadcasts/", account="admin", clock=True)
    expect(group(page, "Now").get_by_role("listitem", name=title_of(active))).to_contain_text(channel["name"])
    expect(row(page, title_of(active))).to_contain_text("Repeated every 15 minutes")
    expect(row(page, switch["actiondata"]["feature"])).to_contain_text(f"Turns {switch['actiondata']['feature']} off for 25% of the phones.")
    expect(row(page, title_of(condition))).to_contain_text("'general' in topics")
    expect(group(page, "Scheduled").get_by_role("listitem", name=title_of(scheduled))).to_contain_text("Greeting")
    expect(group(page, "Ended").get_by_role("listitem", name=title_of(withdrawn))).to_contain_text("Withdrawn")
    pictures(page, "broadcasts", right_to_left=True)
    # What somebody else sends appears by itself, and so does how often it was pushed.
    other = new_broadcast(product, "Another one")
    visit.after(page, 5, "the number of pushes", lambda: any("Pushed once" in text for text in row(page, title_of(other)).all_inner_texts()))


@pytest.mark.at_length
def test_a_scheduled_broadcast_becomes_active_by_itself(product, visit):
    soon = new_broadcast(product, "Soon", epoch=epoch(3_600))
    page = visit("/portal/broadcasts/", account="admin")
    expect(group(page, "Scheduled").get_by_role("listitem", name=title_of(soon))).to_be_visible()
    # Nothing that the hub says has changed but its time, which the page takes from there.
    later = email.utils.formatdate(time.time() + 5_400, usegmt=True)
    page.route("**/broadcast?limit=*", lambda route: route.fulfill(status=304, headers={"Date": later}))
    expect(group(page, "Now").get_by_role("listitem", name=title_of(soon))).to_be_visible()


def test_edit_makes_a_new_version(product, visit, pictures):
    broadcast = new_broadcast(product)
    title = product.unique("Elections are over")
    page = visit("/portal/broadcasts/", account="admin")
    row(page, title_of(broadcast)).get_by_role("button", name="Edit").click()
    expect(page.get_by_text("This becomes version 2.")).to_be_visible()
    expect(form(page).get_by_role("textbox", name="Title")).to_have_value(title_of(broadcast))
    form(page).get_by_role("textbox", name="Title").fill(title)
    pictures(page, "broadcasts-edit", right_to_left=True)
    send(page, "Send version 2")
    expect(row(page, title)).to_contain_text("Version 2")
    stored = product.api("GET", f"/broadcast/{broadcast['id']}")
    assert stored["version"] == 2 and title_of(stored) == title
    # An epoch has whole seconds.
    assert all(abs(stored[name] - broadcast[name]) < 1_000 for name in ("starts", "expires"))


@pytest.mark.at_length
def test_two_people_edit_a_broadcast(product, visit, pictures):
    visit.expect_errors(r"status of 412")
    broadcast = new_broadcast(product)
    page = visit(f"/portal/broadcasts/#edit={broadcast['id']}", account="admin")
    mine = product.unique("Mine")
    form(page).get_by_role("textbox", name="Title").fill(mine)
    theirs = {"translations": {"en": {"title": "Theirs", "msg": "Vote now."}}}
    product.api("PUT", f"/broadcast/{broadcast['id']}", {"type": 2, "epoch": broadcast["epoch"], "expiry": 120, "actiondata": theirs})
    send(page, "Send version 2")
    expect(page.get_by_role("region", name="Theirs, stored now")).to_contain_text("Vote now.")
    pictures(page, "broadcasts-conflict")
    page.get_by_role("button", name="Save mine").click()
    expect(row(page, mine)).to_contain_text("Version 3")
    assert title_of(product.api("GET", f"/broadcast/{broadcast['id']}")) == mine


def test_withdraw_asks_and_keeps_it_in_the_list(product, visit, pictures):
    broadcast = new_broadcast(product)
    title = title_of(broadcast)
    page = visit("/portal/broadcasts/", account="admin")
    row(page, title).get_by_role("button", name="Withdraw…").click()
    question = page.get_by_role("dialog", name=f"Withdraw “{title}”?")
    expect(question).to_contain_text("The log keeps it")
    pictures(page, "broadcasts-withdraw")
    question.get_by_role("button", name="Cancel").click()
    expect(row(page, title)).to_contain_text("Active")
    row(page, title).get_by_role("button", name="Withdraw…").click()
    question.get_by_role("button", name="Withdraw").click()
    expect(group(page, "Ended").get_by_role("listitem", name=title)).to_be_focused()
    assert product.api("GET", f"/broadcast/{broadcast['id']}")["state"] == "withdrawn"
    # What has ended can only be used again.
    expect(row(page, title).get_by_role("button")).to_have_count(1)
    page.goto(f"/portal/broadcasts/#edit={broadcast['id']}")
    expect(page.get_by_role("heading", name="This broadcast has ended")).to_be_visible()


def test_use_a_broadcast_again(product, visit):
    broadcast = new_broadcast(product, "Every year")
    product.api("DELETE", f"/broadcast/{broadcast['id']}")
    page = visit("/portal/broadcasts/", account="admin")
    row(page, title_of(broadcast)).get_by_role("button", name="Use again").click()
    expect(form(page).get_by_role("textbox", name="Title")).to_have_value(title_of(broadcast))
    title = product.unique("This year")
    form(page).get_by_role("textbox", name="Title").fill(title)
    send(page)
    expect(group(page, "Now").get_by_role("listitem", name=title)).to_be_visible()
    assert find(product, title)["id"] != broadcast["id"]


@pytest.mark.at_length
def test_a_typed_broadcast_survives_a_reload(product, visit):
    title = product.unique("Half")
    page = visit("/portal/broadcasts/#new", account="admin")
    fill(page, title)
    page.reload()
    visit.settle(page)
    expect(form(page).get_by_role("textbox", name="Title")).to_have_value(title)
    expect(page.get_by_text("Your draft is back")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Broadcasts").click()
    page.get_by_role("button", name="Go on writing").click()
    expect(form(page).get_by_role("textbox", name="Title")).to_have_value(title)
    page.get_by_role("button", name="Discard").click()
    expect(form(page).get_by_role("textbox", name="Title")).to_have_value("")
    page.get_by_role("button", name="Undo").click()
    expect(form(page).get_by_role("textbox", name="Title")).to_have_value(title)


@pytest.mark.at_length
def test_a_refusal_appears_at_its_field(product, visit):
    visit.expect_errors(r"status of 4(00|22)")
    page = visit("/portal/broadcasts/#new", account="admin")
    fill(page, product.unique("Refused"))
    form(page).get_by_role("radio", name="A condition").check()
    form(page).get_by_role("textbox", name="Condition").fill("'a' in")
    page.get_by_role("button", name="Send broadcast").click()
    expect(page.get_by_text("The hub does not take this:")).to_be_visible()
    expect(form(page).get_by_role("textbox", name="Condition")).to_be_focused()
    expect(form(page).get_by_role("textbox", name="Condition")).to_have_attribute("aria-invalid", "true")


@pytest.mark.at_length
def test_the_page_without_the_broadcast_service(spare_product, visit, pictures):
    visit.expect_errors(r"status of 503")
    with spare_product.away("msi-broadcast"):
        page = visit("/portal/broadcasts/", account="admin")
        expect(page.get_by_text("The broadcast service is away.")).to_be_visible()
        pictures(page, "broadcasts-away")
    expect(page.get_by_role("heading", name="No broadcasts yet")).to_be_visible()


@pytest.mark.at_length
def test_narrow_navigation_keeps_five_entries(product, visit):
    page = visit("/portal/broadcasts/", account="admin", narrow=True)
    bar = page.locator("nav.bar")
    expect(bar.locator(".entry")).to_have_count(5)
    bar.get_by_role("button", name="More").click()
    expect(bar.get_by_role("link", name="Broadcasts")).to_be_visible()
