"""The fixtures of the browser tests; README.md says how to use them."""

import pathlib

import pytest
from playwright.sync_api import expect, sync_playwright

from harness.checks import check as check_page
from harness.phone import Phone
from harness.pictures import FOLDER, Pictures
from harness.product import Product
from harness.visits import Visits

# A busy machine is slow; a condition that never comes true still fails.
expect.set_options(timeout=15_000)


def pytest_addoption(parser):
    default = pathlib.Path(__file__).parents[2] / ".build" / "release"
    parser.addoption("--executables", default=str(default), help="the folder of the built executables")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and "visit" in getattr(item, "funcargs", {}):
        keep_failure(item)
    return report


def keep_failure(item):
    """Keeps pictures of the pages that a failed test has open."""
    for number, page in enumerate(page for context in item.funcargs["visit"].contexts for page in context.pages):
        path = FOLDER / "failures" / f"{item.name}-{number}.png"
        try:
            page.screenshot(path=path)
            print(f"{path}: {page.url}")
        except Exception as error:
            print(f"no picture of {page.url}: {error}")


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        # Debian's Chromium. Its sandbox needs rights that a container does not have, and only our own pages are opened. A container's
        # shared memory is small.
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


def running_product(request):
    product = Product(request.config.getoption("executables"))
    failures = request.session.testsfailed
    yield product
    if request.session.testsfailed > failures:
        print(product.logs())
    product.stop()


@pytest.fixture(scope="session")
def product(request):
    """The product that all tests share. Each test uses a subject of its own, so that tests do not disturb each other."""
    yield from running_product(request)


@pytest.fixture
def own_product(request):
    """A product for one test, which kills services or needs an empty archive. It takes a few seconds to start."""
    yield from running_product(request)


@pytest.fixture
def phones(request, product):
    """Starts simulated phones beside the product: `phones()`, or `phones(platform="ios")`; see `Phone`."""
    started = []

    def start(**control):
        started.append(Phone(product, **control))
        return started[-1]

    failures = request.session.testsfailed
    yield start
    if request.session.testsfailed > failures:
        for phone in started:
            print(f"--- {phone.log.name}\n{phone.log.read_text(errors='replace')[-3000:]}")
    for phone in started:
        phone.stop()


@pytest.fixture
def visit(request, browser):
    """Opens pages; see `Visits`. A test that uses `own_product` gets pages of that one."""
    product = request.getfixturevalue("own_product" if "own_product" in request.fixturenames else "product")
    visits = Visits(browser, product)
    yield visits
    errors = visits.unexpected_errors()
    visits.close()
    assert not errors, "the browser's console:\n" + "\n".join(errors)


@pytest.fixture
def check():
    """Checks a page: `check(page)`."""
    return check_page


@pytest.fixture
def pictures(visit):
    """Saves pictures of a page in all variants, and checks each: `pictures(page, "send-empty")`; see `Pictures`."""
    return Pictures(visit)
