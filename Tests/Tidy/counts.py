"""How many places of a kind the tree may still have. The numbers in counts.json only fall."""
import json
from pathlib import Path

FILE = Path(__file__).resolve().with_name("counts.json")
MOST_PLACES_SHOWN = 40


def read():
    return json.loads(FILE.read_text())


def write(allowed):
    FILE.write_text(json.dumps(allowed, indent=2, sort_keys=True) + "\n")


def grouped(found):
    """The findings that a number allows for, by its name."""
    groups = {}
    for finding in found:
        if finding.count:
            groups.setdefault(finding.count, []).append(finding)
    return groups


def lowered(found, allowed):
    """The numbers, none of them higher than the tree needs, and none zero."""
    groups = grouped(found)
    return {name: least for name, number in allowed.items() if (least := min(number, len(groups.get(name, []))))}


def exceeded(found, allowed, changed=()):
    """What to print for each kind with too many places. Those in changed files come first: the new ones are there."""
    for name, places in sorted(grouped(found).items()):
        if len(places) > allowed.get(name, 0):
            yield from map(str, sorted(places, key=lambda place: place.path not in changed)[:MOST_PLACES_SHOWN])
            yield f"{name}: {len(places)} places, and Tests/Tidy/counts.json allows {allowed.get(name, 0)}"
