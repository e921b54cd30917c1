"""The files of the portal: every language has every text that the pages show, and pages name their modules. No browser is needed."""

import json
import pathlib
import re

import pytest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
FILES = SOURCES / "Services" / "Gateway" / "Portal" / "Files"
SHARED = SOURCES / "Shared" / "Pages" / "Files"
TEXTS = FILES / "text"
PLURALS = {"en": {"one", "other"}, "ar": {"zero", "one", "two", "few", "many", "other"}}
PARTS = sorted(path.stem for path in (TEXTS / "en").glob("*.json"))


def catalogue(language, *parts):
    return {key: text for part in parts for key, text in json.loads((TEXTS / language / f"{part}.json").read_text()).items()}


def forms(text):
    return text if isinstance(text, dict) else {"other": text}


def blanks(text):
    return set(re.findall(r"\{(\w+)\}", text))


def pages():
    """Each page with the parts of the catalogue that it names."""
    for path in sorted(FILES.rglob("index.html")):
        named = re.search(r'data-text="([^"]*)"', path.read_text())
        yield path.parent, named.group(1).split() if named else []


def modules(page, pattern=r'(?:from |import |import\()"(\.[^"]+)"'):
    """The modules that a page loads, by default also later."""
    entries = re.findall(r'src="/portal/files/@version@/([^"]+)"', (page / "index.html").read_text())
    found, waiting = set(), [FILES / entry for entry in entries]
    while waiting:
        module = waiting.pop().resolve()
        if module in found:
            continue
        found.add(module)
        waiting += [module.parent / other for other in re.findall(pattern, module.read_text(), re.MULTILINE)]
    return found


@pytest.mark.parametrize("part", PARTS)
def test_languages_have_the_same_texts(part):
    english, arabic = catalogue("en", part), catalogue("ar", part)
    assert set(english) == set(arabic)
    for key in english:
        for language, text in (("en", english[key]), ("ar", arabic[key])):
            if isinstance(text, dict):
                assert set(text) == PLURALS[language], f"{language}: {key}"
        # A form for one or two may say the number in words.
        assert blanks(forms(english[key])["other"]) == blanks(forms(arabic[key])["other"]), key


@pytest.mark.parametrize("page,parts", list(pages()), ids=lambda value: value.name if isinstance(value, pathlib.Path) else None)
def test_pages_have_their_texts(page, parts):
    known = catalogue("en", "common", *parts)
    missing = set()
    for module in modules(page):
        source = module.read_text()
        missing |= {(module.name, key) for key in re.findall(r'\bt[nm]?\("([^"]+)"', source) if key not in known}
        # The beginning of a key whose rest is found while the page runs.
        for start in re.findall(r"\bt[nm]?\(`([^`$]+)\$\{", source):
            if not any(key.startswith(start) for key in known):
                missing.add((module.name, start + "…"))
    assert not missing, missing


@pytest.mark.parametrize("page", [page for page, _ in pages()], ids=lambda page: page.name)
def test_pages_name_all_modules_that_they_load_at_once(page):
    """Otherwise the browser learns of each module only from the one that imports it."""
    html = (page / "index.html").read_text()
    named = set(re.findall(r'<link rel="modulepreload" href="/portal/files/@version@/([^"]+)">', html))
    imported = {str(module.relative_to(FILES)) for module in modules(page, r'^(?:import|export) (?:[^;()]*? from )?"(\.[^"]+)"')}
    assert named == {module for module in imported if f'src="/portal/files/@version@/{module}"' not in html}
