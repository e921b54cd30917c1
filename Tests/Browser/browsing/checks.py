"""What is true of every page in every state."""

from axe_playwright_python.sync_playwright import Axe

TAGS = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
CONTRAST = {"type": "rule", "values": ["color-contrast"]}
SCRIPT = Axe().axe_script


def dialogs(page):
    """The open dialogs and questions."""
    return page.get_by_role("dialog").or_(page.get_by_role("alertdialog"))


def check(page):
    """No violation of WCAG 2.2 AA that axe finds, nothing wider than the window, and a document with a language, title and heading."""
    finish_transitions(page)
    check_rules(page, TAGS)
    check_width(page)
    document = page.evaluate("({ lang: document.documentElement.lang, dir: document.documentElement.dir, title: document.title, h1: [...document.querySelectorAll('h1')].filter((one) => one.checkVisibility()).length })")
    assert document["lang"] and document["dir"] in ("ltr", "rtl") and document["title"] and document["h1"] == 1, document


def check_contrast(page):
    """The colours have enough contrast."""
    finish_transitions(page)
    check_rules(page, CONTRAST)


def check_width(page):
    """Nothing is wider than the window."""
    width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width[0] <= width[1], f"{page.url} is {width[0]} pixels wide in a window of {width[1]}"


def finish_transitions(page):
    """A transition shows colours that do not stay."""
    page.evaluate("document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).forEach((one) => one.finish())")


def check_rules(page, rules):
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    violations = page.evaluate("(options) => axe.run(document, options).then(({ violations }) => violations)", {"resultTypes": ["violations"], "runOnly": rules})
    found = [f"{violation['id']}: {node['target']} {node['failureSummary']}" for violation in violations for node in violation["nodes"]]
    assert not found, "\n".join([page.url, *found])
