"""Tokens, with which programs use the hub."""

import subprocess
import time

import requests
from playwright.sync_api import expect

from harness.waiting import eventually


def row(page, name):
    return page.get_by_role("row").filter(has=page.get_by_role("button", name=f"Revoke… {name}", exact=True))


def status_of(product, secret, method="GET", path="/session", **options):
    return requests.request(method, product.url + path, headers={"Authorization": f"Bearer {secret}"}, timeout=60, **options).status_code


def new_token(product, name="Timetable", rights=("send",), **fields):
    answer = product.api("POST", "/token", {"name": product.unique(name), "rights": list(rights), **fields})
    return answer["token"], answer["secret"]


def test_new_token_works_until_it_is_revoked(product, visit, pictures):
    subject, other = product.new_subject("Shuttles"), product.new_subject("Elsewhere")
    name = product.unique("Timetable")
    page = visit("/portal/tokens/", account="admin", confirmed=True)
    page.get_by_role("button", name="New token…").click()
    dialog = page.get_by_role("dialog", name="New token")
    expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    dialog.get_by_role("textbox", name="Name").fill(name)
    expect(dialog.get_by_text("Nothing chosen: it works everywhere.")).to_be_visible()
    places = dialog.get_by_role("combobox", name="Where it works")
    places.fill(subject.name)
    expect(dialog.get_by_role("listbox", name="Places").get_by_role("option")).to_have_count(1)
    pictures(page, "tokens-new", right_to_left=True, arrange=lambda page: (page.locator(".button.main").click(), page.get_by_role("combobox").first.click()))
    places.press("Enter")
    expect(dialog.get_by_text("It works only here.")).to_be_visible()
    dialog.get_by_role("combobox", name="Expires").select_option("In 30 days")
    dialog.get_by_role("button", name="Make token").click()

    secret_dialog = page.get_by_role("dialog", name=f"{name} is ready")
    expect(secret_dialog).to_contain_text("It is not shown again")
    secret = secret_dialog.get_by_role("textbox", name="Secret").inner_text()
    assert secret.startswith("msi_")
    pictures(page, "tokens-secret")
    for _ in range(2):
        page.keyboard.press("Escape")
    expect(secret_dialog).to_be_visible()
    # The example sends a message as it stands, and curl does not get the secret as an argument.
    example = secret_dialog.get_by_role("textbox", name="Send a message with it").inner_text()
    printed = subprocess.run(["bash", "-c", example.replace("curl ", "curl -sS ", 1)], capture_output=True, text=True, timeout=30, check=True).stdout
    assert '"msi_key"' in printed
    assert secret not in example[example.index("curl"):]
    assert status_of(product, secret, "POST", "/message", json={
        "title": "No", "desc": "", "message": "No", "topic_key": other.topic_key, "distribution": "Information"}) == 403
    secret_dialog.get_by_role("button", name="I have kept it").click()
    expect(row(page, name).get_by_role("button")).to_be_focused()
    expect(row(page, name)).to_contain_text(subject.name)
    expect(row(page, name)).to_contain_text("Send")

    row(page, name).get_by_role("button", name="Revoke…").click()
    question = page.get_by_role("dialog", name=f"Revoke {name}?")
    expect(question).to_contain_text("It was never used.")
    pictures(page, "tokens-revoke", at_length=True)
    question.get_by_role("button", name="Revoke token").click()
    expect(page.get_by_text(f"{name} was revoked.")).to_be_visible()
    expect(row(page, name)).to_have_count(0)
    eventually("a token that is refused", lambda: status_of(product, secret) == 401)


def test_revoking_names_the_last_use(product, visit):
    """The hub tells of a use half a minute later."""
    token, _ = new_token(product)

    def answer(route):
        response = route.fetch()
        tokens = response.json()
        next(each for each in tokens["tokens"] if each["id"] == token["id"]).update(last_used=int(time.time() * 1000), last_address="192.0.2.7")
        route.fulfill(response=response, json=tokens)

    page = visit("/portal/tokens/", account="admin", confirmed=True, routes={"**/token?**": answer})
    expect(row(page, token["name"])).to_contain_text("192.0.2.7")
    row(page, token["name"]).get_by_role("button").click()
    expect(page.get_by_role("dialog")).to_contain_text("It was last used")
    expect(page.get_by_role("dialog")).to_contain_text("from 192.0.2.7.")


def test_tokens_say_where_they_work_and_until_when(product, visit, pictures):
    subject, gone = product.new_subject("Storms"), product.new_channel("Gone")
    now = int(time.time() * 1000)
    soon, _ = new_token(product, "Soon", scope=[subject.channel["_id"]], expires=now + 3 * 86_400_000)
    deleted, _ = new_token(product, "Deleted", rights=("read", "send"), scope=[gone["_id"]], account="ann")
    product.api("DELETE", f"/channel/{gone['_id']}")
    page = visit("/portal/tokens/", account="admin")
    expect(row(page, soon["name"])).to_contain_text(f"{subject.channel['name']} all of it")
    expect(row(page, soon["name"])).to_contain_text("Ends in 3 days")
    expect(row(page, deleted["name"])).to_contain_text("A deleted place")
    expect(row(page, deleted["name"])).to_contain_text("Read, Send")
    expect(page.get_by_role("row").filter(has_text="Operator")).to_contain_text("Everywhere")
    pictures(page, "tokens", right_to_left=True)
    page.get_by_role("searchbox").fill("ann")
    expect(row(page, deleted["name"])).to_be_visible()
    expect(row(page, soon["name"])).to_have_count(0)
    page.get_by_role("searchbox").fill("no such token")
    expect(page.get_by_text("Nothing fits")).to_be_visible()
    pictures(page, "tokens-none", at_length=True)
    page.get_by_role("button", name="Show all tokens").click()
    expect(row(page, soon["name"])).to_be_visible()


def test_communicators_have_their_own_tokens(product, visit, pictures):
    account = product.new_account("nils")
    page = visit("/portal/tokens/", account=account, confirmed=True)
    expect(page.get_by_role("heading", name="No tokens yet")).to_be_visible()
    pictures(page, "tokens-empty", right_to_left=True)
    page.get_by_role("button", name="Make the first token…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("checkbox")).to_have_count(2)
    dialog.get_by_role("button", name="Make token").click()
    expect(dialog.get_by_text("Please fill this in.")).to_be_visible()
    dialog.get_by_role("textbox", name="Name").fill("Door")
    dialog.get_by_role("checkbox", name="Send").uncheck()
    dialog.get_by_role("button", name="Make token").click()
    expect(dialog.get_by_text("Choose at least one.")).to_be_visible()
    dialog.get_by_role("checkbox", name="Read").check()
    dialog.get_by_role("button", name="Make token").click()
    expect(page.get_by_role("textbox", name="Try it")).to_contain_text("/message?limit=5")
    page.get_by_role("button", name="I have kept it").click()
    expect(row(page, "Door")).to_be_visible()
    pictures(page, "tokens-one", at_length=True)


def test_new_token_by_keyboard(product, visit):
    subject = product.new_subject("Typed")
    name = product.unique("Typed")
    page = visit("/portal/tokens/", account="admin", confirmed=True)
    page.get_by_role("button", name="New token…").focus()
    page.keyboard.press("Enter")
    page.keyboard.type(name)
    for key in ("Tab", "Tab", "Tab", "Tab"):
        page.keyboard.press(key)
    expect(page.get_by_role("combobox", name="Where it works")).to_be_focused()
    page.keyboard.type(subject.name)
    expect(page.get_by_role("listbox", name="Places").get_by_role("option")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=f"{name} is ready")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="I have kept it").press("Enter")
    expect(row(page, name).get_by_role("button")).to_be_focused()


def test_secret_can_be_copied(product, visit):
    page = visit("/portal/tokens/", account="admin", confirmed=True)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="New token…").click()
    page.get_by_role("dialog").get_by_role("textbox", name="Name").fill(product.unique("Copied"))
    page.get_by_role("button", name="Make token").click()
    secret = page.get_by_role("textbox", name="Secret").inner_text()
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    assert status_of(product, secret) == 200
