"""The core of the web app in a page without anything else: its modules and those of the cases come from their folders."""

import pathlib

FOLDER = pathlib.Path(__file__).parents[1]
TOP = FOLDER.parents[1]
APP = TOP / "Services" / "Gateway" / "App" / "AppFiles"
FOLDERS = {"core": APP / "core", "professor": APP / "professor", "cases": FOLDER / "cases"}
# A browser takes this host for a secure connection, which locks need, even without TLS.
SECURE, INSECURE = "http://localhost", "http://app.test"


def serve(route):
    """Answers a request for a file, or with an empty page."""
    folder, _, name = route.request.url.split("/", 3)[3].partition("/")
    if folder in FOLDERS:
        route.fulfill(body=(FOLDERS[folder] / name).read_text(), content_type="text/javascript")
    else:
        route.fulfill(body="<!doctype html><title>The core of the app</title>", content_type="text/html")


def core_context(browser, **options):
    """A browser without data."""
    context = browser.new_context(**options)
    for site in (SECURE, INSECURE):
        context.route(f"{site}/**", serve)
    return context


def core_page(context, site=SECURE):
    page = context.new_page()
    page.goto(site)
    return page


def run(page, body, argument=None):
    """Runs the body of a function in a page. It has `argument` and what cases/app.js exports. What `it` is set to stays for the next body."""
    names = "appWith, started, ended, evict, shown, until, askedOf"
    return page.evaluate(f"async (argument) => {{ const {{ {names} }} = await import('/cases/app.js'); {body} }}", argument)
