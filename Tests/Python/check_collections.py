"""Reads the services' documents in MongoDB, as another program would, and checks every field and its BSON type against the
seed's data dictionary.

Usage: check_collections.py <connection string with the database> <icube or message> <number of documents>
Ends with 1 at the first wrong field.
"""

import re
import sys

from bson import Int64, ObjectId
from pymongo import MongoClient

DISTRIBUTIONS = ("Alert", "Information")
LEVELS = ("Forced", "Recommended", "")
RELAY_STATES = ("held", "pending", "retrying", "relayed", "failed", "expired", "recalled")
TOPIC_KEY = re.compile("[0-9a-f]{24}-[0-9a-f]{24}-[0-9a-f]{24}")


class Fields:
    """The fields of one document. Each must be read, so that an unexpected field is noticed."""

    def __init__(self, where, document):
        self.where = where
        self.rest = dict(document)

    def take(self, name, kind, among=None, optional=False):
        if optional and name not in self.rest:
            return None
        if name not in self.rest:
            raise SystemExit(f"{self.where}: no field {name}")
        value = self.rest.pop(name)
        # In Python a boolean and an Int64 are ints, so the exact type is compared.
        if type(value) is not kind:
            raise SystemExit(f"{self.where}.{name}: expected {kind.__name__}, found {type(value).__name__} {value!r}")
        if among is not None and value not in among:
            raise SystemExit(f"{self.where}.{name}: {value!r} is not in {among}")
        return value

    def part(self, name, optional=False):
        value = self.take(name, dict, optional=optional)
        return None if value is None else Fields(f"{self.where}.{name}", value)

    def parts(self, name, optional=False):
        values = self.take(name, list, optional=optional) or []
        return [Fields(f"{self.where}.{name}[{index}]", value) for index, value in enumerate(values)]

    def texts(self, name):
        for value in self.take(name, list):
            if type(value) is not str:
                raise SystemExit(f"{self.where}.{name}: {value!r} is no string")

    def end(self):
        if self.rest:
            raise SystemExit(f"{self.where}: fields that nobody knows: {sorted(self.rest)}")


def check_channel(document):
    channel = Fields("icube", document)
    channel_id = channel.take("_id", ObjectId)
    check_named(channel)
    for area in channel.parts("areas"):
        area_id = area.take("id", ObjectId)
        check_named(area)
        for subject in area.parts("subjects"):
            subject_id = subject.take("id", ObjectId)
            check_named(subject)
            subject.take("topic_key", str, among=(f"{channel_id}-{area_id}-{subject_id}",))
            opt = subject.part("opt")
            opt.take("level", str, among=LEVELS)
            opt.take("distribution", str, among=DISTRIBUTIONS)
            opt.end()
            subject.texts("tags")
            # Not in the data dictionary.
            subject.take("approval", bool, optional=True)
            subject.end()
        area.end()
    # Not in the data dictionary: the order of the channels.
    channel.take("position", Int64)
    channel.end()


def check_named(fields):
    fields.take("name", str)
    fields.take("desc", str)
    fields.texts("access")
    # Not in the data dictionary: the version of the object's last change.
    fields.take("version", Int64)


def check_message(document):
    message = Fields("message", document)
    message.take("_id", ObjectId)
    message.take("msi_key", ObjectId)
    for name in ("title", "desc", "message", "sender"):
        message.take(name, str)
    topic_key = message.take("topic_key", str)
    if not TOPIC_KEY.fullmatch(topic_key):
        raise SystemExit(f"message.topic_key: {topic_key!r}")
    message.take("distribution", str, among=DISTRIBUTIONS)
    message.take("timestamp", Int64)
    check_additions(message, topic_key)
    message.end()


def check_additions(message, topic_key):
    """The fields that are not in the data dictionary."""
    message.take("expires", Int64)
    message.take("ttl", Int64, optional=True)
    message.take("send_at", Int64, optional=True)
    message.take("idempotency_key", str, optional=True)
    message.take("delay", Int64, optional=True)
    message.take("drill", bool, optional=True, among=(True,))
    message.take("follows", ObjectId, optional=True)
    message.take("correction", bool, optional=True, among=(True,))
    message.take("traceparent", str, optional=True)
    check_options(message.part("options", optional=True))
    message.take("template", ObjectId, optional=True)
    message.take("values", dict, optional=True)
    message.take("approval", bool, optional=True, among=(True,))
    message.texts("search_words")
    for audit in message.parts("audit", optional=True):
        audit.take("id", ObjectId)
        audit.take("entry", str)
        audit.end()
    names, topic = message.part("names"), message.part("topic")
    for name, identifier in zip(("channel", "area", "subject"), topic_key.split("-")):
        names.take(name, str)
        topic.take(name, ObjectId, among=(ObjectId(identifier),))
    names.end()
    topic.end()
    relay = message.part("relay")
    relay.take("state", str, among=RELAY_STATES)
    relay.take("attempts", Int64)
    relay.take("revision", Int64)
    relay.take("next_attempt", Int64, optional=True)
    relay.take("webpush_attempt", Int64, optional=True)
    relay.take("ended", Int64, optional=True)
    relay.take("accepted", Int64, optional=True)
    lease = relay.part("lease", optional=True)
    if lease:
        lease.take("owner", str)
        lease.take("until", Int64)
        lease.take("claim", ObjectId, optional=True)
        lease.end()
    for component in relay.parts("components"):
        check_component(component)
    for intervention in relay.parts("trace", optional=True):
        intervention.take("action", str, among=("retry", "recall", "edit", "approve", "restore", "release"))
        intervention.take("at", Int64)
        intervention.take("by", str)
        intervention.take("reason", str, optional=True)
        intervention.end()
    relay.end()


def check_options(options):
    if options is None:
        return
    for name in ("image", "link", "collapse_key", "analytics_label"):
        options.take(name, str, optional=True)
    for platform, name in (("android", "channel_id"), ("apns", "category")):
        part = options.part(platform, optional=True)
        if part:
            part.take(name, str)
            part.end()
    options.end()


def check_component(component):
    component.take("component", str, among=("notification", "data", "webpush"))
    component.take("state", str, among=("pending", "accepted", "failed", "expired", "recalled"))
    component.take("name", str, optional=True)
    component.take("accepted_at", Int64, optional=True)
    error = component.part("error", optional=True)
    if error:
        error.take("class", str, among=("permanent", "retryable", "expired"))
        error.take("code", str)
        error.take("message", str)
        error.take("retry_after", Int64, optional=True)
        error.end()
    component.end()


def check_counter(document):
    counter = Fields("cube", document)
    counter.take("_id", str, among=("cube",))
    counter.take("version", Int64)
    counter.take("size", Int64)
    counter.take("digest", Int64)
    counter.take("documents", Int64)
    counter.take("last_position", Int64)
    counter.end()


def check_all(collection, check, count):
    documents = list(collection.find())
    if len(documents) != count:
        raise SystemExit(f"{collection.name}: {len(documents)} documents instead of {count}")
    for document in documents:
        check(document)
    print(f"{collection.name}: {count} documents are as the data dictionary says")


def main(url, name, count):
    database = MongoClient(url).get_default_database()
    checks = {"icube": check_channel, "message": check_message}
    check_all(database[name], checks[name], int(count))
    if name == "icube":
        check_all(database["cube"], check_counter, 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
