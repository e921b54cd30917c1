"""The files of the portal and of the phone: every language has every text that the pages show, and pages name their modules. No browser is
needed."""

import json
import pathlib
import posixpath
import re

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2]
SHARED = FOLDER / "Shared" / "Pages" / "Files"
PLURALS = {"en": {"one", "other"}, "ar": {"zero", "one", "two", "few", "many", "other"}}


class Site:
    """The files that a program serves: its own, and the shared ones."""

    def __init__(self, folder, prefix):
        self.own, self.prefix = FOLDER / folder, prefix

    def read(self, path):
        return next(file for file in (self.own / path, SHARED / path) if file.exists()).read_text()

    def parts(self):
        return sorted(path.stem for path in (self.own / "text" / "en").glob("*.json"))

    def catalogue(self, language, *parts):
        return {key: text for part in parts for key, text in json.loads(self.read(f"text/{language}/{part}.json")).items()}

    def pages(self):
        """Each page with the parts of the catalogue that it names."""
        for path in sorted(self.own.rglob("index.html")):
            named = re.search(r'data-text="([^"]*)"', path.read_text())
            yield path.parent.relative_to(self.own).as_posix(), named.group(1).split() if named else []

    def html(self, page):
        return self.read(posixpath.join(page, "index.html"))

    def modules(self, page, pattern=r'(?:from |import |import\()"(\.[^"]+)"'):
        """The modules that a page loads, by default also later."""
        found, waiting = set(), re.findall(rf'src="{self.prefix}/@version@/([^"]+)"', self.html(page))
        while waiting:
            module = waiting.pop()
            if module in found:
                continue
            found.add(module)
            waiting += [
                posixpath.normpath(posixpath.join(posixpath.dirname(module), other))
                for other in re.findall(pattern, self.read(module), re.MULTILINE)]
        return found


SITES = [Site("Services/Gateway/Portal/Files", "/portal/files"), Site("Services/Phone/Page/Files", "/files")]
PAGES = [pytest.param(site, page, parts, id=f"{site.prefix}/{page}") for site in SITES for page, parts in site.pages()]


def forms(text):
    return text if isinstance(text, dict) else {"other": text}


def blanks(text):
    return set(re.findall(r"\{(\w+)\}", text))


@pytest.mark.parametrize("site,part", [pytest.param(site, part, id=f"{site.prefix}/{part}") for site in SITES for part in site.parts()])
def test_languages_have_the_same_texts(site, part):
    english, arabic = site.catalogue("en", part), site.catalogue("ar", part)
    assert set(english) == set(arabic)
    for key in english:
        for language, text in (("en", english[key]), ("ar", arabic[key])):
            if isinstance(text, dict):
                assert set(text) == PLURALS[language], f"{language}: {key}"
        # A form for one or two may say the number in words.
        assert blanks(forms(english[key])["other"]) == blanks(forms(arabic[key])["other"]), key


@pytest.mark.parametrize("site,page,parts", PAGES)
def test_pages_have_their_texts(site, page, parts):
    known = site.catalogue("en", "common", *parts)
    missing = set()
    for module in site.modules(page):
        source = site.read(module)
        missing |= {(module, key) for key in re.findall(r'\bt[nm]?\("([^"]+)"', source) if key not in known}
        # The beginning of a key whose rest is found while the page runs.
        for start in re.findall(r"\bt[nm]?\(`([^`$]+)\$\{", source):
            if not any(key.startswith(start) for key in known):
                missing.add((module, start + "…"))
    assert not missing, missing


@pytest.mark.parametrize("site,page,parts", PAGES)
def test_pages_name_all_modules_that_they_load_at_once(site, page, parts):
    """Otherwise the browser learns of each module only from the one that imports it."""
    html = site.html(page)
    named = set(re.findall(rf'<link rel="modulepreload" href="{site.prefix}/@version@/([^"]+)">', html))
    imported = site.modules(page, r'^(?:import|export) (?:[^;()]*? from )?"(\.[^"]+)"')
    assert named == {module for module in imported if f'src="{site.prefix}/@version@/{module}"' not in html}
