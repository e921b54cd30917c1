"""What the text of a file contains."""
import re
from typing import NamedTuple

from tree import Finding, line

LONGEST, SHORTEST = 350, 15
# Columns of JavaScript, for which there is no formatter here.
WIDEST = 120


class Mark(NamedTuple):
    """What no text may contain."""

    what: str
    pattern: re.Pattern
    # One of these is in each match. Searching for them first takes a tenth of the time.
    literals: list
    endings: tuple = ()
    under: str = ""


MARKS = [
    Mark("what is left to do belongs into an issue", re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b|\b[Nn]ot implemented\b"),
         ["TODO", "FIXME", "XXX", "HACK", "ot implemented"]),
    # Home folders, and folders of one machine. The examples have a user "ann", and the container of Tests/Systemd a home of root.
    Mark("a path of one machine",
         re.compile(r"(?<![\w.)}$])/(?:(?:work|farm|Users|home)/(?!ann\b)|root/(?!packages)|tmp/(?:\w-|\w/))"),
         ["/work/", "/farm/", "/Users/", "/home/", "/root/", "/tmp/"]),
    Mark("a merge that is not finished", re.compile(r"^(?:<{7}|>{7}) ", re.M), ["<<<<<<< ", ">>>>>>> "]),
    Mark("ends the process", re.compile(r"\b(?:try!|as!|fatalError\()"), ["try!", "as!", "fatalError("], (".swift",)),
    Mark("a test that is switched off",
         re.compile(r'\.disabled\((?=\)|"|if:)|\bXCTSkip|\bpytest\.(?:mark\.)?(?:skip|xfail)\b'),
         [".disabled(", "XCTSkip", "pytest."], (".swift", ".py"), "Tests/"),
]

# Words of prose that reads as if translated, and names that readers would not search for.
WORDS = [
    "former", "meanwhile", "also if", "of its own", "goes on", "all the same", "anew", "is none of", "what has come of it",
    "in vain",
]
NAMES = ["mostPerTopic", "longestStop", "shortestPause"]
TYPES = ["LastingTrouble", "WorkInHand", "Turns", "Retries", "Lane", "Beyond"]
# Between the words of a phrase there may be the end of a line and the marks of a comment.
PHRASES = {word: re.compile(rf"\b{word}\b".replace(" ", r"[\s/#*]+")) for word in WORDS}
IDENTIFIERS = {name: re.compile(rf"\b{name}\b") for name in NAMES} | {
    name: re.compile(rf"\b(?:struct|class|enum|actor|protocol|typealias|case) {name}\b") for name in TYPES
}


def prose(tree, *endings):
    """The files and their texts, without those that must contain what the rules search for."""
    for path in tree.names(*endings):
        if not path.startswith("Tests/Tidy/"):
            yield path, tree.text(path)


def lengths(tree):
    """Package.swift is not counted: SwiftPM reads one file."""
    for path, text in prose(tree, ".swift"):
        lines = text.count("\n")
        if path == "Package.swift":
            continue
        if lines > LONGEST:
            yield Finding(path, 1, f"{lines} lines, more than {LONGEST}", f"Swift files over {LONGEST} lines")
        elif lines < SHORTEST:
            yield Finding(path, 1, f"{lines} lines, fewer than {SHORTEST}", f"Swift files below {SHORTEST} lines")


def widths(tree):
    for path, text in prose(tree, ".js"):
        for number, row in enumerate(text.split("\n"), 1):
            if len(row) > WIDEST:
                yield Finding(path, number, f"{len(row)} columns, more than {WIDEST}")


def marks(tree):
    for path, text in prose(tree):
        for mark in MARKS:
            if path.endswith(mark.endings or "") and path.startswith(mark.under) and any(part in text for part in mark.literals):
                for match in mark.pattern.finditer(text):
                    yield Finding(path, line(text, match.start()), f"{match[0]}: {mark.what}")


def words(tree):
    for path, text in prose(tree):
        lowered = text.lower()
        for word, pattern in PHRASES.items():
            # The search for a pattern is slow, and most files have none of the words.
            if all(part in lowered for part in word.split()):
                for match in pattern.finditer(lowered):
                    yield Finding(path, line(lowered, match.start()), f'the word "{word}"', f"word: {word}")
        if path.endswith(".swift"):
            for name, pattern in IDENTIFIERS.items():
                if name in text:
                    for match in pattern.finditer(text):
                        yield Finding(path, line(text, match.start()), f"the name {name}", f"name: {name}")


RULES = [lengths, widths, marks, words]
