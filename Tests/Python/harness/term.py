"""A class in the middle of a term: its people, what they have studied in the weeks before, and what they study now. For pictures.

Everything is made by the routes that apps use. The hub's clock is that of the machine, so sessions that have ended are then moved to their time
in the store's file.
"""

import contextlib
import datetime
import sqlite3
from types import SimpleNamespace

from .study import Class, befriend, new_professor, student

# Places in buildings of the campus that comes with the product, and what people call them.
LIBRARY = {"latitude": 45.0029, "longitude": -30.0038}, "Library, second floor"
MATHEMATICS = {"latitude": 44.9993, "longitude": -30.0045}, "Mathematics, hall 2"
LECTURES = {"latitude": 45.0028, "longitude": -30.0006}, "Lecture hall B"
CAFETERIA = {"latitude": 45.0016, "longitude": -29.9936}, "Cafeteria"
ENGINEERING = {"latitude": 44.9993, "longitude": -29.996}, "Engineering, room 104"
STUDENTS = ["carla.diaz", "ben.okafor", "eve.lindqvist", "mia.rossi", "noor.haddad"]
# What was studied: how many days ago, at which hour of UTC, for how many minutes; the host, what about, where, and who else was there.
PAST = [
    (82, 13, 90, "carla", ["Big O"], LIBRARY, "ben eve"), (79, 15, 60, "alan", ["Big O", "Recursion"], LECTURES, "carla ben eve mia noor"),
    (75, 14, 75, "ben", ["Recursion"], LIBRARY, "carla"), (72, 16, 60, "eve", ["Recursion", "Induction"], MATHEMATICS, "mia"),
    (68, 13, 120, "mia", ["Induction"], CAFETERIA, "noor eve"), (65, 15, 60, "tom", ["Induction"], LECTURES, "carla ben mia"),
    (61, 14, 90, "carla", ["Sorting"], LIBRARY, "ben eve"), (58, 12, 45, "noor", ["Sorting"], MATHEMATICS, ""),
    (54, 16, 90, "ben", ["Sorting", "Heaps"], LIBRARY, "carla mia"), (51, 15, 60, "tom", ["Heaps"], LECTURES, "carla eve noor"),
    (47, 13, 75, "eve", ["Heaps"], CAFETERIA, "ben"), (44, 14, 60, "mia", ["Hashing"], MATHEMATICS, "noor"),
    (40, 15, 90, "carla", ["Hashing"], LIBRARY, "ben eve mia"), (37, 16, 60, "alan", ["Hashing", "Search trees"], LECTURES, "carla ben eve noor"),
    (33, 13, 90, "noor", ["Search trees"], LIBRARY, "mia"), (30, 14, 60, "ben", ["Search trees"], LIBRARY, "carla"),
    (26, 15, 120, "carla", ["Old exams"], LIBRARY, "ben eve"), (23, 13, 60, "tom", ["Graph search"], LECTURES, "carla mia"),
    (19, 16, 75, "eve", ["Graph search"], MATHEMATICS, "carla ben"), (16, 14, 90, "mia", ["Graph search", "Old exams"], CAFETERIA, "noor"),
    (12, 15, 60, "carla", ["Graph search"], LIBRARY, "ben eve"), (9, 13, 60, "noor", ["Balanced trees"], MATHEMATICS, "mia"),
    (5, 16, 90, "ben", ["Balanced trees"], LIBRARY, "carla eve"), (2, 14, 60, "tom", ["Balanced trees"], LECTURES, "carla ben eve mia"),
]
# How they ended, one after another.
REASONS = ["time", "host", "time", "left"]


def seed_term(product):
    """Fills a product that has no classes. `people` are by their first names, `course` is the class with the history, and `session` Carla's own one;
    two sessions are at the same place."""
    named = SimpleNamespace(url=product.url, api=product.api, new_account=product.add_account, unique=lambda name: name)
    course = Class(named, professor=new_professor(named, "alan.turing"), identification_key="CS251-F26",
                   description="Trees, graphs, and what they are good for.")
    people = {name.split(".")[0]: course.new_member(name) for name in STUDENTS}
    people |= {"alan": course.professor, "tom": course.new_member("tom.weber", "ta")}
    carla, ben, eve, noor = (people[name] for name in ("carla", "ben", "eve", "noor"))
    befriend(carla, ben, eve)
    for name in ("ben", "eve", "noor"):
        people[name].request("PUT", "/user/profile", {"first_name": name.title(), "visibility": {"first_name": "classmates"}})
    for number, row in enumerate(PAST):
        add_past(product, course, people, *row, reason=REASONS[number % len(REASONS)])
    other = Class(named, "Compilers", professor=new_professor(named, "grace.hopper"), identification_key="CS340-F26",
                  description="From a text to a program.").add(carla, noor)
    begin(other, noor, ["Parsing"], ENGINEERING, minutes=90)
    begin(course, eve, ["Graph search"], MATHEMATICS, minutes=45)
    for host, topics in ((people["tom"], ["Question hour"]), (people["alan"], ["Old exams"])):
        begin(course, host, topics, LECTURES, sponsored=True)
    session = begin(course, carla, ["Balanced trees", "Heaps"], LIBRARY, description="We solve sheet 4 together.").join(ben)
    session.post(ben, "How do I rotate twice?")
    session.post(people["tom"], "Draw the left child first.")
    session.remove(course.professor, session.post(ben, "Buy my notes"))
    return SimpleNamespace(course=course, people=people, session=session, newcomer=student(named, "ada.byron"))


def begin(course, host, topics, where, **more):
    place, name = where
    return course.start(host, *topics, place=place, name=name, **more)


def add_past(product, course, people, days, hour, minutes, host, topics, where, others, reason):
    session = begin(course, people[host], topics, where, minutes=minutes, sponsored=host in ("alan", "tom"))
    session.join(*(people[name] for name in others.split()))
    if others and reason == "host":
        session.post(people[others.split()[0]], "Who has the solutions?")
    session.leave(people[host])
    today = datetime.datetime.now(datetime.timezone.utc).replace(hour=hour, minute=0, second=0, microsecond=0)
    move_back(product, session, int((today - datetime.timedelta(days=days)).timestamp() * 1_000), minutes, reason)


def move_back(product, session, starts, minutes, reason):
    """Puts a session that has ended at another time, with its posts, and everybody was there for all of it."""
    ends = starts + minutes * 60_000
    of_session = """WHERE json_extract(document, '$.session."$oid"') = ?"""
    with contextlib.closing(sqlite3.connect(product.folder / "study.sqlite", timeout=60)) as file, file:
        file.execute(
            "UPDATE study_session SET document = json_set(document, '$.starts', ?, '$.ends', ?, '$.ended', ?, '$.reason', ?) WHERE id = ?",
            (starts, ends, ends, reason, session.id))
        file.execute(
            f"UPDATE attendance SET document = json_set(json_remove(document, '$.left'), '$.joined', ?, '$.since', ?) {of_session}",
            (starts, starts, session.id))
        file.execute(f"UPDATE study_post SET document = json_set(document, '$.at', ?) {of_session}", (starts + 600_000, session.id))
