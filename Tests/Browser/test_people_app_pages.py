"""The pages of the students' app about people, each by itself. test_people_app.py has two students side by side."""

import re
import time
import zipfile

import pytest
from browsing.app import begin, controlled, open_app, tab
from browsing.people import in_arabic, open_people, row, search, sign_in, stores
from browsing.visits import GATEWAY_AWAY, NARROW
from harness.identity import Identity
from harness.person import Person
from harness.product import PASSWORD
from playwright.sync_api import expect

# What the browser says about refusals that belong to a test.
REFUSED = r"status of 40[1349] .*/user"
BUSY = r"status of 429"
AWAY = r"status of 50[034] .*/user"


@pytest.fixture(scope="module")
def product(phones_product):
    return phones_product


@pytest.fixture
def visit(visit):
    # The emulator's pages have no icon.
    visit.expect_errors(r"favicon")
    return visit


@pytest.fixture
def ann(product):
    return Person(product, "ann")


@pytest.fixture
def ben(product):
    return Person(product, "ben")


@pytest.fixture
def identity(product):
    return Identity(product)


def friends(*pair):
    pair[0].ask(pair[1])
    pair[1].ask(pair[0])


# The way in

def test_the_app_needs_no_account(visit):
    """Who never opens the tab loads nothing of it, and the first page is as it was."""
    page = open_app(visit, narrow=True)
    expect(tab(page, "People")).to_be_visible()
    loaded = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)")
    assert not [path for path in loaded if "/people" in path or "account.js" in path or path.startswith("/user")], loaded
    page.goto("/app/#settings")
    expect(page.get_by_role("link", name="My devices")).to_have_count(0)
    page.goto("/app/#settings/devices")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()


def test_register_at_a_provider(product, visit, identity, pictures):
    visit.expect_errors(REFUSED)
    identity.add("landing-1", "Dora Dietz")
    page = open_people(visit, narrow=True)
    expect(page.get_by_role("button", name="Continue with Google")).to_be_visible()
    pictures(page, "people-landing", arrange=in_arabic(None))
    page.get_by_role("button", name="Continue with Google").click()
    page.get_by_role("button", name="Dora Dietz").click()
    expect(page.get_by_role("heading", name="Choose a name")).to_be_visible()
    # Nobody finds the token in the address or in the history.
    assert page.url == f"{product.url}/app/#people"
    pictures(page, "people-register")
    taken = Person(product, "taken")
    page.get_by_role("textbox", name="Account name").fill(taken.account)
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_role("alert").filter(has_text="This name is taken.")).to_be_visible()
    page.get_by_role("textbox", name="Account name").fill(name := product.unique("dora").replace(" ", ""))
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_role("heading", name="No friends yet")).to_be_visible()
    # Who has an account is in at once.
    other = open_people(visit, narrow=True)
    other.get_by_role("button", name="Continue with Google").click()
    other.get_by_role("button", name="Dora Dietz").click()
    expect(other.get_by_role("heading", name="No friends yet")).to_be_visible()
    other.goto("/app/#settings/account")
    expect(other.get_by_text(name).and_(other.locator(":visible"))).to_be_visible()


@pytest.mark.parametrize("provider", ["Google", *(pytest.param(each, marks=pytest.mark.at_length) for each in ("Firebase", "Facebook"))])
def test_a_provider_says_no(visit, pictures, provider):
    """Cancelled: back, without blame. Failed: what happened, and once more."""
    page = open_people(visit, narrow=True)
    page.get_by_role("button", name=f"Continue with {provider}").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert").filter(has_text="You cancelled the sign-in.")).to_be_visible()
    page.get_by_role("button", name=f"Continue with {provider}").click()
    page.get_by_role("button", name="Fail as the provider would").click()
    expect(page.get_by_role("alert").filter(has_text="The sign-in did not work there")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name=f"Sign in with {provider}")).to_be_visible()
    page.get_by_role("button", name="Fail as the provider would").click()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    pictures(page, "people-landing-failed", at_length=True)


def test_a_link_with_somebody_elses_token(visit):
    """It signs nobody in."""
    page = open_people(visit, narrow=True)
    page.goto("about:blank")
    page.goto("/app/#id_token=e30.e30.e30&state=made-up")
    expect(page.get_by_role("alert").filter(has_text="This sign-in was not begun here")).to_be_visible()
    assert page.url.endswith("/app/#people")


@pytest.mark.at_length
def test_the_hub_is_away_when_the_person_comes_back(visit, identity):
    """The same token is tried again."""
    visit.expect_errors(AWAY, REFUSED)
    identity.add("landing-2", "Emil Ernst")
    page = open_people(visit, narrow=True)
    page.route("**/user", lambda route: route.fulfill(status=503, content_type="application/problem+json", body='{"detail":"away","status":503}'))
    page.get_by_role("button", name="Continue with Google").click()
    page.get_by_role("button", name="Emil Ernst").click()
    expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
    page.unroute("**/user")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Choose a name")).to_be_visible()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("button", name="Continue with Google")).to_be_visible()


@pytest.mark.at_length
def test_a_provider_is_away(visit, identity):
    """The person reads which one, and has all ways to sign in."""
    visit.expect_errors(AWAY, REFUSED)
    identity.add("landing-3", "Fritz Frey")
    page = open_people(visit, narrow=True)
    refusal = '{"detail":"Google cannot be used: it answers 500","status":503}'
    page.route("**/user", lambda route: route.fulfill(status=503, content_type="application/problem+json", body=refusal))
    page.get_by_role("button", name="Continue with Google").click()
    page.get_by_role("button", name="Fritz Frey").click()
    expect(page.get_by_role("alert").filter(has_text="Signing in with Google does not work at the moment.")).to_be_visible()
    expect(page.get_by_role("button", name="Continue with Facebook")).to_be_visible()
    expect(page.get_by_text("Signing you in…")).to_have_count(0)
    page.unroute("**/user")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Choose a name")).to_be_visible()


def test_sign_in_with_a_password(product, visit, ann, pictures):
    visit.expect_errors(REFUSED)
    page = open_people(visit, narrow=True)
    page.get_by_role("textbox", name="Account", exact=True).fill(ann.account)
    page.get_by_label("Password", exact=True).fill("not this one")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="The account or the password is wrong.")).to_be_visible()
    sign_in(page, ann.account)
    pictures(page, "people-no-friends", arrange=in_arabic(ann))
    # A start shows the person at once, and asks for nothing.
    page.reload()
    expect(page.get_by_role("heading", name="No friends yet")).to_be_visible()
    [[*account], _] = stores(page)
    assert account[:2] == ["device", "key"] and PASSWORD not in page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })"), account


@pytest.mark.at_length
def test_registration_is_sent_again_with_the_same_key(product, visit):
    """The hub has made the account, and its answer was lost."""
    visit.expect_errors(GATEWAY_AWAY, REFUSED)
    keys = []

    def lose_the_first_answer(route):
        if route.request.method != "POST":
            return route.continue_()
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            route.fetch()
            return route.abort()
        return route.continue_()

    page = open_people(visit, narrow=True)
    page.route("**/user", lose_the_first_answer)
    page.get_by_role("button", name="Make an account…").click()
    page.get_by_role("textbox", name="Account name").fill(product.unique("fay").replace(" ", ""))
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_role("heading", name="No friends yet")).to_be_visible()
    assert len(keys) == 2 and len(set(keys)) == 1, keys


# Friends

def test_search_and_ask(visit, ann, ben, pictures):
    visit.expect_errors(REFUSED)
    page = open_people(visit, ann, narrow=True)
    search(page, ben.account[:2])
    expect(page.get_by_text("Type at least 3 characters.")).to_be_visible()
    search(page, ben.account)
    expect(page.get_by_text("1 person found")).to_be_visible()
    pictures(page, "people-search", at_length=True)
    row(page, ben.account).get_by_role("link").click()
    expect(page.get_by_role("heading", name=ben.account, level=1)).to_be_focused()
    expect(page.get_by_text("You are not friends.")).to_be_visible()
    page.get_by_role("button", name="Ask to be friends").click()
    expect(page.get_by_text("You have asked to be friends.")).to_be_visible()
    pictures(page, "people-asked", arrange=in_arabic(ann, f"#people/person?account={ben.account}"))
    page.goto("/app/#people/requests")
    page.get_by_role("button", name=re.compile(f"Take back.*{ben.account}")).click()
    expect(page.get_by_text("You wait for nobody's answer.")).to_be_visible()
    # Who has no name here is nobody.
    page.goto("/app/#people/person?account=nobody-at-all")
    expect(page.get_by_text("There is nobody with this name.")).to_be_visible()


def test_answer_a_request(product, visit, ann, ben, pictures):
    """The badge comes without a look, and goes with the answer."""
    page = open_people(visit, ann, narrow=True)
    tab(page, "Messages").click()
    cleo = Person(product, "cleo")
    ben.ask(ann)
    expect(tab(page, "Friends")).to_contain_text("1 friend request")
    cleo.ask(ann)
    expect(tab(page, "Friends")).to_contain_text("2 friend requests")
    page.goto("/app/#people/requests")
    expect(row(page, cleo.account)).to_be_visible()
    pictures(page, "people-requests", arrange=in_arabic(ann, "#people/requests"))
    row(page, ben.account).get_by_role("button", name="Accept").click()
    row(page, cleo.account).get_by_role("button", name="Decline").click()
    expect(page.get_by_text("Nobody waits for your answer.")).to_be_visible()
    expect(tab(page, "Friends")).not_to_contain_text("friend request")
    assert ben.friends() == [ann.account] and cleo.friends() == []
    page.get_by_role("link", name="Friends").first.click()
    expect(row(page, ben.account)).to_be_visible()
    pictures(page, "people-friends", arrange=in_arabic(ann))


def test_a_friends_page(product, visit, ann, ben, pictures):
    """Only what the friend shows, and the friends of both."""
    cleo = Person(product, "cleo")
    for pair in ((ann, ben), (ann, cleo), (ben, cleo)):
        friends(*pair)
    ben.request("PUT", "/user/profile", {
        "first_name": "Ben", "last_name": "Birch", "born": "2004-02-29", "bio": "Physics, second year",
        "visibility": {"first_name": "friends", "born": "classmates", "bio": "friends"}})
    page = open_people(visit, ann, f"#people/person?account={ben.account}", narrow=True)
    expect(page.get_by_text("29 February 2004")).to_be_visible()
    expect(page.get_by_text("Physics, second year")).to_be_visible()
    expect(page.get_by_text("Birch")).to_have_count(0)
    expect(row(page, cleo.account)).to_be_visible()
    pictures(page, "people-person", arrange=in_arabic(ann, f"#people/person?account={ben.account}"))
    page.get_by_role("button", name="End the friendship").click()
    page.get_by_role("alertdialog").get_by_role("button", name="End the friendship").click()
    expect(page.get_by_text("You are not friends.")).to_be_visible()
    expect(page.get_by_text("Physics, second year")).to_have_count(0)
    assert ben.friends() == [cleo.account]


def test_block_and_unblock(visit, ann, ben, pictures):
    visit.expect_errors(REFUSED)
    friends(ann, ben)
    page = open_people(visit, ann, f"#people/person?account={ben.account}", narrow=True)
    page.get_by_role("button", name="Block").click()
    pictures(page, "people-block", at_length=True)
    page.get_by_role("alertdialog").get_by_role("button", name="Block").click()
    expect(page.get_by_role("heading", name="No friends yet")).to_be_visible()
    page.goto("/app/#people/blocked")
    expect(page.get_by_role("button", name=re.compile(f"Unblock.*{ben.account}"))).to_be_visible()
    pictures(page, "people-blocked", arrange=in_arabic(ann, "#people/blocked"))
    page.get_by_role("button", name=re.compile(f"Unblock.*{ben.account}")).click()
    expect(page.get_by_text("You have blocked nobody.")).to_be_visible()
    assert ben.friends() == []


@pytest.mark.at_length
def test_what_is_not_sent_is_shown(visit, ann, ben, pictures):
    """The app tries again by itself. However often somebody taps, the hub gets one request."""
    visit.expect_errors(GATEWAY_AWAY)
    page = open_people(visit, ann, f"#people/person?account={ben.account}", narrow=True)
    expect(page.get_by_text("You are not friends.")).to_be_visible()
    keys = []

    def lose(route):
        if route.request.method == "POST":
            keys.append(route.request.headers["idempotency-key"])
            return route.abort()
        return route.continue_()

    page.route("**/user/friends", lose)
    page.get_by_role("button", name="Ask to be friends").click()
    expect(page.get_by_role("heading", name="Not sent yet")).to_be_visible()
    page.get_by_role("button", name="Ask to be friends", exact=True).click()
    expect(page.get_by_role("button", name="Try again")).to_have_count(1)
    pictures(page, "people-waiting")
    page.unroute("**/user/friends")
    expect(page.get_by_role("heading", name="Not sent yet")).to_be_hidden()
    expect(page.get_by_text("You have asked to be friends.")).to_be_visible()
    assert len(set(keys)) == 1, keys
    assert [each["account"] for each in ben.request("GET", "/user/friends/requests")["received"]] == [ann.account]


@pytest.mark.at_length
def test_too_many_searches(visit, ann):
    """The gateway's tests have the real limit."""
    visit.expect_errors(BUSY)
    page = open_people(visit, ann, narrow=True)
    refusal = '{"detail":"too many requests","status":429}'
    page.route(re.compile(r"/users\?q="), lambda route: route.fulfill(status=429, content_type="application/problem+json", body=refusal))
    search(page, "somebody")
    expect(page.get_by_text("That was too often. Try again later.")).to_be_visible()


# Settings

def test_profile(visit, ann, ben, pictures):
    friends(ann, ben)
    page = open_people(visit, ann, "#settings/profile", narrow=True)
    expect(page.get_by_label("Date of birth", exact=True)).to_have_attribute("max", page.evaluate("new Date().toLocaleDateString('sv')"))
    page.get_by_role("textbox", name="First name").fill("Ann")
    page.get_by_role("textbox", name="About you").fill("ب" * 101)
    page.get_by_label("Who sees this: About you").select_option("Friends")
    preview = page.get_by_role("region", name="As a friend sees it")
    expect(preview).to_contain_text("ببب")
    expect(preview).not_to_contain_text("First name")
    # The browser says what is wrong, and nothing is sent.
    page.get_by_role("button", name="Save").click()
    assert page.evaluate("document.querySelector('textarea').validationMessage") == "At most 100 characters"
    page.get_by_role("textbox", name="About you").fill("Maths")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Your profile is saved.")).to_be_visible()
    seen = ben.request("GET", f"/users/{ann.account}")
    assert seen["bio"] == "Maths" and "first_name" not in seen, seen
    page.reload()
    expect(page.get_by_role("textbox", name="First name")).to_have_value("Ann")
    # A wider window makes the form again.
    pictures(page, "people-profile", arrange=in_arabic(ann, "#settings/profile"))


def test_devices(product, visit, ann, pictures):
    """The other one is signed out at once; its page says so, and has nothing left."""
    visit.expect_errors(REFUSED)
    other = open_people(visit, ann, narrow=True)
    page = open_people(visit, ann, "#settings/devices", narrow=True)
    expect(page.get_by_text("This device", exact=True)).to_have_count(1)
    # The one of the test, and the other browser.
    expect(page.get_by_role("button", name=re.compile("^Sign out"))).to_have_count(2)
    pictures(page, "people-devices", arrange=in_arabic(ann, "#settings/devices"))
    # Also on a page of the person, which is then not there any more.
    other.goto("/app/#settings/profile")
    expect(other.get_by_role("textbox", name="First name")).to_be_visible()
    ann.request("DELETE", f"/user/devices/{this_device(other)}")
    expect(other.get_by_text("You were signed out on this device.")).to_be_visible()
    assert stores(other) == [["ended"], []]
    pictures(other, "people-signed-out", at_length=True)
    other.get_by_role("button", name="Make an account…").click()
    expect(other.get_by_role("heading", name="Choose a name")).to_be_visible()
    expect(other.get_by_text("You were signed out on this device.")).to_have_count(0)
    other.get_by_role("button", name="Back").click()
    page.get_by_role("button", name=re.compile("Sign out.*A test")).click()
    page.get_by_role("alertdialog").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name=re.compile("Sign out.*A test"))).to_have_count(0)
    # It may sign in again.
    sign_in(other, ann.account)


def this_device(page):
    return page.evaluate("""() => new Promise((resolve) => {
        const opened = indexedDB.open("msi-app");
        opened.onsuccess = () => {
            const asked = opened.result.transaction("account").objectStore("account").get("device");
            asked.onsuccess = () => { opened.result.close(); resolve(asked.result.id); };
        };
    })""")


def test_account(product, visit, ann, identity, pictures):
    """Further ways to sign in, another password, and a code."""
    visit.expect_errors(REFUSED, r"status of 400 .*/user/password")
    identity.add(f"link-{ann.account}", f"Link {ann.account}")
    page = open_people(visit, ann, "#settings/account", narrow=True)
    expect(page.get_by_text(ann.account).and_(page.locator(":visible"))).to_be_visible()
    pictures(page, "people-account", arrange=in_arabic(ann, "#settings/account"))
    # The last way cannot be removed.
    expect(page.get_by_role("button", name="Remove")).to_have_count(0)
    page.get_by_role("button", name="Add Google").click()
    page.get_by_role("button", name=f"Link {ann.account}").click()
    expect(page.get_by_role("button", name=re.compile("Remove.*Google"))).to_be_visible()
    assert page.url.endswith("#settings/account")
    page.get_by_role("button", name=re.compile("Remove.*Google")).click()
    expect(page.get_by_role("button", name="Add Google")).to_be_visible()
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_label("New password").fill("password123")
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_text("This password is among those that everybody tries first.")).to_be_visible()
    for current, message in (("not this one", "This is not your current password."), (PASSWORD, "The password is changed.")):
        page.get_by_label("Current password").fill(current)
        page.get_by_label("New password").fill("violet-anchor-meadow")
        page.get_by_role("button", name="Change the password").click()
        expect(page.get_by_text(message)).to_be_visible()
    page.get_by_role("textbox", name="Access code").fill("K7QF-2M9X-ZB4T")
    page.get_by_role("button", name="Use the code").click()
    expect(page.get_by_text("This code does not count.")).to_be_visible()
    tomorrow = int(time.time() * 1_000) + 86_400_000
    code = product.api("POST", "/access-codes", {"grants": "professor", "uses": 1, "expires": tomorrow})["code"]
    page.get_by_role("textbox", name="Access code").fill(code)
    page.get_by_role("button", name="Use the code").click()
    expect(page.get_by_text("Professor", exact=True)).to_be_visible()
    # The form is gone, and the focus was in it.
    expect(page.get_by_role("heading", name="Account", exact=True)).to_be_focused()


def test_kinds_of_pushes(visit, ann, pictures):
    page = open_people(visit, ann, "#settings/kinds", narrow=True)
    asked = page.get_by_role("switch", name="Somebody asks to be your friend")
    expect(asked).to_be_checked()
    expect(page.get_by_role("switch")).to_have_count(9)
    pictures(page, "people-kinds", arrange=in_arabic(ann, "#settings/kinds"))
    asked.click()
    expect(asked).not_to_be_checked()
    assert ann.request("GET", "/user/preferences")["pushes"] == {"friend_request": False}


def test_take_the_data_along(visit, ann, ben, tmp_path):
    friends(ann, ben)
    page = open_people(visit, ann, "#settings/data", narrow=True)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save file").click()
    expect(page.get_by_text("Your data were saved as a file.")).to_be_visible()
    saved.value.save_as(tmp_path / "data.zip")
    with zipfile.ZipFile(tmp_path / "data.zip") as data:
        assert data.testzip() is None
        assert ben.account in data.read("people/friends.json").decode()


def test_erase(visit, ann, ben, pictures):
    """Only who types the name. The report says what was removed; nothing is left in the browser, or for others."""
    visit.expect_errors(REFUSED)
    friends(ann, ben)
    page = open_people(visit, ann, "#settings/data", narrow=True)
    pictures(page, "people-data", arrange=in_arabic(ann, "#settings/data"))
    page.get_by_role("button", name="Erase the account…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill(ben.account)
    dialog.get_by_role("button", name="Erase the account").click()
    expect(dialog.get_by_text("This is not the name of your account.")).to_be_visible()
    pictures(page, "people-erase", at_length=True)
    dialog.get_by_role("textbox").fill(ann.account)
    dialog.get_by_role("button", name="Erase the account").click()
    expect(page.get_by_role("dialog", name="Your account is erased")).to_contain_text("friendships, requests and blocks: 2")
    pictures(page, "people-erased")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="Continue with Google")).to_be_visible()
    assert stores(page) == [[], []]
    assert ben.friends() == []


@pytest.mark.at_length
def test_sign_out(visit, ann, ben):
    """In all tabs. What belongs to the browser stays."""
    visit.expect_errors(REFUSED)
    friends(ann, ben)
    page = open_people(visit, ann, "#settings/account", narrow=True)
    other = visit.tab(page, "/app/#people")
    expect(row(other, ben.account)).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Sign out").click()
    for each in (page, other):
        expect(each.get_by_role("button", name="Continue with Google")).to_be_visible()
        expect(each.get_by_text("You were signed out on this device.")).to_have_count(0)
    assert stores(page) == [[], []]
    tab(page, "Messages").click()
    expect(page.get_by_role("heading", name="Messages", exact=True)).to_be_visible()


# Everything else

def test_without_a_secure_connection(visit, pictures):
    page = visit("/app/", account=None, settled=False, narrow=True)
    page.add_init_script("Object.defineProperty(window, 'isSecureContext', { get: () => false });")
    page.reload()
    begin(page)
    page.goto("/app/#people")
    expect(page.get_by_text("Accounts need a secure address (https).")).to_be_visible()
    pictures(page, "people-insecure")


@pytest.mark.at_length
def test_the_hub_is_away(visit, ann, ben):
    """What the app knows is there, and the pages say what they could not read."""
    visit.expect_errors(GATEWAY_AWAY)
    friends(ann, ben)
    page = open_people(visit, ann, narrow=True, worker=True)
    controlled(page)
    expect(row(page, ben.account)).to_be_visible()
    page.context.set_offline(True)
    page.reload()
    expect(row(page, ben.account)).to_be_visible()
    page.goto("/app/#settings/devices")
    expect(page.get_by_text("The university's server cannot be reached.").first).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("This device", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_be_hidden()


@pytest.mark.at_length
def test_keyboard(visit, ann, ben):
    """From the search to the request and back, without a pointer."""
    page = open_people(visit, ann, narrow=True)
    page.get_by_role("searchbox").focus()
    page.keyboard.type(ben.account)
    expect(row(page, ben.account)).to_be_visible()
    page.keyboard.press("Tab")
    expect(row(page, ben.account).get_by_role("link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=ben.account, level=1)).to_be_focused()
    page.get_by_role("button", name="Block").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alertdialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Block")).to_be_focused()


@pytest.mark.at_length
def test_wide_windows(visit, ann, ben, pictures):
    """The tabs are beside the pages, and the settings beside their rows."""
    friends(ann, ben)
    page = open_people(visit, ann)
    expect(row(page, ben.account)).to_be_visible()
    pictures(page, "people-wide", arrange=in_arabic(ann))
    page.goto("/app/#settings/profile")
    expect(page.get_by_role("heading", name="Profile", level=2)).to_be_visible()
    pictures(page, "people-settings-wide", arrange=in_arabic(ann, "#settings/profile"))
    page.set_viewport_size(NARROW)
    expect(page.get_by_role("heading", name="Profile", level=1)).to_be_visible()
