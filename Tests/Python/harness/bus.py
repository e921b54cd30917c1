"""A client of the bus, with pyzmq, by Shared/Bus/PROTOCOL.md."""

import itertools
import json
import time

import zmq

from .checking import check

PATIENCE = 20.0
context = zmq.Context()
ids = itertools.count(1)


class Refused(Exception):
    """A reply that is not `ok`."""

    def __init__(self, status, payload):
        super().__init__(f"{status}: {payload['message']}")
        self.status, self.field = status, payload.get("field")


def connect(kind, folder, name, event=None):
    """A socket at a service's, by its name in the folder of the sockets. One for events subscribes to `event`."""
    socket = context.socket(kind)
    socket.setsockopt(zmq.LINGER, 0)
    if event:
        socket.setsockopt_string(zmq.SUBSCRIBE, event)
    socket.connect(f"ipc://{folder}/{name}.sock")
    return socket


def header(command, **fields):
    deadline = int((time.time() + PATIENCE) * 1000)
    return {"id": f"r{next(ids)}", "command": command, "deadline": deadline, **fields}


def receive(socket):
    if not socket.poll(PATIENCE * 1000):
        raise SystemExit("no reply")
    return [json.loads(frame) for frame in socket.recv_multipart()]


def ask(socket, command, payload, **fields):
    """The result of one request with a REQ socket. `fields` are further ones of its header."""
    request = header(command, **fields)
    socket.send_multipart([json.dumps(request).encode(), json.dumps(payload).encode()])
    reply, result = receive(socket)
    assert reply["id"] == request["id"], reply
    if reply["status"] != "ok":
        raise Refused(reply["status"], result)
    return result


def expect(status, field, socket, command, payload, **fields):
    """Checks that a request is refused with a status, and names a field or none."""
    try:
        found = ask(socket, command, payload, **fields)
    except Refused as refused:
        check(f"{command} is {status}, {field}", (refused.status, refused.field) == (status, field), refused)
    else:
        raise SystemExit(f"{command} answered {found}")
