"""The files of the portal and of the phone: every language has every text that the pages show. No browser is needed."""

import json
import pathlib
import posixpath
import re

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2]
SHARED, VIEWS = "Shared/Pages/Files", "Shared/App/Files"
PLURALS = {"en": {"one", "other"}, "ar": {"zero", "one", "two", "few", "many", "other"}}


class Site:
    """The files that a program serves, of several folders. `pages`: each page's module, and its parts of the catalogue."""

    def __init__(self, folders, pages):
        self.folders, self.pages = [FOLDER / folder for folder in folders], pages

    def read(self, path):
        return next(file for folder in self.folders if (file := folder / path).exists()).read_text()

    def parts(self):
        return sorted({path.stem for folder in self.folders for path in (folder / "text" / "en").glob("*.json")})

    def catalogue(self, language, *parts):
        read = (self.read(f"text/{language}/{part}.json") for part in parts)
        return {key: text for part in read for key, text in json.loads(part, object_pairs_hook=unique).items()}

    def modules(self, module):
        """The modules that a page with this module loads, also later."""
        found, waiting = set(), [module]
        while waiting:
            module = waiting.pop()
            if module in found:
                continue
            found.add(module)
            waiting += [
                posixpath.normpath(posixpath.join(posixpath.dirname(module), other))
                for other in re.findall(r'(?:from |import |import\()"(\.[^"]+)"', self.read(module))]
        return found


def unique(pairs):
    """An object that has each key once: the phone's process refuses a catalogue with one twice."""
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), sorted({key for key in keys if keys.count(key) > 1})
    return dict(pairs)


PORTAL = "Services/Gateway/Portal/Files"
PAGES = json.loads((FOLDER / PORTAL / "pages.json").read_text())
SITES = [
    Site([SHARED, PORTAL], {name: (page["module"], page["texts"]) for name, page in PAGES.items()}),
    Site([SHARED, VIEWS, "Services/Gateway/App/AppFiles"], {
        "app": ("app.js", ["app", "people", "study"]),
        "professor": ("professor/professor.js", ["app", "people", "study", "professor"])}),
    Site([SHARED, VIEWS, "Services/Phone/Page/Files"], {"phone": ("phone.js", ["app"])})]


def forms(text):
    return text if isinstance(text, dict) else {"other": text}


def blanks(text):
    return set(re.findall(r"\{(\w+)\}", text))


@pytest.mark.parametrize("site,part", [(site, part) for site in SITES for part in site.parts()])
def test_languages_have_the_same_texts(site, part):
    english, arabic = site.catalogue("en", part), site.catalogue("ar", part)
    assert set(english) == set(arabic)
    for key in english:
        for language, text in (("en", english[key]), ("ar", arabic[key])):
            if isinstance(text, dict):
                assert set(text) == PLURALS[language], f"{language}: {key}"
        # A form for one or two may say the number in words.
        assert blanks(forms(english[key])["other"]) == blanks(forms(arabic[key])["other"]), key


@pytest.mark.parametrize("site,module,parts", [(site, *page) for site in SITES for page in site.pages.values()])
def test_pages_have_their_texts(site, module, parts):
    known = site.catalogue("en", "common", *parts)
    missing = set()
    for module in site.modules(module):
        source = site.read(module)
        missing |= {(module, key) for key in re.findall(r'\bt[nm]?\("([^"]+)"', source) if key not in known}
        # The beginning of a key whose rest is found while the page runs.
        for start in re.findall(r"\bt[nm]?\(`([^`$]+)\$\{", source):
            if not any(key.startswith(start) for key in known):
                missing.add((module, start + "…"))
    assert not missing, missing
