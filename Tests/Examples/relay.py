"""Sends a message and a push by the relay alone, which keeps nothing: who needs an outcome repeats a request without one. It needs pyzmq.

    relay.py [ENDPOINT]

ENDPOINT is the relay's, tcp://127.0.0.1:5570 unless given.
"""

import json
import sys
import time
import uuid

import zmq

SECONDS = 20
socket = zmq.Context().socket(zmq.REQ)
socket.linger, socket.rcvtimeo = 0, (SECONDS + 5) * 1_000  # milliseconds: the relay may not be running
socket.connect(sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:5570")


def relay(command, payload):
    header = {"id": uuid.uuid4().hex, "command": command, "deadline": int((time.time() + SECONDS) * 1_000)}
    socket.send_multipart([json.dumps(header).encode(), json.dumps(payload).encode()])
    status, answer = map(json.loads, socket.recv_multipart())
    print(command, status["status"], answer)


relay("message.relay", {
    "msi_key": uuid.uuid4().hex[:24], "title": "Campus closed", "desc": "Please stay at home", "message": "No lectures today.",
    "topic_key": "-".join(["6b0187feff0dafac2833f432"] * 3), "distribution": "Alert", "timestamp": int(time.time() * 1_000)})
relay("push.relay", {
    "push_id": uuid.uuid4().hex[:24], "topic": "news",
    "message": {"notification": {"title": "News", "body": "The library opens at eight."}, "data": {"id": "17"}}})
