"""A message that goes by FCM and to browsers: its page says of each how far it is."""

import pytest
from playwright.sync_api import expect


def test_both_ways(product, visit):
    subject = product.new_subject("Storms", distribution="Alert", level="Forced")
    key = product.send(subject, "Campus closed", desc="Please stay at home")
    product.wait_for_state(key, "relayed")
    page = visit(f"/portal/message/?key={key}")
    for step in ("The pop-up went out", "The message in the app went out", "The push to browsers went out", "To 0 browsers that have subscribed."):
        expect(page.get_by_text(step)).to_be_visible()


@pytest.mark.at_length
def test_the_way_to_browsers_waits(spare_product, visit):
    """FCM has the message already, and phones show it."""
    subject = spare_product.new_subject("Storms", distribution="Alert", level="Forced")
    with spare_product.away("msi-webpush"):
        key = spare_product.send(subject, "Campus closed", desc="Please stay at home")
        page = visit(f"/portal/message/?key={key}")
        expect(page.get_by_text("The pop-up went out")).to_be_visible()
        expect(page.get_by_text("The push to browsers waits")).to_be_visible()
        expect(page.get_by_role("link", name="Sending works, pushes to browsers wait")).to_be_visible()
    expect(page.get_by_text("The push to browsers went out")).to_be_visible()
