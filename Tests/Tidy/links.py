"""Links lead to something: those of the documents, and those of the pages."""
import posixpath
import re
from urllib.parse import unquote

from tree import Finding, line

LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"^[ \t]*```.*?^[ \t]*```|`[^`\n]+`", re.M | re.S)

SHARED = "Shared/Pages/Files/"
# A program with pages: its sources, the folder of its pages in there, and the path at which it serves that folder.
PROGRAMS = [("Services/Gateway/", "Portal/Files/", "/portal/files/"), ("Services/Phone/", "Page/Files/", "/files/")]
REFERENCE = re.compile(r'\b(?:href|src)="(/[^"]*)"')
IMPORTED = re.compile(r'\b(?:from|import)\b\s*\(?\s*["\'](\.[^"\']+)["\']')
TEXTS = re.compile(r'\bdata-text="([^"]*)"')
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
    for sources, folder, served in PROGRAMS:
        # The program serves the shared files and its own as one folder.
        files = {path.removeprefix(root): path for root in (SHARED, sources + folder) for path in tree.names(under=root)}
        languages = sorted({path.split("/")[1] for path in files if path.startswith("text/")})
        routes = {route for path in tree.names(".swift", under=sources) for route in ROUTE.findall(tree.text(path))}
        for name, path in sorted(files.items()):
            text = tree.text(path)
            for what, place in references(name, text, served, languages):
                if not exists(what, files, routes):
                    yield Finding(path, line(text, place), f"{what} is not served beside {name}")


def references(name, text, served, languages):
    """What a file of a page refers to: paths of files, of pages with a / at both ends, and of other routes with one before."""
    if name.endswith(".html"):
        for match in REFERENCE.finditer(text):
            path = match[1].partition("?")[0].partition("#")[0]
            if path.startswith(served):
                file = path.removeprefix(served).partition("/")[2]
                for language in languages if "@language@" in file else [""]:
                    yield file.replace("@language@", language), match.start()
            else:
                yield path, match.start()
        for match in TEXTS.finditer(text):
            for part in match[1].split():
                for language in languages:
                    yield f"text/{language}/{part}.json", match.start()
    if name.endswith(".js"):
        for match in IMPORTED.finditer(text):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(name), match[1])), match.start()
        for match in PAGE.finditer(text):
            yield match[1], match.start()


def exists(what, files, routes):
    page = re.fullmatch(r"/(?:portal/([a-z-]*)/)?", what)
    if page:
        return posixpath.join(page[1] or "", "index.html") in files
    return what in routes if what.startswith("/") else what in files


RULES = [documents, pages]
