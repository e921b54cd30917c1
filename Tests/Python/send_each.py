"""Sends messages to the FCM emulator with send_each of the Firebase Admin SDK, 500 at a time, which is its maximum.

Usage: send_each.py <https://host:port> <service account file> <CA file> <messages>. Prints how many were sent, and the seconds, and the
seconds of processor time that it took, without the imports and the access token.
"""

import os
import sys
import time
import uuid

BATCH = 500


def batch(count):
    topic = "-".join(["6b0187feff0dafac2833f432"] * 3)
    data = {
        "topic_key": topic,
        "dist": "Alert",
        "title": "Campus closed",
        "desc": "Please stay at home",
        "message": "All lectures of today are cancelled because of the storm. The library and the canteen stay closed until tomorrow at noon.",
    }
    return [
        messaging.Message(
            topic=topic,
            data={**data, "msi_key": uuid.uuid4().hex[:24]},
            android=messaging.AndroidConfig(priority="high", ttl=2419200),
            apns=messaging.APNSConfig(
                headers={"apns-priority": "5", "apns-push-type": "background"},
                payload=messaging.APNSPayload(aps=messaging.Aps(content_available=True)),
            ),
        )
        for _ in range(count)
    ]


def main(url, account, count):
    # The endpoint is a constant of the SDK; nothing else is changed.
    messaging._MessagingService.FCM_URL = url + "/v1/projects/{0}/messages:send"
    firebase_admin.initialize_app(credentials.Certificate(account))
    messaging.send(batch(1)[0])
    start, used = time.monotonic(), time.process_time()
    for first in range(0, count, BATCH):
        answer = messaging.send_each(batch(min(BATCH, count - first)))
        if answer.failure_count:
            raise SystemExit(f"not accepted: {[one.exception for one in answer.responses if not one.success][0]}")
    print(count, time.monotonic() - start, time.process_time() - used)


if __name__ == "__main__":
    _, URL, ACCOUNT, CERTIFICATES, COUNT = sys.argv
    # The trusted certificate of requests, set before its import.
    os.environ["REQUESTS_CA_BUNDLE"] = CERTIFICATES
    import firebase_admin
    from firebase_admin import credentials, messaging

    main(URL, ACCOUNT, int(COUNT))
