"""Who may sign in, with which role."""

import pytest
import requests
from playwright.sync_api import expect

from browsing.processor_time import ProcessorTime
from browsing.totp import totp
from browsing.visits import SERVICE_AWAY
from harness.product import PASSWORD, SAME_ORIGIN, Refused


def row(page, account):
    """The row of an account in the table."""
    return page.get_by_role("row").filter(has=page.get_by_role("button", name=f"Edit {account}", exact=True).or_(
        page.get_by_role("button", name=f"Close {account}", exact=True)))


def edit(page, account):
    page.get_by_role("searchbox").fill(account)
    page.get_by_role("button", name=f"Edit {account}", exact=True).click()
    editor = page.get_by_role("region", name=f"Edit {account}")
    expect(editor.get_by_role("heading", name=f"Edit {account}")).to_be_focused()
    # The devices are read when the editor opens.
    expect(editor.locator(".devices [aria-busy=false]")).to_be_visible()
    return editor


def signs_in(product, account, password=PASSWORD):
    return requests.post(product.url + "/session", json={"account": account, "password": password}, timeout=60).status_code == 201


def new_token(product, account, **fields):
    return product.api("POST", "/token", {"name": product.unique("Timetable"), "rights": ["send"], "account": account, **fields})


def add_person(page, account, display_name=""):
    """Opens the dialog, and names somebody."""
    page.get_by_role("button", name="Invite…").click()
    dialog = page.get_by_role("dialog", name="Invite somebody")
    expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    dialog.get_by_role("textbox", name="Name").fill(display_name)
    dialog.get_by_role("textbox", name="Account").fill(account)
    return dialog


def use_link(visit, link, password="violet-harbour-piano"):
    other = visit(link.removeprefix(visit.product.url), account=None)
    other.get_by_role("textbox", name="New password").fill(password)
    other.get_by_role("button", name="Set password and sign in").click()
    return other


def test_invite(product, visit, pictures):
    name = product.unique("dana").replace(" ", "")
    page = visit("/portal/people/", account="admin", confirmed=True)
    pictures(page, "people", right_to_left=True)
    dialog = add_person(page, name, "Dana Voss")
    expect(dialog.get_by_role("textbox", name="Password")).to_have_count(0)
    pictures(page, "people-add", arrange=lambda other: other.locator(".button.main").click(), right_to_left=True)
    dialog.get_by_role("button", name="Add person").click()
    shown = page.get_by_role("dialog", name="Send Dana Voss this link")
    expect(shown).to_contain_text("It works once, until")
    link = shown.get_by_role("textbox", name="Invitation link").inner_text()
    pictures(page, "people-invited")
    # It is the only view of the link.
    for _ in range(2):
        page.keyboard.press("Escape")
    expect(shown).to_be_visible()
    shown.get_by_role("button", name="Done").click()
    expect(row(page, name)).to_contain_text("Dana Voss")
    expect(row(page, name)).to_contain_text("Invited. The link works until")
    expect(row(page, name)).to_contain_text("Never")
    expect(row(page, name).get_by_role("button")).to_be_focused()
    assert "link_path" not in str(product.api("GET", f"/account/{name}"))

    other = use_link(visit, link)
    expect(other.get_by_role("navigation").first).to_contain_text("Dana Voss")
    assert "invitation" not in other.url and signs_in(product, name, "violet-harbour-piano")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(row(page, name)).to_contain_text("today")
    expect(row(page, name)).not_to_contain_text("Invited")


def test_forgotten_password(product, visit):
    name = product.new_account("emil")
    page = visit("/portal/people/", account="admin", confirmed=True)
    editor = edit(page, name)

    def make_link():
        editor.get_by_role("button", name="Invitation link…").click()
        dialog = page.get_by_role("dialog")
        link = dialog.get_by_role("textbox", name="Invitation link").inner_text()
        dialog.get_by_role("button", name="Done").click()
        expect(dialog).to_have_count(0)
        expect(editor.get_by_role("button", name="Invitation link…")).to_be_focused()
        return link

    first, link = make_link(), make_link()
    visit.expect_errors(r"status of 401")
    ended = visit(first.removeprefix(product.url), account=None)
    expect(ended.get_by_role("heading", name="This link no longer works")).to_be_visible()
    assert signs_in(product, name)
    expect(use_link(visit, link).get_by_role("link", name="Messages").first).to_be_visible()
    assert not signs_in(product, name) and signs_in(product, name, "violet-harbour-piano")


def test_add_account_with_a_password(product, visit):
    name = product.unique("dora").replace(" ", "")
    page = visit("/portal/people/", account="admin", confirmed=True)
    dialog = add_person(page, name)
    dialog.get_by_role("radio", name="Super user").check()
    dialog.get_by_role("radio", name="With a password that you set").check()
    dialog.get_by_role("button", name="Suggest one").click()
    password = dialog.get_by_role("textbox", name="Password").input_value()
    assert len(password) == 23 and len(set(password)) > 8
    dialog.get_by_role("button", name="Add person").click()
    expect(page.get_by_text(f"{name} was added, and can sign in now.")).to_be_visible()
    expect(row(page, name)).to_contain_text("Super user")
    assert product.api("GET", f"/account/{name}")["role"] == "super_user" and signs_in(product, name, password)


@pytest.mark.at_length
def test_names_are_checked(product, visit):
    visit.expect_errors(r"status of 409", r"status of 400")
    gone = product.new_account("gone")
    product.api("DELETE", f"/account/{gone}")
    page = visit("/portal/people/", account="admin", confirmed=True)
    dialog = add_person(page, "")
    name, add = dialog.get_by_role("textbox", name="Account"), dialog.get_by_role("button", name="Add person")
    add.click()
    expect(dialog.get_by_text("Please fill this in.")).to_be_visible()
    name.fill("two words")
    add.click()
    expect(dialog.get_by_text("Use 1 to 64 letters")).to_be_visible()
    expect(name).to_be_focused()
    name.fill(gone)
    dialog.get_by_role("radio", name="With a password that you set").check()
    password = dialog.get_by_role("textbox", name="Password")
    for refused in ("short", "password1"):
        password.fill(refused)
        add.click()
        expect(dialog.get_by_text("Use 8 to 256 characters")).to_be_visible()
    password.fill("long enough")
    add.click()
    expect(dialog.get_by_text("This account exists, or a deleted one had this name.")).to_be_visible()
    expect(password).to_have_value("long enough")


def test_edit_role(product, visit, pictures):
    name = product.new_account("erin")
    page = visit("/portal/people/", account="admin", confirmed=True)
    editor = edit(page, name)
    pictures(page, "people-editor", arrange=lambda other: (other.get_by_role("searchbox").fill(name), other.locator("tbody button").first.click()), right_to_left=True)
    editor.get_by_role("radio", name="Super user").check()
    editor.get_by_role("checkbox", name="Require a second factor").check()
    editor.get_by_role("button", name="Save").click()
    expect(page.get_by_text(f"{name} was saved.")).to_be_visible()
    expect(row(page, name)).to_contain_text("Super user")
    expect(row(page, name)).to_contain_text("Required, not set up")
    expect(row(page, name).get_by_role("button")).to_be_focused()
    account = product.api("GET", f"/account/{name}")
    assert account["role"] == "super_user" and account["second_factor_required"]


def test_disable_and_undo(product, visit, pictures):
    name = product.new_account("finn")
    page = visit("/portal/people/", account="admin", confirmed=True)
    editor = edit(page, name)
    editor.get_by_role("button", name="Disable").click()
    expect(page.get_by_text(f"{name} is disabled. Its sign-ins have ended.")).to_be_visible()
    # Undo is there for ten seconds.
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text(f"{name} can sign in again.")).to_be_visible()
    expect(row(page, name)).not_to_contain_text("Disabled")
    assert signs_in(product, name)
    editor.get_by_role("button", name="Disable").click()
    expect(row(page, name)).to_contain_text("Disabled")
    assert not signs_in(product, name)
    pictures(page, "people-disabled", at_length=True)


def test_disabling_names_the_tokens_that_end(product, visit, pictures):
    name = product.new_account("gita")
    new_token(product, name)
    page = visit("/portal/people/", account="admin", confirmed=True)
    editor = edit(page, name)
    editor.get_by_role("button", name="Disable").click()
    question = page.get_by_role("dialog", name=f"Disable {name}?")
    expect(question).to_contain_text("1 token ends for good")
    pictures(page, "people-disable", at_length=True)
    question.get_by_role("button", name="Cancel").click()
    assert not product.api("GET", f"/account/{name}")["disabled"]
    editor.get_by_role("button", name="Disable").click()
    question.get_by_role("button", name="Disable").click()
    expect(row(page, name)).to_contain_text("Disabled")
    expect(row(page, name).get_by_role("link")).to_have_count(0)


def test_delete_account(product, visit, pictures):
    name = product.new_account("hugo")
    new_token(product, name)
    page = visit("/portal/people/", account="admin", confirmed=True)
    edit(page, name).get_by_role("button", name="Delete…").click()
    question = page.get_by_role("dialog", name=f"Delete {name}?")
    expect(question).to_contain_text("1 token ends")
    expect(question).to_contain_text("Its messages stay in the archive")
    expect(question).to_contain_text(f"Nobody else ever gets the name {name}.")
    pictures(page, "people-delete")
    question.get_by_role("button", name="Delete account").click()
    expect(page.get_by_text(f"{name} was deleted.")).to_be_visible()
    expect(row(page, name)).to_have_count(0)
    expect(page.get_by_text("Nobody fits")).to_be_visible()
    pictures(page, "people-none", at_length=True)
    with pytest.raises(Refused, match="404"):
        product.api("GET", f"/account/{name}")


def test_new_password(product, visit):
    name = product.new_account("ines")
    page = visit("/portal/people/", account="admin", confirmed=True)
    edit(page, name).get_by_role("button", name="New password…").click()
    dialog = page.get_by_role("dialog", name=f"New password for {name}")
    dialog.get_by_role("button", name="Suggest one").click()
    password = dialog.get_by_role("textbox", name="Password").input_value()
    dialog.get_by_role("button", name="Set password").click()
    expect(page.get_by_text(f"{name} has a new password.")).to_be_visible()
    assert signs_in(product, name, password) and not signs_in(product, name)


def test_remove_second_factor(product, visit):
    name = product.new_account("jan")
    session, factor = product.session(name, confirmed=True), f"{product.url}/account/{name}/second-factor"
    secret = session.post(factor, headers=SAME_ORIGIN).json()["secret"]
    assert session.put(factor, json={"code": totp(secret)}, headers=SAME_ORIGIN).ok
    page = visit("/portal/people/", account="admin", confirmed=True)
    editor = edit(page, name)
    expect(row(page, name)).to_contain_text("Set up")
    editor.get_by_role("button", name="Remove second factor…").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove second factor").click()
    expect(page.get_by_text(f"{name} has no second factor any more.")).to_be_visible()
    expect(editor.get_by_role("button", name="Remove second factor…")).to_have_count(0)
    assert signs_in(product, name)


def test_own_account_is_protected(visit, pictures):
    page = visit("/portal/people/", account="admin")
    editor = edit(page, "admin")
    expect(editor).to_contain_text("You cannot disable or delete your own account")
    expect(editor.get_by_role("button", name="Delete…")).to_have_count(0)
    expect(editor.get_by_role("radio", name="Communicator")).to_be_disabled()
    expect(editor.get_by_role("link", name="My account")).to_be_visible()
    pictures(page, "people-self", at_length=True)


def test_changes_ask_for_the_password(product, visit, pictures):
    visit.expect_errors(r"status of 403", r"status of 401")
    name = product.new_account("kim")
    page = visit("/portal/people/", account="admin", fresh=True)
    editor = edit(page, name)
    editor.get_by_role("radio", name="Super user").check()
    editor.get_by_role("button", name="Save").click()
    dialog = page.get_by_role("dialog", name="Confirm it is you")
    dialog.get_by_role("textbox", name="Password").fill("wrong password")
    dialog.get_by_role("button", name="Confirm").click()
    expect(dialog.get_by_text("This password is wrong.").first).to_be_visible()
    dialog.get_by_role("textbox", name="Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Confirm").click()
    expect(row(page, name)).to_contain_text("Super user")


def test_who_is_no_super_user_any_more_is_told(product, visit):
    visit.expect_errors(r"status of 403")
    name, other = product.new_account("mara", role="super_user"), product.new_account("omar")
    page = visit("/portal/people/", account=name, confirmed=True)
    editor = edit(page, other)
    editor.get_by_role("radio", name="Super user").check()
    product.api("PUT", f"/account/{name}", {"role": "communicator"})
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_role("alert")).to_contain_text("may not do this")


@pytest.mark.at_length
def test_invite_by_keyboard(product, visit):
    name = product.unique("lena").replace(" ", "")
    page = visit("/portal/people/", account="admin", confirmed=True)
    press = page.keyboard.press
    page.get_by_role("button", name="Invite…").focus()
    press("Enter")
    page.keyboard.type("Lena")
    press("Tab")
    page.keyboard.type(name)
    for key in ("Tab", "ArrowDown", "Enter"):
        press(key)
    done = page.get_by_role("button", name="Done")
    expect(done).to_be_visible()
    for _ in range(3):
        if done.evaluate("button => button === document.activeElement"):
            break
        press("Tab")
    press("Enter")
    expect(row(page, name).get_by_role("button")).to_be_focused()
    expect(row(page, name)).to_contain_text("Super user")
    press("Enter")
    expect(page.get_by_role("heading", name=f"Edit {name}")).to_be_focused()
    press("Tab")
    press("Tab")
    press("ArrowUp")
    press("Enter")
    expect(row(page, name)).to_contain_text("Communicator")
    expect(row(page, name).get_by_role("button")).to_be_focused()
    assert product.api("GET", f"/account/{name}")["role"] == "communicator"


def search_among(count, visit):
    """Searches among so many accounts, and returns the page and the processor time of its answers."""
    names = [f"person.{number:04}@campus.example.edu" for number in range(count)]

    def answer(route):
        start = int(route.request.url.partition("after=")[2] or 0)
        accounts = [{
            "account": name, "role": "communicator", "disabled": index % 50 == 3, "second_factor": "set" if index % 3 else "none",
            "second_factor_required": False, "has_password": True, "created": 1795262462399} for index, name in enumerate(names[start:start + 200])]
        following = {"next": f"/account?limit=200&after={start + 200}"} if start + 200 < count else {}
        route.fulfill(json={"accounts": accounts, **following})

    page = visit("/portal/people/", account="admin", routes={"**/account?**": answer})
    expect(page.get_by_role("button", name=f"Staff {count:,}")).to_be_visible()
    time = ProcessorTime(page)
    for text in ("9", "99", "999", "", "person.00"):
        page.get_by_role("searchbox").fill(text)
    expect(page.get_by_role("status").filter(has_text="100 accounts")).to_have_count(1)
    return page, time.spent()


@pytest.mark.at_length
def test_a_thousand_accounts_stay_quick(visit, pictures):
    """Ten times the accounts are at most about ten times the work."""
    (_, few), (page, many) = search_among(100, visit), search_among(1_000, visit)
    assert many < 20 * few, (few, many)
    pictures(page, "people-many", at_length=True)


def test_two_administrators(product, visit):
    """What another administrator changes appears when one comes back to the page; what one has chosen stays."""
    name = product.new_account("wim")
    page = visit("/portal/people/", account="admin", confirmed=True)
    editor = edit(page, name)
    editor.get_by_role("radio", name="Super user").check()
    product.api("PUT", f"/account/{name}", {"disabled": True, "second_factor_required": True})
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(row(page, name)).to_contain_text("Disabled")
    expect(editor.get_by_role("radio", name="Super user")).to_be_checked()
    expect(editor.get_by_role("checkbox", name="Require a second factor")).to_be_checked()
    expect(editor.get_by_role("button", name="Enable")).to_be_visible()
    editor.get_by_role("button", name="Save").click()
    expect(page.get_by_text(f"{name} was saved.")).to_be_visible()
    account = product.api("GET", f"/account/{name}")
    assert account["role"] == "super_user" and account["disabled"] and account["second_factor_required"]


@pytest.mark.at_length
def test_people_service_away(spare_product, visit, pictures):
    visit.expect_errors(SERVICE_AWAY)
    page = visit("/portal/people/", account="admin", confirmed=True)
    dialog = add_person(page, "mona")
    dialog.get_by_role("radio", name="With a password that you set").check()
    dialog.get_by_role("textbox", name="Password").fill("a good password")
    with spare_product.away("msi-people"):
        dialog.get_by_role("button", name="Add person").click()
        expect(dialog.get_by_role("alert")).to_contain_text("away")
        # The hub tells that the service is back only if it has noticed the outage.
        expect(page.locator("health-pill a")).to_have_text("Sending works, nobody can sign in")
        pictures(page, "people-away")
        other = visit.tab(page, "/portal/people/")
        expect(other.get_by_role("alert")).to_contain_text("Messages are still sent.")
        pictures(other, "people-unread")
    # It comes by itself when the service is back.
    expect(row(other, "admin")).to_be_visible()
    dialog.get_by_role("button", name="Add person").click()
    expect(row(page, "mona")).to_be_visible()


def test_communicators_see_no_people(visit, pictures):
    page = visit("/portal/people/", account="ann")
    expect(page.get_by_role("heading", name="Only super users see the accounts")).to_be_visible()
    expect(page.get_by_role("button", name="Invite…")).to_have_count(0)
    pictures(page, "people-forbidden")
