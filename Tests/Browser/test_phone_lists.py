"""Long lists on a simulated phone: folded subscriptions, channels, searches that say where they search, and what a finger can touch."""

import re

import pytest
from harness.waiting import eventually
from playwright.sync_api import expect

NARROW = {"width": 390, "height": 844}
# Elements that are lower or narrower than 44 pixels, as a finger finds them. What is inside of a text is as high as its line.
SMALL = """() => {
    const small = [];
    for (const one of document.querySelectorAll(".app :is(button, a, summary, input, select)")) {
        if (!one.checkVisibility({ visibilityProperty: true }) || one.closest(".text, .unseen")) continue;
        one.scrollIntoView({ block: "center", inline: "center" });
        const { left, top, width, height } = one.getBoundingClientRect();
        const reaches = (x, y) => { const hit = document.elementFromPoint(x, y); return hit && (one.contains(hit) || hit.contains(one) && hit.closest("label, a, button") !== null); };
        const [x, y] = [left + width / 2, top + height / 2];
        const isHigh = (reaches(x, y - 21) && reaches(x, y + 21));
        const isWide = width >= 44 || one.matches("input[type=radio]") && one.closest("label");
        if (!isHigh && !one.closest("label") || !isWide) small.push(`${one.className || one.tagName} ${one.textContent.trim().slice(0, 30)} ${width}×${height}`);
    }
    return small;
}"""


@pytest.fixture(scope="module")
def product(phones_product):
    return phones_product


@pytest.fixture
def clubs(product):
    """A channel of three areas with ten subjects each; the first two of an area are Recommended, and the second has Alerts."""
    channel = product.new_channel("Clubs")
    areas = [product.new_area(channel, name) for name in ("Games", "Music", "Sports")]
    subjects = [
        product.new_subject(f"Club {area['name']} {number}", channel=channel, area=area, level="Recommended" if number < 2 else "",
                            distribution="Alert" if number == 1 else "Information")
        for area in areas for number in range(10)]
    yield channel, areas, subjects
    product.api("DELETE", f"/channel/{channel['_id']}")


def card(page, title):
    return page.get_by_role("article", name=title)


def open_tab(page, name):
    page.get_by_role("navigation", name="Message Hub").get_by_role("link", name=name).click()


def test_subscriptions_are_folded_by_area(phones, visit, pictures, clubs):
    channel, areas, subjects = clubs
    phone = phones().set_up()
    page = visit.phone(phone)
    open_tab(page, "Subscriptions")
    page.get_by_role("group", name="Channel").get_by_role("button", name=channel["name"]).click()
    area = page.locator("summary").filter(has_text=areas[1]["name"])
    expect(area).to_contain_text("2 of 10")
    expect(page.locator(".tree").get_by_role("switch")).to_have_count(0)
    pictures(page, "phone-subscriptions-folded")
    area.focus()
    page.keyboard.press("Enter")
    switch = page.get_by_role("switch", name=subjects[12].name)
    switch.click()
    expect(area).to_contain_text("3 of 10")
    eventually("FCM has the subscription", lambda: subjects[12].topic_key in phone.topics())
    # A search unfolds what it finds, and says where.
    page.get_by_role("button", name=f"Search in {channel['name']}").click()
    page.get_by_role("searchbox", name=f"Search in {channel['name']}").fill(subjects[25].name)
    expect(page.get_by_role("switch", name=subjects[25].name)).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="1 subject found")).to_contain_text(channel["name"])
    page.get_by_role("group", name="Channel").get_by_role("button", name="All channels").click()
    expect(page.get_by_role("searchbox", name="Search all subjects")).to_be_visible()


@pytest.mark.at_length
def test_search_says_where_and_leads_further(product, phones, visit, pictures, clubs):
    _, _, subjects = clubs
    other = product.new_subject("Canteen", level="Recommended")
    phone = phones().set_up()
    keys = [product.send(subjects[0], "Open evening"), product.send(other, "Open on Sunday")]
    eventually("both", lambda: all(phone.has(key) for key in keys))
    page = visit.phone(phone)
    page.get_by_role("group", name="View").get_by_role("button", name="By channel").click()
    name = other.channel["name"]
    page.get_by_role("link").filter(has=page.get_by_text(name, exact=True)).click()
    page.get_by_role("button", name=f"Search in {name}").click()
    page.get_by_role("searchbox", name=f"Search in {name}").fill("open")
    expect(page.get_by_text(f"1 message found · {name}")).to_be_visible()
    pictures(page, "phone-search-channel", at_length=True)
    page.locator(".found").get_by_role("button", name="Search all messages").click()
    expect(page.get_by_text("2 messages found · All channels")).to_be_visible()
    expect(page.get_by_role("searchbox", name="Search all messages")).to_have_value("open")
    expect(card(page, "Open evening")).to_be_visible()
    product.api("DELETE", f"/channel/{other.channel['_id']}")


@pytest.mark.at_length
def test_lines_name_the_subject(product, phones, visit, pictures, clubs):
    """Of a long path the subject's name stays, in both directions."""
    channel, areas, _ = clubs
    name = "Faculty of Computer Science and Mathematics and of everything else"
    product.api("PUT", f"/channel/{channel['_id']}", {"name": name, "desc": ""}, headers={"If-Match": "*"})
    # The names of the others get longer with each test before.
    one = product.new_subject("Jazz", channel=channel, area=areas[0], level="Recommended")
    phone = phones().set_up()
    product.send(one, "Open evening")
    page = visit.phone(phone)
    page.set_viewport_size({"width": 320, "height": 720})
    expect(card(page, "Open evening")).to_be_visible()
    page.get_by_role("button", name="List view").click()
    for language in ("en", "ar"):
        phone.control(language=language)
        expect(page.locator("html")).to_have_attribute("lang", language)
        subject = card(page, "Open evening").locator(".line .path-subject")
        expect(subject).to_have_text(one.name)
        # The page's direction changes with its language, a moment later.
        eventually("the whole name", lambda: subject.evaluate(
            "each => each.scrollWidth <= each.clientWidth + 1 && each.getBoundingClientRect().left >= 0 && each.getBoundingClientRect().right <= innerWidth"))
        places = card(page, "Open evening").locator(".line .path-place")
        eventually("a shortened place", lambda: places.first.evaluate("each => each.scrollWidth > each.clientWidth"))
    phone.control(language="en")


@pytest.mark.at_length
def test_mark_all_as_read(product, phones, visit, pictures, clubs):
    """Also those that are far below, with a way back; nothing is reported as opened."""
    _, _, subjects = clubs
    phone = phones().set_up()
    keys = [product.send(subjects[0], f"Evening {number}") for number in range(12)]
    eventually("all", lambda: all(phone.has(key) for key in keys))
    page = visit.phone(phone)
    page.get_by_role("button", name="List view").click()
    badge = page.get_by_role("navigation", name="Message Hub").locator(".badge")
    # What is in view for two seconds is read.
    expect(badge).to_contain_text(re.compile(r"\d+ unread"))
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_text(re.compile(r"^\d+ messages? marked as read"))).to_be_visible()
    expect(badge).to_be_hidden()
    page.get_by_role("button", name="Undo").click()
    expect(badge).to_contain_text(re.compile(r"\d+ unread"))
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_text(re.compile(r"^\d+ messages? marked as read"))).to_be_visible()
    # Here nothing has to be done before the toast goes by itself.
    pictures(page, "phone-all-read", at_length=True)
    phone.wait("all are read", lambda state: state["badge"] == 0 and all(message["read"] for message in state["messages"]))
    phone.control(foreground=False)
    eventually("the phone has reported them", lambda: product.message(keys[0])["receipts"]["received"] == 1)
    assert product.message(keys[0])["receipts"]["opened"] == 0


def test_links_of_a_text(product, phones, visit, pictures, clubs):
    """Addresses and numbers beside dates, whole also in a text that is cut."""
    _, _, subjects = clubs
    phone = phones().set_up()
    text = ("Register at https://www.example.edu/register?until=2030-01-15 until 2030-01-16 at 09:30, or write to desk@example.edu, or call +49 30 1234 5678.")
    product.send(subjects[0], "Course", text)
    long = "A long text about the course of this winter, with many words in it. " * 3 + "See https://www.example.edu/" + "a" * 120 + " and http://example.edu/plain. " + "More words follow. " * 20
    product.send(subjects[0], "Long course", long)
    page = visit.phone(phone)
    course = card(page, "Course").last
    expect(course.get_by_role("link", name="https://www.example.edu/register?until=2030-01-15")).to_have_attribute("rel", "noopener noreferrer")
    expect(course.get_by_role("link", name="desk@example.edu")).to_have_attribute("href", "mailto:desk@example.edu")
    expect(course.get_by_role("link", name="+49 30 1234 5678")).to_have_attribute("href", "tel:+493012345678")
    # The date in the address is none.
    expect(course.get_by_role("button", name="(Add to calendar)")).to_have_count(1)
    expect(course.get_by_role("button", name="2030-01-16 at 09:30")).to_be_visible()
    expect(course).to_contain_text(text.replace("09:30", "09:30 (Add to calendar)"))
    cut = card(page, "Long course")
    expect(cut).to_be_visible()
    for href in cut.get_by_role("link").evaluate_all("links => links.map((link) => link.href)"):
        assert href == "https://www.example.edu/" + "a" * 120
    page.get_by_role("button", name=re.compile("Show more.*Long course")).click()
    expect(cut.get_by_role("link")).to_have_count(1)
    pictures(page, "phone-links")


def test_main_link_of_a_message(phones, visit, pictures, clubs):
    """A button with the host, and none for an address that is not of https."""
    _, _, subjects = clubs
    phone = phones().set_up()
    page = visit.phone(phone)
    links = {"Plan": "https://www.example.edu/storm/plan.pdf?lang=en", "Script": "javascript:alert(1)", "Other": "https://bank.example@evil.test/"}
    for number, (title, link) in enumerate(links.items()):
        phone.push(subjects[0].topic_key, {
            "msi_key": f"{number:024x}", "topic_key": subjects[0].topic_key, "dist": "Information", "title": title, "desc": "", "message": "A text.",
            "timestamp": str(phone.state()["now"]), "link": link})
    button = card(page, "Plan").get_by_role("link", name="Open www.example.edu")
    expect(button).to_have_attribute("href", links["Plan"])
    expect(button).to_have_attribute("rel", "noopener noreferrer")
    expect(card(page, "Other")).to_be_visible()
    expect(card(page, "Script")).to_be_visible()
    expect(page.get_by_role("article").get_by_role("link")).to_have_count(1)
    pictures(page, "phone-main-link", at_length=True)
    assert links["Plan"] in phone.request("GET", "/export?format=text").text


@pytest.mark.at_length
def test_toasts_cover_no_action(product, phones, visit, pictures, clubs):
    """They are between the list and the tabs, can be closed, and end even under the pointer."""
    _, _, subjects = clubs
    phone = phones().set_up()
    for number in range(6):
        product.send(subjects[0], f"Evening {number}")
    page = visit.phone(phone, clock=True)
    page.set_viewport_size(NARROW)
    # Other tests send as well.
    articles = page.get_by_role("article").filter(has_text="Evening")
    expect(articles).to_have_count(6)
    for number in (5, 4):
        card(page, f"Evening {number}").focus()
        page.keyboard.press("Delete")
        expect(page.get_by_text("deleted.")).to_have_count(1)
    toast = page.locator(".toast")
    expect(toast).to_contain_text("2 messages were deleted.")
    toast_box, view, tabs = (page.locator(one).bounding_box() for one in (".toast", ".view:visible", ".tabs"))
    assert view["y"] + view["height"] <= toast_box["y"] and toast_box["y"] + toast_box["height"] <= tabs["y"]
    toast.get_by_role("button", name="Undo").click()
    expect(articles).to_have_count(6)
    # The page moves the focus to what is back.
    expect(card(page, "Evening 4")).to_be_focused()
    card(page, "Evening 3").focus()
    page.keyboard.press("Delete")
    toast.get_by_role("button", name="Hide").click()
    expect(toast).to_have_count(0)
    card(page, "Evening 2").focus()
    page.keyboard.press("Delete")
    toast.hover()
    visit.after(page, 31, "no toast", lambda: toast.count() == 0)
    expect(articles).to_have_count(4)
    card(page, "Evening 1").focus()
    page.keyboard.press("Delete")
    expect(toast).to_be_visible()
    pictures(page, "phone-toast", at_length=True)


VIEWS = [
    "", "#messages?by=channel", "#messages?form=list", "#subscriptions", "#settings", "#settings/notifications", "#settings/export", "#settings/appearance"]


def test_a_finger_reaches_every_control(product, phones, visit, clubs):
    _, _, subjects = clubs
    phone = phones().set_up()
    page = visit.phone(phone)
    page.set_viewport_size(NARROW)
    for address in VIEWS:
        has_messages = not address or address.startswith("#messages")
        if has_messages:
            # An unread one.
            key = product.send(subjects[1], "Storm", "Until Tuesday, 6:00. " + "More words follow. " * 40, desc="Stay at home.")
            eventually("the message", lambda: phone.has(key))
        page.goto(f"/{address}")
        # The page begins with what the address names.
        page.reload()
        expect(page.locator("h1:visible")).to_have_count(1)
        if not address:
            page.get_by_role("button", name="Actions for Storm").click()
        assert not page.evaluate(SMALL), address
        if has_messages:
            phone.request("DELETE", f"/messages/{key}")
            phone.request("DELETE", "/popups")
