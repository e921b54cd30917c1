"""Pushes by the message log and by the relay alone, as another program uses them: with pyzmq, and only by the two services' API.md.

Usage: drive_pushes.py <folder of the services' sockets> <token of a phone> <a token that is no phone's>. Prints a line for each thing that
works; ends with 1 at the first that does not.
"""

import functools
import json
import sys
import time
import uuid

import zmq
from harness import bus
from harness.bus import PATIENCE, connect
from harness.checking import check

ask = functools.partial(bus.ask, actor="stranger")
expect = functools.partial(bus.expect, actor="stranger")


def ended(events, push_id):
    end = time.monotonic() + PATIENCE
    while events.poll(max(0, 1000 * (end - time.monotonic()))):
        name, payload = events.recv_multipart()
        event = json.loads(payload)
        if name == b"push.ended" and event["push_id"] == push_id:
            return event
    raise SystemExit("no event")


def by_message_log(folder, phone, gone):
    log, events = connect(zmq.REQ, folder, "message-log"), connect(zmq.SUB, folder, "message-log-events", "push.ended")
    message = {"notification": {"title": "News", "body": "🎓"}, "data": {"id": "17"}, "android": {"priority": "high", "ttl": "60s"}}
    command = {"idempotency_key": "python", "fairness_key": "stranger", "tokens": [phone, gone], "message": message,
               "expires": int(time.time() * 1000) + 3_600_000}
    # A subscription takes a moment to arrive: an event shows that it has.
    for attempt in range(50):
        first = ask(log, "push.log", {**command, "idempotency_key": f"probe {attempt}", "tokens": [phone], "message": {}})["push"]
        if events.poll(400):
            break
    push = ask(log, "push.log", command)["push"]
    check("push.log answers with the stored push", push["sender"] == "stranger" and push["relay"]["state"] == "pending", push)
    event = ended(events, push["push_id"])
    check("push.ended names the unregistered token", event["state"] == "failed" and event["unregistered"] == [gone], event)
    push = ask(log, "push.get", {"push_id": push["push_id"]})
    states = [recipient["state"] for recipient in push["relay"]["recipients"]]
    check("push.get tells what became of each token", states == ["accepted", "failed"], push)
    check("and which are unregistered", push["unregistered"] == [gone], push)
    listed = ask(log, "push.list", {"sender": "stranger", "key_prefix": command["idempotency_key"][:-1], "limit": 9})["pushes"]
    counts = [one["recipients"] for one in listed if one["push_id"] == push["push_id"]]
    check("push.list counts the recipients in each state", counts == [{"accepted": 1, "failed": 1}], listed)
    check("the same command again changes nothing", ask(log, "push.log", command)["push"] == push)
    expect("conflict", "idempotency_key", log, "push.log", {**command, "tokens": [phone]})
    expect("invalid", "transport", log, "push.log", {**command, "transport": "mail"})
    expect("invalid", "message.android.ttl", log, "push.log", {**command, "message": {"android": {"ttl": 60}}})
    later = {**command, "idempotency_key": "later", "not_before": command["expires"] - 1000}
    later = ask(log, "push.log", later)["push"]
    recalled = ask(log, "push.recall", {"push_id": later["push_id"]})
    check("push.recall", recalled["relay"]["state"] == "recalled" and recalled["relay"]["trace"][0]["by"] == "stranger", recalled)
    expect("conflict", None, log, "push.retry", {"push_id": later["push_id"]})
    expect("not_found", None, log, "push.get", {"push_id": first["push_id"][::-1]})
    shown = json.dumps(ask(log, "message.list", {"limit": 50})["messages"])
    check("no history shows a push", not any(one["push_id"] in shown for one in (first, push, later)))


def by_relay(folder, phone, gone):
    relay = connect(zmq.REQ, folder, "fcm-relay")
    push = {"push_id": uuid.uuid4().hex[:24], "tokens": [phone, gone], "message": {"data": {"by": "relay"}}}
    results = ask(relay, "push.relay", push)["results"]
    check("push.relay answers for each token", "/messages/" in results[0]["name"] and results[1]["error"]["code"] == "UNREGISTERED", results)
    again = ask(relay, "push.relay", push)["results"]
    check("what FCM has accepted is not sent again", again[0] == results[0], again)
    topic = {"push_id": uuid.uuid4().hex[:24], "topic": "news", "message": {"data": {}}, "validate_only": True}
    check("a message is only checked", len(ask(relay, "push.relay", topic)["results"]) == 1)
    expect("invalid", "message.dta", relay, "push.relay", {**topic, "message": {"dta": {}}})
    expect("invalid", "transport", relay, "push.relay", {**topic, "transport": "webhook"})


folder, phone, gone = sys.argv[1:]
by_message_log(folder, phone, gone)
by_relay(folder, phone, gone)
print("pushes work", flush=True)
