"""The overview: messages by day and state, what waits, and the health of every service."""

import re

import pytest
from harness.push_service import Receiver
from playwright.sync_api import expect

from test_send import at_once, compose, sent


def test_overview(product, visit, pictures):
    subject = product.new_subject("Counted")
    key = product.send(subject, "One more")
    product.wait_for_state(key, "relayed")
    page = visit("/portal/overview/", clock=True)
    tile = page.get_by_role("link", name=re.compile("messages today"))
    before = int(re.match(r"[\d,]+", tile.inner_text()).group().replace(",", ""))
    assert before >= 1
    for service in ("This portal", "Storing messages", "The way to Google", "Google’s service for phones (FCM)", "Channels and subjects", "Accounts and sign-ins"):
        expect(page.get_by_role("listitem").filter(has=page.get_by_text(service, exact=False)).filter(has_text="Works").first).to_be_visible()
    pictures(page, "overview", right_to_left=True)
    product.wait_for_state(product.send(subject, "And another"), "relayed")
    visit.after(page, 30, "another message", lambda: re.match(rf"\s*{before + 1:,}", tile.inner_text()))


def test_the_plots_have_their_numbers(product, visit):
    def answer(route):
        response = route.fetch()
        statistics = response.json()
        statistics["buckets"][-1]["states"] = {"relayed": 1_203, "retrying": 2, "held": 1, "failed": 4, "recalled": 5}
        route.fulfill(response=response, json=statistics)

    page = visit("/portal/overview/", routes={"**/statistics?**": answer})
    days = page.get_by_role("figure").filter(has=page.get_by_role("img", name=re.compile("Messages by day")))
    days.get_by_text("Show the numbers").click()
    expect(days.get_by_role("row").filter(has_text="Today")).to_have_text(re.compile(r"Today\s*1,203\s*3\s*4\s*5"))


def test_what_waits_is_told_apart(product, visit, pictures):
    def answer(scheduled, held):
        def fulfill(route):
            response = route.fetch()
            statistics = response.json()
            statistics.pop("oldest_waiting", None)
            route.fulfill(response=response, json={**statistics, "scheduled": scheduled, "states": {**statistics["states"], "held": held}})
        return fulfill

    page = visit("/portal/overview/", routes={"**/statistics?**": answer(1, 2)})
    expect(page.get_by_text("No message that should be out by now is still waiting. 1 goes out later, at its time. 2 are held until somebody approves or releases them.")).to_be_visible()
    pictures(page, "overview-waiting", right_to_left=True)
    page = visit("/portal/overview/", routes={"**/statistics?**": answer(0, 0)})
    expect(page.get_by_text("No message waits.", exact=True)).to_be_visible()


def test_subscribed_browsers(push_product, push_service, visit, pictures):
    page = visit("/portal/overview/", product=push_product, clock=True)
    row = page.get_by_role("listitem").filter(has_text="Pushes to browsers")
    number = re.compile(r"([\d,]+) browsers? ha(?:s|ve) subscribed\.")
    expect(row).to_contain_text(number)
    before = int(number.search(row.inner_text())[1].replace(",", ""))
    subject = push_product.new_subject("Pushed", distribution="Alert")
    end = Receiver(push_service).subscribe(push_product, subject)
    visit.after(page, 30, "another browser", lambda: number.search(row.inner_text())[1] == f"{before + 1:,}")
    pictures(page, "overview-browsers", right_to_left=True)
    end()
    # Phones and apps share this product.
    push_product.api("DELETE", f"/channel/{subject.channel['_id']}")


@pytest.mark.parametrize("language,one", [
    ("en", "1 browser has subscribed."), pytest.param("ar", "متصفح واحد مشترك.", marks=pytest.mark.at_length)])
def test_one_subscribed_browser(push_product, visit, language, one):
    counts = {"subscriptions": 1, "proven": 1, "hosts": []}
    page = visit("/portal/overview/", product=push_product, language=language, routes={"**/app/push/count": lambda route: route.fulfill(json=counts)})
    expect(page.locator(".services")).to_contain_text(one)


def test_relay_away(spare_product, visit, pictures):
    """Messages are kept. The sender of an Alert is told before and after sending."""
    page = visit("/portal/overview/")
    subject = spare_product.new_subject("Waits", distribution="Alert")
    form = compose(visit, subject, desc="Stay at home")
    at_once(form)
    with spare_product.away("msi-fcm-relay"):
        expect(page.get_by_role("listitem").filter(has_text="go out when it is open again").first).to_be_visible()
        spare_product.send(subject, "Waits for the relay")
        expect(page.get_by_role("link", name="Waits for the relay")).to_be_visible()
        pictures(page, "overview-relay-away")
        expect(form.get_by_role("link", name=re.compile("Messages are kept"))).to_be_visible()
        form.get_by_role("button", name="Send alert…").click()
        question = form.get_by_role("dialog")
        expect(question).to_contain_text("use a second way as well")
        question.get_by_role("button", name="Send alert", exact=True).click()
        expect(form.get_by_role("heading", name="It waits: not sent yet")).to_be_visible()
    # The longer it was away, the later is the next attempt.
    expect(sent(form)).to_be_visible(timeout=120_000)
    expect(page.get_by_role("listitem").filter(has_text="Messages are handed to Google.")).to_be_visible()
