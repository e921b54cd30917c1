"""The fixtures of the browser tests; README.md says how to use them."""

import os
import pathlib

import pytest
from playwright.sync_api import expect, sync_playwright

from browsing import pushes
from browsing.checks import check as check_page
from browsing.firefox import Firefox
from browsing.pictures import FOLDER, Pictures
from browsing.visits import CHROMIUM, Visits
from harness.phone import Phone
from harness.product import Product
from harness.push_service import PushService
from harness.university import University

# It only bounds the wait: a slow machine passes, and a condition that never comes true still fails.
expect.set_options(timeout=45_000)


def pytest_addoption(parser):
    default = pathlib.Path(__file__).parents[2] / ".build" / "release"
    parser.addoption("--executables", default=str(default), help="the folder of the built executables")
    parser.addoption("--pictures", action="store_true", help="also takes pictures of each state in all variants, and checks each variant")


def pytest_collection_modifyitems(config, items):
    """Level one leaves out what proves the same at more length, such as in another role, language or browser: `at_length`."""
    if config.getoption("pictures") or os.environ.get("TEST_LEVEL") == "all":
        return
    left_out = [item for item in items if item.get_closest_marker("at_length")]
    if left_out:
        items[:] = [item for item in items if not item.get_closest_marker("at_length")]
        config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        fixtures = getattr(item, "funcargs", {}).items()
        for product in {id(value): value for _, value in fixtures if isinstance(value, Product)}.values():
            report.sections.append(("The product's logs", product.logs()))
        for visits in [value for _, value in fixtures if isinstance(value, Visits)]:
            report.sections.append(("Open pages", "\n".join(failure_pictures(item.name, visits))))
    return report


def failure_pictures(name, visits):
    """Keeps pictures of the pages that a failed test has open, and says where."""
    for number, page in enumerate(page for context in visits.contexts for page in context.pages):
        path = FOLDER / "failures" / f"{name}-{number}.png"
        try:
            page.screenshot(path=path)
            yield f"{path}: {page.url}"
        except Exception as error:
            yield f"no picture of {page.url}: {error}"


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    browser = playwright.chromium.launch(**CHROMIUM)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def whole_chromium(playwright):
    """The browser of tests that show notifications."""
    browser = playwright.chromium.launch(**pushes.CHROMIUM)
    yield browser
    browser.close()


# The products of the session.
running = []


def running_product(request, **options):
    product = Product(request.config.getoption("executables"), **options)
    running.append(product)
    yield product
    # At the end of the session all of them stop at the same time.
    for each in running:
        each.end()
    product.stop()


@pytest.fixture(scope="session")
def product(request):
    """The product that most tests share. Each uses its own subjects, accounts and texts, so that tests do not disturb each other."""
    yield from running_product(request)


@pytest.fixture(scope="session")
def spare_product(request):
    """A product for tests that kill or stop its services. Each test leaves it healthy."""
    yield from running_product(request)


@pytest.fixture(scope="session")
def empty_product(request):
    """A product to which no test adds anything that another one would see."""
    yield from running_product(request)


@pytest.fixture(scope="session")
def study_product(request):
    """A product whose hosts have less time to come back after they have left their study session."""
    yield from running_product(request, settings=lambda product: {"MSI_STUDY_GRACE": "10"})


@pytest.fixture(scope="session")
def push_service():
    """The push service that the browsers of `push_product` use."""
    service = PushService()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def push_product(request, push_service):
    """A product that sends pushes to the push service of the tests."""
    yield from running_product(request, settings=lambda product: {"MSI_WEBPUSH_HOSTS": push_service.url})


@pytest.fixture(scope="session")
def phones_product(push_product):
    """The product of phones and apps, which would get every subject and broadcast of other tests. Its tests delete and withdraw theirs."""
    return push_product


@pytest.fixture(scope="session")
def product_without_fcm(request, push_service):
    """A product whose main way is Web Push, to the push service of the tests. Apps can fetch an Alert that has waited for it for a second."""
    settings = {"MSI_FCM": "off", "MSI_WEBPUSH_HOSTS": push_service.url, "MSI_ALERT_FETCH_DELAY": "1"}
    yield from running_product(request, settings=lambda product: settings)


@pytest.fixture(scope="session")
def university():
    """The provider at which people of `university_product` sign in."""
    university = University()
    yield university
    university.stop()


@pytest.fixture(scope="session")
def university_product(request, university):
    """A product whose people can sign in at the university, as the students of an imported list do."""
    yield from running_product(request, settings=university.settings)


def running_firefox(request, push_service, folder):
    firefox = Firefox(folder / "firefox", push_service)
    failures = request.session.testsfailed
    try:
        firefox.start()
        yield firefox
    finally:
        if request.session.testsfailed > failures:
            print(firefox.log.read_text(errors="replace")[-3000:])
        firefox.quit()


@pytest.fixture
def firefox(request, push_service, tmp_path):
    """A Firefox that runs; see `Firefox`."""
    yield from running_firefox(request, push_service, tmp_path)


@pytest.fixture(scope="module")
def shared_firefox(request, push_service, tmp_path_factory):
    """The Firefox of all tests of a file, each of which begins with `forget()`."""
    yield from running_firefox(request, push_service, tmp_path_factory.mktemp("shared"))


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
    """Opens pages; see `Visits`. A test that uses `spare_product` or `empty_product` gets pages of that one."""
    named = [name for name in ("spare_product", "empty_product") if name in request.fixturenames]
    visits = Visits(browser, request.getfixturevalue(named[0] if named else "product"))
    yield visits
    errors = visits.unexpected_errors()
    visits.close()
    assert not errors, "the browser's console:\n" + "\n".join(errors)


@pytest.fixture
def check():
    """Checks a page: `check(page)`."""
    return check_page


@pytest.fixture
def pictures(request, visit):
    """Checks the state of a page: `pictures(page, "send-empty")`. With `--pictures` it also takes pictures; see `Pictures`."""
    return Pictures(visit, request.config.getoption("pictures"))
