"""Reads Package.swift by its regular form. `swift package dump-package` would take a second, and need Swift."""
import re
from typing import NamedTuple

from tree import line

CONSTANT = re.compile(r'^let (\w+) = Target\.Dependency\.product\(name: "(\w+)", package: "[^"]+"\)', re.M)
TARGET = re.compile(r"\.(target|executableTarget|testTarget|systemLibrary)\(\s*name: ")
STRINGS_AND_COMMENTS = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*')


class Target(NamedTuple):
    kind: str
    name: str
    path: str
    line: int
    # Module names: those of targets, and of products of other packages.
    dependencies: list
    exclude: list

    def has(self, path):
        return path.startswith(self.path + "/") and not any(
            (path + "/").startswith(f"{self.path}/{name}/") for name in self.exclude)


class Manifest(NamedTuple):
    targets: list
    # Products of other packages that no target uses, with their lines.
    unused: dict


class UnknownForm(Exception):
    """The manifest has a form that this module does not read."""


def parse(text):
    def blank(match):
        return match[0] if match[0].startswith('"') else " " * len(match[0])

    text = STRINGS_AND_COMMENTS.sub(blank, text)
    modules = {match[1]: match[2] for match in CONSTANT.finditer(text)}
    targets, used = [], set()
    for match in TARGET.finditer(text):
        body = text[match.start():closing(text, text.index("(", match.start()))]
        name, path = field(body, "name", r'"(\w+)"'), field(body, "path", r'"([^"]+)"')
        if not name or not path:
            raise UnknownForm(f"target without a literal name and path in line {line(text, match.start())}")
        listed = re.findall(r"[^\s,][^,]*", field(body, "dependencies", r"\[([^\]]*)\]") or "")
        constants = {item.strip() for item in listed if not item.startswith('"')}
        if not constants <= modules.keys():
            raise UnknownForm(f"{name} has dependencies that are neither names nor constants: {constants - modules.keys()}")
        used |= constants
        dependencies = [modules.get(item.strip(), item.strip().strip('"')) for item in listed]
        exclude = re.findall(r'"([^"]+)"', field(body, "exclude", r"\[([^\]]*)\]") or "")
        targets.append(Target(match[1], name, path, line(text, match.start()), dependencies, exclude))
    if not targets:
        raise UnknownForm("no targets")
    unused = {match[2]: line(text, match.start()) for match in CONSTANT.finditer(text) if match[1] not in used}
    return Manifest(targets, unused)


def field(body, label, pattern):
    match = re.search(rf"\b{label}: {pattern}", body)
    return match and match[1]


def closing(text, start):
    """The end of the parenthesis that opens at `start`."""
    depth = 0
    for match in re.compile(r'"(?:[^"\\]|\\.)*"|[()]').finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    raise UnknownForm(f"no end of the parenthesis in line {line(text, start)}")
