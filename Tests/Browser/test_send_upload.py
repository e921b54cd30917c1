"""A picture of this device in an Alert: the browser makes it small, and the hub keeps it where phones fetch it."""

import random

from browsing.uploads import chosen, png
from playwright.sync_api import expect

from test_send import compose, options, write

ADDRESS = "https://hub.example.org/pictures/6b0187feff0dafac2833f431.jpg"
# Keeps what the page sends: Chromium does not tell who answers in the hub's place about a body that is a file.
WATCH = """() => {
    const { fetch } = window;
    window.sent = [];
    window.fetch = async (path, options) => {
        const { body } = options ?? {};
        if (body instanceof Blob) window.sent.push([body.size, ...new Uint8Array(await body.slice(0, 2).arrayBuffer())]);
        return fetch(path, options);
    };
}"""


def with_picture(visit, product, **options_of_visit):
    """The form for an Alert, in which the address of a picture is asked for. The preview finds a picture at `ADDRESS`."""
    subject = product.new_subject("Storms", distribution="Alert")
    if not options_of_visit:
        page = compose(visit, subject, "Evacuation", "Leave building C", "By the stairs.")
    else:
        page = visit(f"/portal/send/?subject={subject.topic_key}", **options_of_visit)
        write(page, "Evacuation", "Leave building C", "By the stairs.")
    page.route(ADDRESS, lambda route: route.fulfill(content_type="image/png", body=png()))
    options(page)
    page.get_by_label("Picture", exact=True).select_option("some")
    return page


def choose(page, file):
    page.locator("input[type=file]").set_input_files(file)


def test_upload_a_picture(product, visit, pictures):
    """It arrives smaller than the hub's limit, as another file than that which was chosen."""
    types = []

    def answer(route):
        types.append(route.request.headers["content-type"])
        route.fulfill(status=201, json={"url": ADDRESS})

    page = with_picture(visit, product, routes={"**/pictures": answer})
    expect(page.get_by_role("button", name="Upload a picture…")).to_be_visible()
    pictures(page, "send-picture", right_to_left=False)
    large = png(2_600, 1_300, noise=random.Random(7))
    assert len(large) > 4_000_000
    page.evaluate(WATCH)
    choose(page, chosen(large))
    expect(page.get_by_label("Address of the picture")).to_have_value(ADDRESS)
    expect(page.get_by_text("The picture is uploaded.")).to_be_visible()
    [[size, *begins]] = page.evaluate("window.sent")
    assert types == ["image/jpeg"] and begins == [0xFF, 0xD8] and size <= 1 << 20, (types, begins, size)
    # The draft keeps the address.
    page.reload()
    visit.settle(page)
    options(page)
    expect(page.get_by_label("Address of the picture")).to_have_value(ADDRESS)


def test_a_file_that_is_no_picture(product, visit, pictures):
    page = with_picture(visit, product)
    choose(page, chosen(b"<svg/>", "drawing.png"))
    expect(page.get_by_text("Your browser makes no picture of this file.")).to_be_visible()
    expect(page.get_by_label("Address of the picture")).to_have_attribute("aria-invalid", "true")
    pictures(page, "send-picture-refused", at_length=True)


def test_a_hub_without_a_public_address(product, visit):
    """Phones could not fetch the picture: the page says so, and another one from the web can be named."""
    visit.expect_errors(r"status of 409")
    page = with_picture(visit, product)
    choose(page, chosen(png()))
    expect(page.get_by_text("the hub has no public https address")).to_be_visible()
    page.get_by_label("Address of the picture").fill(ADDRESS)
    expect(page.get_by_text("the hub has no public https address")).to_have_count(0)
    # The other reason of this status.
    many = {"type": "/problems/conflict", "detail": "1000 pictures that you have published have not expired yet, and no more are possible"}
    page.route("**/pictures", lambda route: route.fulfill(status=409, json=many))
    choose(page, chosen(png()))
    expect(page.get_by_text("no more are possible until one expires")).to_be_visible()
