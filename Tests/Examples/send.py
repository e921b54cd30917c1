"""Sends a message by the hub's HTTP API, and follows it until FCM has it. Only Python's own library is used.

    send.py CHANNEL/AREA/SUBJECT TITLE TEXT

MSI_HUB is the hub's address, by default that of `deploy/run` at MSI_GATEWAY_PORT. MSI_TOKEN_FILE is a file with a token that has the
rights `send` and `read`; by default it is that of `deploy/run`, in MSI_STATE_DIR. It prints the message's key once the hub has stored it, and then its state.
"""

import http.client
import json
import os
import pathlib
import sys
import time
import urllib.parse
import urllib.request
import uuid

HUB = os.environ.get("MSI_HUB") or f"http://127.0.0.1:{os.environ.get('MSI_GATEWAY_PORT') or 8080}"
STATE = pathlib.Path(os.environ.get("MSI_STATE_DIR") or pathlib.Path.home() / ".local/state/msi")
TOKEN_FILE = pathlib.Path(os.environ.get("MSI_TOKEN_FILE") or STATE / "token")
# The same key with each try: a message that was stored without an answer is not sent twice.
KEY = str(uuid.uuid4())
# A held message waits for another person.
ENDS = ("relayed", "failed", "expired", "recalled", "held")
OUTAGE = 60  # seconds


class Answers(urllib.request.HTTPErrorProcessor):
    """Gives every answer as it is, whatever its status."""

    def http_response(self, request, response):
        return response

    https_response = http_response


def request(method, path, text=None, **headers):
    """The status and the document of an answer. An outage of a minute is waited for."""
    headers = {"Authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    end = time.monotonic() + OUTAGE
    while True:
        pause = 1
        try:
            asked = urllib.request.Request(HUB + path, text and text.encode(), headers, method=method)
            with urllib.request.build_opener(Answers).open(asked, timeout=30) as answer:
                # The answer of a proxy may be a page.
                is_json = answer.headers.get_content_subtype().endswith("json")
                document = json.load(answer) if is_json else {"detail": answer.reason}
            if answer.status not in (429, 502, 503, 504):
                return answer.status, document
            problem = f"{answer.status}: {document['detail']}"
            if (seconds := answer.headers.get("Retry-After", "")).isdigit():
                pause = int(seconds)
        except (OSError, http.client.HTTPException) as error:
            # No whole answer: the gateway restarts, or the network is away.
            problem = repr(error)
        if time.monotonic() + pause > end:
            raise SystemExit(f"{HUB} (MSI_HUB) does not take the request: {problem}")
        print(f"trying again: {problem}", file=sys.stderr)
        time.sleep(pause)


if len(sys.argv) != 4 or sys.argv[1].count("/") != 2:
    raise SystemExit(__doc__)
subject, title, text = sys.argv[1:]
try:
    token = TOKEN_FILE.read_text().strip()
except OSError as error:
    raise SystemExit(f"no token: {error}. Start the hub with deploy/run, or set MSI_STATE_DIR or MSI_TOKEN_FILE") from None
path = "/send/" + urllib.parse.quote(subject) + "?" + urllib.parse.urlencode({"title": title})
status, document = request("POST", path, text, Content_Type="text/plain", Idempotency_Key=KEY)
if "msi_key" not in document:
    raise SystemExit(f"{status}: {document['detail']}")
print(key := document["msi_key"], flush=True)
while (answer := request("GET", f"/message/{key}"))[0] == 200 and (state := answer[1]["relay"]["state"]) not in ENDS:
    time.sleep(0.5)
print(state if answer[0] == 200 else f"It is sent, and cannot be followed: {answer[0]}: {answer[1]['detail']}")
