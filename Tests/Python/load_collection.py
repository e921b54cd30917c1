"""Inserts documents into a collection unchanged.

Usage: load_collection.py <mongodb://…/database> <collection> <file of extended JSON, one document a line>.
"""

import sys

import pymongo
from bson import json_util

url, collection, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    documents = [json_util.loads(line) for line in file if line.strip()]
with pymongo.MongoClient(url) as client:
    client.get_default_database()[collection].insert_many(documents)
print(f"{collection}: {len(documents)} documents")
