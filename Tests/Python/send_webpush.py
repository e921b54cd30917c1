"""Sends a push to each of some subscriptions with pywebpush: one after the other, on one connection, as its README shows.

Usage: send_webpush.py <subscriptions file> <payload file> <CA file> <pushes>. The subscriptions are JSON, as browsers give them, and are
used in turn. Prints how many were sent, and the seconds, and the seconds of processor time that it took, without the imports and the
first push.
"""

import json
import sys
import time

import requests
from py_vapid import Vapid
from pywebpush import webpush

CONTACT = "mailto:benchmark@example.edu"
TTL = 28 * 86_400


def main(subscriptions_file, payload_file, certificates, count):
    with open(subscriptions_file, encoding="utf-8") as file:
        subscriptions = json.load(file)
    with open(payload_file, encoding="utf-8") as file:
        payload = file.read()
    key = Vapid()
    key.generate_keys()
    with requests.Session() as session:
        session.trust_env = False
        session.verify = certificates

        def send(number):
            # It throws if the answer is not a success.
            webpush(
                subscriptions[number % len(subscriptions)],
                payload,
                vapid_private_key=key,
                vapid_claims={"sub": CONTACT},
                ttl=TTL,
                headers={"urgency": "high"},
                requests_session=session,
            )

        send(0)
        start, used = time.monotonic(), time.process_time()
        for number in range(count):
            send(number)
        print(count, time.monotonic() - start, time.process_time() - used)


if __name__ == "__main__":
    _, SUBSCRIPTIONS, PAYLOAD, CERTIFICATES, COUNT = sys.argv
    main(SUBSCRIPTIONS, PAYLOAD, CERTIFICATES, int(COUNT))
