"""A portal: posts messages to the gateway of its host at a constant rate until its standard input ends. It repeats a message with the
same Idempotency-Key until the gateway has answered 201, and then prints the message's msi_key.

    sender.py RATE TOKEN-FILE
"""

import http.client
import json
import select
import sys
import threading
import time
import uuid
from pathlib import Path

# Also the text that no other machine may see on its way.
TEXT = "All lectures of today are cancelled, since the river rises."


def post(token, key, until):
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=15)
        try:
            connection.request(
                "POST", "/send/Campus/Weather/Storms?title=Campus%20closed", TEXT.encode(),
                {"Authorization": f"Bearer {token}", "Idempotency-Key": key, "Content-Type": "text/plain"})
            answer = connection.getresponse()
            body = answer.read()
            if answer.status == 201:
                return json.loads(body)["msi_key"]
            if answer.status not in (429, 503, 504):
                return f"refused {answer.status} {body[:200]!r}"
        except OSError:
            pass
        except http.client.HTTPException:
            pass
        finally:
            connection.close()
        if time.monotonic() > until[0]:
            return f"given-up {key}"
        time.sleep(0.3)


def main():
    rate, token = float(sys.argv[1]), Path(sys.argv[2]).read_text().strip()
    until = [float("inf")]
    lock = threading.Lock()
    threads = []

    def send():
        result = post(token, str(uuid.uuid4()), until)
        with lock:
            print(result, flush=True)

    due = time.monotonic()
    while not select.select([sys.stdin], [], [], max(0, due - time.monotonic()))[0]:
        due += 1 / rate
        threads = [thread for thread in threads if thread.is_alive()]
        # A gateway that does not answer must not gather threads without end.
        if len(threads) < 300:
            threads.append(threading.Thread(target=send))
            threads[-1].start()
    # What is not accepted by then counts as refused.
    until[0] = time.monotonic() + 60
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
