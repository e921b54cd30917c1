"""The audit log in words."""

import csv
import io
import re

import pytest
from playwright.sync_api import expect

from browsing.visits import SERVICE_AWAY
from harness.product import PASSWORD
from harness.waiting import eventually


def entry(page, text):
    return page.get_by_role("listitem").filter(has_text=text)


def wait_for_entries(product, count, **filters):
    """Waits until the log has so many entries that match: services forward theirs within seconds."""
    query = "&".join(f"{name}={value}" for name, value in filters.items())
    eventually(f"{count} entries with {filters}", lambda: len(product.api("GET", f"/audit?{query}")["entries"]) == count)


def test_audit_shows_a_change_that_was_just_made(product, visit, pictures):
    channel = product.new_channel("Campus")
    area = product.new_area(channel, "Weather")
    page = visit("/portal/audit/", account="admin", clock=True)
    new = product.unique("Climate")
    product.api("PUT", f"/area/{channel['_id']}/{area['id']}", {"name": new, "desc": "Heat and snow"}, account="admin")
    product.api("PUT", f"/area/{channel['_id']}/{area['id']}", {"name": area["name"], "desc": "Heat and snow"}, account="admin")
    sentence = f"admin renamed the area {new} to {area['name']}"
    # It is offered, and does not move what somebody reads.
    news = page.get_by_role("button", name=re.compile("Show .*new change"))
    visit.after(page, 4, "new changes", news.is_visible)
    news.click()
    expect(page.get_by_role("heading", name="Audit log")).to_be_focused()
    # The page that is loaded then shows all of them.
    wait_for_entries(product, 3, object=f"{channel['_id']}-{area['id']}")
    page.reload()
    visit.settle(page)
    found = entry(page, sentence)
    expect(found).to_contain_text("127.0.0.1")
    expect(found).to_contain_text(channel["name"])
    found.locator("summary").press("Enter")
    table = found.get_by_role("table")
    expect(table.get_by_role("row", name=f"Name {new} {area['name']}")).to_be_visible()
    expect(table.get_by_role("row")).to_have_count(2)
    pictures(page, "audit", right_to_left=True, arrange=lambda other: other.locator("summary").first.click())
    found.get_by_role("button", name="All changes of this area").click()
    expect(page).to_have_url(re.compile(f"object={channel['_id']}-{area['id']}"))
    expect(page.get_by_role("listitem").filter(has_text="added the area")).to_have_count(1)
    expect(page.get_by_role("listitem").filter(has=page.locator("summary"))).to_have_count(3)
    pictures(page, "audit-object", at_length=True)


def test_audit_filters_live_in_the_address(product, visit, pictures):
    name = product.unique("olga").replace(" ", "")
    product.command("account", "add", name, typed=PASSWORD)
    product.api("PUT", f"/account/{name}", {"disabled": True})
    product.api("PUT", f"/account/{name}", {"disabled": False})
    product.api("PUT", f"/account/{name}", {"role": "super_user"})
    page = visit("/portal/audit/", account="admin")
    expect(entry(page, f"admin disabled the account {name}")).to_be_visible()
    expect(entry(page, f"admin enabled the account {name}")).to_be_visible()
    expect(entry(page, f"admin made {name} a super user")).to_be_visible()
    page.get_by_role("combobox", name="Kind of change").select_option("Account added")
    expect(entry(page, f"(command line) added the account {name}")).to_be_visible()
    expect(entry(page, f"disabled the account {name}")).to_have_count(0)
    page.get_by_role("combobox", name="When").select_option("Today")
    expect(page).to_have_url(re.compile(r"action=account\.add&period=today"))
    expect(entry(page, f"added the account {name}")).to_be_visible()
    # The address opens the same list elsewhere.
    other = visit.tab(page, page.url)
    expect(entry(other, f"added the account {name}")).to_be_visible()
    expect(other.get_by_role("combobox", name="Kind of change")).to_have_value("account.add")

    page.get_by_role("combobox", name="When").select_option("Dates…")
    page.get_by_label("From").fill("2001-01-01")
    page.get_by_label("Until").fill("2001-12-31")
    expect(page.get_by_text("Nothing happened in this time.")).to_be_visible()
    pictures(page, "audit-none", right_to_left=True)
    page.get_by_role("button", name="Clear the filters").first.click()
    expect(entry(page, f"admin disabled the account {name}")).to_be_visible()

    page.get_by_role("combobox", name="Changes by this account").fill("nobody-at-all")
    expect(page.get_by_text("Nobody with exactly this name has changed anything.")).to_be_visible()
    page.get_by_role("combobox", name="Changes by this account").fill("admin")
    expect(entry(page, f"admin disabled the account {name}")).to_be_visible()
    expect(page).to_have_url(re.compile(r"account=admin$"))


def test_audit_csv_has_the_filters(product, visit):
    name = product.new_account("paul")
    product.api("PUT", f"/account/{name}", {"disabled": True})
    page = visit(f"/portal/audit/?object={name}&action=account.update", account="admin")
    expect(entry(page, f"admin disabled the account {name}")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert [row["action"] for row in rows] == ["account.update"]


def test_audit_shows_messages_in_words(product, visit):
    subject = product.new_subject("Storms", distribution="Alert")
    key = product.send(subject, "Campus closed", account="ann", delay=600)
    product.api("DELETE", f"/message/{key}", account="ann")
    wait_for_entries(product, 2, object=key)
    page = visit(f"/portal/audit/?object={key}", account="admin")
    path = f"{subject.channel['name']} › {subject.area['name']} › {subject.name}"
    expect(entry(page, f"ann sent a message to {path}")).to_be_visible()
    recalled = entry(page, f"ann took back a message to {path}")
    recalled.locator("summary").click()
    expect(recalled.get_by_role("link", name="Open the message")).to_have_attribute("href", f"/portal/message/?key={key}")


def test_audit_every_action_has_a_sentence(visit):
    """Every action of Services/People/AUDIT.md, in both languages; an unknown one has its name."""
    actions = [
        *(f"{kind}.{change}" for kind in ("channel", "area", "subject", "template") for change in ("add", "update", "delete")),
        "broadcast.add", "broadcast.update", "broadcast.withdraw",
        "subject.move", "access.set", "order.set", "approval.set", "cube.foreign_edit", "message.send", "message.edit", "message.recall", "message.retry", "message.approve",
        "account.add", "account.update", "account.link", "account.invite", "account.password", "account.remove", "account.import", "account.unused",
        "access_code.add", "access_code.remove", "access_code.use", "device.end", "device.rotate", "person.erase",
        "class.add", "class.update", "class.give", "class_key.add", "class_key.replace", "class_key.remove", "class_member.update", "class_member.remove",
        "study_session.end", "study_post.remove",
        "account.second_factor.begin", "account.second_factor.confirm", "account.second_factor.remove", "token.add", "token.remove",
        "sign_in.begin", "sign_in.confirm", "sign_in.code", "sign_in.end", "sign_in.oidc.finish", "sign_in.invitation.accept", "sign_in.limited", "audit.substitute", "unknown.thing"]
    entries = [{"number": number, "hash": "0" * 64, "entry": {
        "id": f"{number:024}", "at": 1795262462399, "actor": "ann", "address": "192.0.2.7", "action": action,
        "object": {"kind": action.split(".")[0], "id": "thing"}}} for number, action in enumerate(actions)]
    for language in ("en", "ar"):
        page = visit("/portal/audit/", account="admin", language=language, routes={"**/audit?**": lambda route: route.fulfill(json={"entries": entries})})
        expect(page.locator("summary")).to_have_count(len(actions))
        plain = [text for text in page.locator("summary").all_inner_texts() if re.search(r"\w+\.\w+\.?\w* ", text.replace("192.0.2.7", ""))]
        assert len(plain) == 1 and "unknown.thing" in plain[0]
        options = page.locator("select").first.locator("option").all_inner_texts()
        assert len(options) == len(actions) and not any(re.search(r"\w\.\w", option) for option in options)


def test_audit_shows_more(visit, pictures):
    def answer(route):
        start = int(route.request.url.partition("after=")[2] or 0)
        entries = [{"number": 900 - number, "hash": "0" * 64, "entry": {
            "id": f"{number:024}", "at": 1795262462399 - number * 600_000, "actor": "ann", "address": "192.0.2.7", "action": "sign_in.begin",
            "object": {"kind": "account", "id": "ann"}}} for number in range(start, start + 50)]
        route.fulfill(json={"entries": entries, **({"next": f"/audit?limit=50&after={start + 50}"} if start < 100 else {})})

    page = visit("/portal/audit/", account="admin", routes={"**/audit?**": answer})
    expect(page.locator("summary")).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator("summary")).to_have_count(100)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator("summary")).to_have_count(150)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


@pytest.mark.at_length
def test_audit_service_away(spare_product, visit, pictures):
    visit.expect_errors(SERVICE_AWAY)
    page = visit("/portal/account/", account="admin")
    with spare_product.away("msi-people"):
        page.goto("/portal/audit/")
        expect(page.get_by_role("alert")).to_contain_text("Changes are still recorded")
        pictures(page, "audit-away")
    expect(page.locator("summary").first).to_be_visible()


def test_communicators_see_no_audit_log(visit):
    page = visit("/portal/audit/", account="ann")
    expect(page.get_by_role("heading", name="Only super users read the audit log")).to_be_visible()
