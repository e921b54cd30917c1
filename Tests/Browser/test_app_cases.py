"""The cases that every student's app passes (Tests/AppCases), with the web app's core in Chromium: no product runs, and no page shows it."""

import json
import unittest

import pytest

from browsing.core import TOP, core_context, core_page

CASES = [(path.stem, case) for path in sorted((TOP / "Tests" / "AppCases").glob("*.json")) for case in json.loads(path.read_text())]


@pytest.fixture(scope="module")
def page(browser):
    context = core_context(browser)
    yield core_page(context)
    context.close()


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{file}: {case['name']}") for file, case in CASES])
def test_case(page, case):
    if "library" in case:
        raise unittest.SkipTest(case["library"])
    wrong = page.evaluate("async (one) => (await import('/cases/runner.js')).runCase(one)", case)
    assert wrong is None, json.dumps(wrong, indent=2, ensure_ascii=False)
