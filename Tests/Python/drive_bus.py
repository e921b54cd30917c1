"""Drives a cube service and a message log with pyzmq, using only Shared/Bus/PROTOCOL.md.

Usage: drive_bus.py <folder of the services' sockets>. Prints a line for each successful check; ends with 1 at the first failure.
"""

import json
import sys
import time

import zmq
from harness.bus import PATIENCE, ask, connect, context, expect, header, receive
from harness.checking import check


def edit_cube(cube):
    check("every service answers a ping", ask(cube, "bus.ping", {}) == {})
    named = {"name": "Campus", "desc": "\"All\" of it, 🎓, الحرم الجامعي"}
    added = ask(cube, "channel.add", {"channel": named}, actor="ann")
    channel = added["value"]["_id"]
    check("channel.add", {key: added["value"][key] for key in named} == named, added)
    area = ask(cube, "area.add", {"channelID": channel, "area": {"name": "Library", "desc": ""}})["value"]["id"]
    place = {"channelID": channel, "areaID": area}
    draft = {"name": "Closures", "desc": "d", "opt": {"level": "Forced", "distribution": "Alert"}}
    subject = ask(cube, "subject.add", {**place, "subject": draft})["value"]
    check("subject.add", subject["topic_key"] == f"{channel}-{area}-{subject['id']}", subject)
    draft["opt"] = {"level": "", "distribution": "Information"}
    updated = ask(cube, "subject.update", {**place, "subjectID": subject["id"], "subject": draft})
    check("subject.update", updated["value"]["opt"] == draft["opt"], updated)
    read = ask(cube, "cube.read", {})
    check("cube.read", read["channels"][-1]["areas"][0]["subjects"] == [updated["value"]], read)
    found = ask(cube, "subject.find", {"topic_key": updated["value"]["topic_key"]})
    check("subject.find", found["subject"] == updated["value"] and found["version"] == read["version"], found)
    check("an unchanged cube is not sent again", "channels" not in ask(cube, "cube.read", {"known": read["version"]}))

    late = {"channelID": channel, "channel": named, "unchanged_since": added["version"] - 1}
    expect("conflict", None, cube, "channel.update", late)
    expect("not_found", None, cube, "area.delete", {"channelID": area, "areaID": area})
    expect("invalid", "channelID", cube, "area.add", {"channelID": "5a", "area": {"name": "x", "desc": ""}})
    expect("invalid", "channel.desc", cube, "channel.add", {"channel": {"name": "x"}})
    expect("invalid", None, cube, "channel.explode", {})
    expect("invalid", None, cube, "bus.ping", {}, priority=1)
    expect("deadline_exceeded", None, cube, "bus.ping", {}, deadline=1)
    cube.send_multipart([b"\xff\xfe", b"{"])
    reply, failure = receive(cube)
    check("noise is invalid", reply == {"id": "", "status": "invalid"} and failure["message"], (reply, failure))

    check("channel.delete", ask(cube, "channel.delete", {"channelID": channel})["value"] == {})


def pipeline(dealer):
    """Many concurrent requests, matched by id; some with the optional delimiter."""
    waiting = {}
    for number in range(200):
        request = header("channel.add")
        waiting[request["id"]] = number
        frames = [json.dumps(request).encode(), json.dumps({"channel": {"name": f"c{number}", "desc": ""}}).encode()]
        dealer.send_multipart([b""] * (number % 2) + frames)
    names = set()
    while waiting:
        if not dealer.poll(PATIENCE * 1000):
            raise SystemExit(f"{len(waiting)} without a reply")
        frames = dealer.recv_multipart()
        reply, result = (json.loads(frame) for frame in frames[-2:])
        number = waiting.pop(reply["id"])
        assert len(frames) == 2 + number % 2, frames
        assert reply["status"] == "ok" and result["value"]["name"] == f"c{number}", (reply, result)
        names.add(result["version"])
    check("200 commands under way at a time", len(names) == 200, names)


def follow(cube, events):
    if not events.poll(PATIENCE * 1000):
        raise SystemExit("no event")
    name, payload = events.recv_multipart()
    before = json.loads(payload)["version"]
    edit = ask(cube, "channel.add", {"channel": {"name": "news", "desc": ""}})
    event = {"version": before}
    # Events of earlier edits, and a repetition of the version, may come first.
    while event["version"] < edit["version"] or event["version"] == edit["version"] and "edit" not in event:
        if not events.poll(PATIENCE * 1000):
            raise SystemExit("no event after a change")
        name, payload = events.recv_multipart()
        event = json.loads(payload)
    check("a change is announced", name == b"cube.changed" and event["version"] == edit["version"] > before, (before, event))
    made = event["edit"]
    check("with its edit", (made["command"], made["id"]) == ("channel.add", edit["value"]["_id"]), event)
    check("and its payload", made["payload"] == {"channel": {"name": "news", "desc": ""}}, event)


def log_message(log):
    now = int(time.time() * 1000)
    topic = "-".join(3 * ["5a0000000000000000000001"])
    message = {
        "msi_key": "5a00000000000000000000ff",
        "draft": {"title": "t", "desc": "d", "message": "🎓", "topic_key": topic, "distribution": "Alert"},
        "timestamp": now, "expires": now + 3_600_000,
        "names": {"channel": "c", "area": "a", "subject": "s"},
    }
    new = ask(log, "message.log", message, actor="ann")
    check("the answer for a new message is empty", new == {}, new)
    first = ask(log, "message.get", {"msi_key": message["msi_key"]})
    check("the actor is the sender", first["sender"] == "ann", first)
    again = ask(log, "message.log", message, actor="ann")["known"]
    check("the same message twice is one", again["_id"] == first["_id"], again)
    expect("unauthenticated", None, log, "message.log", message)
    expect("invalid", None, log, "message.log", message, actor=" ")
    expect("invalid", "sender", log, "message.log", {**message, "sender": "ann"}, actor="ann")
    other = {**message, "draft": {**message["draft"], "title": "another"}}
    expect("conflict", "msi_key", log, "message.log", other, actor="ann")
    expect("not_found", None, log, "message.get", {"msi_key": topic[:24]})
    page = ask(log, "message.list", {"limit": 10})
    check("message.list", [entry["_id"] for entry in page["messages"]] == [first["_id"]], page)


def main(folder):
    cube = connect(zmq.REQ, folder, "cube")
    events = connect(zmq.SUB, folder, "cube-events", "cube.changed")
    edit_cube(cube)
    pipeline(connect(zmq.DEALER, folder, "cube"))
    follow(cube, events)
    log_message(connect(zmq.REQ, folder, "message-log"))
    context.destroy(linger=0)
    print("all of it works")


if __name__ == "__main__":
    main(sys.argv[1])
