"""What is true of every page in every state."""

from axe_playwright_python.sync_playwright import Axe

RULES = {
    "resultTypes": ["violations"],
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
}
axe = Axe()


def check(page):
    """No violation of WCAG 2.2 AA that axe finds, nothing wider than the window, and a document with a language, title and heading."""
    # A transition shows colours that do not stay.
    page.evaluate("Promise.all(document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished.catch(() => {})))")
    violations = [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in axe.run(page, options=RULES).response["violations"]
        for node in violation["nodes"]
    ]
    assert not violations, "\n".join([page.url, *violations])
    width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width[0] <= width[1], f"{page.url} is {width[0]} pixels wide in a window of {width[1]}"
    document = page.evaluate("({ lang: document.documentElement.lang, dir: document.documentElement.dir, title: document.title, h1: [...document.querySelectorAll('h1')].filter((one) => one.checkVisibility()).length })")
    assert document["lang"] and document["dir"] in ("ltr", "rtl") and document["title"] and document["h1"] == 1, document
