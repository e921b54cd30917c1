"""Links lead to something: those of the documents, and those of the pages."""
import json
import posixpath
import re
from urllib.parse import unquote

from tree import Finding, line

LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"^[ \t]*```.*?^[ \t]*```|`[^`\n]+`", re.M | re.S)

SHARED, VIEWS = "Shared/Pages/Files/", "Shared/App/Files/"
# A program with pages: its sources, and the folders that it serves as one.
PROGRAMS = [
    ("Services/Gateway/", [SHARED, "Services/Gateway/Portal/Files/"]),
    ("Services/Gateway/", [SHARED, VIEWS, "Services/Gateway/App/AppFiles/"]),
    ("Services/Phone/", [SHARED, VIEWS, "Services/Phone/Page/Files/"])]
# The table of a program's pages, and the HTML of all of them.
TABLE, HTML = "pages.json", "page.html"
REFERENCE = re.compile(r'\b(?:href|src)="@files@/([^"@]*)"')
IMPORTED = re.compile(r'\b(?:from|import)\b\s*\(?\s*["\'](\.[^"\']+)["\']')
LINK_IN_PAGE = re.compile(r'\bhref: ["`](/[\w.]+)["`]')
ROUTE = re.compile(r'"(/[\w.]+)"')
PAGE = re.compile(r"[\"'`](/portal/[a-z-]*/)")


def anchors(text):
    """GitHub's names of the headings."""
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    text = re.sub(r"^[ \t]*```.*?^[ \t]*```", "", text, flags=re.M | re.S)
    for heading in re.findall(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", text, re.M):
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = 0
        while (unique := f"{name}-{count}" if count else name) in found:
            count += 1
        found.add(unique)
    return found


def documents(tree):
    for path in tree.names(".md"):
        text = CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), tree.text(path))
        for match in LINK.finditer(text):
            address, _, anchor = match[1].partition("#")
            if re.match(r"\w+:", address):
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(address))) if address else path
            if target not in tree:
                yield Finding(path, line(text, match.start()), f"a link to {match[1]}, and there is no {target}")
            elif anchor and (target not in tree.contents or unquote(anchor) not in anchors(tree.text(target))):
                yield Finding(path, line(text, match.start()), f"a link to {match[1]}, and {target} has no such heading")


def pages(tree):
    for sources, folders in PROGRAMS:
        files = {path.removeprefix(root): path for root in folders for path in tree.names(under=root)}
        languages = sorted({path.split("/")[1] for path in files if path.startswith("text/")})
        known = {f"/portal/{page}/" for page in json.loads(tree.text(files[TABLE]))} if TABLE in files else set()
        # Routes, and pages that another program of the same sources serves.
        for path in tree.names(".swift", under=sources):
            known |= {*ROUTE.findall(tree.text(path)), *PAGE.findall(tree.text(path))}
        for name, path in sorted(files.items()):
            text = tree.text(path)
            for what, place in references(name, text, languages):
                if what not in known and what not in files:
                    yield Finding(path, line(text, place), f"{what} is not served beside {name}")


def references(name, text, languages):
    """What a file of a page refers to: paths of files, and with a / before them those of pages and other routes."""
    if name == HTML:
        for match in REFERENCE.finditer(text):
            yield match[1], match.start()
    if name == TABLE:
        for page, entry in json.loads(text).items():
            texts = [f"text/{language}/{part}.json" for language in languages for part in entry["texts"]]
            for what in [entry["module"], *entry["styles"], *texts]:
                yield what, max(text.find(f'"{page}"'), 0)
    if name.endswith(".js"):
        for match in IMPORTED.finditer(text):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(name), match[1])), match.start()
        for pattern in (PAGE, LINK_IN_PAGE):
            for match in pattern.finditer(text):
                yield match[1], match.start()


RULES = [documents, pages]
