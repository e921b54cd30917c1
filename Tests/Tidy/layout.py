"""Which files there are."""
import re

from tree import Finding

TOP_LEVEL = {"Package.swift", "README.md", "LICENSE", "Services", "Shared", "Tests", "deploy"}
SCRIPTS = ["deploy/run", "deploy/test", ".ci/run"]
GENERATED = re.compile(
    r"(^|/)(Package\.resolved|\.build[^/]*|__pycache__|\.swiftpm|\.pytest_cache)(/|$)|\.(o|so|a|sqlite|log|pyc)$")


def top_level(tree):
    """At the top there are only the folders and files of TOP_LEVEL, and dot-files."""
    for path in tree.names():
        entry = path.split("/")[0]
        if entry not in TOP_LEVEL and not entry.startswith("."):
            yield Finding(path, 1, f"{entry} is at the top level, which has only {', '.join(sorted(TOP_LEVEL))} and dot-files")


def generated(tree):
    for path in tree.names():
        if GENERATED.search(path):
            yield Finding(path, 1, "a generated file")


def scripts(tree):
    """The README opens with the two commands that anyone needs, and continuous integration runs the second one."""
    for path in SCRIPTS:
        if path not in tree.contents:
            yield Finding(path, 1, "is missing")
        elif path not in tree.executables:
            yield Finding(path, 1, "is not executable")
    if ".ci/run" in tree and not re.search(r"^[^#\n]*\bdeploy/test\b", tree.text(".ci/run"), re.M):
        yield Finding(".ci/run", 1, "does not call deploy/test")
    opening = r"# [^\n]+\n\n```bash\ndeploy/run\b[^\n]*\ndeploy/test\b[^\n]*\n```\n"
    if "README.md" not in tree or not re.match(opening, tree.text("README.md")):
        yield Finding("README.md", 1, "does not open with the commands deploy/run and deploy/test")


RULES = [top_level, generated, scripts]
