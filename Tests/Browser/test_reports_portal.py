"""Reports of messages between people, for super users: that one message, and no other."""

import re

import pytest
from browsing.uploads import download, png, upload
from harness.study import student
from harness.waiting import eventually
from playwright.sync_api import expect

UNKNOWN = "0123456789abcdef01234567"


def friends(product, *names):
    one, other = (student(product, name) for name in names)
    one.ask(other)
    other.ask(one)
    return one, other


def send(sender, to, **content):
    return sender.request("POST", "/user/messages", {"to": to.account, **content})["id"]


def report(reporter, account, message, **content):
    """Reports a message, and returns the verdict."""
    return reporter.request("POST", "/user/reports", {"message": message, "account": account.account, **content})["verdict"]


def row(page, *texts):
    found = page.get_by_role("listitem").filter(has=page.locator("details"))
    for text in texts:
        found = found.filter(has_text=text)
    return found


def opened(page, *texts):
    found = row(page, *texts)
    found.locator("summary").click()
    return found


@pytest.fixture
def pair(product):
    return friends(product, "rita", "sam")


def test_a_report_is_read_and_closed(product, visit, pair, pictures):
    rita, sam = pair
    secret, insult = "The key is under the mat.", "You are a fool, and everybody knows."
    send(sam, rita, text=secret)
    assert report(rita, sam, send(sam, rita, text=insult), text=insult, reason="He does this every day.") == "genuine"
    page = visit("/portal/reports/", account="admin")
    line = row(page, f"{rita.account} reports a message of {sam.account}", "Verified")
    expect(line).to_contain_text("Open")
    # Nobody reads a message by looking at the list.
    assert insult not in page.content()
    pictures(page, "reports", right_to_left=True)
    found = opened(page, rita.account)
    expect(found).to_contain_text("The audit log keeps that you have shown it.")
    found.get_by_role("button", name="Show the message").click()
    expect(found.get_by_text(insult)).to_be_visible()
    expect(found).to_contain_text("He does this every day.")
    expect(found).to_contain_text(f"{sam.account} has sent this to {rita.account}, as it is shown here.")
    assert secret not in page.content()
    pictures(page, "reports-message", right_to_left=True, arrange=lambda other: opened(other, rita.account).get_by_role("button").first.click())
    found.get_by_role("button", name="Close the report").click()
    expect(page.get_by_text("The report is closed.")).to_be_visible()
    expect(found).to_contain_text(re.compile(r"Closed \w"))
    expect(found.get_by_role("button", name="Close the report")).to_have_count(0)
    page.reload()
    visit.settle(page)
    expect(row(page, rita.account)).to_have_count(0)
    page.get_by_role("button", name="All", exact=True).click()
    expect(row(page, rita.account)).to_contain_text("Closed")

    reports = product.api("GET", "/reports", account="admin")["reports"]
    [number] = [each["id"] for each in reports if each["account"] == sam.account]
    eventually("the entries of the audit log", lambda: len(product.api("GET", f"/audit?object={number}")["entries"]) >= 2)
    audit = visit(f"/portal/audit/?object={number}", account="admin")
    for text in (f"admin read a reported message of {sam.account}", f"admin closed a report of a message of {sam.account}"):
        expect(audit.get_by_role("listitem").filter(has_text=text).first).to_be_visible()
    assert insult not in str(product.api("GET", f"/audit?object={number}"))


def test_what_was_not_sent_so_is_marked(product, visit, pair, pictures):
    rita, sam = pair
    assert report(rita, sam, send(sam, rita, text="See you at three."), text="Give me your money.") == "forged"
    assert report(rita, sam, UNKNOWN, text="I never wrote this.") == "unverifiable"
    page = visit("/portal/reports/", account="admin")
    forged = opened(page, rita.account, "Not what was sent")
    forged.get_by_role("button", name="Show the message").click()
    expect(forged.get_by_text("Give me your money.")).to_be_visible()
    expect(forged).to_contain_text("The report was changed.")
    assert "See you at three." not in page.content()
    unknown = opened(page, rita.account, "Cannot be verified")
    unknown.get_by_role("button", name="Show the message").click()
    expect(unknown).to_contain_text("may never have sent it.")
    expect(unknown).to_contain_text("Not known")
    pictures(page, "reports-forged")


def test_a_reported_picture(product, visit, pair, pictures):
    rita, sam = pair
    message = send(sam, rita, picture=upload(sam, png(160, 120)))
    evidence = upload(rita, download(rita, f"/user/messages/{message}/picture"), "/user/pictures?report=true")
    assert report(rita, sam, message, picture=evidence) == "genuine"
    page = visit("/portal/reports/", account="admin")
    found = opened(page, rita.account)
    found.get_by_role("button", name="Show the message").click()
    picture = found.get_by_role("img", name="The reported picture")
    expect(picture).to_be_visible()
    eventually("the picture", lambda: picture.evaluate("(each) => each.naturalWidth") == 160)
    pictures(page, "reports-picture", at_length=True)


def test_others_read_no_reports(visit):
    page = visit("/portal/reports/", account="ann")
    expect(page.get_by_role("heading", name="Only super users read reports")).to_be_visible()
    expect(page.get_by_role("link", name="Reports")).to_have_count(0)


def test_without_reports(empty_product, visit, pictures):
    page = visit("/portal/reports/", account="admin")
    expect(page.get_by_role("heading", name="No open reports")).to_be_visible()
    pictures(page, "reports-none")
