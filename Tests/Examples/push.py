"""Gives a push to the message log, which keeps and repeats it, and waits for its outcome. It needs pyzmq.

    push.py [FOLDER]

FOLDER has the services' sockets: by default `run` in the state directory of `deploy/run`, MSI_STATE_DIR.
"""

import json
import os
import pathlib
import sys
import time
import uuid

import zmq

STATE = pathlib.Path(os.environ.get("MSI_STATE_DIR") or pathlib.Path.home() / ".local/state/msi")
FOLDER = sys.argv[1] if len(sys.argv) > 1 else STATE / "run"
DAY = 86_400  # seconds
context = zmq.Context()
log, events = context.socket(zmq.REQ), context.socket(zmq.SUB)
log.linger = events.linger = 0
log.rcvtimeo = 6_000  # without an answer: zmq.error.Again
log.connect(f"ipc://{FOLDER}/message-log.sock")
events.setsockopt_string(zmq.SUBSCRIBE, "push.ended")
events.connect(f"ipc://{FOLDER}/message-log-events.sock")


def ask(command, payload):
    header = {"id": uuid.uuid4().hex, "command": command, "timeout": 5_000, "actor": "my-service"}
    log.send_multipart([json.dumps(header).encode(), json.dumps(payload).encode()])
    status, answer = map(json.loads, log.recv_multipart())
    if status["status"] != "ok":
        raise SystemExit(f"{status['status']}: {answer}")
    return answer


# A repeated command has the same key and the same content, so `expires` must not come from the clock of each try.
tomorrow = int(time.time()) // DAY + 1
push = ask("push.log", {
    "idempotency_key": f"news-{tomorrow}", "fairness_key": "my-service", "topic": "news", "expires": (tomorrow + 1) * DAY * 1_000,
    "message": {
        "notification": {"title": "News", "body": "The library opens at eight."}, "data": {"id": f"news-{tomorrow}"}},
})["push"]
# An event may be lost, so the push is asked for from time to time.
while push["relay"]["state"] in ("pending", "retrying"):
    events.poll(1_000) and events.recv_multipart()
    push = ask("push.get", {"push_id": push["push_id"]})
print(push["push_id"], push["relay"]["state"])
