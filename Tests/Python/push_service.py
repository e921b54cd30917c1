"""A push service as a process: see `harness.push_service`.

usage: push_service.py [PORT [BROWSER_PORT]]

It prints its origin, for MSI_WEBPUSH_HOSTS, and its address for browsers, for Firefox's `dom.push.serverURL`; then a line of JSON for
each request of a sender. It stops when its standard input ends, so that it does not outlive its test.
"""

import json
import os
import sys
import threading

from harness.push_service import PushService


class PrintingPushService(PushService):
    printing = threading.Lock()

    def receive(self, token, headers, body):
        answer = super().receive(token, headers, body)
        names = ("ttl", "urgency", "topic", "content-encoding", "authorization")
        known = {name: headers[name] for name in names if name in headers}
        line = {"endpoint": token, "status": answer[0], "reason": answer[1], "bytes": len(body), "headers": known}
        with self.printing:
            print(json.dumps(line), flush=True)
        return answer


if __name__ == "__main__":
    service = PrintingPushService(*map(int, sys.argv[1:3]))
    print(f"listening on {service.url}, for browsers on {service.browser_url}", flush=True)
    while os.read(0, 4096):
        pass
    service.stop()
