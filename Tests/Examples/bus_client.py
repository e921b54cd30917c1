"""A client of the bus: one request, many requests at a time, and events. It needs pyzmq.

    bus_client.py [FOLDER]

FOLDER has the services' sockets: by default `run` in the state directory of `deploy/run`, MSI_STATE_DIR.
"""

import json
import os
import pathlib
import sys
import time

import zmq

STATE = pathlib.Path(os.environ.get("MSI_STATE_DIR") or pathlib.Path.home() / ".local/state/msi")
FOLDER = sys.argv[1] if len(sys.argv) > 1 else STATE / "run"
CUBE, EVENTS = f"ipc://{FOLDER}/cube.sock", f"ipc://{FOLDER}/cube-events.sock"
TIMEOUT = 5_000  # milliseconds
context = zmq.Context.instance()


def connect(kind, address):
    socket = context.socket(kind)
    socket.setsockopt(zmq.LINGER, 0)
    socket.connect(address)
    return socket


def ask(command, payload):
    """One request with REQ. After a request without a reply, such a socket cannot be used any more."""
    with connect(zmq.REQ, CUBE) as socket:
        header = {"id": "1", "command": command, "timeout": TIMEOUT}
        socket.send_multipart([json.dumps(header).encode(), json.dumps(payload).encode()])
        if not socket.poll(TIMEOUT):
            raise SystemExit(f"{command}: no reply")
        reply, payload = map(json.loads, socket.recv_multipart())
        if reply["status"] != "ok":
            raise SystemExit(f"{command}: {reply['status']}: {payload['message']}")
        return payload


def ask_often(command, payloads):
    """Many requests with DEALER. A reply has the id of its request, and replies come in any order."""
    with connect(zmq.DEALER, CUBE) as socket:
        end = time.monotonic() + TIMEOUT / 1_000
        waiting = set()
        for number, payload in enumerate(payloads):
            header = {"id": f"r{number}", "command": command, "timeout": TIMEOUT}
            socket.send_multipart([json.dumps(header).encode(), json.dumps(payload).encode()])
            waiting.add(header["id"])
        while waiting and socket.poll(max(0, 1_000 * (end - time.monotonic()))):
            header, payload = map(json.loads, socket.recv_multipart())
            if header["id"] in waiting:
                waiting.remove(header["id"])
                yield header["status"], payload
        if waiting:
            raise SystemExit(f"{len(waiting)} without a reply")


def follow(name):
    """Events with SUB. The first one comes soon, since the last one is repeated."""
    with connect(zmq.SUB, EVENTS) as socket:
        socket.setsockopt_string(zmq.SUBSCRIBE, name)
        while True:
            event, payload = socket.recv_multipart()
            if event.decode() == name:
                yield json.loads(payload)


print("the cube has", len(ask("cube.read", {})["channels"]), "channels")
print(sum(status == "ok" for status, _ in ask_often("bus.ping", [{}] * 100)), "pings are answered")
print("its version is", next(follow("cube.changed"))["version"])
