"""Copies the first open study session of each class in MongoDB, each copy to another place on the same campus.

Usage: copy_sessions.py <connection string with the database> <number of copies of each>
"""

import random
import sys

from bson import Int64, ObjectId
from pymongo import MongoClient

SESSIONS = "study_session"
# How far a copy is from the first one at most, in millionths of a degree.
FAR = {"latitude": 9_000, "longitude": 14_000}


def copy(session):
    place = {name: Int64(value + random.randint(-FAR[name], FAR[name])) for name, value in session["place"].items()}
    found = {name: value for name, value in session.items() if name != "request"}
    return found | {"_id": ObjectId(), "place": place}


def main(url, count):
    sessions = MongoClient(url).get_default_database()[SESSIONS]
    firsts = {session["class"]: session for session in sessions.find({"open": True}).sort("_id", -1)}
    for first in firsts.values():
        if int(count):
            sessions.insert_many([copy(first) for _ in range(int(count))])


main(*sys.argv[1:])
